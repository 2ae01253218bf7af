"""All tables and figures of a report, by the name of their file."""

from dataclasses import replace


def build_tables(sections, report):
    """Return the report with the tables of all its sections.

    Parameters
    ----------
    sections : list of Section
        From `budgetlearn.report.sections.sections_of`.
    report : Report
        The content.

    Returns
    -------
    Report
    """
    return replace(report, tables=_of_all(sections, report, "tables"))


def build_figures(sections, report):
    """Return {name: matplotlib figure} of all sections; `report` has its tables."""
    return _of_all(sections, report, "figures")


def build_files(sections, report):
    """Return {name: bytes} of the files of other kinds of all sections; `report` has its tables."""
    return _of_all(sections, report, "files")


def _of_all(sections, report, kind):
    """Return what all sections make of a kind, by name."""
    made = {}
    for section in sections:
        made |= getattr(section, kind)(report)
    return made


def build_cases(sections, report):
    """Return what the page's scripts show of each case, as `script_data` takes it."""
    cases = {}
    for section in sections:
        for case, data in section.script_data(report).items():
            cases.setdefault(case, {})[section.id] = data
    display = report.display
    for dataset, costs in report.cases:
        if (name := f"{dataset}_{costs}") in cases:
            titles = {"title": display.case_title(dataset, costs), "score": display.score(dataset)}
            cases[name] = titles | cases[name]
    return cases
