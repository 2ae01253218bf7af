"""Checks for budgeted estimators, one's own included."""

from .abilities import ABILITIES, abilities
from .checks import check_budgeted_estimator, example_data, expected_failed_checks

__all__ = [
    "ABILITIES",
    "abilities",
    "check_budgeted_estimator",
    "example_data",
    "expected_failed_checks",
]
