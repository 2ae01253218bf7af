"""Types of the public names, written by docs/write_types.py: run `make docs`."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .budgetrf.forest import Growth, Leaves
from .protocol.operating_points import Certificate
from .protocol.prediction import Session
from .protocol.feature_requests import Decisions
from .protocol.feature_requests import Stage as Stage
from .protocol.scoring import BudgetScorer

__version__: str


class ASTCClassifier(BudgetedEstimator):
    def __init__(self, *, feature_costs: Any = ..., node_budgets: Any = ..., max_depth: int = ..., ridge: float = ..., min_samples: int = ..., scoring: Any = ..., class_weight: Any = ..., n_jobs: int | None = ...) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    class_weight: Any
    classes_: NDArray[Any]
    max_depth: int
    min_samples: int
    n_jobs: int | None
    node_budgets: Any
    ridge: float
    scoring: Any
    stage_settings_: Any
    trees_: Any

class AcquisitionDisplay:
    def __init__(self, rates: numpy.ndarray, mean_cost: float, feature_names: list, prices: numpy.ndarray) -> None: ...
    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, budget: float | None = ..., max_cost: float | None = ..., ax: Any = ..., **kwargs: Any) -> Any: ...
    def plot(self, ax: Any = ..., **kwargs: Any) -> Any: ...
    ax_: Any
    bars_: Any
    figure_: Any

class AllFeaturesClassifier(BudgetedEstimator):
    def __init__(self, estimator: Any = ..., *, feature_costs: Any = ..., scoring: Any = ..., class_weight: Any = ..., random_state: Any = ...) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    class_weight: Any
    classes_: NDArray[Any]
    estimator: Any
    random_state: Any
    scoring: Any

class AutoBudgetClassifier(BudgetedEstimator):
    def __init__(self, *, feature_costs: Any = ..., scoring: str | None = ..., budgets: Any = ..., others: dict[Any, Any] | None = ..., max_minutes: float | None = ..., random_state: Any = ..., n_jobs: int | None = ..., error_costs: Any = ..., class_weight: Any = ...) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    def measure(self, X: Any, y: Any, sample_weight: Any = ...) -> Any: ...
    @property
    def score_name_(self) -> Any: ...
    budgets: Any
    class_weight: Any
    classes_: NDArray[Any]
    comparison_: pd.DataFrame
    error_costs: Any
    max_minutes: float | None
    n_jobs: int | None
    operating_points_: pd.DataFrame
    others: dict[Any, Any] | None
    random_state: Any
    recommended_: int
    scoring: str | None
    skipped_: dict[Any, Any]

class AutoBudgetRegressor(BudgetedEstimator):
    def __init__(self, *, feature_costs: Any = ..., scoring: str | None = ..., budgets: Any = ..., others: dict[Any, Any] | None = ..., max_minutes: float | None = ..., random_state: Any = ..., n_jobs: int | None = ...) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    def measure(self, X: Any, y: Any, sample_weight: Any = ...) -> Any: ...
    @property
    def score_name_(self) -> Any: ...
    budgets: Any
    comparison_: pd.DataFrame
    max_minutes: float | None
    n_jobs: int | None
    operating_points_: pd.DataFrame
    others: dict[Any, Any] | None
    random_state: Any
    recommended_: int
    scoring: str | None
    skipped_: dict[Any, Any]

class BoostingNodeShares(BudgetedEstimator):
    def __init__(self, estimator: Any, percents: Any = ..., n_full_trees: int = ..., *, feature_costs: Any = ..., random_state: Any = ..., n_jobs: int | None = ...) -> None: ...
    estimator: Any
    estimator_: Any
    n_full_: float
    n_full_trees: int
    n_jobs: int | None
    node_budgets_: Any
    percents: Any
    random_state: Any
    stage_settings_: Any

class BudgetError(BudgetlearnError, ValueError):
    ...

class BudgetPipeline:
    def __init__(self, steps: Any, *, transform_input: Any = ..., memory: Any = ..., verbose: bool = ...) -> None: ...
    def get_params(self, deep: bool = ...) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...
    def predict(self, X: ArrayLike, **params: Any) -> NDArray[Any]: ...
    def predict_proba(self, X: ArrayLike, **params: Any) -> NDArray[Any]: ...
    def acquired_features(self, X: ArrayLike, budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> NDArray[np.bool_]: ...
    def acquisition_cost(self, X: ArrayLike, budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> NDArray[Any]: ...
    def certify(self, X_cal: ArrayLike, y_cal: ArrayLike, *, cost: float | None = ..., error: float | None = ..., confidence: float = ...) -> Certificate: ...
    def choose(self, budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> int | None: ...
    def explain(self, x: ArrayLike | Mapping[Any, Any], budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> pd.DataFrame: ...
    def fit(self, X: ArrayLike, y: ArrayLike | None = ..., **params: Any) -> Self: ...
    @property
    def operating_points_(self) -> pd.DataFrame: ...
    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = ..., budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> float: ...
    def session(self, budget: float | None = ..., max_cost: float | None = ..., *, budget_mode: str = ...) -> Session: ...
    memory: Any
    steps: Any
    transform_input: Any
    verbose: bool

class BudgetPreprocessor:
    def __init__(self, missing: str = ..., categorical: Any = ..., one_hot: Any = ...) -> None: ...
    def get_params(self, deep: bool = ...) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...
    def fit_transform(self, X: Any, y: Any = ...) -> Any: ...
    def fit(self, X: Any, y: Any = ...) -> Any: ...
    def get_feature_names_out(self, input_features: Any = ...) -> Any: ...
    def original_features(self, acquired: Any) -> Any: ...
    def transform(self, X: Any) -> Any: ...
    def unknown_words(self, X: Any) -> Any: ...
    categorical: Any
    categories_: dict[Any, Any]
    feature_names_in_: NDArray[Any]
    missing: str
    n_features_in_: int
    one_hot: Any
    origins_: dict[Any, Any]

class BudgetRFClassifier(BudgetedEstimator):
    def __init__(self, *, feature_costs: Any = ..., budget: float | None = ..., n_estimators: int = ..., cost_exponent: Any = ..., growth: Growth | None = ..., leaves: Leaves | None = ..., oob_score: bool = ..., validation_fraction: float = ..., refit: bool = ..., scoring: Any = ..., warm_start: bool = ..., n_jobs: int | None = ..., random_state: Any = ..., alpha: Any = ..., class_weight: Any = ...) -> None: ...
    def apply(self, X: Any) -> Any: ...
    def compact(self, format: str = ...) -> Any: ...
    def decision_path(self, X: Any) -> Any: ...
    def decision_tree(self, index: int) -> Any: ...
    def export_c(self, path: Any, format: str = ..., name: str = ..., layout: str = ...) -> Any: ...
    def export_onnx(self, path: Any) -> Any: ...
    @property
    def feature_importances_(self) -> Any: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    def nbytes(self, format: str = ...) -> Any: ...
    @property
    def trains_on_validation(self) -> Any: ...
    alpha: Any
    alpha_: float
    budget: float | None
    class_weight: Any
    classes_: NDArray[Any]
    cost_exponent: Any
    cost_exponent_: float
    growth: Any
    leaves: Any
    n_estimators: int
    n_jobs: int | None
    oob_decision_function_: NDArray[Any]
    oob_score: bool
    oob_score_: float
    penalties_: Any
    prune_: float
    random_state: Any
    refit: bool
    scoring: Any
    tree_seeds_: Any
    trees_: Any
    validation_costs_: NDArray[Any]
    validation_errors_: NDArray[Any]
    validation_fraction: float
    warm_start: bool

class BudgetRFRegressor(BudgetedEstimator):
    def __init__(self, *, feature_costs: Any = ..., budget: float | None = ..., n_estimators: int = ..., cost_exponent: Any = ..., growth: Growth | None = ..., leaves: Leaves | None = ..., oob_score: bool = ..., validation_fraction: float = ..., refit: bool = ..., scoring: Any = ..., warm_start: bool = ..., n_jobs: int | None = ..., random_state: Any = ...) -> None: ...
    def apply(self, X: Any) -> Any: ...
    def compact(self, format: str = ...) -> Any: ...
    def decision_path(self, X: Any) -> Any: ...
    def decision_tree(self, index: int) -> Any: ...
    def export_c(self, path: Any, format: str = ..., name: str = ..., layout: str = ...) -> Any: ...
    def export_onnx(self, path: Any) -> Any: ...
    @property
    def feature_importances_(self) -> Any: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    def nbytes(self, format: str = ...) -> Any: ...
    @property
    def trains_on_validation(self) -> Any: ...
    budget: float | None
    cost_exponent: Any
    cost_exponent_: float
    growth: Any
    leaves: Any
    n_estimators: int
    n_jobs: int | None
    oob_prediction_: NDArray[Any]
    oob_score: bool
    oob_score_: float
    penalties_: Any
    prune_: float
    random_state: Any
    refit: bool
    scoring: Any
    tree_seeds_: Any
    trees_: Any
    validation_costs_: NDArray[Any]
    validation_errors_: NDArray[Any]
    validation_fraction: float
    warm_start: bool

class BudgetedEstimator:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def get_params(self, deep: bool = ...) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...
    def acquired_features(self, X: ArrayLike, budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> NDArray[Any]: ...
    def acquisition_cost(self, X: ArrayLike, budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> NDArray[Any]: ...
    def certify(self, X_cal: ArrayLike, y_cal: ArrayLike, *, cost: float | None = ..., error: float | None = ..., confidence: float = ...) -> Certificate: ...
    def choose(self, budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> int | None: ...
    def decisions(self, X: ArrayLike, budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> Decisions: ...
    def explain(self, x: ArrayLike | Mapping[Any, Any], budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> pd.DataFrame: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ...) -> Self: ...
    def fixed_costs(self) -> ArrayLike | None: ...
    def measure(self, X: ArrayLike, y: ArrayLike) -> pd.DataFrame: ...
    @property
    def n_stages_(self) -> int: ...
    @property
    def operating_points_(self) -> pd.DataFrame: ...
    def predict(self, X: ArrayLike, budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> NDArray[Any]: ...
    def predict_acquiring(self, source: Callable[..., ArrayLike], n_samples: int, budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> Decisions: ...
    def predict_proba(self, X: ArrayLike, budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> NDArray[Any]: ...
    def predict_with_cost(self, X: ArrayLike, budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> tuple[NDArray[Any], NDArray[Any]]: ...
    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = ..., budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> float: ...
    def session(self, budget: float | None = ..., max_cost: float | None = ..., *, budget_mode: str = ...) -> Session: ...
    def staged_acquired_features(self, X: ArrayLike) -> Iterator[NDArray[Any]]: ...
    def staged_predict(self, X: ArrayLike) -> Iterator[NDArray[Any]]: ...
    def staged_predict_proba(self, X: ArrayLike) -> Iterator[NDArray[Any]]: ...
    def stages(self, X: ArrayLike, parts: Collection[str] = ...) -> Iterator[Stage]: ...
    def stored_bytes(self, stage: int) -> float: ...
    categories_: dict[Any, Any]
    feature_costs: Any
    feature_costs_: Any
    feature_names_in_: NDArray[Any]
    n_features_in_: int

class BudgetlearnError(Exception):
    ...

class BudgetlearnWarning(UserWarning):
    ...

class ConfigError(BudgetlearnError, ValueError):
    ...

class CostAccuracyDisplay:
    def __init__(self, costs: numpy.ndarray, scores: numpy.ndarray, chosen: numpy.ndarray, *, estimator_name: str | None = ..., score_name: str = ...) -> None: ...
    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, name: str | None = ..., ax: Any = ..., **kwargs: Any) -> Any: ...
    def plot(self, ax: Any = ..., **kwargs: Any) -> Any: ...
    ax_: Any
    figure_: Any
    line_: Any
    points_: Any

class CostError(BudgetlearnError, ValueError):
    ...

class CostSensitiveRFClassifier(BudgetedEstimator):
    def __init__(self, *, feature_costs: Any = ..., n_estimators: int = ..., max_features: Any = ..., max_depth: int | None = ..., max_bins: int | None = ..., scoring: Any = ..., class_weight: Any = ..., n_jobs: int | None = ..., random_state: Any = ..., complementary: Any = ..., thresholds: str = ..., min_samples_leaf: int = ..., cost_weight: float = ..., warm_start: bool = ...) -> None: ...
    def apply(self, X: Any) -> Any: ...
    def compact(self, format: str = ...) -> Any: ...
    def decision_path(self, X: Any) -> Any: ...
    def decision_tree(self, index: int) -> Any: ...
    def export_c(self, path: Any, format: str = ..., name: str = ..., layout: str = ...) -> Any: ...
    def export_onnx(self, path: Any) -> Any: ...
    @property
    def feature_importances_(self) -> Any: ...
    def fit(self, X: Any, y: Any, X_val: Any = ..., y_val: Any = ..., sample_weight: Any = ..., binned: Any = ...) -> Any: ...
    def nbytes(self, format: str = ...) -> Any: ...
    class_weight: Any
    classes_: NDArray[Any]
    complementary: Any
    cost_: float
    cost_weight: float
    features_: NDArray[Any]
    max_bins: int | None
    max_depth: int | None
    max_features: Any
    min_samples_leaf: int
    n_estimators: int
    n_jobs: int | None
    random_state: Any
    scoring: Any
    thresholds: str
    trees_: Any
    warm_start: bool

class CostSensitiveRFPathClassifier(BudgetedEstimator):
    def __init__(self, *, feature_costs: Any = ..., n_estimators: int = ..., max_features: Any = ..., max_depth: int | None = ..., max_bins: int | None = ..., scoring: Any = ..., class_weight: Any = ..., n_jobs: int | None = ..., random_state: Any = ..., complementary: Any = ..., thresholds: str = ..., min_samples_leaf: int = ..., cost_weights: Any = ..., budget: float | None = ...) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    budget: float | None
    class_weight: Any
    classes_: NDArray[Any]
    complementary: Any
    cost_weights: Any
    cost_weights_: NDArray[Any]
    costs_: NDArray[Any]
    forests_: Any
    max_bins: int | None
    max_depth: int | None
    max_features: Any
    min_samples_leaf: int
    n_estimators: int
    n_jobs: int | None
    random_state: Any
    scoring: Any
    stage_settings_: Any
    thresholds: str

class CostWeightedRFClassifier(BudgetedEstimator):
    def __init__(self, *, feature_costs: Any = ..., n_estimators: int = ..., max_features: Any = ..., max_depth: int | None = ..., max_bins: int | None = ..., scoring: Any = ..., class_weight: Any = ..., n_jobs: int | None = ..., random_state: Any = ..., subset: str = ...) -> None: ...
    def apply(self, X: Any) -> Any: ...
    def compact(self, format: str = ...) -> Any: ...
    def decision_path(self, X: Any) -> Any: ...
    def decision_tree(self, index: int) -> Any: ...
    def export_c(self, path: Any, format: str = ..., name: str = ..., layout: str = ...) -> Any: ...
    def export_onnx(self, path: Any) -> Any: ...
    @property
    def feature_importances_(self) -> Any: ...
    def fit(self, X: Any, y: Any, X_val: Any = ..., y_val: Any = ..., sample_weight: Any = ..., binned: Any = ...) -> Any: ...
    def nbytes(self, format: str = ...) -> Any: ...
    class_weight: Any
    classes_: NDArray[Any]
    cost_: float
    features_: NDArray[Any]
    max_bins: int | None
    max_depth: int | None
    max_features: Any
    n_estimators: int
    n_jobs: int | None
    odds_: NDArray[Any]
    random_state: Any
    scoring: Any
    subset: str
    trees_: Any

class DatasetError(BudgetlearnError):
    ...

class ExhaustiveSearch(BudgetedEstimator):
    def __init__(self, estimator: Any = ..., min_variables: int = ..., *, feature_costs: Any = ..., budget: float | None = ..., scoring: Any = ..., class_weight: Any = ..., validation_fraction: float = ..., random_state: Any = ..., refit: bool = ..., n_jobs: int | None = ..., checkpoint: Any = ..., max_variables: int = ..., verbose: bool = ...) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    def variable_importance(self, X: Any, y: Any, X_val: Any = ..., y_val: Any = ...) -> Any: ...
    budget: float | None
    checkpoint: Any
    class_weight: Any
    classes_: NDArray[Any]
    estimator: Any
    max_variables: int
    min_variables: int
    models_: Any
    n_jobs: int | None
    random_state: Any
    refit: bool
    resumed_seconds_: float
    schedule_: Any
    scoring: Any
    subset_costs_: NDArray[Any]
    subset_scores_: NDArray[Any]
    subsets_: NDArray[Any]
    validation_fraction: float
    verbose: bool

class FMCCClassifier(BudgetedEstimator):
    def __init__(self, estimator: Any = ..., *, feature_costs: Any = ..., threshold: float = ..., cost_weight: float = ..., max_cost: float | None = ..., scoring: Any = ..., class_weight: Any = ..., random_state: Any = ..., n_jobs: int | None = ..., n_neighbors: int = ...) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    class_weight: Any
    classes_: NDArray[Any]
    cost_weight: float
    estimator: Any
    estimators_: Any
    max_cost: float | None
    n_jobs: int | None
    n_neighbors: int
    random_state: Any
    scoring: Any
    threshold: float

class FeatureCosts:
    def __init__(self, costs: Any, groups: Any = ..., group_costs: Any = ...) -> None: ...
    @property
    def alone(self) -> Any: ...
    @property
    def full(self) -> Any: ...
    def group_of(self, feature: int) -> NDArray[Any]: ...
    @property
    def labels(self) -> Any: ...
    def marginal(self, acquired: Any) -> Any: ...
    @property
    def n_features(self) -> Any: ...
    @classmethod
    def of(cls, feature_costs: Any, n_features: int, names: Any = ...) -> Any: ...
    @classmethod
    def read(cls, source: Any) -> Any: ...
    def shares(self, acquired: Any) -> Any: ...
    def spread(self, origins: Any, names: Any = ...) -> Any: ...
    def subset(self, features: Any) -> Any: ...
    def total(self, acquired: Any) -> Any: ...
    @property
    def unnamed(self) -> Any: ...
    costs: NDArray[Any]
    group_costs: NDArray[Any]
    groups: NDArray[Any]
    names: Any

class FilterBoostingClassifier(BudgetedEstimator):
    def __init__(self, *, feature_costs: Any = ..., n_selected: Any = ..., cost_exponent: float = ..., n_estimators: int = ..., scoring: Any = ..., class_weight: Any = ..., random_state: Any = ..., n_jobs: int | None = ..., learning_rate: float = ..., num_leaves: int = ..., min_child_samples: int = ...) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    class_weight: Any
    classes_: NDArray[Any]
    cost_exponent: float
    learning_rate: float
    min_child_samples: int
    mutual_information_: NDArray[Any]
    n_estimators: int
    n_jobs: int | None
    n_selected: Any
    num_leaves: int
    order_: NDArray[Any]
    random_state: Any
    scoring: Any
    stage_settings_: Any

class FilterForestClassifier(BudgetedEstimator):
    def __init__(self, *, feature_costs: Any = ..., n_selected: Any = ..., cost_exponent: float = ..., n_estimators: int = ..., scoring: Any = ..., class_weight: Any = ..., random_state: Any = ..., n_jobs: int | None = ...) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    class_weight: Any
    classes_: NDArray[Any]
    cost_exponent: float
    mutual_information_: NDArray[Any]
    n_estimators: int
    n_jobs: int | None
    n_selected: Any
    order_: NDArray[Any]
    random_state: Any
    scoring: Any
    stage_settings_: Any

class ForestStages(BudgetedEstimator):
    def __init__(self, estimator: Any, n_trees: Any = ..., *, feature_costs: Any = ..., random_state: Any = ..., n_jobs: int | None = ...) -> None: ...
    estimator: Any
    estimator_: Any
    n_jobs: int | None
    n_trees: Any
    random_state: Any
    stage_settings_: Any

class FreeConstantClassifier(BudgetedEstimator):
    def __init__(self, *, feature_costs: Any = ...) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    classes_: NDArray[Any]

class FreeConstantRegressor(BudgetedEstimator):
    def __init__(self, *, feature_costs: Any = ...) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...

class GIFClassifier(BudgetedEstimator):
    def __init__(self, node_budget: int = ..., *, n_estimators: Any = ..., learning_rate: float = ..., candidate_window: int | None = ..., max_features: Any = ..., n_thresholds: int = ..., max_depth: int | None = ..., min_samples_leaf: int = ..., split_on: str = ..., loss: str = ..., joint_fit: Any = ..., prune_factor: float = ..., ridge: Any = ..., cost_weight: float = ..., early_stopping: bool = ..., scoring: Any = ..., validation_fraction: float = ..., byte_budget: int | None = ..., byte_format: str = ..., feature_costs: Any = ..., random_state: Any = ..., n_jobs: int | None = ..., saturation: float = ..., class_weight: Any = ...) -> None: ...
    def compact(self, format: str = ...) -> Any: ...
    def decision_function(self, X: Any) -> Any: ...
    def export_c(self, path: Any, format: str = ..., name: str = ..., layout: str = ...) -> Any: ...
    def export_onnx(self, path: Any) -> Any: ...
    @property
    def feature_importances_(self) -> Any: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    def nbytes(self, format: str = ...) -> Any: ...
    @property
    def node_distribution_(self) -> Any: ...
    @property
    def node_entropy_(self) -> Any: ...
    @property
    def trees_(self) -> Any: ...
    def within(self, node_budget: int) -> Any: ...
    alpha_: float | None
    byte_budget: int | None
    byte_format: str
    candidate_window: int | None
    class_weight: Any
    classes_: NDArray[Any]
    cost_weight: float
    early_stopping: bool
    intercept_: NDArray[Any]
    joint_fit: Any
    learning_rate: float
    loss: str
    loss_: str
    max_depth: int | None
    max_features: Any
    min_samples_leaf: int
    n_estimators: Any
    n_jobs: int | None
    n_nodes_: int
    n_thresholds: int
    node_budget: int
    prune_factor: float
    random_state: Any
    ridge: Any
    saturation: float
    scoring: Any
    split_on: str
    validation_fraction: float

class GIFNodeShares(BudgetedEstimator):
    def __init__(self, estimator: Any, percents: Any = ..., n_full_trees: int = ..., *, feature_costs: Any = ..., random_state: Any = ..., n_jobs: int | None = ...) -> None: ...
    estimator: Any
    estimator_: Any
    forests_: Any
    n_full_: float
    n_full_trees: int
    n_jobs: int | None
    node_budgets_: Any
    percents: Any
    random_state: Any
    stage_settings_: Any

class GIFRegressor(BudgetedEstimator):
    def __init__(self, node_budget: int = ..., *, n_estimators: Any = ..., learning_rate: float = ..., candidate_window: int | None = ..., max_features: Any = ..., n_thresholds: int = ..., max_depth: int | None = ..., min_samples_leaf: int = ..., split_on: str = ..., loss: str = ..., joint_fit: Any = ..., prune_factor: float = ..., ridge: Any = ..., cost_weight: float = ..., early_stopping: bool = ..., scoring: Any = ..., validation_fraction: float = ..., byte_budget: int | None = ..., byte_format: str = ..., feature_costs: Any = ..., random_state: Any = ..., n_jobs: int | None = ..., quantile: float = ...) -> None: ...
    def compact(self, format: str = ...) -> Any: ...
    def export_c(self, path: Any, format: str = ..., name: str = ..., layout: str = ...) -> Any: ...
    def export_onnx(self, path: Any) -> Any: ...
    @property
    def feature_importances_(self) -> Any: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    def nbytes(self, format: str = ...) -> Any: ...
    @property
    def node_distribution_(self) -> Any: ...
    @property
    def node_entropy_(self) -> Any: ...
    @property
    def trees_(self) -> Any: ...
    def within(self, node_budget: int) -> Any: ...
    alpha_: float | None
    byte_budget: int | None
    byte_format: str
    candidate_window: int | None
    cost_weight: float
    early_stopping: bool
    intercept_: NDArray[Any]
    joint_fit: Any
    learning_rate: float
    loss: str
    max_depth: int | None
    max_features: Any
    min_samples_leaf: int
    n_estimators: Any
    n_jobs: int | None
    n_nodes_: int
    n_thresholds: int
    node_budget: int
    prune_factor: float
    quantile: float
    random_state: Any
    ridge: Any
    scoring: Any
    split_on: str
    validation_fraction: float

class GreedyMiserClassifier(BudgetedEstimator):
    def __init__(self, *, feature_costs: Any = ..., cost_weights: Any = ..., n_trees: Any = ..., learning_rate: float = ..., scoring: Any = ..., class_weight: Any = ..., n_jobs: int | None = ..., max_depth: int = ...) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    class_weight: Any
    classes_: NDArray[Any]
    cost_weights: Any
    learning_rate: float
    max_depth: int
    n_jobs: int | None
    n_trees: Any
    scoring: Any
    stage_settings_: Any
    trees_: Any

class GuaranteeError(BudgetlearnError, ValueError):
    ...

class IncompletePathWarning(BudgetlearnWarning):
    ...

class LightGBMCostClassifier(BudgetedEstimator):
    def __init__(self, *, feature_costs: Any = ..., cost_weights: Any = ..., n_trees: Any = ..., learning_rate: float = ..., scoring: Any = ..., class_weight: Any = ..., n_jobs: int | None = ..., penalty: str = ..., num_leaves: int = ..., min_child_samples: int = ..., random_state: Any = ...) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    class_weight: Any
    classes_: NDArray[Any]
    cost_weights: Any
    learning_rate: float
    min_child_samples: int
    n_jobs: int | None
    n_trees: Any
    num_leaves: int
    penalty: str
    random_state: Any
    scoring: Any
    stage_settings_: Any
    trees_: Any

class LogitPathClassifier(BudgetedEstimator):
    def __init__(self, *, feature_costs: Any = ..., budget: float | None = ..., scoring: Any = ..., class_weight: Any = ..., validation_fraction: float = ..., random_state: Any = ..., n_lambda: int = ...) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    budget: float | None
    class_weight: Any
    classes_: NDArray[Any]
    n_lambda: int
    path_: Any
    random_state: Any
    schedule_: Any
    scoring: Any
    validation_fraction: float

class MissingExtraError(BudgetlearnError, ImportError):
    ...

class MissingValueError(BudgetlearnError, ValueError):
    ...

class ModelSchedule:
    def __init__(self, costs: numpy.ndarray, scores: numpy.ndarray, variables: tuple, names: tuple | None = ...) -> None: ...
    def area(self, full_cost: float, baseline: float) -> Any: ...
    def cheapest(self, score: float) -> Any: ...
    @classmethod
    def from_points(cls, costs: Any, scores: Any, variables: Any, names: Any = ...) -> Any: ...
    def index(self, budget: float) -> Any: ...
    def select(self, budget: float) -> Any: ...
    costs: NDArray[Any]
    names: Any
    scores: NDArray[Any]
    variables: Any

class ModelScheduleSearch(BudgetedEstimator):
    def __init__(self, estimator: Any = ..., sequences: Any = ..., min_variables: int = ..., *, feature_costs: Any = ..., budget: float | None = ..., scoring: Any = ..., class_weight: Any = ..., validation_fraction: float = ..., random_state: Any = ..., refit: bool = ..., n_jobs: int | None = ...) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    def variable_importance(self, X: Any, y: Any, X_val: Any = ..., y_val: Any = ...) -> Any: ...
    budget: float | None
    class_weight: Any
    classes_: NDArray[Any]
    estimator: Any
    min_variables: int
    models_: Any
    n_jobs: int | None
    random_state: Any
    refit: bool
    schedule_: Any
    scoring: Any
    sequences: Any
    sequences_: dict[Any, Any]
    validation_fraction: float

class ParameterError(BudgetlearnError, ValueError):
    ...

class RandomForestClassifier(BudgetedEstimator):
    def __init__(self, *, feature_costs: Any = ..., n_estimators: int = ..., max_features: Any = ..., max_depth: int | None = ..., max_bins: int | None = ..., scoring: Any = ..., class_weight: Any = ..., n_jobs: int | None = ..., random_state: Any = ..., criterion: str = ..., bootstrap: bool = ..., oob_score: bool = ...) -> None: ...
    def apply(self, X: Any) -> Any: ...
    def compact(self, format: str = ...) -> Any: ...
    def decision_path(self, X: Any) -> Any: ...
    def decision_tree(self, index: int) -> Any: ...
    def export_c(self, path: Any, format: str = ..., name: str = ..., layout: str = ...) -> Any: ...
    def export_onnx(self, path: Any) -> Any: ...
    @property
    def feature_importances_(self) -> Any: ...
    def fit(self, X: Any, y: Any, X_val: Any = ..., y_val: Any = ..., sample_weight: Any = ..., binned: Any = ...) -> Any: ...
    def nbytes(self, format: str = ...) -> Any: ...
    bootstrap: bool
    class_weight: Any
    classes_: NDArray[Any]
    criterion: str
    max_bins: int | None
    max_depth: int | None
    max_features: Any
    n_estimators: int
    n_jobs: int | None
    oob_decision_function_: NDArray[Any]
    oob_score: bool
    oob_score_: float
    random_state: Any
    scoring: Any
    tree_seeds_: Any
    trees_: Any

class RandomOrderClassifier(BudgetedEstimator):
    def __init__(self, estimator: Any = ..., *, feature_costs: Any = ..., threshold: float = ..., cost_weight: float = ..., max_cost: float | None = ..., scoring: Any = ..., class_weight: Any = ..., random_state: Any = ..., n_jobs: int | None = ..., n_neighbors: int = ...) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    class_weight: Any
    classes_: NDArray[Any]
    cost_weight: float
    estimator: Any
    estimators_: Any
    max_cost: float | None
    n_jobs: int | None
    n_neighbors: int
    random_state: Any
    scoring: Any
    threshold: float

class ScheduleCascadeClassifier(BudgetedEstimator):
    def __init__(self, *, feature_costs: Any = ..., estimators: Any = ..., orders: Any = ..., n_stages: int = ..., cv: int = ..., dynamic: Any = ..., scoring: Any = ..., budget: Any = ..., random_state: Any = ..., n_jobs: int | None = ..., verbose: bool = ..., class_weight: Any = ...) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    budget: Any
    class_weight: Any
    classes_: NDArray[Any]
    cv: int
    dynamic: Any
    estimators: Any
    models_: Any
    n_jobs: int | None
    n_stages: int
    operating_points_: pd.DataFrame
    orders: Any
    points_: Any
    random_state: Any
    scoring: Any
    verbose: bool

class ScheduleCascadeRegressor(BudgetedEstimator):
    def __init__(self, *, feature_costs: Any = ..., estimators: Any = ..., orders: Any = ..., n_stages: int = ..., cv: int = ..., dynamic: Any = ..., scoring: Any = ..., budget: Any = ..., random_state: Any = ..., n_jobs: int | None = ..., verbose: bool = ...) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    budget: Any
    cv: int
    dynamic: Any
    estimators: Any
    models_: Any
    n_jobs: int | None
    n_stages: int
    operating_points_: pd.DataFrame
    orders: Any
    points_: Any
    random_state: Any
    scoring: Any
    verbose: bool

class ScheduleDisplay:
    def __init__(self, acquired: numpy.ndarray, costs: numpy.ndarray, scores: numpy.ndarray, feature_names: list, prices: numpy.ndarray) -> None: ...
    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = ...) -> Any: ...
    def plot(self, ax: Any = ..., **kwargs: Any) -> Any: ...
    ax_: Any
    figure_: Any
    image_: Any

class SparseLinearClassifier(BudgetedEstimator):
    def __init__(self, *, feature_costs: Any = ..., budget: float | None = ..., scoring: Any = ..., class_weight: Any = ..., validation_fraction: float = ..., random_state: Any = ..., n_lambda: int = ..., cost_exponents: Any = ...) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    budget: float | None
    class_weight: Any
    classes_: NDArray[Any]
    cost_exponents: Any
    n_lambda: int
    path_: Any
    random_state: Any
    schedule_: Any
    scoring: Any
    validation_fraction: float

class VoCClassifier(BudgetedEstimator):
    def __init__(self, *, feature_costs: Any = ..., threshold: float = ..., cost_weight: float = ..., max_cost: float | None = ..., scoring: Any = ..., class_weight: Any = ..., random_state: Any = ..., n_jobs: int | None = ..., ridge: float = ...) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    class_weight: Any
    classes_: NDArray[Any]
    cost_weight: float
    max_cost: float | None
    n_jobs: int | None
    random_state: Any
    ridge: float
    scoring: Any
    threshold: float

def check_budgeted_estimator(estimator: Any) -> Any: ...

def expected_failed_checks(estimator: Any) -> Any: ...

def make_budget_scorer(metric: str | Callable[..., float], *, budget: float | None = ..., max_cost: float | None = ..., fallback: bool = ..., budget_mode: str = ...) -> BudgetScorer: ...

def random_costs(n_features: int, random_state: Any = ...) -> Any: ...
