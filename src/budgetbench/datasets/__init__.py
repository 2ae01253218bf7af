"""Data sets: registry, fetching, reading, verification, generators and splits."""

from budgetlearn.exceptions import extra

with extra("workflow", "budgetbench.datasets"):
    from .dataset import split as split
    from .preparing import load_dataset as load_dataset
