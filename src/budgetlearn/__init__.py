"""Prediction under a budget: scikit-learn estimators and the code of a benchmark workflow."""

__version__ = "0.1.0"
