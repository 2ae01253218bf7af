"""The constant that costs nothing is the best one by the score that counts."""

import numpy as np
import pytest

from budgetlearn import BudgetRFRegressor, FreeConstantRegressor, ScheduleCascadeRegressor

X = np.random.default_rng(0).normal(size=(61, 2))
Y = np.exp(2 * X[:, 0])  # its mean is far from the median
WEIGHT = 1.0 + np.arange(61) % 3
REPEATED = np.repeat(Y, WEIGHT.astype(int))
FORESTS = BudgetRFRegressor(n_estimators=2, random_state=0)
CASCADE = ScheduleCascadeRegressor(estimators="linear", random_state=0)


@pytest.mark.parametrize("model", [FreeConstantRegressor(), FORESTS, CASCADE], ids=type)
@pytest.mark.parametrize(
    ("scoring", "best"), [(None, np.mean), ("r2", np.mean), ("neg_mean_absolute_error", np.median)]
)
def test_the_constant_is_the_mean_or_by_the_absolute_error_the_median(model, scoring, best):
    model.set_params(scoring=scoring)
    for weight, rows in ((None, Y), (WEIGHT, REPEATED)):
        model.fit(X, Y, sample_weight=weight)
        assert model.constant_ == pytest.approx([best(rows)])
        assert model.predict(X[:1], budget=0, fallback=True) == pytest.approx([best(rows)])
