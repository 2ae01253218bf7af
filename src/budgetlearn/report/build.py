"""All tables and figures of a report, by the name of their file."""

from ..benchmark import aggregate
from ..benchmark.points import compressed_points
from ..benchmark.published import published_table
from .figures import area_figure, curve_figure, time_figure
from .mean_curves import case_curves
from .memory import memory_figure, memory_table
from .schedule import example_schedule, schedule_figure, schedule_table
from .shop import recommendations, shop_data


def build_tables(points, metadata):
    """Return the tables of a report.

    Parameters
    ----------
    points : DataFrame
        Operating points of all methods and runs, the control "constant" among them.
    metadata : Metadata
        Which methods compete, and the names and prices of variables.

    Returns
    -------
    dict of str to DataFrame
        areas, summary, leads, controls, times, coverage, schedule_<dataset>_<costs> for each
        case, memory where methods come in several sizes, and published where the study reruns
        published numbers.
    """
    metadata.check_covers(points)
    areas = aggregate.area_table(points)
    tables = {
        "areas": areas,
        "summary": aggregate.summary_table(areas),
        "leads": aggregate.lead_table(areas, metadata.competitors),
        "controls": aggregate.score_table(points, metadata.controls),
        "times": aggregate.time_table(points),
        "coverage": aggregate.coverage_table(points, metadata.expected),
    }
    if metadata.published is not None:
        tables["published"] = published_table(points, metadata.published, metadata.stand_ins)
    memory = memory_table(points, metadata)
    if len(memory):
        tables["memory"] = memory
    for (dataset, costs), (chosen, prices) in _examples(points, metadata).items():
        tables[f"schedule_{dataset}_{costs}"] = schedule_table(chosen, prices)
    return tables


def build_figures(points, metadata):
    """Return the figures of a report.

    Parameters
    ----------
    points, metadata
        As for `build_tables`.

    Returns
    -------
    dict of str to matplotlib.figure.Figure
        areas, times, curves_<dataset>_<costs> and schedule_<dataset>_<costs> for each case, and
        memory_<dataset>_<costs> for each that has methods of several sizes.
    """
    metadata.check_covers(points)
    kept = compressed_points(points)
    figures = {
        "areas": area_figure(aggregate.area_table(points), metadata),
        "times": time_figure(aggregate.run_times(points), metadata),
    }
    for (dataset, costs), (chosen, prices) in _examples(points, metadata).items():
        figures[f"curves_{dataset}_{costs}"] = curve_figure(kept, metadata, dataset, costs)
        figures[f"schedule_{dataset}_{costs}"] = schedule_figure(chosen, metadata, prices)
    memory = memory_table(points, metadata)
    for dataset, costs in metadata.cases(memory):
        figures[f"memory_{dataset}_{costs}"] = memory_figure(memory, metadata, dataset, costs)
    return figures


def build_cases(points, metadata):
    """Return what the page's scripts show of each case.

    Parameters
    ----------
    points, metadata
        As for `build_tables`.

    Returns
    -------
    dict of str to dict
        <dataset>_<costs> to title, score (its name) and curves (see `case_curves`),
        shop (see `shop_data`).
    """
    kept = compressed_points(points)
    return {
        f"{dataset}_{costs}": {
            "title": metadata.case_title(dataset, costs),
            "score": metadata.score(dataset),
            "curves": case_curves(kept, metadata, dataset, costs),
            "shop": shop_data(kept, metadata, dataset, costs),
        }
        for dataset, costs in metadata.cases(points)
    }


def _examples(points, metadata):
    """Return {case: (schedule to show, prices of its run)}."""
    kept = compressed_points(points)
    examples = {}
    for case in metadata.cases(points):
        chosen = example_schedule(kept, metadata, *case)
        run = None if chosen.empty else chosen["run"].iloc[0]
        examples[case] = chosen, metadata.prices(*case, run)
    return examples
