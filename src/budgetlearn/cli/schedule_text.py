"""Acquisitions and scores of a model, as lines of text."""

import click
import numpy as np

MOST_NAMES = 5
MOST_STEPS = 12


def shown(name):
    """Return a name on one line, as a terminal can show it."""
    text = str(name)
    return text if text.isprintable() else repr(text)


def plus_minus(score, error):
    """Return "0.912 ± .013"."""
    return f"{score:.3f} ± {error:.3f}".replace("± 0.", "± .")


def bought(row):
    """Return the columns of an operating point, in words."""
    names = [shown(name) for name in row["variables"]]
    if not names:
        return "nothing"
    text = ", ".join(names[:MOST_NAMES])
    if len(names) > MOST_NAMES:
        text += f" … ({len(names)} columns)"
    mean = row["n_features"]
    return text if mean > len(names) - 0.05 else f"on average {mean:.1f} of: {text}"


def lines_of(saved, budget=None):
    """Return the schedule of a model: one line for each step that pays off.

    Parameters
    ----------
    saved : SavedModel
        The model.
    budget : float, default=None
        Marks what it buys.

    Returns
    -------
    list of str
    """
    steps, chosen = saved.steps(), None if budget is None else saved.stage(budget)
    if chosen is not None and chosen not in steps.index:
        steps = saved.curve.loc[sorted([*steps.index, chosen], key=saved.curve["cost"].get)]
    # First, last and chosen step always stay.
    thinned = len(steps) > MOST_STEPS
    if thinned:
        kept = np.linspace(0, len(steps) - 1, MOST_STEPS).round().astype(int).tolist()
        kept += [] if chosen is None else [steps.index.get_loc(chosen)]
        steps = steps.iloc[sorted(set(kept))]
    lines = [f"  {'price':>9}  {saved.score_name:<13}  {'held out':<13}  buys"]
    for index, row in steps.iterrows():
        mark = "→" if index == chosen else " "
        scores = (plus_minus(row[f"{part}score"], row[f"{part}score_se"]) for part in ("", "test_"))
        columns = "".join(f"  {score:<13}" for score in scores)
        lines.append(f"{mark} {row['cost']:>9.2f}{columns}  {bought(row)}")
    if thinned:
        lines.append("  (and steps between these; --report shows all)")
    return lines


def print_schedule(saved):
    """Print what was fitted, and its schedule."""
    train, valid, test, calibration = saved.n_rows
    put_aside = f", {calibration:,} to calibrate" if calibration else ""
    drawn = f", drawn from {saved.n_drawn_from:,}" if saved.n_drawn_from else ""
    n_columns = saved.costs.n_features
    click.echo(
        f"{saved.method} on {shown(saved.table)}: {train:,} rows to train, {valid:,} to validate, "
        f"{test:,} held out{put_aside}{drawn}; {n_columns:,} column{'s' * (n_columns != 1)}, all "
        f"of them for {saved.costs.full:g}."
    )
    if hasattr(saved.model, "classes_"):
        click.echo(f"  {shown(saved.target)} is one of: {_classes(saved.model)}")
    for name, words in list(saved.preprocessor.categories_.items())[:20]:
        known = ", ".join(map(shown, words[:6]))
        click.echo(f"  {shown(name)} has the categories: {known}{' …' if len(words) > 6 else ''}")
    click.echo()
    for line in lines_of(saved, saved.budget):
        click.echo(line)
    if saved.budget is not None:
        kept = how_kept(saved)
        click.echo(f"→ is what a budget of {saved.budget:g} buys{f'; {kept}' * bool(kept)}.")
    click.echo(for_nothing(saved))


def _classes(model, most=6):
    """Return the classes and how frequent they are in training."""
    shares = zip(model.classes_[:most], model.constant_, strict=False)
    text = ", ".join(f"{shown(label)} ({100 * share:.0f} %)" for label, share in shares)
    return text + " …" * (len(model.classes_) > most)


def mean_cost(saved, stage, n_rows):
    """Return the expected mean cost of new rows, in words."""
    mean, margin = saved.expected_cost(stage, n_rows)
    return f"{n_rows:,} new rows are expected to cost {mean:.2f} ± {margin:.2f} on average"


def how_kept(saved):
    """Return a sentence on how a budget is kept, where costs differ between rows."""
    if saved.certificate is not None:
        return (
            f"with {100 * saved.certificate.confidence:g} % confidence new rows cost no more than "
            f"{saved.certificate.cost:g} on average"
        )
    stage = saved.stage()
    if not saved.curve.loc[stage, "test_cost_sd"]:
        return ""
    return f"{mean_cost(saved, stage, 100)} (--guaranteed keeps the budget)"


def for_nothing(saved):
    """Return a sentence on the constant: its score, and a note where nothing was better."""
    free = saved.free
    says = f"{free['says']:.6g}" if saved.task == "regression" else shown(free["says"])
    text = (
        f"Buying nothing, always {says}: {saved.score_name} "
        f"{plus_minus(free['score'], free['score_se'])}, held out "
        f"{plus_minus(free['test_score'], free['test_score_se'])}."
    )
    offered = saved.steps() if saved.budget is None else saved.curve.loc[[saved.stage()]]
    bought = offered[offered["cost"] > 0]
    if bought.empty or bought["test_score"].max() > free["test_score"]:
        return text
    what = "Nothing that is bought" if saved.budget is None else "Nothing that the budget buys"
    return f"{text} {what} is better on the rows held out."
