"""The content of a report, and its files: tables, figures and page, each whole or not at all."""

import itertools
import multiprocessing
import sys
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from budgetlearn.files import csv_text, whole_file

from ..analysis import Results
from ..analysis.schedules import RUN, check_points
from ..study.study import Study
from .display import Display
from .page import render_page
from .section import case_name
from .sections import sections_of
from .style import figure_bytes


def build_tables(sections, report):
    """Return the report with the tables of all its sections."""
    return replace(report, tables=_of_all(sections, report, "tables"))


def build_figures(sections, report):
    """Return {name: matplotlib figure} of all sections; `report` has its tables."""
    return _of_all(sections, report, "figures")


def _of_all(sections, report, kind):
    """Return the products of one kind of all sections, by name."""
    # In the order of the page: a name that two sections gave would be the later one's.
    made = [getattr(section, kind)(report) for section in sections]
    return {name: product for products in made for name, product in products.items()}


def build_cases(sections, report):
    """Return the data of each case for the page's scripts, as `script_data` takes them."""
    cases = {}
    for section in sections:
        for case, data in section.script_data(report).items():
            cases.setdefault(case, {})[section.id] = data
    display = report.display
    for dataset, costs in report.cases:
        if (name := case_name(dataset, costs)) in cases:
            titles = {"title": display.case_title(dataset, costs), "score": display.score(dataset)}
            cases[name] = titles | cases[name]
    return cases


def write_report(report, folder):
    """Write the whole report of a study into a folder, and return the path of the page.

    The folder gets figures/ (svg, png), tables/ (csv), captions/ (rst) and, last, report.html. The
    names of the files are those of the sections' parts. A `ConfigError` says when the constant
    control is missing.
    """
    folder, sections = Path(folder), sections_of(report.study)
    # Tables before figures: sections draw from the tables of others.
    report = build_tables(sections, report)
    figures = build_figures(sections, report)
    with _meanwhile(_write_figures, figures, "png", folder):
        drawn = _write_figures(figures, "svg", folder)
        page = render_page(sections, report, drawn, build_cases(sections, report))
    for name, frame in report.tables.items():
        _write(csv_text(frame).encode(), folder / "tables" / f"{name}.csv")
    for name, content in _of_all(sections, report, "files").items():
        _write(content, folder / "tables" / name)
    for part in (part for section in sections for part in section.parts):
        _write(part.caption.encode(), folder / part.caption_path)
    # Last: whoever sees a page sees all that it links to.
    _write(page.encode(), folder / "report.html")
    return folder / "report.html"


def _write_figures(figures, kind, folder):
    """Write the figures as files of a kind and return {name: content}."""
    drawn = {name: figure_bytes(figure, kind) for name, figure in figures.items()}
    for name, content in drawn.items():
        _write(content, folder / "figures" / f"{name}.{kind}")
    return drawn


@contextmanager
def _meanwhile(function, *arguments):
    """Run a function in a fork beside the block: drawing all figures takes as long as the page."""
    if sys.platform != "linux":  # elsewhere a fork is not safe, or there is none
        yield
        function(*arguments)
        return
    child = multiprocessing.get_context("fork").Process(target=function, args=arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads, Python 3.12
        child.start()
    try:
        yield
        child.join()
    finally:
        child.kill()
    if child.exitcode:
        raise RuntimeError(f"Drawing the figures failed, with exit code {child.exitcode}.")


def _write(content, path):
    # A page that is cut off by a full disk would look like a finished one.
    with whole_file(path) as unfinished:
        unfinished.write_bytes(content)


@dataclass(frozen=True, eq=False)
class Report:
    """The content of a report."""

    study: Study
    display: Display  # how its methods and data sets are shown
    results: Results
    prices: pd.DataFrame  # from `budgetbench.report.data_page.price_table`; may be empty
    provenance: dict = field(default_factory=dict)  # what the results were made with, by name
    tables: dict = field(default_factory=dict)  # the tables of all sections, by name
    # Those of `results`, and what methods have for seconds left after their tries.
    all_points: pd.DataFrame | None = None

    @classmethod
    def of(cls, study, points, sheets, prices, provenance):
        """Put a report's content together.

        `points` are the operating points of all methods and runs, the control "constant" among
        them, `sheets` and `prices` are from `budgetbench.report.data_page`, `provenance` says what
        the results were made with. A `ConfigError` says when the points hold a method or data set
        that the study does not compare.
        """
        compared = Display(study.methods, sheets)
        # Equal tries are the comparison; what extra seconds brought has a table of its own.
        within = points[~study.beyond_tries(points)]
        results = Results(check_points(within), compared, _expected(study))
        # Results first, as colours go by rank; the comparison itself needs no colours.
        display = Display(study.methods, sheets, ranked=results.ranking.mean.index)
        return cls(study, display, results, prices, provenance, all_points=points)

    @property
    def cases(self):
        """The (dataset, costs) pairs in which methods are compared by acquisition cost."""
        return self.display.cases(self.results.bought)


def _expected(study):
    """Return every (dataset, costs, method, run) that the study asks for."""
    runs = range(study.config["runs"])
    rows = [(*cell, run) for cell, run in itertools.product(study.cells, runs)]
    return pd.DataFrame(rows, columns=RUN)
