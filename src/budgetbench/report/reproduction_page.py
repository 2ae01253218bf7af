"""results/papers/report.html: every printed number with both intervals, on one page."""

import shlex

import yaml

from ..analysis.agreement import NORMAL
from ..analysis.reproduction import REPRODUCED, UNEXPLAINED
from .page import template_environment
from .reproduction_text import count_lines
from .text import DASH

_WIDTH, _ROW = 420, 18  # of a drawing, in pixels
_REACH = 0.35  # of the printed error, that a drawing shows on each side


def reproduction_page(found):
    """Return the page as one HTML document that works offline.

    Parameters
    ----------
    found : Reproduction
        From `budgetbench.report.reproduction`.

    Returns
    -------
    str
    """
    template = template_environment().get_template("reproduction.html.j2")
    papers = [
        {
            "about": paper,
            "cells": [_cell(row, found) for row in _rows_of(name, found)],
            "claims": [claim for claim in found.claims if claim["paper"] == name],
        }
        for name, paper in found.papers.items()
    ]
    counts = [line.partition(". ")[2].replace("**", "") for line in count_lines(found)]
    return template.render(counts=counts, papers=papers)


def _rows_of(paper, found):
    return [row for row in found.matrix.to_dict("records") if row["paper"] == paper]


def _cell(row, found):
    """Return what a cell of the matrix opens into."""
    numbers = found.all_numbers
    own = numbers[(numbers["source"] == row["source"]) & (numbers["dataset"] == row["dataset"])]
    rerun = own[own["n_runs"] > 0]
    cell = {"row": row, "numbers": [_number(one) for one in own.to_dict("records")]}
    cell["summary"] = f"{row['n']} numbers, {row[REPRODUCED]} reproduced"
    cell["summary"] += f", {row[UNEXPLAINED]} unexplained" if row[UNEXPLAINED] else ""
    if rerun.empty:
        return cell | {"drawing": "", "command": "", "settings": "", "commits": ""}
    kept = found.kept[row["study"]]
    words = {"runs": row["most"], "datasets": f"[{row['run_on']}]"}
    return cell | {
        "drawing": dots(rerun.to_dict("records")),
        "command": f"snakemake --cores 2 keep --configfile config/studies/{row['study']}.yaml "
        f"--config {' '.join(shlex.quote(f'{k}={v}') for k, v in words.items())}",
        "settings": yaml.safe_dump(kept.settings, sort_keys=True, allow_unicode=True),
        "commits": ", ".join(kept.commits),
    }


def _number(row):
    """Return a printed number and ours as text."""
    there = row["n_runs"] > 0
    return {
        "method": row["method"],
        "setting": row["setting"] or DASH,
        "quantity": row["quantity"],
        "printed": f"{row['value']:g}",
        "ours": f"{row['ours']:.4g}" if there else DASH,
        "share": f"{100 * row['share']:+.1f} %" if there else DASH,
        "runs": row["n_runs"],
        "outcome": row["outcome"],
        "why": row["why"] or (f"variant {row['variant']}" if row["explained"] else ""),
    }


def dots(rows):
    """Return a drawing of the differences as shares of the printed errors, as SVG.

    Parameters
    ----------
    rows : list of dict
        Of numbers that were rerun.

    Returns
    -------
    str
        A line for each number: the band is the margin, the dot ours with its interval around it.
        What lies further off than the drawing reaches stands at its edge.
    """
    height = _ROW * len(rows) + 8
    margin = _place(0.1) - _place(-0.1)
    marks = [
        f'<rect x="{_place(-0.1):.0f}" y="0" width="{margin:.0f}" height="{height}" class="band"/>',
        f'<line x1="{_place(0):.0f}" x2="{_place(0):.0f}" y1="0" y2="{height}" class="zero"/>',
    ]
    for number, row in enumerate(rows):
        y = _ROW * number + 12
        kind = "near" if row["outcome"] == REPRODUCED else "worse"
        if row["se"] == row["se"]:  # a single run has none
            reach = (
                NORMAL * row["se"] * row["share"] / row["difference"] if row["difference"] else 0
            )
            low, high = (_place(row["share"] + sign * abs(reach)) for sign in (-1, 1))
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
