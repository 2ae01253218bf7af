"""A fitted model with all that a prediction on a new table needs, as one file."""

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pandas as pd

from .. import __version__
from ..costs import FeatureCosts
from ..preprocessing.preprocessor import BudgetPreprocessor
from .model_file import ModelFileError, read_model, write_model


@dataclass(eq=False)
class SavedModel:
    """A model and where it comes from.

    Attributes
    ----------
    preprocessor : BudgetPreprocessor
        From the table's columns to the model's.
    model : BudgetedEstimator
        Fitted.
    method : str
        Its name on the command line.
    curve : DataFrame
        One row for each operating point: cost, score, score_se, n_features and variables (original
        names) on validation data; test_cost, test_score and test_score_se where rows were held out.
    target, task, table : str
        What is predicted, whether classes or numbers, and the file it was learned from.
    costs : FeatureCosts
        Prices of the original columns.
    n_rows : tuple of int
        Rows to train, to validate, held out.
    n_drawn_from : int or None
        Rows of the table, where these were drawn at random from more.
    budget : float or None
        What a prediction may cost on average where the call names no budget.
    version : str
        Of budgetlearn.
    """

    preprocessor: BudgetPreprocessor
    model: Any
    method: str
    curve: pd.DataFrame
    target: str
    task: str
    table: str
    costs: FeatureCosts
    n_rows: tuple
    n_drawn_from: int | None = None
    budget: float | None = None
    version: str = field(default=__version__)

    @property
    def score_name(self):
        """What the scores are."""
        return "accuracy" if self.task == "classification" else "R²"

    def stage(self, budget=None):
        """Return the index of the operating point for a budget, by default the model's own."""
        budget = self.budget if budget is None else budget
        return self.model._chosen(budget, None, False)

    def steps(self):
        """Return the rows of the curve that pay off: each better than all that cost less."""
        order = self.curve.sort_values(["cost", "score"], ascending=[True, False], kind="stable")
        best = order["score"].cummax().shift(fill_value=-np.inf)
        return order[order["score"] > best]

    def save(self, path):
        """Write the model; the file appears whole or not at all."""
        write_model({f.name: getattr(self, f.name) for f in fields(self)}, path)

    @classmethod
    def load(cls, path, trust=False):
        """Read what `save` wrote; with `trust` classes of any origin, which run code."""
        content = read_model(path, trust)
        if not isinstance(content, dict) or content.keys() != {f.name for f in fields(cls)}:
            raise ModelFileError(f"{path} is not a model that `budgetlearn fit` wrote.")
        return cls(**content)
