"""What a model buys and how good it is, as lines of text."""

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
    """Return what is bought at an operating point, in words."""
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
    thinned = len(steps) > MOST_STEPS
    if thinned:
        kept = np.linspace(0, len(steps) - 1, MOST_STEPS).round().astype(int).tolist()
        kept += [] if chosen is None else [steps.index.get_loc(chosen)]
        steps = steps.iloc[sorted(set(kept))]
    held_out = "test_score" in steps
    head = f"  {'price':>9}  {saved.score_name:<13}"
    lines = [head + (f"  {'held out':<13}" if held_out else "") + "  buys"]
    for index, row in steps.iterrows():
        mark = "→" if index == chosen else " "
        line = f"{mark} {row['cost']:>9.2f}  {plus_minus(row['score'], row['score_se']):<13}"
        if held_out:
            line += f"  {plus_minus(row['test_score'], row['test_score_se']):<13}"
        lines.append(f"{line}  {bought(row)}")
    if thinned:
        lines.append("  (and steps between these; --report shows all)")
    return lines


def print_schedule(saved):
    """Print what was fitted, and its schedule."""
    train, valid, test = saved.n_rows
    held_out = f", {test:,} held out" if test else ""
    drawn = f", drawn from {saved.n_drawn_from:,}" if saved.n_drawn_from else ""
    n_columns = saved.costs.n_features
    click.echo(
        f"{saved.method} on {shown(saved.table)}: {train:,} rows to train, {valid:,} to validate"
        f"{held_out}{drawn}; {n_columns:,} column{'s' * (n_columns != 1)}, all of them for "
        f"{saved.costs.full:g}."
    )
    for name, words in list(saved.preprocessor.categories_.items())[:20]:
        known = ", ".join(map(shown, words[:6]))
        click.echo(f"  {shown(name)} has the categories: {known}{' …' if len(words) > 6 else ''}")
    click.echo()
    for line in lines_of(saved, saved.budget):
        click.echo(line)
    if saved.budget is not None:
        click.echo(f"→ is what a budget of {saved.budget:g} buys.")
