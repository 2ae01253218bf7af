"""`budgetlearn recommend`: from a comparison to a model of its best method, fitted and measured."""

from collections import Counter
from pathlib import Path

import click
from sklearn.utils import check_random_state

from ..costs import affords
from ..exceptions import BudgetError, ConfigError
from ..extras import extra
from . import options
from .fit import AUTO, MINUTES, fit_table, make, sampled
from .output import plus_minus, print_schedule
from .study_files import folders, read_study, refuse_outdated, target_of

CONTROLS = ("constant", "all_features")  # the engine has its own


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--budget",
    type=click.FloatRange(min=0),
    required=True,
    help="Most that a prediction may cost on average.",
)
@options.guaranteed
@options.out
@click.option("--max-rows", type=click.IntRange(min=10), default=100_000, show_default=True)
@click.option("--minutes", type=click.FloatRange(min=0, min_open=True), default=MINUTES)
@options.trust
@options.jobs
@options.debug
def recommend(folder, budget, guaranteed, out, max_rows, minutes, trust, jobs):
    """Fit the best method for a budget: that of FOLDER, a comparison, or a better one.

    The method that the comparison recommends competes with those of `budgetlearn fit`, out of fold.

    FOLDER is results/NAME of `budgetlearn compare`. As in `budgetlearn fit` a fifth of the rows is
    held out: what is printed was measured with the model that is written, on rows that it has not
    seen.
    """
    with extra("workflow", "budgetlearn recommend"):
        from budgetbench.study.methods import build
    # What the folder names is checked before anything of it is used: it may come from others.
    study, own, preprocessor = read_study(folder, folders()[0], trust)
    best, settings = _best(study, folder, own, budget)
    (dataset,) = study.datasets
    spec, seed = study.spec(best["method"], dataset), study.seed
    label = study.methods[best["method"]]["label"]
    n_runs = int(best["n_runs"])
    runs = f"{n_runs} run{'s' * (n_runs != 1)}"
    click.echo(f"Best for {budget:g} by the comparison in {runs}: {label}.")
    if best["as_good"]:
        click.echo("The free constant, which buys nothing, may do as well.")
    # The study's own seed: the model is the comparison's, fitted once more.
    extras = {"feature_costs": own.costs, "random_state": seed, "n_jobs": jobs}
    estimator = build(spec, **extras).set_params(**settings)
    random = check_random_state(seed)
    rows = sampled(own, max_rows, random)
    # The same engine as of `fit`: the comparison's method competes on the whole of these rows.
    engine = make(AUTO, own.task, own.costs, seed, jobs)
    if best["method"] not in CONTROLS:
        engine.set_params(others={label: estimator})
    engine.set_params(budgets=(budget,), max_minutes=minutes)
    about = {"method": AUTO, "budget": budget}
    saved = fit_table(own, engine, preprocessor, rows, random, about, guaranteed)
    stage = saved.stage()  # refused before anything is written
    print_schedule(saved)
    measured = saved.curve.loc[stage]
    click.echo(
        f"On {saved.n_rows[2]:,} rows that this model has not seen: {saved.score_name} "
        f"{plus_minus(measured['test_score'], measured['test_score_se'])}, for "
        f"{measured['test_cost']:.2f} a row."
    )
    if out:
        saved.save(out)
        click.echo(f"Model: {out}")


def _best(study, folder, own, budget):
    """Return the row of recommendations for a budget, and the method's setting in its grid."""
    from budgetbench.analysis.recommendations import recommendations
    from budgetbench.analysis.schedules import compressed_points
    from budgetbench.study import records
    from budgetbench.study.evaluation import SCORES
    from budgetbench.study.runs import ratio_of_test_rows
    from budgetbench.study.tries import settings_of

    if not (folder / "points.parquet").is_file():
        raise ConfigError(f"{folder} has no results yet: run `budgetlearn compare` to the end.")
    schedules = compressed_points(records.read([folder / "points.parquet"]))
    ((dataset, kind),) = study.cases
    ratio, bounded = ratio_of_test_rows(target_of(own, study), study), SCORES[own.task].bounded
    known = {"ratio": ratio, "bounded": bounded}
    offers = recommendations(schedules, list(study.methods), dataset, kind, **known)
    share = budget / own.costs.full if own.costs.full else 0.0
    within = offers[affords(share, offers["budget"])]
    if within.empty:
        cheapest = float(offers["budget"].min()) * own.costs.full
        raise BudgetError(f"No method costs at most {budget:g}: the cheapest costs {cheapest:.2f}.")
    best = within.iloc[-1]
    refuse_outdated(study, own, best["method"], folder / "points.parquet")
    # Runs may have chosen different settings: the most frequent one is taken.
    fits = Counter(schedules.loc[best["models"], "fit"].tolist())
    spec = study.spec(best["method"], dataset)
    settings = settings_of(best["method"], spec, study.seed, dataset)
    return best, settings[int(fits.most_common(1)[0][0])]
