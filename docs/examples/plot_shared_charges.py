"""
One blood sample for several tests
==================================

Measurements may share a charge that is paid once: after the first test on a blood sample the others
are cheap. A model that knows of it buys them together.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from budgetlearn import CostAccuracyDisplay, FeatureCosts, ModelScheduleSearch

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :10]
groups = np.array([0, 0, 0, 0, 1, 1, 1, 1, -1, -1])
costs = FeatureCosts(np.ones(10), groups, group_costs=[5, 20])
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
print(costs.subset([0]), costs.subset([0, 1]), costs.full)

# %%
search = ModelScheduleSearch(feature_costs=costs, random_state=0).fit(X_train, y_train)
print(search.schedule_)
_ = CostAccuracyDisplay.from_estimator(search, X_test, y_test)

# %%
# With 10 to spend only the sample of the first group is drawn.
bought = search.acquired_features(X_test, budget=10)[0]
print(list(X.columns[bought]))
