"""Candidates for operating points of a cascade, scored out of fold, and the best at each cost.

A candidate is a set of confidence thresholds: those that minimise loss + λ · cost, those at which
all stop at one stage, or others in between. Arrays are indexed by stage s and example i:
`confidence[s, i]` is the cascade's confidence, `losses[s, i]` the loss of stopping, `costs[s, i]`
the acquisition cost up to and including stage s. An example stops at the first stage at which its
confidence reaches that stage's threshold, or at the last stage.

`Evidence` holds the expected losses of stopping, compared with a reference that all orders share
(`best_informed`). `_judged` makes them scores. `above_constant` puts the constant first and reduces
the gains over it to the share that a pilot confirms (`orders.confirmed_share`), and
`with_corrections` moves scores towards the observed ones, still ascending.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from sklearn.isotonic import isotonic_regression

from ..costs import affords
from ..curves import pareto_indices
from ..protocol.calibration import fit_temperature
from ..protocol.scoring import mean_and_error, r2_rows
from .mixture import with_temperature

# Values of λ, for losses in [0, 1] and costs as a share of the full cost: from "one percent of the
# cost must save a whole error" to "costs do not matter".
TRADEOFFS = np.concatenate([np.geomspace(100, 1e-3, 39), [0.0]])
N_PASSES = 2
# Target ratio of the costs of neighbouring points.
GAP = 1.1
# Rows that a stage cannot tell apart form a cell if they are at least this share of all rows.
LEAST_CELL = 0.02
# Gains below this many standard errors count as chance.
LEAST_ERRORS = 1.5
# Most examples for a pilot: with more, a choice among features hardly fits chance.
MOST_PILOT_ROWS = 5_000
# Standard error of what a model claims to gain or to lose, as a share of the claim.
CLAIM_ERROR = 0.5
# Promised scores rise from point to point by at least this share of the rise that is expected.
LEAST_RISE = 0.1
# Factor by which the standard error from rows is too small for the final model: the models of the
# folds share most of their rows, and the final model is yet another one. Of 1, 1.1, 1.2, 1.3 and
# 1.5, it is the smallest with which 90 % of the automatic choice's expected scores held, whichever
# table was left out. The same factor applies to costs.
REFIT_ERROR = 1.5


def exit_thresholds(confidence, losses, costs, tradeoffs=TRADEOFFS, n_passes=N_PASSES):
    """Return the thresholds of each tradeoff, (n_tradeoffs, n_stages).

    Backward dynamic programming first assumes that every example is at every stage. The threshold
    of stage s minimises the sum of loss + λ · cost over the examples that stop at s and those that
    go on, given the later thresholds. Passes of coordinate descent then repeat this with only the
    examples that reach the stage under the earlier thresholds.

    A tradeoff λ ≥ 0 is the loss that one unit of cost is worth. No example stops at an infinite
    threshold; the last stage's threshold is -inf.
    """
    cuts = [_Cuts(row) for row in confidence[:-1]]
    prices = (losses + tradeoff * costs for tradeoff in tradeoffs)
    return np.array([_thresholds(confidence, price, cuts, n_passes) for price in prices])


class _Cuts:
    """The possible thresholds of one stage, between its examples sorted by confidence."""

    def __init__(self, confidence):
        self.order = np.argsort(-confidence, kind="stable")
        ordered = confidence[self.order]
        # A threshold cannot separate equals: places are the ends of the runs of equals.
        self.places = np.flatnonzero(np.append(ordered[1:] < ordered[:-1], True))
        upper, lower = ordered[self.places[:-1]], ordered[self.places[:-1] + 1]
        middles = (upper + lower) / 2
        # The middle of adjacent floats may round to the lower one; then use the upper one.
        self.thresholds = np.append(np.where(middles > lower, middles, upper), -np.inf)

    def best(self, gains):
        """Return the threshold with the largest sum of gains of stopping, or inf if none is > 0."""
        sums = np.cumsum(gains[self.order])[self.places]
        k = int(sums.argmax())
        return self.thresholds[k] if sums[k] > 0 else np.inf


def _thresholds(confidence, price, cuts, n_passes):
    """Return one tradeoff's thresholds; `price` is loss + λ · cost of stopping at each stage."""
    last = len(confidence) - 1
    thresholds = np.full(last + 1, np.inf)
    thresholds[last] = -np.inf
    for _ in range(1 + n_passes):
        # In the first pass, thresholds are infinite, so every example reaches every stage.
        reached, before, value = _reached(confidence, thresholds), thresholds.copy(), price[last]
        for stage in range(last - 1, -1, -1):
            gains = np.where(reached[stage], value - price[stage], 0.0)
            thresholds[stage] = cuts[stage].best(gains)
            # Invariant: `value` is the price that each example pays from `stage` on.
            value = np.where(confidence[stage] >= thresholds[stage], price[stage], value)
        if np.array_equal(before, thresholds):
            break
    return thresholds


def _reached(confidence, thresholds):
    """Return the mask of examples that reach each stage, (n_stages, n_samples)."""
    reached = np.ones(confidence.shape, dtype=bool)
    for stage in range(len(confidence) - 1):
        reached[stage + 1] = reached[stage] & (confidence[stage] < thresholds[stage])
    return reached


def exit_stages(confidence, thresholds):
    """Return the stage at which each example stops, given the thresholds of one tradeoff."""
    return (confidence >= thresholds[:, None]).argmax(axis=0)


# Tolerance, as sums of equal scores may differ in the last bits.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Candidate:
    """A cascade with thresholds: one possible operating point."""

    cascade: object  # Cascade or DynamicOrder
    thresholds: np.ndarray  # (n_stages,): confidence at which an example stops
    # The λ for which the thresholds are optimal; between two candidates, the slope of their scores;
    # NaN if all examples stop at one stage.
    tradeoff: float
    cost: float  # out of fold, mean over the examples
    cost_se: float  # its standard error
    # Expected score: that of the best-informed stage minus the expected losses relative to it.
    # Candidates are compared by it.
    score: float
    # Score on the true targets, out of fold, and its standard error. The gain over the constant is
    # reduced to the share that a choice of orders inside the folds confirms.
    observed: float
    observed_se: float
    n_features: float  # mean number of features acquired, out of fold
    # (n_classes,): factors of the probabilities before the label is chosen; None: all 1.
    leaning: np.ndarray | None = None
    # What the true targets add to the expected score, as far as this is not chance. It is left out
    # of comparisons, in which it would be noise.
    correction: float = 0.0

    @property
    def last_stage(self):
        """The last stage that an example can reach."""
        return int(np.flatnonzero(self.thresholds == -np.inf)[0])


@dataclass(frozen=True, eq=False)
class Trace:
    """Out-of-fold acquisitions and predictions of the training examples that follow an order."""

    order: object  # Cascade or DynamicOrder: its models are fitted on all examples
    predictions: np.ndarray  # (n_stages, n_samples, n_outputs): at the end of each stage
    # Broadcast to (n_stages, n_samples): cost, and number of features acquired.
    spent: np.ndarray
    n_acquired: np.ndarray

    def calibrated(self, table):
        """Return the trace with calibrated probabilities; unchanged in regression."""
        if table.n_classes is None:
            return self
        # A temperature for each stage: later stages are more confident, and often overconfident.
        found = [fit_temperature(stage, table.y, table.weight) for stage in self.predictions]
        predictions = np.array(list(map(with_temperature, self.predictions, found)))
        order = replace(self.order, temperatures=np.array(found))
        return replace(self, order=order, predictions=predictions)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Confidence, losses and scores of a table's examples at each stage of a trace."""

    trace: Trace
    table: object  # Table
    confidence: np.ndarray  # (n_stages, n_samples)
    # (n_stages, n_samples): loss of stopping there, as estimated by the best-informed stage.
    expected_losses: np.ndarray
    scores: np.ndarray  # (n_stages, n_samples): score of stopping there on the true targets
    best_scores: np.ndarray  # (n_samples,): those of the best-informed stage
    best_score: float  # its expected mean score


def class_evidence(trace, table, reference):
    """Return the `Evidence` of calibrated out-of-fold probabilities: the score is accuracy.

    Whether a single label is right is as noisy as a coin, whose average is the probability that the
    best-informed stage gives to the label. The expected loss of a stage is therefore the reference
    probability of the reference's label minus that of its own. Choices then depend less on chance.

    `reference`, (n_samples, n_classes), holds the probabilities of the best-informed stage, the
    same for all traces that are compared.
    """
    guessed = trace.predictions.argmax(axis=2)
    losses = reference.max(axis=1) - reference[np.arange(table.y.size), guessed]
    right = (guessed == table.y).astype(np.float64)
    best = 1.0 * (reference.argmax(axis=1) == table.y), expected_accuracy(reference, table)
    return Evidence(trace, table, trace.predictions.max(axis=2), losses, right, *best)


def expected_accuracy(probabilities, table):
    """Return the expected accuracy on new rows of the labels of calibrated probabilities."""
    # The gain over always predicting the most frequent label depends on the rows with another
    # label. If they are few, the observed gain is largely luck, so the gain that the probabilities
    # claim gets more weight.
    own, frequent = probabilities.argmax(axis=1), np.bincount(table.y, table.weight).argmax()
    claimed = table.mean(probabilities.max(axis=1) - probabilities[:, frequent])
    seen, error = table.mean_and_error(1.0 * (own == table.y) - (table.y == frequent))
    trust = _trust(claimed, error)
    return float(table.mean(table.y == frequent) + trust * seen + (1 - trust) * claimed)


def number_evidence(trace, changes, table, reference):
    """Return the `Evidence` of out-of-fold numbers: the score is R².

    The expected loss of a stage is (reference - its own prediction)², in units of the target's
    variance. `changes`, (n_stages, n_samples), are predictions of this change from the features
    acquired so far; the confidence is minus them. `reference`, (n_samples,), holds the predictions
    of the best-informed stage, the same for all traces that are compared.
    """
    predictions = trace.predictions[:, :, 0]
    losses = (reference - predictions) ** 2 / table.variance
    scores = 1.0 - (predictions - table.y) ** 2 / table.variance
    best = 1.0 - (reference - table.y) ** 2 / table.variance
    return Evidence(trace, table, -changes, losses, scores, best, float(table.mean(best)))


def calibrated_numbers(predictions, table):
    """Return numbers (n_samples, 1), moved and stretched to the least squared error."""
    # Trees predict numbers too close to the mean, and overfitted models too far from it. Then the
    # squared error of another prediction is not the reference's error plus the squared difference
    # from it, and expected scores of early stages are too high or too low.
    said = predictions[:, 0] - table.mean(predictions[:, 0])
    spread = table.mean(said**2)
    slope = table.mean(said * table.y) / spread if spread else 1.0
    return (table.constant + max(0.0, slope) * said)[:, None]


def settled_in_cells(confidence, stages, X, final):
    """Return confidences with large cells of identical rows replaced by the final models' values.

    A cell is a set of rows with the same values of a stage's features, to which models of different
    folds give slightly different confidences. A threshold among these would separate rows that the
    final models treat alike, and the measured cost would be wrong. Small cells are kept: they
    hardly affect the mean cost, and final models may have memorised their targets.

    `confidence` is (n_stages, n_samples). `stages` are nested features of X, which has no missing
    values. `final(stage, rows)` returns the final models' confidence.
    """
    confidence, wanted = confidence.copy(), ("return_index", "return_inverse", "return_counts")
    for stage, features in enumerate(stages[:-1]):  # all examples stop at the last stage
        cells = np.unique(X[:, list(features)], axis=0, **dict.fromkeys(wanted, True))
        first, cell, sizes = map(np.ravel, cells[1:])
        large = sizes >= LEAST_CELL * len(X)
        if not large.any():
            break  # later stages have smaller cells
        said = np.empty(sizes.size)
        said[large] = final(stage, first[large])
        confidence[stage] = np.where(large[cell], said[cell], confidence[stage])
    return confidence


def candidates(evidence, full_cost):
    """Return the candidates of one cascade: one for each tradeoff and "always stop at stage s"."""
    # λ applies to shares of the full cost, so that it does not depend on the currency.
    shares = evidence.trace.spent / (full_cost or 1.0)
    # Thresholds optimise sums over examples, so weights multiply losses and costs.
    weight = 1.0 if evidence.table.weight is None else evidence.table.weight
    paths = exit_thresholds(evidence.confidence, weight * evidence.expected_losses, weight * shares)
    # Candidate s stops all examples at stage s, like a model of msB.
    always = np.where(np.eye(len(evidence.confidence), dtype=bool), -np.inf, np.inf)
    settings = [*zip(paths, TRADEOFFS, strict=True), *((each, np.nan) for each in always)]
    return [_judged(evidence, *each) for each in settings]


def between(found, evidence, full_cost):
    """Return candidates that fill the gaps between others."""
    # For any λ, loss + λ · cost is minimal at a corner of a convex hull, so a budget between two
    # corners would be partly unspent. New candidates lower one threshold of the costlier neighbour,
    # the one that adds the least loss, so that as many examples as the budget requires stop there.
    losses, table = evidence.expected_losses, evidence.table
    one = np.ones(losses.shape)
    weight, counted = (one[0] if w is None else w for w in (table.weight, table.counted))
    means = weight / weight.sum(), counted / counted.sum()
    prices = np.stack([means[0] * losses, means[1] * evidence.trace.spent * one])
    cuts = [_Cuts(row) for row in evidence.confidence[:-1]]
    more = []
    for cheap, costly in pairwise(best_at_each_cost(found)):
        low = max(cheap.cost, 0.01 * costly.cost)  # above 0
        n_goals = int(np.log(costly.cost / low) / np.log(GAP))
        if not n_goals:
            continue
        stages, thresholds, (losses, costs) = _one_moved(costly, evidence.confidence, prices, cuts)
        tradeoff = full_cost * (costly.score - cheap.score) / (costly.cost - cheap.cost)
        for goal in np.geomspace(low, costly.cost, n_goals + 2)[1:-1]:
            within = np.flatnonzero(affords(goal, costs) & ~affords(cheap.cost, costs))
            if within.size:
                least = losses[within] <= losses[within].min() + ROUNDING
                best, moved = within[least.argmax()], costly.thresholds.copy()
                moved[stages[best]] = thresholds[best]
                more.append(_judged(evidence, moved, tradeoff))
    return more


def _one_moved(candidate, confidence, prices, cuts):
    """Return all variants of a candidate that differ in one threshold.

    `prices`, (n_prices, n_stages, n_samples), are those of stopping. Returns the stage and the
    threshold of each variant, (n_variants,), and its sums of prices, (n_prices, n_variants).
    """
    stops, reached = (rule(confidence, candidate.thresholds) for rule in (exit_stages, _reached))
    own, beyond = prices[:, stops, np.arange(stops.size)], prices[:, candidate.last_stage]
    found = []
    for stage in range(candidate.last_stage - 1, -1, -1):
        here, cut = reached[stage], cuts[stage]
        # At first, all examples at the stage go on; then they stop one by one, by confidence.
        none = np.where(here, beyond, own).sum(axis=1, keepdims=True)
        changes = np.where(here, prices[:, stage] - beyond, 0.0)[:, cut.order]
        sums = none + changes.cumsum(axis=1)[:, cut.places]
        found.append((np.full(cut.places.size, stage), cut.thresholds, sums))
        stop = confidence[stage] >= candidate.thresholds[stage]
        beyond = np.where(stop, prices[:, stage], beyond)
    return [np.concatenate(each, axis=-1) for each in zip(*found, strict=True)]


def _judged(evidence, thresholds, tradeoff):
    """Return the candidate with some thresholds, scored where the examples stop."""
    trace, table, shape = evidence.trace, evidence.table, evidence.confidence.shape
    stops = exit_stages(evidence.confidence, thresholds)
    # The last stage that an example reached becomes the last one for new examples, too.
    thresholds = np.where(np.arange(thresholds.size) == stops.max(), -np.inf, thresholds)
    measured = evidence.scores, evidence.expected_losses, trace.spent, trace.n_acquired
    rows = np.arange(stops.size)
    scores, losses, spent, sizes = (np.broadcast_to(each, shape)[stops, rows] for each in measured)
    observed, error = table.mean_and_error(scores)
    if table.n_classes is None:
        targets = table.y / np.sqrt(table.variance)  # R² divides by their variance
        error = table.mean_and_error(r2_rows(1.0 - scores, targets, table.weight))[1]
    score = evidence.best_score - float(table.mean(losses))
    cost = cost_of_rows(spent, sizes, table.counted, table.groups)
    values = {"score": score, "observed": observed, "observed_se": error, **cost}
    # The reference's predictions are right on average, but not wherever another stage disagrees.
    added, error = table.mean_and_error(scores - evidence.best_scores + losses)
    values["correction"] = _trust(table.mean(losses), error) * added
    return Candidate(trace.order, thresholds, float(tradeoff), **values)


def _trust(claimed, error):
    """Return the weight, in [0, 1], of an observation against a claim, by inverse variance."""
    # The standard error of a claim is a share of it.
    doubt = CLAIM_ERROR * claimed
    # The error of a single group is unknown.
    return doubt**2 / (doubt**2 + error**2) if error > 0 else float(error == 0)


def cost_of_rows(spent, sizes, counted, groups=None):
    """Return mean cost, its standard error and mean number of features, for a `Candidate`.

    `spent` and `sizes` are costs and numbers of features of the examples, `counted` their weights.
    """
    cost, error = mean_and_error(spent, counted, groups)
    # Exactly 0 for equal costs; otherwise corrected, as the final model is not the measured one.
    error = REFIT_ERROR * error if np.ptp(spent) else 0.0
    n_features = float(np.average(sizes, weights=counted))
    return {"cost": cost, "cost_se": error, "n_features": n_features}


def best_informed(table, last, stages, share):
    """Return the reference for all other predictions: `last`, from all features, or a stage's."""
    # If most features are noise, an earlier stage may predict better than the last one. It becomes
    # the reference if its gain over the constant, times the `share` that a pilot confirms, exceeds
    # the gain of `last` beyond chance. On tables too large for a pilot, `last` is always kept.
    best = min(stages, key=lambda each: table.mean(table.losses(each)))
    constant = table.calibrated_losses(np.tile(table.constant, (len(table.y), 1)))
    lead = share * (constant - table.losses(best)) - (constant - table.losses(last))
    mean, error = table.mean_and_error(lead)
    return best if mean > LEAST_ERRORS * error and len(table.y) <= MOST_PILOT_ROWS else last


def above_constant(pool, constant, share=1.0, unit=1.0):
    """Return the constant, and the candidates with a higher expected score than the constant.

    `unit` is the size of scores.
    """
    # A point that is expected to do worse is not worth any cost. The gains of candidates over the
    # constant are multiplied by `share`, the part that is not a fit to chance.
    # The R² of a mean is 0, except for rounding.
    least = constant.observed if abs(constant.observed) > ROUNDING * unit else 0.0

    def promised(each):
        score, observed = (least + share * (x - least) for x in (each.score, each.observed))
        return replace(each, score=score, observed=observed, correction=share * each.correction)

    better = [promised(each) for each in pool if share > 0 and each.score > least]
    return [replace(constant, score=least, correction=0.0, observed=least), *better]


def best_at_each_cost(pool, unit=1.0):
    """Return the candidates with a higher expected score than all cheaper ones, by cost."""
    # A score that is higher by rounding alone is not worth any cost.
    scores = np.round([each.score / unit for each in pool], 12)
    kept = pareto_indices([each.cost for each in pool], scores)
    return [pool[i] for i in kept]


def with_corrections(front, least):
    """Return points of ascending score with corrections, still ascending and above `least`."""
    scores, corrections = np.transpose([(each.score, each.correction) for each in front])
    # What is left of a score without the part that surely rises.
    rest, low, high = (each - LEAST_RISE * each for each in (scores, least, 1.0))
    # Neighbours in the wrong order get their common mean (isotonic regression). As a sum of
    # differences, so that the constant keeps its score to the last bit.
    promised = scores + (isotonic_regression(rest + corrections, y_min=low, y_max=high) - rest)
    return [replace(each, score=float(score)) for each, score in zip(front, promised, strict=True)]


def under_cap(point, routes, costs, cap):
    """Return the candidate with the highest expected score under a cap on each example's cost.

    This is `point` itself if the cap is above its mean cost, because its exits then keep most
    examples below the cap. Otherwise it is one of `routes`, which stop all examples at one stage
    of an order. If the cap also pays for features of the next stage, a share of that stage's gain
    counts as well. In a dynamic order, each example then goes on as long as the cap allows.
    """
    if point.cost < cap:
        return point
    offers = [(each.score, each) for each in routes if affords(cap, each.cost)]
    for each, further in pairwise(routes):
        # In a dynamic order, the use of the remaining money depends on the example.
        follows = further.cascade is each.cascade and further.last_stage == each.last_stage + 1
        if not follows or each.cascade.dynamic or affords(cap, further.cost):
            continue
        for _, share in each.cascade.paid_beyond(each.last_stage, costs, cap)[-1:]:
            offers.append((each.score + share * (further.score - each.score), further))
    best = max(offers, key=lambda offer: offer[0], default=(0, point))[1]
    if best.cascade.dynamic:
        further = (each for each in routes if each.cascade is best.cascade)
        best = max((best, *further), key=lambda each: each.last_stage)
    return best
