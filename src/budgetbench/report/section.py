"""The base class of the report's sections, the files that they write, and their templates."""

from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from budgetlearn.files import read_yaml

from .text import as_text, counted, first_upper

KINDS = FIGURE, TABLE, FILE = "figure", "table", "file"


@dataclass(frozen=True)
class Part:
    """A file of the report."""

    name: str  # of the file, without extension if it is a figure or a table
    kind: str  # a figure (svg), a table (csv), or another file, whose name has an extension
    category: str  # heading under which Snakemake's own report shows it
    caption: str  # a description as reStructuredText
    labels: dict  # tell it apart from others of its category in Snakemake's report

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
    """Return the `Part` of a file, with the caption of its `stem`, or of its name without one."""
    # A table that a figure draws may share the figure's caption.
    caption = (texts()[FIGURE] | texts()[kind])[stem or name]
    return Part(name, kind, category, caption, labels or {"table": name})


def case_name(dataset, costs=None, stem=None):
    """Return the name of a case in files and on the page; `stem` is the kind of figure or table."""
    # Files, anchors and the scripts' data are matched by this name.
    return "_".join(filter(None, (stem, dataset, costs)))


class Section:
    """A section of the report's page, with the tables and figures that belong to it.

    A section is a subclass in a module of `budgetbench.report.sections`, where it is found without
    being listed anywhere. The module's template has a block for it, which receives `report`,
    `section`, `images` (figure's name to data URI) and the values from `context`. The Snakefile
    reads `applies`, `inputs` and `parts` at every start, so drawing libraries are imported late.
    """

    id = ""  # anchor on the page
    place = 0  # sections are sorted by it
    under = None  # a budget; the section needs a data set that is compared by it
    script = None  # name of its script in the module's folder, which receives `script_data`
    inputs = ()  # files that it reads besides operating points, data sets and prices
    stem, category = "", ""  # of the figure that `draw` makes of each case, if any
    pictures = ()  # name and label of each other figure
    names = ()  # of its tables
    block = ""  # of its module's template; by default the one named like the class

    def __init__(self, study):
        self.study = study

    @property
    def title(self):
        """The link at the top of the page; by default, the anchor in words."""
        return self.id.capitalize().replace("-", " ")

    @property
    def cases(self):
        """The (dataset, costs) pairs that the section shows."""
        return self.study.cases_under(self.under)

    def applies(self):
        """Return True if the study has anything for the section to show."""
        # Called at every start of the Snakefile, before there are results.
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
        """Return the figure of a case, if the section has a `stem`."""
        raise NotImplementedError

    def script_data(self, report, *case):
        """Return the data of a case for the script, if the section has one."""
        raise NotImplementedError

    def files(self, report):
        """Return {name: bytes} for other files; `report.tables` holds all tables."""
        return {}

    def summary(self, report):
        """Return sentences for the top of the page."""
        return []

    def context(self, report):
        """Return the values of the template, by name."""
        return {}

    def render(self, environment, **values):
        """Return the section as HTML."""
        template = environment.get_template(f"{type(self).__module__.rpartition('.')[2]}.html.j2")
        block = template.blocks[self.block or type(self).__name__]
        return "".join(block(template.new_context(values)))


def template_environment():
    """Return the template environment, which escapes all values and refuses unknown names."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    # The page and the sections, then the head and style, which are shared with the model page.
    folders = {"budgetbench.report": ["templates", "sections"], "budgetlearn.cli": ["templates"]}
    loaders = [PackageLoader(name, path) for name, paths in folders.items() for path in paths]
    loader, blocks = ChoiceLoader(loaders), {"trim_blocks": True, "lstrip_blocks": True}
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, **blocks)
    environment.filters |= {"as_text": as_text, "counted": counted, "first_upper": first_upper}
    environment.globals["m"] = environment.get_template("macros.html.j2").module
    return environment
