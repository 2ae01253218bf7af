"""Policies that learn what to acquire next (the extra `policies`): AACO, DIME, GDFS."""

from .aaco import AACOClassifier
from .gdfs_dime import DIMEClassifier, GDFSClassifier

__all__ = ["AACOClassifier", "DIMEClassifier", "GDFSClassifier"]
