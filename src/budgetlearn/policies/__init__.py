"""Policies that learn which feature to acquire next (extra `policies`): AACO, DIME, GDFS."""

from .aaco import AACOClassifier as AACOClassifier
from .gdfs_dime import DIMEClassifier as DIMEClassifier
from .gdfs_dime import GDFSClassifier as GDFSClassifier
