"""
Settings for a budget
=====================

The best settings at a small budget are others than at a large one. A scorer that keeps a budget
lets scikit-learn's searches find them.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV

from budgetlearn import FilterForestClassifier, make_budget_scorer

X, y = load_breast_cancer(return_X_y=True)
X, prices = X[:300, :10], np.random.default_rng(0).integers(1, 101, 10)
y = y[:300]

# %%
# How much a price counts when features are ranked: their information over price ** cost_exponent.
model = FilterForestClassifier(feature_costs=prices, n_estimators=10, random_state=0)
for budget in (20, 500):
    scorer = make_budget_scorer("roc_auc", budget=budget)
    search = GridSearchCV(model, {"cost_exponent": [0, 1]}, scoring=scorer, cv=3).fit(X, y)
    print(f"{budget}: {search.best_params_}, AUC {search.best_score_:.3f}")
