"""Use an installed budgetlearn, library and command line, in a folder with no copy of it."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

sys.path[:] = [path for path in sys.path if path not in ("", str(Path(__file__).parent))]
os.chdir(tempfile.mkdtemp())


def classes():
    """Fit some estimators."""
    import budgetlearn

    X, y = load_wine(return_X_y=True, as_frame=True)
    prices = dict(zip(X.columns, range(1, 14), strict=True))
    for name, more in {
        "ModelScheduleSearch": {},
        "BudgetRFClassifier": {"n_estimators": 5},
        "FMCCClassifier": {},
        "ScheduleCascadeClassifier": {},
    }.items():
        model = getattr(budgetlearn, name)(feature_costs=prices, random_state=0, **more)
        right = model.fit(X, y).score(X, y)
        assert right > 0.8, f"{name}: {right:.2f} of the training data"
        print(f"{name}: {right:.2f}, {model.acquisition_cost(X).mean():.1f}")
    print(f"budgetlearn {budgetlearn.__version__} in {Path(budgetlearn.__file__).parent} works")


def command_line():
    """Fit, predict and ask on a table with words and gaps."""
    random = np.random.default_rng(0)
    table = pd.DataFrame({"age": random.normal(50, 15, 300), "noise": random.normal(size=300)})
    table["smoker"] = random.choice(["yes", "no"], 300)
    table["ill"] = np.where((table["age"] > 50) & (table["smoker"] == "yes"), "yes", "no")
    table.loc[::20, "age"] = np.nan
    table.to_csv("table.csv", index=False)
    Path("prices.csv").write_text("feature,cost\nage,1\nnoise,2\nsmoker,3\n")
    program = Path(sys.executable).with_name("budgetlearn")
    for words in (
        "fit table.csv --target ill --costs prices.csv --budget 4 --out m.joblib --report m.html",
        "predict m.joblib table.csv --out out.csv",
        "ask m.joblib --json",
    ):
        answers = '{"value": 60}\n{"value": "yes"}\n{"value": null}\n'
        subprocess.run([program, *words.split()], input=answers, text=True, check=True)
    right = (pd.read_csv("out.csv")["ill"] == table["ill"]).mean()
    assert right > 0.8, f"the command line: {right:.2f} of the training data"


classes()
command_line()
