"""The base of all sections in `budgetbench.report.sections`."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

FIGURE, TABLE, FILE = "figure", "table", "file"


@dataclass(frozen=True)
class Part:
    """A file of the report.

    Attributes
    ----------
    name : str
        Of the file, that of a figure or table without its ending.
    kind : {"figure", "table", "file"}
        A figure is in figures/ as svg (and png), a table in tables/ as csv, any other file there
        too, its ending in its name.
    category : str
        Under which heading Snakemake's own report shows it.
    caption : str
        What it shows, as reStructuredText.
    labels : dict of str to str
        What tells it from others of its category.
    """

    name: str
    kind: str
    category: str
    caption: str
    labels: dict = field(default_factory=dict)

    @property
    def path(self):
        """Path of the file in the study's folder."""
        if self.kind == FIGURE:
            return f"figures/{self.name}.svg"
        return f"tables/{self.name}" + (".csv" if self.kind == TABLE else "")

    @property
    def caption_path(self):
        """Path of the caption's file in the study's folder."""
        return f"captions/{self.kind}_{self.name}.rst"


def figure(name, category, caption, **labels):
    """Return the `Part` of a figure."""
    return Part(name, FIGURE, category, caption, labels or {"figure": name})


def table(name, caption):
    """Return the `Part` of a table."""
    return Part(name, TABLE, "Tables", caption, {"table": name})


def file(name, caption):
    """Return the `Part` of any other file, `name` with its ending."""
    return Part(name, FILE, "Tables", caption, {"table": name})


class Section:
    """A section of the report's page, with the tables and figures that belong to it.

    A section is a subclass in a module of `budgetbench.report.sections`, where it is found without
    being listed anywhere; beside the module lies its template of the same name (.html.j2), and if
    it has one its script (.js). The template gets `report`, `section`, `images` (figure's name to
    data URI) and what `context` returns. The Snakefile asks `applies`, `inputs` and `parts` at
    every start, so modules import drawing libraries only where they draw.

    Parameters
    ----------
    study : Study
        The study.

    Attributes
    ----------
    id : str
        The section's anchor on the page.
    title : str
        Its link on top of the page.
    place : int
        Sections stand on the page from small to large.
    """

    id = ""
    title = ""
    place = 0

    def __init__(self, study):
        self.study = study

    def applies(self):
        """Return whether the study has anything for the section to show."""
        return True

    @property
    def inputs(self):
        """Files that the section reads, beside operating points, data sets and prices."""
        return []

    @property
    def parts(self):
        """The `Part` of each figure and table."""
        return []

    def tables(self, report):
        """Return {name: DataFrame}; `report` is the `Report` without tables and images."""
        return {}

    def figures(self, report):
        """Return {name: matplotlib figure}; `report.tables` holds the tables of all sections."""
        return {}

    def files(self, report):
        """Return {name: bytes} of files of other kinds; `report.tables` holds all tables."""
        return {}

    def summary(self, report):
        """Return sentences for the top of the page."""
        return []

    def context(self, report):
        """Return the values of the template, by name."""
        return {}

    def script_data(self, report):
        """Return {<dataset>_<costs>: what the section's script shows of that case}."""
        return {}

    @cached_property
    def template(self):
        """Name of the template."""
        return f"{type(self).__module__.rpartition('.')[2]}.html.j2"

    @cached_property
    def script(self):
        """Name of the script; None where there is none."""
        # Found by its name beside the module, like the template: no list to keep.
        name = f"{type(self).__module__.rpartition('.')[2]}.js"
        return name if (Path(__file__).parent / "sections" / name).exists() else None
