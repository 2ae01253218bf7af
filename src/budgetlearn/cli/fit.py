"""`budgetlearn fit`: fits a schedule to a table with prices, and measures it on held-out rows."""

import sys
from collections import Counter
from math import ceil

import click
import numpy as np
import pandas as pd
from sklearn.metrics import balanced_accuracy_score
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

import budgetlearn

from ..auto import scores
from ..auto.estimator import MOST_COMPARED, AutoBudget
from ..auto.everything import boosted_trees, has_lightgbm
from ..auto.methods import Method
from ..costs import has_decimal_commas
from ..exceptions import ConfigError, DatasetError
from ..preprocessing.categories import MEDIAN, as_words
from ..preprocessing.preprocessor import BudgetPreprocessor
from ..preprocessing.reading import read_table
from ..validation import holdout, in_row, listed, rows_of_groups
from . import options
from .options import note
from .output import print_schedule, write_page
from .saved_model import SavedModel
from .table import CLASSIFICATION, REGRESSION, table_of

AUTO = "auto"
METHODS = {
    CLASSIFICATION: {
        AUTO: "AutoBudgetClassifier",
        "msb": "ModelScheduleSearch",
        "cascade": "ScheduleCascadeClassifier",
        "budgetrf": "BudgetRFClassifier",
        "rfb": "CostWeightedRFClassifier",
        "cost_sensitive_rf": "CostSensitiveRFPathClassifier",
        "logitb": "LogitPathClassifier",
        "fmcc": "FMCCClassifier",
        "lightgbm": "LightGBMCostClassifier",
        "greedy_miser": "GreedyMiserClassifier",
        "filter_forest": "FilterForestClassifier",
    },
    REGRESSION: {AUTO: "AutoBudgetRegressor", "cascade": "ScheduleCascadeRegressor"}
    | {"budgetrf": "BudgetRFRegressor", "lightgbm": "LightGBMCostRegressor"},
}
NAMES = tuple(METHODS[CLASSIFICATION])
TEST, VALIDATION = 0.2, 0.25  # shares of all rows, and of the remaining rows
CALIBRATION = 0.25  # share of the rows that are not held out, taken before validation
ERROR_COSTS = ["true", "predicted", "cost"]  # columns of the file
FEWEST_OF_CLASS = 4  # two to train, one to validate, one held out
# Of the statistics of held-out rows:
MOST_ROWS = 5_000  # with more, shares hardly change
MOST_COLUMNS = 40
MOST_WAYS = 12
MOST_FOR_TREE = 500  # columns
# A column with this score may have been recorded after the target was known.
TOO_GOOD = 0.999
FEWEST_TO_TELL, ENOUGH_TO_TELL = 8, 1_000  # rows; fewer agree by chance, more change little
OTHERS = "other paths"


@click.command()
@options.of_table
@click.option(
    "--method", type=click.Choice(NAMES), default=AUTO, help="auto takes the best for each budget."
)
@options.minutes
@click.option(
    "--scoring",
    type=click.Choice([*scores.CLASSIFICATION, *scores.REGRESSION]),
    help="Score by which auto chooses.  [default: accuracy; r2 for numbers]",
)
@click.option(
    "--error-costs",
    type=options.FILE,
    callback=options.from_pipe,
    help="File with costs of errors, in the unit of prices (auto only): true,predicted,cost.",
)
@click.option("--weights", help="Column with the weight of each row (auto only).")
@options.budget
@options.guaranteed
@options.out
@options.report
@options.max_rows(100_000, "draw this many rows at random")
@options.reading
@options.seed
@options.jobs
@options.debug
def fit(table, method, budget, guaranteed, out, report, max_rows, seed, jobs, **rest):
    """Train on TABLE (csv, .xlsx or Parquet; - for a pipe) and print what each price buys.

    A fifth of the rows is held out from training, to show how well the model predicts new rows:

        budgetlearn fit patients.csv --target ill --costs prices.csv --budget 50 --out model.joblib
    """
    options.check_written((out, report), (table, rest["costs"], rest["error_costs"]))
    preprocessor = {name: rest[name] for name in ("missing", "categorical")}
    if guaranteed and budget is None:
        raise click.UsageError("--guaranteed needs a --budget.")
    own = table_of(table, rest)
    random = check_random_state(seed)
    rows = sampled(own, max_rows, random)
    if rows.size < len(own.y):
        note(f"{rows.size:,} of {len(own.y):,} rows are used, drawn at random (--max-rows).")
    estimator = make(method, own.task, own.costs, seed, jobs)
    set_criteria(estimator, own, method, budget, rest)
    about = {"method": method, "budget": budget}
    saved = fit_table(own, estimator, preprocessor, rows, random, about, guaranteed, bool(report))
    if budget is not None:
        saved.stage(budget)  # raises if it is too small, before anything is written
    # Written first, as printing may fail: the screen may close (| head) or lack a character.
    if out:
        saved.save(out)
    if report:
        write_page(saved, report)
    print_schedule(saved)
    for what, path in (("Model", out), ("Page", report)):
        if path:
            click.echo(f"{what}: {path}")


def set_criteria(estimator, table, method, budget, given):
    """Set the criteria by which `auto` chooses, from the options."""
    scoring, errors = given["scoring"], given["error_costs"]
    if method != AUTO:
        if scoring or errors or table.weight is not None:
            raise ConfigError(
                f"--scoring, --error-costs and --weights need --method auto, got {method}."
            )
        return
    budgets = () if budget is None else (budget,)
    estimator.set_params(scoring=scoring, budgets=budgets, max_minutes=given["minutes"])
    if errors and table.task == REGRESSION:
        raise ConfigError("--error-costs need classes: use --task classification.")
    if errors:
        costs = read_error_costs(errors)
        estimator.set_params(error_costs=costs)
        classes = np.unique(table.y).tolist()
        pairs = [(true, said) for true in classes for said in classes if true != said]
        free = [f"{true} taken for {said}" for true, said in pairs if (true, said) not in costs]
        if free and {label for pair in costs for label in pair} <= set(classes):
            note(f"errors that {errors} does not list cost nothing: {listed(free)}.")


def read_error_costs(path):
    """Read a table with the costs of errors; return them by (true, predicted) class."""
    frame = read_table(path, text=True)
    if sorted(frame.columns) != sorted(ERROR_COSTS):
        raise ConfigError(
            f"{path} needs the columns {','.join(ERROR_COSTS)}, but has {','.join(frame.columns)}."
        )
    frame[ERROR_COSTS[:2]] = read_table(path)[ERROR_COSTS[:2]]  # classes, read as in a table
    frame = frame.apply(as_words).fillna("")
    lines = [{"line": row, "cost": cost} for row, cost in enumerate(frame["cost"], 2)]
    comma = "," if has_decimal_commas(path, lines) else "."
    costs = pd.to_numeric(frame["cost"].str.replace(comma, "."), errors="coerce")
    odd = np.flatnonzero(~costs.between(0, np.inf, "left"))
    twice = np.flatnonzero(frame.duplicated(ERROR_COSTS[:2]))
    if odd.size:
        raise ConfigError(
            f"{path}: costs must be numbers >= 0, got {frame['cost'][odd[0]]!r} {in_row(odd)}."
        )
    if twice.size:
        raise ConfigError(f"{path} lists the same error again {in_row(twice)}. Remove it.")
    return frame.assign(cost=costs).set_index(ERROR_COSTS[:2])["cost"].to_dict()


def make(method, task, costs, seed, jobs):
    """Return the unfitted estimator of a method; raise `ConfigError` if it cannot do the task."""
    if method not in METHODS[task]:
        raise ConfigError(
            f"{method} does not predict numbers. Methods for regression: "
            f"{', '.join(METHODS[REGRESSION])}; or use --task classification."
        )
    return Method(method, getattr(budgetlearn, METHODS[task][method]), {}).make(costs, seed, jobs)


def sampled(table, most, random):
    """Return the rows to fit on: all, or `most` of them drawn at random, stratified by class."""
    rows = np.arange(len(table.y))
    return rows if rows.size <= most else _split(table, rows, most / rows.size, random)[1]


def parts_of(table, rows, random, guaranteed=False, whole=False):
    """Return the rows for training, for validation, for testing (held out) and for calibration."""
    if table.task == CLASSIFICATION:
        _refuse_rare_classes(table, rows)
    # The held-out rows are drawn first, to be the same with and without --guaranteed.
    rest, test = _split(table, rows, TEST, random)
    rest, calibration = _split(table, rest, CALIBRATION, random) if guaranteed else (rest, rest[:0])
    if table.groups is not None:
        # A guarantee assumes independent rows, so one row of each group is used.
        own = random.permutation(calibration)
        calibration = own[rows_of_groups(table.groups[own])[0]]
    train, valid = (rest, rest[:0]) if whole else _split(table, rest, VALIDATION, random)
    return train, valid, test, calibration


def _refuse_rare_classes(table, rows):
    labels, codes = np.unique(table.y, return_inverse=True)
    counts = np.bincount(codes[rows], minlength=labels.size)
    rare = np.flatnonzero(counts < FEWEST_OF_CLASS)
    if rare.size:
        first, count = str(labels[rare[0]]), counts[rare[0]]
        more = f" ({rare.size} classes are so rare)" if rare.size > 1 else ""
        raise DatasetError(
            f"The target {table.target!r} has the class {first!r} in {count} of {rows.size} rows"
            f"{more}: too few to train, validate and test. Remove these rows, or merge the class "
            f"into one with at least {FEWEST_OF_CLASS} rows, such as 'other'."
        )


def _split(table, rows, share, random):
    # Stratified by class, so that a rare class is in every part.
    groups = None if table.groups is None else table.groups[rows]
    first, second = holdout(table.y[rows], share, random, table.task == CLASSIFICATION, groups)
    return rows[first], rows[second]


def fit_table(table, estimator, preprocessor, rows, random, about, guaranteed=False, page=False):
    """Fit and measure an estimator on table rows, in more detail for a `page`; return `SavedModel`.

    `preprocessor` has the parameters of `BudgetPreprocessor`, `about` the method and the budget.
    """
    auto = isinstance(estimator, AutoBudget)
    grouped = table.groups is not None and has_fit_parameter(estimator, "groups")
    # Methods that compare out of fold need no validation rows.
    parts = parts_of(table, rows, random, guaranteed, whole=auto or grouped)
    train, _, test, _ = parts
    encoder = BudgetPreprocessor(**preprocessor)
    # Categories come from all rows, so that none is unknown; medians only from training rows.
    encoder.fit(table.X.iloc[train if encoder.missing == MEDIAN else rows])
    train_data, valid_data, test_data, calibration_data = (
        (encoder.transform(table.X.iloc[part]), table.y[part]) for part in parts
    )
    known = {"sample_weight": table.weight, "groups": table.groups}

    def of(part, *names):
        return {name: known[name][part] for name in names if known[name] is not None}

    if sys.stderr.isatty():
        click.echo(f"Fitting {about['method']} on {train.size:,} rows …", err=True)
    if auto and train.size > MOST_COMPARED:
        note(f"methods are compared on {MOST_COMPARED:,} rows; training on all may score higher.")
    wanted = ("sample_weight", "groups") if grouped else ("sample_weight",)
    validation = () if auto or grouped else valid_data
    estimator.fit(*train_data, *validation, **of(train, *wanted))
    certificate = estimator.certify(*calibration_data, cost=about["budget"]) if guaranteed else None
    # The rows on which the estimator measured its own points, and their groups.
    own_data, own_rows = (valid_data, parts[1]) if validation else (train_data, train)
    own = *own_data, of(own_rows, "groups")
    curve = _curve(estimator, own, *test_data, **of(test, *known))
    says, row = _nothing(
        estimator, curve, train_data, validation, own, test_data, of(test, "groups")
    )
    scored = ("score", "score_se", "test_score", "test_score_se")
    # Ranges are for measurements: codes have no unit, and new dates are later ones.
    others = {*encoder.categories_, *table.reading["dates"]}
    ranges = {name: ends for name, ends in table.reading["ranges"].items() if name not in others}
    saved = SavedModel(
        preprocessor=encoder,
        model=estimator,
        curve=curve,
        free={"says": says, **{name: float(row[name]) for name in scored}},
        target=table.target,
        task=table.task,
        costs=table.costs,
        table=table.name,
        n_rows=tuple(part.size for part in parts),
        n_drawn_from=len(table.y) if rows.size < len(table.y) else None,
        certificate=certificate,
        reading=table.reading | {"ranges": ranges},
        **about,
    )
    saved.held_out = seen(saved, train_data, valid_data, test_data, page)
    return saved


def _nothing(estimator, curve, train, valid, own, test, groups):
    """Return the prediction if nothing is bought, and its row of scores as in the curve."""
    # A line of the schedule that buys nothing predicts it, as the first line of `auto` does.
    buys_nothing = (curve["n_features"] == 0).to_numpy()
    if buys_nothing.any():
        at = buys_nothing.argmax()
        return list(estimator.staged_predict(test[0][:1]))[at][0], curve.iloc[at]
    kind = "Classifier" if hasattr(estimator, "classes_") else "Regressor"
    constant = getattr(budgetlearn, f"FreeConstant{kind}")().fit(*train, *valid)
    if not np.array_equal(constant.constant_, estimator.constant_):  # it learned from both parts
        X, y = map(np.concatenate, zip(train, valid, strict=True))
        constant.fit(pd.DataFrame(X, columns=test[0].columns), y, *valid)
    return constant.predict(test[0])[0], _curve(constant, own, *test, **groups).iloc[0]


def _curve(estimator, own, X_test, y_test, **about):
    points, (X_own, y_own, groups) = estimator.operating_points_, own
    curve = points[["cost", "cost_se", "score", "score_se", "n_features", "variables"]].copy()
    held_out = estimator.measure(X_test, y_test, **about)
    if groups and not has_fit_parameter(estimator, "groups"):  # others count single rows
        curve = curve.assign(**estimator.measure(X_own, y_own, **groups)[["cost_se", "score_se"]])
    if isinstance(estimator, AutoBudget):
        curve["method"] = [setting["method"] for setting in points["setting"]]
        curve["everything"] = np.arange(len(curve)) == len(curve) - 1
    elif hasattr(estimator, "classes_"):
        # That n rows are all right does not show the error of n + 1 in n + 2 (Laplace).
        for points, y, known in ((curve, y_own, groups), (held_out, y_test, about)):
            n = rows_of_groups(known.get("groups", np.arange(len(y))))[0].size
            points["score_se"] = points["score_se"].replace(0, np.sqrt((n + 1) / n) / (n + 2))
    curve = curve.join(held_out[["cost", "cost_se", "score", "score_se"]].add_prefix("test_"))
    # Groups change the error of the mean, but not how much single rows differ.
    alone = estimator.measure(X_test, y_test) if "groups" in about else held_out
    curve["test_cost_sd"] = alone["cost_se"].to_numpy() * np.sqrt(len(y_test))
    return curve


def seen(saved, train, valid, test, page):
    """Return statistics of the held-out rows: for the screen, or also for a page."""
    X, y = (part[:: ceil(len(test[1]) / MOST_ROWS)] for part in test)
    views = {"telling": telling(saved.task, train, (X, y)), "rates": rates(saved, X)}
    if not page:
        return views
    if isinstance(saved.model, AutoBudget):  # its schedule ends with a model on all features
        last = saved.curve.iloc[-1]
        whole = {"model": last["method"], "test_score": float(last["test_score"])}
    else:
        whole = everything(saved.task, train, valid, test)
    return views | {"everything": whole, "stops": stops(saved, X, y)}


def everything(task, train, valid, test):
    """Return the name of boosted trees on all features, and their score on held-out rows."""
    # Thousands of columns would take minutes, so each tree draws some.
    share = min(1.0, MOST_FOR_TREE / test[0].shape[1])
    model = boosted_trees(task == CLASSIFICATION, share, random_state=0)
    # Trained on validation rows as well. On arrays, as LightGBM refuses some column names.
    X, y = (np.concatenate(parts) for parts in zip(train, valid, strict=True))
    # Targets are centred, as LightGBM holds them in single precision.
    centre = None if task == CLASSIFICATION else y.mean()
    y, truth = (each if centre is None else each - centre for each in (y, test[1]))
    score = model.fit(X, y).score(test[0].to_numpy(), truth)
    name = "LightGBM" if has_lightgbm() else "scikit-learn's boosted trees"
    return {"model": name, "test_score": float(score)}


def telling(task, train, test):
    """Return the columns that predict the held-out rows almost perfectly on their own."""
    X, y = test
    if len(y) < FEWEST_TO_TELL:
        return []
    if task == REGRESSION:  # ranks do not depend on units
        return X.columns[X.rank().corrwith(pd.Series(y, X.index).rank()).abs() >= TOO_GOOD].tolist()
    known, labels = (part[:: ceil(len(train[1]) / ENOUGH_TO_TELL)] for part in train)
    while known.shape[1]:
        first = DecisionTreeClassifier(max_depth=2, random_state=0).fit(known, labels)
        column = [known.columns[first.feature_importances_.argmax()]]
        tree = DecisionTreeClassifier(random_state=0).fit(known[column], labels)
        # Balanced, as a constant already scores high if one class is frequent.
        if balanced_accuracy_score(y, tree.predict(X[column])) < TOO_GOOD:
            break
        known = known.drop(columns=column)
    return [name for name in X.columns if name not in known.columns]


def rates(saved, X):
    """Return the share of rows that buy each column, in one row for each step of the schedule."""
    wanted, stages = saved.steps(saved.stage()).index, saved.model.stages(X, {"acquired"})
    found = {k: stage.acquired.mean(axis=0) for k, stage in enumerate(stages) if k in wanted}
    names = saved.preprocessor.feature_names_in_
    table = pd.DataFrame.from_dict(found, orient="index", columns=names).sort_index()
    bought = table.columns[table.any(axis=0)]
    # If there are more columns, keep those bought most: in all steps, as the last may buy all.
    kept = table[bought].mean(axis=0).nlargest(MOST_COLUMNS).index
    return table[[name for name in bought if name in kept]]


def stops(saved, X, y):
    """Return the paths through a model: columns in the order of purchase, or `OTHERS`.

    The score of a path is the share of correct predictions, or the mean absolute error. `predicted`
    is a dict with the share of each predicted class, or the mean prediction.
    """
    made = saved.model.decisions(X, saved.limit(), fallback=True)
    names, rows = saved.preprocessor.feature_names_in_, []
    ways = [tuple(names[order[order >= 0]]) for order in made.order]
    often = [way for way, _ in Counter(ways).most_common(MOST_WAYS)]
    place = np.array([often.index(way) if way in often else MOST_WAYS for way in ways])
    for group in np.unique(place):
        way, members = OTHERS if group == MOST_WAYS else often[group], place == group
        prediction, truth = made.prediction[members], y[members]
        if saved.task == "classification":
            score = float(np.mean(prediction == truth))
            predicted = pd.Series(prediction).value_counts(normalize=True).sort_index().to_dict()
        else:
            score, predicted = float(np.mean(np.abs(prediction - truth))), float(prediction.mean())
        rows.append((way, int(members.sum()), made.cost[members].mean(), score, predicted))
    columns = ["way", "n_rows", "cost", "score", "predicted"]
    return pd.DataFrame(rows, columns=columns).sort_values("cost", kind="stable", ignore_index=True)
