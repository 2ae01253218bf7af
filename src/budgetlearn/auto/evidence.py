"""Out-of-fold predictions of each method at each budget, and the schedule chosen by them.

Differences are paired row by row, so that noise shared by two policies cancels out.
"""

from dataclasses import dataclass
from time import monotonic

import numpy as np
from sklearn.isotonic import isotonic_regression
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from ..cascade.mixture import with_temperature
from ..cascade.models import assign_folds, filled
from ..exceptions import BudgetlearnError
from ..parallel import progress
from ..protocol.calibration import fit_temperature
from ..protocol.checked_data import stage_of, working_dtype
from ..protocol.feature_requests import in_all_classes
from ..protocol.scoring import error_of_mean, mean_and_error, sums_of_groups
from .methods import CONSTANT, DEFAULT, Method, Stages
from .scores import decide

N_FOLDS = 5
MANY_ROWS, LEAST_FOLDS = 5_000, 3  # more rows than this have so many folds, to save time
TOO_LONG = "longer than max_minutes"  # why a method is skipped
REPEATS = ((200, 3), (500, 2))  # (rows, repeats): fewer rows than this have repeated folds


@dataclass(frozen=True, eq=False)
class Policy:
    """A method at a budget, with its out-of-fold score and cost."""

    method: Method
    place: int  # index of its budget
    rows: np.ndarray  # (n_samples,): contribution of each row to the score
    # Score and its standard error in folds whose model has a stage within the budget, as the final
    # model has. In other folds, the constant predicts.
    score: float
    score_se: float
    spent: np.ndarray  # (n_samples,): acquisition cost of each row
    temperature: float  # calibrates the probabilities
    # Ratio, at least 1, of the costs of unseen rows to those of (surer) training rows.
    inflation: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparison:
    """A comparison of methods out of fold."""

    train: object  # Examples
    classes: np.ndarray | None  # labels; None in regression
    costs: object  # FeatureCosts without names
    budgets: list  # ascending; the last is the full cost
    objective: object  # Objective to maximise
    seed: int
    n_jobs: int | None
    deadline: float | None  # of the comparison, on the monotonic clock
    # (n_features,): replaces missing values in models that accept none; None: nothing is missing.
    fill: np.ndarray | None
    constant: np.ndarray  # class shares, or the constant prediction in regression
    times: float = 1.0  # ratio of the rows of the final fits to those of the comparison

    @property
    def n_classes(self):
        """Number of classes; None in regression."""
        return None if self.classes is None else self.classes.size

    def run(self, methods):
        """Return the policies, the constant first, and the reasons of skipped methods by name."""
        # They compete in their order; those that would exceed the deadline, or fail, are skipped.
        n, random = len(self.train.y), np.random.RandomState(self.seed)
        n_repeats = next((times for rows, times in REPEATS if n < rows), 1)
        n_folds = LEAST_FOLDS if n > MANY_ROWS else min(N_FOLDS, n)
        about = self.train.y, self.n_classes, n_folds, random, self.train.groups
        repeats = [assign_folds(*about) for _ in range(n_repeats)]
        skipped = {}
        for method in methods:  # raises for wrong parameters before hours of fits
            self.made(method)
        policies = self._compared(CONSTANT, [0], repeats, None)
        # At least one model on all features: the last one, the linear model, is fast.
        always = [method for method in methods if method.everything][-1:]
        for method in progress(methods, "methods"):
            places = [*range(len(self.budgets))][-1 if method.everything else 0 :]
            deadline = None if method in always else self.deadline
            try:
                policies += self._compared(method, places, repeats, deadline)
            except (BudgetlearnError, ValueError, RuntimeError) as error:  # RuntimeError: glmnet
                skipped[method.name] = str(error).rstrip(".")
        return policies, skipped

    def _compared(self, method, places, repeats, deadline):
        """Return the policies of one method; raise if it would exceed the deadline."""
        n, n_outputs = len(self.train.y), self.n_classes or 1
        found = np.zeros((len(repeats), len(places), n, n_outputs))
        spent, seen = np.zeros((2, len(repeats), len(places), n))
        left_out = [(k, folds == f) for k, folds in enumerate(repeats) for f in np.unique(folds)]
        budgets, start = [self.budgets[place] for place in places], monotonic()
        n_fits = len(left_out) + self.times**method.scaling
        for done, (repeat, out) in enumerate(left_out):
            # Extrapolates the time to the fits of all folds and one final fit.
            ends = start + (monotonic() - start) * n_fits / (done or np.inf)
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
        """Return predictions and costs of the rows `out`, and mean training costs, by budget."""
        # The constant of all rows, as class shares of folds may give another most frequent class.
        free = np.tile(self.constant, (out.size, 1)), np.zeros(out.size), 0.0
        made, chosen = {None: free}, [None]
        if method is not CONSTANT:
            examples = self.train.ordered_by(train, self.n_classes)
            X, model = examples.X, self.fitted(method, examples.take(train))
            stages = Stages(model, self.seen_by(model, X[train]), self.train.weight is not None)
            chosen = [stages.choose(budget) for budget in budgets]
            for stage in set(chosen) - {None}:
                predictions, spent = self.predicted(model, stage, X[out])
                made[stage] = predictions, spent, stages.costs[stage]
        return map(np.array, zip(*(made[stage] for stage in chosen), strict=True))

    def made(self, method):
        """Return an unfitted method, which compares its models by the objective's score."""
        scoring = self.objective.own_scoring(self.n_classes)
        return method.make(self.costs, self.seed, self.n_jobs, scoring)

    def fitted(self, method, examples):
        """Return a method fitted on examples, with their weights and groups if it accepts them."""
        model, n = self.made(method), len(examples.y)
        if n < 2 * N_FOLDS and model.get_params(deep=False).get("cv") == N_FOLDS:
            model.set_params(cv=n // 2)  # folds with at least two rows
        weighs = examples.weight is not None and get_tags(model).sample_weight
        weights = {"sample_weight": examples.weight} if weighs else {}
        if examples.groups is not None and has_fit_parameter(model, "groups"):
            weights["groups"] = examples.groups
        return model.fit(self.seen_by(model, examples.X), examples.targets, **weights)

    def fill_of(self, model):
        """Return the values that replace missing ones, or None if the model accepts them."""
        return None if get_tags(model).input_tags.allow_nan else self.fill

    def seen_by(self, model, X):
        """Return examples with missing values replaced if the model does not accept them."""
        return filled(X, self.fill_of(model))

    def shift_of(self, model):
        """Return factors of the classes that correct a model fitted without weights, or None."""
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
        shares, known = made.probabilities, model.classes_
        return of_all_classes(shares, known, self.classes, self.shift_of(model)), spent

    def _policy(self, method, place, found, spent, seen):
        """Return the policy for each repeat's predictions and costs of unseen and `seen` rows."""
        y, weight, groups, temperature = self.train.y, self.train.weight, self.train.groups, 1.0
        decided = [None] * len(found)
        if self.n_classes is not None:
            if method.name != "constant":
                # One temperature for all repeats.
                weights = None if weight is None else np.tile(weight, len(found))
                labels = np.tile(y, len(found))
                temperature = fit_temperature(found.reshape(-1, self.n_classes), labels, weights)
                found = [with_temperature(each, temperature) for each in found]
            costs = self.objective.decision_costs(y, self.n_classes)
            decided = [decide(each, costs) for each in found]
        parts = zip(found, decided, spent, strict=True)
        rows = np.mean([self.objective.rows(y, *part, weight) for part in parts], axis=0)
        unseen = self.objective.unseen_error(rows, y, groups)
        if groups is not None:
            # Rows of a group are not independent: use a number for each group, with the same mean.
            moved = sums_of_groups(rows - rows.mean(), groups)
            rows = rows.mean() + moved * (moved.size / rows.size)
        score, error = mean_and_error(rows)
        # Folds whose model has no stage within the budget have no cost on training rows.
        if 0 < (kept := np.ravel(seen) > 0).mean() < 1:
            score, error = self._score_of(kept, found, decided, spent)
        if method is not CONSTANT:
            error = np.hypot(error, unseen)
        elif self.objective.scoring == "r2":
            error = error_of_mean(y, weight, groups)
        # Both are means over the same rows, so their ratio has little noise.
        inflation = max(spent.mean() / seen.mean(), 1.0) if seen.any() else 1.0
        return Policy(method, place, rows, score, error, spent.mean(axis=0), temperature, inflation)

    def _score_of(self, kept, found, decided, spent):
        """Return the score of some rows of all repeats, and its standard error."""
        y, weight, groups = self.train.y, self.train.weight, self.train.groups
        known = y, weight, np.arange(y.size) if groups is None else groups
        y, weight, names = (x if x is None else np.tile(x, len(found))[kept] for x in known)
        decided = None if self.n_classes is None else np.ravel(decided)[kept]
        found, spent = np.concatenate(found)[kept], np.ravel(spent)[kept]
        rows = self.objective.unweighted(y, found, decided, spent, weight)
        return mean_and_error(rows, weight, names)  # repeats of a row are not independent


def of_all_classes(probabilities, known, classes, factors=None):
    """Return probabilities with a column for every class, 0 for classes unknown to the model.

    `known`, the classes of the model, and `classes`, all classes, are ascending. With `factors`,
    (n_classes,), probabilities are multiplied by them and normalised.
    """
    wide = in_all_classes(probabilities, np.searchsorted(classes, known), classes.size)
    if factors is None:
        return wide
    weighed = wide * factors
    return weighed / weighed.sum(axis=1, keepdims=True)


# Differences required, in paired standard errors. TO_REPLACE: to replace the default method by
# another one. TO_BUY: for the first acquisition to be better than none. TO_SPEND: to spend more
# than the best cheaper policy; below 0, it may be worse by as much, as budgets are meant to be
# spent. TO_PAY: the same if costs are part of the score; then spending more must pay off.
# TO_RECOMMEND: to recommend spending more where there is no budget.
TO_REPLACE, TO_BUY, TO_SPEND, TO_PAY, TO_RECOMMEND = 1.5, 0.5, -1.5, 0.0, 1.0
N_RESAMPLES = 100


@dataclass(frozen=True, eq=False)
class Field:
    """The policies as arrays."""

    rows: np.ndarray  # (n_policies, n_samples): contributions to the score
    names: list  # the method of each policy
    places: np.ndarray  # int (n_policies,): index of its budget
    everything: np.ndarray  # bool (n_policies,): whether it acquires all features of every row
    spends: bool = True  # whether budgets are meant to be spent; False if costs are in the score


def best_at_budgets(field, weights=None):
    """Return the index of the policy for each budget.

    Index 0 is the constant. A budget may have the same policy as the one before. `weights`,
    (n_samples,), are numbers of copies of the rows.
    """
    weights = np.ones(field.rows.shape[1]) if weights is None else weights
    means = field.rows @ (weights / weights.sum())
    last, top, chosen = 0, 0, []
    for place in range(field.places.max() + 1):
        pool = [k for k in np.flatnonzero(field.places == place) if k]
        own = [k for k in pool if field.names[k] == DEFAULT]
        best = _first_of_best(pool, means) if pool else 0
        # Keep the default unless another method is better beyond chance.
        if own and best != own[0] and not _better(field, weights, best, own[0], TO_REPLACE):
            best = own[0]
        limit = (TO_SPEND if field.spends else TO_PAY) if last else TO_BUY
        # Compared with the best policy so far, so that small losses do not add up.
        above = best and _first_of_best([0, best], means) == best
        if above and _better(field, weights, best, top, limit):
            last = best
            top = _first_of_best([top, best], means)
        chosen.append(last)
    return chosen


def _first_of_best(pool, means):
    """Return the first of the policies with the largest mean score.

    Rows of the same scores in another order have means that differ by rounding, in either way on
    different processors.
    """
    among = means[pool]
    return next(k for k in pool if among.max() - means[k] <= 1e-12 * np.abs(among).max())


def surely_better(field, chosen, quotes):
    """Return the policies chosen for ascending budgets that surely beat cheaper ones."""
    # The constant is always included. The last one is the choice without a budget. Gains are
    # differences of `quotes`, which are corrected for the optimism of the choice.
    kept, limit = [0], TO_RECOMMEND if field.spends else TO_PAY
    for policy in dict.fromkeys(chosen):
        difference = field.rows[policy] - field.rows[kept[-1]]
        error = difference.std() / np.sqrt(difference.size)
        if policy and quotes[policy] - quotes[kept[-1]] > limit * error:
            kept.append(policy)
    return kept


def _better(field, weights, one, other, limit):
    """Return whether a policy is better than another by more than `limit` standard errors."""
    difference, shares = field.rows[one] - field.rows[other], weights / weights.sum()
    mean = shares @ difference
    return mean > limit * np.sqrt(max(shares @ difference**2 - mean**2, 0.0) / weights.sum())


def optimism(field, seed):
    """Return the bias of the chosen policy's score at each budget, (n_budgets,)."""
    # The choice is repeated on bootstrap samples. The chosen policies score better on their sample
    # than on all rows, which estimates the bias of choosing on all rows (Efron's bootstrap).
    random, n = np.random.RandomState(seed), field.rows.shape[1]
    means, gains = field.rows.mean(axis=1), []
    for _ in range(N_RESAMPLES):
        weights = np.bincount(random.randint(n, size=n), minlength=n).astype(np.float64)
        resampled = field.rows @ (weights / n)
        gains.append([resampled[k] - means[k] for k in best_at_budgets(field, weights)])
    return np.maximum(np.mean(gains, axis=0), 0.0)


def quoted_scores(field, chosen, bias):
    """Return the expected scores of the policies chosen for ascending budgets, by policy."""
    # The score out of fold, minus its `bias`, (n_budgets,). Policies that score less than cheaper
    # ones, though not beyond chance, get their common mean (isotonic regression).
    first = {policy: place for place, policy in reversed(list(enumerate(chosen)))}
    means, acquiring = field.rows.mean(axis=1), sorted(filter(None, first), key=first.get)
    scores = np.array([means[policy] - bias[first[policy]] for policy in acquiring])
    if field.spends and acquiring:
        scores = isotonic_regression(scores)
    return {0: means[0], **dict(zip(acquiring, scores.tolist(), strict=True))}


def everything(field):
    """Return the policy that acquires everything: the first, unless another is better; or None."""
    pool = np.flatnonzero(field.everything)
    if not pool.size:
        return None
    # The first stays unless the best is better by more than a standard error.
    first, means = int(pool[0]), field.rows.mean(axis=1)
    best = int(_first_of_best(pool, means))
    return best if _better(field, np.ones(field.rows.shape[1]), best, first, 1.0) else first
