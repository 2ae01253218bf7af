"""A study of the user's own table: its files, so that it can be run again and edited."""

import re
from pathlib import Path

import pandas as pd

import budgetlearn

from .._extras import extra
from .._files import read_yaml, whole_file
from ..exceptions import ConfigError
from .own_table import REGRESSION, read_own_table

CLASSIFIERS = (
    *("msb", "logitb", "rfb", "budgetrf", "cascade", "cost_sensitive_rf_ffs", "lightgbm_coupled"),
    *("filter_forest", "all_features", "constant"),
)
REGRESSORS = ("cascade_regressor", "constant")
STUDY, REGISTRY, PRICES = "study.yaml", "datasets.yaml", "prices.csv"
SHARES = {"train": 0.6, "valid": 0.2, "test": 0.2}
# The options that describe a table, as the entry of a data set calls them.
SOURCE = ("target", "drop", "missing", "categorical", "separator", "decimal", "na")


def project_root():
    """Return the project's folder: the one at work in or below, else that of the package.

    Raises
    ------
    ConfigError
        Where there is none: the workflow is not part of the installed package.
    """
    here = Path.cwd()
    for folder in (here, *here.parents, Path(budgetlearn.__file__).resolve().parents[2]):
        if (folder / "Snakefile").is_file() and (folder / "workflow" / "rules").is_dir():
            return folder
    raise ConfigError(
        "compare and recommend need the project's folder, with its Snakefile: clone the project "
        "and run this inside it."
    )


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
        _write_prices(own, folder / PRICES)
        entry["costs"] = str((folder / PRICES).resolve())
    study = {
        "study": name,
        "title": f"{own.name} under a budget",
        "datasets": [identifier(path)],
        "datasets_file": str((folder / REGISTRY).resolve()),
        "costs": ["given" if options["costs"] else "unit"],
        "methods": list(options["methods"] or (REGRESSORS if regression else CLASSIFIERS)),
        "split": _split(len(own.y), options["max_rows"]),
        **settings,
    }
    if regression:
        study["overrides"] = {"constant": {"class": "budgetlearn.peers.FreeConstantRegressor"}}
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


def _write_prices(own, path):
    costs, rows = own.costs, []
    for place, name in enumerate(costs.names):
        group = -1 if costs.groups is None else int(costs.groups[place])
        shared = (f"group {group + 1}", costs.group_costs[group]) if group >= 0 else ("", "")
        rows.append((name, costs.costs[place], *shared))
    columns = ["feature", "cost", "group", "group_cost"]
    with whole_file(path) as partial:
        pd.DataFrame(rows, columns=columns).to_csv(partial, index=False)


def _write_yaml(content, path):
    with extra("workflow", "budgetlearn compare"):
        import yaml
    with whole_file(path) as partial:
        text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
        partial.write_text(text, encoding="utf-8")


def read_study(folder, root):
    """Return the `Study` that `budgetlearn compare` wrote to a folder, and its table.

    Parameters
    ----------
    folder : Path
        ``results/<name>``.
    root : Path
        The project's folder.

    Returns
    -------
    study : Study
    own : OwnTable
    preprocessor : dict
        Parameters of `BudgetPreprocessor`.
    """
    with extra("workflow", "budgetlearn recommend"):
        from ..benchmark.checking import merged
        from ..benchmark.study import Study
    if not (folder / STUDY).is_file():
        raise ConfigError(
            f"{folder} has no {STUDY}: recommend wants a folder that `budgetlearn compare` wrote."
        )
    config = merged(read_yaml(root / "config/config.yaml"), read_yaml(folder / STUDY))
    study = Study.from_config(config, root)
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
