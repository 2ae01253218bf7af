"""`AutoBudgetClassifier` and `AutoBudgetRegressor`: the best method for each budget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier
from sklearn.utils.validation import check_consistent_length

from ..cascade.mixture import with_temperature
from ..cascade.models import filled, medians
from ..cascade.pool import REFIT_ERROR
from ..protocol import BudgetedEstimator, GroupedFit, Outcome, Stage
from ..protocol.checked_data import checked_weight, stage_of, working_dtype
from ..protocol.documenting import described, documented, estimator_class
from ..protocol.operating_points import cost_and_error, most_costs, point_of
from ..protocol.prediction import each_stage, requests_of
from ..protocol.scoring import mean_and_error
from ..validation import INT32_MAX, ParameterError, check_number, check_numbers, codes_of_groups
from . import evidence
from .methods import Method, Stages, competitors
from .scores import NAMES, Objective, check_scoring, decide, error_matrix

# Budgets at which methods are compared, as shares of the full cost.
SHARES = (0.02, 0.05, 0.1, 0.15, 0.25, 0.4, 0.5, 0.7, 1.0)
# The parts of a stage that a score may need, as total cost needs acquisitions.
ALL = frozenset({"output", "probabilities", "acquired"})
# Costs count as equal if they differ by less than this share of the larger one.
SAME_COST = 0.01
MOST_COMPARED = 10_000  # rows in the comparison; the chosen methods learn from all rows


@dataclass(frozen=True, eq=False)
class Entry:
    """A row of the schedule: a stage of a model that was fitted on all rows."""

    method: str
    score: float  # out of fold, minus the bias due to the choice
    score_se: float
    sure: bool = True  # whether it beats cheaper ones beyond chance
    last: bool = False  # whether it acquires everything, and is therefore kept
    cost: float = 0.0  # expected cost on rows that the model has not seen
    cost_se: float = 0.0
    model: Any = None  # None: the constant, which acquires nothing
    stage: int = 0
    temperature: float = 1.0  # of the probabilities
    fill: Any = None  # (n_features,): replaces missing values, if the model accepts none
    # (n_classes,): factors of probabilities that were learned without class weights, or None
    shift: Any = None


@estimator_class
class AutoBudget(GroupedFit, BudgetedEstimator):
    """Compare methods out of fold, and keep the best one for each budget.

    Parameters
    ----------
    scoring : str, default=None
        The score to maximise. Classification: "accuracy" (None), "balanced_accuracy", "roc_auc",
        "neg_log_loss", "f1" (of two classes, that of the rarer one in training; of more, the mean)
        or "f1_macro" (the mean). Regression: "r2" (None) or "neg_mean_absolute_error".
    budgets : sequence of float, default=()
        Budgets to compare at, in addition to shares of the full cost, and 0 if a feature is free.
    others : dict of str to estimator, default=None
        Additional unfitted budgeted estimators that compete, by name in the output. They replace
        methods of the same name.
    max_minutes : float or None, default=10
        Time limit. Methods that would exceed it, together with those before them, are skipped (see
        `skipped_`), except the constant and the linear model. With more than 10,000 rows, 10,000
        random rows are compared, and the chosen methods are fitted to all. None: no limit.

    Attributes
    ----------
    operating_points_ : DataFrame
        The schedule, from acquiring nothing to acquiring everything. `score` is out of fold, minus
        the bias due to the choice among methods. Rows with equal scores are not worse than the
        first of them beyond chance, and serve larger budgets. `cost` is the cost of the final model
        on the rows of `fit`, times the out-of-fold ratio of costs on unseen and seen rows;
        `cost_se` is its standard error. `setting` names the method.
    recommended_ : int
        The row that `predict` uses without a budget: no cheaper one is as good beyond chance.
    comparison_ : DataFrame
        Each method at each budget: mean cost and score out of fold, before any choice.
    skipped_ : dict of str to str
        Methods that were not compared, and why.
    """

    _takes_missing = True
    _spends_budgets = True

    scoring: str | None = None
    budgets: Any = ()
    others: dict[Any, Any] | None = None
    max_minutes: float | None = 10
    random_state: Any = None
    n_jobs: int | None = None

    def _fit(self, train, valid, seeds):
        train, classifies = train.weighed_for(self), is_classifier(self)
        effective_n_jobs(self.n_jobs)  # raises for bad values; later, methods would be skipped
        check_number(self.max_minutes, "max_minutes", low=0, low_open=True, none=True)
        if np.size(self.budgets):
            check_numbers(self.budgets, "budgets", low=0)
        if len(train.y) < 10:
            raise ParameterError(f"methods are compared on 10 rows or more, got {len(train.y)}.")
        if (n := train.n_groups) < (least := evidence.N_FOLDS):
            raise ParameterError(f"methods are compared on {least} groups or more, got {n}.")
        seed = int(seeds.randint(INT32_MAX))
        self.objective_ = self._objective(train)
        self.decision_costs_ = None
        if classifies:
            self.decision_costs_ = self.objective_.decision_costs(train.y, self.classes_.size)
        compared, n = train, len(train.y)
        if self.max_minutes is not None and n > MOST_COMPARED:
            compared, _ = train.held_out(1 - MOST_COMPARED / n, seeds, self)
        comparison = self._comparison(compared, seed, n / len(compared.y))
        methods = {each.name: each for each in competitors(classifies, train.X.shape[1])}
        others = {} if self.others is None else self.others
        if not isinstance(others, dict):
            raise ParameterError(f"others must be a dict from name to estimator, got {others!r}.")
        methods |= {name: Method(name, other, {}) for name, other in others.items()}
        policies, self.skipped_ = comparison.run(list(methods.values()))
        self._keep(comparison, policies, train)

    def _objective(self, train):
        scoring = check_scoring(self.scoring, is_classifier(self), train.weight)
        errors = getattr(self, "error_costs", None)
        if errors is None:
            if scoring != "f1":
                return Objective(scoring)
            counts = np.bincount(train.y)
            return Objective(scoring, positive=int(counts[1] <= counts[0]))
        if self.scoring is not None:
            raise ParameterError("error_costs define the score: give them or scoring, not both.")
        return Objective("total_cost", error_matrix(errors, self.classes_))

    def _comparison(self, train, seed, times):
        costs = self.feature_costs_.unnamed  # because models are fitted to arrays
        given = [float(budget) for budget in self.budgets if budget < costs.full]
        free = costs.alone[costs.alone == 0].tolist()  # free features get a budget of 0
        budgets = sorted({*given, *free, *(share * costs.full for share in SHARES)})
        limited = self.max_minutes is not None
        return evidence.Comparison(
            train=train,
            classes=self.classes_ if is_classifier(self) else None,
            costs=costs,
            budgets=budgets,
            objective=self.objective_,
            seed=seed,
            n_jobs=self.n_jobs,
            deadline=monotonic() + 60 * self.max_minutes if limited else None,
            fill=medians(train.X) if self.missing_in_training_.any() else None,
            constant=self.constant_,
            times=times,
        )

    def _keep(self, comparison, policies, train):
        """Fit the chosen methods on all rows and keep the schedule."""
        field = evidence.Field(
            np.array([policy.rows for policy in policies]),
            [policy.method.name for policy in policies],
            np.array([policy.place for policy in policies]),
            np.array([policy.method.everything for policy in policies]),
            spends=self.objective_.scoring != "total_cost",
        )
        chosen = evidence.best_at_budgets(field)
        bias = evidence.optimism(field, comparison.seed)
        # Folds without a model within the budget do not count in the quoted scores.
        bias += [policies[k].rows.mean() - policies[k].score for k in chosen]
        quotes = evidence.quoted_scores(field, chosen, bias)
        known = [(p.method.name, comparison.budgets[p.place], p.spent.mean()) for p in policies]
        self.comparison_ = pd.DataFrame(known, columns=["method", "budget", "cost"])
        self.comparison_[["score", "score_se"]] = [mean_and_error(each) for each in field.rows]
        fitted, found = {}, []
        last, sure = evidence.everything(field), evidence.surely_better(field, chosen, quotes)
        if last is not None and last not in quotes:
            # Not clearly better than what was chosen, so it is quoted just below that: the largest
            # budget must not choose it by luck.
            quotes[last] = min(policies[last].score, np.nextafter(max(quotes.values()), -np.inf))
        for k in dict.fromkeys([0, *chosen, *([] if last is None else [last])]):
            policy, method = policies[k], policies[k].method
            error = policy.score_se * (REFIT_ERROR if k else 1.0)  # the constant is not refitted
            entry = Entry(method.name, quotes.get(k, policy.score), error, k in sure, k == last)
            if k:
                if method.name not in fitted:
                    model = comparison.fitted(method, train)
                    seen = comparison.seen_by(model, train.X)
                    weighed = train.weight is not None
                    fitted[method.name] = Stages(model, seen, weighed, train.groups)
                    fitted[method.name].settle()
                entry = self._bought(entry, policy, fitted[method.name], comparison)
            found.append(entry)
        self.entries_ = _increasing(filter(None, found))
        stages = self._stages(train.X, range(len(self.entries_)), frozenset({"acquired"}))
        self.operating_points_ = pd.DataFrame(
            point_of(self, stage, entry.cost, entry.cost_se, entry.score, entry.score_se)
            for entry, stage in zip(self.entries_, stages, strict=True)
        )
        self.recommended_ = max(k for k, each in enumerate(self.entries_) if each.sure or k == 0)

    def _bought(self, entry, policy, stages, comparison):
        """Return an entry with its model and its cost, or None if the model cannot be used."""
        # The model of all rows may have no stage within the budget, or acquire nothing. If it costs
        # less than half as much as the models out of fold, their score does not hold for it.
        model, budget = stages.model, comparison.budgets[policy.place]
        # Within the budget on unseen rows, too, if possible: `predict` chooses by the quoted cost.
        stage = stages.choose(budget, policy.inflation)
        stage = stages.choose(budget) if stage is None else stage
        if stage is None or not stages.acquires[stage]:
            return None
        cost, error = stages.quoted(stage, policy.inflation)
        nothing_is_free = model.feature_costs_.alone.min() > 0
        if (cost == 0 and nothing_is_free) or cost < policy.spent.mean() / 2:
            return None
        fill, shift = comparison.fill_of(model), comparison.shift_of(model)
        corrections = {"temperature": policy.temperature, "fill": fill, "shift": shift}
        return replace(entry, cost=cost, cost_se=error, model=model, stage=stage, **corrections)

    @property
    def score_name_(self):
        """Name of the score, with a minus sign if the underlying measure is a loss."""
        name = NAMES[self.objective_.scoring]
        one_class = name == "F1" and self.classes_.size == 2
        return f"F1 of {self.classes_[self.objective_.positive]}" if one_class else name

    @property
    def n_stages_(self):
        """Number of rows of the schedule."""
        return len(self.entries_)

    def _default_stage(self):
        return self.recommended_

    def _most_costs(self):
        known = ((entry.model, entry.stage) for entry in self.entries_)
        return np.array([0.0 if one is None else most_costs(one)[stage] for one, stage in known])

    def _stages(self, X, which, want):
        for index in which:
            entry = self.entries_[index]
            if entry.model is None:
                free = self._free(len(X))
                stage = Stage({}, free.output, free.probabilities, np.zeros(X.shape, dtype=bool))
            else:
                known = filled(X, entry.fill).astype(working_dtype(entry.model), copy=False)
                needs = want | ({"probabilities"} if "output" in want else set())
                stage = stage_of(entry.model, known, entry.stage, needs)
                self._decide(stage, entry)
            yield replace(stage, setting={"method": entry.method}, cost=None)

    def _free(self, n_samples):
        """Return the `Outcome` of the free constant, not marked as answered."""
        free = Outcome.constant(self, n_samples)
        if is_classifier(self):
            free.output = self.classes_[decide(free.probabilities, self.decision_costs_)]
        return free

    def _decide(self, made, entry):
        """Correct the probabilities of a `Stage` or `Outcome`, and set its output accordingly."""
        if is_classifier(self) and made.probabilities is not None:
            shares, known = made.probabilities, entry.model.classes_
            wide = evidence.of_all_classes(shares, known, self.classes_, entry.shift)
            made.probabilities = with_temperature(wide, entry.temperature)
            made.output = self.classes_[decide(made.probabilities, self.decision_costs_)]

    def _acquisitions(self, n_samples, stage, ledger):
        entry = self.entries_[stage]
        if entry.model is None:
            return self._outcome(None, entry, n_samples)
        inner = requests_of(entry.model, n_samples, entry.stage, ledger)
        answer = None
        while True:
            try:
                request = inner.send(answer)
            except StopIteration as stop:
                return self._outcome(stop.value, entry, n_samples)
            # Intermediate predictions, as shown in a session, are corrected like the final one.
            answer = yield replace(
                request,
                estimate=lambda asked=request: self._outcome(asked.estimate(), entry, n_samples),
            )
            if entry.fill is not None:
                gaps = np.isnan(answer.values) & ~answer.refused
                values = np.where(gaps, entry.fill[request.feature], answer.values)
                answer = replace(answer, values=values)

    def _outcome(self, made, entry, n_samples):
        """Return the outcome of a model; unanswered rows get the constant."""
        outcome = self._free(n_samples)
        if made is not None:
            self._decide(made, entry)
            rows, shares = made.answered, made.probabilities  # None in regression
            outcome.fill(rows, made.output[rows], None if shares is None else shares[rows])
        outcome.answered[:] = True
        return outcome

    def _score_rows(self, stage, y, weight=None):
        """Return the contribution of each row to the score of a stage, and set the stage's cost."""
        y, stage.cost = self._targets(y, "y"), self.feature_costs_.total(stage.acquired)
        check_consistent_length(stage.output, y)
        if weight is not None:
            weight = checked_weight(weight, y)
            weight = weight / weight.mean() if np.ptp(weight) else None
            check_scoring(self.scoring, is_classifier(self), weight)
        if not is_classifier(self):
            predictions = np.reshape(stage.output, (-1, 1))
            return self.objective_.rows(y.astype(np.float64), predictions, None, stage.cost, weight)
        if not np.isin(y, self.classes_).all():
            raise ParameterError("y has classes unknown in training: leave these rows out.")
        codes, decided = (np.searchsorted(self.classes_, each) for each in (y, stage.output))
        return self.objective_.rows(codes, stage.probabilities, decided, stage.cost, weight)

    @described
    def measure(self, X, y, sample_weight=None, *, groups=None):
        """Measure every operating point on new examples.

        Parameters
        ----------
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples in the scores; `class_weight` counts only if included here.

        Returns
        -------
        pandas.DataFrame
            One row per stage, as in `operating_points_`.
        """
        points, groups = [], codes_of_groups(groups, X)
        for entry, stage in zip(self.entries_, each_stage(self, X, ALL), strict=True):
            rows = self._score_rows(stage, y, sample_weight)
            score, error = mean_and_error(rows, groups=groups)
            if entry.model is not None:  # of a constant the score is known
                error = np.hypot(error, self.objective_.unseen_error(rows, np.asarray(y), groups))
            cost, cost_se = cost_and_error(stage.cost, groups)
            points.append(point_of(self, stage, cost, cost_se, score, error))
        return pd.DataFrame(points)

    def _score_parts(self):
        return ALL

    def _score_stage(self, stage, y, weight):
        return float(self._score_rows(stage, y, weight).mean())


def _increasing(entries):
    """Return the entries by cost, without those that score less than a cheaper one."""
    # The one that acquires everything stays. Of costs closer than `SAME_COST`, only the best stays.
    kept, best = [], -np.inf
    # The constant is always first, even if free features predict better.
    constant, *others = entries
    for each in [constant, *sorted(others, key=lambda each: each.cost)]:
        least = (1 - SAME_COST) * each.cost
        alike = len(kept) > 1 and kept[-1].cost >= least
        # Policies with an equal score are kept, too, as larger budgets are meant to be spent.
        if each.score > best or each.last or (each.score == best and len(kept) > 1 and not alike):
            # Policies for two budgets may select the same stage of the final model.
            while len(kept) > 1 and each.score > best and kept[-1].cost >= least:
                # A higher score at the same cost keeps the certainty of the entry it replaces.
                each = replace(each, sure=kept.pop().sure or each.sure)
            kept.append(each)
            best = max(best, each.score)
        elif alike and each.sure and kept[-1].score >= each.score:
            kept[-1] = replace(kept[-1], sure=True)
    return kept


@estimator_class
class AutoBudgetClassifier(ClassifierMixin, AutoBudget):
    """Find the best method for each budget on a table, and predict with it.

    The free constant, the cascade, msB, LightGBM with feature costs, boosting on filtered features,
    BudgetRF, an L1 path with feature costs, and models on all features are compared out of fold at
    several budgets. The schedule starts with acquiring nothing and ends with acquiring everything.
    The first row in between is better than the constant by at least half a standard error of the
    paired difference. A budget is spent unless a cheaper model is better beyond chance. With error
    costs, acquisitions must pay for themselves. The cascade is used for a budget unless another
    method is better beyond chance.

    Parameters
    ----------
    error_costs : array-like of shape (n_classes, n_classes), DataFrame or dict, default=None
        Cost of predicting the second class where the first is true, in the unit of the feature
        costs, as an array, a DataFrame with class labels, or a dict by (true, predicted). With
        error costs, classes are decided by expected cost, and the score is minus the total cost of
        acquisitions and errors.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn, in models and scores.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from budgetlearn import AutoBudgetClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> auto = AutoBudgetClassifier(
    ...     feature_costs=range(1, 14), max_minutes=0.05, random_state=0
    ... ).fit(X[::3], y[::3])
    >>> float(auto.operating_points_["cost"].iloc[0])
    0.0
    """

    error_costs: Any = None
    class_weight: Any = None


@documented
class AutoBudgetRegressor(RegressorMixin, AutoBudget):
    """Find the best regression method for each budget on a table, and predict with it.

    Like `AutoBudgetClassifier`, with the methods for regression: the mean (or the median, if the
    score is the mean absolute error), the cascade, BudgetRF, and models on all features.
    """
