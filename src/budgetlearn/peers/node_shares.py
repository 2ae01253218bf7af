"""Models under node budgets that are stated as shares of fully grown extra trees."""

from dataclasses import replace

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.utils import check_random_state

from ..counting import fit_counted
from ..protocol.documenting import documented
from ..validation import INT32_MAX, ParameterError, check_number
from .ensembles import SklearnStages, check_ensemble, first_trees
from .staged import MetaStaged, check_increasing


@documented
class NodeShares(MetaStaged):
    """Base of models under such budgets: count the nodes of the extra trees.

    A subclass fits the largest of `node_budgets_` in `_fit_budgets`.

    Parameters
    ----------
    estimator : estimator
        The model; its size is set by the budgets.
    percents : sequence of float, default=(1, 10)
        Node budgets in percent, increasing.
    n_full_trees : int, default=1000
        Number of the fully grown extra trees that the percents refer to.
    n_probes : int, default=20
        Fully grown trees that the number of nodes is estimated from.
    n_jobs : int, default=None
        Threads of prediction.

    Attributes
    ----------
    n_full_ : float
        Estimated nodes of the fully grown extra trees.
    node_budgets_ : list of int
        The budgets.
    stage_settings_ : list of dict
        What tells each size apart: {"budget_percent": share}.
    """

    def __init__(
        self,
        estimator,
        percents=(1, 10),
        n_full_trees=1000,
        n_probes=20,
        *,
        feature_costs=None,
        random_state=None,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.percents = percents
        self.n_full_trees = n_full_trees
        self.n_probes = n_probes
        self.feature_costs = feature_costs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit_estimator(self, X, y):
        percents = check_increasing(self.percents, "percents", high=100)
        check_number(self.n_full_trees, "n_full_trees", low=1, integer=True)
        check_number(self.n_probes, "n_probes", low=1, integer=True)
        # One for the probes and one for the model: more probes leave the model as it is.
        seeds = check_random_state(self.random_state).randint(INT32_MAX, size=2)
        forest = ExtraTreesClassifier if is_classifier(self) else ExtraTreesRegressor
        probes = fit_counted(forest(self.n_probes, random_state=seeds[0]), X, y).estimators_
        # Fully grown trees on the same data hardly differ in size: a few stand for 1000.
        per_tree = np.mean([probe.tree_.node_count for probe in probes])
        self.n_full_ = float(per_tree * self.n_full_trees)
        self.node_budgets_ = [max(1, int(self.n_full_ * share / 100)) for share in percents]
        self._fit_budgets(X, y, seeds[1])
        self.stage_settings_ = [{"budget_percent": share} for share in percents]


@documented
class GIFNodeShares(NodeShares):
    """A globally induced forest whose node budgets are shares of fully grown extra trees.

    The paper's way to state budgets: 10 % is a tenth of the nodes of 1000 extremely randomized
    trees, grown to the end on the same training data. Their number is estimated from a few trees.

    Parameters
    ----------
    estimator : GIFRegressor or GIFClassifier
        Its `node_budget` is replaced. With `joint_fit` one forest is grown for each budget, else
        the smaller ones are the largest as it was at so many nodes.

    Attributes
    ----------
    estimator_ : GIFRegressor or GIFClassifier
        The fitted forest at the largest budget.
    forests_ : list of GIFRegressor or GIFClassifier
        The forest within each budget.

    References
    ----------
    J.-M. Begon, A. Joly and P. Geurts. Globally induced forest: a prepruning compression scheme.
    ICML 2017, section 4.
    """

    def _fit_budgets(self, X, y, seed):
        own = clone(self.estimator).set_params(random_state=seed, n_jobs=self.n_jobs)
        # Weights of a refitted forest are right for its own size only: one fit for each budget.
        grown = self.node_budgets_ if own.joint_fit else self.node_budgets_[-1:]
        forests = [clone(own).set_params(node_budget=budget).fit(X, y) for budget in grown]
        self.estimator_ = forests[-1]
        self.forests_ = (
            forests
            if own.joint_fit
            else [forests[-1].within(budget) for budget in self.node_budgets_]
        )

    def _stages(self, X, which, want):
        for index in which:
            forest = self.forests_[index]
            (stage,) = forest._stages(X, [forest.n_stages_ - 1], want)
            yield replace(stage, setting=dict(self.stage_settings_[index]))

    def stored_bytes(self, stage):
        forest = self.forests_[stage]
        return forest.stored_bytes(forest.n_stages_ - 1)

    def _acquisitions(self, n_samples, stage, ledger):
        forest = self.forests_[stage]
        return (yield from forest._acquisitions(n_samples, forest.n_stages_ - 1, ledger))


@documented
class BoostingNodeShares(SklearnStages, NodeShares):
    """Boosting of shallow trees, as many as fit into node budgets in shares of extra trees.

    Parameters
    ----------
    estimator : estimator of scikit-learn
        GradientBoostingRegressor, GradientBoostingClassifier, AdaBoostClassifier over decision
        trees, or `SAMMERClassifier`. Its `n_estimators` is replaced: as many trees as fit into the
        largest budget if each were as large as its `max_depth` allows.

    Attributes
    ----------
    estimator_ : estimator
        The fitted ensemble at the largest budget.
    node_budgets_ : list of int
        The budgets; none is exceeded by a node.

    References
    ----------
    J.-M. Begon, A. Joly and P. Geurts. Globally induced forest: a prepruning compression scheme.
    ICML 2017, Table 9: stumps, learning rate 10^-1.5.
    """

    def _fit_budgets(self, X, y, seed):
        check_ensemble(self.estimator)
        # As if every tree were as large as it may be: the budget is kept whatever is grown.
        most = _most_nodes(self.estimator, np.unique(y).size if is_classifier(self) else 1)
        smallest, largest = self.node_budgets_[0], self.node_budgets_[-1]
        if smallest < most:
            raise ParameterError(
                f"a boosting iteration has up to {most} nodes, and the smallest budget, "
                f"{self.percents[0]} % of {self.n_full_:.0f} (n_samples={len(X)}), is {smallest}. "
                "Raise percents, or lower max_depth."
            )
        self.estimator_ = clone(self.estimator).set_params(
            n_estimators=largest // most, random_state=seed
        )
        fit_counted(self.estimator_, X, y)
        self._models = first_trees(self.estimator_, X.shape[1], node_budgets=self.node_budgets_)


def _most_nodes(boosting, n_classes):
    """Return the largest number of nodes of one iteration."""
    base = getattr(boosting, "estimator", boosting)
    max_depth = 1 if base is None else base.max_depth
    check_number(max_depth, "max_depth of the boosted trees", low=1, integer=True)
    # Gradient boosting grows a tree for each class, AdaBoost one for all.
    one_each = base is boosting and n_classes > 2
    return (2 ** (max_depth + 1) - 1) * (n_classes if one_each else 1)
