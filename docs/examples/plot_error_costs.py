"""
What an error costs
===================

Where errors have a price in the unit of the features, what is to be small is the sum: purchases and
errors together. The more expensive an error, the more is worth buying.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from budgetlearn import AutoBudgetClassifier

X, y = load_breast_cancer(return_X_y=True)
X, prices = X[:, :10], np.random.default_rng(0).integers(1, 6, 10)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

# %%
# Class 0 is malignant: to miss one costs ten times as much as a false alarm.
scales, costs = [10, 300], []
for scale in scales:
    errors = {(0, 1): 10 * scale, (1, 0): scale}
    auto = AutoBudgetClassifier(
        feature_costs=prices, error_costs=errors, max_minutes=1 / 60, random_state=0
    ).fit(X_train, y_train)
    bought = auto.acquisition_cost(X_test).mean()
    costs.append((bought, -auto.score(X_test, y_test) - bought))
    missed = np.sum((auto.predict(X_test) == 1) & (y_test == 0))
    print(
        f"a false alarm costs {scale}: {bought:.1f} is spent, {missed} of {sum(y_test == 0)} missed"
    )

# %%
fig, ax = plt.subplots(layout="constrained")
purchases, errors = np.transpose(costs)
ax.bar([str(scale) for scale in scales], purchases, label="purchases")
ax.bar([str(scale) for scale in scales], errors, bottom=purchases, label="errors")
ax.set(xlabel="cost of a false alarm", ylabel="cost per example")
_ = ax.legend()
