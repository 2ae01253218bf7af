"""`budgetlearn compare` and `recommend`: a study of your own table, and its files."""

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import click
import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

import budgetlearn

from ..auto import recommend_for_bytes
from ..auto.evidence import TOO_LONG
from ..costs import affords, too_small
from ..exceptions import ConfigError, extra
from ..files import InMemory, read_yaml, write_whole
from ..preprocessing.preprocessor import BudgetPreprocessor
from ..protocol.scoring import SCORES, scores_of
from ..validation import in_row
from . import options
from .fit import AUTO, fit_table, make, sampled
from .output import in_words, money, print_schedule
from .table import CLASSIFICATION, REGRESSION, read_own_table, table_of

CLASSIFIERS = (
    *("msb", "logitb", "rfb", "budgetrf_plus", "cascade", "cost_sensitive_rf_ffs"),
    *("lightgbm_coupled", "filter_forest", "all_features"),
)
REGRESSORS = ("budgetrf", "cascade", "lightgbm_coupled", "all_features")  # with "_regressor"
CONTROL = "constant"  # areas under curves start from it
STUDY, REGISTRY, LOCK = "study.yaml", "datasets.yaml", ".lock"
SHARES = {"train": 0.6, "valid": 0.2, "test": 0.2}
# Options that describe a table, with the same names as in a data set's entry.
SOURCE = ("target", "drop", "group", "missing", "categorical", "dates")
SOURCE += ("separator", "decimal", "na")


def folders():
    """Return the folders of the workflow and of its results: the same one, if we are inside it."""
    # The nearest workflow is used, so that a clone takes precedence over the installed one.
    here, package = Path.cwd(), Path(budgetlearn.__file__).resolve().parent
    above = (here, *here.parents)
    for folder in (*above, package / "_project", package.parents[1]):
        if (folder / "Snakefile").is_file() and (folder / "workflow" / "rules").is_dir():
            return folder, folder if folder in above else here
    raise ConfigError(
        f"{package} lacks the workflow that compare and recommend run: reinstall it (pip "
        "install --force-reinstall 'budgetlearn[workflow]'), or work in the project's folder."
    )


def identifier(path):
    """Return the name of a file as the id of a data set."""
    name = re.sub(r"[^a-z0-9]+", "_", Path(path).stem.lower()).strip("_")
    # YAML reads some words as other values.
    plain = name[:1].isalpha() and name not in ("yes", "no", "on", "off", "true", "false", "null")
    return name if plain else f"table_{name}".rstrip("_")


def study_files(own, path, name, options, folder, **settings):
    """Return the files of a study of one table as {name: content}."""
    regression = own.task == REGRESSION
    if options["scoring"]:
        settings["scoring"] = options["scoring"]
    given = {k: list(v) if isinstance(v, tuple) else v for k in SOURCE if (v := options.get(k))}
    entry = {"title": own.name, "task": own.task, "source": {"csv": os.path.abspath(path)} | given}
    if options["costs"]:
        entry["costs"] = os.path.abspath(options["costs"])
    methods = options["methods"] or (REGRESSORS if regression else CLASSIFIERS)
    if regression:
        methods = [f"{name}_regressor" if name in REGRESSORS else name for name in methods]
    most, shares = options["max_rows"], dict(SHARES)
    study = {
        "study": name,
        "title": f"{own.name} under a budget",
        "datasets": [identifier(path)],
        # Absolute: the study may be run from another folder.
        "datasets_file": str((folder / REGISTRY).absolute()),
        "costs": ["given" if options["costs"] else "unit"],
        "methods": list(dict.fromkeys((*methods, CONTROL))),
        "split": shares if len(own.y) <= most else {k: int(v * most) for k, v in shares.items()},
        **settings,
    }
    if regression:
        study["overrides"] = {CONTROL: {"class": "budgetlearn.peers.FreeConstantRegressor"}}
    return {REGISTRY: {"datasets": {identifier(path): entry}}, STUDY: study}


def as_yaml(content):
    """Return the text of a configuration file."""
    import yaml  # here, as it comes with an extra

    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)


def write_files(files, folder):
    """Write the files of a study to its folder, except those that are unchanged."""
    for name, content in files.items():
        path, text = folder / name, as_yaml(content)
        # An unchanged file keeps its time, so that Snakemake reruns nothing for it.
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            write_whole(path, text)


@contextmanager
def sole_work(root, name):
    """Lock a study until this call, and the programs that it starts, have ended."""
    import fcntl  # here, as systems without it can run the other commands

    folder = root / "results" / name
    folder.mkdir(parents=True, exist_ok=True)
    # The system releases the lock when the process ends, however it ends.
    with open(folder / LOCK, "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ConfigError(
                f"Another `budgetlearn compare` is running in {folder}: wait for it, or give this "
                "study another name (--name)."
            ) from error
        # Snakemake's own locks remain if it is killed.
        locks = (root / ".snakemake" / "locks").glob("*.lock")
        held = (line for path in locks for line in path.read_text(encoding="utf-8").splitlines())
        if any(line.startswith(f"results/{name}/") for line in held):
            raise ConfigError(
                f"Snakemake is running the study {name}, or was killed: wait for it, or remove "
                f"its lock with `snakemake --unlock --configfile results/{name}/{STUDY}`."
            )
        yield lock.fileno()


def checked_study(config, root, trust=True):
    """Return the `Study` of a configuration and the workflow's defaults; see `from_config`."""
    with extra("workflow", "the comparison of methods"):
        from budgetbench.study.source_code import find_classes_in
        from budgetbench.study.study import Study, with_defaults
    config = with_defaults(config, root)
    if trust and config.get("methods_path"):
        find_classes_in(config["methods_path"])
    return Study.from_config(config, root, trust)


def read_study(folder, root, trust=False):
    """Return the `Study` in a folder, its table and encoding; run its code only with `trust`."""
    config = read_yaml(folder / STUDY) if (folder / STUDY).is_file() else None
    wanted = "recommend needs a folder that `budgetlearn compare` wrote."
    if not isinstance(config, dict):
        raise ConfigError(f"{folder} has no {STUDY}: {wanted}")
    study = checked_study(config, root, trust)
    if len(study.cases) != 1 or not study.own_table(study.cases[0][0]):
        raise ConfigError(f"{folder} is not about one table of your own: {wanted}")
    (spec,) = study.datasets.values()
    source = {"drop": (), "dates": (), **spec.parameters}
    options = {k: source.get(k) for k in ("target", "drop", "dates", "separator", "decimal", "na")}
    kept = {key: source[key] for key in ("missing", "categorical") if key in source}
    # Columns that compare left out are in `drop`; with keep=None, no others are left out.
    options |= {"keep": None, "codes": kept.get("categorical", ()), "row_id": source.get("group")}
    return study, read_own_table(source["path"], costs=spec.costs, task=spec.task, **options), kept


@click.command()
@options.of_table
@click.option("--name", help="Name of the study: a-z, 0-9 and -.  [default: the table's]")
@click.option("--methods", multiple=True, help="Method, such as msb; repeatable.  [default: ten]")
@click.option(
    "--scoring",
    type=click.Choice([*scores_of(CLASSIFICATION), *scores_of(REGRESSION)]),
    help="Score that methods optimise and are compared by.  [default: accuracy; r2 for numbers]",
)
@click.option("--runs", type=click.IntRange(min=1), default=5, help="Number of random splits.")
@click.option("--cores", type=click.IntRange(min=1), default=1, help="Jobs that run at once.")
@click.option("--time-limit", type=click.IntRange(1), default=600, help="Seconds per run.")
@options.max_rows(20_000, "draw this many rows in each run")
@click.option("--dry-run", is_flag=True, help="Show the configuration; write and run nothing.")
@options.reading
@options.seed
@options.debug
def compare(table, name, runs, cores, time_limit, seed, dry_run, **rest):
    """Compare the methods on TABLE and write one report, results/NAME/report.html.

    The configuration is kept beside it, in results/NAME/study.yaml. To change the study, edit this
    file and run Snakemake with it, or give this command other options. Finished runs are reused.
    """
    with extra("workflow", "budgetlearn compare"):
        import snakemake  # noqa: F401
        import yaml  # noqa: F401

        from budgetbench.datasets.preparing import target_of
    if any(isinstance(path, InMemory) for path in (table, rest["costs"])):
        raise click.UsageError("The study cannot read a pipe again later: save it to a file first.")
    (workflow, root), name = folders(), name or identifier(table).replace("_", "-")
    # The table is read and checked here, so that a mistake costs seconds and not a study.
    own = table_of(table, rest)
    rest["drop"] = (*rest["drop"], *own.left_out)
    rest["dates"] = tuple(own.reading["dates"])
    if own.groups is not None:
        if (rows := np.flatnonzero(pd.isna(own.groups))).size:
            raise ConfigError(f"{own.reading['id']} is missing {in_row(rows)}: remove these.")
        rest["group"] = own.reading["id"]
        rest["drop"] = tuple(name for name in rest["drop"] if name != rest["group"])
    if len(own.y) > rest["max_rows"]:
        options.note(f"each run draws {rest['max_rows']:,} of {len(own.y):,} rows (--max-rows).")
    folder = root / "results" / name
    files = study_files(own, table, name, rest, folder, runs=runs, time_limit=time_limit, seed=seed)
    # Checked before anything is written or run, so that an error is one line.
    with tempfile.TemporaryDirectory() as place:
        registry = Path(place) / REGISTRY
        registry.write_text(as_yaml(files[REGISTRY]), encoding="utf-8")
        study = checked_study(files[STUDY] | {"datasets_file": str(registry)}, workflow)
    (spec,) = study.datasets.values()
    study.check_target(target_of(spec, own.y))
    command = ["snakemake", "--cores", str(cores), "--configfile", f"results/{name}/{STUDY}"]
    if workflow != root:
        command += ["--snakefile", str(workflow / "Snakefile")]
    if dry_run:
        for file, content in files.items():
            click.echo(f"{folder / file}, not written:\n{as_yaml(content)}")
        click.echo(f"In {root}, not run: {shlex.join(command)}")
        return 0
    with sole_work(root, name) as lock:
        write_files(files, folder)
        click.echo(f"Configuration: {folder / STUDY}")
        click.echo(f"In {root}: {shlex.join(command)}")
        failed = run_snakemake([*command, "--quiet", "rules"], root, lock)
    if (folder / "report.html").is_file():
        click.echo(f"Report: {folder / 'report.html'}")
    return int(failed)


def run_snakemake(command, root, lock):
    """Run Snakemake, which holds the lock; return True if it fails, abort if Ctrl-C stopped it."""
    # Snakemake has a cache in the home, which may be read-only in a container.
    if not os.access(os.path.expanduser("~"), os.W_OK):
        os.environ.setdefault("XDG_CACHE_HOME", str(root / ".snakemake"))
    # Ctrl-C is left to Snakemake, which unlocks the folder and ends by itself.
    pressed = []
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(True))
    if sys.platform == "linux":
        # Forked, as this process has already imported most of what it and its jobs need.
        child = get_context("fork").Process(target=_snakemake, args=(command, root))
        child.start()
        if pressed:  # a fork forgets signals that it has not handled
            child.terminate()
        child.join()
        failed = child.exitcode != 0
    else:
        command = [sys.executable, "-m", *command]
        failed = subprocess.run(command, cwd=root, check=False, pass_fds=[lock]).returncode != 0
    signal.signal(signal.SIGINT, before)
    if failed and pressed:
        raise click.Abort
    return failed


def _snakemake(command, root):
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from snakemake.cli import main

        os.chdir(root)
        sys.argv = command
        main(command[1:])
    except KeyboardInterrupt:  # before Snakemake takes it
        sys.exit(130)


def _found(context, parameter, folder):
    """Return the folder of results as written, or else where `compare` writes it."""
    there = folder if folder.is_dir() else folders()[1] / folder
    if not there.is_dir():
        raise click.BadParameter(f"Directory '{folder}' does not exist.")
    return there


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), callback=_found)
@options.budget
@click.option("--bytes", "n_bytes", type=click.IntRange(1), help="Size limit of a C model.")
@options.guaranteed
@options.out
@options.max_rows(100_000, "draw this many rows at random")
@options.minutes
@options.jobs
@options.trusting
def recommend(folder, budget, n_bytes, guaranteed, out, max_rows, minutes, trust, jobs):
    """Fit the best method for a budget: the winner of a comparison (FOLDER), or a better one.

    FOLDER is results/NAME of `budgetlearn compare`. The method that it recommends competes with
    those of `budgetlearn fit`, out of fold. A fifth of the rows is held out to measure the model.
    With --bytes, forests and perceptrons of at most this size compete; feature costs do not count.
    """
    if (budget is None) == (n_bytes is None):
        raise click.UsageError("recommend needs either --budget or --bytes.")
    if guaranteed and budget is None:
        raise click.UsageError("--guaranteed needs a --budget.")
    options.check_written([out])
    with extra("workflow", "budgetlearn recommend"):
        from budgetbench.study.methods import build
    # The folder may come from others, so it is checked before any of it is used.
    study, own, preprocessor = read_study(folder, folders()[0], trust)
    if n_bytes is not None:
        _in_bytes(own, preprocessor, n_bytes, max_rows, study.seed, out)
        return
    best, settings = _best(study, folder, own, budget)
    (dataset,) = study.datasets
    spec, seed = study.spec(best["method"], dataset), study.seed
    label = study.methods[best["method"]]["label"]
    n = int(best["n_runs"])
    click.echo(f"Best for {budget:.10g} in the comparison of {n} run{'s' * (n != 1)}: {label}.")
    if best["as_good"]:
        click.echo("The free constant, which buys nothing, may be as good.")
    # With the study's own seed, this is the comparison's model, fitted again.
    extras = {"feature_costs": own.costs, "random_state": seed, "n_jobs": jobs}
    estimator = build(spec, **extras).set_params(**settings)
    random = check_random_state(seed)
    rows = sampled(own, max_rows, random)
    # The same engine as in `fit`; the comparison's method competes on all these rows.
    engine = make(AUTO, own.task, own.costs, seed, jobs)
    if not best["method"].startswith((CONTROL, "all_features")):  # the engine has its own
        engine.set_params(others={label: estimator})
    engine.set_params(budgets=(budget,), max_minutes=minutes, scoring=study.scoring(dataset))
    about = {"method": AUTO, "budget": budget}
    saved = fit_table(own, engine, preprocessor, rows, random, about, guaranteed)
    measured = saved.curve.loc[saved.stage()]  # raises before anything is written
    if saved.model.skipped_.get(label) == TOO_LONG:
        click.echo(f"{label} takes longer than --minutes {minutes:g}: only others are compared.")
    if out:
        saved.save(out)
    print_schedule(saved)
    name, _, held_out = in_words(saved, measured)
    click.echo(
        f"On {saved.n_rows[2]:,} rows that this model has not seen: {name} {held_out}, for "
        f"{money(measured['test_cost'])} a row."
    )
    if out:
        click.echo(f"Model: {out}")


def _in_bytes(own, preprocessor, n_bytes, max_rows, seed, out):
    """Find the kind of model with the least error within a size limit, and write it as C."""
    rows = sampled(own, max_rows, check_random_state(seed))
    encoder = BudgetPreprocessor(**preprocessor)
    X = encoder.fit(own.X).transform(own.X.iloc[rows]).to_numpy()
    name, model, tried = recommend_for_bytes(X, own.y[rows], n_bytes, own.task, seed)
    error = "mean squared error" if own.task == REGRESSION else "share of wrong classes"
    click.echo(f"Best within {n_bytes:,} bytes: a {name} of {model.nbytes:,}.")
    for kind, least in tried.groupby("model")["error"].min().items():
        click.echo(f"  {kind}: {error} {least:.4g} on rows held out to choose")
    if out:
        model.export_c(out)
        # Printed and not written to the file, where the user's names would be code.
        gaps = encoder.transform(pd.DataFrame(np.nan, [0], own.X.columns)).iloc[0].dropna()
        code = {name: f", empty: {gap:.9g}" for name, gap in gaps.items()}
        for name, words in encoder.categories_.items():
            code[name] = f", {', '.join(words)}: 0, 1, …{code.get(name, '')}"
        names = ", ".join(f"{name} ({code[name][2:]})" if name in code else name for name in own.X)
        click.echo(f"C99: {out}\n  x holds: {names}")
        if model.classes is not None:
            click.echo(f"  it returns 0, 1, … for: {', '.join(model.classes)}")


def _best(study, folder, own, budget):
    """Return the row of recommendations for a budget, and the method's setting in its grid."""
    from budgetbench.analysis.recommendations import recommendations
    from budgetbench.analysis.schedules import compressed_points
    from budgetbench.datasets.preparing import target_of
    from budgetbench.study import records
    from budgetbench.study.experiment import settings_of
    from budgetbench.study.provenance import refuse_outdated
    from budgetbench.study.runs import ratio_of_test_rows

    if not (folder / "points.parquet").is_file():
        raise ConfigError(f"{folder} has no results yet: run `budgetlearn compare` to the end.")
    points = records.read([folder / "points.parquet"])
    schedules = compressed_points(points[~study.beyond_tries(points)])  # as the report does
    ((dataset, kind),) = study.cases
    span = SCORES[study.scoring(dataset) or scores_of(own.task)[0]].span
    target = target_of(study.datasets[dataset], own.y)
    known = {"ratio": ratio_of_test_rows(target, study), "span": span}
    offers = recommendations(schedules, list(study.methods), dataset, kind, **known)
    if offers.empty:
        raise ConfigError(
            "No method has a score in every run: fits failed, or half of the test rows are of one "
            "class. Give more rows, or compare with another --scoring."
        )
    share = budget / own.costs.full if own.costs.full else 0.0
    within = offers[affords(share, offers["budget"])]
    if within.empty:
        raise too_small(budget, offers["budget"].min() * own.costs.full, "method")
    best = within.iloc[-1]
    cells = [(dataset, kind, best["method"])]
    remedy = "Run `budgetlearn compare` again, then recommend."
    refuse_outdated(study, folder / "points.parquet", cells, remedy, {dataset: own.costs})
    # Runs may have chosen different settings; the most frequent one is used.
    fits = Counter(schedules.loc[best["models"], "fit"].tolist())
    spec = study.spec(best["method"], dataset)
    settings = settings_of(best["method"], spec, study.seed, dataset)
    return best, settings[int(fits.most_common(1)[0][0])]
