"""Types of the public names, written by docs/write_types.py: run `make docs`."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .auto.device import Recommended
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

class AllFeaturesClassifier(_AllFeatures):
    def __init__(self, estimator: Any = ..., *, feature_costs: Any = ..., scoring: Any = ..., random_state: Any = ..., class_weight: Any = ...) -> None: ...
    class_weight: Any
    classes_: NDArray[Any]

class AllFeaturesRegressor(_AllFeatures):
    def __init__(self, estimator: Any = ..., *, feature_costs: Any = ..., scoring: Any = ..., random_state: Any = ...) -> None: ...

class AutoBudgetClassifier(_AutoBudget):
    def __init__(self, *, feature_costs: Any = ..., scoring: str | None = ..., budgets: Any = ..., others: dict[Any, Any] | None = ..., max_minutes: float | None = ..., random_state: Any = ..., n_jobs: int | None = ..., error_costs: Any = ..., class_weight: Any = ...) -> None: ...
    class_weight: Any
    classes_: NDArray[Any]
    error_costs: Any

class AutoBudgetRegressor(_AutoBudget):
    def __init__(self, *, feature_costs: Any = ..., scoring: str | None = ..., budgets: Any = ..., others: dict[Any, Any] | None = ..., max_minutes: float | None = ..., random_state: Any = ..., n_jobs: int | None = ...) -> None: ...

class BoostingNodeShares(_SklearnStages, _NodeShares): ...

class BudgetError(BudgetlearnError, ValueError): ...

class BudgetPipeline:
    def __init__(self, steps: Any, *, transform_input: Any = ..., memory: Any = ..., verbose: bool = ...) -> None: ...
    def get_params(self, deep: bool = ...) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...
    def acquired_features(self, X: ArrayLike, budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> NDArray[np.bool_]: ...
    def acquisition_cost(self, X: ArrayLike, budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> NDArray[Any]: ...
    def certify(self, X_cal: ArrayLike, y_cal: ArrayLike, *, cost: float | None = ..., error: float | None = ..., confidence: float = ...) -> Certificate: ...
    def choose(self, budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> int | None: ...
    def decisions(self, X: ArrayLike, budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> Decisions: ...
    def explain(self, x: ArrayLike | Mapping[Any, Any], budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> pd.DataFrame: ...
    def fit(self, X: ArrayLike, y: ArrayLike | None = ..., **params: Any) -> Self: ...
    def measure(self, X: ArrayLike, y: ArrayLike, *, groups: ArrayLike | None = ...) -> pd.DataFrame: ...
    @property
    def operating_points_(self) -> pd.DataFrame: ...
    def predict(self, X: ArrayLike, budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> NDArray[Any]: ...
    def predict_acquiring(self, source: Callable[..., ArrayLike], n_samples: int, budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> Decisions: ...
    def predict_proba(self, X: ArrayLike, budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> NDArray[Any]: ...
    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = ..., budget: float | None = ..., max_cost: float | None = ..., *, fallback: bool = ..., budget_mode: str = ...) -> float: ...
    def session(self, budget: float | None = ..., max_cost: float | None = ..., *, budget_mode: str = ...) -> Session: ...
    memory: Any
    steps: Any
    transform_input: Any
    verbose: bool

class BudgetPreprocessor:
    def __init__(self, missing: str = ..., categorical: Any = ...) -> None: ...
    def get_params(self, deep: bool = ...) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...
    def fit_transform(self, X: Any, y: Any = ...) -> Any: ...
    def get_feature_names_out(self, input_features: Any = ...) -> Any: ...
    def fit(self, X: Any, y: Any = ...) -> Any: ...
    def transform(self, X: Any) -> Any: ...
    def unknown_words(self, X: Any) -> Any: ...
    categorical: Any
    categories_: dict[Any, Any]
    feature_names_in_: NDArray[Any]
    missing: str
    n_features_in_: int

class BudgetRFClassifier(_GrownOnBudget, _ForestClassifier):
    def __init__(self, *, feature_costs: Any = ..., budget: float | None = ..., n_estimators: int = ..., cost_exponent: Any = ..., growth: Growth | None = ..., leaves: Leaves | None = ..., oob_score: bool = ..., validation_fraction: float = ..., refit: bool = ..., scoring: Any = ..., warm_start: bool = ..., n_jobs: int | None = ..., random_state: Any = ..., alpha: Any = ..., class_weight: Any = ...) -> None: ...
    alpha: Any
    alpha_: float
    oob_decision_function_: NDArray[Any]

class BudgetRFRegressor(_GrownOnBudget, _Forest):
    def __init__(self, *, feature_costs: Any = ..., budget: float | None = ..., n_estimators: int = ..., cost_exponent: Any = ..., growth: Growth | None = ..., leaves: Leaves | None = ..., oob_score: bool = ..., validation_fraction: float = ..., refit: bool = ..., scoring: Any = ..., warm_start: bool = ..., n_jobs: int | None = ..., random_state: Any = ...) -> None: ...
    oob_prediction_: NDArray[Any]

class BudgetedEstimator:
    def __init__(self, *, feature_costs: Any = ...) -> None: ...
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
    def measure(self, X: ArrayLike, y: ArrayLike, *, groups: ArrayLike | None = ...) -> pd.DataFrame: ...
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

class BudgetlearnError(Exception): ...

class BudgetlearnWarning(UserWarning): ...

class ConfigError(BudgetlearnError, ValueError): ...

class CostAccuracyDisplay:
    def __init__(self, costs: NDArray[Any], scores: NDArray[Any], chosen: NDArray[Any], *, estimator_name: str | None = ..., score_name: str = ...) -> None: ...
    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, name: str | None = ..., ax: Any = ..., **kwargs: Any) -> Any: ...
    def plot(self, ax: Any = ..., **kwargs: Any) -> Any: ...
    ax_: Any
    figure_: Any
    line_: Any
    points_: Any

class CostError(BudgetlearnError, ValueError): ...

class CostSensitiveRFClassifier(_CostSensitive, _CodedFit, _UsedFeaturesForest):
    def __init__(self, *, feature_costs: Any = ..., n_estimators: int = ..., max_features: Any = ..., max_depth: int | None = ..., max_bins: int | None = ..., monotonic_cst: Any = ..., scoring: Any = ..., class_weight: Any = ..., n_jobs: int | None = ..., random_state: Any = ..., complementary: Any = ..., thresholds: str = ..., min_samples_leaf: int = ..., cost_weight: float = ..., warm_start: bool = ...) -> None: ...
    cost_weight: float
    warm_start: bool

class CostSensitiveRFPathClassifier(_CostSensitive, BudgetedEstimator):
    def __init__(self, *, feature_costs: Any = ..., n_estimators: int = ..., max_features: Any = ..., max_depth: int | None = ..., max_bins: int | None = ..., monotonic_cst: Any = ..., scoring: Any = ..., class_weight: Any = ..., n_jobs: int | None = ..., random_state: Any = ..., complementary: Any = ..., thresholds: str = ..., min_samples_leaf: int = ..., cost_weights: Any = ..., budget: float | None = ...) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    budget: float | None
    cost_weights: Any
    cost_weights_: NDArray[Any]
    costs_: NDArray[Any]
    forests_: Any
    stage_settings_: Any

class CostWeightedRFClassifier(_CodedFit, _UsedFeaturesForest):
    def __init__(self, *, feature_costs: Any = ..., n_estimators: int = ..., max_features: Any = ..., max_depth: int | None = ..., max_bins: int | None = ..., monotonic_cst: Any = ..., scoring: Any = ..., class_weight: Any = ..., n_jobs: int | None = ..., random_state: Any = ..., subset: str = ...) -> None: ...
    odds_: NDArray[Any]
    subset: str

class DatasetError(BudgetlearnError): ...

class ExhaustiveSearch(_SubsetSearch):
    def __init__(self, estimator: Any = ..., min_variables: int = ..., *, feature_costs: Any = ..., budget: float | None = ..., scoring: Any = ..., class_weight: Any = ..., validation_fraction: float = ..., random_state: Any = ..., refit: bool = ..., n_jobs: int | None = ..., checkpoint: Any = ..., max_variables: int = ..., verbose: bool = ...) -> None: ...
    checkpoint: Any
    max_variables: int
    resumed_seconds_: float
    subset_costs_: NDArray[Any]
    subset_scores_: NDArray[Any]
    subsets_: NDArray[Any]
    verbose: bool

class FMCCClassifier(_MarginClassifier): ...

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
    def subset(self, features: Any) -> Any: ...
    def take(self, features: Any, names: Any = ...) -> Any: ...
    def total(self, acquired: Any) -> Any: ...
    @property
    def unnamed(self) -> Any: ...
    costs: NDArray[Any]
    group_costs: NDArray[Any]
    groups: NDArray[Any]
    names: Any

class FilterBoostingClassifier(FilterForestClassifier):
    def __init__(self, *, feature_costs: Any = ..., n_selected: Any = ..., cost_exponent: float = ..., n_estimators: int = ..., scoring: Any = ..., class_weight: Any = ..., random_state: Any = ..., n_jobs: int | None = ..., learning_rate: float = ..., num_leaves: int = ..., min_child_samples: int = ...) -> None: ...
    learning_rate: float
    min_child_samples: int
    num_leaves: int

class FilterForestClassifier(_TreeStages):
    def __init__(self, *, feature_costs: Any = ..., n_selected: Any = ..., cost_exponent: float = ..., n_estimators: int = ..., scoring: Any = ..., class_weight: Any = ..., random_state: Any = ..., n_jobs: int | None = ...) -> None: ...
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    class_weight: Any
    classes_: NDArray[Any]
    cost_exponent: float
    mutual_information_: NDArray[Any]
    n_estimators: int
    n_selected: Any
    order_: NDArray[Any]
    random_state: Any
    scoring: Any

class ForestStages(_SklearnStages, _MetaStaged):
    def __init__(self, estimator: Any, n_trees: Any = ..., *, feature_costs: Any = ..., random_state: Any = ..., n_jobs: int | None = ...) -> None: ...
    n_trees: Any

class FreeConstantClassifier(_Control):
    def __init__(self, *, feature_costs: Any = ..., scoring: Any = ..., class_weight: Any = ...) -> None: ...
    class_weight: Any
    classes_: NDArray[Any]

class FreeConstantRegressor(_Control):
    def __init__(self, *, feature_costs: Any = ..., scoring: Any = ...) -> None: ...

class GIFClassifier(_BaseGIF):
    def __init__(self, node_budget: int = ..., *, feature_costs: Any = ..., n_estimators: Any = ..., learning_rate: float = ..., candidate_window: int | None = ..., max_features: Any = ..., n_thresholds: int = ..., max_depth: int | None = ..., min_samples_leaf: int = ..., split_on: str = ..., loss: str = ..., joint_fit: Any = ..., prune_factor: float = ..., ridge: Any = ..., cost_weight: float = ..., early_stopping: bool = ..., scoring: Any = ..., validation_fraction: float = ..., byte_budget: int | None = ..., byte_format: str = ..., step_budget: float | None = ..., forest: Any = ..., random_state: Any = ..., n_jobs: int | None = ..., saturation: float = ..., class_weight: Any = ...) -> None: ...
    def decision_function(self, X: Any) -> Any: ...
    class_weight: Any
    classes_: NDArray[Any]
    loss_: str
    saturation: float

class GIFNodeShares(_NodeShares):
    forests_: Any

class GIFRegressor(_BaseGIF):
    def __init__(self, node_budget: int = ..., *, feature_costs: Any = ..., n_estimators: Any = ..., learning_rate: float = ..., candidate_window: int | None = ..., max_features: Any = ..., n_thresholds: int = ..., max_depth: int | None = ..., min_samples_leaf: int = ..., split_on: str = ..., loss: str = ..., joint_fit: Any = ..., prune_factor: float = ..., ridge: Any = ..., cost_weight: float = ..., early_stopping: bool = ..., scoring: Any = ..., validation_fraction: float = ..., byte_budget: int | None = ..., byte_format: str = ..., step_budget: float | None = ..., forest: Any = ..., random_state: Any = ..., n_jobs: int | None = ..., quantile: float = ...) -> None: ...
    quantile: float

class GreedyMiserClassifier(_CostBoosting):
    def __init__(self, *, feature_costs: Any = ..., cost_weights: Any = ..., n_trees: Any = ..., learning_rate: float = ..., scoring: Any = ..., n_jobs: int | None = ..., max_depth: int = ..., class_weight: Any = ...) -> None: ...
    class_weight: Any
    classes_: NDArray[Any]
    max_depth: int

class GuaranteeError(BudgetlearnError, ValueError): ...

class IncompletePathWarning(BudgetlearnWarning): ...

class LightGBMCostClassifier(_LightGBMCost):
    def __init__(self, *, feature_costs: Any = ..., cost_weights: Any = ..., n_trees: Any = ..., learning_rate: float = ..., scoring: Any = ..., n_jobs: int | None = ..., penalty: str = ..., num_leaves: int = ..., min_child_samples: int = ..., random_state: Any = ..., class_weight: Any = ...) -> None: ...
    class_weight: Any
    classes_: NDArray[Any]

class LightGBMCostRegressor(_LightGBMCost):
    def __init__(self, *, feature_costs: Any = ..., cost_weights: Any = ..., n_trees: Any = ..., learning_rate: float = ..., scoring: Any = ..., n_jobs: int | None = ..., penalty: str = ..., num_leaves: int = ..., min_child_samples: int = ..., random_state: Any = ...) -> None: ...

class LogitPathClassifier(_ScheduleClassifier):
    def __init__(self, *, feature_costs: Any = ..., budget: float | None = ..., scoring: Any = ..., class_weight: Any = ..., validation_fraction: float = ..., random_state: Any = ..., n_lambda: int = ...) -> None: ...
    n_lambda: int
    path_: Any

class MissingExtraError(BudgetlearnError, ImportError): ...

class MissingValueError(BudgetlearnError, ValueError): ...

class ModelSchedule:
    def __init__(self, costs: NDArray[Any], scores: NDArray[Any], variables: tuple[Any, ...], names: tuple[Any, ...] | None = ...) -> None: ...
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

class ModelScheduleSearch(_SubsetSearch):
    def __init__(self, estimator: Any = ..., sequences: Any = ..., min_variables: int = ..., *, feature_costs: Any = ..., budget: float | None = ..., scoring: Any = ..., class_weight: Any = ..., validation_fraction: float = ..., random_state: Any = ..., refit: bool = ..., n_jobs: int | None = ...) -> None: ...
    sequences: Any
    sequences_: dict[Any, Any]

class ParameterError(BudgetlearnError, ValueError): ...

class RandomForestClassifier(_CodedFit, _ForestClassifier):
    def __init__(self, *, feature_costs: Any = ..., n_estimators: int = ..., max_features: Any = ..., max_depth: int | None = ..., max_bins: int | None = ..., monotonic_cst: Any = ..., scoring: Any = ..., class_weight: Any = ..., n_jobs: int | None = ..., random_state: Any = ..., criterion: str = ..., bootstrap: bool = ..., oob_score: bool = ...) -> None: ...
    bootstrap: bool
    criterion: str
    oob_decision_function_: NDArray[Any]
    oob_score: bool
    oob_score_: float
    tree_seeds_: Any

class RandomOrderClassifier(_MarginClassifier): ...

class ScheduleCascadeClassifier(_ScheduleCascade):
    def __init__(self, *, feature_costs: Any = ..., estimators: Any = ..., orders: Any = ..., n_stages: int = ..., cv: int = ..., dynamic: Any = ..., scoring: Any = ..., budget: Any = ..., random_state: Any = ..., n_jobs: int | None = ..., verbose: bool = ..., class_weight: Any = ...) -> None: ...
    class_weight: Any
    classes_: NDArray[Any]

class ScheduleCascadeRegressor(_ScheduleCascade):
    def __init__(self, *, feature_costs: Any = ..., estimators: Any = ..., orders: Any = ..., n_stages: int = ..., cv: int = ..., dynamic: Any = ..., scoring: Any = ..., budget: Any = ..., random_state: Any = ..., n_jobs: int | None = ..., verbose: bool = ...) -> None: ...

class SparseLinearClassifier(LogitPathClassifier):
    def __init__(self, *, feature_costs: Any = ..., budget: float | None = ..., scoring: Any = ..., class_weight: Any = ..., validation_fraction: float = ..., random_state: Any = ..., n_lambda: int = ..., cost_exponents: Any = ...) -> None: ...
    cost_exponents: Any

class VoCClassifier(_SequentialClassifier):
    def __init__(self, *, feature_costs: Any = ..., threshold: float = ..., cost_weight: float = ..., max_cost: float | None = ..., scoring: Any = ..., class_weight: Any = ..., random_state: Any = ..., n_jobs: int | None = ..., ridge: float = ...) -> None: ...
    ridge: float

class _AllFeatures(_Control):
    estimator: Any
    random_state: Any

class _AutoBudget(_GroupedFit, BudgetedEstimator):
    def measure(self, X: Any, y: Any, sample_weight: Any = ..., *, groups: Any = ...) -> Any: ...
    @property
    def score_name_(self) -> Any: ...
    budgets: Any
    comparison_: pd.DataFrame
    max_minutes: float | None
    others: dict[Any, Any] | None
    recommended_: int
    scoring: str | None
    skipped_: dict[Any, Any]

class _BaseGIF(_CompactMethods, BudgetedEstimator):
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    @property
    def trees_(self) -> Any: ...
    def within(self, node_budget: int) -> Any: ...
    byte_budget: int | None
    byte_format: str
    candidate_window: int | None
    cost_weight: float
    early_stopping: bool
    feature_importances_: NDArray[Any]
    forest: Any
    intercept_: NDArray[Any]
    joint_fit: Any
    learning_rate: float
    loss: str
    max_depth: int | None
    max_features: Any
    min_samples_leaf: int
    n_estimators: Any
    n_nodes_: int
    n_steps_: float
    n_thresholds: int
    node_budget: int
    node_distribution_: NDArray[Any]
    node_entropy_: float
    prune_factor: float
    ridge: Any
    ridge_: float | None
    split_on: str
    step_budget: float | None
    validation_fraction: float

class _CodedFit(_GrownTrees):
    def apply(self, X: Any) -> Any: ...
    def compact(self, format: str = ...) -> Any: ...
    def export_c(self, path: Any, format: str = ..., name: str = ..., layout: str = ...) -> Any: ...
    def export_onnx(self, path: Any) -> Any: ...
    @property
    def feature_importances_(self) -> Any: ...
    def fit(self, X: Any, y: Any, X_val: Any = ..., y_val: Any = ..., sample_weight: Any = ..., binned: Any = ...) -> Any: ...
    def nbytes(self, format: str = ...) -> Any: ...
    trees_: Any

class _CompactMethods:
    def compact(self, format: str = ...) -> Any: ...
    def export_c(self, path: Any, format: str = ..., name: str = ..., layout: str = ...) -> Any: ...
    def export_onnx(self, path: Any) -> Any: ...
    def nbytes(self, format: str = ...) -> Any: ...
    n_jobs: int | None
    random_state: Any
    scoring: Any

class _Control(BudgetedEstimator):
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    scoring: Any

class _CostBoosting(_TreeStages):
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    cost_weights: Any
    learning_rate: float
    n_trees: Any
    scoring: Any
    trees_: Any

class _CostSensitive(_GrownTrees):
    complementary: Any
    min_samples_leaf: int
    thresholds: str

class _Forest(_CompactMethods, BudgetedEstimator):
    def apply(self, X: Any) -> Any: ...
    @property
    def feature_importances_(self) -> Any: ...
    n_estimators: int
    trees_: Any

class _ForestClassifier(_Forest):
    class_weight: Any
    classes_: NDArray[Any]

class _GroupedFit:
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ..., groups: ArrayLike | None = ...) -> Self: ...
    n_jobs: int | None
    operating_points_: pd.DataFrame
    random_state: Any

class _GrownOnBudget:
    def apply(self, X: Any) -> Any: ...
    def compact(self, format: str = ...) -> Any: ...
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

class _GrownTrees:
    class_weight: Any
    classes_: NDArray[Any]
    max_bins: int | None
    max_depth: int | None
    max_features: Any
    monotonic_cst: Any
    n_estimators: int
    n_jobs: int | None
    random_state: Any
    scoring: Any

class _LightGBMCost(_CostBoosting):
    min_child_samples: int
    num_leaves: int
    penalty: str
    random_state: Any

class _MarginClassifier(_SequentialClassifier):
    def __init__(self, estimator: Any = ..., *, feature_costs: Any = ..., threshold: float = ..., cost_weight: float = ..., max_cost: float | None = ..., scoring: Any = ..., class_weight: Any = ..., random_state: Any = ..., n_jobs: int | None = ..., n_neighbors: int = ...) -> None: ...
    estimator: Any
    estimators_: Any
    n_neighbors: int

class _MetaStaged(BudgetedEstimator):
    estimator: Any
    estimator_: Any
    n_jobs: int | None
    random_state: Any
    stage_settings_: Any

class _NodeShares(_MetaStaged):
    def __init__(self, estimator: Any, percents: Any = ..., n_full_trees: int = ..., *, feature_costs: Any = ..., random_state: Any = ..., n_jobs: int | None = ...) -> None: ...
    n_full_: float
    n_full_trees: int
    node_budgets_: Any
    percents: Any

class _ScheduleCascade(_GroupedFit, BudgetedEstimator):
    budget: Any
    cv: int
    dynamic: Any
    estimators: Any
    models_: Any
    n_stages: int
    orders: Any
    points_: Any
    scoring: Any
    verbose: bool

class _ScheduleClassifier(BudgetedEstimator):
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    budget: float | None
    class_weight: Any
    classes_: NDArray[Any]
    random_state: Any
    schedule_: Any
    scoring: Any
    validation_fraction: float

class _SequentialClassifier(BudgetedEstimator):
    def fit(self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = ..., y_val: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> Self: ...
    class_weight: Any
    classes_: NDArray[Any]
    cost_weight: float
    max_cost: float | None
    n_jobs: int | None
    random_state: Any
    scoring: Any
    threshold: float

class _SklearnStages(_TreeStages):
    estimator: Any
    estimator_: Any
    random_state: Any

class _SubsetSearch(_ScheduleClassifier):
    def variable_importance(self, X: Any, y: Any, X_val: Any = ..., y_val: Any = ...) -> Any: ...
    estimator: Any
    min_variables: int
    models_: Any
    n_jobs: int | None
    refit: bool

class _TreeStages(BudgetedEstimator):
    n_jobs: int | None
    stage_settings_: Any

class _UsedFeaturesForest(_ForestClassifier):
    def fit(self, X: Any, y: Any, X_val: Any = ..., y_val: Any = ..., sample_weight: Any = ..., binned: Any = ...) -> Any: ...
    cost_: float
    features_: NDArray[Any]
    max_bins: int | None
    max_depth: int | None
    max_features: Any
    monotonic_cst: Any

def check_budgeted_estimator(estimator: Any) -> Any: ...

def expected_failed_checks(estimator: Any) -> Any: ...

def make_budget_scorer(metric: str | Callable[..., float], *, budget: float | None = ..., max_cost: float | None = ..., fallback: bool = ..., budget_mode: str = ...) -> BudgetScorer: ...

def random_costs(n_features: int, random_state: Any = ...) -> Any: ...

def recommend_for_bytes(X: Any, y: Any, byte_budget: int, task: str = ..., random_state: Any = ...) -> Recommended: ...
