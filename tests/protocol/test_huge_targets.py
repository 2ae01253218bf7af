"""Numbers whose squares are infinite are predicted, or refused where errors have to be measured."""

import numpy as np
import pytest

from budgetlearn import BudgetRFRegressor, GIFRegressor
from budgetlearn.budgetrf import Growth, Leaves
from budgetlearn.validation import ParameterError

X = np.random.default_rng(0).normal(size=(60, 3))
Y = 1e300 * X[:, 0]
FOREST = BudgetRFRegressor(n_estimators=3, random_state=0)
GIF = GIFRegressor(20, n_estimators=5, random_state=0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("model", "settings"),
    [
        (GIF, {"early_stopping": True}),
        (GIF, {"early_stopping": True, "scoring": "r2"}),
        (GIF, {"early_stopping": True, "joint_fit": "ridge"}),
        (FOREST, {"budget": 3}),
        (FOREST, {"oob_score": True}),
        (FOREST, {"growth": Growth(regrow=3)}),
        (FOREST, {"leaves": Leaves(joint_fit=10)}),
        (FOREST, {"leaves": Leaves(prune=1)}),
    ],
)
def test_huge_numbers_are_refused_where_errors_are_measured(model, settings):
    plain = {name: getattr(model, name) for name in settings}
    with pytest.raises(ParameterError, match=r"y, which goes up to \d.\d+e\+300, are infinite"):
        model.set_params(**settings).fit(X, Y)
    model.set_params(**plain).fit(X, Y)
    assert np.corrcoef(model.predict(X) / 1e300, X[:, 0])[0, 1] > 0.7
    with pytest.raises(ParameterError, match="divide y by a larger unit"):
        model.operating_points_  # noqa: B018
