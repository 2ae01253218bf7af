"""Shows a model as lines of text, or as an HTML page with its curve."""

import shlex
import sys
from decimal import Decimal
from math import ceil, floor, log10

import click
import numpy as np
import pandas as pd

from ..exceptions import extra
from ..files import write_whole
from .options import note, shown

MOST_NAMES = 5
MOST_STEPS = 12
# If one class has at least this share of the rows, purchases rarely change a label.
MOST_ALIKE = 0.75
MOST_COLUMNS, MOST_WORDS = 500, 50
# Size and margins of the curve's picture (SVG), which needs no drawing library.
WIDTH, HEIGHT = 720, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 80, 16, 48


def scored(score, error):
    """Return a score with three decimals, more if its error is smaller, fewer if it is above 1."""
    known = max(1e-12, 1e-9 * abs(score)) < error and not 0.0005 <= error < 1
    digits = max(0, 1 - floor(log10(error))) if known else 3
    return f"{round(float(score), digits) + 0.0:.{digits}f}"


def plus_minus(score, error):
    """Return "0.912 ± .013"; "± ?" if a single group of rows gives no error."""
    own = f"{scored(score, error)} ± {scored(error, error)}"
    return own.replace("± 0.", "± .").replace("± nan", "± ?")


def in_words(saved, row):
    """Return the name of a model's score, a row's score and its score on held-out rows, as text."""
    # In a sentence, a loss has no minus: "total cost 7.1 ± .3", where tables have "−total cost".
    sign = -1 if saved.score_name.startswith("−") else 1
    found = [plus_minus(sign * row[name], row[f"{name}_se"]) for name in ("score", "test_score")]
    return saved.score_name.removeprefix("−"), *found


def decimals(cost):
    """Return the number of decimals that a cost is shown with."""
    return 2 - floor(log10(cost)) if 0 < cost < 0.1 else 2


def money(cost):
    """Return a cost with two decimals, or with three digits if it is below 0.1."""
    return f"{cost:.3g}" if 0 < cost < 0.1 else f"{cost:.2f}"


def least(cost):
    """Return a cost as `money` does, but rounded up, so that it suffices as a budget."""
    if not 1e-300 < cost < 1e13:
        return money(cost)
    scale = 10.0 ** decimals(cost)
    # Sums of floats may be slightly too large.
    return money(ceil(cost * (1 - 1e-13) * scale) / scale)


def amount(number):
    """Return a predicted number with six digits, a large one with ten."""
    return f"{number:.10g}" if abs(number) >= 1e5 else f"{number:.6g}"


def spread(row):
    """Return the standard error of a line's cost, with its decimals: " ± 0.81", or "" if 0."""
    error = f"{row['cost_se']:.{decimals(row['cost'])}f}"
    return f" ± {error}".replace("nan", "?") if float(error) else ""


def bought(row, rates=None):
    """Describe the columns of an operating point, the most frequent by `rates` first."""
    names = [shown(name) for name in row["variables"]]
    if not names:
        return "nothing"
    named, varies = names, row["n_features"] <= len(names) - 0.05
    if varies and rates is not None and rates.any():
        often = rates[rates > 0].sort_values(ascending=False, kind="stable")
        named = [f"{shown(name)} {percent(share)}" for name, share in often.items()]
        always = sum(each.endswith(" 100 %") for each in named)
        if len(named) > MOST_NAMES and always > 1:  # the other columns tell lines apart
            named = [f"{always} columns 100 %", *named[always:]]
    text = ", ".join(named[:MOST_NAMES])
    if len(names) > MOST_NAMES:
        text += f"{' …' * (len(named) > MOST_NAMES)} ({len(names)} columns)"
    return f"on average {row['n_features']:.1f} of: {text}" if varies else text


def percent(share):
    """Return a share above 0 in whole percent."""
    return f"{100 * share:.0f} %" if share > 0.005 else "<1 %"


def lines_of(saved, budget=None):
    """Return the schedule of a model: one line for each step that pays off."""
    auto = "method" in saved.curve
    # Without a budget, `auto` recommends one of its rows.
    chosen = saved.stage(budget) if auto or budget is not None else None
    steps = saved.steps(chosen)
    shown_steps = thinned(steps, chosen)
    rates = saved.held_out.get("rates", pd.DataFrame())
    rows = [(" ", "price", "", saved.score_name, "held out", "buys")]
    for index, row in shown_steps.iterrows():
        scores = (plus_minus(row[name], row[f"{name}_se"]) for name in ("score", "test_score"))
        buys = bought(row, rates.loc[index] if index in rates.index else None)
        if auto:
            everything = f"everything: {row['method']} on all features"
            buys += f"  ({everything if row['everything'] else row['method']})"
        mark = "→" if index == chosen else " "
        rows.append((mark, least(row["cost"]), spread(row), *scores, buys))
    widths = pd.DataFrame(rows).map(len).max()
    high, wide, width = max(9, widths[1]), widths[2], max(13, widths[3], widths[4])
    lines = [
        f"{mark} {price:>{high}}{error:<{wide}}  {score:<{width}}  {test:<{width}}  {buys}"
        for mark, price, error, score, test, buys in rows
    ]
    if len(shown_steps) < len(steps):
        lines.append("  (and steps between these; --report shows all)")
    return lines


def thinned(steps, chosen=None):
    """Thin out many rows; the first, the last and the one with the index `chosen` stay."""
    if len(steps) <= MOST_STEPS:
        return steps
    kept = steps.index[np.linspace(0, len(steps) - 1, MOST_STEPS).round().astype(int)]
    return steps[steps.index.isin([*kept, chosen])]


def print_schedule(saved):
    """Print what was fitted, and its schedule."""
    if hasattr(sys.stdout, "reconfigure"):  # shows ? on a screen without → or ±
        sys.stdout.reconfigure(errors="replace")
    train, valid, test, calibration = saved.n_rows
    put_aside = f", {calibration:,} to calibrate" if calibration else ""
    drawn = f", drawn from {saved.n_drawn_from:,}" if saved.n_drawn_from else ""
    to_validate = f", {valid:,} to validate" if valid else ""
    curve, n_columns = saved.curve, saved.costs.n_features
    click.echo(
        f"{saved.method} on {shown(saved.table)}: {train:,} rows to train{to_validate}, "
        f"{test:,} held out{put_aside}{drawn}; {n_columns:,} column{'s' * (n_columns != 1)} "
        f"with a total cost of {saved.costs.full:.10g}."
    )
    if hasattr(saved.model, "classes_"):
        shares = zip(saved.model.classes_[:6], saved.model.constant_, strict=False)
        text = ", ".join(f"{shown(label)} ({percent(share)})" for label, share in shares)
        text += " …" * (len(saved.model.classes_) > 6)
        click.echo(f"  {shown(saved.target)} is one of: {text}")
    for name, words in list(saved.preprocessor.categories_.items())[:20]:
        known = ", ".join(map(shown, words[:6]))
        click.echo(f"  {shown(name)} has the categories: {known}{' …' if len(words) > 6 else ''}")
    click.echo()
    click.echo("\n".join(lines_of(saved, saved.budget)))
    if saved.budget is not None:
        notes, line = [f"→ is what a budget of {saved.budget:.10g} buys"], curve.loc[saved.stage()]
        as_good = curve["cost"][curve["score"] >= line["score"]]
        if "method" in curve and as_good.min() < line["cost"]:
            notes.append("not better than a cheaper line, but not surely worse")
        click.echo(f"{'; '.join(filter(None, [*notes, how_kept(saved)]))}.")
    elif "method" in curve:
        click.echo("→ is recommended: no more expensive line is surely better.")
    buys_nothing = saved.budget != 0 and not curve["cost"][saved.stage()]
    for line in not_compared(getattr(saved.model, "skipped_", {}), buys_nothing):
        click.echo(line)
    click.echo(for_nothing(saved))
    for column in saved.held_out["telling"]:
        note(
            f"{shown(column)} alone predicts {shown(saved.target)} almost perfectly on the "
            f"held-out rows. If it is not known beforehand, use --drop {shlex.quote(column)}"
        )


def not_compared(skipped, buys_nothing):
    """Return lines about the methods that were not compared, by name and reason."""
    lines = []
    for why in dict.fromkeys(skipped.values()):
        names = ", ".join(shown(name) for name, own in skipped.items() if own == why)
        lines.append(f"Not compared: {names} ({why.replace('max_minutes', '--minutes')}).")
        if "max_minutes" in why and buys_nothing:
            lines.append("The time was too short to say that nothing is worth buying.")
    if "max_minutes" in skipped.get("cascade", ""):
        lines.append("The cascade often predicts best for its cost: try more --minutes or --jobs.")
    return lines


def mean_cost(saved, stage, n_rows):
    """Return the expected mean cost of new rows, in words."""
    mean, margin = saved.expected_cost(stage, n_rows)
    rows = "1 new row is" if n_rows == 1 else f"{n_rows:,} new rows are"
    error = spread({"cost": mean, "cost_se": margin})  # unlike others, two standard errors
    return f"{rows} expected to cost {money(mean)}{error and f'{error} (95 %)'} on average"


def how_kept(saved):
    """Return a sentence on how a budget is kept, or "" if all rows cost the same."""
    if saved.certificate is not None:
        sure = f"with {100 * saved.certificate.confidence:g} % confidence"
        return f"{sure}, new rows cost no more than {saved.certificate.cost:.10g} on average"
    stage = saved.stage()
    if not saved.curve.loc[stage, "test_cost_sd"]:
        return ""
    return f"{mean_cost(saved, stage, 100)} (--guaranteed keeps the budget)"


def for_nothing(saved):
    """Describe the free constant: its score, and whether no purchase was better."""
    free = saved.free
    says = amount(free["says"]) if saved.task == "regression" else shown(free["says"])
    name, own, held_out = in_words(saved, free)
    text = f"Buying nothing and always predicting {says}: {name} {own}, held out {held_out}."
    offered = saved.steps() if saved.budget is None else saved.curve.loc[[saved.stage()]]
    bought = offered[offered["cost"] > 0]
    too_little = bought.empty and saved.budget is not None
    if too_little or bought["test_score"].max() > free["test_score"]:
        return text
    if len(bought):
        what = "No purchase is" if saved.budget is None else "The budget's purchases are not"
        text += f" {what} better on the held-out rows."
    if saved.score_name == "accuracy" and free["score"] >= MOST_ALIKE:
        text += " As most rows are in one class, --method auto --scoring roc_auc says more."
    return text


def rendered(template, **values):
    """Return the page of a template; it needs no network and no other file."""
    with extra("cli", "a page"):
        from jinja2 import Environment, PackageLoader, StrictUndefined

    loader, blocks = PackageLoader("budgetlearn.cli"), {"trim_blocks": True, "lstrip_blocks": True}
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, **blocks)
    known = (money, least, amount, scored, plus_minus, percent)
    environment.filters |= {each.__name__: each for each in known}
    return environment.get_template(template).render(**values)


def write_page(saved, path):
    """Write the page of a model."""
    write_whole(path, rendered("model.html.j2", **_content(saved)), through_links=True)


def _content(saved):
    # The chosen point is drawn even if it is not on the front.
    index, has_budget = saved.stage(), saved.budget is not None
    steps, chosen = saved.steps(index), saved.curve.loc[index]
    whole, free = (each["test_score"] for each in (saved.held_out["everything"], saved.free))
    lines = {"everything": whole, "nothing": free}
    return {
        "saved": saved,
        "rows": list(steps.itertuples()),
        "spreads": steps.apply(spread, axis=1),
        "has_budget": has_budget,
        "index": index,
        "chosen": chosen,
        "in_words": in_words(saved, chosen),
        "for_nothing": for_nothing(saved),
        "kept": how_kept(saved),
        "varies": any(len(row.variables) > row.n_features + 0.05 for row in steps.itertuples()),
        "drawn": drawing(steps, index if has_budget else None, lines),
        "purchases": purchases(saved, steps, index),
        "ways": list(saved.held_out["stops"].itertuples()),
        "n_seen": int(saved.held_out["stops"]["n_rows"].sum()),
        "columns": _columns(saved),
        "most": MOST_COLUMNS,
    }


def purchases(saved, steps, index):
    """Return the table of what each step buys; columns are in the order of first purchases."""
    rates = thinned(saved.held_out["rates"].reindex(steps.index), index)
    # A purchase by fewer than 5 % of the rows does not count as the first.
    begins = (rates >= 0.05).to_numpy().argmax(axis=0)
    rates = rates[rates.columns[np.lexsort((-rates.iloc[-1].to_numpy(), begins))]]
    price = dict(zip(saved.preprocessor.feature_names_in_, saved.costs.costs, strict=True))
    return {
        "prices": [least(cost) for cost in steps.loc[rates.index, "cost"]],
        "chosen": rates.index.get_loc(index),
        "rows": [
            {"name": name, "price": price[name], "shares": shares.tolist()}
            for name, shares in rates.items()
        ],
    }


def _columns(saved):
    """Return name, price, shared charge and categories of each column, acquired ones first."""
    costs, encoder = saved.costs, saved.preprocessor
    ever = {name for names in saved.curve["variables"] for name in names}
    rows = []
    for place, name in enumerate(encoder.feature_names_in_):
        members, charge = costs.group_of(place)
        others = [encoder.feature_names_in_[member] for member in members if member != place]
        words = encoder.categories_.get(name, ())
        more = f" … ({len(words)})" if len(words) > MOST_WORDS else ""
        group = f"{charge:.10g} with {'; '.join(others)}" if others else ""
        row = {"name": name, "price": costs.costs[place], "group": group, "bought": name in ever}
        rows.append(row | {"words": "; ".join(words[:MOST_WORDS]) + more})
    return sorted(rows, key=lambda row: not row["bought"])


def ticks(low, high, most=6):
    """Return a few round numbers between two others."""
    span = (high - low) or abs(high) or 1.0
    # The smallest step of 1, 2 or 5 times a power of ten that gives few enough ticks.
    step = 10 ** floor(log10(span / most))
    step *= next(factor for factor in (1, 2, 5, 10) if span / (step * factor) <= most)
    return [k * step for k in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def labels(values):
    """Return round numbers as text, all with the number of decimals that the finest one needs."""
    digits = max(-Decimal(f"{value:.6g}").as_tuple().exponent for value in values)
    return [f"{value:.{max(digits, 0)}f}" for value in values]


def drawing(steps, chosen, lines):
    """Return the parts of the picture: points, error bars, the lines across it and the axes."""
    score, error = steps["score"], steps["score_se"]
    shown = [*(score - error), *(score + error), *steps["test_score"], *lines.values()]
    low, high = np.nanmin(shown), np.nanmax(shown)
    # A flat curve still needs an axis with some height.
    pad = 0.1 * (high - low) or 0.05
    low, high, most = low - pad, high + pad, float(steps["cost"].max()) * 1.05 or 1.0

    def x(cost):
        return round(LEFT + (WIDTH - LEFT - RIGHT) * cost / most, 1)

    def y(score):
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (high - score) / (high - low), 1)

    x_ticks, y_ticks = ticks(0, most), ticks(low, high)
    points = [
        {
            "x": x(row.cost),
            "y": y(row.score),
            "bar": (y(row.score - row.score_se), y(row.score + row.score_se)),
            "test": y(row.test_score),
            "chosen": row.Index == chosen,
            "best": row.score >= score.loc[: row.Index].max(),
            "says": f"{scored(row.score, row.score_se)} for {least(row.cost)}",
        }
        for row in steps.itertuples()
    ]
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "box": (LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM),
        "points": points,
        "lines": sorted((y(score), name) for name, score in lines.items()),
        "x_ticks": list(zip(map(x, x_ticks), labels(x_ticks), strict=True)),
        "y_ticks": list(zip(map(y, y_ticks), labels(y_ticks), strict=True)),
    }
