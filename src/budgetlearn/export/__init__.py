"""Forests for devices: a compact format in bytes, and C code without malloc or libm.

Trees (`tree.predictor`) become `serialization.StoredTrees`, these a `CompactForest`, and that bytes
(`serialization`), C99 (`c_code`) or ONNX (`exporting`, which has the methods that forests inherit,
and those of other libraries).
"""

from .compact_models import CompactForest as CompactForest
from .compact_models import CompactNetwork as CompactNetwork
from .exporting import ImportedForest as ImportedForest
from .exporting import quantization_errors as quantization_errors
from .formats import FORMATS as FORMATS
