"""From a fitted model to rows: its stages charged and scored on validation and test data."""

import time

import numpy as np
from sklearn.metrics import mean_squared_error

from budgetlearn.exceptions import ConfigError
from budgetlearn.metrics import average_precision_at_5
from budgetlearn.protocol import Stage
from budgetlearn.protocol.scoring import SCORES, scores_of, stage_scorer

from .records import OK, setting_text, variables_text


def setting_column(setting):
    """Return the column of a setting, none without one; nested parameters go by their own names."""
    own = {name.rpartition("__")[2]: value for name, value in setting.items()}
    return {"setting": setting_text(own)} if own else {}


def operating_points(model, run, setting=None, final=None, scoring=None):
    """Return one row for each stage of a fitted model, charged on a run's validation and test data.

    An estimator without `stages`, but with `acquired_features`, is one stage. `setting` has the
    parameters of the grid that it was fitted with; `final` is the model fitted again on more data,
    by which test data are predicted; `scoring` names the score, None: the task's own.
    """
    rows, scored, scoring = [], final or model, scoring or scores_of(run.task)[0]
    # Generators: the stages of both parts are walked through in step.
    if trains_on_validation(model, run):  # it has measured itself, out of fold
        points = model.operating_points_[["cost", "score"]].to_dict("records")
        valid_stages = ((None, row) for row in points)
    else:
        valid_stages = _charged(model, run, scoring, *run.valid, run.valid_queries)
    test_stages = _charged(scored, run, scoring, *run.test, run.test_queries, run.choosing)
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


def _charged(model, run, scoring, X, y, queries, choosing=None):
    """Yield each stage with its score and columns of the records: costs, seconds and more.

    The scores of the rows that choose between methods, and of the others, are told apart where
    `choosing` says which they are.
    """
    # Probabilities are computed only where the task is scored by them.
    part = "probabilities" if SCORES[scoring].probabilities else "output"
    seconds, start = 0.0, time.perf_counter()
    for stage in _stages(model, X, part):
        elapsed = time.perf_counter() - start
        # A stage that goes on from the one before needs that one first.
        seconds = seconds + elapsed if stage.incremental else elapsed
        acquired = stage.acquired
        if getattr(stage, part) is None:
            raise ConfigError(f"{type(model).__name__} gives no {part}, which {scoring} is of.")
        # Charged here, by the run: no method prices itself.
        paid = run.costs.total(acquired)
        score = _scorer(model, scoring, stage, y, queries)
        sides = [()] * 2 if choosing is None else map(np.flatnonzero, (choosing, ~choosing))
        # NaN where they are too few for a score.
        choice, held_out = (score(side) if len(side) > 1 else np.nan for side in sides)
        square = mean_squared_error(y, stage.output) if run.task == "regression" else np.nan
        estimate = np.nan if stage.estimate is None else stage.estimate.mean()
        yield (
            stage,
            {
                "score": score(np.arange(len(y))),
                "choice_score": choice,
                "held_out_score": held_out,
                "test_mse": float(square),
                "cost": float(paid.mean()),
                "cost_p95": float(np.quantile(paid, 0.95)),
                "cost_max": float(paid.max()),
                "n_features": float(acquired.sum(axis=1).mean()),
                "acquisition_rates": acquired.mean(axis=0, dtype=np.float32),
                "estimated_score": float(estimate),
                "predict_seconds": seconds,
                "added_seconds": elapsed,
            },
        )
        # Scoring and charging above are not the method's time.
        start = time.perf_counter()


def _scorer(model, scoring, stage, y, queries):
    """Return score(rows) of a stage's predictions."""
    if scoring == "accuracy" and np.asarray(stage.output).dtype.kind == "i":
        # scikit-learn's checks take longer than a fit whose stages are many.
        right = stage.output == y
        return lambda rows: float(right[rows].mean())
    if queries is None:
        return stage_scorer(model, scoring, stage, y)
    shares = stage.probabilities[:, 1]  # of the relevant documents
    return lambda rows: average_precision_at_5(y[rows], shares[rows], queries[rows])


def _stages(model, X, part):
    if hasattr(model, "stages"):
        yield from model.stages(X, {part, "acquired", "estimate"})
        return
    predict = model.predict if part == "output" else model.predict_proba
    yield Stage({}, **{part: predict(X)}, acquired=model.acquired_features(X))
