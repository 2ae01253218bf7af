"""The effort of every method: models fitted, seconds to fit and predict, and gain by tuning."""

from budgetlearn.curves import pareto_indices

from ...analysis.efforts import effort_table, equal_seconds_table, straw_men
from ...analysis.schedules import CASE
from ...study.study import ACQUISITION
from ..section import Section
from ..style import drawing, legend_below, message_figure, plain_decades
from ..text import counted, number, seconds

_SHORTEST = 1e-4  # seconds; shorter times are drawn here, as a logarithmic axis needs a floor


class Effort(Section):
    """Models fitted, seconds and areas, by default and tuned."""

    id = "effort"
    place = 24
    under = ACQUISITION
    category = "Time"
    pictures = (("effort", "effort"),)

    @property
    def names(self):
        return ["effort", "straw_men", *(["equal_seconds"] if self._other else [])]

    @property
    def _other(self):
        """The method whose seconds all others may use; None if the study has none."""
        named = self.study.config.get("seconds_of")
        return named if named in self.study.methods else None  # it may not be installed

    def tables(self, report):
        points, areas = report.results.by_cost, report.results.areas
        found = straw_men(points, areas, report.display.competitors)
        tables = {"effort": effort_table(points, areas), "straw_men": found}
        if self._other:
            # Includes the fits beyond equal tries, which all other tables omit.
            whole = report.display.under(ACQUISITION, report.all_points)
            beyond, expected = self.study.beyond_tries(whole), report.results.expected
            tables["equal_seconds"] = equal_seconds_table(whole, beyond, self._other, expected)
        return tables

    def summary(self, report):
        # Readers must know this before they believe the ranks.
        found = straw_man_sentences(report.tables["straw_men"], report.display)
        what = counted(len(found), "comparison")
        said = "methods have no larger AUP than the free constant, or a smaller one by tuning"
        return [f"In {what} {said}: see “What it took”."] if found else []

    def figures(self, report):
        """Draw mean AUP against median seconds to fit, and the front not beaten in both."""
        means, display = _over_data_sets(report), report.display
        shown = means[means["method"].isin(display.competitors)].dropna(subset=["seconds", "aup"])
        if shown.empty:
            return {"effort": message_figure("No run completed.")}
        shown = shown.assign(seconds=shown["seconds"].clip(lower=_SHORTEST))
        with drawing(6.4, 4.2) as (figure, axes):
            front = shown.iloc[pareto_indices(shown["seconds"], shown["aup"])]
            axes.step(front["seconds"], front["aup"], where="post", color="#777777", linewidth=1.2)
            for row in shown.itertuples():
                method = display.methods[row.method]
                look = {"color": method.colour, "markersize": 8, "label": method.label}
                axes.plot(row.seconds, row.aup, method.marker, **look)
            axes.set(xscale="log", xlabel="seconds to fit a run, all tries")
            axes.set_ylabel("mean AUP, test data")
            plain_decades(axes.xaxis, shown["seconds"])
            legend_below(figure, *axes.get_legend_handles_labels())
        return {"effort": figure}

    def context(self, report):
        display, results = report.display, report.results
        return {
            "rows": [_row(row, display) for row in _over_data_sets(report).to_dict("records")],
            "warnings": straw_man_sentences(report.tables["straw_men"], display),
            "equal": equal_rows(report) if self._other else [],
            "other": display.label(self._other) if self._other else "",
            "tries": self.study.config.get("tries"),
            "over": display.among(results.ranking, results.by_cost) or "over data sets",
        }


def _on_ranked(table, ranking):
    """Return the rows of methods with all ranked data sets, there or, without ranks, anywhere."""
    own = table[~table["method"].isin(ranking.left_out)]
    ranked = own.set_index(CASE).index.isin(ranking.means.index)
    return own[ranked] if len(ranking.means) else own


def _over_data_sets(report):
    """Return one row for each method, with mean models and areas and median seconds, best first."""
    # Only of ranked data sets, and methods that have all of them: other means are not comparable.
    groups = _on_ranked(report.tables["effort"], report.results.ranking).groupby("method")
    means = groups[["default_models", "default_aup", "settings", "models", "aup"]].mean()
    # Medians, as one large data set would dominate a mean of seconds.
    medians = groups[["default_seconds", "seconds", "processor_seconds"]].median()
    return means.join(medians).sort_values("aup", ascending=False, kind="stable").reset_index()


def _row(row, display):
    counts = (number(row[name], ".0f") for name in ("settings", "default_models", "models"))
    clocks = (seconds(row[name]) for name in ("default_seconds", "seconds", "processor_seconds"))
    areas = (number(row[name], ".3f") for name in ("default_aup", "aup"))
    return [display.label(row["method"]), *counts, *clocks, *areas]


def equal_rows(report):
    """Return rows of settings, processor seconds and AUP at equal tries and at equal seconds."""
    table = _on_ranked(report.tables["equal_seconds"], report.results.ranking)
    table = table[table["method"].isin(report.display.competitors)]
    means = table.groupby(["method", "equal"])[["settings", "processor_seconds", "aup"]].mean()
    # Sorted by the better of the two areas.
    best = means["aup"].groupby("method").max().sort_values(ascending=False, kind="stable")
    rows = []
    for name in best.index:
        row = [report.display.label(name)]
        for settings, spent, aup in means.loc[name].loc[["tries", "seconds"]].to_numpy():
            row += [number(settings, ".0f"), seconds(spent), number(aup, ".3f")]
        rows.append(row)
    return rows


def straw_man_sentences(found, display):
    """Return a warning about each method that `straw_men` found."""
    # If no method is above the constant, there is one warning about the data set instead.
    below = found[found["below"] == "constant"]
    counts = below.groupby([*CASE, "n_rivals"])["method"].transform("size")
    nothing = below[(counts == below["n_rivals"]) & (counts > 1)]
    sentences = [
        f"On {display.case_title(row.dataset, row.costs)} none of {row.n_rivals} methods has a "
        "larger area than the free constant in any run: there may be nothing to learn, no feature "
        "worth its price, or models that buy everything."
        for row in nothing.drop_duplicates(CASE).itertuples()
    ]
    said = {
        "constant": "has no larger area than the free constant",
        "default": "is worse when tuned than at its own settings",
    }
    for row in found.drop(nothing.index).itertuples():
        where = f"{display.label(row.method)} on {display.case_title(row.dataset, row.costs)}"
        runs = {1: "its one run", 2: "both runs"}.get(row.n_runs, f"all {row.n_runs} runs")
        areas = f"mean AUP {row.aup:.3f} against {row.other_aup:.3f}"
        sentences.append(f"{where} {said[row.below]} in {runs} ({areas}).")
    return sentences


class Times(Section):
    """Seconds to fit and to predict."""

    id = "times"
    title = "Time"
    place = 90
    names = ("times",)

    def context(self, report):
        times, display = report.results.times, report.display
        return {"times": {part: time_rows(times, display, part) for part in ("fit", "predict")}}


def time_rows(table, display, part):
    """Return the cases' titles and each method's row: seconds to "fit", ms to "predict"."""
    names = [f"{part}_mean", f"{part}_sd"]
    in_unit = table.assign(**table[names] * (1000 if part == "predict" else 1))
    return display.matrix(in_unit, display.methods, lambda row: seconds(*map(row.get, names)))
