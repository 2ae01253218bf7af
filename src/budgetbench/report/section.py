"""The base of all sections in `budgetbench.report.sections`, their files, and their templates."""

from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from budgetlearn.files import read_yaml

from .text import as_text, first_upper

FIGURE, TABLE, FILE = "figure", "table", "file"


@dataclass(frozen=True)
class Part:
    """A file of the report."""

    name: str  # of the file, that of a figure or table without its ending
    kind: str  # a figure (svg), a table (csv), or any other file, its ending in its name
    category: str  # heading under which Snakemake's own report shows it
    caption: str  # what it shows, as reStructuredText
    labels: dict  # what tells it from others of its category

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


@cache
def texts():
    """Return the descriptions of files and columns of the report, from sections/texts.yaml."""
    return read_yaml(Path(__file__).parent / "sections" / "texts.yaml")


def part(name, kind=TABLE, category="Tables", stem=None, **labels):
    """Return the `Part` of a file, with the caption of its name, or else of a `stem`."""
    # A figure and the table that it draws say the same.
    caption = (texts()[FIGURE] | texts()[kind])[stem or name]
    return Part(name, kind, category, caption, labels or {"table": name})


def case_name(dataset, costs=None, stem=None):
    """Return the name of a case in files and on the page; `stem` says what is shown of it."""
    # One rule for all: files, anchors and the scripts' data find each other by it.
    return "_".join(filter(None, (stem, dataset, costs)))


class Section:
    """A section of the report's page, with the tables and figures that belong to it.

    A section is a subclass in a module of `budgetbench.report.sections`, where it is found without
    being listed anywhere. The module's template has a block for it, which gets `report`, `section`,
    `images` (figure's name to data URI) and what `context` returns. The Snakefile asks `applies`,
    `inputs` and `parts` at every start, so modules import drawing libraries only where they draw.
    """

    id = ""  # anchor on the page
    title = ""  # of the link on top of the page
    place = 0  # sections stand on the page from small to large
    under = None  # the budget by which the study must compare some data set, if any
    script = None  # name of its script beside the module, if any: it gets `script_data`
    inputs = ()  # files that it reads, beside operating points, data sets and prices
    stem, category = "", ""  # of the figure that `draw` makes of each case, if it does
    pictures = ()  # name and label of each other figure
    names = ()  # of its tables
    block = ""  # of its module's template; none: the block called as the class is

    def __init__(self, study):
        self.study = study

    @property
    def cases(self):
        """The (dataset, costs) pairs that the section shows."""
        return self.study.cases_under(self.under)

    def applies(self):
        """Return True if the study has anything for the section to show."""
        # Asked at every start of the Snakefile, before any result is there.
        return self.under is None or bool(self.cases)

    @property
    def parts(self):
        """The `Part` of each figure, table and file."""
        figure = partial(part, kind=FIGURE, category=self.category)
        figures = [figure(name, figure=label) for name, label in self.pictures]
        for case in self.cases if self.stem else ():
            labels = dict(zip(("data set", "costs"), case, strict=False))
            figures.append(figure(case_name(*case, stem=self.stem), stem=self.stem, **labels))
        return [*figures, *map(part, self.names)]

    def tables(self, report):
        """Return {name: DataFrame}; `report` is the `Report` without tables and images."""
        return {name: getattr(report.results, name) for name in self.names}

    def figures(self, report):
        """Return {name: matplotlib figure}; `report.tables` holds the tables of all sections."""
        shown = self.cases if self.stem else ()
        return {case_name(*case, stem=self.stem): self.draw(report, *case) for case in shown}

    def draw(self, report, *case):
        """Return the figure of a case, in a section that has a `stem`."""
        raise NotImplementedError

    def script_data(self, report, *case):
        """Return the data of a case for the script, in a section that has one."""
        raise NotImplementedError

    def files(self, report):
        """Return {name: bytes} of files of other kinds; `report.tables` holds all tables."""
        return {}

    def summary(self, report):
        """Return sentences for the top of the page."""
        return []

    def context(self, report):
        """Return the values of the template, by name."""
        return {}

    def render(self, environment, **values):
        """Return the section as HTML."""
        module = type(self).__module__.rpartition(".")[2]
        template = environment.get_template(f"{module}.html.j2")
        block = template.blocks[self.block or type(self).__name__]
        return "".join(block(template.new_context(values)))


def template_environment():
    """Return the template environment: escapes everything, refuses unknown names."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    # Page, sections, then head and style, which the model page shares.
    folders = {"budgetbench.report": ["templates", "sections"], "budgetlearn.cli": ["templates"]}
    loaders = [PackageLoader(name, path) for name, paths in folders.items() for path in paths]
    environment = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"as_text": as_text, "first_upper": first_upper}
    environment.globals["m"] = environment.get_template("macros.html.j2").module
    return environment
