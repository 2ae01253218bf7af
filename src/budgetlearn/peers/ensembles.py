"""Ensembles at several sizes, given by numbers of trees or node budgets, with feature costs."""

from dataclasses import field, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ..cascade.mixture import origin_and_unit
from ..fit_counts import fit_counted
from ..protocol.checked_data import stage_of
from ..protocol.documenting import documented, estimator_class
from ..protocol.prediction import requests_of
from ..tree import convert
from ..tree.predictor import ForestPredictor
from ..validation import INT32_MAX, ParameterError, all_or_nothing, check_classes, check_number
from .staged import MetaStaged, TreeStages, TreeSum, check_increasing

# Smallest share before the logarithm in SAMME.R; the paper leaves it open.
_LEAST_SHARE = np.finfo(np.float64).eps
N_PROBES = 20  # number of fully grown trees used to estimate the number of nodes


def first_trees(estimator, n_features, sizes=None, node_budgets=None):
    """Return the models (`TreeSum`) of the first members of a fitted ensemble.

    A member is a tree or, in gradient boosting of more than two classes, an iteration with a tree
    for each class. `sizes` are the numbers of members of the models; boosting that ended early may
    have fewer. Alternatively, `node_budgets` limit the number of nodes of each model.
    """
    trees = estimator.trees_ if hasattr(estimator, "trees_") else convert.from_sklearn(estimator)
    members = len(estimator.estimators_)
    per_member = len(trees) // members
    predictor, intercept = ForestPredictor(trees, n_features), convert.sklearn_intercept(estimator)
    if sizes is None:
        nodes = [predictor.node_count(per_member * (member + 1)) for member in range(members)]
        sizes = np.searchsorted(nodes, node_budgets, side="right").tolist()
    averages = not hasattr(estimator, "learning_rate")  # boosting adds its trees up
    per_step = 0 if averages else per_member
    counts = [per_member * min(size, members) for size in sizes]
    return [TreeSum(predictor, n_trees, intercept, averages, per_step) for n_trees in counts]


def check_ensemble(estimator):
    """Raise unless an estimator is an ensemble that can be converted to sums of trees."""
    own = isinstance(estimator, SAMMERClassifier)
    if not own and not (convert.holds_trees(estimator) and hasattr(estimator, "n_estimators")):
        raise ParameterError(
            f"estimator must be an ensemble ({convert.READABLE}) or SAMMERClassifier, got "
            f"{estimator!r}."
        )
    if not convert.starts_constant(estimator):
        raise ParameterError(f"{convert.NOT_CONSTANT}, got {estimator.init!r}.")


class SklearnStages(TreeStages):
    """Base of stages that interpret scores as scikit-learn does for `estimator`."""

    _dtypes = (np.float32,)  # the precision of scikit-learn's trees

    def _can_predict_proba(self):
        # Forests, which average shares, and gradient boosting.
        return not hasattr(self.estimator, "learning_rate") or hasattr(self.estimator, "loss")

    def _decided(self, scores):
        # At a score of exactly 0, scikit-learn predicts the second class, our forests the first.
        if is_classifier(self) and scores.shape[1] < self.classes_.size:
            return self.classes_[(scores[:, 0] >= 0).astype(np.intp)]
        return super()._decided(scores)

    def _shares(self, model, scores):
        return super()._shares(model, convert.score_scale(self.estimator) * scores)


@estimator_class
class ForestStages(SklearnStages, MetaStaged):
    """A forest or boosting ensemble of scikit-learn, with stages of its first trees.

    Parameters
    ----------
    estimator : estimator of scikit-learn
        Random forest, extra trees, bagging of decision trees, gradient boosting that starts from a
        constant (`init=None` or "zero"), AdaBoostClassifier over decision trees, or
        `SAMMERClassifier`. Its `n_estimators` is replaced by the last of `n_trees`.
    n_trees : sequence of int, default=(10, 100, 1000)
        Numbers of trees, increasing; of iterations in gradient boosting of more than two classes.

    Attributes
    ----------
    estimator_ : estimator
        The fitted ensemble.
    stage_settings_ : list of dict
        Setting that identifies each stage: {"trees": n}.
    """

    estimator: Any = field(kw_only=False)
    n_trees: Any = field(default=(10, 100, 1000), kw_only=False)
    random_state: Any = None
    n_jobs: int | None = None

    def _fit(self, train, valid, seeds):
        check_ensemble(self.estimator)
        X, y = train.X, train.targets
        n_trees = check_increasing(self.n_trees, "n_trees", integer=True)
        model = clone(self.estimator)
        known = model.get_params()
        for name in ("n_jobs", "random_state"):
            # None keeps the estimator's own value.
            if name in known and getattr(self, name) is not None:
                model.set_params(**{name: getattr(self, name)})
        model.set_params(n_estimators=n_trees[-1])
        self.estimator_ = fit_counted(model, X, y)
        self._models = first_trees(model, X.shape[1], n_trees)
        self.stage_settings_ = [{"trees": n} for n in n_trees]


@estimator_class
class SAMMERClassifier(ClassifierMixin, BaseEstimator):
    """AdaBoost of decision trees by SAMME.R (Zhu, Zou, Rosset and Hastie, 2009, algorithm 4).

    A tree votes for class k with h_k(x) = (K - 1) (log p_k(x) - mean_l log p_l(x)), where p are the
    class shares of its leaf. The weight of an example is then multiplied by exp(-h_y(x) / (K - 1)).
    A learning rate below 1 shrinks this exponent, as scikit-learn did while it had this algorithm.
    The class has no feature costs itself: use it in `BoostingNodeShares` or `ForestStages`.

    Parameters
    ----------
    estimator : DecisionTreeClassifier, default=None
        The tree to boost; None: stumps.
    n_estimators : int, default=50
        Number of trees. Boosting stops early after a tree without training errors, which would
        only be repeated.
    learning_rate : float, default=1.0
        Factor of the exponent, > 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, in the order of the votes.
    estimators_ : list of DecisionTreeClassifier
        The fitted trees.
    trees_ : list of Tree
        The same trees with votes as values.

    References
    ----------
    J. Zhu, H. Zou, S. Rosset and T. Hastie. Multi-class AdaBoost. Statistics and Its Interface 2,
    349-360, 2009.
    """

    estimator: Any = field(default=None, kw_only=False)
    n_estimators: int = 50
    learning_rate: float = 1.0
    random_state: Any = None

    def fit(self, X, y):
        """Fit the trees one after another, each with the weights updated by the last one."""
        check_number(self.n_estimators, "n_estimators", low=1, integer=True)
        check_number(self.learning_rate, "learning_rate", low=0, low_open=True)
        with all_or_nothing(self):
            self._boost(*validate_data(self, X, y, dtype=np.float32))
        return self

    def _boost(self, X, y):
        self.classes_, labels = check_classes(y)
        random = check_random_state(self.random_state)
        base = DecisionTreeClassifier(max_depth=1) if self.estimator is None else self.estimator
        weights = np.full(len(X), 1 / len(X))
        self.estimators_, self.trees_ = [], []
        for _ in range(self.n_estimators):
            member = clone(base).set_params(random_state=random.randint(INT32_MAX))
            member.fit(X, labels, sample_weight=weights, check_input=False)
            (tree,) = convert.from_sklearn(member)
            # h_k(x), as in the class docstring, for each leaf.
            logs = np.log(np.maximum(tree.value, _LEAST_SHARE))
            votes = (self.classes_.size - 1) * (logs - logs.mean(axis=1, keepdims=True))
            self.estimators_.append(member)
            self.trees_.append(replace(tree, value=votes))
            reached = votes[member.apply(X, check_input=False)]
            # Without errors, the next tree would be the same.
            if (reached.argmax(axis=1) == labels).all():
                break
            own = reached[np.arange(len(X)), labels] / (self.classes_.size - 1)
            weights *= np.exp(-self.learning_rate * own)
            weights /= weights.sum()

    def decision_function(self, X):
        """Return the sums of the votes for each class; with two classes, for the second."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float32, reset=False)
        votes = ForestPredictor(self.trees_, self.n_features_in_).walk(X, values=True).values
        return votes[:, 1] if self.classes_.size == 2 else votes

    def predict(self, X):
        """Return the class with the most votes."""
        votes = self.decision_function(X)
        return self.classes_[(votes > 0).astype(int) if votes.ndim == 1 else votes.argmax(axis=1)]


@estimator_class
class NodeShares(MetaStaged):
    """Base of models with node budgets in percent of the nodes of fully grown extra trees.

    A subclass fits models to the `node_budgets_` in `_fit_budgets`.

    Parameters
    ----------
    estimator : estimator
        The model, whose size is set by the budgets.
    percents : sequence of float, default=(1, 10)
        Node budgets in percent, increasing.
    n_full_trees : int, default=1000
        Number of fully grown extra trees that the percentages refer to.

    Attributes
    ----------
    n_full_ : float
        Estimated number of nodes of the fully grown extra trees.
    node_budgets_ : list of int
        Node budgets as numbers of nodes.
    stage_settings_ : list of dict
        Setting that identifies each stage: {"budget_percent": share}.

    References
    ----------
    J.-M. Begon, A. Joly and P. Geurts. Globally induced forest: a prepruning compression scheme.
    ICML 2017, section 4.
    """

    estimator: Any = field(kw_only=False)
    percents: Any = field(default=(1, 10), kw_only=False)
    n_full_trees: int = field(default=1000, kw_only=False)
    random_state: Any = None
    n_jobs: int | None = None

    def _fit(self, train, valid, seeds):
        X, y = train.X, train.targets
        percents = check_increasing(self.percents, "percents", high=100)
        check_number(self.n_full_trees, "n_full_trees", low=1, integer=True)
        probe_seed, model_seed = seeds.randint(INT32_MAX, size=2)
        forest, targets = ExtraTreesClassifier, y
        if not is_classifier(self):
            forest, (origin, unit) = ExtraTreesRegressor, origin_and_unit(y)
            targets = (y - origin) / unit
        # Scaled, as scikit-learn's trees ignore small differences.
        origins, units = origin_and_unit(X)
        probes = forest(N_PROBES, random_state=probe_seed)
        probes = fit_counted(probes, (X - origins) / units, targets).estimators_
        per_tree = np.mean([probe.tree_.node_count for probe in probes])
        self.n_full_ = float(per_tree * self.n_full_trees)
        self.node_budgets_ = [max(1, int(self.n_full_ * share / 100)) for share in percents]
        self._fit_budgets(X, y, model_seed)
        self.stage_settings_ = [{"budget_percent": share} for share in percents]


@documented
class GIFNodeShares(NodeShares):
    """A globally induced forest with node budgets in percent of fully grown extra trees.

    This is how the paper states budgets: 10 % is a tenth of the nodes of 1000 fully grown extremely
    randomized trees on the same training data. Their number is estimated from a few trees.

    Parameters
    ----------
    estimator : GIFRegressor or GIFClassifier
        The forest; its `node_budget` is replaced. With `joint_fit`, a forest is grown for each
        budget. Otherwise smaller forests are earlier states of the largest one.

    Attributes
    ----------
    estimator_ : GIFRegressor or GIFClassifier
        The fitted forest at the largest budget.
    forests_ : list of GIFRegressor or GIFClassifier
        The forest within each budget.
    """

    def _fit_budgets(self, X, y, seed):
        own = clone(self.estimator).set_params(random_state=seed, n_jobs=self.n_jobs)
        # Jointly fitted values are valid for one size only, so fit a forest for each budget.
        grown = self.node_budgets_ if own.joint_fit else self.node_budgets_[-1:]
        self.forests_ = [clone(own).set_params(node_budget=budget).fit(X, y) for budget in grown]
        self.estimator_ = self.forests_[-1]
        if not own.joint_fit:
            self.forests_ = [self.estimator_.within(budget) for budget in self.node_budgets_]

    def _stages(self, X, which, want):
        for index in which:
            forest = self.forests_[index]
            stage = stage_of(forest, X, forest.n_stages_ - 1, want)
            yield replace(stage, setting=dict(self.stage_settings_[index]))

    def stored_bytes(self, stage):
        forest = self.forests_[stage]
        return forest.stored_bytes(forest.n_stages_ - 1)

    def _acquisitions(self, n_samples, stage, ledger):
        forest = self.forests_[stage]
        return (yield from requests_of(forest, n_samples, forest.n_stages_ - 1, ledger))


@documented
class BoostingNodeShares(SklearnStages, NodeShares):
    """Boosting of shallow trees within node budgets in percent of fully grown extra trees.

    The paper's Table 9 uses stumps with a learning rate of 10^-1.5.

    Parameters
    ----------
    estimator : estimator of scikit-learn
        GradientBoostingRegressor, GradientBoostingClassifier, AdaBoostClassifier over decision
        trees, or `SAMMERClassifier`. Its `n_estimators` is replaced by the number of iterations
        that fit into the largest budget if all trees are as large as `max_depth` allows.

    Attributes
    ----------
    estimator_ : estimator
        The fitted ensemble at the largest budget.
    """

    def _fit_budgets(self, X, y, seed):
        check_ensemble(self.estimator)
        base = getattr(self.estimator, "estimator", self.estimator)
        max_depth = 1 if base is None else base.max_depth
        check_number(max_depth, "max_depth of the boosted trees", low=1, integer=True)
        most = 2 ** (max_depth + 1) - 1
        # Gradient boosting grows a tree for each class, AdaBoost one for all classes.
        if base is self.estimator and is_classifier(self) and np.unique(y).size > 2:
            most *= np.unique(y).size
        smallest, largest = self.node_budgets_[0], self.node_budgets_[-1]
        if smallest < most:
            raise ParameterError(
                f"a boosting iteration has up to {most} nodes, but the smallest budget is only "
                f"{smallest}, {self.percents[0]} % of {self.n_full_:.0f} (n_samples={len(X)}). "
                "Raise percents, or lower max_depth."
            )
        model = clone(self.estimator).set_params(n_estimators=largest // most, random_state=seed)
        self.estimator_ = fit_counted(model, X, y)
        self._models = first_trees(self.estimator_, X.shape[1], node_budgets=self.node_budgets_)
