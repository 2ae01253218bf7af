"""All methods on one's own table: `budgetlearn compare`; a model of the best: `recommend`."""

import re
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import click
from sklearn.utils import check_random_state

from ..costs import affords
from ..exceptions import BudgetError, ConfigError
from ..extras import extra
from ..preprocessing.preprocessor import BudgetPreprocessor
from . import options
from .fit import AUTO, MINUTES, fit_table, make, sampled
from .output import plus_minus, print_schedule
from .study_files import (
    STUDY,
    as_yaml,
    checked_files,
    folders,
    identifier,
    read_study,
    refuse_outdated,
    refuse_rare_classes,
    sole_work,
    study_files,
    target_of,
    write_files,
)
from .table import described, read_own_table, tell_notes

NAME = "[a-z0-9][a-z0-9-]*"  # as the schema of a study has it


def own_name(context, parameter, value):
    """Return the name of a study, refusing what cannot be one: it becomes a folder."""
    if value is not None and not re.fullmatch(NAME, value):
        raise click.BadParameter(f"{value!r}: take small letters, digits and hyphens.")
    return value


@click.command()
@click.argument("table", type=options.FILE)
@options.columns
@click.option(
    "--name",
    callback=own_name,
    help="Of the study, and of its folder in results/.  [default: the table's]",
)
@click.option(
    "--methods",
    multiple=True,
    help="A method by its id, such as msb; repeatable.  [default: ten of them]",
)
@click.option("--runs", type=click.IntRange(min=1), default=5, show_default=True)
@click.option("--cores", type=click.IntRange(min=1), default=1, show_default=True)
@click.option(
    "--time-limit",
    type=click.IntRange(min=1),
    default=600,
    show_default=True,
    help="Seconds that a method may take in a run.",
)
@click.option(
    "--max-rows",
    type=click.IntRange(min=10),
    default=20_000,
    show_default=True,
    help="Of a larger table each run draws so many rows.",
)
@click.option("--dry-run", is_flag=True, help="Show the configuration; write and run nothing.")
@options.reading
@options.seed
@options.debug
def compare(table, name, runs, cores, time_limit, seed, dry_run, **rest):
    """Compare the methods on TABLE and write one report, results/NAME/report.html.

    The configuration is kept beside it, in results/NAME/study.yaml: edit it and run Snakemake with
    it, or this command with other options. What is done already is not done again.
    """
    with extra("workflow", "budgetlearn compare"):
        import snakemake  # noqa: F401
        import yaml  # noqa: F401
    (workflow, root), name = folders(), name or identifier(table).replace("_", "-")
    # The table is read and checked here, so that a mistake costs seconds and not a study.
    own = read_own_table(table, **described(rest))
    tell_notes(own)
    rest["drop"] = (*rest["drop"], *own.left_out)
    BudgetPreprocessor(rest["missing"], rest["categorical"]).fit(own.X)
    if len(own.y) > rest["max_rows"]:
        click.echo(
            f"Note: each run draws {rest['max_rows']:,} of {len(own.y):,} rows (--max-rows).",
            err=True,
        )
    folder = root / "results" / name
    settings = {"runs": runs, "time_limit": time_limit, "seed": seed}
    files = study_files(own, table, name, rest, folder, **settings)
    # What is wrong with it is said in one line, before anything is written or run.
    refuse_rare_classes(own, checked_files(files, workflow))
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
        command = [sys.executable, "-m", *command, "--quiet", "rules"]
        # The lock is inherited: it lasts as long as the programs that Snakemake starts.
        done = subprocess.run(command, cwd=root, check=False, pass_fds=[lock])
    if (folder / "report.html").is_file():
        click.echo(f"Report: {folder / 'report.html'}")
    return int(done.returncode != 0)


CONTROLS = ("constant", "all_features")  # the engine has its own


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--budget",
    type=click.FloatRange(min=0),
    required=True,
    help="Most that a prediction may cost on average.",
)
@options.guaranteed
@options.out
@click.option("--max-rows", type=click.IntRange(min=10), default=100_000, show_default=True)
@click.option("--minutes", type=click.FloatRange(min=0, min_open=True), default=MINUTES)
@options.trust
@options.jobs
@options.debug
def recommend(folder, budget, guaranteed, out, max_rows, minutes, trust, jobs):
    """Fit the best method for a budget: that of FOLDER, a comparison, or a better one.

    The method that the comparison recommends competes with those of `budgetlearn fit`, out of fold.

    FOLDER is results/NAME of `budgetlearn compare`. As in `budgetlearn fit` a fifth of the rows is
    held out: what is printed was measured with the model that is written, on rows that it has not
    seen.
    """
    with extra("workflow", "budgetlearn recommend"):
        from budgetbench.study.methods import build
    # What the folder names is checked before anything of it is used: it may come from others.
    study, own, preprocessor = read_study(folder, folders()[0], trust)
    best, settings = _best(study, folder, own, budget)
    (dataset,) = study.datasets
    spec, seed = study.spec(best["method"], dataset), study.seed
    label = study.methods[best["method"]]["label"]
    n_runs = int(best["n_runs"])
    runs = f"{n_runs} run{'s' * (n_runs != 1)}"
    click.echo(f"Best for {budget:g} by the comparison in {runs}: {label}.")
    if best["as_good"]:
        click.echo("The free constant, which buys nothing, may do as well.")
    # The study's own seed: the model is the comparison's, fitted once more.
    extras = {"feature_costs": own.costs, "random_state": seed, "n_jobs": jobs}
    estimator = build(spec, **extras).set_params(**settings)
    random = check_random_state(seed)
    rows = sampled(own, max_rows, random)
    # The same engine as of `fit`: the comparison's method competes on the whole of these rows.
    engine = make(AUTO, own.task, own.costs, seed, jobs)
    if best["method"] not in CONTROLS:
        engine.set_params(others={label: estimator})
    engine.set_params(budgets=(budget,), max_minutes=minutes)
    about = {"method": AUTO, "budget": budget}
    saved = fit_table(own, engine, preprocessor, rows, random, about, guaranteed)
    stage = saved.stage()  # refused before anything is written
    print_schedule(saved)
    measured = saved.curve.loc[stage]
    click.echo(
        f"On {saved.n_rows[2]:,} rows that this model has not seen: {saved.score_name} "
        f"{plus_minus(measured['test_score'], measured['test_score_se'])}, for "
        f"{measured['test_cost']:.2f} a row."
    )
    if out:
        saved.save(out)
        click.echo(f"Model: {out}")


def _best(study, folder, own, budget):
    """Return the row of recommendations for a budget, and the method's setting in its grid."""
    from budgetbench.analysis.recommendations import recommendations
    from budgetbench.analysis.schedules import compressed_points
    from budgetbench.study import records
    from budgetbench.study.evaluation import SCORES
    from budgetbench.study.runs import ratio_of_test_rows
    from budgetbench.study.tries import settings_of

    if not (folder / "points.parquet").is_file():
        raise ConfigError(f"{folder} has no results yet: run `budgetlearn compare` to the end.")
    schedules = compressed_points(records.read([folder / "points.parquet"]))
    ((dataset, kind),) = study.cases
    ratio, bounded = ratio_of_test_rows(target_of(own, study), study), SCORES[own.task].bounded
    known = {"ratio": ratio, "bounded": bounded}
    offers = recommendations(schedules, list(study.methods), dataset, kind, **known)
    share = budget / own.costs.full if own.costs.full else 0.0
    within = offers[affords(share, offers["budget"])]
    if within.empty:
        cheapest = float(offers["budget"].min()) * own.costs.full
        raise BudgetError(f"No method costs at most {budget:g}: the cheapest costs {cheapest:.2f}.")
    best = within.iloc[-1]
    refuse_outdated(study, own, best["method"], folder / "points.parquet")
    # Runs may have chosen different settings: the most frequent one is taken.
    fits = Counter(schedules.loc[best["models"], "fit"].tolist())
    spec = study.spec(best["method"], dataset)
    settings = settings_of(best["method"], spec, study.seed, dataset)
    return best, settings[int(fits.most_common(1)[0][0])]
