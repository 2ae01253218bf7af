"""What remains of a cascade's gain when orders are chosen without the examples they are judged on.

Orders see all labels, so the features of a stage fit chance, too: of 50 features and 200 coins the
best three foretell held-out coins that helped to choose them. A pilot repeats the choice inside the
folds at a few stages. The share of the gain over the constant that it keeps is what the operating
points promise of theirs. The order of words fits chance alike, and is learned anew there.
"""

import numpy as np

from ..parallel import thread_map
from ..protocol.examples import recoded, target_codes
from ..validation import INT32_MAX, derive_seed
from .mixture import fit_temperature, with_temperature
from .models import as_kind
from .orders import ORDERS, OrderProblem
from .pool import mean_and_error
from .stages import geometric_stages, with_whole_groups

# Stages that the pilot repeats, parts of the examples that it leaves out, and its models.
N_PILOTS, N_PARTS = 2, 3
PILOTS = ("linear", "boosting")
# With so many examples a choice among features hardly fits chance.
MOST_ROWS = 5_000
# A gain of fewer standard errors is chance.
LEAST_ERRORS = 1.5


def losses_of(predictions, table):
    """Return log losses of calibrated probabilities, or squared errors, (n_samples,)."""
    if table.n_classes is None:
        return (predictions[:, 0] - table.y) ** 2
    found = with_temperature(predictions, fit_temperature(predictions, table.y, table.weight))
    return -np.log(found[np.arange(table.y.size), table.y])


def confirmed_share(table, costs, name, stages, last, seed, n_jobs=None):
    """Return the share of the gain over the constant that is no fit to chance, in [0, 1].

    `name` is the order that gave the stages; `last`, (n_samples, n_outputs), the out-of-fold
    predictions from all features, for which nothing was chosen.
    """
    if len(table.y) > MOST_ROWS and not table.given:
        return 1.0
    constant = losses_of(np.tile(_constant(table), (len(table.y), 1)), table)
    at_last = constant - losses_of(last, table)
    # All stages but the last, whose features are no choice; the order of its words is one.
    places = np.unique(np.linspace(0, max(len(stages) - 2, 0), N_PILOTS).astype(int))
    chosen = [stages[place] for place in places if place < len(stages) - 1]
    chosen, free = ([*chosen, stages[-1]], []) if table.given else (chosen, [at_last])
    chosen_outside, chosen_inside = (
        np.array([*(constant - losses_of(each, table) for each in pilots), *free])
        for pilots in _pilots(table, costs, name, chosen, len(stages), seed, n_jobs)
    )
    kept = chosen_inside.mean(axis=0)
    mean, error = mean_and_error(kept, table.weight)
    if mean <= LEAST_ERRORS * error:
        return 0.0
    weights = None
    if table.weight is not None:
        weights = np.broadcast_to(table.weight, chosen_outside.shape)
    promised = np.average(chosen_outside, weights=weights)
    share = min(1.0, mean / max(promised, mean))
    # Shrunk as by James and Stein: where a gain is hardly more than its error, part of it is luck.
    return float(share * (1 - (LEAST_ERRORS * error / mean) ** 2))


def _constant(table):
    if table.n_classes is None:
        return np.array([table.mean(table.y)])
    counts = np.bincount(table.y, table.weight, table.n_classes)
    return counts / counts.sum()


def _pilots(table, costs, name, stages, n_stages, seed, n_jobs):
    """Return predictions at some stages, chosen with and without the fold that is predicted."""
    kinds = [as_kind(kind, table.n_classes) for kind in PILOTS]
    drawn = derive_seed(seed, "pilot") & INT32_MAX

    if not stages:
        return [], []
    # Folds are taken together: an order takes as long as the models of several stages.
    parts = table.folds % N_PARTS

    def of_part(part):
        inside = parts != part
        y, weight = table.y[inside], table.weight_of(inside)
        codes = target_codes(table.X[inside], table.given, y, weight, table.n_classes)
        unaware = recoded(table.X, codes)  # words in an order that the part has no hand in
        problem = OrderProblem.of(unaware[inside], y, table.n_classes, costs, drawn, weight=weight)
        own = geometric_stages(with_whole_groups(ORDERS[name](problem), costs), costs, n_stages)
        spent = np.array([costs.subset(list(each)) for each in own])

        def predicted(features, X):
            known = np.ascontiguousarray(X[:, sorted(features)])
            models = [kind.fit(known[inside], y, table.n_classes, drawn, weight) for kind in kinds]
            there = known[~inside]
            return np.mean([model.predict(there) for model in models], axis=0)

        # What the fold's own order has for the same money.
        alike = [
            own[max(int((spent <= costs.subset(list(each)) * (1 + 1e-9)).sum()) - 1, 0)]
            for each in stages
        ]
        pairs = (stages, table.X), (alike, unaware)
        return [[predicted(each, X) for each in sets] for sets, X in pairs]

    found = np.zeros((2, len(stages), len(table.y), table.n_outputs))
    numbers = np.unique(parts)
    for part, pair in zip(numbers, thread_map(of_part, numbers, n_jobs, "pilots"), strict=True):
        for which, stages_of in enumerate(pair):
            for stage, predictions in enumerate(stages_of):
                found[which, stage, parts == part] = predictions
    return found
