"""A study of the user's own table: its files, so that it can be run again and edited."""

import re
from pathlib import Path

import numpy as np

import budgetlearn

from .._extras import extra
from .._files import read_yaml, whole_file
from ..exceptions import ConfigError
from ..price_lists import read_prices
from .own_table import REGRESSION, read_own_table

CLASSIFIERS = (
    *("msb", "logitb", "rfb", "budgetrf_plus", "cascade", "cost_sensitive_rf_ffs"),
    *("lightgbm_coupled", "filter_forest", "all_features"),
)
REGRESSORS = ("budgetrf_regressor", "cascade_regressor")
CONTROL = "constant"  # every area under a curve starts from it
STUDY, REGISTRY, PRICES = "study.yaml", "datasets.yaml", "prices.csv"
SHARES = {"train": 0.6, "valid": 0.2, "test": 0.2}
# The options that describe a table, as the entry of a data set calls them.
SOURCE = ("target", "drop", "missing", "categorical", "separator", "decimal", "na")


def folders():
    """Return the folder of the workflow, and the one that its results go to.

    In the project's folder, or below it, it is both. Elsewhere the workflow is the installed one,
    or that of the clone that an editable installation points to, and results go to the current
    folder.

    Returns
    -------
    workflow, results : Path

    Raises
    ------
    ConfigError
        Where there is no workflow.
    """
    here, package = Path.cwd(), Path(budgetlearn.__file__).resolve().parent
    for folder in (here, *here.parents):
        if _has_workflow(folder):
            return folder, folder
    for folder in (package / "_project", package.parents[1]):
        if _has_workflow(folder):
            return folder, here
    raise ConfigError(
        f"{package} is without its workflow, which compare and recommend run: install budgetlearn "
        "anew (pip install --force-reinstall 'budgetlearn[workflow]'), or work in the project's "
        "folder."
    )


def _has_workflow(folder):
    return (folder / "Snakefile").is_file() and (folder / "workflow" / "rules").is_dir()


def identifier(path):
    """Return the name of a file as the id of a data set."""
    name = re.sub(r"[^a-z0-9]+", "_", Path(path).stem.lower()).strip("_")
    return name if name[:1].isalpha() else f"table_{name}".rstrip("_")


def write_study(own, path, name, options, folder, **settings):
    """Write the configuration, the registry and the price list of a study of one table.

    Parameters
    ----------
    own : OwnTable
        The table, checked.
    path : path-like
        Its file.
    name : str
        The study's.
    options : dict
        The command line's: of the table, methods, max_rows, and whether there are costs.
    folder : Path
        Where to write.
    **settings
        Of the study: runs, time_limit, seed, threads.

    Returns
    -------
    Path
        The configuration file.
    """
    regression = own.task == REGRESSION
    entry = {
        "title": own.name,
        "task": own.task,
        "source": {"csv": str(Path(path).resolve()), **_given(options)},
    }
    if options["costs"]:
        _write_prices(own, options["costs"], folder / PRICES)
        entry["costs"] = str((folder / PRICES).resolve())
    methods = options["methods"] or (REGRESSORS if regression else CLASSIFIERS)
    study = {
        "study": name,
        "title": f"{own.name} under a budget",
        "datasets": [identifier(path)],
        "datasets_file": str((folder / REGISTRY).resolve()),
        "costs": ["given" if options["costs"] else "unit"],
        "methods": list(dict.fromkeys((*methods, CONTROL))),
        "split": _split(len(own.y), options["max_rows"]),
        **settings,
    }
    if regression:
        study["overrides"] = {CONTROL: {"class": "budgetlearn.peers.FreeConstantRegressor"}}
    _write_yaml({"datasets": {identifier(path): entry}}, folder / REGISTRY)
    _write_yaml(study, folder / STUDY)
    return folder / STUDY


def _given(options):
    """Return what of the table's options differs from the default of a data set's entry."""
    values = {key: options[key] for key in SOURCE}
    values = {key: list(v) if isinstance(v, tuple) else v for key, v in values.items()}
    return {key: value for key, value in values.items() if value}


def _split(n_rows, most):
    if n_rows <= most:
        return dict(SHARES)
    return {part: int(share * most) for part, share in SHARES.items()}


def _write_prices(own, source, path):
    """Write the prices of the table's columns, those of columns left out are not wanted."""
    prices = read_prices(source)
    with whole_file(path) as partial:
        prices[prices["feature"].isin(own.costs.names)].to_csv(partial, index=False)


def _write_yaml(content, path):
    with extra("workflow", "budgetlearn compare"):
        import yaml
    with whole_file(path) as partial:
        text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
        partial.write_text(text, encoding="utf-8")


def checked_study(path, root):
    """Return the `Study` of a configuration file, laid over the workflow's own.

    Parameters
    ----------
    path : Path
        The file.
    root : Path
        The folder of the workflow.

    Returns
    -------
    Study

    Raises
    ------
    ConfigError
        When it names methods that are not there, or that cannot do the task.
    """
    with extra("workflow", "the comparison of methods"):
        from ..benchmark.checking import merged
        from ..benchmark.study import Study
    return Study.from_config(merged(read_yaml(root / "config/config.yaml"), read_yaml(path)), root)


def refuse_rare_classes(own, study):
    """Raise `DatasetError` where a class has too few rows to be in every part of a run.

    Parameters
    ----------
    own : OwnTable
        The table.
    study : Study
        Its study.
    """
    with extra("workflow", "the comparison of methods"):
        from ..datasets import split
    target = target_of(own, study)
    split(target, 0, study.sizes(target.id))


def target_of(own, study):
    """Return a table's target as a `Dataset` without features: a split asks for no more.

    Parameters
    ----------
    own : OwnTable
        The table.
    study : Study
        Its study.

    Returns
    -------
    Dataset
    """
    from ..datasets import Dataset

    (name,) = study.datasets
    words, y = np.unique(own.y, return_inverse=True)
    words, y = ((), own.y) if own.task == REGRESSION else (words.tolist(), y)
    return Dataset(name, own.name, own.task, np.zeros((len(y), 1)), y, ("any",), words)


def read_study(folder, root):
    """Return the `Study` that `budgetlearn compare` wrote to a folder, and its table.

    Parameters
    ----------
    folder : Path
        ``results/<name>``.
    root : Path
        The folder of the workflow.

    Returns
    -------
    study : Study
    own : OwnTable
    preprocessor : dict
        Parameters of `BudgetPreprocessor`.
    """
    if not (folder / STUDY).is_file():
        raise ConfigError(
            f"{folder} has no {STUDY}: recommend wants a folder that `budgetlearn compare` wrote."
        )
    study = checked_study(folder / STUDY, root)
    (spec,) = study.datasets.values()
    source = dict(spec.parameters)
    options = {key: source.get(key) for key in ("separator", "na")}
    own = read_own_table(
        source["path"],
        source["target"],
        spec.costs,
        source.get("drop", ()),
        spec.task,
        decimal=source.get("decimal", "."),
        **options,
    )
    kept = {key: source[key] for key in ("missing", "categorical") if key in source}
    return study, own, kept
