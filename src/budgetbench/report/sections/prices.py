"""Feature costs of each data set."""

from ...analysis.schedules import CASE
from ..section import Section, table

_CAPTION = """Prices of the features of each data set, over all runs: the cheapest, the median, the
most expensive, and what all features cost in a run, on average. Charges of cost groups are left
out."""


class Prices(Section):
    """Cheapest, median and most expensive feature, and the full cost."""

    id = "prices"
    title = "Prices"
    place = 103

    @property
    def parts(self):
        return [table("prices", _CAPTION)]

    def tables(self, report):
        return {"prices": price_summary(report.prices)}

    def context(self, report):
        known = report.tables["prices"]
        rows = known.set_index(CASE).to_dict("index")
        titles = {case: report.display.case_title(*case) for case in report.display.cases(known)}
        return {"rows": [(title, rows[case]) for case, title in titles.items()]}


def price_summary(prices):
    """Return a summary of the feature costs of each case.

    Parameters
    ----------
    prices : DataFrame
        From `budgetbench.report.data_page.price_table`.

    Returns
    -------
    DataFrame
        dataset, costs; least, median, most: of the prices of all runs; full: what all features cost
        in a run, mean over runs.
    """
    groups = prices.groupby(CASE)["cost"]
    full = prices.groupby([*CASE, "run"])["cost"].sum().groupby(CASE).mean()
    summary = groups.agg(least="min", median="median", most="max")
    return summary.assign(full=full).reset_index()
