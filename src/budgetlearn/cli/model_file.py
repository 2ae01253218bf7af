"""Files of models: one line that says what it is, then a pickle of types that models are made of.

A pickle can name any function there is and have it called. The files that models are read from may
come from others, so this reader knows the types of models and refuses all else, before it is
imported. `docs/security.md` says what this keeps out, and what it cannot.
"""

import gzip
import pickle

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from ..exceptions import BudgetlearnError
from ..files import whole_file

FORMAT = 2
_MAGIC = b"budgetlearn model "
_HEAD = 64  # bytes, of which the first line has fewer

# Where budgetlearn's own classes of models lie; one of them opens files when it is made.
_OWN = {
    *("budgetrf", "cascade", "costs", "curves", "export", "features", "forests", "gif", "msb"),
    *("peers", "preprocessing", "protocol", "sequential", "tree"),
}
_OPENS_FILES = "budgetlearn.msb.subset_scores"
# What other packages may contribute: classes of these kinds and names, and functions that rebuild.
_PACKAGES = {"builtins", "collections", "lightgbm", "numpy", "pandas", "pyarrow", "sklearn"}
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
    },
    "pandas": {
        *("BlockManager", "SingleBlockManager", "_new_Index", "_unpickle_block", "new_block"),
        "__pyx_unpickle_NDArrayBacked",  # of pandas 3: text without pyarrow
    },
    "pyarrow": {"_restore_array", "py_buffer", "type_for_alias"},
    "sklearn": {"Tree"},
}


class ModelFileError(BudgetlearnError):
    """A file that holds no model of the command line."""


class _Reader(pickle.Unpickler):
    """Unpickles what models are made of."""

    def find_class(self, module, name):
        """Return a class or function by its name, if it may be part of a model."""
        package, *rest = module.split(".")
        own = package == "budgetlearn" and rest and rest[0] in _OWN and module != _OPENS_FILES
        if "." not in name and "__main__" not in rest and (own or package in _PACKAGES):
            found = super().find_class(module, name)
            home = str(getattr(found, "__module__", None))
            mine = own and isinstance(found, type) and home.split(".")[0] == package
            if mine and home != _OPENS_FILES:
                return found
            if not own and (name in _NAMES.get(package, ()) or _is_kind(found)):
                return found
        raise ModelFileError(
            f"it holds {module}.{name}, which no model of budgetlearn, scikit-learn or LightGBM is "
            "made of. Reading it would run that code: only if you know it, add --trust"
        )


def _is_kind(found):
    return isinstance(found, type) and issubclass(found, _KINDS)


def write_model(content, path):
    """Write plain data about a model; the file appears whole or not at all.

    Parameters
    ----------
    content : dict
        What to keep.
    path : path-like
        The file.
    """
    with whole_file(path, through_links=True) as partial, partial.open("wb") as file:
        file.write(_MAGIC + f"{FORMAT}\n".encode())
        with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=3, mtime=0) as packed:
            pickle.dump(content, packed, protocol=5)


def read_model(path, trust=False):
    """Return what `write_model` was given.

    Parameters
    ----------
    path : path-like
        The file.
    trust : bool, default=False
        Whether classes of any origin are taken, whose code then runs.

    Returns
    -------
    dict

    Raises
    ------
    ModelFileError
        When it is no such file, one of another format, or holds what no model is made of.
    """
    with open(path, "rb") as file:
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
                return (pickle.Unpickler if trust else _Reader)(packed).load()
        except ModelFileError as error:
            raise ModelFileError(f"{path} is not read: {error}.") from error
        except Exception as error:
            raise ModelFileError(
                f"{path} is not a model that `budgetlearn fit` wrote, or is damaged "
                f"({type(error).__name__})."
            ) from error
