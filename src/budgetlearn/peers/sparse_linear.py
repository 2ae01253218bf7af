"""Sparse linear models whose L1 penalty grows with the price of a feature."""

from dataclasses import replace

import numpy as np

from ..msb.l1_path import LogitPathClassifier, fit_l1_path
from ..protocol.documenting import documented, extending
from ..validation import ParameterError, check_number

# A free feature is penalised like one of this share of the mean price: without any penalty it
# would enter every model, and separable classes would have no finite solution.
LEAST_SHARE = 0.01


@documented
class SparseLinearClassifier(LogitPathClassifier):
    """Logistic regression with an L1 penalty of λ · price^γ for the weight of each feature.

    Where logitB's path ignores prices, here a cheap feature enters before an expensive one that
    tells as much. One path for each γ; all of their models, each priced by its features with a
    non-zero weight, are compressed on validation data into one schedule, and the budget selects.

    Parameters
    ----------
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Price of each feature; None: 1 each. A feature of a group is penalised by its own price and
        the group's charge; predictions are charged for the group once.
    cost_exponents : sequence of float, default=(0, 0.5, 1)
        The exponents γ >= 0; 0 is logitB's path.

    Attributes
    ----------
    path_ : L1Path
        Every model of all paths, one path after another.

    References
    ----------
    H. Zou. The adaptive lasso and its oracle properties. Journal of the American Statistical
    Association 101, 2006: penalties of a factor for each weight.
    """

    _groups = True  # in contrast to logitB's, the path knows prices

    @extending(LogitPathClassifier)
    def __init__(self, *, cost_exponents=(0, 0.5, 1), **shared):
        super().__init__(**shared)
        self.cost_exponents = cost_exponents

    def _path(self, train):
        powers = list(self.cost_exponents)
        if not powers:
            raise ParameterError("cost_exponents must be one or more numbers >= 0, got none.")
        for power in powers:
            check_number(power, "cost_exponents (each)", low=0)
        paths = [
            fit_l1_path(
                train.X,
                train.y,
                self.n_lambda,
                weight=train.weight,
                penalty_factors=penalty_factors(self.feature_costs_.alone, power),
            )
            for power in powers
        ]
        # Same data, so the same scaling: the paths are one list of models to choose from.
        joined = {
            name: np.concatenate([getattr(path, name) for path in paths])
            for name in ("coef", "intercept", "penalties")
        }
        return replace(paths[0], **joined)


def penalty_factors(prices, power):
    """Return the factor of λ for each feature: its share of the mean price, to a power."""
    mean = prices.mean()
    shares = prices / mean if mean > 0 else np.ones_like(prices)
    return np.maximum(shares, LEAST_SHARE) ** power
