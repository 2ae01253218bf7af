"""
Numbers under a budget
======================

The cascade predicts numbers, too: it buys more features where they are worth more than they cost.
"""

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.model_selection import train_test_split

from budgetlearn import CostAccuracyDisplay, FreeConstantRegressor, ScheduleCascadeRegressor

X, y = make_friedman1(600, noise=1.0, random_state=0)
prices = np.random.default_rng(0).integers(1, 21, 10)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
settings = {"feature_costs": prices, "estimators": "forest", "random_state": 0}
cascade = ScheduleCascadeRegressor(orders="gain_per_cost", **settings).fit(X_train, y_train)

# %%
free = FreeConstantRegressor(feature_costs=prices).fit(X_train, y_train)
print(f"R² {free.score(X_test, y_test):.2f} for nothing")
for budget in (20, 40, 80):
    spent = cascade.acquisition_cost(X_test, budget=budget).mean()
    print(f"R² {cascade.score(X_test, y_test, budget=budget):.2f} for {spent:.0f}")

# %%
_ = CostAccuracyDisplay.from_estimator(cascade, X_test, y_test, name="cascade")
