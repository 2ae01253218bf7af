"""
A budget that surely holds
==========================

A mean cost on some examples is an estimate. `budget_mode="guaranteed"` takes only operating points
that keep the budget with high confidence, and `certify` tests limits of cost and error on data of
their own.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from budgetlearn import BudgetRFClassifier

X, y = load_breast_cancer(return_X_y=True)
prices = np.random.default_rng(0).integers(1, 21, 30)
X_fit, X_rest, y_fit, y_rest = train_test_split(X, y, stratify=y, test_size=0.6, random_state=0)
X_cal, X_test, y_cal, y_test = train_test_split(
    X_rest, y_rest, stratify=y_rest, test_size=0.4, random_state=0
)
X_train, X_valid, y_train, y_valid = train_test_split(
    X_fit, y_fit, stratify=y_fit, test_size=0.5, random_state=0
)
forest = BudgetRFClassifier(feature_costs=prices, n_estimators=20, random_state=0)
forest.fit(X_train, y_train, X_valid, y_valid)

# %%
# The operating points of the forest: what each costs on average.
print(forest.operating_points_[["cost", "score"]].round(3))

# %%
# An error rate of at most 15 %, with 95 % confidence:
certificate = forest.certify(X_cal, y_cal, error=0.15)
wrong = np.mean(forest.predict(X_test, budget=certificate.budget) != y_test)
print(f"budget {certificate.budget:.1f}: error rate {wrong:.3f} on test data")
