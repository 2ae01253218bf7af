"""Orders of acquisition: the sequence in which a cascade acquires features, cut into stages.

An order is a function of a `Table`, the costs, a seed and `n_jobs`, and returns all features.
"""

from dataclasses import replace
from functools import cache
from itertools import accumulate

import numpy as np

from ..costs import spendable
from ..forests import RandomForestClassifier
from ..forests.importance import oob_permutation_importance
from ..forests.random_forest import RandomForestRegressor
from ..parallel import thread_map
from ..protocol.checked_data import Examples
from ..tree.boosting import Boosting
from ..validation import INT32_MAX, ParameterError, derive_seed, is_flag
from .models import as_kind, ascending
from .pool import LEAST_ERRORS, MOST_PILOT_ROWS

# Weights of the prices in "boosted_path", with the meaning of `LightGBMCostClassifier.tradeoff`.
PATH = np.geomspace(10, 0.003, 9)
N_ROUNDS = 15
# Most examples used for an order: more hardly change it.
MOST_ROWS = 20_000
# "schedule" measures the importance again, with a forest of N_TREES trees, after the removal of
# this share of the features.
REMOVED_AT_ONCE, N_TREES = 0.15, 50


def boosted_path_order(table, costs, seed, n_jobs=None):
    """Return the order in which boosting acquires features while prices lose weight."""
    # For each of 9 falling tradeoffs, a short boosting is charged for each feature at its first
    # split, like LightGBM's "coupled" costs. Features acquired at one tradeoff are free at the
    # next, so that the next adds to them. Features acquired at the same tradeoff are ordered by
    # gain per price. Features that are never acquired come last, ordered by price.
    target = table.y
    if table.n_classes is None:
        # Standardised, so that a tradeoff does not depend on the unit of the target.
        target = (target - table.mean(target)) / np.sqrt(table.variance)
    learned = table.coded, target, table.n_classes, np.arange(len(target)), table.weight
    full = costs.full or 1.0
    acquired, order = np.zeros(costs.n_features, dtype=bool), []
    for tradeoff in PATH:
        # Prices beyond the acquired features: charges of their groups are already paid.
        price = costs.marginal(acquired) / full
        boosting = Boosting(*learned, n_leaves=15, min_leaf=5, rate=0.3, keep=False)
        boosting.prices[:] = tradeoff * price * len(table.X)
        boosting.grow(N_ROUNDS)  # at high prices, no tree may have a split
        gain = boosting.gains
        # Features with a split are those with a gain.
        fresh = np.flatnonzero((gain > 0) & ~acquired)
        worth = gain[fresh] / _price(price)[fresh]
        order += fresh[np.argsort(-worth, kind="stable")].tolist()
        acquired[fresh] = True
        if acquired.all():
            break
    # No tradeoff used these features, so only their prices are known.
    rest = np.flatnonzero(~acquired)
    return order + rest[np.argsort(costs.marginal(acquired)[rest], kind="stable")].tolist()


def gain_per_cost_order(table, costs, seed, n_jobs=None):
    """Return the features by importance per price, in a forest of all features."""
    worth = _importance(table, np.arange(costs.n_features), seed, n_jobs) / _price(costs.alone)
    return np.argsort(-worth, kind="stable").tolist()


def schedule_order(table, costs, seed, n_jobs=None):
    """Return msB's removal sequence reversed: the least importance per price is acquired last."""
    left, removed = np.arange(costs.n_features), []
    while left.size > 1:
        # The members that are left share their group's charge; the last one carries all of it.
        mask = np.isin(np.arange(costs.n_features), left)
        worth = _importance(table, left, seed, n_jobs) / _price(costs.shares(mask)[left])
        goes = np.argsort(worth, kind="stable")[: max(1, int(REMOVED_AT_ONCE * left.size))]
        removed += left[goes].tolist()
        left = np.delete(left, goes)
    return [*left.tolist(), *reversed(removed)]


def _price(price):
    """Return prices with a positive minimum, so that they can be divided by."""
    return np.maximum(price, 1e-9 * (price.max() or 1.0))


def _importance(table, features, seed, n_jobs):
    """Return the importance, above 0, of some features in a forest of these features.

    In classification by permutation out of bag, in regression by impurity.
    """
    X, how = table.without_gaps[:, features], {"random_state": seed, "n_jobs": n_jobs}
    learned = {"sample_weight": table.weight, "binned": table.codes.take(features)}
    if table.n_classes is None:
        forest = RandomForestRegressor(n_estimators=N_TREES, min_samples_leaf=5, **how)
        importance = forest.fit(X, table.y, **learned).feature_importances_
    else:
        forest = RandomForestClassifier(n_estimators=N_TREES, **how).fit(X, table.y, **learned)
        importance = oob_permutation_importance(forest, X, table.y, **how)
    # Permutation importance may be 0 or negative; a worth per price must be above 0.
    return np.maximum(importance, 1e-3 * (max(importance.max(), 0.0) or 1.0))


ORDERS = {
    "boosted_path": boosted_path_order,
    "schedule": schedule_order,
    "gain_per_cost": gain_per_cost_order,
}


def ordered_acquisitions(name, table, costs, seed, n_jobs=None):
    """Return the acquisitions of a named order: tuples of features that are acquired together."""
    found = with_whole_groups(ORDERS[name](table.thinned(MOST_ROWS), costs, seed, n_jobs), costs)
    X = table.without_gaps
    # Features of a single value, or with the values of an earlier one, tell nothing and are left
    # out. Those with the same values have the same number.
    numbers = np.unique(X, axis=1, return_inverse=True)[1].ravel()
    single = numbers[np.ptp(X, axis=0) == 0]
    known, telling = set(single.tolist()), []
    for features in found:
        telling.append(())
        for feature in features:
            if numbers[feature] not in known:
                known.add(numbers[feature])
                telling[-1] += (feature,)
    # If no feature varies, all are kept, as a cascade needs a stage.
    return [features for features in telling if features] or found


def with_whole_groups(order, costs):
    """Cut an order into acquisitions: tuples of features that are acquired together."""
    # The first member of a cost group comes with all others if their own prices together are at
    # most the group's charge, which is then paid. Otherwise only free members come along.
    acquired, acquisitions = np.zeros(costs.n_features, dtype=bool), []
    for feature in order:
        if acquired[feature]:
            continue
        members, charge = costs.group_of(feature)
        others = members[~acquired[members] & (members != feature)]
        if costs.costs[others].sum() > charge:
            others = others[costs.costs[others] == 0]
        together = [feature, *others[np.argsort(costs.costs[others], kind="stable")].tolist()]
        acquired[together] = True
        acquisitions.append(tuple(int(each) for each in together))
    return acquisitions


def geometric_stages(acquisitions, costs, n_stages):
    """Return the features of each stage: prefixes of the order at geometric cumulative costs.

    They are nested tuples in the order of acquisition, and the last one holds all of them. With at
    most `n_stages` acquisitions, each is a stage.
    """
    prefixes = list(accumulate(acquisitions))
    spent = np.array([costs.subset(list(features)) for features in prefixes])
    # Acquisitions that add no cost join the stage before them.
    places = np.flatnonzero(np.append(spent[1:] > spent[:-1], True))
    if places.size > n_stages:
        spent = spent[places]
        # A geometric scale has no zero, so free features are a stage of their own.
        free = int(spent[0] == 0)
        goals = np.geomspace(spent[free], spent[-1], n_stages - free)
        goals[-1] = spent[-1]  # exactly, in spite of rounding
        # The longest prefix within each goal; close goals may share a prefix.
        kept = np.searchsorted(spent, spendable(goals), side="right") - 1
        places = places[np.unique(np.concatenate([np.zeros(free, dtype=kept.dtype), kept]))]
    return [prefixes[place] for place in places]


def nested_stages(sets, n_features):
    """Check a user's nested sets, and return them as tuples in the order of acquisition."""
    stages, acquired = [], []  # features in none of the sets are never acquired
    for features in sets:
        features = list(features)
        known, flags = set(features), any(map(is_flag, features))
        if len(known) < len(features) or not known <= set(range(n_features)) or flags:
            wanted = f"features from 0 to {n_features - 1}, each once"
            raise ParameterError(f"a nested set must contain {wanted}, got {features}.")
        if not set(acquired) < known:
            raise ParameterError(
                f"nested sets must grow: {sorted(known)} does not contain all of "
                f"{sorted(acquired)} and at least one more feature. Give each stage all features "
                "of the stages before it."
            )
        acquired += [int(each) for each in features if each not in set(acquired)]
        stages.append(tuple(acquired))
    return stages


# Orders use all labels, so the choice of a stage's features is in part a fit to chance: the best
# three of 50 random features predict 200 coin flips that helped to choose them. A pilot repeats
# the choice inside the folds at a few stages. The loss that this adds to its own simple models is
# subtracted from the cascade's gain there, and the expected gains of all operating points are
# multiplied by the remaining share. The pilot also learns the order of words again.

# Number of stages that the pilot repeats, number of parts that it leaves out, and its models.
N_PILOTS, N_PARTS = 2, 3
ORDINARY = 0.95  # quantile of the rows' gains above which they count as unusual
PILOTS = ("linear", "boosting")


def confirmed_share(table, costs, traces, last, seed, n_jobs=None):
    """Return the share of the gain over the constant that is not a fit to chance, in [0, 1].

    `traces` hold the calibrated out-of-fold predictions of the orders. `last`, (n_samples,
    n_outputs), holds the predictions from all features, which involve no choice.
    """
    # Sets given by the user were not chosen from the labels.
    trace = next((each for each in traces if each.order.name in ORDERS), None)
    if trace is None or (len(table.y) > MOST_PILOT_ROWS and not table.given):
        return 1.0
    stages = trace.order.stages
    # The last stage has all features: there, only the order of categories is a choice.
    places = {*np.linspace(0, len(stages) - 2, N_PILOTS).astype(int)} & {*range(len(stages) - 1)}
    places = [*sorted(places), *([len(stages) - 1] if table.given else [])]
    chosen = [stages[place] for place in places]
    n_stages = max(2, len(stages))  # room for a first stage of free features
    pilots = _pilots(table, costs, trace.order.name, chosen, n_stages, seed, n_jobs)
    known = [*trace.predictions[places], *([] if table.given else [last])]
    table = table.judged
    # A choice outside of the folds has seen the rows that are predicted, one inside has not.
    outside, inside = (list(map(table.calibrated_losses, each)) for each in pilots)
    constant = table.calibrated_losses(np.tile(table.constant, (len(table.y), 1)))
    gains = constant - np.mean([table.calibrated_losses(each) for each in known], axis=0)
    flattery = np.subtract(inside, outside).sum(axis=0) / len(known)
    left = gains - flattery
    # A few rows with far larger gains inflate the error, so try again with gains and losses capped.
    for most in (np.inf, np.quantile(left, ORDINARY)):
        own, gained, lost = np.minimum([left, gains, constant], most)
        mean = table.mean(own)
        # Of the gain as a share of the constant's loss, which differs by row, but not by luck.
        error = table.mean_and_error(own - mean / (table.mean(lost) or 1.0) * lost)[1]
        if mean > LEAST_ERRORS * error:
            share = mean / max(table.mean(gained), mean)
            # Shrunk like a James-Stein estimate: a gain close to its error is in part luck.
            return float(share * (1 - (LEAST_ERRORS * error / mean) ** 2))
    return 0.0


def _pilots(table, costs, name, stages, n_stages, seed, n_jobs):
    """Return predictions at some stages, chosen with and without the part that is predicted."""
    if not stages:
        return [], []
    kinds = [as_kind(kind, table.n_classes) for kind in PILOTS]
    drawn = derive_seed(seed, "pilot") & INT32_MAX
    # Folds are joined to a few parts, as an order takes as long as the models of several stages.
    parts = np.where(table.folds < 0, -1, table.folds % N_PARTS)
    examples = Examples(table.X, table.y, table.y, table.weight, table.given)

    def of_part(part):
        inside = parts != part
        # Categories in an order that is learned without the part.
        unaware = replace(table, X=examples.ordered_by(inside, table.n_classes).X)
        acquisitions = ordered_acquisitions(name, unaware.take(inside), costs, drawn)
        own = geometric_stages(acquisitions, costs, n_stages)
        spent = np.array([costs.subset(list(each)) for each in own])

        @cache
        def predicted(features, coded):
            known = (unaware if coded else table).of(features)
            learned, rest = known.take(inside), known.X[~inside]
            return np.mean([kind.fit(learned, drawn).predict(rest) for kind in kinds], axis=0)

        # The stages of the part's own order that cost at most the same.
        alike = [
            own[max(int((spent <= costs.subset(list(each)) * (1 + 1e-9)).sum()) - 1, 0)]
            for each in stages
        ]
        # Without categories both tables are equal, so the cache can serve both.
        pairs = (stages, False), (alike, bool(table.given))
        return [[predicted(ascending(each), coded) for each in sets] for sets, coded in pairs]

    found = np.zeros((2, len(stages), len(table.y), table.n_outputs))
    numbers = np.unique(parts[parts >= 0])
    for part, pair in zip(numbers, thread_map(of_part, numbers, n_jobs, "pilots"), strict=True):
        found[:, :, parts == part] = pair
    return found[:, :, parts >= 0]
