"""The protocol of all budgeted estimators: stages, budgets, and acquiring while predicting.

A subclass of `BudgetedEstimator` defines `_fit` and `_stages`; the public methods build on them.
"""

from .estimator import BudgetedEstimator as BudgetedEstimator
from .estimator import GroupedFit as GroupedFit
from .estimator import WeightedFit as WeightedFit
from .feature_requests import Answer as Answer
from .feature_requests import BudgetedTags as BudgetedTags
from .feature_requests import Decisions as Decisions
from .feature_requests import Ledger as Ledger
from .feature_requests import Outcome as Outcome
from .feature_requests import Request as Request
from .feature_requests import Stage as Stage
from .operating_points import Certificate as Certificate
from .pipeline import BudgetPipeline as BudgetPipeline
from .pipeline import EncodedSession as EncodedSession
from .prediction import Session as Session
from .scoring import BudgetScorer as BudgetScorer
from .scoring import make_budget_scorer as make_budget_scorer
