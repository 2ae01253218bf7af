"""
What to buy
===========

No single method is best for every table and budget. `AutoBudgetClassifier` compares several out of
fold, and offers a row of its schedule only where it is better than all that costs less.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from budgetlearn import AutoBudgetClassifier

X, y = load_wine(return_X_y=True, as_frame=True)
prices = dict(zip(X.columns, np.random.default_rng(0).integers(1, 101, 13), strict=True))
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

# %%
# Two seconds are enough for the fast methods; without `max_minutes` it takes ten minutes at most.
auto = AutoBudgetClassifier(feature_costs=prices, max_minutes=1 / 30, random_state=0)
points = auto.fit(X_train, y_train).operating_points_
print(points[["cost", "cost_se", "score", "score_se", "setting"]].round(2))

# %%
# What was promised out of fold, and what came of it on test data.
found = auto.measure(X_test, y_test)
fig, ax = plt.subplots(layout="constrained")
for made, label in ((points, "quoted"), (found, "on test data")):
    ax.errorbar(made["cost"], made["score"], made["score_se"], made["cost_se"], "o-", label=label)
ax.set(xlabel="mean cost", ylabel="accuracy")
_ = ax.legend()
