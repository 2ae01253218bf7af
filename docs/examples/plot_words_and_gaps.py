"""
Words, gaps and prices by column
================================

A table as it comes: words among the numbers, and empty cells. `BudgetPreprocessor` encodes it, and
prices stay those of the original columns.
"""

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from budgetlearn import BudgetPipeline, BudgetPreprocessor, FilterForestClassifier

random = np.random.default_rng(0)
n = 600
table = pd.DataFrame(
    {
        "age": random.integers(20, 90, n),
        "smoker": random.choice(["no", "once", "yes"], n),
        "pressure": random.normal(130, 15, n),
        "glucose": random.normal(100, 20, n),
    }
)
risk = (table["age"] - 55) / 15 + (table["smoker"] == "yes") + (table["glucose"] - 100) / 10
ill = np.where(risk + random.normal(size=n) > 0.5, "ill", "well")
table.loc[random.random(n) < 0.1, "glucose"] = np.nan

# %%
# Each column is paid for once, in the unit of its price.
prices = {"age": 1, "smoker": 1, "pressure": 4, "glucose": 20}
X_train, X_test, y_train, y_test = train_test_split(table, ill, random_state=0)
pipeline = BudgetPipeline(
    [
        ("encode", BudgetPreprocessor()),
        ("model", FilterForestClassifier(feature_costs=prices, random_state=0)),
    ]
).fit(X_train, y_train)
for budget in (2, 26):
    spent = pipeline.acquisition_cost(X_test, budget=budget).mean()
    right = np.mean(pipeline.predict(X_test, budget=budget) == y_test)
    print(f"{budget}: costs {spent:.1f}, accuracy {right:.3f}")
