"""Out-of-fold predictions of each method at each budget, and the schedule that they argue for.

Differences are paired row by row, so that chance which two policies share cancels out.
"""

from dataclasses import dataclass
from time import monotonic

import numpy as np
from sklearn.isotonic import isotonic_regression
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from ..cascade.mixture import fit_temperature, with_temperature
from ..cascade.models import assign_folds, filled
from ..exceptions import BudgetlearnError
from ..parallel import progress
from ..protocol.checked_data import stage_of, working_dtype
from ..protocol.feature_requests import in_all_classes
from ..protocol.scoring import sums_of_groups
from .methods import CONSTANT, DEFAULT, Method, Stages
from .scores import decide

N_FOLDS = 5
TOO_LONG = "longer than max_minutes"  # why a method is skipped
REPEATS = ((200, 3), (500, 2))  # below so many rows, so many times: chance counts more


@dataclass(frozen=True, eq=False)
class Policy:
    """A method at a budget, and how it did on rows that its models had not seen."""

    method: Method
    place: int  # index of its budget
    rows: np.ndarray  # (n_samples,): contribution of each to the score
    spent: np.ndarray  # (n_samples,): what each paid
    temperature: float  # by which the probabilities are as sure as they are right
    # How many times as much rows cost that the models had not seen as those they were fitted on, 1
    # at least: of rows that it remembers a model is sooner sure.
    inflation: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """A comparison of methods out of fold."""

    train: object  # Examples
    classes: np.ndarray | None  # labels; None in regression
    costs: object  # FeatureCosts without names
    budgets: list  # ascending; the last is the full cost
    objective: object  # Objective: what is to be large
    seed: int
    n_jobs: int | None
    deadline: float | None  # by the monotonic clock: when the final fits should begin
    # (n_features,): stands for missing values in models that take none; None: nothing is missing.
    fill: np.ndarray | None
    constant: np.ndarray  # class shares, or the number that is predicted for nothing
    times: float = 1.0  # how many times as many rows the chosen methods learn from at last

    @property
    def n_classes(self):
        """Number of classes; None in regression."""
        return None if self.classes is None else self.classes.size

    def run(self, methods):
        """Return the policies, and why methods were skipped, by name; the first buys nothing.

        `methods` compete in this order. What would take beyond the deadline, or cannot learn
        these rows, is skipped.
        """
        n, random = len(self.train.y), np.random.RandomState(self.seed)
        repeats = [
            assign_folds(self.train.y, self.n_classes, min(N_FOLDS, n), random, self.train.groups)
            for _ in range(next((times for rows, times in REPEATS if n < rows), 1))
        ]
        skipped = {}
        for method in methods:  # wrong parameters are a mistake: refused before hours of fits
            method.make(self.costs, self.seed, self.n_jobs)
        policies = self._compared(CONSTANT, [0], repeats, None)
        # What everything is worth must be known: the last of these, the linear model, takes little.
        always = [method for method in methods if method.everything][-1:]
        for method in progress(methods, "methods"):
            places = [*range(len(self.budgets))][-1 if method.everything else 0 :]
            deadline = None if method in always else self.deadline
            try:
                policies += self._compared(method, places, repeats, deadline)
            except (BudgetlearnError, ValueError, RuntimeError) as error:  # the last: glmnet's
                skipped[method.name] = str(error).rstrip(".")
        return policies, skipped

    def _compared(self, method, places, repeats, deadline):
        """Return the policies of one method, unless it would take beyond the deadline."""
        n, n_outputs = len(self.train.y), self.n_classes or 1
        found = np.zeros((len(repeats), len(places), n, n_outputs))
        spent, seen = np.zeros((2, len(repeats), len(places), n))
        left_out = [
            (k, folds == fold) for k, folds in enumerate(repeats) for fold in np.unique(folds)
        ]
        budgets, start = [self.budgets[place] for place in places], monotonic()
        for done, (repeat, out) in enumerate(left_out):
            # One fit for each part that is left out, and one on all rows.
            ends = start + (monotonic() - start) * (len(left_out) + self.times) / (done or np.inf)
            if deadline is not None and ends > deadline:
                raise BudgetlearnError(TOO_LONG)
            made = self._predicted(method, np.flatnonzero(~out), np.flatnonzero(out), budgets)
            found[repeat][:, out], spent[repeat][:, out], costs = made
            seen[repeat][:, out] = costs[:, None]
        return [
            self._policy(method, place, found[:, k], spent[:, k], seen[:, k])
            for k, place in enumerate(places)
        ]

    def _predicted(self, method, train, out, budgets):
        """Return a model's predictions for other rows, what each pays, and its mean cost.

        Each for every budget; the mean cost is that of the rows that the model learned from.
        """
        # Of all rows: where classes are near a tie, the shares in the folds decide otherwise.
        free = np.tile(self.constant, (out.size, 1)), np.zeros(out.size), 0.0
        made, chosen = {None: free}, [None]
        if method is not CONSTANT:
            examples = self.train.ordered_by(train, self.n_classes)
            X, model = examples.X, self.fitted(method, examples.take(train))
            weighed = self.train.weight is not None
            stages = Stages(model, self.seen_by(model, X[train]), weighed)
            chosen = [stages.choose(budget) for budget in budgets]
            for stage in set(chosen) - {None}:
                made[stage] = *self.predicted(model, stage, X[out]), stages.costs[stage]
        return map(np.array, zip(*(made[stage] for stage in chosen), strict=True))

    def fitted(self, method, examples):
        """Return a method fitted on examples, with their weights where it takes such."""
        model, n = method.make(self.costs, self.seed, self.n_jobs), len(examples.y)
        if n < 2 * N_FOLDS and model.get_params(deep=False).get("cv") == N_FOLDS:
            model.set_params(cv=n // 2)  # folds of two rows or more
        weighs = examples.weight is not None and get_tags(model).sample_weight
        weights = {"sample_weight": examples.weight} if weighs else {}
        if examples.groups is not None and has_fit_parameter(model, "groups"):
            weights["groups"] = examples.groups
        return model.fit(self.seen_by(model, examples.X), examples.targets, **weights)

    def fill_of(self, model):
        """Return the values that stand for missing ones in a model; None where it takes them."""
        return None if get_tags(model).input_tags.allow_nan else self.fill

    def seen_by(self, model, X):
        """Return examples as a model gets them: without gaps where it takes none."""
        return filled(X, self.fill_of(model))

    def shift_of(self, model):
        """Return the factor of each class by which a model without weights is to be corrected.

        None where nothing is weighed, or the model has learned from the weights.
        """
        weight, y = self.train.weight, self.train.y
        if self.n_classes is None or weight is None or get_tags(model).sample_weight:
            return None
        return np.bincount(y, weight, self.n_classes) / np.bincount(y, minlength=self.n_classes)

    def predicted(self, model, stage, X):
        """Return a stage's predictions, a column for each class, and the cost of each row."""
        X = self.seen_by(model, X).astype(working_dtype(model), copy=False)
        made = stage_of(model, X, stage, {"output", "probabilities", "acquired"})
        spent = self.costs.total(made.acquired)
        if self.n_classes is None:
            return np.asarray(made.output, dtype=np.float64).reshape(-1, 1), spent
        known = made.probabilities, model.classes_
        return of_all_classes(*known, self.classes, self.shift_of(model)), spent

    def _policy(self, method, place, found, spent, seen):
        """Return a policy of predictions and costs, of each repeat; `seen`: costs of seen rows."""
        y, weight, temperature = self.train.y, self.train.weight, 1.0
        decided = [None] * len(found)
        if self.n_classes is not None:
            if method.name != "constant":
                # The repeats as so many more rows: one temperature for the policy.
                weights = None if weight is None else np.tile(weight, len(found))
                labels = np.tile(y, len(found))
                temperature = fit_temperature(found.reshape(-1, self.n_classes), labels, weights)
                found = [with_temperature(each, temperature) for each in found]
            costs = self.objective.decision_costs(y, self.n_classes)
            decided = [decide(each, costs) for each in found]
        parts = zip(found, decided, spent, strict=True)
        rows = np.mean([self.objective.rows(y, *part, weight) for part in parts], axis=0)
        if self.train.groups is not None:
            # Rows of one group are alike: a number for each group, of the same mean.
            moved = sums_of_groups(rows - rows.mean(), self.train.groups)
            rows = rows.mean() + moved * (moved.size / rows.size)
        # Both are means over the same rows, so that their ratio has little noise.
        inflation = max(spent.mean() / max(seen.mean(), 1e-12), 1.0)
        return Policy(method, place, rows, spent.mean(axis=0), temperature, inflation)


def of_all_classes(probabilities, known, classes, factors=None):
    """Return probabilities (n_samples, n_known) with a column for every class, 0 for unknown ones.

    Both `known`, the classes of the model, and `classes`, all of them, ascend. With `factors`,
    (n_classes,), each class counts by its own.
    """
    wide = in_all_classes(probabilities, np.searchsorted(classes, known), classes.size)
    if factors is None:
        return wide
    weighed = wide * factors
    return weighed / weighed.sum(axis=1, keepdims=True)


# In paired standard errors: how much another method must be better than the default one, of several
# that try; how much the first purchase must be better than none; and how much a purchase must be
# better than the best that costs less. Below 0, it may be worse by as much: a budget is there to be
# spent. Where purchases count in the score it must be better. The last is to recommend without one.
TO_REPLACE, TO_BUY, TO_SPEND, TO_PAY, TO_RECOMMEND = 1.5, 0.5, -1.5, 0.0, 1.0
N_RESAMPLES = 100


@dataclass(frozen=True, eq=False)
class Field:
    """The policies as arrays."""

    rows: np.ndarray  # (n_policies, n_samples): contributions to the score
    names: list  # the method of each policy
    places: np.ndarray  # int (n_policies,): index of its budget
    everything: np.ndarray  # bool (n_policies,): whether it acquires all features of every row
    spends: bool = True  # whether a budget is there to be spent; not where purchases are scored


def best_at_budgets(field, weights=None):
    """Return the policy for each budget: the constant, or one that no cheaper one surely beats.

    Policies by index, of which the first is the constant; the same as before where nothing more is
    bought. `weights`, (n_samples,), say how often each row counts.
    """
    weights = np.ones(field.rows.shape[1]) if weights is None else weights
    means = field.rows @ (weights / weights.sum())
    last, top, chosen = 0, 0, []
    for place in range(field.places.max() + 1):
        pool = [k for k in np.flatnonzero(field.places == place) if k]
        own = [k for k in pool if field.names[k] == DEFAULT]
        best = max(pool, key=means.__getitem__, default=0)
        # The default stays unless another method is surely better.
        if own and best != own[0] and not _better(field, weights, best, own[0], TO_REPLACE):
            best = own[0]
        limit = (TO_SPEND if field.spends else TO_PAY) if last else TO_BUY
        # Against the best so far: small losses must not add up.
        if means[best] > means[0] and _better(field, weights, best, top, limit):
            last = best
            top = max(top, best, key=means.__getitem__)
        chosen.append(last)
    return chosen


def surely_better(field, chosen, quotes):
    """Return those of the policies chosen for ascending budgets that surely beat cheaper ones.

    The first one is the constant, the last one what to buy without a budget. Gains are those of
    `quotes`: what the choice flatters by is none.
    """
    kept, limit = [0], TO_RECOMMEND if field.spends else TO_PAY
    for policy in dict.fromkeys(chosen):
        difference = field.rows[policy] - field.rows[kept[-1]]
        error = difference.std() / np.sqrt(difference.size)
        if policy and quotes[policy] - quotes[kept[-1]] > limit * error:
            kept.append(policy)
    return kept


def _better(field, weights, one, other, limit):
    """Return True where a policy is better than another by more than `limit` standard errors."""
    difference, shares = field.rows[one] - field.rows[other], weights / weights.sum()
    mean = shares @ difference
    error = np.sqrt(max(shares @ difference**2 - mean**2, 0.0) / weights.sum())
    return mean > limit * error


def optimism(field, seed):
    """Return for each budget how much the score of the chosen policy flatters it, (n_budgets,).

    The choice is made again on resampled rows: there its choice scores better than on all rows, by
    as much as choosing on these rows flatters what was chosen (Efron's bootstrap).
    """
    random, n = np.random.RandomState(seed), field.rows.shape[1]
    means, gains = field.rows.mean(axis=1), []
    for _ in range(N_RESAMPLES):
        weights = np.bincount(random.randint(n, size=n), minlength=n).astype(np.float64)
        resampled = field.rows @ (weights / n)
        gains.append([resampled[k] - means[k] for k in best_at_budgets(field, weights)])
    return np.maximum(np.mean(gains, axis=0), 0.0)


def quoted_scores(field, chosen, flattery):
    """Return the expected scores of the policies chosen for ascending budgets, by policy.

    That is the score out of fold, less what the choice flatters it by, (n_budgets,). Policies that
    score less than cheaper ones, but not surely, share the mean with these (isotonic regression).
    """
    first = {policy: place for place, policy in reversed(list(enumerate(chosen)))}
    means, bought = field.rows.mean(axis=1), sorted(filter(None, first), key=first.get)
    scores = np.array([means[policy] - flattery[first[policy]] for policy in bought])
    if field.spends and bought:
        scores = isotonic_regression(scores)
    return {0: means[0], **dict(zip(bought, scores.tolist(), strict=True))}


def everything(field):
    """Return the policy that acquires all, the first or a surely better one, or None."""
    pool = np.flatnonzero(field.everything)
    if not pool.size:
        return None
    first, means = int(pool[0]), field.rows.mean(axis=1)
    best = int(pool[means[pool].argmax()])
    return best if _better(field, np.ones(field.rows.shape[1]), best, first, 1.0) else first
