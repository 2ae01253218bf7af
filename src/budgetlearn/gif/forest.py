"""The base class of globally induced forests: parameters, growing within budgets, stages."""

import copy
import warnings
from abc import abstractmethod
from bisect import bisect_left
from dataclasses import field
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..exceptions import BudgetError, BudgetlearnWarning
from ..export.compact_models import CompactForest
from ..export.exporting import CompactMethods
from ..export.formats import FORMATS, MOST_FEATURES, refuse_above
from ..export.serialization import stored_bytes
from ..forests.base import X_TYPES, tree_acquisitions
from ..protocol import BudgetedEstimator, Stage, WeightedFit
from ..protocol.documenting import estimator_class
from ..protocol.scoring import score_outcome
from ..validation import INT32_MAX, ParameterError, check_choice, check_max_features, check_number
from .fitting import grown_forest
from .pruning import SIZES

# `n_estimators="auto"`: a tree for every five grown nodes, up to a limit.
NODES_PER_TREE, MOST_TREES = 5, 1000


# Limits of the numeric parameters, as arguments of `check_number`.
# With a learning rate above 2, a step increases the squared loss.
_NUMBERS = {
    "node_budget": {"low": 1, "integer": True},
    "learning_rate": {"low": 0, "high": 2, "low_open": True},
    "cost_weight": {"low": 0, "high": np.inf, "high_open": True},
    "prune_factor": {"low": 1, "high": np.inf, "high_open": True},
    "n_thresholds": {"low": 1, "high": INT32_MAX, "integer": True},
    "min_samples_leaf": {"low": 1, "high": INT32_MAX, "integer": True},
    "candidate_window": {"low": 1, "integer": True, "none": True},
    "max_depth": {"low": 1, "high": INT32_MAX, "integer": True, "none": True},
    "byte_budget": {"low": 1, "integer": True, "none": True},
    "step_budget": {"low": 1, "none": True},
}


@estimator_class
class BaseGIF(CompactMethods, WeightedFit, BudgetedEstimator):
    """Base class of the regressor and the classifier: growing, stages, acquired features.

    Parameters
    ----------
    node_budget : int, default=10000
        Maximum number of nodes in the model, both internal nodes and leaves. A root counts as soon
        as a node of its tree is accepted.
    n_estimators : int or "auto", default=1000
        Number of trees to start with. "auto": one for every five grown nodes, from 10 to 1000.
    learning_rate : float, default=10**-1.5
        Share of its optimal weight that an accepted node gets, in (0, 2].
    candidate_window : int or None, default=1
        Number of candidates examined at each step. None: all of them, exactly.
    max_features : {"sqrt"}, int, float or None, default="sqrt"
        Number of features that a split visits; None: all.
    n_thresholds : int, default=1
        Number of thresholds drawn for each visited feature.
    max_depth : int or None, default=None
        Maximum number of splits on the path to a node. None: no limit.
    min_samples_leaf : int, default=1
        Minimum number of training examples on each side of a split.
    split_on : {"targets", "residuals"}, default="targets"
        Values by which splits are chosen. "residuals": a leaf drawn at random is split by the
        current residuals of the forest, as in boosting, and both sides are accepted. This suits
        many examples, or `prune_factor`, where all features and several thresholds predict best. It
        requires `loss="squared"` and `candidate_window=1`.
    joint_fit : int, "ridge" or "logistic", default=0
        Number of passes over the accepted nodes after growing. Each pass adds to every node's
        weight the change that improves the loss most, times the learning rate. "ridge": fit all
        weights at once, by ridge regression of the targets, or one-hot classes, on the nodes.
        "logistic", for classes: by penalised logistic regression, which takes up to ten times as
        long and is more accurate for small models.
    prune_factor : float, default=1
        With a regression: grow `prune_factor` times `node_budget` nodes, then repeatedly fit the
        weights and drop the least useful leaves until the budget is met.
    ridge : float or "auto", default=0.3
        Penalty of the squared weights in the regression, in units of the mean number of nodes that
        an example reaches; 0.003 to 0.1 suit logistic regression. "auto": the best penalty on the
        validation data. If `fit` has none, "logistic" holds out `validation_fraction` of the
        training data, and "ridge" uses generalised cross-validation. The latter takes the nodes as
        given, so it shrinks too little if the targets chose them.
    cost_weight : float, default=0.0
        Share of the constant's loss that acquiring all features must save; each feature must save a
        part in proportion to its cost. A node acquires a new feature only if its gap exceeds that.
        Values from 0.01 to 10 have an effect.
    early_stopping : bool, default=False
        Keep the number of nodes, in order of acceptance or of pruning, that predicts the validation
        data best within the budgets, so that a larger `byte_budget` is never worse on these. If
        `fit` has no validation data, `validation_fraction` of the training data is held out.
    scoring : str or callable, default=None
        Score, as in scikit-learn, of the operating points on validation data. It also chooses the
        number of nodes to keep and `ridge="auto"`. None: accuracy or R², with choices by the loss.
    validation_fraction : float, default=0.2
        Share of the rows held out by early stopping, and by `ridge="auto"` with
        `joint_fit="logistic"`.
    byte_budget : int, default=None
        Maximum size of the model in bytes in the compact format (`nbytes`), in addition to
        `node_budget`. None: no limit.
    byte_format : {"float32", "float16", "int8"}, default="float32"
        The format whose bytes are counted.
    step_budget : float, default=None
        Maximum mean number of tests for a training row in all trees. A node whose split exceeds it
        is skipped, and nodes are pruned until this budget is met, too. None: no limit.
    forest : estimator or lightgbm.Booster, default=None
        A fitted forest, as in `budgetlearn.export.ImportedForest`, whose nodes are used instead of
        growing new ones. They get new weights, and leaves are dropped until the budgets are met.

    Attributes
    ----------
    trees_ : list of Tree
        Trees with at least one accepted node, or a single leaf. The value of a node is the sum
        of the weights on its path, so predictions need only the leaves. A side that was not
        accepted is a leaf with its parent's value, which `n_nodes_` does not count.
    n_nodes_ : int
        Nodes in the model, at most `node_budget`.
    n_steps_ : float
        Mean number of tests for a training row, at most `step_budget`.
    intercept_ : ndarray of shape (n_outputs,)
        The loss-optimal constant, to which the trees are added; with `joint_fit="ridge"`, the
        intercept of the ridge regression.
    ridge_ : float or None
        Penalty of the regression; None without one.
    feature_importances_ : ndarray of shape (n_features,)
        Decrease of impurity by the model's splits on each feature over all trees, weighted by the
        share of training samples that reach the split; sums to 1 (0 without splits). The model
        contains a split if at least one of its sides was accepted.
    node_distribution_ : ndarray of shape (n_estimators,)
        Number of nodes of each tree in the model.
    node_entropy_ : float
        Entropy of `node_distribution_` divided by log(n_estimators).

    References
    ----------
    J.-M. Begon, A. Joly and P. Geurts. Globally induced forest: a prepruning compression scheme.
    ICML 2017.
    """

    _dtypes = X_TYPES
    _takes_sparse = _takes_missing = True
    _regressions = ("ridge",)  # values of `joint_fit`

    node_budget: int = field(default=10_000, kw_only=False)
    n_estimators: Any = 1000
    learning_rate: float = 10**-1.5
    candidate_window: int | None = 1
    max_features: Any = "sqrt"
    n_thresholds: int = 1
    max_depth: int | None = None
    min_samples_leaf: int = 1
    split_on: str = "targets"
    loss: str = "squared"
    joint_fit: Any = 0
    prune_factor: float = 1
    ridge: Any = 0.3
    cost_weight: float = 0.0
    early_stopping: bool = False
    scoring: Any = None
    validation_fraction: float = 0.2
    byte_budget: int | None = None
    byte_format: str = "float32"
    step_budget: float | None = None
    forest: Any = None
    random_state: Any = None
    n_jobs: int | None = None

    def _check_parameters(self, loss):
        for name, limits in _NUMBERS.items():
            check_number(getattr(self, name), name, **limits)
        check_choice(self.split_on, "split_on", ("targets", "residuals"))
        check_choice(self.byte_format, "byte_format", FORMATS)
        self._number_or("ridge", ("auto",), low=0, low_open=True)
        whole = {"high": INT32_MAX, "integer": True}
        self._number_or("joint_fit", self._regressions, low=0, **whole)
        check_max_features(self.max_features, self.n_features_in_)
        self._check_combinations(loss)
        fixed = self._number_or("n_estimators", ("auto",), low=1, **whole) != "auto"
        n_nodes = self.node_budget * self.prune_factor
        # The budget leaves some trees without a node besides their root.
        if fixed and self.forest is None and n_nodes < 2 * self.n_estimators:
            warnings.warn(
                f"node_budget={self.node_budget} is less than two nodes for each of "
                f"n_estimators={self.n_estimators} trees: the model will have roots with a single "
                f"node, and few steps of learning_rate={self.learning_rate:.4g}. Fewer trees, a "
                "larger learning_rate, or both usually predict better with this budget.",
                BudgetlearnWarning,
                stacklevel=6,
            )

    def _number_or(self, name, words, **limits):
        """Check a parameter that is a number or one of the words, and return it."""
        value = getattr(self, name)
        if isinstance(value, str):
            return check_choice(value, name, words)
        return check_number(value, name, **limits)

    def _check_combinations(self, loss):
        """Raise an error for incompatible parameters; `loss` is the loss in use."""
        residuals = self.split_on == "residuals"
        if residuals and self.candidate_window != 1:
            raise ParameterError(
                "split_on='residuals' splits a leaf drawn at random and accepts both sides, so "
                "there are no candidates to choose from: set candidate_window=1, got "
                f"candidate_window={self.candidate_window!r}."
            )
        if self.prune_factor > 1 and not self._regresses:
            raise ParameterError(
                f"prune_factor={self.prune_factor!r} drops nodes by their weights in a "
                f"regression: set joint_fit='ridge', got joint_fit={self.joint_fit!r}."
            )
        if self.forest is not None and not self._regresses:
            raise ParameterError("a given forest needs a regression: set joint_fit='ridge'.")
        names = tuple(getattr(self.forest, "feature_names_in_", ()))
        own = self.feature_costs_.names or ()
        if {*names} & {*own} and names != own:
            what = f"forest has the columns {list(names)}, but X has {list(own)}"
            raise ParameterError(f"{what}: reorder X.")
        if self.early_stopping and self.joint_fit and not self._regresses:
            raise ParameterError(
                "early_stopping chooses among smaller models, but passes refit only the largest: "
                f"set joint_fit=0 or 'ridge', got joint_fit={self.joint_fit!r}."
            )
        by_squares = {
            f"joint_fit={self.joint_fit!r}": self._regresses,
            "split_on='residuals'": residuals,
        }
        for parameter, given in by_squares.items():
            if given and loss != "squared":
                raise ParameterError(
                    f"{parameter} needs the squared loss: set loss='squared', got loss={loss!r}."
                )

    def _is_binary(self):
        """Return True for two classes, whose scores need one column."""
        return getattr(self, "classes_", np.empty(0)).size == 2

    @property
    def _regresses(self):
        """True if `joint_fit` names a regression; otherwise it is a number of passes."""
        return isinstance(self.joint_fit, str)

    @property
    def _needs_validation(self):
        # Generalised cross-validation needs no validation data, but works for squared errors only.
        return self.early_stopping or (str(self.joint_fit) == "logistic" and self.ridge == "auto")

    def _n_trees(self):
        if self.n_estimators != "auto":
            return self.n_estimators
        return int(np.clip(self.node_budget * self.prune_factor // NODES_PER_TREE, 10, MOST_TREES))

    @abstractmethod
    def _answer(self, scores):
        """Return the predictions for scores, and class probabilities or None."""

    def _grow(self, train, valid, random, exponent=0):
        """Grow the forest on examples whose `y` holds one-hot classes or scaled numbers.

        The model predicts 2**exponent × y.
        """
        if self.forest is not None:  # it may have been trained on the rows that refits hold out
            self._unmeasured = None
        if self.byte_budget is not None:  # fails before growing, which may take hours
            refuse_above(MOST_FEATURES, self.n_features_in_)
        data = train, valid, random.randint(INT32_MAX, size=2), exponent
        self._take(*grown_forest(self, *data))
        # A regression prunes until the bytes fit; if it could not, `_keep_to_bytes` raises the
        # error. After refitting in passes, the weights of fewer nodes must be fitted anew.
        if self.byte_budget is not None and self.nbytes(self.byte_format) > self.byte_budget:
            if self.joint_fit == 0 or self._regresses:
                self._keep_to_bytes()
            else:
                self._refit_within_bytes(data)
        if self.byte_budget is not None and self.n_nodes_ == 0:
            warnings.warn(
                f"byte_budget={self.byte_budget} leaves room for no node: the model predicts the "
                "constant. Raise it.",
                BudgetlearnWarning,
                stacklevel=6,
            )
        if self.early_stopping and self.joint_fit == 0:
            self._stop_early(valid, exponent)

    def _take(self, model, intercept, ridge):
        self._refitted, self.intercept_, self.ridge_ = self.joint_fit != 0, intercept, ridge
        self._set(model)

    def _refit_within_bytes(self, data):
        """Find the number of nodes that fit into the bytes, then grow only these and refit them."""
        plain = copy.copy(self).set_params(joint_fit=0)
        plain._take(*grown_forest(plain, *data))
        plain._keep_to_bytes()
        # The same number of trees: "auto" would take fewer, and the bytes would differ.
        fewer, n_nodes = copy.copy(self), max(1, plain.n_nodes_)
        fewer.set_params(node_budget=n_nodes, n_estimators=self._n_trees())
        self._take(*grown_forest(fewer, *data))

    def _keep_to_bytes(self):
        """Return to the largest earlier model that takes at most `byte_budget` bytes."""
        if not self._refitted:
            whole = self._model

            def breaks(n_nodes):
                self._set(whole.within(n_nodes))
                return self.nbytes(self.byte_format) > self.byte_budget

            # Sizes 1, 2, … that fit come first: their number is the largest. 0 is checked below.
            self._set(whole.within(bisect_left(range(1, self.n_nodes_), True, key=breaks)))
        least = self.nbytes(self.byte_format)
        if least > self.byte_budget:
            raise BudgetError(
                f"byte_budget={self.byte_budget} is less than the {least} bytes that the smallest "
                f"model takes in byte_format={self.byte_format!r}. Raise it to at least {least}.",
                least,
            )

    def _stop_early(self, valid, exponent):
        """Return to the earlier model with the least error on validation data."""
        models = [self._model.within(size) for size in (0, *SIZES[self.n_nodes_ >= SIZES])]
        errors = []
        for model in models:
            scores = self.intercept_ + model.predictor.walk(valid.X, values=True).values
            if self.scoring is None:
                # Classes are judged by their probabilities, numbers in the unit of scaled targets.
                _, predicted = self._answer(scores)
                predicted = np.ldexp(scores, -exponent) if predicted is None else predicted
                errors.append(self._loss().error(predicted, valid.y))
            else:
                errors.append(-self._score_of(scores, valid))
        # The models that are better than all smaller ones are the choices of smaller budgets.
        before = np.minimum.accumulate([np.inf, *errors[:-1]])
        best = [model for model, better in zip(models, errors < before, strict=True) if better]
        self._sizes = np.array([model.n_nodes for model in best])
        self._set(best[-1])

    def _best_within(self, sizes):
        """Return the number of nodes that early stopping keeps within each of these budgets."""
        if not self.early_stopping:
            return sizes
        return self._sizes[np.searchsorted(self._sizes, sizes, side="right") - 1]

    def _score_of(self, scores, valid):
        """Return the `scoring` of the predictions for scores on validation data."""
        return score_outcome(self, self.scoring, Stage({}, *self._answer(scores)), valid.targets)

    def _set(self, model):
        """Set the fitted model, and return the forest."""
        self._model, self.n_nodes_, self.n_steps_ = model, model.n_nodes, model.n_steps
        self.node_distribution_, self.node_entropy_ = model.nodes_per_tree, model.entropy
        self.feature_importances_ = model.importances()
        return self

    def within(self, node_budget):
        """Return the forest for a smaller node budget.

        Parameters
        ----------
        node_budget : int
            Maximum number of nodes, >= 0.

        Returns
        -------
        GIFRegressor or GIFClassifier
            A fitted forest: that of this budget, the same number of trees and the same seed, which
            may lack the last node, or the last two sides with `split_on="residuals"`. Its
            `n_estimators` is the number of these trees, even if "auto" would start with fewer.

        Raises
        ------
        ParameterError
            After refitting, as the weights are fitted to the whole model.
        """
        check_is_fitted(self)
        if self._refitted:
            raise ParameterError(
                "smaller budgets are available only with joint_fit=0: weights are fitted to the "
                "whole model. Fit one model for each node budget."
            )
        check_number(node_budget, "node_budget", low=0, integer=True)
        smaller = copy.copy(self)
        smaller.set_params(node_budget=node_budget, n_estimators=self._model.n_trees)
        # Its stages differ and have not been measured.
        vars(smaller).pop("operating_points_", None)
        return smaller._set(self._model.within(self._best_within(node_budget)))

    def _compact(self, format):
        start, classes = self.intercept_, getattr(self, "classes_", None)
        return CompactForest.of(
            self.trees_, self.n_features_in_, intercept=start, classes=classes, format=format
        )

    @property
    def trees_(self):
        """Trees of the model (those with an accepted node) as a list of `Tree`."""
        check_is_fitted(self)
        return self._model.trees

    @property
    def n_stages_(self):
        """Number of operating points: up to ten equal steps of nodes, or one after refitting."""
        return len(self._node_budgets())

    def _node_budgets(self):
        """Return the nodes of each stage, the whole model last."""
        if self._refitted:
            return [self.n_nodes_]
        # Small forests have fewer stages, as equal numbers of nodes are merged.
        return np.unique(self._best_within(np.arange(1, 11) * self.n_nodes_ // 10)).tolist()

    def _stage_model(self, index):
        budgets = self._node_budgets()
        return self if index == len(budgets) - 1 else self.within(budgets[index])

    def stored_bytes(self, stage):
        n_columns = 1 if self._is_binary() else np.size(self.intercept_)
        return stored_bytes(self._stage_model(stage).trees_, self.n_features_in_, n_columns)

    def _stages(self, X, which, want):
        for index in which:
            forest = self._stage_model(index)
            # Values and acquired features come from one walk, and only if they are wanted.
            vote, acquired = bool(want & {"output", "probabilities"}), "acquired" in want
            predictor = forest._model.predictor
            walk = predictor.walk(X, values=vote, acquired=acquired, n_jobs=self.n_jobs)
            stage = Stage({"nodes": forest.n_nodes_}, nodes=forest.n_nodes_, acquired=walk.acquired)
            stage.facts = {"node_entropy": forest.node_entropy_}
            if vote:
                stage.output, stage.probabilities = self._answer(forest.intercept_ + walk.values)
            yield stage

    def _acquisitions(self, n_samples, stage, ledger):
        forest = self._stage_model(stage)
        predictor = forest._model.predictor
        model = predictor, predictor.n_trees

        def answer(totals, n_counted):
            # Trees without an answer (because of a cap or a missing cell) add nothing to the sum.
            return self._answer(forest.intercept_ + totals)

        return (yield from tree_acquisitions(self, model, n_samples, ledger, answer))
