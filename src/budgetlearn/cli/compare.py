"""`budgetlearn compare`: all methods on one's own table, in one report."""

import re
import shlex
import subprocess
import sys

import click

from ..extras import extra
from ..preprocessing.preprocessor import BudgetPreprocessor
from . import options
from .study_files import (
    STUDY,
    as_yaml,
    checked_files,
    folders,
    identifier,
    refuse_rare_classes,
    sole_work,
    study_files,
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
    # What is wrong with it is told in one line, before anything is written or run.
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
