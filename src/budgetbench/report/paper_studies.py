"""Run all studies of the papers, and report which printed numbers are reproduced."""

import json
import re
import shlex
import subprocess
import sys
from functools import cache, cached_property
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from textwrap import TextWrapper

import numpy as np
import pandas as pd
import yaml

from budgetlearn.files import read_yaml, write_whole

from ..analysis import reproduction as judging
from ..analysis.areas import area_table
from ..study import records, stored_results
from ..study.stored_results import keep
from ..study.study import PUBLISHED, Study, merged, with_defaults
from .section import template_environment
from .sections.printed import read_published, read_reasons

PLACE, PAGE = "docs/reproduction.md", "results/papers/report.html"
TABLE = "docs/reproduction.csv"
_WIDTH = 240  # of a drawing, in pixels
_REACH = 0.35  # share of the printed error that a drawing shows on each side


def run_papers(root, cores, settings):
    """Run every study of the papers, keep its results, and return the studies that failed.

    A study continues where it stopped. Its finished runs are kept even if others failed.
    `settings`, such as {"runs": 1}, override the settings of every study.
    """
    words = [f"{k}={v if isinstance(v, str) else json.dumps(v)}" for k, v in settings.items()]
    # `--nolock`, because the caller holds the folder's lock. It writes other files.
    command = [sys.executable, "-m", "snakemake", "--snakefile", root / "Snakefile", "--nolock"]
    command += ["--cores", cores, "--keep-going"]
    # One after another, as each study uses all cores, and measures times.
    failed = []
    for name in Reproduction(root, kept={}).studies:
        file = root / "config" / "studies" / f"{name}.yaml"
        print(f"papers: {name}", flush=True)
        call = [*command, "--configfile", file, *(["--config", *words] if words else [])]
        if subprocess.run(list(map(str, call)), check=False).returncode:
            failed.append(name)
        config = with_defaults(merged(read_yaml(file), settings), root)
        keep(Study.from_config(config, root), root)
    return failed


def write_reproduction(root):
    """Write docs/reproduction.md and .csv and the page from the reruns kept under `root`."""
    found = Reproduction(root)
    write_whole(Path(root) / PLACE, reproduction_text(found))
    write_whole(Path(root) / TABLE, reproduction_table(found).to_csv(index=False))
    write_whole(Path(PAGE), reproduction_page(found))


def reproduction_text(found):
    """Return the Markdown text of docs/reproduction.md for a `Reproduction`."""
    known = {"counts": count_lines(found), "after": _after(found), "normal": judging.NORMAL}
    text = _rendered("reproduction.md.j2", found, **known)
    wrap = TextWrapper(120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return re.sub(r"^(?!\|).{121,}$", lambda line: wrap.fill(line[0]), text, flags=re.MULTILINE)


def reproduction_table(found):
    """Return a table of every recorded number beside ours, as it is written to TABLE."""
    numbers = pd.concat([found.all_numbers, found.held_out], ignore_index=True)
    numbers["half_interval"] = judging.NORMAL * numbers["se"]
    floats = ["ours", "sd", "half_interval", "margin"]
    # Six digits, so that another order of summation does not change the file.
    numbers[floats] = numbers[floats].map(lambda x: float(f"{x:.6g}"))
    columns = ["paper", "table", "dataset", "method", "setting", "quantity", "remark"]
    columns += ["value", "value_sd", "printed_runs", "study", "run_on", "n_runs", *floats]
    return numbers[[*columns, "outcome", "verdict", "variant", "why"]]


def reproduction_page(found):
    """Return the page of all printed numbers as one HTML document that works offline."""
    counts = [re.sub("[*`]", "", line.partition(". ")[2]) for line in count_lines(found)]
    # The margin is a tenth of the printed error, so its width is the same in every drawing.
    band = {"least": -judging.MARGIN, "zero": 0, "most": judging.MARGIN}
    marks = {name: _place(share) for name, share in band.items()}
    tables = groupby(found.matrix.to_dict("records"), key=itemgetter("paper", "table"))
    tables = [(*names, [_cell(row, found) for row in rows]) for names, rows in tables]
    known = {"counts": counts, "tables": tables, "width": _WIDTH, **marks}
    return _rendered("reproduction.html.j2", found, **known)


def _rendered(template, found, **more):
    papers = [_paper(name, paper, found) for name, paper in found.about["papers"].items()]
    return template_environment().get_template(template).render(found=found, papers=papers, **more)


def _after(found):
    """Return the decisions made after seeing results, on claims, entries and runs."""
    changed = [claim for claim in found.claims if claim["verdict"] != claim["at_first"]]
    narrowed = [entry for entry in found.entries if entry.get("narrowed_after")]
    shares = []
    about = ((e["table"], e["variant"], e.get("quantity")) for e in narrowed)
    for table, variant, quantity in dict.fromkeys(about):
        # The variant on the whole table, not only on the numbers that its entries name.
        rerun = found.of_variants[variant].query("n_runs > 0 and source == @table")
        if quantity:
            rerun = rerun[rerun["quantity"] == quantity]
        named = [e["setting"] for e in narrowed if (e["table"], e["variant"]) == (table, variant)]
        kept = int(rerun["setting"].isin(named).sum())
        whole = f"{quantity}s of the table" if quantity else "whole table"
        shares.append((table, variant, int(rerun["in_margin"].sum()), len(rerun), kept, whole))
    extended = []
    for one in found.about["extended"]:
        # Each extension by itself, so that a row shows the effect of these runs only.
        counts = {}
        for when, numbers in (("before", found.with_first_runs(one)), ("now", found.numbers)):
            own = numbers["study"].eq(one["study"]) & numbers["run_on"].eq(one["dataset"])
            counts[when] = judging.outcome_counts(numbers[own])
        extended.append(one | counts)
    return {"claims": changed, "narrowed": shares, "extended": extended}


def _paper(name, about, found):
    # Kept apart from the printed numbers, as they were never published.
    held_out = found.held_out[found.held_out["paper"] == name]
    claims = [claim for claim in found.claims if claim["paper"] == name]
    verdicts = [claim["verdict"] for claim in claims]
    kinds = (judging.SUPPORTED, judging.NOT_SUPPORTED, judging.UNTESTABLE)
    return {
        "about": about,
        "results": _results(found.numbers[found.numbers["paper"] == name]),
        "held_out": _results(held_out) if len(held_out) else "",
        "claims": [[c[k] for k in ("line", "claim", "verdict", "evidence")] for c in claims],
        "tally": ", ".join(f"{verdicts.count(kind)} {kind}" for kind in kinds),
    }


def _results(numbers):
    parts = [f"{n} {outcome}" for outcome, n in judging.outcome_counts(numbers).items() if n]
    return f"{', '.join(parts)}." if parts else "no numbers are printed."


def count_lines(found):
    """Return five lines that summarise the outcomes of the printed numbers."""
    numbers = found.numbers
    # Stand-ins have other rows than the paper's data, so they never count as reproductions.
    own, stand_in = numbers[~numbers["stand_in"]], numbers[numbers["stand_in"]]
    here, there = judging.outcome_counts(own), judging.outcome_counts(stand_in)
    single, clock = judging.UNJUDGED, judging.CLOCK
    near = int(found.unexplained["verdict"].isin((judging.INTERVAL, judging.ONLY_MARGIN)).sum())
    after = (found.explained_after(part) for part in (own, stand_in))
    chosen = [f" ({count} by variants chosen after seeing the numbers)" for count in after]
    judged = own[own["outcome"].isin(judging.OUTCOMES[:3])]
    agree = judged["in_margin"] | judged["explained"]
    missed = judged.loc[~agree, "source"]
    reasons = own.loc[own["outcome"] == judging.IMPOSSIBLE, "why"].value_counts()
    why = "; ".join(f"{count}: {reason}" for reason, count in reasons.items())
    return [
        f"1. Of {len(numbers)} different printed numbers, {len(judged)} were rerun on the paper's "
        f"own data and judged: **{here['reproduced']} are reproduced**.",
        f"2. {here['explained']} more are explained by a variant study that removes the cause"
        f"{chosen[0]}.",
        f"3. {here['unexplained']} are unexplained: {near} of them meet one of the two conditions, "
        f"{here['unexplained'] - near} neither. {agree.sum()} of the {len(judged)} "
        f"({100 * agree.mean():.0f} %) are within the margin or explained; "
        f"{_aim(found.about['aim'], 100 * agree.mean(), missed)}. An exact rerun whose runs "
        f"spread like ours would miss {judging.misses_by_chance(judged):.0f} by chance.",
        f"4. {len(stand_in)} were rerun on stand-ins for the paper's data: {there['reproduced']} "
        f"are reproduced there, {there['explained']} explained by a variant{chosen[1]}, "
        f"{there['unexplained']} unexplained, {there[single] + there[clock]} not judged.",
        f"5. {here['impossible']} cannot be rerun here ({why}). {here[clock]} are times measured "
        f"on another machine and {here[single]} rest on a single run; these are not judged. "
        f"{here['not rerun']} are not rerun yet.",
    ]


def _aim(aim, percent, sources):
    """Return in words whether enough numbers agree, and if not, the tables of the others."""
    if percent >= aim["percent"]:
        return f"the aim, {aim['percent']} %, is met"
    parts = [f"{n} of `{s}`, {aim['reasons'][s]}" for s, n in sources.value_counts().items()]
    return f"the aim, {aim['percent']} %, is not met. The others are {'; '.join(parts)}"


def _cell(row, found):
    """Return a cell of the matrix: its outcomes, its numbers, and the command that reruns them."""
    numbers = found.all_numbers
    own = numbers[(numbers["source"] == row["source"]) & (numbers["dataset"] == row["dataset"])]
    agree = row[judging.REPRODUCED] + row[judging.EXPLAINED]
    cell = {
        "row": row,
        "agree": agree,
        "kind": "near" if agree == row["n"] else "bad" if row[judging.UNEXPLAINED] else "open",
        "results": ", ".join(f"{row[o]} {o}" for o in judging.OUTCOMES if row[o]),
        "numbers": [number | {"drawing": drawing(number)} for number in own.to_dict("records")],
        "command": "",
    }
    if not row["study"]:
        return cell
    kept = found.kept[row["study"]]
    # The command reruns just these numbers.
    words = {"runs": row["most"], "datasets": f"[{row['run_on']}]"}
    return cell | {
        "command": f"snakemake --cores 2 keep --configfile config/studies/{row['study']}.yaml "
        f"--config {' '.join(shlex.quote(f'{k}={v}') for k, v in words.items())}",
        "settings": yaml.safe_dump(kept.settings, sort_keys=True, allow_unicode=True),
        "commits": ", ".join(kept.commits),
    }


def drawing(number):
    """Return the positions of a printed number and ours in a drawing; None without a difference.

    `printed` and `ours` are the ends of ± one standard error, `interval` those of the 95 %
    prediction interval around ours (None: unknown spread), moved to the drawing's edge if outside.
    """
    share = number["share"]
    if not np.isfinite(share):  # not rerun, or the printed error is 0
        return None

    def ends(middle, se):
        reach = se * judging.MARGIN / number["margin"]  # as a share of the printed error
        return None if np.isnan(se) else (_place(middle - reach), _place(middle + reach))

    return {
        "kind": "near" if number["outcome"] == judging.REPRODUCED else "worse",
        "dot": _place(share),
        "printed": ends(0, number["printed_se"]),
        "ours": ends(share, number["own_se"]),
        "interval": ends(share, judging.NORMAL * number["se"]),
    }


def _place(share):
    return round(_WIDTH * (np.clip(share, -_REACH, _REACH) + _REACH) / (2 * _REACH), 1)


class Kept:
    """A kept rerun: its operating points, settings and computing time."""

    def __init__(self, points, settings, origins):
        self.points, self.settings, self._origins = points, settings, origins
        self.runs = points.groupby("dataset")["run"].nunique().to_dict()
        # Summed over the jobs that recorded their seconds.
        self.hours = sum(one.get("seconds", 0.0) for one in origins) / 3600
        self.commits = sorted({one["commit"] for one in origins})
        self.numbers = cache(self.numbers)  # each table is judged once

    @classmethod
    def of(cls, folder):
        """Read a kept rerun from its folder."""
        settings, provenance = stored_results.kept_facts(folder)
        return cls(stored_results.read_kept(folder), settings, provenance["origins"])

    @cached_property
    def ours(self):
        """Our values of printed quantities."""
        return judging.OurValues(self.points, lambda: area_table(self.points))

    def numbers(self, table):
        """Return the printed numbers of a file with ours and the verdicts, and those not rerun."""
        stand_ins = self.settings.get("stand_ins", {})
        rows = judging.published_table(self.ours, read_published([table]), stand_ins)
        return judging.agreement_table(rows)


class Reproduction:
    """The papers' numbers and claims, judged against the kept reruns in the project's folder."""

    def __init__(self, root=".", kept=None):
        self._root, self._folder = Path(root), Path(root) / PUBLISHED
        self.about = read_yaml(self._folder / "papers.yaml")
        self._tables = self.about["tables"]
        self.entries = read_reasons(self._folder / "deviations.yaml")
        if kept is None:
            kept = {name: Kept.of(path) for name, path in stored_results.kept_studies(root).items()}
        self.kept = kept
        self._no_rerun = Kept(records.table([]), {}, [])

    @property
    def studies(self):
        """The studies that `run_papers` runs, in this order: those that have a file here."""
        # Studies of tables first, so that after an interruption the numbers that count are there.
        about, variants = self.about, [entry["variant"] for entry in self.entries]
        named = [*self._tables.values(), *about["held_out"].values()]
        named += about["variants"], about["figures"], variants
        apart = [one["study"] for one in about["apart"] if not one["datasets"]]
        every = dict.fromkeys(n for names in named for n in names if n not in apart)
        return [name for name in every if (self._root / f"config/studies/{name}.yaml").exists()]

    @cached_property
    def all_numbers(self):
        """Every recorded number with its outcome, including other readings and repetitions."""
        return self._judged(self._tables)

    @cached_property
    def numbers(self):
        """Every printed number once."""
        return judging.counted_once(self.all_numbers, self.about["readings"])

    @property
    def unexplained(self):
        """The numbers on the papers' own data that are neither reproduced nor explained."""
        numbers = self.numbers[~self.numbers["stand_in"]]
        return numbers[numbers["outcome"] == judging.UNEXPLAINED]

    @cached_property
    def held_out(self):
        """The numbers that were never published."""
        return self._judged(self.about["held_out"])

    @cached_property
    def matrix(self):
        """One row for each paper, table and data set."""
        return judging.matrix(self.numbers)

    @cached_property
    def claims(self):
        """Every claim with verdict and evidence, and its verdict by the first rule."""
        judged = []
        for claim in read_yaml(self._folder / "claims.yaml"):
            first = judging.check_claim(claim, self._values, judging.FEWEST_AT_FIRST)
            now = judging.check_claim(claim, self._values)
            judged.append(claim | now | {"at_first": first["verdict"]})
        return judged

    def with_first_runs(self, extended):
        """Return the printed numbers as judged when one data set of a study had fewer runs."""
        study, kept = extended["study"], self.kept[extended["study"]]
        points = kept.points
        early = (points["dataset"] == extended["dataset"]) & (points["run"] < extended["runs"])
        shorter = Kept(points[early], kept.settings, kept._origins)
        earlier = Reproduction(self._root, self.kept | {study: shorter})
        earlier._no_rerun = self._no_rerun  # already judged
        # Only the tables of this study, and of them only the numbers that count.
        earlier._tables = {t: names for t, names in self._tables.items() if study in names}
        own = earlier.all_numbers["study"].isin(["", study])
        return earlier.all_numbers[own].merge(self.numbers[judging.NUMBER])

    def explained_after(self, numbers):
        """Count the explained numbers whose variant was chosen after seeing the printed numbers."""
        after = [(e["variant"], e["why"]) for e in self.entries if e.get("chosen_after")]
        explained = numbers.loc[numbers["outcome"] == judging.EXPLAINED, ["variant", "reason"]]
        return sum(pair in after for pair in explained.itertuples(index=False, name=None))

    def _judged(self, tables):
        # A number without a rerun keeps its row, with the outcome "not rerun".
        parts = [self._best(table, studies) for table, studies in tables.items()]
        numbers = judging.with_reasons(pd.concat(parts, ignore_index=True), self.entries)
        explained = judging.with_variants(numbers, self.entries, self.of_variants)
        return judging.with_outcomes(explained, self.about["impossible"])

    @cached_property
    def of_variants(self):
        """The numbers of every variant study that is kept."""
        asked = dict.fromkeys((entry["variant"], entry["table"]) for entry in self.entries)
        parts = {}
        for name, table in asked:  # a variant may answer for several tables
            if name in self.kept:
                parts.setdefault(name, []).append(self.kept[name].numbers(self._file(table)))
        return {name: pd.concat(found, ignore_index=True) for name, found in parts.items()}

    def _file(self, table):
        return self._folder / f"{table}.csv"

    def _best(self, table, studies):
        """Return the numbers of a table, each from the first study that reran it."""
        names = [name for name in studies if name in self.kept]
        found = [self.kept[name].numbers(self._file(table)).assign(study=name) for name in names]
        printed = self._no_rerun.numbers(self._file(table)).assign(study="")
        rows = pd.concat([*found, printed], ignore_index=True)
        # A stable sort keeps the order of the studies.
        rows = rows.sort_values("n_runs", key=lambda n: n == 0, kind="stable")
        return printed[judging.NUMBER].merge(rows.drop_duplicates(judging.NUMBER))

    def _values(self, side):
        kept = self.kept.get(side["study"])
        # Without points the claim is untestable.
        cases = [] if kept is None else kept.ours.cases.loc[lambda c: c.dataset == side["dataset"]]
        if not len(cases):
            return pd.Series(dtype=float)
        where = {"run_on": side["dataset"], "costs": side.get("costs", cases["costs"].iloc[0])}
        return kept.ours.of(where | {"setting": ""} | side)
