"""All studies of the papers, one after another, and the pages of what became of their numbers."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import yaml

from budgetlearn.files import read_yaml, whole_file

from ..analysis.agreement import (
    INTERVAL,
    MARGIN,
    NORMAL,
    NOT_SUPPORTED,
    ONLY_MARGIN,
    SUPPORTED,
    UNTESTABLE,
)
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
from ..study.reruns import keep
from ..study.study import Study
from .page import template_environment
from .reproduction import Reproduction

PAGE = "results/papers/report.html"


def run_papers(root, cores, settings):
    """Run every study of the papers and keep what it gives; one that fails stops no other.

    A study goes on where it stopped; runs that it finished are kept even if others failed. `root`
    is the folder of the workflow, `cores` those of each study, and `settings` are laid over every
    study's, such as {"runs": 1}. Returns the studies that ended with an error.
    """
    # One after another: each study uses all cores, and times are only then its own.
    failed = []
    for name in Reproduction(root).studies:
        file = root / "config" / "studies" / f"{name}.yaml"
        print(f"papers: {name}", flush=True)
        if subprocess.run(_command(root, file, cores, settings), check=False).returncode:
            failed.append(name)
        config = read_yaml(root / "config" / "config.yaml") | read_yaml(file) | settings
        # Kept even after an error: a run that is done is worth as much in a study that is not.
        keep(Study.from_config(config, root), root)
    return failed


def _command(root, file, cores, settings):
    """Return the call of the workflow for one study."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", root / "Snakefile"]
    # The caller holds the folder's lock; both write different files.
    command += ["--cores", cores, "--keep-going", "--nolock", "--configfile", file]
    if settings:
        words = (f"{k}={v if isinstance(v, str) else json.dumps(v)}" for k, v in settings.items())
        command += ["--config", *words]
    return list(map(str, command))


def write_reproduction(root, page=PAGE):
    """Write docs/reproduction.md and the page from the reruns that are kept below `root`."""
    found = Reproduction(root)
    for place, text in (
        (Path(root) / PLACE, reproduction_text(found)),
        (Path(page), reproduction_page(found)),
    ):
        with whole_file(place) as partial:
            Path(partial).write_text(text, encoding="utf-8")


PLACE = "docs/reproduction.md"
_WIDTH, _ROW = 420, 18  # of a drawing, in pixels
_REACH = 0.35  # of the printed error, that a drawing shows on each side


def reproduction_text(found):
    """Return docs/reproduction.md of a `Reproduction`, as Markdown."""
    return _rendered("reproduction.md.j2", found, counts=count_lines(found), after=_after(found))


def reproduction_page(found):
    """Return the page of every printed number as one HTML document that works offline."""
    counts = [line.partition(". ")[2].replace("**", "") for line in count_lines(found)]
    return _rendered("reproduction.html.j2", found, counts=counts)


def _rendered(template, found, **more):
    """Return what both pages say, in the form of a template."""
    papers = [_paper(name, paper, found) for name, paper in found.papers.items()]
    template = template_environment().get_template(template)
    return template.render(found=found, papers=papers, **more)


def _after(found):
    """Return what was decided after results were seen: changed claims, and narrowed entries."""
    changed = [claim for claim in found.claims if claim["verdict"] != claim["at_first"]]
    narrowed = [entry for entry in found.entries if entry.get("narrowed_after")]
    shares = []
    for table, variant in dict.fromkeys((e["table"], e["variant"]) for e in narrowed):
        # The variant on all of the table, not only where an entry says that it explains.
        numbers = found.of_variants[variant]
        rerun = numbers[numbers["n_runs"] > 0]
        settings = [e["setting"] for e in narrowed if e["variant"] == variant]
        kept = rerun["setting"].isin(settings)
        counts = int(rerun["in_margin"].sum()), len(rerun), int(kept.sum())
        shares.append((table, variant, *counts))
    return {"claims": changed, "narrowed": shares}


def _paper(name, about, found):
    """Return what a reproducibility report says of one paper."""
    # Apart from the printed numbers, as they were never published.
    held_out = found.held_out[found.held_out["paper"] == name]
    claims = [claim for claim in found.claims if claim["paper"] == name]
    verdicts = [claim["verdict"] for claim in claims]
    tally = (f"{verdicts.count(v)} {v}" for v in (SUPPORTED, NOT_SUPPORTED, UNTESTABLE))
    rows = found.matrix[found.matrix["paper"] == name]
    return {
        "about": about,
        "results": _results(found.numbers[found.numbers["paper"] == name]),
        "held_out": _results(held_out) if len(held_out) else "",
        "claims": claims,
        "tally": ", ".join(tally),
        "cells": [_cell(row, found) for row in rows.to_dict("records")],
    }


def _results(numbers):
    """Return the counts of some numbers in a sentence."""
    counts = outcome_counts(numbers)
    parts = [f"{count} {outcome}" for outcome, count in counts.items() if count]
    return f"{', '.join(parts)}." if parts else "no numbers are printed."


def count_lines(found):
    """Return the five lines that say what became of the printed numbers."""
    numbers = found.numbers
    # Stand-ins are other rows than the paper's: they never count as reproductions.
    own, stand_in = numbers[~numbers["stand_in"]], numbers[numbers["stand_in"]]
    here, there = outcome_counts(own), outcome_counts(stand_in)
    left = own[own["outcome"] == UNEXPLAINED]
    near = int(left["verdict"].isin((INTERVAL, ONLY_MARGIN)).sum())
    after = (found.explained_after(part) for part in (own, stand_in))
    chosen = [f" ({count} by variants chosen after seeing the numbers)" for count in after]
    judged = here[REPRODUCED] + here[EXPLAINED] + here[UNEXPLAINED]
    reasons = own.loc[own["outcome"] == IMPOSSIBLE, "why"].value_counts()
    why = "; ".join(f"{count}: {reason}" for reason, count in reasons.items())
    return [
        f"1. Of {len(numbers)} different printed numbers, {judged} were rerun on the paper's own "
        f"data and judged: **{here[REPRODUCED]} are reproduced**.",
        f"2. {here[EXPLAINED]} more are explained by a variant study that takes the cause away"
        f"{chosen[0]}.",
        f"3. {here[UNEXPLAINED]} are unexplained: {near} of them meet one of the two conditions, "
        f"{here[UNEXPLAINED] - near} neither.",
        f"4. {len(stand_in)} were rerun on stand-ins for the paper's data: {there[REPRODUCED]} are "
        f"reproduced there, {there[EXPLAINED]} explained by a variant{chosen[1]}, "
        f"{there[UNEXPLAINED]} unexplained, {there[SINGLE] + there[CLOCKED]} not judged.",
        f"5. {here[IMPOSSIBLE]} cannot be rerun here ({why}); {here[CLOCKED]} are seconds of "
        f"another machine and {here[SINGLE]} rest on a single run, not judged; {here[NOT_RERUN]} "
        "are not rerun yet.",
    ]


def _cell(row, found):
    """Return what a cell of the matrix opens into."""
    numbers = found.all_numbers
    own = numbers[(numbers["source"] == row["source"]) & (numbers["dataset"] == row["dataset"])]
    rerun = own[own["n_runs"] > 0]
    cell = {"row": row, "numbers": own.to_dict("records"), "command": ""}
    if rerun.empty:
        return cell | {"drawing": ""}
    kept = found.kept[row["study"]]
    # The command that makes just these numbers again, for a reader who doubts them.
    words = {"runs": row["most"], "datasets": f"[{row['run_on']}]"}
    return cell | {
        "drawing": dots(rerun.to_dict("records")),
        "command": f"snakemake --cores 2 keep --configfile config/studies/{row['study']}.yaml "
        f"--config {' '.join(shlex.quote(f'{k}={v}') for k, v in words.items())}",
        "settings": yaml.safe_dump(kept.settings, sort_keys=True, allow_unicode=True),
        "commits": ", ".join(kept.commits),
    }


def dots(rows):
    """Return a drawing of the differences as shares of the printed errors, as SVG.

    A line for each number that was rerun: the band is the margin, the dot ours with its interval
    around it. What lies further off than the drawing reaches stands at its edge.
    """
    height = _ROW * len(rows) + 8
    # The margin is a tenth of the printed error, so it is as wide in every drawing.
    left, middle, right = map(_place, (-MARGIN, 0, MARGIN))
    marks = [
        f'<rect x="{left:.0f}" y="0" width="{right - left:.0f}" height="{height}" class="band"/>',
        f'<line x1="{middle:.0f}" x2="{middle:.0f}" y1="0" y2="{height}" class="zero"/>',
    ]
    for number, row in enumerate(rows):
        y = _ROW * number + 12
        kind = "near" if row["outcome"] == REPRODUCED else "worse"
        if row["se"] == row["se"]:  # a single run has none
            # The standard error is in the number's unit: the difference has both, and converts it.
            unit = row["share"] / row["difference"] if row["difference"] else 0
            low, high = (_place(row["share"] + s * abs(NORMAL * row["se"] * unit)) for s in (-1, 1))
            marks.append(f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}" class="{kind}"/>')
        marks.append(f'<circle cx="{_place(row["share"]):.1f}" cy="{y}" r="4" class="{kind}"/>')
    label = "Differences from printed numbers as shares of the printed errors"
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" role="img" '
        f'aria-label="{label}">{"".join(marks)}</svg>'
    )


def _place(share):
    """Return where a share of the printed error stands in a drawing."""
    return _WIDTH * (min(max(share, -_REACH), _REACH) + _REACH) / (2 * _REACH)
