"""Methods that users would pick instead of budgeted learners, and controls."""

from .astc import ASTCClassifier as ASTCClassifier
from .baselines import AllFeaturesClassifier as AllFeaturesClassifier
from .baselines import AllFeaturesRegressor as AllFeaturesRegressor
from .baselines import FilterBoostingClassifier as FilterBoostingClassifier
from .baselines import FilterForestClassifier as FilterForestClassifier
from .baselines import FreeConstantClassifier as FreeConstantClassifier
from .baselines import FreeConstantRegressor as FreeConstantRegressor
from .baselines import SparseLinearClassifier as SparseLinearClassifier
from .cost_boosting import GreedyMiserClassifier as GreedyMiserClassifier
from .cost_boosting import LightGBMCostClassifier as LightGBMCostClassifier
from .cost_boosting import LightGBMCostRegressor as LightGBMCostRegressor
from .ensembles import BoostingNodeShares as BoostingNodeShares
from .ensembles import ForestStages as ForestStages
from .ensembles import GIFNodeShares as GIFNodeShares
