"""
Small forests
=============

Where memory is the budget, a globally induced forest spends its nodes where they lower the loss
most, whichever tree they stand in. The same number of nodes in a plain forest or in boosting does
less.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor
from sklearn.metrics import mean_squared_error

from budgetlearn import GIFRegressor

X, y = make_friedman1(2300, noise=1.0, random_state=0)
X_train, X_test, y_train, y_test = X[:300], X[300:], y[:300], y[300:]

# %%
# Errors under growing budgets of nodes: the plain forest grows as many trees as fit, boosting as
# many of seven nodes. Ours grows four times the nodes, fits their weights jointly by ridge
# regression and drops the least useful ones, until the budget is kept.
budgets = np.array([100, 300, 1000, 3000])
settings = {"n_estimators": "auto", "joint_fit": "ridge", "prune_factor": 4, "random_state": 0}
full = ExtraTreesRegressor(1, random_state=0).fit(X_train, y_train).estimators_[0].tree_.node_count
errors = {"globally induced forest": [], "extra trees": [], "gradient boosting": []}
for budget in budgets:
    n_trees, leaves = max(1, round(budget / full)), min(300, (budget + 1) // 2)
    models = (
        GIFRegressor(node_budget=budget, **settings),
        ExtraTreesRegressor(n_trees, max_leaf_nodes=leaves, random_state=0),
        GradientBoostingRegressor(n_estimators=budget // 7, max_depth=2, random_state=0),
    )
    for found, model in zip(errors.values(), models, strict=True):
        found.append(mean_squared_error(y_test, model.fit(X_train, y_train).predict(X_test)))

# %%
fig, ax = plt.subplots(layout="constrained")
for marker, (name, found) in zip("os^", errors.items(), strict=True):
    ax.plot(budgets, found, f"{marker}-", label=name)
ax.set(xscale="log", xlabel="number of nodes", ylabel="mean squared error on test data")
_ = ax.legend()
