"""Networks that learn what to acquire next (the extra `policies`): GDFS, DIME."""

from .dime import DIMEClassifier
from .gdfs import GDFSClassifier

__all__ = ["DIMEClassifier", "GDFSClassifier"]
