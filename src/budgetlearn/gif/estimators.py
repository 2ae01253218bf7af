"""Globally induced forests (Begon, Joly and Geurts, 2017): forests under a node budget."""

import inspect

import numpy as np
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin

from ..protocol.documenting import extending
from ..protocol.tables import complete_table
from ..validation import ParameterError, check_choice, check_number
from .forest import BaseGIF, weights_of
from .losses import Exponential, Logistic, Squared, TrimmedExponential
from .splitter import GiniSplitter, VarianceSplitter

# What both estimators take, by the mark that stands for it in their docstrings.
SHARED = {
    "{growth}": """\
node_budget : int, default=10000
    Most nodes in the model, internal and leaf. A root counts once a node of its tree is
    accepted.
n_estimators : int or "auto", default=1000
    Trees to start with. "auto": one for five of the grown nodes, at least 10, at most 1000.
learning_rate : float, default=10**-1.5
    Share of its optimal weight that an accepted node gets, in (0, 2].
candidate_window : int or None, default=1
    Candidates examined at each step. None: all of them, exactly.
max_features : {"sqrt"}, int, float or None, default="sqrt"
    Features that a split visits; None: all.
n_thresholds : int, default=1
    Thresholds drawn for each of them.
split_on : {"targets", "residuals"}, default="targets"
    What splits are chosen by. "residuals": a leaf drawn at random is split by what the forest
    misses at that moment, as in boosting, and both sides are accepted. For many examples, or
    with `prune_factor`, where all features and several thresholds predict best. With
    `loss="squared"` and `candidate_window=1`.""",
    "{stopping}": """\
early_stopping : bool, default=False
    Keep as many of the nodes, in order of acceptance, as predict the validation data best;
    without validation data, `validation_fraction` of the training data. Not with `refit`.
validation_fraction : float, default=0.2
    Share of the rows that early stopping holds out, as does `alpha="auto"` with
    `refit="logistic"`.""",
    "{bytes}": """\
byte_budget : int, default=None
    Most bytes of the model in the compact format (`nbytes`), beside `node_budget`, both of
    which are kept. None: any number.
byte_format : {"float32", "float16", "int8"}, default="float32"
    The format whose bytes are counted.""",
    "{common}": """\
feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
    Cost of each feature; None: 1 each.
random_state : int, RandomState instance or None, default=None
    Source of randomness.
n_jobs : int, default=None
    Threads of prediction. Growing is sequential by nature.""",
}


def described(kind):
    """Write the shared parameters where the docstring of a class has their marks."""
    if kind.__doc__ is not None:  # python -OO has none
        lines = inspect.cleandoc(kind.__doc__).split("\n")
        kind.__doc__ = "\n".join(SHARED.get(line, line) for line in lines)
    return kind


@described
class GIFRegressor(MultiOutputMixin, RegressorMixin, BaseGIF):
    """Globally induced forest for regression, with squared loss and one or more outputs.

    Starting from `n_estimators` single splits, the forest accepts one node after another, each
    with the weight that lowers the loss of the whole forest most, until the node budget is spent
    (algorithm 1 of Begon, Joly and Geurts, 2017). The splits are those of extremely randomized
    trees.

    Parameters
    ----------
    {growth}
    loss : {"squared"}, default="squared"
        The loss.
    refit : int or "ridge", default=0
        Passes over the accepted nodes once the budget is spent; each adds to every node's weight
        what then improves the loss most, times the learning rate. "ridge": all weights at once,
        by ridge regression of the targets on the nodes.
    prune_factor : float, default=1
        With "ridge": grow so many times `node_budget` nodes, then fit the weights and drop the
        least useful leaves in turn until the budget is kept.
    alpha : float or "auto", default=0.3
        Penalty of the squared weights in the ridge regression, in units of the mean number of
        nodes that an example reaches. "auto": what predicts the validation data best, where `fit`
        has them; else by generalised cross-validation, which takes the nodes as given and so
        shrinks too little where the targets chose them.
    {stopping}
    {bytes}
    {common}

    Attributes
    ----------
    trees_ : list of Tree
        Trees with at least one accepted node, or a single leaf. The value of a node is the sum
        of the weights on its path, so that leaves carry all that a prediction needs. The side of
        a split that was not accepted is a leaf with its parent's value; `n_nodes_` does not
        count it.
    n_nodes_ : int
        Nodes in the model, at most `node_budget`.
    intercept_ : ndarray of shape (n_outputs,)
        The loss-optimal constant, to which the trees are added; of the ridge regression with
        `refit="ridge"`.
    alpha_ : float or None
        Penalty of the ridge regression that was used; None without one.
    feature_importances_ : ndarray of shape (n_features,)
        Decrease of impurity by the model's splits on each feature, weighted by the share of
        training samples that reach the split, over all trees; sums to 1 (0 without splits). A
        split is the model's when at least one of its sides was accepted.
    node_distribution_ : ndarray of shape (n_estimators,)
        Nodes of each tree in the model.
    node_entropy_ : float
        Entropy of that distribution divided by log(n_estimators).
    feature_costs_ : FeatureCosts
        The costs in use.
    n_features_in_ : int
        Number of features.

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


@described
class GIFClassifier(ClassifierMixin, BaseGIF):
    """Globally induced forest for classification.

    See `GIFRegressor` for how the forest grows; splits lower Gini's index here.

    Parameters
    ----------
    {growth}
    loss : {"squared", "trimmed_exponential", "exponential", "auto"}, default="squared"
        "squared": one output for each class, the choice for more than two classes.
        "trimmed_exponential": multiclass exponential loss with bounded weights, the paper's
        choice for two classes. "exponential": without that bound, for comparison. "auto": the
        choice for the number of classes; "squared" where `refit` is a regression, or splits are
        chosen by residuals.
    refit : int, "ridge" or "logistic", default=0
        Passes over the accepted nodes once the budget is spent; each adds to every node's weight
        what then improves the loss most, times the learning rate. "ridge": all weights at once,
        by ridge regression of one-hot classes on the nodes. "logistic": by penalised logistic
        regression, which takes up to ten times as long and errs less in small models.
    prune_factor : float, default=1
        With these two: grow so many times `node_budget` nodes, then fit the weights and drop the
        least useful leaves in turn until the budget is kept.
    alpha : float or "auto", default=0.3
        Penalty of the squared weights in the regression, in units of the mean number of nodes
        that an example reaches; of 0.003 to 0.1 in logistic regression. "auto": what predicts the
        validation data best, for "logistic" `validation_fraction` of the training data where `fit`
        has none; for "ridge" then by generalised cross-validation, which takes the nodes as given
        and so shrinks too little where the targets chose them.
    {stopping}
    {bytes}
    {common}
    saturation : float, default=3.0
        Largest log-ratio of class errors that counts ("trimmed_exponential" only), in (0, 100].
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn; times the sample weights. With weights the
        splits lower the weighted variance of the one-hot classes, which is Gini's index.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, in the order of the scores and probabilities.
    loss_ : str
        The loss in use.
    trees_, n_nodes_, intercept_, alpha_, feature_importances_, node_distribution_, node_entropy_
        As for `GIFRegressor`; one value for each class.
    feature_costs_ : FeatureCosts
        The costs in use.
    n_features_in_ : int
        Number of features.

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
            return Logistic() if self.refit == "logistic" else Squared()
        if self.loss_ == "exponential":
            return Exponential()
        return TrimmedExponential(self.saturation)

    def _chosen_loss(self):
        check_choice(self.loss, "loss", ("squared", "trimmed_exponential", "exponential", "auto"))
        if self.loss == "auto":
            regression = isinstance(self.refit, str) or self.split_on == "residuals"
            squared = regression or self.classes_.size > 2
            return "squared" if squared else "trimmed_exponential"
        if isinstance(self.refit, str) and self.loss != "squared":
            raise ParameterError(
                f"refit={self.refit!r} fits nodes grown by the squared loss: set loss='squared', "
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
