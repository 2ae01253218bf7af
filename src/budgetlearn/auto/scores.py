"""Scores as means over rows, so that two policies can be compared row by row.

Balanced accuracy, AUC, F1 and R² are not means over rows, so they are written as the mean of their
influence function. The standard error of a difference is then that of paired numbers.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
from sklearn.metrics import roc_auc_score

from ..per_feature import own_names
from ..protocol.scoring import SCORES, r2_rows, scores_of
from ..validation import ParameterError, check_choice

CLASSIFICATION, REGRESSION = (*scores_of("classification"), "f1"), scores_of("regression")
NAMES = {name: score.label for name, score in SCORES.items()}
NAMES |= {"f1": "F1", "total_cost": "−total cost"}
WEIGHED = ("accuracy", "neg_log_loss", *REGRESSION)  # plain means over rows
LEAST = 1e-6  # smallest probability, so that a single row cannot dominate the log loss


@dataclass(frozen=True)
class Objective:
    """The objective to maximise: a score, or minus the total cost of acquisitions and errors."""

    scoring: str  # one of `CLASSIFICATION` or `REGRESSION`, or "total_cost" with `errors`
    # (n_classes, n_classes): cost of predicting the second class where the first is true.
    errors: np.ndarray | None = None
    positive: int = 1  # with two classes, the one whose F1 is used

    def own_scoring(self, n_classes):
        """Return the score by which the methods compare their own points; None: their default."""
        if self.scoring in ("accuracy", "r2", "total_cost"):
            return None
        # scikit-learn's names; its "f1" would be that of the last class, not of the rarer one.
        other = {"f1": "f1_macro", "roc_auc": "roc_auc" if n_classes == 2 else "roc_auc_ovr"}
        return other.get(self.scoring, self.scoring)

    def decision_costs(self, y, n_classes):
        """Return the error costs that decide the class; None: take the most probable class."""
        if self.errors is not None:
            return self.errors
        if self.scoring not in ("balanced_accuracy", "f1", "f1_macro"):
            return None
        # An error costs 1 / its class's share in balanced accuracy, about the root of that in F1.
        power = 1.0 if self.scoring == "balanced_accuracy" else 0.5
        weights = (y.size / np.maximum(np.bincount(y, minlength=n_classes), 1.0)) ** power
        return weights[:, None] * (1.0 - np.eye(n_classes))

    def rows(self, y, predictions, decided, spent, weight=None):
        """Return one number for each row, (n_samples,), whose mean is the score.

        `predictions`, (n_samples, n_outputs), are class probabilities or numbers, `decided` are the
        predicted classes, and `spent` are the costs of the rows. With `weight`, 1 on average, the
        mean is the weighted score, and its standard error is that of a weighted mean.
        """
        rows = self.unweighted(y, predictions, decided, spent, weight)
        if weight is None:
            return rows
        mean = np.average(rows, weights=weight)
        return mean + weight * (rows - mean)

    def unweighted(self, y, predictions, decided, spent, weight):
        """Return the contribution of each row before weighting."""
        match self.scoring:
            case "total_cost":
                return -(self.errors[y, decided] + spent)
            case "accuracy":
                return (decided == y).astype(np.float64)
            case "balanced_accuracy":
                return _balanced(y, decided)
            case "neg_log_loss":
                return np.log(np.maximum(predictions[np.arange(y.size), y], LEAST))
            case "roc_auc":  # one class against the rest, averaged: scikit-learn's "roc_auc_ovr"
                classes = [1] if predictions.shape[1] == 2 else np.unique(y)
                return np.mean([_auc_of_one(y == k, predictions[:, k]) for k in classes], axis=0)
            case "f1" | "f1_macro":
                one = self.scoring == "f1" and predictions.shape[1] == 2
                classes = [self.positive] if one else np.unique(y)
                return np.mean([_f1_of_one(y == k, decided == k) for k in classes], axis=0)
            case "neg_mean_absolute_error":
                return -np.abs(predictions[:, 0] - y)
            case "r2":
                return r2_rows((predictions[:, 0] - y) ** 2, y, weight)

    def unseen_error(self, rows, y, groups=None):
        """Return the standard error that the spread of rows misses where a class's are all equal.

        By Laplace's rule, n + 1 of n + 2 such rows would be right: the error is that of this share.
        In total cost, of which rare and expensive errors have most, one more row of each class
        counts as taken for the most expensive one.
        """
        if self.scoring == "total_cost":
            n = y.size if groups is None else np.unique(groups).size
            return float(np.linalg.norm(self.errors.max(axis=1)) / n)
        if self.scoring not in ("accuracy", "balanced_accuracy", "roc_auc", "f1", "f1_macro"):
            return 0.0
        parts = np.zeros(y.size) if self.scoring == "accuracy" else np.ravel(y)
        names = np.arange(y.size) if groups is None else groups
        classes, sizes = np.unique(parts, return_counts=True)
        alike = np.array([np.ptp(rows[parts == k]) == 0 for k in classes])
        n = np.array([np.unique(names[parts == k]).size for k in classes])
        return float(np.sqrt(alike @ (self._lost(sizes) ** 2 * (n + 1) / (n + 2) ** 2 / n)))

    def _lost(self, sizes):
        """Return the score lost if all rows of a class were wrong, (n_classes,), to first order."""
        if self.scoring in ("accuracy", "balanced_accuracy") or sizes.size == 1:
            return np.full(sizes.size, 1 / sizes.size)
        if self.scoring == "f1" and sizes.size == 2:
            return sizes / sizes[self.positive] / 2
        # A wrong row lowers the area or F1 of its own class, and of the one it is taken for.
        own, pairs = (1.0, sizes.sum() - sizes) if self.scoring == "roc_auc" else (0.5, 2 * sizes)
        others = (1 / pairs).sum() - 1 / pairs
        return (own + sizes * others / (sizes.size - 1)) / sizes.size


def decide(probabilities, costs):
    """Return the index of the class with the least expected cost of errors."""
    return probabilities.argmax(axis=1) if costs is None else (probabilities @ costs).argmin(axis=1)


def check_scoring(scoring, classifies, weight=None):
    """Return the name of a score (None: the task's default), which must be known.

    With weights, it must also be one that counts them.
    """
    known = CLASSIFICATION if classifies else REGRESSION
    scoring = known[0] if scoring is None else check_choice(scoring, "scoring", known)
    if weight is not None and scoring not in WEIGHED:
        raise ParameterError(
            "sample_weight and class_weight count in accuracy, neg_log_loss and total cost, not in "
            f"scoring={scoring!r}: leave out one of them."
        )
    return scoring


def error_matrix(errors, classes):
    """Return the costs of errors as a matrix in the ascending order of the classes.

    `errors` is a matrix, a frame with class labels, or a dict by (true, predicted). Missing pairs
    in a dict cost nothing. Raises `ParameterError` for anything else.
    """
    n, known, values = classes.size, classes.tolist(), errors
    if hasattr(errors, "stack") and (own_names(errors.index) or own_names(errors.columns)):
        errors = errors.stack().to_dict()
    if isinstance(errors, dict):
        pairs = dict.fromkeys(product(known, repeat=2), 0.0)
        if strange := [pair for pair in errors if pair not in pairs]:
            raise ParameterError(
                f"error_costs names {strange[0]!r}, which is not a pair (true, predicted) of the "
                f"classes in y: {known[:8]}."
            )
        values = np.reshape([*(pairs | errors).values()], (n, n))
    try:
        matrix = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.shape != (n, n) or not np.isfinite(matrix).all() or (matrix < 0).any():
        wanted = f"finite and >= 0, with a row and a column for each of the {n} classes"
        raise ParameterError(f"error_costs must be {wanted}, got {errors!r}.")
    if not (matrix > np.diag(matrix)[:, None]).any():
        raise ParameterError("error_costs must make some error cost more than the right class.")
    return matrix


def _balanced(y, decided):
    """Return the influence of each row on the mean recall of the classes."""
    right, counts = decided == y, np.bincount(y)
    shares = np.bincount(y, right) / np.maximum(counts, 1)
    # The number of rows of a class has no influence; n / (n - 1) corrects the spread of few rows.
    weights = y.size / (np.sqrt(counts * np.maximum(counts - 1, 1)) * np.count_nonzero(counts))[y]
    return shares[counts > 0].mean() + weights * (right - shares[y])


def _auc_of_one(positive, score):
    """Return DeLong's placements: the influence of each row on the area under the ROC curve."""
    n = positive.size
    if np.count_nonzero(positive) in (0, n):
        return np.full(n, 0.5)
    area = roc_auc_score(positive, score)
    rows = np.empty(n)
    for mine, sign in ((positive, 1.0), (~positive, -1.0)):
        others = np.sort(sign * score[~mine])
        own = sign * score[mine]
        below = np.searchsorted(others, own, "left") + np.searchsorted(others, own, "right")
        divided = np.sqrt(own.size * max(own.size - 1, 1))  # as in `_balanced`
        rows[mine] = (below / (2 * others.size) - area) * n / divided
    return area + rows


def _f1_of_one(positive, named):
    """Return the influence of each row on the F1 of one class."""
    hits, both = positive & named, positive * 1.0 + named
    score = 2 * hits.sum() / max(both.sum(), 1.0)
    return score + (2 * hits - score * both) / max(both.mean(), 1e-12)
