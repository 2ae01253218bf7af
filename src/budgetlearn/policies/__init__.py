"""Policies that learn what to acquire next (the extra `policies`): AACO, DIME, GDFS."""

from .aaco import AACOClassifier as AACOClassifier
from .gdfs_dime import DIMEClassifier as DIMEClassifier
from .gdfs_dime import GDFSClassifier as GDFSClassifier
