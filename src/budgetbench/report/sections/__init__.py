"""The sections of the report: classes in modules, each of which has a template in this folder."""

import importlib
import pkgutil
from functools import cache

from ..section import Section


def sections_of(study):
    """Return the sections of a study's report, in their order on the page."""
    sections = [section(study) for section in _classes()]
    applying = [section for section in sections if section.applies()]
    return sorted(applying, key=lambda section: section.place)


@cache
def _classes():
    """Return the section classes of all modules of this package, without base classes."""
    names = [f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)]
    found = [value for name in names for value in vars(importlib.import_module(name)).values()]
    classes = [value for value in found if isinstance(value, type) and issubclass(value, Section)]
    return [value for value in classes if value.__module__ in names and value.id]
