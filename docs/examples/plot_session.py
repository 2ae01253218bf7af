"""
One question after another
==========================

At a bedside there is no table: a session asks for the next measurement, and says when it is enough.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from budgetlearn import ScheduleCascadeClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :10]
prices = dict(zip(X.columns, np.random.default_rng(0).integers(1, 21, 10), strict=True))
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
settings = {"estimators": "forest", "orders": "gain_per_cost", "random_state": 0}
cascade = ScheduleCascadeClassifier(feature_costs=prices, **settings).fit(X_train, y_train)

# %%
# A session asks until it is sure. Two patients, one easy and one not:
spent = cascade.acquisition_cost(X_test, budget=20)
for row in (spent.argmin(), spent.argmax()):
    patient, session = X_test.iloc[row], cascade.session(budget=20)
    while not session.done:
        name, price, why = session.wanted[0]
        session.give({name: patient[name]})
        print(f"{name} for {price:g}: {patient[name]:.3g}")
    print(f"class {session.prediction} for {session.cost:g}\n")
