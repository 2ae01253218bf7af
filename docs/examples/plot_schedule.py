"""
What each budget buys
=====================

msB fits models on nested sets of features and keeps those that are worth their cost. The schedule
shows which features each budget buys, and the curve what that is worth on test data.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from budgetlearn import CostAccuracyDisplay, ModelScheduleSearch

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
prices = dict(zip(X.columns, np.random.default_rng(0).integers(1, 101, 30), strict=True))
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
search = ModelScheduleSearch(feature_costs=prices, random_state=0).fit(X_train, y_train)

# %%
# One row for each model of the schedule, from the least expensive to the best.
print(search.schedule_)

# %%
# The same models on test data: a step up at each cost from which a better model can be had.
_ = CostAccuracyDisplay.from_estimator(search, X_test, y_test, name="msB")

# %%
# A budget chooses the best of those that it affords.
for budget in (10, 50, 200):
    spent = search.acquisition_cost(X_test, budget=budget).mean()
    right = search.score(X_test, y_test, budget=budget)
    print(f"{budget}: costs {spent:.0f}, accuracy {right:.3f}")
