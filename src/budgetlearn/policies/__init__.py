"""Networks that learn what to acquire next (the extra `policies`): GDFS."""

from .gdfs import GDFSClassifier

__all__ = ["GDFSClassifier"]
