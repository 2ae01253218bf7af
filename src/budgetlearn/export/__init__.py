"""Forests for devices: a compact format in bytes, and C code without malloc or libm."""

from .model import FORMATS, CompactForest
from .quantization_errors import quantization_errors

__all__ = ["FORMATS", "CompactForest", "quantization_errors"]
