"""All tables and figures of a report, by the name of their file."""

from ..benchmark import aggregate
from ..benchmark.deviations import with_deviations
from ..benchmark.points import compressed_points
from ..benchmark.published import published_table
from ..benchmark.ranking import rank_table, ranking_of
from ..benchmark.study import ACQUISITION, MEMORY
from .acquisition import acquisition_figure, acquisition_table
from .figures import area_figure, curve_figure
from .inside import inside_drawings
from .memory import memory_figure, memory_table
from .own_cost import own_cost_figure, own_cost_table
from .ranking import rank_figure
from .schedule import example_schedule, schedule_figure, schedule_table
from .shop import all_recommendations
from .times import growth_figure, time_figure


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
        times and coverage; areas, summary, ranks, leads, controls, recommendations, acquisition,
        and schedule_<dataset>_<costs> for each case, where the study compares methods by
        acquisition cost; memory where it compares them by memory; published where it reruns
        published numbers; own_cost where it has methods without a choice of budget.
    """
    metadata.check_covers(points)
    bought = metadata.under(ACQUISITION, points)
    kept = compressed_points(bought)
    tables = {
        **(_area_tables(bought, kept, metadata) if len(bought) else {}),
        "times": aggregate.time_table(points),
        "coverage": aggregate.coverage_table(points, metadata.expected),
    }
    if metadata.published is not None:
        printed = published_table(points, metadata.published, metadata.stand_ins)
        tables["published"] = with_deviations(printed, metadata.reasons)
    if metadata.inside.own_cost:
        tables["own_cost"] = own_cost_table(bought, kept, metadata)
    stored = metadata.under(MEMORY, points)
    if len(stored):
        tables["memory"] = memory_table(stored, metadata)
    for (dataset, costs), (chosen, prices) in _examples(bought, kept, metadata).items():
        tables[f"schedule_{dataset}_{costs}"] = schedule_table(chosen, prices)
    return tables


def _area_tables(bought, kept, metadata):
    """Return who wins where methods are compared by acquisition cost."""
    areas = aggregate.area_table(bought)
    summary = aggregate.summary_table(areas)
    return {
        "areas": areas,
        "summary": summary,
        "ranks": rank_table(ranking_of(summary, metadata.rivals(summary))),
        "leads": aggregate.lead_table(areas, metadata.competitors),
        "controls": aggregate.score_table(bought, metadata.controls),
        "recommendations": all_recommendations(kept, metadata),
        "acquisition": acquisition_table(kept, metadata),
    }


def build_figures(points, tables, metadata):
    """Return the figures of a report.

    Parameters
    ----------
    points : DataFrame
        As for `build_tables`.
    tables : dict of str to DataFrame
        What that returned.
    metadata : Metadata
        As for `build_tables`.

    Returns
    -------
    dict of str to matplotlib.figure.Figure
        times and growth; areas, ranks, and curves_<dataset>_<costs>, schedule_<dataset>_<costs>
        and acquisition_<dataset>_<costs> for each case where methods are compared by acquisition
        cost; memory_<dataset>_<costs> for each where they are compared by memory; own_cost,
        importance_<dataset>, staircases_<dataset>_<costs> and space_<dataset>_<costs> where the
        study asks for them.
    """
    times = tables["times"]
    figures = {"times": time_figure(times, metadata), "growth": growth_figure(times, metadata)}
    bought = metadata.under(ACQUISITION, points)
    if len(bought):
        figures |= _area_figures(bought, tables, metadata)
    if "own_cost" in tables:
        figures["own_cost"] = own_cost_figure(tables["own_cost"], metadata)
    for dataset, costs in metadata.cases(metadata.under(MEMORY, points)):
        figures[f"memory_{dataset}_{costs}"] = memory_figure(
            tables["memory"], metadata, dataset, costs
        )
    return figures


def _area_figures(bought, tables, metadata):
    """Return the figures of methods that are compared by acquisition cost."""
    kept, summary = compressed_points(bought), tables["summary"]
    figures = {
        "areas": area_figure(tables["areas"], metadata),
        "ranks": rank_figure(ranking_of(summary, metadata.rivals(summary)), metadata),
    }
    for case, (chosen, prices) in _examples(bought, kept, metadata).items():
        name = "_".join(case)
        figures[f"acquisition_{name}"] = acquisition_figure(tables["acquisition"], metadata, *case)
        figures[f"curves_{name}"] = curve_figure(kept, metadata, *case)
        figures[f"schedule_{name}"] = schedule_figure(chosen, metadata, prices)
    return figures | inside_drawings(kept, metadata.cases(bought), metadata)


def _examples(bought, kept, metadata):
    """Return {case: (schedule to show, prices of its run)}."""
    examples = {}
    for case in metadata.cases(bought):
        chosen = example_schedule(kept, metadata, *case)
        run = None if chosen.empty else chosen["run"].iloc[0]
        examples[case] = chosen, metadata.prices(*case, run)
    return examples
