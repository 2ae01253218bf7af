"""What all budgeted estimators share."""

from sklearn.utils.validation import check_is_fitted


class AcquisitionMixin:
    """Charge predictions for the features that they looked at.

    The estimator defines `acquired_features(X)` and, when fitted, `feature_costs_`
    (a `budgetlearn.costs.FeatureCosts`).
    """

    def acquisition_cost(self, X):
        """Return what acquiring the features of each prediction costs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of shape (n_samples,)
            In the unit of `feature_costs`; each feature is charged once per example.
        """
        check_is_fitted(self)
        return self.feature_costs_.total(self.acquired_features(X))
