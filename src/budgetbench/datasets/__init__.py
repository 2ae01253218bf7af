"""Data sets: registry, fetching, reading, verification, generators and splits."""

from budgetlearn.exceptions import extra

# Users import what `__all__` names; the rest serves the workflow.
with extra("workflow", "budgetbench.datasets"):
    from .dataset import Dataset as Dataset
    from .dataset import split
    from .fetching import fetch as fetch
    from .fetching import write_manifest as write_manifest
    from .preparing import load_dataset
    from .preparing import prepare as prepare
    from .registry import DatasetSpec as DatasetSpec
    from .registry import FileSpec as FileSpec
    from .registry import Registry as Registry
    from .registry import load_registry as load_registry
    from .synthetic import yahoo_costs as yahoo_costs

__all__ = ["load_dataset", "split"]
