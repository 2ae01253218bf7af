"""The protocol of all budgeted estimators: stages, budgets, and acquiring while predicting.

A subclass of `BudgetedEstimator` defines `_fit` and `_stages`; all that users call is derived.
"""

from sklearn.utils.validation import check_is_fitted

from .acquisition import Answer, Decisions, Ledger, Outcome, Request
from .estimator import BudgetedEstimator, WeightedFit
from .guarantees import Certificate
from .session import Session
from .stage import BudgetedTags, Stage

__all__ = [
    "Answer",
    "BudgetedEstimator",
    "BudgetedTags",
    "Certificate",
    "Decisions",
    "Ledger",
    "Outcome",
    "Request",
    "Session",
    "Stage",
    "WeightedFit",
]


class AcquisitionMixin:
    """Charge predictions for the features that they looked at (until all follow the protocol)."""

    def acquisition_cost(self, X):
        """Return what acquiring the features of each prediction costs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self.feature_costs_.total(self.acquired_features(X))
