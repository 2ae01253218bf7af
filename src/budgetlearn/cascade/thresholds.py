"""When to stop acquiring: thresholds of confidence that minimise loss + λ · cost.

Everything here is about S stages and n examples: `confidence[s, i]` is how sure the cascade is of
example i at stage s, `losses[s, i]` what stopping there loses, `costs[s, i]` what the features of
stage s and of all before it cost. An example stops at the first stage at which its confidence
reaches that stage's threshold, and at the last stage in any case.
"""

import numpy as np

# λ, for losses in [0, 1] and costs as a share of the full price: from "a hundredth of the price
# must save a whole error" to "costs do not matter".
TRADEOFFS = np.concatenate([np.geomspace(100, 1e-3, 39), [0.0]])
N_PASSES = 2


def exit_thresholds(confidence, losses, costs, tradeoffs=TRADEOFFS, n_passes=N_PASSES):
    """Return the thresholds of each tradeoff, (n_tradeoffs, n_stages).

    Backward dynamic programming takes every example to be at every stage: the threshold of stage s
    minimises the sum of what stopping costs at s and going on costs otherwise, the later thresholds
    being given. Passes of coordinate descent then repeat that with only those examples that the
    earlier thresholds let through.

    A tradeoff λ ≥ 0 is the loss that one unit of cost is worth. An infinite threshold lets no
    example stop; the last stage's is -inf.
    """
    cuts = [_Cuts(row) for row in confidence[:-1]]
    return np.array(
        [
            _thresholds(confidence, losses + tradeoff * costs, cuts, n_passes)
            for tradeoff in tradeoffs
        ]
    )


class _Cuts:
    """The examples of one stage, surest first, and where a threshold can pass between them."""

    def __init__(self, confidence):
        self.order = np.argsort(-confidence, kind="stable")
        ordered = confidence[self.order]
        # A threshold cannot pass between equals: places are the last of each run of equals.
        self.places = np.flatnonzero(np.append(ordered[1:] < ordered[:-1], True))
        middles = (ordered[self.places[:-1]] + ordered[self.places[:-1] + 1]) / 2
        # Of neighbouring floats the middle can be the lower one: then the upper is the threshold.
        upper = ordered[self.places[:-1]]
        lower = ordered[self.places[:-1] + 1]
        self.thresholds = np.append(np.where(middles > lower, middles, upper), -np.inf)

    def best(self, gains):
        """Return the threshold that maximises the gains of those who stop; inf where none does."""
        sums = np.cumsum(gains[self.order])[self.places]
        k = int(sums.argmax())
        # No gain: not to stop at all is best, and acquires what the later stages want.
        return self.thresholds[k] if sums[k] > 0 else np.inf


def _thresholds(confidence, price, cuts, n_passes):
    """Return one tradeoff's thresholds; `price` is loss + λ · cost of stopping at each stage."""
    last = len(confidence) - 1
    thresholds = np.full(last + 1, np.inf)
    thresholds[last] = -np.inf
    for sweep in range(1 + n_passes):
        # The first sweep knows no thresholds: it takes every example to be at every stage.
        reached = _reached(confidence, thresholds) if sweep else None
        before = thresholds.copy()
        value = price[last]
        for stage in range(last - 1, -1, -1):
            gains = value - price[stage]
            if reached is not None:
                gains = np.where(reached[stage], gains, 0.0)
            thresholds[stage] = cuts[stage].best(gains)
            # Invariant: value is what the rest of the way costs each example that comes to `stage`.
            value = np.where(confidence[stage] >= thresholds[stage], price[stage], value)
        if sweep and np.array_equal(before, thresholds):
            break
    return thresholds


def _reached(confidence, thresholds):
    """Return the mask of the examples that reach each stage, (n_stages, n_samples)."""
    reached = np.ones(confidence.shape, dtype=bool)
    for stage in range(len(confidence) - 1):
        reached[stage + 1] = reached[stage] & (confidence[stage] < thresholds[stage])
    return reached


def exit_stages(confidence, thresholds):
    """Return the stage at which each example stops, given the thresholds of one tradeoff."""
    return (confidence >= thresholds[:, None]).argmax(axis=0)
