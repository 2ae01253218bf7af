"""From a fitted model to rows: its stages charged and scored on validation and test data."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import accuracy_score, mean_squared_error, r2_score

from budgetlearn.metrics import average_precision_at_5
from budgetlearn.protocol import Stage

from .records import OK, setting_text, variables_text


@dataclass(frozen=True)
class Score:
    """The score of predictions of one task."""

    name: str  # as figures and tables call it
    output: str  # "predict" or "predict_proba": the estimator's method whose outcome is scored
    function: Callable  # of target, outcome and query of each example (None outside of ranking)
    bounded: bool  # whether it lies in [0, 1] whatever is predicted


SCORES = {
    "classification": Score(
        "accuracy", "predict", lambda y, classes, _: float(accuracy_score(y, classes)), True
    ),
    "regression": Score("R²", "predict", lambda y, values, _: float(r2_score(y, values)), False),
    # Documents are ranked by the share of class 1, the relevant ones.
    "ranking": Score(
        "AP@5",
        "predict_proba",
        lambda y, shares, queries: average_precision_at_5(y, shares[:, 1], queries),
        True,
    ),
}


def setting_column(setting):
    """Return the column of a setting, none without one; nested parameters go by their own names."""
    own = {name.rpartition("__")[2]: value for name, value in setting.items()}
    return {"setting": setting_text(own)} if own else {}


def operating_points(model, run, setting=None, final=None):
    """Return one row for each stage of a fitted model, charged on a run's validation and test data.

    An estimator without `stages`, but with `acquired_features`, is one stage. `setting` has the
    parameters of the grid that it was fitted with; `final` is the model fitted again on more data,
    by which test data are predicted.
    """
    rows, scored = [], final or model
    # Generators: the stages of both parts are walked through in step.
    if trains_on_validation(model, run):  # it has measured itself, out of fold
        points = model.operating_points_[["cost", "score"]].to_dict("records")
        valid_stages = ((None, row) for row in points)
    else:
        valid_stages = _charged(model, run, *run.valid, run.valid_queries)
    test_stages = _charged(scored, run, *run.test, run.test_queries, run.choosing)
    both = zip(valid_stages, test_stages, strict=True)
    for index, ((_, valid), (stage, test)) in enumerate(both):
        row = {
            "cost_fraction": test["cost"] / run.costs.full if run.costs.full else 0.0,
            "n_nodes": stage.nodes,
            # Known of sums of trees only.
            "n_bytes": scored.stored_bytes(index) if hasattr(scored, "stages") else np.nan,
            "valid_cost": valid["cost"],
            "valid_cost_max": valid.get("cost_max", np.nan),
            "valid_score": valid["score"],
            "test_score": test.pop("score"),
            "status": OK,
            **test,
        }
        facts = dict(stage.facts)
        if "variables" in facts:
            facts["variables"] = variables_text(facts["variables"])
        rows.append(row | facts | setting_column({**(setting or {}), **stage.setting}))
    return rows


def trains_on_validation(model, run):
    """Return True if a model learns from validation data, and so measures itself, out of fold."""
    return run.task != "ranking" and scores_out_of_fold(model)


def scores_out_of_fold(model):
    """Return True if a model that is given validation data also learns from them."""
    return getattr(model, "trains_on_validation", False) or getattr(model, "refit", False) is True


def _charged(model, run, X, y, queries, choosing=None):
    """Yield each stage with its score and columns of the records: costs, seconds and more.

    The scores of the rows that choose between methods, and of the others, are told apart where
    `choosing` says which they are.
    """
    # Probabilities are computed only where the task is scored by them.
    score = SCORES[run.task]
    part = "probabilities" if score.output == "predict_proba" else "output"
    seconds, start = 0.0, time.perf_counter()
    for stage in _stages(model, X, part, score.output):
        elapsed = time.perf_counter() - start
        # A stage that goes on from the one before needs that one first.
        seconds = seconds + elapsed if stage.incremental else elapsed
        outcome, acquired = getattr(stage, part), stage.acquired
        # Charged here, by the run: no method prices itself.
        paid = run.costs.total(acquired)
        sides = (None, None) if choosing is None else (choosing, ~choosing)
        choice, held_out = (_score_of(score, y, outcome, queries, side) for side in sides)
        yield (
            stage,
            {
                "score": score.function(y, outcome, queries),
                "choice_score": choice,
                "held_out_score": held_out,
                "test_mse": float(mean_squared_error(y, outcome))
                if run.task == "regression"
                else np.nan,
                "cost": float(paid.mean()),
                "cost_p95": float(np.quantile(paid, 0.95)),
                "cost_max": float(paid.max()),
                "n_features": float(acquired.sum(axis=1).mean()),
                "acquisition_rates": acquired.mean(axis=0, dtype=np.float32),
                "estimated_score": np.nan
                if stage.estimate is None
                else float(stage.estimate.mean()),
                "predict_seconds": seconds,
                "added_seconds": elapsed,
            },
        )
        # Scoring and charging above are not the method's time.
        start = time.perf_counter()


def _score_of(score, y, outcome, queries, rows):
    """Return the score of some rows, NaN where they are too few for one."""
    if rows is None or np.count_nonzero(rows) < 2:
        return np.nan
    return score.function(y[rows], outcome[rows], None if queries is None else queries[rows])


def _stages(model, X, part, method):
    if hasattr(model, "stages"):
        yield from model.stages(X, {part, "acquired", "estimate"})
        return
    yield Stage({}, **{part: getattr(model, method)(X)}, acquired=model.acquired_features(X))
