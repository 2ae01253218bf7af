"""Candidates for operating points of a cascade, judged out of fold, and the best at each cost.

A candidate is a set of thresholds of confidence that minimise loss + λ · cost. Everything is about
S stages and n examples: `confidence[s, i]` is how sure the cascade is of example i at stage s,
`losses[s, i]` what stopping there loses, `costs[s, i]` what the features of stage s and of all
before it cost. An example stops at the first stage at which its confidence reaches that stage's
threshold, and at the last stage in any case.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..costs import affords
from ..curves import pareto_indices
from ..protocol.scoring import mean_and_error, r2_rows
from .mixture import fit_temperature, with_temperature

# λ, for losses in [0, 1] and costs as a share of the full price: from "a hundredth of the price
# must save a whole error" to "costs do not matter".
TRADEOFFS = np.concatenate([np.geomspace(100, 1e-3, 39), [0.0]])
N_PASSES = 2
# Of neighbouring points the costlier one costs no more than so many times as much, if that can be.
GAP = 1.1
# Rows that a stage cannot tell apart, as a share of all, from which on they count as one.
LEAST_CELL = 0.02
# A gain of fewer standard errors is chance.
LEAST_ERRORS = 1.5
# With so many examples a choice among features hardly fits chance, and no pilot looks into it.
MOST_PILOT_ROWS = 5_000
# As a share of what probabilities claim to gain, how far the truth is from it, as a standard error.
CLAIM_ERROR = 0.5
# By which the spread of rows is too small for one model's score: the folds' models share most of
# their rows, and the model that predicts is another one. Of 1, 1.1, 1.2, 1.3 and 1.5 the least with
# which 90 % of the automatic choice's quotes held, whichever table was left out. So with costs.
REFIT_ERROR = 1.5


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
    prices = (losses + tradeoff * costs for tradeoff in tradeoffs)
    return np.array([_thresholds(confidence, price, cuts, n_passes) for price in prices])


class _Cuts:
    """The examples of one stage, surest first, and where a threshold can pass between them."""

    def __init__(self, confidence):
        self.order = np.argsort(-confidence, kind="stable")
        ordered = confidence[self.order]
        # A threshold cannot pass between equals: places are the last of each run of equals.
        self.places = np.flatnonzero(np.append(ordered[1:] < ordered[:-1], True))
        upper, lower = ordered[self.places[:-1]], ordered[self.places[:-1] + 1]
        middles = (upper + lower) / 2
        # Of neighbouring floats the middle can be the lower one: then the upper is the threshold.
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
    for _ in range(1 + n_passes):
        # At first nobody stops before the last stage: every example is at every stage.
        reached, before, value = _reached(confidence, thresholds), thresholds.copy(), price[last]
        for stage in range(last - 1, -1, -1):
            gains = np.where(reached[stage], value - price[stage], 0.0)
            thresholds[stage] = cuts[stage].best(gains)
            # Invariant: value is what the rest of the way costs each example that comes to `stage`.
            value = np.where(confidence[stage] >= thresholds[stage], price[stage], value)
        if np.array_equal(before, thresholds):
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


# Sums of equal scores differ in the last bits.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Candidate:
    """A cascade with its exits: one possible operating point."""

    cascade: object  # Cascade or DynamicOrder: what is acquired and who predicts
    thresholds: np.ndarray  # (n_stages,): confidence at which a stage stops
    # The λ that the thresholds are best for; NaN where all examples stop at one stage.
    tradeoff: float
    cost: float  # out of fold, mean over the examples
    cost_se: float  # its standard error
    # What is expected: the score of the best-informed stage less the expected losses against it.
    # Candidates are compared by it.
    score: float
    # What was scored out of fold by the true targets, and its standard error; of its gain over the
    # constant, what a choice of orders inside the folds confirms.
    observed: float
    observed_se: float
    n_features: float  # mean number of features acquired, out of fold
    # (n_classes,): what probabilities are multiplied by before the label is chosen; None: nothing.
    leaning: np.ndarray | None = None

    @property
    def last_stage(self):
        """The last stage that an example can come to."""
        return int(np.flatnonzero(self.thresholds == -np.inf)[0])


@dataclass(frozen=True, eq=False)
class Trace:
    """Out-of-fold acquisitions and predictions of the training examples on a route."""

    route: object  # Cascade or DynamicOrder: its models are fitted on all examples
    predictions: np.ndarray  # (n_stages, n_samples, n_outputs): at the end of each stage
    # Broadcast to (n_stages, n_samples): cost, and number of features acquired.
    spent: np.ndarray
    n_acquired: np.ndarray

    def calibrated(self, table):
        """Return the trace with probabilities as sure as they are right; numbers as they are."""
        if table.n_classes is None:
            return self
        # One temperature a stage: later stages are surer, and often too sure.
        found = [fit_temperature(stage, table.y, table.weight) for stage in self.predictions]
        predictions = np.array(list(map(with_temperature, self.predictions, found)))
        route = replace(self.route, temperatures=np.array(found))
        return replace(self, route=route, predictions=predictions)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Confidence, losses and scores of a table's examples at each stage of a trace."""

    trace: Trace
    table: object  # Table
    confidence: np.ndarray  # (n_stages, n_samples): larger is surer
    # (n_stages, n_samples): what stopping there loses against the best-informed stage, as far as
    # that one can tell.
    expected_losses: np.ndarray
    scores: np.ndarray  # (n_stages, n_samples): what stopping there scores by the true targets
    best_score: float  # mean score that is expected of the best-informed stage


def class_evidence(trace, table, reference):
    """Return the `Evidence` of calibrated out-of-fold probabilities: the score is accuracy.

    Whether one label is right is a coin thrown once; what the best-informed stage thinks of it is
    what that coin shows on average. So a stage is expected to lose (the reference probability of
    the reference label) - (that of its own): thresholds and choices follow chance less.

    `reference`, (n_samples, n_classes), are the probabilities of the stage that knows most, the
    same for all traces that are to be compared.
    """
    guessed = trace.predictions.argmax(axis=2)
    losses = reference.max(axis=1) - reference[np.arange(table.y.size), guessed]
    right = (guessed == table.y).astype(np.float64)
    best = expected_accuracy(reference, table)
    return Evidence(trace, table, trace.predictions.max(axis=2), losses, right, best)


def expected_accuracy(probabilities, table):
    """Return the accuracy that is expected of calibrated probabilities' labels on new rows.

    What they gain over the most frequent label depends on the rows that they label otherwise. If
    these are few, much of it is luck, and what the probabilities themselves claim says more.
    """
    own, usual = probabilities.argmax(axis=1), np.bincount(table.y, table.weight).argmax()
    claimed = table.mean(probabilities.max(axis=1) - probabilities[:, usual])
    seen, error = table.mean_and_error(1.0 * (own == table.y) - (table.y == usual))
    doubt = CLAIM_ERROR * claimed
    trust = doubt**2 / (doubt**2 + error**2) if error else 1.0
    return float(table.mean(table.y == usual) + trust * seen + (1 - trust) * claimed)


def number_evidence(trace, changes, table, reference):
    """Return the `Evidence` of out-of-fold numbers: the score is R².

    A stage is expected to lose what the best-informed stage would gain on it: (reference - its own
    prediction)², in variances of the target. How much that is has to be predicted from the features
    acquired so far: `changes`, (n_stages, n_samples). `reference`, (n_samples,), is the same for
    all traces that are to be compared.
    """
    predictions = trace.predictions[:, :, 0]
    losses = (reference - predictions) ** 2 / table.variance
    scores = 1.0 - (predictions - table.y) ** 2 / table.variance
    best = 1.0 - float(table.mean((reference - table.y) ** 2) / table.variance)
    return Evidence(trace, table, -changes, losses, scores, best)


def settled_in_cells(confidence, stages, X, final):
    """Return confidences, of rows that a stage cannot tell apart as the final models have them.

    Models of the folds say slightly different things of the same features. A threshold between
    these, or near them, would part rows that the final models send one way, and promise a cost that
    nobody pays. Cells of few rows are left as they are: none of them moves the mean cost much, and
    a final model has learned their targets by heart.

    `confidence` is (n_stages, n_samples), `stages` are nested features of X, without gaps, and
    `final` is a function of a stage and rows to the final models' confidence.
    """
    confidence, wanted = confidence.copy(), ("return_index", "return_inverse", "return_counts")
    for stage, features in enumerate(stages[:-1]):  # at the last one all stop
        cells = np.unique(X[:, list(features)], axis=0, **dict.fromkeys(wanted, True))
        first, cell, sizes = map(np.ravel, cells[1:])
        large = sizes >= LEAST_CELL * len(X)
        if not large.any():
            break  # the stages after it tell more rows apart
        said = np.empty(sizes.size)
        said[large] = final(stage, first[large])
        confidence[stage] = np.where(large[cell], said[cell], confidence[stage])
    return confidence


def candidates(evidence, full_cost):
    """Return the candidates of one cascade: all tradeoffs, and "always stop at stage s"."""
    # λ is about shares of the full cost, so it means the same in every currency.
    shares = evidence.trace.spent / (full_cost or 1.0)
    # An example that counts twice loses and pays twice: thresholds maximise sums over examples.
    weight = 1.0 if evidence.table.weight is None else evidence.table.weight
    paths = exit_thresholds(evidence.confidence, weight * evidence.expected_losses, weight * shares)
    # Candidate s stops everything at stage s: msB's kind of model, and at the last a plain one.
    always = np.where(np.eye(len(evidence.confidence), dtype=bool), -np.inf, np.inf)
    settings = [*zip(paths, TRADEOFFS, strict=True), *((each, np.nan) for each in always)]
    return [_judged(evidence, *each) for each in settings]


def between(found, evidence, full_cost):
    """Return candidates in the gaps between some: the costlier neighbour, one threshold lowered.

    Loss + λ · cost is least at the corners of a convex hull, whatever λ; a budget between two
    corners would be left unspent in part. So more examples stop at one stage of the costlier one:
    as many as the budget wants, at the stage at which that loses least.
    """
    losses, table = evidence.expected_losses, evidence.table
    one = np.ones(losses.shape)
    weight, counted = (one[0] if w is None else w for w in (table.weight, table.counted))
    means = weight / weight.sum(), counted / counted.sum()
    prices = np.stack([means[0] * losses, means[1] * evidence.trace.spent * one])
    cuts = [_Cuts(row) for row in evidence.confidence[:-1]]
    more = []
    for cheap, costly in pairwise(best_at_each_cost(found)):
        low = max(cheap.cost, 0.01 * costly.cost)  # the cheap one may be free
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
    """Return what a candidate comes to with one threshold at each place that it can have.

    `prices`, (n_prices, n_stages, n_samples), are of stopping. Returns the stage and threshold of
    each variant, (n_variants,), and the sums of its prices, (n_prices, n_variants).
    """
    stops, reached = (rule(confidence, candidate.thresholds) for rule in (exit_stages, _reached))
    own, beyond = prices[:, stops, np.arange(stops.size)], prices[:, candidate.last_stage]
    found = []
    for stage in range(candidate.last_stage - 1, -1, -1):
        here, cut = reached[stage], cuts[stage]
        # All who come to the stage go on; then they stop one after another, the surest first.
        none = np.where(here, beyond, own).sum(axis=1, keepdims=True)
        changes = np.where(here, prices[:, stage] - beyond, 0.0)[:, cut.order]
        sums = none + changes.cumsum(axis=1)[:, cut.places]
        found.append((np.full(cut.places.size, stage), cut.thresholds, sums))
        stop = confidence[stage] >= candidate.thresholds[stage]
        beyond = np.where(stop, prices[:, stage], beyond)
    return [np.concatenate(each, axis=-1) for each in zip(*found, strict=True)]


def _judged(evidence, thresholds, tradeoff):
    """Return the candidate of some thresholds, judged by the examples where they stop."""
    trace, table, shape = evidence.trace, evidence.table, evidence.confidence.shape
    stops = exit_stages(evidence.confidence, thresholds)
    # No example went beyond the last of these stages: new ones that are less sure must not, either.
    thresholds = np.where(np.arange(thresholds.size) == stops.max(), -np.inf, thresholds)
    measured = evidence.scores, evidence.expected_losses, trace.spent, trace.n_acquired
    rows = np.arange(stops.size)
    scores, losses, spent, sizes = (np.broadcast_to(each, shape)[stops, rows] for each in measured)
    observed, error = table.mean_and_error(scores)
    if table.n_classes is None:
        targets = table.y / np.sqrt(table.variance)  # R² divides by their variance
        error = table.mean_and_error(r2_rows(1.0 - scores, targets, table.weight))[1]
    score = evidence.best_score - float(table.mean(losses))
    bill = cost_of_rows(spent, sizes, table.counted, table.groups)
    values = {"score": score, "observed": observed, "observed_se": error, **bill}
    return Candidate(trace.route, thresholds, float(tradeoff), **values)


def cost_of_rows(spent, sizes, counted, groups=None):
    """Return mean cost, its standard error and mean number of features as a `Candidate` has them.

    `spent` and `sizes` are cost and number of features of examples, which count so much.
    """
    cost, error = mean_and_error(spent, counted, groups)
    # Of equal costs exactly 0. The model that predicts is not one of those that were measured.
    error = REFIT_ERROR * error if np.ptp(spent) else 0.0
    n_features = float(np.average(sizes, weights=counted))
    return {"cost": cost, "cost_se": error, "n_features": n_features}


def best_informed(table, last, stages, share):
    """Return the predictions that judge all others: `last`, from all features, or a stage's.

    Where most features only disturb, a stage knows more than the last one. What a pilot confirms of
    its gain over the constant, `share`, must then be more than `last` gains, beyond chance.
    """
    best = min(stages, key=lambda each: table.mean(table.losses(each)))
    constant = table.calibrated_losses(np.tile(table.constant, (len(table.y), 1)))
    lead = share * (constant - table.losses(best)) - (constant - table.losses(last))
    mean, error = table.mean_and_error(lead)
    return best if mean > LEAST_ERRORS * error and len(table.y) <= MOST_PILOT_ROWS else last


def above_constant(pool, constant, share=1.0):
    """Return the constant, and the candidates that promise more than it for what they cost.

    What the constant scores is known from the labels alone: nobody should pay for a point that is
    expected to do worse. Candidates promise `share` of their gains over it: what is no fit to luck.
    """
    # A mean's R² is 0, but for the last bits of its sum.
    least = constant.observed if abs(constant.observed) > ROUNDING else 0.0

    def promised(score):
        return least + share * (score - least)

    better = [
        replace(each, score=promised(each.score), observed=promised(each.observed))
        for each in pool
        if share > 0 and each.score > least
    ]
    return [replace(constant, score=least, observed=least), *better]


def best_at_each_cost(pool):
    """Return the candidates that are expected to score more than every cheaper one, by cost."""
    kept = pareto_indices([each.cost for each in pool], [each.score for each in pool])
    return [pool[i] for i in kept]


def under_cap(point, routes, costs, cap):
    """Return the candidate that makes most of a cap on what each example may cost.

    `point` itself where the cap is above its mean cost: its exits then keep most examples below.
    Else one of `routes`, which stop all examples at one stage of an order: the one of which most is
    expected, out of fold; where the cap pays for features of a next stage, for their part of its
    gain. In a dynamic order each example then goes on as far as the cap allows.
    """
    if point.cost < cap:
        return point
    offers = [(each.score, each) for each in routes if affords(cap, each.cost)]
    for each, further in pairwise(routes):
        # What a dynamic order buys with the rest, if anything, only each example can say.
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
