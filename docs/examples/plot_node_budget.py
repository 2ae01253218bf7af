"""
Small forests
=============

Where memory is the budget, a globally induced forest spends its nodes where they lower the loss
most, whichever tree they stand in. The same number of nodes in a plain forest does less.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.metrics import mean_squared_error

from budgetlearn import GIFRegressor

X, y = make_friedman1(2300, noise=1.0, random_state=0)
X_train, X_test, y_train, y_test = X[:300], X[300:], y[:300], y[300:]

# %%
# Errors of both under growing budgets of nodes; the plain forest grows as many whole trees as fit.
budgets = np.array([100, 300, 1000, 3000])
full = ExtraTreesRegressor(1, random_state=0).fit(X_train, y_train).estimators_[0].tree_.node_count
ours, plain = [], []
for budget in budgets:
    forest = GIFRegressor(node_budget=budget, n_estimators=100, random_state=0)
    ours.append(mean_squared_error(y_test, forest.fit(X_train, y_train).predict(X_test)))
    n_trees, leaves = max(1, round(budget / full)), min(300, (budget + 1) // 2)
    trees = ExtraTreesRegressor(n_trees, max_leaf_nodes=leaves, random_state=0)
    plain.append(mean_squared_error(y_test, trees.fit(X_train, y_train).predict(X_test)))

# %%
fig, ax = plt.subplots(layout="constrained")
ax.plot(budgets, ours, "o-", label="globally induced forest")
ax.plot(budgets, plain, "s--", label="extra trees of as many nodes")
ax.set(xscale="log", xlabel="number of nodes", ylabel="mean squared error on test data")
ax.legend()
