"""The losses of globally induced forests, as the estimators see them.

A loss starts from the targets, one column for each output (regression) or class (one-hot): it
knows the best constant, hands out the kernel that carries the state of the training samples, and
turns scores into probabilities.
"""

import numpy as np
from scipy.special import softmax

from . import loss_kernels as kernels


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
