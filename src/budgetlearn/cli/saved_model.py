"""A fitted model in one file, with everything that predictions on new tables need.

The file is a line with the format, followed by a pickle. A pickle can call any function, so this
reader imports only the types of models; `docs/security.md` explains what this prevents.
"""

import gzip
import pickle
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from .. import __version__
from ..costs import FeatureCosts
from ..curves import pareto_indices
from ..exceptions import BudgetlearnError
from ..files import whole_file
from ..preprocessing.preprocessor import BudgetPreprocessor
from ..protocol import Certificate
from .output import least

FORMAT = 7
_MAGIC = b"budgetlearn model "
_HEAD = 64  # bytes; the first line is shorter

# Parts of budgetlearn that have classes of models; one class opens files when it is created.
_OWN = {
    *("auto", "budgetrf", "cascade", "costs", "curves", "export", "forests", "gif"),
    *("msb", "peers", "preprocessing", "protocol", "sequential", "tree"),
}
_OPENS_FILES = "budgetlearn.msb.exhaustive"
# Allowed from other packages: classes of these kinds and names, and functions that rebuild them.
_KINDS = (
    *(BaseEstimator, np.generic, np.dtype, np.random.BitGenerator),
    *(pd.DataFrame, pd.Series, pd.Index, pd.api.extensions.ExtensionArray),
    pd.api.extensions.ExtensionDtype,
)
_NAMES = {
    "builtins": {"bytearray", "complex", "frozenset", "range", "set", "slice"},
    "collections": {"OrderedDict", "defaultdict"},
    "lightgbm": {"Booster"},
    "numpy": {
        *("ndarray", "RandomState", "Generator", "_frombuffer", "_reconstruct", "scalar"),
        *("__bit_generator_ctor", "__generator_ctor", "__randomstate_ctor"),
        *("SeedSequence", "__pyx_unpickle_SeedSequence"),
    },
    "pandas": {
        *("BlockManager", "SingleBlockManager", "_new_Index", "_unpickle_block", "new_block"),
        "__pyx_unpickle_NDArrayBacked",  # of pandas 3: text without pyarrow
    },
    "pyarrow": {"_restore_array", "py_buffer", "type_for_alias"},
    "sklearn": {
        "Tree",
        # Parts of boosted trees: trees, losses and links.
        *("TreePredictor", "Interval", "IdentityLink", "LogitLink", "MultinomialLogit"),
        *("HalfBinomialLoss", "HalfMultinomialLoss", "HalfSquaredError"),
        *("CyHalfBinomialLoss", "CyHalfMultinomialLoss", "CyHalfSquaredError"),
        "__pyx_unpickle_CyHalfMultinomialLoss",
    },
}


@dataclass(eq=False)
class SavedModel:
    """A model and its origin."""

    preprocessor: BudgetPreprocessor  # from the table's columns to the model's
    model: Any  # fitted
    method: str  # as the command line names it
    # A row for each operating point: cost, score, score_se, n_features, variables (original names)
    # on validation data; test_cost, test_cost_se, test_score, test_score_se and test_cost_sd (of
    # single rows) on held-out rows.
    curve: pd.DataFrame
    free: dict  # the free constant: its value "says", and its scores as in the curve
    target: str
    task: str
    table: str  # the file that it was trained on
    costs: FeatureCosts  # of the original columns
    n_rows: tuple  # to train, to validate, held out, to calibrate a guarantee
    n_drawn_from: int | None = None  # rows of the table, if `n_rows` were drawn from them
    budget: float | None = None  # mean cost to keep if a call names no budget
    certificate: Certificate | None = None  # the guarantee that the budget is kept
    reading: dict = field(default_factory=dict)  # as of an `OwnTable`
    held_out: dict = field(default_factory=dict)  # what `fit.seen` returned
    version: str = field(default=__version__)

    @property
    def score_name(self):
        """Name of the score."""
        default = "accuracy" if self.task == "classification" else "R²"
        return getattr(self.model, "score_name_", default)

    def stage(self, budget=None):
        """Return the index of the operating point for a budget, by default the model's own."""
        return self.model.choose(self.limit(budget))

    def limit(self, budget=None, max_cost=None):
        """Return the mean cost on validation data that a budget (by default its own) allows."""
        # Without a budget, it is that of the schedule's last line. A guaranteed budget allows less.
        budget = self.budget if budget is None else budget
        if budget is None and "method" not in self.curve:  # `auto` has a recommendation
            # With `max_cost` the model chooses by itself, unless by a stage that was not measured.
            itself = max_cost is not None and self.model.choose(None, max_cost) in self.curve.index
            budget = None if itself else float(self.steps()["cost"].iloc[-1])
        guaranteed = self.certificate is not None and budget == self.certificate.cost
        return self.certificate.budget if guaranteed else budget

    def expected_cost(self, stage, n_rows):
        """Return the expected mean cost of new rows at a stage, and two standard errors of it."""
        row = self.curve.loc[stage]
        mean, error = row["test_cost"], row["test_cost_se"]
        if row["cost_se"] > 0 and error > 0:
            # Two independent measurements, each weighed by the inverse of its variance.
            quoted = error**2 / (error**2 + row["cost_se"] ** 2)
            mean = quoted * row["cost"] + (1 - quoted) * mean
            error = np.sqrt(quoted) * row["cost_se"]
        # The variances of the expected mean and of the new rows' mean add up.
        error = np.hypot(error, row["test_cost_sd"] / np.sqrt(n_rows))
        return float(mean), 2 * float(error)

    def steps(self, also=None):
        """Return the rows of the curve that score more than all cheaper ones, and row `also`."""
        curve = self.curve
        front = curve["cost"].iloc[pareto_indices(curve["cost"], curve["score"])]
        # Of rows with the same price as shown, a budget of that price buys the last.
        kept = curve.index.isin([*front[~front.map(least).duplicated(keep="last")].index, also])
        # The schedule of `auto` ends with a model on all features, even if it does not pay off.
        steps = curve[kept | curve.get("everything", False)]
        return steps.sort_values(["cost", "score"], ascending=[True, False], kind="stable")

    def save(self, path):
        """Write the model; the file appears whole or not at all."""
        with whole_file(path, through_links=True) as partial, partial.open("wb") as file:
            file.write(_MAGIC + f"{FORMAT}\n".encode())
            # mtime=0: the same model gives the same bytes.
            with gzip.GzipFile("", "wb", 3, file, mtime=0) as packed:
                pickle.dump(vars(self), packed, protocol=5)

    @classmethod
    def load(cls, path, trust=False):
        """Read a file that `save` wrote; with `trust`, allow any class, whose code then runs."""
        content = read_model(path, trust)
        if not isinstance(content, dict) or content.keys() != {f.name for f in fields(cls)}:
            raise ModelFileError(f"{path} is not a model that `budgetlearn fit` wrote.")
        return cls(**content)


class ModelFileError(BudgetlearnError):
    """A file does not hold a model of the command line."""


class _Reader(pickle.Unpickler):
    """Unpickler that allows only what models are made of."""

    def find_class(self, module, name):
        """Return a class or function by its name, if it may be part of a model."""
        # scikit-learn before 1.9 names its losses by a module that only it can import.
        module = "sklearn._loss._loss" if module == "_loss" else module
        # Decided by name before anything is imported: importing runs code.
        package, *rest = module.split(".")
        own = package == "budgetlearn" and rest and rest[0] in _OWN and module != _OPENS_FILES
        if "." not in name and "__main__" not in rest and (own or package in _NAMES):
            found = super().find_class(module, name)
            home = str(getattr(found, "__module__", None))
            # Classes only: a function of ours could be called with the file's arguments.
            mine = own and isinstance(found, type) and home.split(".")[0] == package
            if mine and home != _OPENS_FILES:
                return found
            is_kind = isinstance(found, type) and issubclass(found, _KINDS)
            if not own and (name in _NAMES.get(package, ()) or is_kind):
                return found
        raise ModelFileError(
            f"it holds {module}.{name}, which is not part of any model of budgetlearn, "
            "scikit-learn or LightGBM. Reading it would run that code: if you trust it, add --trust"
        )


def read_model(path, trust=False):
    """Return the content of a file of `SavedModel.save`; with `trust`, run code that it names."""
    with open(path, "rb") as file:
        # Bounded, as it may be any file, even one without line ends.
        first = file.readline(_HEAD)
        number = first.removeprefix(_MAGIC).strip()
        if not first.startswith(_MAGIC) or not number.isdigit():
            raise ModelFileError(f"{path} is not a model that `budgetlearn fit` wrote.")
        if int(number) != FORMAT:
            todo = "install a newer budgetlearn" if int(number) > FORMAT else "fit the model again"
            raise ModelFileError(
                f"{path} has format {int(number)}, this version reads {FORMAT}: {todo}."
            )
        try:
            with gzip.GzipFile(fileobj=file, mode="rb") as packed:
                reader = pickle.Unpickler if trust else _Reader
                return reader(packed).load()
        except ModelFileError as error:
            raise ModelFileError(f"{path} was not read: {error}.") from error
        except Exception as error:
            what = f"{path} is not a model that `budgetlearn fit` wrote, or is damaged"
            raise ModelFileError(f"{what} ({type(error).__name__}).") from error
