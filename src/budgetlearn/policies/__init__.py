"""Policies that learn what to acquire next (the extra `policies`): AACO, DIME, GDFS."""

from .aaco import AACOClassifier
from .dime import DIMEClassifier
from .gdfs import GDFSClassifier

__all__ = ["AACOClassifier", "DIMEClassifier", "GDFSClassifier"]
