"""The interface of a model sequence: data, costs, importance, and models on subsets."""

import operator
import time
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.inspection import permutation_importance
from sklearn.utils.validation import has_fit_parameter

from ..counting import fit_counted
from ..features import PerFeature
from ..forests import importance as forest_importance
from ..forests.base import ForestClassifier
from ..parallel import progress, task_threads
from ..tree.binning import bin_features
from ..validation import ParameterError, derive_seed
from .l1_path import fit_l1_path

_IMPORTANCE = PerFeature("importance", "value", ParameterError)


@dataclass(frozen=True, eq=False)
class VisitedModel:
    """One model of a sequence."""

    variables: tuple  # ascending
    cost: float  # of all of them
    score: float  # on the validation data: accuracy, or what `scoring` names
    fit_seconds: float
    model: Any  # fitted on these columns; None once it is known to be dominated

    def dominates(self, other):
        """Return True if it is no more expensive and no worse than `other`, and better in one."""
        no_worse = self.cost <= other.cost and self.score >= other.score
        return no_worse and (self.cost < other.cost or self.score > other.score)


def seeded_clone(estimator, seed):
    """Return an unfitted copy whose every `random_state` is `seed`."""
    copy = clone(estimator)
    names = [name for name in copy.get_params() if name.split("__")[-1] == "random_state"]
    return copy.set_params(**dict.fromkeys(names, seed))


def as_subset(variables, n_variables):
    """Return indices of variables, in any order, as an ascending tuple of int.

    A `ParameterError` says when it is empty, or names a variable twice or one that there is not.
    """
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


class SequenceProblem:
    """Training and validation data, costs, and every model fitted so far.

    A model's seed is derived from its variables, so a subset gives the same model whichever
    sequence visits it first, in whichever process: equal subsets are fitted once.

    `train` and `valid` are X and class indices y each; the nested sequences end at `min_variables`;
    `n_jobs` models (threads) are fitted at a time; `weight`, of the training examples, is for an
    engine whose `fit` takes it; `score(model, X)` scores a model on columns X of the validation
    data (None: its accuracy).
    """

    def __init__(
        self,
        estimator,
        train,
        valid,
        costs,
        min_variables,
        seed,
        n_jobs=None,
        *,
        weight=None,
        score=None,
    ):
        self.estimator = estimator
        self.train = train
        self.valid = valid
        self.costs = costs
        self.min_variables = min(min_variables, costs.n_features)
        self.seed = seed
        self.n_jobs = n_jobs
        self.weight = weight
        self.score = score
        self._begun = {}  # variables -> Future
        self._visited = {}  # variables -> VisitedModel
        self._lock = Lock()
        self._l1_paths = {}

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
        """Permutation importance of the full model on the validation data, computed once.

        How much the validation score falls: accuracy, or what `score` is.
        """
        # Figure 2: the fall in accuracy when one column is permuted, in the model of all variables.
        full = tuple(range(self.costs.n_features))
        model = self.model(full)
        options = {"n_repeats": 5, "random_state": derive_seed(self.seed, "permutation")}
        if self.score is not None:
            options["scoring"] = lambda model, X, y: self.score(model, X)
            found = permutation_importance(model, *self.valid, **options)
        elif isinstance(model, ForestClassifier):
            found = forest_importance.permutation_importance(
                model, *self.valid, n_jobs=self.n_jobs, **options
            )
        else:
            found = permutation_importance(model, *self.valid, scoring="accuracy", **options)
        return found.importances_mean

    @cached_property
    def _codes(self):
        """Codes of the training table where the engine can train on them, else None.

        Such an engine's `fit` takes `binned`, and its `max_bins` tells how to code.
        """
        if not has_fit_parameter(self.estimator, "binned"):
            return None
        return bin_features(self.train[0], self.estimator.max_bins, self.n_jobs)

    def l1_path(self, n_lambda):
        """Return the L1 path on the training data, fitted once for each length.

        Which variables it takes in is what counts here, not the last digits of coefficients: a
        tolerance of 1e-5 visits as many subsets as glmnet's default of 1e-7, in a sixth of the time
        on the naval data, where the default spends all its iterations halfway down the path. It
        sees the mean of a variable where its value is missing.
        """
        # logitB's own path is another fit, at glmnet's tolerance.
        if n_lambda not in self._l1_paths:
            X, y = self.train
            if np.isnan(X).any():
                X = SimpleImputer(keep_empty_features=True).fit_transform(X)
            self._l1_paths[n_lambda] = fit_l1_path(
                X, y, n_lambda, tolerance=1e-5, weight=self.weight
            )
        return self._l1_paths[n_lambda]

    def visit(self, subsets, unit=None):
        """Fit and score the models on `subsets` and return them in order, each subset fitted once.

        Where `subsets` is a generator, models are fitted while it goes on. `unit` is what they are,
        in the plural, to show progress; None: show none. A `ParameterError` says when a subset is
        empty, or names a variable twice or one that there is not.
        """
        codes, asked = self._codes, []
        with task_threads(self.n_jobs) as submit:
            for subset in subsets if unit is None else progress(subsets, unit):
                variables = as_subset(subset, self.costs.n_features)
                asked.append(variables)
                if variables not in self._begun:
                    # Begun once, whichever sequence names it first.
                    self._begun[variables] = submit(self._add, variables, codes)
            # Threads are still fitting.
            for variables in asked if unit is None else progress(asked, unit):
                self._begun[variables].result()
        return [self._visited[variables] for variables in asked]

    def model(self, variables):
        """Return the fitted model on some variables (ascending), fitted again where it was dropped.

        Dropped are the models that another visited one dominates; that one need not be in any
        sequence (a stagewise sequence tries models smaller than `min_variables`).
        """
        visited = self.visit([variables])[0]
        if visited.model is None:
            return self._fitted(visited.variables, self._codes).model
        return visited.model

    def _add(self, variables, codes):
        visited = self._fitted(variables, codes)
        with self._lock:
            self._remember(visited)

    def trained(self, variables):
        """Return a model on some variables that is neither scored nor remembered."""
        return self._trained(variables, self._codes)

    def _trained(self, variables, codes):
        X, y = self.train
        columns = list(variables)
        # Seeded by its variables: neither order of visits nor n_jobs changes a model.
        model = seeded_clone(self.estimator, derive_seed(self.seed, *variables))
        # The codes of the whole table are cut to these columns: no subset is binned again.
        options = {} if codes is None else {"binned": codes.take(columns)}
        if self.weight is not None:
            options["sample_weight"] = self.weight
        return fit_counted(model, X[:, columns], y, **options)

    def _fitted(self, variables, codes):
        X_val, y_val = self.valid
        columns = list(variables)
        start = time.perf_counter()
        model = self._trained(variables, codes)
        seconds = time.perf_counter() - start
        if self.score is None:
            score = float(np.mean(model.predict(X_val[:, columns]) == y_val))
        else:
            score = self.score(model, X_val[:, columns])
        return VisitedModel(variables, self.costs.subset(columns), score, seconds, model)

    def _remember(self, visited):
        """Keep a visited model; drop the fitted engines that can never be in a schedule."""
        self._visited[visited.variables] = visited
        # A dominated model can be in no schedule: its trees go, its score stays.
        for other in list(self._visited.values()):
            if visited.dominates(other):
                self._drop_model(other)
            elif other.dominates(visited):
                self._drop_model(visited)

    def _drop_model(self, visited):
        if len(visited.variables) < self.costs.n_features:  # `importance` asks for the full model
            self._visited[visited.variables] = replace(visited, model=None)
