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
    tables = {}
    for section in sections:
        tables |= section.tables(report)
    return replace(report, tables=tables)


def build_figures(sections, report):
    """Return {name: matplotlib figure} of all sections.

    Parameters
    ----------
    sections : list of Section
        From `budgetlearn.report.sections.sections_of`.
    report : Report
        The content, with its tables.
    """
    figures = {}
    for section in sections:
        figures |= section.figures(report)
    return figures


def build_cases(sections, report):
    """Return what the page's scripts show of each case, as `script_data` takes it.

    Parameters
    ----------
    sections : list of Section
        From `budgetlearn.report.sections.sections_of`.
    report : Report
        The content.
    """
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
