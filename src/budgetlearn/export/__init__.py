"""Forests for devices: a compact format in bytes, and C code without malloc or libm.

Trees (`tree.predictor`) are converted to `serialization.StoredTrees`, these to a `CompactForest`,
and this to bytes (`serialization`), C99 (`c_code`) or ONNX (`exporting`). `exporting` also has the
methods that forests inherit, and imports forests of other libraries.
"""

from .compact_models import CompactForest as CompactForest
from .compact_models import CompactNetwork as CompactNetwork
from .exporting import ImportedForest as ImportedForest
from .exporting import quantization_errors as quantization_errors
from .formats import FORMATS as FORMATS
