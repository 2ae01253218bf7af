"""Fit and predict with an installed budgetlearn, from a folder where there is no copy of it."""

import os
import sys
import tempfile

os.chdir(tempfile.mkdtemp())
sys.path[:] = [path for path in sys.path if path not in ("", os.path.dirname(__file__))]

from sklearn.datasets import load_wine  # noqa: E402

import budgetlearn  # noqa: E402

X, y = load_wine(return_X_y=True, as_frame=True)
prices = dict(zip(X.columns, range(1, 14), strict=True))
for name, more in {
    "ModelScheduleSearch": {"sequences": ("importance", "cost")},
    "BudgetRFClassifier": {"n_estimators": 5},
    "FMCCClassifier": {},
    "ScheduleCascadeClassifier": {},
}.items():
    model = getattr(budgetlearn, name)(feature_costs=prices, random_state=0, **more).fit(X, y)
    right = model.score(X, y)
    assert right > 0.8, f"{name}: {right:.2f} of the training data"
    print(f"{name}: {right:.2f}, {model.acquisition_cost(X).mean():.1f}")
print(f"budgetlearn {budgetlearn.__version__} from {os.path.dirname(budgetlearn.__file__)} works")
