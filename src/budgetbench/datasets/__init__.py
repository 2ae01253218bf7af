"""Data sets: registry, fetching, reading, verification, generators and splits."""

from budgetlearn.exceptions import extra
from budgetlearn.price_lists import read_prices

with extra("workflow", "budgetbench.datasets"):
    from .dataset import Dataset
    from .fetching import fetch, write_manifest
    from .preparing import load_dataset, prepare
    from .registry import DatasetSpec, FileSpec, Registry, load_registry
    from .splits import split
    from .synthetic import yahoo_costs

__all__ = [
    "Dataset",
    "DatasetSpec",
    "FileSpec",
    "Registry",
    "fetch",
    "load_dataset",
    "load_registry",
    "prepare",
    "read_prices",
    "split",
    "write_manifest",
    "yahoo_costs",
]
