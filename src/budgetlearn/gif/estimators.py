"""Globally induced forests (Begon, Joly and Geurts, 2017): forests under a node budget."""

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin

from ..protocol.documenting import documented, extending
from ..protocol.examples import complete_table
from ..validation import ParameterError, check_choice, check_number
from . import loss_kernels as kernels
from .forest import BaseGIF, weights_of
from .splitter import GiniSplitter, VarianceSplitter


@documented
class GIFRegressor(MultiOutputMixin, RegressorMixin, BaseGIF):
    """Globally induced forest for regression, with squared loss and one or more outputs.

    Starting from `n_estimators` single splits, the forest accepts one node after another, each
    with the weight that lowers the loss of the whole forest most, until the node budget is spent
    (algorithm 1 of Begon, Joly and Geurts, 2017). The splits are those of extremely randomized
    trees.

    Parameters
    ----------
    loss : {"squared"}, default="squared"
        The loss.
    joint_fit : int or "ridge", default=0
        Passes over the accepted nodes once the budget is spent; each adds to every node's weight
        what then improves the loss most, times the learning rate. "ridge": all weights at once,
        by ridge regression of the targets on the nodes.
    prune_factor : float, default=1
        With "ridge": grow so many times `node_budget` nodes, then fit the weights and drop the
        least useful leaves in turn until the budget is kept.
    ridge : float or "auto", default=0.3
        Penalty of the squared weights in the ridge regression, in units of the mean number of
        nodes that an example reaches. "auto": what predicts the validation data best, where `fit`
        has them; else by generalised cross-validation, which takes the nodes as given and so
        shrinks too little where the targets chose them.

    See Also
    --------
    GIFClassifier : The same for classes.

    References
    ----------
    J.-M. Begon, A. Joly and P. Geurts. Globally induced forest: a prepruning compression scheme.
    ICML 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from budgetlearn.gif import GIFRegressor
    >>> X = np.linspace(0, 1, 100)[:, None]
    >>> model = GIFRegressor(node_budget=500, n_estimators=50, random_state=0).fit(X, X[:, 0] ** 2)
    >>> model.n_nodes_
    500
    """

    _multi_output = True

    def _loss(self):
        return Squared()

    def _fit(self, train, valid, seeds):
        self._check_parameters()
        check_choice(self.loss, "loss", ("squared",))
        y = np.asarray(train.targets, dtype=np.float64)
        self._single_output = y.ndim == 1
        # Squares of the targets must neither overflow nor vanish. A power of two rounds nothing.
        _, exponent = np.frexp(np.abs(y).max())
        targets = np.ldexp(y, -exponent).reshape(len(y), -1)
        centred = np.ascontiguousarray(targets - targets.mean(axis=0))
        weight = weights_of(train)
        if valid is not None:
            valid = valid.X, np.ldexp(valid.targets, -exponent).reshape(len(valid.X), -1)
        data = train.X, targets, weight, seeds
        self._grow(*data, lambda *rest: VarianceSplitter(*rest, centred), valid, exponent)

    def _decided(self, scores):
        return scores[:, 0] if self._single_output else scores

    def _shares(self, scores):
        return None


@documented
class GIFClassifier(ClassifierMixin, BaseGIF):
    """Globally induced forest for classification.

    See `GIFRegressor` for how the forest grows; splits lower Gini's index here.

    Parameters
    ----------
    loss : {"squared", "trimmed_exponential", "exponential", "auto"}, default="squared"
        "squared": one output for each class, the choice for more than two classes.
        "trimmed_exponential": multiclass exponential loss with bounded weights, the paper's
        choice for two classes. "exponential": without that bound, for comparison. "auto": the
        choice for the number of classes; "squared" where `joint_fit` is a regression, or splits are
        chosen by residuals.
    joint_fit : int, "ridge" or "logistic", default=0
        Passes over the accepted nodes once the budget is spent; each adds to every node's weight
        what then improves the loss most, times the learning rate. "ridge": all weights at once,
        by ridge regression of one-hot classes on the nodes. "logistic": by penalised logistic
        regression, which takes up to ten times as long and errs less in small models.
    prune_factor : float, default=1
        With these two: grow so many times `node_budget` nodes, then fit the weights and drop the
        least useful leaves in turn until the budget is kept.
    ridge : float or "auto", default=0.3
        Penalty of the squared weights in the regression, in units of the mean number of nodes
        that an example reaches; of 0.003 to 0.1 in logistic regression. "auto": what predicts the
        validation data best, for "logistic" `validation_fraction` of the training data where `fit`
        has none; for "ridge" then by generalised cross-validation, which takes the nodes as given
        and so shrinks too little where the targets chose them.
    saturation : float, default=3.0
        Largest log-ratio of class errors that counts ("trimmed_exponential" only), in (0, 100].
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn; times the sample weights. With weights the
        splits lower the weighted variance of the one-hot classes, which is Gini's index.

    Attributes
    ----------
    loss_ : str
        The loss in use.

    See Also
    --------
    GIFRegressor : The same for numbers.

    References
    ----------
    J.-M. Begon, A. Joly and P. Geurts. Globally induced forest: a prepruning compression scheme.
    ICML 2017.
    """

    @extending(BaseGIF)
    def __init__(self, node_budget=10_000, *, saturation=3.0, class_weight=None, **shared):
        super().__init__(node_budget, **shared)
        self.class_weight = class_weight
        self.saturation = saturation

    _regressions = ("ridge", "logistic")

    def _loss(self):
        if self.loss_ == "squared":
            return Logistic() if self.joint_fit == "logistic" else Squared()
        if self.loss_ == "exponential":
            return Exponential()
        return TrimmedExponential(self.saturation)

    def _chosen_loss(self):
        check_choice(self.loss, "loss", ("squared", "trimmed_exponential", "exponential", "auto"))
        if self.loss == "auto":
            regression = isinstance(self.joint_fit, str) or self.split_on == "residuals"
            squared = regression or self.classes_.size > 2
            return "squared" if squared else "trimmed_exponential"
        if isinstance(self.joint_fit, str) and self.loss != "squared":
            raise ParameterError(
                f"joint_fit={self.joint_fit!r} fits nodes grown by the squared loss: set "
                "loss='squared', "
                f"got loss={self.loss!r}."
            )
        if self.split_on == "residuals" and self.loss != "squared":
            raise ParameterError(
                "split_on='residuals' splits by the residuals of the squared loss: set "
                f"loss='squared', got loss={self.loss!r}."
            )
        return self.loss

    def _fit(self, train, valid, seeds):
        self._check_parameters()
        self.loss_ = self._chosen_loss()
        check_number(self.saturation, "saturation", low=0, high=100, low_open=True)
        n_classes, codes = self.classes_.size, train.y.astype(np.int32)
        one_hot = np.eye(n_classes)
        if valid is not None:
            known = valid.y >= 0
            valid = valid.X[known], one_hot[valid.y[known]]
        data = train.X, one_hot[codes], weights_of(train), seeds
        self._grow(*data, lambda *rest: GiniSplitter(*rest, codes, n_classes), valid)

    def decision_function(self, X):
        """Return the scores of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples, as for `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            The larger, the likelier; for two classes that of the second less that of the first.
        """
        X = complete_table(self, X)
        walk = self._model.predictor.walk(X, values=True, n_jobs=self.n_jobs)
        scores = self.intercept_ + walk.values
        return scores[:, 1] - scores[:, 0] if self.classes_.size == 2 else scores

    def _decided(self, scores):
        return self.classes_[scores.argmax(axis=1)]

    def _shares(self, scores):
        """Return class probabilities of shape (n_samples, n_classes).

        With an exponential loss the softmax of Eq. (MEproba), after logistic regression that of
        the scores; with the squared loss the scores,
        which add up to 1, cut off below 0 and scaled.
        """
        return self._loss().probabilities(scores)


# The losses: each starts from the targets, one column for each output (regression) or class
# (one-hot). It knows the best constant, hands out the kernel that carries the state of the training
# samples, and turns scores into probabilities.


class Squared:
    """Squared error, summed over the outputs; in classification, one output for each class."""

    def start(self, targets, weight=None):
        """Return the loss-optimal constant and the kernel that starts from it.

        Targets (n_samples, n_outputs) are outputs, or one-hot classes; weights are positive, None:
        1 each.
        """
        # Not NumPy's weighted mean: its last bit differs.
        intercept = targets.mean(axis=0) if weight is None else weight @ targets / weight.sum()
        return intercept, kernels.SquaredLoss(np.ascontiguousarray(targets - intercept), weight)

    def probabilities(self, scores):
        """Return class probabilities: the outputs, which add up to 1, cut off below 0."""
        positive = np.maximum(scores, 0.0)
        return positive / positive.sum(axis=1, keepdims=True)


class Logistic(Squared):
    """Squared error while the forest grows, logistic loss once all weights are refitted."""

    def probabilities(self, scores):
        """Return class probabilities: the softmax of the scores."""
        return softmax(scores, axis=1)


class Exponential:
    """Multiclass exponential loss of Zhu et al. (2009), scores adding up to 0 (Eq. MEmin).

    A class that is absent from a node would ask for an infinite weight; its class error counts as
    2^-52 of the node's, which leaves large steps. `TrimmedExponential` is the paper's remedy.
    """

    def start(self, targets, weight=None):
        """Return the loss-optimal constant and the kernel that starts from it.

        Targets and weights are as for `Squared`, each class present.
        """
        n_classes = targets.shape[1]
        codes = targets.argmax(axis=1).astype(np.int32)
        log_counts = np.log(targets.sum(axis=0) if weight is None else weight @ targets)
        # Eq. (MEsolution) for the node of all samples; not trimmed, as every class is present.
        intercept = (n_classes - 1) * (log_counts - log_counts.mean())
        # Each sample starts with its loss under the intercept, which the kernel multiplies on.
        errors = np.exp(-intercept[codes] / (n_classes - 1))
        errors *= 1.0 if weight is None else weight
        return intercept, self._kernel(codes, errors, n_classes)

    def _kernel(self, codes, errors, n_classes):
        return kernels.ExponentialLoss(codes, errors, n_classes)

    def probabilities(self, scores):
        """Return class probabilities (Eq. MEproba)."""
        return softmax(scores / (scores.shape[1] - 1), axis=1)


class TrimmedExponential(Exponential):
    """Exponential loss with trimmed weights (Eq. METrimmed)."""

    def __init__(self, saturation):
        self.saturation = saturation

    def _kernel(self, codes, errors, n_classes):
        return kernels.TrimmedExponentialLoss(codes, errors, n_classes, self.saturation)
