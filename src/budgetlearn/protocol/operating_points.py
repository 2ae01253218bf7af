"""Operating points: the cost and the score of each stage, on validation data or out of fold."""

import warnings

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier

from ..exceptions import BudgetError, BudgetlearnWarning
from ..validation import ParameterError
from .examples import table_for
from .requests import Stage
from .scoring import score_and_error


def refuse_alike(estimator, train, valid):
    """Raise where R² is to score numbers, and those of the validation data are all alike."""
    if is_classifier(estimator) or getattr(estimator, "scoring", None) is not None:
        return
    # Where training has one value only, a constant is all there is to learn, and R² does no harm.
    n = len(valid.y)
    if n < 2 or (np.ptp(valid.targets, axis=0).max() == 0 < np.ptp(train.targets, axis=0).max()):
        raise ParameterError(
            "R² compares errors with the spread of the targets, and the validation data need at "
            f"least two different ones: got {n} row{'s' * (n > 1)}, the first with "
            f"{valid.targets[0]!s}. Give more rows, or scoring='neg_mean_absolute_error' where the "
            "estimator has that parameter."
        )


def refuse_unscored(points, n_samples):
    """Return points if all have a score on the examples, else raise `ParameterError`."""
    if points["score"].isna().any():
        raise ParameterError(
            f"scoring gives no number (NaN) for the {n_samples} validation examples, so that "
            "nothing can be chosen by it: give more of them, of all classes, or another scoring."
        )
    return points


def measured(estimator, stages, targets):
    """Return the operating points of a fitted estimator, measured on examples with true `targets`.

    `stages` are all of them applied to the examples, with the `scored_parts`. There is one row per
    stage, in order: `cost` (mean acquisition cost), `score` and `score_se` (its standard error),
    `nodes`, `n_features` (mean number acquired), `setting` (dict) and `variables` (names of all
    that some example acquired).
    """
    names, rows = np.array(estimator.feature_costs_.labels, dtype=object), []
    for stage in stages:
        score, error = score_and_error(estimator, stage, targets)
        rows.append(
            {
                "cost": float(estimator.feature_costs_.total(stage.acquired).mean()),
                "score": score,
                "score_se": error,
                "nodes": stage.nodes,
                "n_features": float(stage.acquired.sum(axis=1).mean()),
                "setting": stage.setting,
                "variables": tuple(names[stage.acquired.any(axis=0)]),
            }
        )
    return pd.DataFrame(rows)


def scored_parts(estimator):
    """Return the parts of a `Stage` that its cost and its score need."""
    scored = getattr(estimator, "scoring", None) is not None
    return frozenset({"output", "acquired"} | ({"probabilities"} if scored else set()))


def known_points(estimator):
    """Return cost and score of each stage; where nothing was measured, fixed cost and rank."""
    if "operating_points_" in vars(estimator):
        return estimator.operating_points_
    costs = estimator.fixed_costs()
    # Stages go from cheap to expensive, so that a later one is taken to be better.
    return pd.DataFrame({"cost": costs, "score": np.arange(len(costs))})


def points_to_choose_from(estimator):
    """Return cost and score of each stage, measured now where they are not yet.

    A `BudgetError` says when costs differ between examples, and the rows to measure them on are
    gone.
    """
    known = vars(estimator)
    if "operating_points_" in known or estimator.fixed_costs() is None:
        return estimator.operating_points_
    # One stage leaves nothing to choose.
    if estimator.n_stages_ > 1 and known.get("_unmeasured") is not None:
        return estimator.operating_points_
    if estimator.n_stages_ > 1:
        warnings.warn(
            f"this {type(estimator).__name__} was stored before its operating points were "
            "measured: the last one within the budget is taken to be the best. Read "
            "operating_points_ before storing it.",
            BudgetlearnWarning,
            stacklevel=4,
        )
    return known_points(estimator)


FOLDS = 5
# What a check of the training data sets: refits share it, so that classes and prices stay the same.
_CHECKED = (
    *("classes_", "feature_costs_", "categories_"),
    *("missing_in_training_", "constant_", "n_features_in_"),
)


def measured_out_of_fold(estimator, examples):
    """Return the operating points of a fitted estimator, measured on rows that refits left out.

    `examples` are what it was fitted on, without class weights; None where it was stored meanwhile,
    which is a `BudgetError`. Costs that are the same for all examples are those of the estimator
    itself, others those of the refits.
    """
    if examples is None:
        raise BudgetError(
            f"this {type(estimator).__name__} does not know what its operating points cost and "
            "score: it was stored before they were measured, and rows are not stored. Read "
            "operating_points_ before storing it, or pass validation data, fit(X, y, X_val, y_val)."
        )
    folds = _folds(estimator, examples)
    # Rows of no fold are those of a class with one row, which no refit could learn without.
    held_out = [np.flatnonzero(folds == fold) for fold in range(FOLDS) if (folds == fold).any()]
    tested = examples.take(np.concatenate(held_out))
    refuse_alike(estimator, examples, tested)
    refits = [
        _refitted(estimator, examples, np.setdiff1d(np.arange(len(folds)), rows))
        for rows in held_out
    ]
    tables = [
        table_for(refit, estimator, examples.X[rows])
        for refit, rows in zip(refits, held_out, strict=True)
    ]
    stages = _joined(estimator, refits, tables, tested.X)
    return refuse_unscored(measured(estimator, stages, tested.targets), len(tested.y))


def _folds(estimator, examples):
    """Return the fold of each row, classes each in proportion; -1 for rows that all refits see."""
    n, random = len(examples.y), np.random.RandomState(0)
    folds = np.full(n, -1)
    codes = examples.y if is_classifier(estimator) else np.zeros(n, dtype=np.intp)
    start = 0
    for code in np.unique(codes):
        members = random.permutation(np.flatnonzero(codes == code))
        if members.size > 1:
            # Each class goes on where the last one ended, so that folds are equally large.
            folds[members] = (start + np.arange(members.size)) % FOLDS
            start += members.size
    return folds


def _refitted(estimator, examples, rows):
    """Return an estimator of the same parameters, fitted on some rows."""
    refit = clone(estimator)
    refit.set_params(**{name: False for name in ("verbose",) if name in refit.get_params(False)})
    for name in _CHECKED:
        if hasattr(estimator, name):
            setattr(refit, name, getattr(estimator, name))
    refit._learn_from(examples.take(rows), None)
    return refit


def _joined(estimator, refits, tables, X):
    """Yield each stage of the estimator with the predictions of the refits for their rows."""
    n_stages, want = estimator.n_stages_, scored_parts(estimator)
    fixed = estimator.fixed_costs() is not None
    own = estimator._stages(X, range(n_stages), frozenset({"acquired"}))
    others = [
        _aligned(refit, table, n_stages, want) for refit, table in zip(refits, tables, strict=True)
    ]
    for stage, *parts in zip(own, *others, strict=True):
        joined = Stage(stage.setting, nodes=stage.nodes)
        joined.output = np.concatenate([part.output for part in parts])
        if "probabilities" in want and parts[0].probabilities is not None:
            joined.probabilities = np.concatenate([part.probabilities for part in parts])
        # Costs that do not depend on the example are known exactly, and must be those of the model.
        acquired = [stage.acquired] if fixed else [part.acquired for part in parts]
        joined.acquired = np.concatenate(acquired)
        yield joined


def _aligned(refit, X, n_stages, want):
    """Yield the stages of a refit that stand for `n_stages` others, by their place."""
    # Most methods make as many stages on any rows; a path may end earlier.
    places = np.rint(np.linspace(0, refit.n_stages_ - 1, n_stages)).astype(int)
    if n_stages == 1:
        places[:] = refit.n_stages_ - 1
    different = np.unique(places)
    made = refit._stages(X, different.tolist(), want)
    for stage, place in zip(made, different, strict=True):
        yield from (stage for _ in range((places == place).sum()))
