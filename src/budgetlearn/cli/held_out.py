"""What the rows held out show of a model: what everything would bring, and who stops where."""

from math import ceil

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

MOST_ROWS = 5_000  # beyond these a share hardly changes
MOST_COLUMNS = 40
MOST_WAYS = 12
MOST_FOR_TREE = 500  # columns
OTHERS = "other ways"


def seen(saved, train, valid, test, weighs=(), weighs_out=()):
    """Return what the page of a model shows of the rows held out, as a dict.

    "everything": boosted trees on all features, and their score. "rates": the share of the rows
    that buys each column, a frame with a row for each step of the schedule. "stops": the ways of
    the rows through the model of the budget, as `stops` returns them. `train`, `valid` and `test`
    are encoded rows and their targets, `weighs` and `weighs_out` keywords of `fit` and `score`
    with the weights of the first and the last, if they have any.
    """
    X, y = (part[:: ceil(len(test[1]) / MOST_ROWS)] for part in test)
    return {
        "everything": everything(saved.task, train, valid, test, weighs, weighs_out),
        "rates": rates(saved, X),
        "stops": stops(saved, X, y),
    }


def everything(task, train, valid, test, weighs=(), weighs_out=()):
    """Return the name of boosted trees on all features, and their score on the rows held out."""
    name, model = _boosted_trees(task, test[0].shape[1])
    # They choose nothing: validation rows are rows to learn from. Arrays, for LightGBM refuses
    # some names of columns.
    X, y = (np.concatenate(parts) for parts in zip(train, valid, strict=True))
    score = model.fit(X, y, **dict(weighs)).score(test[0].to_numpy(), test[1], **dict(weighs_out))
    return {"model": name, "test_score": float(score)}


def _boosted_trees(task, n_columns):
    """Return the name of the best boosted trees that are installed, and an unfitted model."""
    # Thousands of columns would take minutes: each tree draws some.
    share = min(1.0, MOST_FOR_TREE / n_columns)
    try:
        import lightgbm
    except ModuleNotFoundError:
        kinds = {"classification": HistGradientBoostingClassifier}
        kind = kinds.get(task, HistGradientBoostingRegressor)
        return "scikit-learn's boosted trees", kind(random_state=0, max_features=share)
    kind = lightgbm.LGBMClassifier if task == "classification" else lightgbm.LGBMRegressor
    settings = {"colsample_bytree": share, "n_jobs": 1, "verbose": -1, "deterministic": True}
    return "LightGBM", kind(random_state=0, **settings)


def rates(saved, X):
    """Return the share of rows that buys each column, a row for each step of the schedule."""
    encoder, wanted, found = saved.preprocessor, {*saved.steps().index, saved.measured_stage()}, {}
    for index, stage in enumerate(saved.model.stages(X, {"acquired"})):
        if index in wanted:
            found[index] = encoder.original_features(stage.acquired).mean(axis=0)
    names = encoder.feature_names_in_
    table = pd.DataFrame.from_dict(found, orient="index", columns=names).sort_index()
    bought = table.columns[table.any(axis=0)]
    # Of thousands of columns those that most rows buy.
    kept = table[bought].max(axis=0).nlargest(MOST_COLUMNS).index
    return table[[name for name in bought if name in kept]]


def stops(saved, X, y):
    """Return the ways through a model: columns in the order of purchase, and who goes them.

    A frame with way (tuple of str, or `OTHERS`), n_rows, cost and score (share right; in regression
    the mean absolute error) of these rows, and predicted: a dict of shares, or the mean.
    """
    limit = saved.limit()
    if saved.stage() not in saved.curve.index:
        limit = saved.curve.loc[saved.measured_stage(), "cost"]
    made, encoder = saved.model.decisions(X, limit, fallback=True), saved.preprocessor
    ways, numbers = {}, np.empty(len(X), dtype=np.intp)
    for row, order in enumerate(made.order):
        origins = encoder.origins_[order[order >= 0]].tolist()
        way = tuple(encoder.feature_names_in_[list(dict.fromkeys(origins))])
        numbers[row] = ways.setdefault(way, len(ways))
    counts = np.bincount(numbers, minlength=len(ways))
    often = np.argsort(-counts, kind="stable")[:MOST_WAYS]
    labels, rows = list(ways), []
    groups = [(labels[way], numbers == way) for way in often]
    rest = ~np.isin(numbers, often)
    if rest.any():
        groups.append((OTHERS, rest))
    for way, members in groups:
        prediction, truth = made.prediction[members], y[members]
        if saved.task == "classification":
            score = float(np.mean(prediction == truth))
            values, n_each = np.unique(prediction, return_counts=True)
            predicted = dict(zip(values.tolist(), (n_each / n_each.sum()).tolist(), strict=True))
        else:
            score, predicted = float(np.mean(np.abs(prediction - truth))), float(prediction.mean())
        rows.append((way, int(members.sum()), made.cost[members].mean(), score, predicted))
    columns = ["way", "n_rows", "cost", "score", "predicted"]
    return pd.DataFrame(rows, columns=columns).sort_values("cost", kind="stable", ignore_index=True)
