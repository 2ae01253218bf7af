"""Forests for devices: a compact format in bytes, and C code without malloc or libm."""

from .forests import quantization_errors
from .model import FORMATS, CompactForest

__all__ = ["FORMATS", "CompactForest", "quantization_errors"]
