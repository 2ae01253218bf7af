"""`BudgetPipeline`: budgets, sessions and guarantees of an estimator behind a preprocessor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

from ..exceptions import ConfigError
from ..preprocessing.categories import as_word
from ..preprocessing.preprocessor import BudgetPreprocessor
from .checked_data import word_code
from .documenting import EXPECTED, Limits, limited
from .estimator import BudgetedEstimator
from .feature_requests import Decisions
from .operating_points import Certificate
from .prediction import Session, decided


def _of_last_step(name):
    """Return a method that passes encoded examples, and its other arguments, to the last step."""

    @wraps(getattr(BudgetedEstimator, name))
    def method(self, X, *given, **named):
        return getattr(self._final_estimator, name)(self._encoded(X), *given, **named)

    return method


class BudgetPipeline(Pipeline):
    """Pipeline whose last step predicts under a budget, in terms of the original columns.

    `predict`, `predict_proba` and `score` take `budget`, `max_cost`, `fallback` and `budget_mode`
    like the last step, which also has the feature costs, by names of the original columns. Each
    column must remain one acquisition: put a `BudgetPreprocessor` first if there are words or gaps.
    Steps that keep columns and names, such as `StandardScaler`, may follow; they need every column.

    Parameters
    ----------
    steps : list of (str, estimator)
        Names and steps; the last one is a `BudgetedEstimator`.
    transform_input : list of str, default=None
        As for `sklearn.pipeline.Pipeline`.
    memory : str or joblib.Memory, default=None
        As for `sklearn.pipeline.Pipeline`.
    verbose : bool, default=False
        Whether to print the time of each step.

    Examples
    --------
    >>> import pandas as pd
    >>> from budgetlearn import BudgetPipeline, BudgetPreprocessor, BudgetRFClassifier
    >>> table = pd.DataFrame({"age": range(40), "colour": ["red", "blue"] * 20})
    >>> forest = BudgetRFClassifier(
    ...     feature_costs={"age": 1, "colour": 5}, n_estimators=5, random_state=0
    ... )
    >>> pipeline = BudgetPipeline([("encode", BudgetPreprocessor()), ("forest", forest)])
    >>> pipeline = pipeline.fit(table, table["age"] > 20)
    >>> float(pipeline.acquisition_cost(table, budget=2).max())
    1.0
    """

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, **params: Any) -> Self:
        """Fit the steps one after another.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Training examples.
        y : array-like of shape (n_samples,)
            Their targets.
        **params : dict
            As for `sklearn.pipeline.Pipeline.fit`.

        Returns
        -------
        self
        """
        if not isinstance(self._final_estimator, BudgetedEstimator):
            last = type(self._final_estimator).__name__
            raise ConfigError(f"the last step must predict under a budget, but {last} does not.")
        for _, step in self.steps[:-1]:
            # Costs are matched by the names of columns, which arrays between the steps would lose.
            if hasattr(step, "set_output") and not isinstance(step, BudgetPreprocessor):
                step.set_output(transform="pandas")
        super().fit(X, y, **params)
        first, encoded = next(self._iter())[-1], self._final_estimator.feature_costs_.labels
        named = isinstance(first, BudgetPreprocessor)
        self.columns_ = list(first.feature_names_in_ if named else getattr(X, "columns", encoded))
        strange = sorted(str(name) for name in set(encoded).difference(self.columns_))
        if strange:
            raise ConfigError(
                f"the steps create columns that the table does not have: "
                f"{', '.join(strange[:5])}. Use BudgetPreprocessor, or steps that keep columns."
            )
        return self

    predict = _of_last_step("predict")
    acquisition_cost = _of_last_step("acquisition_cost")
    score = _of_last_step("score")
    measure = _of_last_step("measure")
    predict_proba = available_if(lambda self: hasattr(self._final_estimator, "predict_proba"))(
        _of_last_step("predict_proba")
    )

    def _encoded(self, X):
        return self[:-1].transform(X) if len(self.steps) > 1 else X

    @property
    def operating_points_(self) -> pd.DataFrame:
        """Cost and score of each operating point of the last step."""
        return self._final_estimator.operating_points_

    @wraps(BudgetedEstimator.choose)
    def choose(self, *limits: Any, **options: Any) -> int | None:
        return self._final_estimator.choose(*limits, **options)

    @limited
    def acquired_features(self, X: ArrayLike, limits: Limits) -> NDArray[np.bool_]:
        """Return the mask of the original columns that the prediction of each example acquires.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_columns)
            Examples, as for `fit`.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_columns)
        """
        model = self._final_estimator
        return self._of_columns(decided(model, self._encoded(X), {"acquired"}, limits).acquired)

    def _of_columns(self, acquired):
        """Convert a mask of features of the last step to one of the original columns."""
        columns = np.zeros((len(acquired), len(self.columns_)), dtype=bool)
        columns[:, self._places()] = acquired
        return columns

    def _places(self):
        """Return the column index of each feature of the last step."""
        return list(map(self.columns_.index, self._final_estimator.feature_costs_.labels))

    def _in_columns(self, made):
        """Convert `Decisions` about features of the last step to the original columns."""
        order = np.full((len(made.order), len(self.columns_)), -1)
        # Index -1, after the last acquisition, is mapped to the appended -1.
        order[:, : made.order.shape[1]] = np.append(self._places(), -1)[made.order]
        return replace(made, acquired=self._of_columns(made.acquired), order=order)

    @wraps(BudgetedEstimator.decisions)
    def decisions(self, X: ArrayLike, *limits: Any, **options: Any) -> Decisions:
        model = self._final_estimator
        return self._in_columns(model.decisions(self._encoded(X), *limits, **options))

    @wraps(BudgetedEstimator.predict_acquiring)
    def predict_acquiring(
        self, source: Callable[..., ArrayLike], n_samples: int, *limits: Any, **options: Any
    ) -> Decisions:
        def encoded(rows, name):
            return self._encoded_values(name, source(rows, name))

        model = self._final_estimator
        return self._in_columns(model.predict_acquiring(encoded, n_samples, *limits, **options))

    @wraps(BudgetedEstimator.certify)
    def certify(self, X_cal: ArrayLike, y_cal: ArrayLike, **limits: Any) -> Certificate:
        return self._final_estimator.certify(self._encoded(X_cal), y_cal, **limits)

    @wraps(BudgetedEstimator.session)
    def session(self, *limits: Any, **options: Any) -> EncodedSession:
        return EncodedSession(self, *limits, **options)

    @wraps(BudgetedEstimator.explain)
    def explain(self, x: Any, *limits: Any, **options: Any) -> pd.DataFrame:
        if not isinstance(x, pd.DataFrame):
            named = isinstance(x, Mapping | pd.Series)
            rows = [dict(x)] if named else np.atleast_2d(np.array(x, dtype=object))
            x = pd.DataFrame(rows, columns=None if named else self.columns_).infer_objects()
        first = next(self._iter())[-1]  # the first step that is not "passthrough"
        encoded = self._encoded(x if hasattr(first, "feature_names_in_") else x.to_numpy())
        steps = self._final_estimator.explain(encoded, *limits, **options)
        measured = {str(name): x[name].iloc[0] for name in x}  # preprocessors turn names into text
        return steps.assign(measured=[measured[str(name)] for name in steps["feature"]])

    def _encoded_values(self, name, values):
        """Return values of a column as encoded for the last step, NaN where they are missing."""
        column = pd.Series(list(values), name=name, dtype=object)
        frame = column.to_frame().infer_objects()
        for *_, step in self._iter(with_final=False):
            if isinstance(step, BudgetPreprocessor):
                if name in step.categories_:  # raise for unknown words, like other sessions
                    for value in column.dropna().unique():
                        word_code(as_word(value), name, step.categories_[name])
            else:
                known = getattr(step, "feature_names_in_", None)
                frame = frame.reindex(columns=self.columns_ if known is None else known)
                frame = frame if known is not None else frame.to_numpy()  # fitted on an array
            frame = step.transform(frame)
        return np.where(column.isna(), np.nan, frame[name])


class EncodedSession(Session):
    """A `Session` of a pipeline, whose features are the columns of the original table.

    Made by `session()` of a `BudgetPipeline`. A missing value always means that a feature is
    unavailable, and is not charged, whereas `predict` may use a value from the preprocessor.
    """

    def __init__(self, pipeline, budget=None, max_cost=None, *, budget_mode=EXPECTED):
        self._pipeline, model = pipeline, pipeline._final_estimator
        super().__init__(model, model.choose(budget, max_cost, budget_mode=budget_mode), max_cost)

    @wraps(Session.give)
    def give(self, values: Mapping[Any, Any] | None = None, /, **named: Any) -> Self:
        given = {**({} if values is None else values), **named}
        # Unknown names are left to `Session.give`, which raises for them.
        for name in filter(given.__contains__, self._names):
            given[name] = self._pipeline._encoded_values(name, [given[name]])[0]
        return super().give(given)
