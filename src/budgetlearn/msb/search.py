"""msB: search along several model sequences, and a schedule of the best models by budget."""

import operator
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.impute import SimpleImputer
from sklearn.inspection import permutation_importance
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import has_fit_parameter

from ..costs import FeatureCosts
from ..fit_counts import fit_weighed
from ..forests import RandomForestClassifier
from ..forests import importance as forest_importance
from ..forests.base import ForestClassifier
from ..parallel import progress, task_threads, thread_map
from ..per_feature import PerFeature
from ..protocol.checked_data import checked_examples, words_by_target
from ..protocol.documenting import estimator_class
from ..tree.binning import bin_features
from ..validation import ParameterError, check_list, check_number, derive_seed
from .l1_path import fit_l1_path
from .schedule_classifier import ScheduleClassifier
from .sequences import as_sequence

_IMPORTANCE = PerFeature("importance", "value", ParameterError)


@dataclass(eq=False)
class VisitedModel:
    """One model of a sequence."""

    variables: tuple  # ascending
    cost: float  # of all its variables
    score: float  # on the validation data: accuracy, or `scoring`
    fit_seconds: float
    model: Any  # fitted on these columns; None if it is dominated

    def dominates(self, other):
        """Return whether it costs no more and scores no less than another; not if both equal."""
        no_worse = self.cost <= other.cost and self.score >= other.score
        return no_worse and (self.cost, self.score) != (other.cost, other.score)


def as_subset(variables, n_variables):
    """Return indices of variables as an ascending tuple of int; raise an error if invalid."""
    try:
        subset = sorted(operator.index(variable) for variable in variables)
    except TypeError:
        subset = []
    known = bool(subset) and subset[0] >= 0 and subset[-1] < n_variables
    if not known or len(set(subset)) < len(subset):
        raise ParameterError(
            "a model sequence must yield tuples of one or more different variable indices, each "
            f"from 0 to {n_variables - 1}; got {variables!r}. Correct its `subsets`."
        )
    return tuple(subset)


@dataclass(eq=False)
class SequenceProblem:
    """A search as sequences see it: data, costs, importance, and all models fitted so far.

    A model's seed is derived from its variables, so a subset gives the same model in any sequence
    and process, and equal subsets are fitted once.
    """

    estimator: Any
    train: tuple  # X and class indices y
    valid: tuple
    costs: FeatureCosts
    min_variables: int  # where the nested sequences end
    seed: int
    n_jobs: int | None = None  # number of models (threads) fitted at a time
    weight: np.ndarray | None = None  # of the training examples
    score: Callable | None = None  # function of a model and validation columns X; None: accuracy

    def __post_init__(self):
        self.min_variables = min(self.min_variables, self.costs.n_features)
        # For engines that train on codes, the whole table is coded once.
        self._codes = None
        if has_fit_parameter(self.estimator, "binned"):
            X, max_bins = self.train[0], self.estimator.max_bins
            self._codes = bin_features(X, max_bins, self.n_jobs, np.isnan(X).any(axis=0))
        self._begun = {}  # variables -> Future of a VisitedModel
        self._undominated, self._lock = [], Lock()

    def rng(self, name):
        """Return the random source of the sequence called `name`."""
        return np.random.RandomState(derive_seed(self.seed, name))

    def importance_or(self, importance):
        """Return `importance`, checked, or the permutation importance when it is None."""
        if importance is None:
            return self.importance
        importance = _IMPORTANCE.in_order(importance, self.costs.names, self.costs.n_features)
        importance = np.asarray(importance, dtype=np.float64)
        if importance.shape != (self.costs.n_features,) or not np.isfinite(importance).all():
            raise ParameterError(
                f"importance must be {self.costs.n_features} finite numbers, one for each "
                f"variable, got shape {importance.shape}."
            )
        return importance

    @cached_property
    def importance(self):
        """Permutation importance of the full model on the validation data, computed once."""
        # Figure 2: the fall in accuracy of the full model when one column is permuted.
        model = self.model(tuple(range(self.costs.n_features)))
        options = {"n_repeats": 5, "random_state": derive_seed(self.seed, "permutation")}
        quick = isinstance(model, ForestClassifier) and not model.missing_in_training_.any()
        if self.score is None and quick:
            # Fast: one permutation of the rows serves all features.
            options["n_jobs"] = self.n_jobs
            found = forest_importance.permutation_importance(model, *self.valid, **options)
        else:
            by = "accuracy" if self.score is None else lambda model, X, y: self.score(model, X)
            found = permutation_importance(model, *self.valid, scoring=by, **options)
        return found.importances_mean

    def l1_path(self, n_lambda):
        """Return the L1 path on the training data, with missing values replaced by means."""
        # The path is used only for its sets of variables, so a tolerance of 1e-5 is enough. On the
        # naval data it visits as many subsets as glmnet's default of 1e-7 in a sixth of the time.
        X, y = self.train
        if np.isnan(X).any():
            X = SimpleImputer(keep_empty_features=True).fit_transform(X)
        return fit_l1_path(X, y, n_lambda, tolerance=1e-5, weight=self.weight)

    def visit(self, subsets, unit=None):
        """Return the models on `subsets` in order, fitted and scored once for each subset.

        If `subsets` is a generator, models are fitted while it runs. `unit` is the plural noun for
        the progress bar; None: no bar.
        """
        asked = []
        with task_threads(self.n_jobs) as submit:
            for subset in subsets if unit is None else progress(subsets, unit):
                variables = as_subset(subset, self.costs.n_features)
                asked.append(variables)
                if variables not in self._begun:
                    self._begun[variables] = submit(self._visited, variables)
            # The second bar is for the models that threads are still fitting.
            asked = asked if unit is None else progress(asked, unit)
            return [self._begun[variables].result() for variables in asked]

    def model(self, variables):
        """Return the fitted model on some variables, fitting it again if it was dropped."""
        model = self.visit([variables])[0].model
        return self.trained(variables) if model is None else model

    def trained(self, variables):
        """Return a fitted model on some variables without scoring or storing it."""
        X, y = self.train
        columns = list(variables)
        # Seeded by its variables, so neither the order of visits nor n_jobs changes a model.
        model, seed = clone(self.estimator), derive_seed(self.seed, *variables)
        names = [name for name in model.get_params() if name.split("__")[-1] == "random_state"]
        model.set_params(**dict.fromkeys(names, seed))
        coded = {} if self._codes is None else {"binned": self._codes.take(columns)}
        return fit_weighed(model, X[:, columns], y, self.weight, **coded)

    def _visited(self, variables):
        """Fit and score a model, and drop the engines of dominated models."""
        X_val, y_val = self.valid
        columns = list(variables)
        start = time.perf_counter()
        model = self.trained(variables)
        seconds = time.perf_counter() - start
        if self.score is None:
            score = float(np.mean(model.predict(X_val[:, columns]) == y_val))
        else:
            score = self.score(model, X_val[:, columns])
        visited = VisitedModel(variables, self.costs.subset(columns), score, seconds, model)
        with self._lock:
            # A dominated model is in no schedule, so only its score is kept. (The dominating one
            # may be in no sequence, as stagewise ones try models below `min_variables`.)
            for other in self._undominated:
                for better, worse in ((visited, other), (other, visited)):
                    # The full one stays, as `importance` needs it.
                    partial = len(worse.variables) < self.costs.n_features
                    if partial and better.dominates(worse):
                        worse.model = None
            # A dropped model need not be compared: what it dominates, its dominator dominates, too.
            seen = [*self._undominated, visited]
            self._undominated = [each for each in seen if each.model is not None]
        return visited


def takes_missing(engine):
    """Return True if an engine can be fitted on missing values."""
    # A pipeline can if all steps before the first imputer can, which its tags do not tell.
    if not isinstance(engine, Pipeline):
        return get_tags(engine).input_tags.allow_nan
    for _, step in engine.steps:
        if step not in (None, "passthrough") and not takes_missing(step):
            return False
        # After an imputer there are no missing values.
        if type(step).__module__.startswith("sklearn.impute"):
            break
    return True


@estimator_class
class SubsetSearch(ScheduleClassifier):
    """Base of searches for the best models on subsets of the variables, with any engine.

    Parameters
    ----------
    estimator : classifier, default=None
        The engine, fitted on each subset of variables; None: our `RandomForestClassifier` of 100
        trees with 255 bins. If its `fit` accepts `binned`, the training data are coded once for all
        models. If it accepts missing values, X may contain them.
    scoring : str or callable, default=None
        Score, as in scikit-learn, that the schedule maximises on the validation data under every
        budget. A variable's importance is the fall in this score. None: accuracy.
    refit : bool, default=False
        Whether the models of the schedule are fitted again on training and validation data
        together. `schedule_` and `operating_points_` remain as measured before.

    Attributes
    ----------
    models_ : list of estimator
        The fitted engine of each entry of the schedule.
    """

    estimator: Any = field(default=None, kw_only=False)
    refit: bool = False
    n_jobs: int | None = None

    def variable_importance(self, X, y, X_val=None, y_val=None):
        """Return the permutation importance used by the sequences (Fig. 2).

        Parameters
        ----------
        X, y, X_val, y_val : array-like
            As for `fit`. The same data and `random_state` give the importance used in `fit`.

        Returns
        -------
        ndarray of shape (n_features,)
            Mean fall in the validation score of the full model when a variable is permuted.
        """
        # A copy learns the classes and columns, so that a fitted estimator stays unchanged.
        other = clone(self)
        # Random numbers are drawn in the same order as in `fit`, to get the same importance.
        train, valid = checked_examples(other, X, y, X_val, y_val, None)
        seed, random = self._seeds(check_random_state(other.random_state))
        if valid is None:
            train, valid = train.held_out(other.validation_fraction, random, other)
        train, valid = words_by_target(other, train, valid)
        return other._problem(train.weighed_for(other), valid, seed).importance

    def _problem(self, train, valid, seed):
        min_variables = check_number(self.min_variables, "min_variables", low=1, integer=True)
        parts, score = ((train.X, train.y), (valid.X, valid.y)), self._validation_score(valid)
        known = self._engine(), *parts, self.feature_costs_, min_variables, seed
        how = {"n_jobs": self.n_jobs, "weight": train.weight, "score": score}
        return SequenceProblem(*known, **how)

    def _refit(self, examples, seeds):
        problem = self._problem(examples, examples, seeds)
        chosen = self.schedule_.variables
        self.models_ = thread_map(problem.trained, chosen, self.n_jobs, "models to refit")

    def _engine(self):
        engine = RandomForestClassifier(max_bins=255) if self.estimator is None else self.estimator
        if not is_classifier(engine):
            raise ParameterError(f"estimator must be a classifier, got {engine!r}.")
        return engine

    def _can_predict_proba(self):
        return hasattr(self._engine(), "predict_proba")

    @property
    def _takes_missing(self):
        return takes_missing(self._engine())

    def __sklearn_tags__(self):
        weighs = has_fit_parameter(self._engine(), "sample_weight")
        return replace(super().__sklearn_tags__(), sample_weight=weighs)

    def _entry(self, X, entry):
        return self.models_[entry], X[:, list(self.schedule_.variables[entry])]


class NoModelError(ParameterError):
    """The sequences of a search visit no model of enough variables."""


@estimator_class
class ModelScheduleSearch(SubsetSearch):
    """Model sequences search under a budget (msB).

    Several sequences of nested models are fitted by removing variables one after another. The union
    of all models is compressed into a schedule in which more expensive models are always better on
    the validation data. A budget then selects a model (algorithms 3.1 to 3.3).

    Parameters
    ----------
    sequences : sequence, default=("importance", "cost", "sampling", "l1")
        Names of sequences (`budgetlearn.msb.sequences.SEQUENCES`), or objects with a `name` and
        `subsets(problem)`. Default: the paper's four.
    min_variables : int, default=2
        Number of variables at which the nested sequences end.
    random_state : int, RandomState instance or None, default=None
        Seed of the engine, the permutations and the sampled sequences.

    Attributes
    ----------
    sequences_ : dict of str to list of VisitedModel
        The models of each sequence.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from budgetlearn.forests import RandomForestClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(n_estimators=20)
    >>> search = ModelScheduleSearch(forest, feature_costs=range(1, 14), random_state=0).fit(X, y)
    >>> bool(search.acquisition_cost(X).max() <= 91)
    True
    """

    sequences: Any = field(default=("importance", "cost", "sampling", "l1"), kw_only=False)
    min_variables: int = field(default=2, kw_only=False)

    def _fit_schedule(self, train, valid, seed):
        problem = self._problem(train, valid, seed)
        subsets = {}

        def along_all_sequences():
            for sequence in self._sequences():
                subsets[sequence.name] = list(sequence.subsets(problem))
                yield from subsets[sequence.name]

        # Algorithms 3.1 to 3.3. Models are fitted while later sequences still choose subsets.
        problem.visit(along_all_sequences(), "models")
        self.sequences_ = {name: problem.visit(visited) for name, visited in subsets.items()}
        # Sorted, so that ties do not depend on the order of sequences.
        union = {model.variables: model for models in self.sequences_.values() for model in models}
        models = [union[variables] for variables in sorted(union)]
        if not models:
            raise NoModelError(
                f"the sequences {', '.join(subsets)} visit no model of {problem.min_variables} "
                "or more variables. Lower min_variables, or add a nested sequence, as 'importance'."
            )
        points = ((model.cost, model.score, model.variables) for model in models)
        self.schedule_ = self._schedule_of(*zip(*points, strict=True))
        # Only the few models of the schedule are fitted again if they were dropped.
        self.models_ = [problem.model(variables) for variables in self.schedule_.variables]

    def _sequences(self):
        sequences = [as_sequence(each) for each in check_list(self.sequences, "sequences")]
        names = [sequence.name for sequence in sequences]
        if len(set(names)) < len(names):
            raise ParameterError(f"the names of the sequences must differ, got {names}.")
        return sequences
