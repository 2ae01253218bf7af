"""BudgetRF: a random forest whose predictions cost at most a budget on average."""

from ..forests.base import ForestClassifier
from ..forests.leaf_refit import LogisticRefit
from ..tree.impurity import Entropy, Gini, ImpurityFunction, Polynomial, Powers, ThresholdPairs
from ..validation import ParameterError, check_choice
from .forest import GrownOnBudget, listed
from .growing import TreeSource
from .parameters import documented

IMPURITIES = {"powers": Powers, "polynomial": Polynomial, "gini": Gini, "entropy": Entropy}


@documented
class BudgetRFClassifier(GrownOnBudget, ForestClassifier):
    """Random forest under a budget of feature acquisition (Nan, Wang and Saligrama 2015).

    Trees grow greedily by risk = cost of a feature / drop in impurity, and join the forest while
    predictions on validation data cost at most `budget` on average. A prediction pays each feature
    once, however many trees look at it. Missing values (NaN) go to the better side of each split;
    only features that lack some in training may lack them in prediction.

    Parameters
    ----------
    shared parameters
    alpha : float or list of float, default=0.0
        Threshold of `"threshold_pairs"`: the larger, the smaller and cheaper the trees. Of a list
        the value with the least validation error within the budget is used (the paper's list is
        0, 2, 4, 6, 8, 10, 15, 25, 35, 45).
    impurity : {"threshold_pairs", "powers", "polynomial", "gini", "entropy"} or \
            ImpurityFunction, default="threshold_pairs"
        F. Gini and entropy are not admissible and need `split="expected"`.
    split : {"minimax", "expected"}, default="minimax"
        Judge a split by its worse side, or by the mean of both.
    voting : {"majority", "counts"}, default="majority"
        Each tree votes for the majority class of its leaf, or with the class counts there.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn.

    Attributes
    ----------
    shared attributes
    trees_ : list of Tree
        Node values are class counts.
    alpha_ : float
        The threshold in use.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Their class shares; NaN for an example that no tree left out.
    classes_ : ndarray of shape (n_classes,)
        Class labels.

    References
    ----------
    F. Nan, J. Wang, V. Saligrama. Feature-Budgeted Random Forest. ICML 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = BudgetRFClassifier(budget=6, random_state=0).fit(X[:400], y[:400])
    >>> forest.acquisition_cost(X[400:]).mean() < 7
    np.True_
    """

    def __init__(
        self,
        feature_costs=None,
        *,
        alpha=0.0,
        impurity="threshold_pairs",
        split="minimax",
        voting="majority",
        class_weight=None,
        **shared,
    ):
        super().__init__(feature_costs, **shared)
        self.alpha = alpha
        self.impurity = impurity
        self.split = split
        self.voting = voting
        self.class_weight = class_weight

    # In the order in which settings are tried: of equals the first one is taken.
    _tried = ("alpha", "cost_exponent", "prune")

    def _judged(self, setting):
        check_choice(self.split, "split", ("minimax", "expected"))
        check_choice(self.voting, "voting", ("majority", "counts"))
        return {"impurity": self._impurity(setting["alpha"]), "split": self.split}

    def _source(self, examples):
        return TreeSource(
            self._codes(examples.X),
            examples,
            self.classes_.size,
            self.feature_costs_,
            lambda seed: self._drawn(examples, seed),
            self.n_jobs,
        )

    def _leaf_refit(self, forest, examples):
        return LogisticRefit(forest.trees, examples, self.classes_.size, self.n_jobs)

    def _error(self, scores, n_trees, labels):
        return float((scores.argmax(axis=1) != labels).mean())

    def _further_lists(self):
        alphas = listed(self.alpha, "alpha")
        # A list that changes nothing would grow the same forest again and again.
        if self.impurity != "threshold_pairs" and alphas != [0]:
            raise ParameterError(
                "alpha belongs to impurity='threshold_pairs'; leave it at 0 with "
                f"{self.impurity!r}."
            )
        return (alphas,)

    def _impurity(self, alpha):
        if isinstance(self.impurity, ImpurityFunction):
            impurity = self.impurity
        else:
            check_choice(self.impurity, "impurity", ("threshold_pairs", *IMPURITIES))
            kind = IMPURITIES.get(self.impurity)
            impurity = ThresholdPairs(alpha) if kind is None else kind()
        # Theorem 2.2, on the greatest cost, needs it, and so do the kernel's bounds of thresholds.
        if self.split == "minimax" and not impurity.admissible:
            raise ParameterError(
                "split='minimax' needs an admissible impurity (a part is never more impure than "
                f"the whole); use split='expected' with {self.impurity!r}."
            )
        return impurity
