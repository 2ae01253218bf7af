"""A fitted model with all that a prediction on a new table needs, as one file."""

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pandas as pd

from .. import __version__
from ..costs import FeatureCosts
from ..preprocessing.preprocessor import BudgetPreprocessor
from ..protocol.guarantees import Certificate
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
        names) on validation data; test_cost, test_cost_sd (between rows), test_score and
        test_score_se on rows that the model has not seen.
    free : dict
        What buys nothing: "says", the constant, and its scores as in the curve.
    target, task, table : str
        What is predicted, whether classes or numbers, and the file it was learned from.
    costs : FeatureCosts
        Prices of the original columns.
    n_rows : tuple of int
        Rows to train, to validate, held out, and to calibrate a guarantee.
    n_drawn_from : int or None
        Rows of the table, where these were drawn at random from more.
    budget : float or None
        What a prediction may cost on average where the call names no budget.
    certificate : Certificate or None
        The guarantee that this budget is kept, where one was asked for.
    reading : dict
        How the table's cells were written: decimal and na, as options name them.
    version : str
        Of budgetlearn.
    """

    preprocessor: BudgetPreprocessor
    model: Any
    method: str
    curve: pd.DataFrame
    free: dict
    target: str
    task: str
    table: str
    costs: FeatureCosts
    n_rows: tuple
    n_drawn_from: int | None = None
    budget: float | None = None
    certificate: Certificate | None = None
    reading: dict = field(default_factory=dict)
    version: str = field(default=__version__)

    @property
    def score_name(self):
        """What the scores are."""
        return "accuracy" if self.task == "classification" else "R²"

    def stage(self, budget=None):
        """Return the index of the operating point for a budget, by default the model's own."""
        return self.model.choose(self.limit(budget))

    def limit(self, budget=None):
        """Return the mean cost on validation data that a budget allows.

        That is the budget, by default the model's own; a guaranteed one keeps a distance.
        """
        budget = self.budget if budget is None else budget
        guaranteed = self.certificate is not None and budget == self.certificate.cost
        return self.certificate.budget if guaranteed else budget

    def expected_cost(self, stage, n_rows):
        """Return what new rows cost on average, and two standard errors of it.

        Parameters
        ----------
        stage : int
            Index of the operating point.
        n_rows : int
            How many new rows.

        Returns
        -------
        tuple of float
        """
        row, n_held_out = self.curve.loc[stage], self.n_rows[2]
        error = row["test_cost_sd"] * np.sqrt(1 / n_held_out + 1 / n_rows)
        return float(row["test_cost"]), 2 * float(error)

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
