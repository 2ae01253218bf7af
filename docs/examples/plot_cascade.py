"""
Stop buying when sure
=====================

The cascade buys the features of a schedule stage by stage and stops for each example as soon as it
is sure. Easy examples leave early; what they save is spent on the hard ones.
"""

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from budgetlearn import (
    CostAccuracyDisplay,
    ModelScheduleSearch,
    ScheduleCascadeClassifier,
)

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
prices = dict(zip(X.columns, np.random.default_rng(1).integers(1, 101, 30), strict=True))
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=1)
settings = {"feature_costs": prices, "random_state": 0}
# Forests alone: the default mixes them with boosting and smooth models, which takes a minute here.
cascade = ScheduleCascadeClassifier(estimators="forest", n_stages=6, **settings).fit(
    X_train, y_train
)
search = ModelScheduleSearch(**settings).fit(X_train, y_train)

# %%
# Both against cost, on test data.
display = CostAccuracyDisplay.from_estimator(search, X_test, y_test, name="msB")
_ = CostAccuracyDisplay.from_estimator(cascade, X_test, y_test, name="cascade", ax=display.ax_)

# %%
# Not every example buys the same: the share of examples that buys each feature.
bought = pd.Series(cascade.acquired_features(X_test, budget=100).mean(axis=0), X.columns)
_ = bought[bought > 0].sort_values().plot.barh()

# %%
# One example, purchase by purchase.
cascade.explain(X_test[:1], budget=100)
