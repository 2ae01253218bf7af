"""docs/reproduction.md: generated from the kept reruns, and held in step with them by a test."""

from ..analysis.agreement import INTERVAL, NOT_SUPPORTED, ONLY_MARGIN, SUPPORTED, UNTESTABLE
from ..analysis.reproduction import (
    CLOCKED,
    EXPLAINED,
    IMPOSSIBLE,
    NOT_RERUN,
    REPRODUCED,
    SINGLE,
    UNEXPLAINED,
    outcome_counts,
)

PLACE = "docs/reproduction.md"
_INTRODUCTION = """
A number is *reproduced* when the mean of our runs lies in its 95 % prediction interval (Patil, Peng
and Leek 2016: the standard errors of both sides, and the rounding of the printed number) **and**
within a tenth of the printed error; the rule was fixed in advance. It is *explained* when a variant
study that takes one named cause away lies within that tenth, as nine in ten of all numbers that the
entry is about must (`resources/published/deviations.yaml`); there are no other explanations.
Everything here is computed from the reruns in `resources/reruns/`, each with its configuration,
commit and machine. More runs are added by one command, which goes on where it stopped:

```
snakemake --cores 2 papers                    # all studies of the papers, then this page
snakemake --cores 2 papers --config runs=1    # one run of each
snakemake --cores 2 keep --configfile config/studies/gif-window.yaml --config runs=10
snakemake --cores 1 reproduction              # this page alone, from what is kept
```
"""
_COLUMNS = """\
Columns: printed numbers; reproduced; explained; unexplained, and of these those that meet one of
the two conditions; not judged (clocks, single runs); not rerun; impossible here.
"""
_HEAD = (
    *("paper", "table", "data set", "numbers", "repr.", "expl.", "unexpl.", "(near)"),
    *("not judged", "not rerun", "imposs.", "runs", "study"),
)


def reproduction_text(found):
    """Return the page as Markdown.

    Parameters
    ----------
    found : Reproduction
        From `budgetbench.report.reproduction`.

    Returns
    -------
    str
    """
    lines = ["# Reproduction", "", *count_lines(found), _INTRODUCTION, "## Every table", ""]
    lines += [
        _COLUMNS,
        f"| {' | '.join(_HEAD)} |",
        "|---" * len(_HEAD) + "|",
        *(_matrix_row(row) for row in found.matrix.to_dict("records")),
        "",
    ]
    for name, paper in found.papers.items():
        lines += _paper(name, paper, found)
    lines += _reruns(found)
    return "\n".join(lines) + "\n"


def count_lines(found):
    """Return the five lines that say what became of the printed numbers."""
    numbers = found.numbers
    own, stand_in = numbers[~numbers["stand_in"]], numbers[numbers["stand_in"]]
    here, there = outcome_counts(own), outcome_counts(stand_in)
    left = own[own["outcome"] == UNEXPLAINED]
    near = int(left["verdict"].isin((INTERVAL, ONLY_MARGIN)).sum())
    judged = here[REPRODUCED] + here[EXPLAINED] + here[UNEXPLAINED]
    reasons = own.loc[own["outcome"] == IMPOSSIBLE, "why"].value_counts()
    why = "; ".join(f"{count}: {reason}" for reason, count in reasons.items())
    return [
        f"1. Of {len(numbers)} different printed numbers, {judged} were rerun on the paper's own "
        f"data and judged: **{here[REPRODUCED]} are reproduced**.",
        f"2. {here[EXPLAINED]} more are explained by a variant study that takes the cause away.",
        f"3. {here[UNEXPLAINED]} are unexplained: {near} of them meet one of the two conditions, "
        f"{here[UNEXPLAINED] - near} neither.",
        f"4. {len(stand_in)} were rerun on stand-ins for the paper's data: {there[REPRODUCED]} are "
        f"reproduced there, {there[EXPLAINED]} explained by a variant, {there[UNEXPLAINED]} "
        f"unexplained, {there[SINGLE] + there[CLOCKED]} not judged.",
        f"5. {here[IMPOSSIBLE]} cannot be rerun here ({why}); {here[CLOCKED]} are seconds of "
        f"another machine and {here[SINGLE]} rest on a single run, not judged; {here[NOT_RERUN]} "
        "are not rerun yet.",
    ]


def _matrix_row(row):
    """Return a row of the matrix."""
    dataset = row["dataset"]
    if row["run_on"] not in ("", dataset):
        dataset += f" (on {row['run_on']})"
    runs = f"{row['least']}" if row["least"] == row["most"] else f"{row['least']} to {row['most']}"
    cells = [
        *(row["paper"], row["table"], dataset, row["n"], row[REPRODUCED], row[EXPLAINED]),
        *(row[UNEXPLAINED], row["near"], row[SINGLE] + row[CLOCKED], row[NOT_RERUN]),
        *(
            row[IMPOSSIBLE],
            runs if row["most"] else "–",
            f"`{row['study']}`" if row["study"] else "–",
        ),
    ]
    return f"| {' | '.join(map(str, cells))} |"


def _paper(name, paper, found):
    """Return the section of a paper: what a reproducibility report has."""
    own = found.numbers[found.numbers["paper"] == name]
    lines = [f"## {paper['title']}", "", f"**Scope.** {paper['scope']}", ""]
    lines += [f"**Method.** {paper['method']}", ""]
    lines += [f"**Results.** {_results(own)}", "", f"**What was easy.** {paper['easy']}", ""]
    lines += [f"**What was hard.** {paper['hard']}", ""]
    held_out = found.held_out[found.held_out["paper"] == name]
    if len(held_out):
        lines += [
            f"**Held-out check.** Numbers that were never published: {_results(held_out)}",
            "",
        ]
    claims = [claim for claim in found.claims if claim["paper"] == name]
    if claims:
        tally = [
            f"{sum(claim['verdict'] == verdict for claim in claims)} {verdict}"
            for verdict in (SUPPORTED, NOT_SUPPORTED, UNTESTABLE)
        ]
        lines += [f"**Claims.** {', '.join(tally)}.", "", "| line | claim | verdict | ours |"]
        lines += ["|---|---|---|---|", *map(_claim_row, claims), ""]
    return lines


def _results(numbers):
    """Return the counts of some numbers in a sentence."""
    counts = outcome_counts(numbers)
    parts = [f"{count} {outcome}" for outcome, count in counts.items() if count]
    return f"{', '.join(parts)}." if parts else "no numbers are printed."


def _claim_row(claim):
    return f"| {claim['line']} | {claim['claim']} | {claim['verdict']} | {claim['evidence']} |"


def _reruns(found):
    """Return the table of kept reruns: runs, hours and commits."""
    rows = []
    for name, kept in found.kept.items():
        runs = kept.points.groupby("dataset")["run"].nunique()
        told = ", ".join(f"{dataset} {count}" for dataset, count in runs.items())
        commits = ", ".join(f"`{commit}`" for commit in kept.commits)
        rows.append(f"| `{name}` | {told} | {kept.hours:.2f} | {commits} |")
    return [
        "## Kept reruns",
        "",
        "| study | runs by data set | core-hours | commit |",
        "|---|---|---|---|",
        *rows,
    ]
