"""C99 code of a `CompactForest`: one header with its tables, without malloc or libm."""

import re
from pathlib import Path

import numpy as np

from ..validation import ParameterError
from .model import REGRESSION, SCORES, VOTES
from .serialization import widths

TEMPLATE = Path(__file__).with_name("template.h").read_text()
C_TYPES = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t"}
WIDTH = 98


def c_header(forest, name="model"):
    """Return the text of a C99 header that predicts what a compact forest predicts."""
    # The name goes into identifiers, and nothing else of the user's into code.
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise ParameterError(
            f"name must be letters, digits and underscores, a letter first, got {name!r}."
        )
    parts = {
        "tables": "\n".join(_tables(forest)),
        "half": _block("half") if _halves(forest) else "",
        "threshold": THRESHOLD[forest.format == "int8"],
        "feature": FEATURE[forest.format == "int8"],
        "add": _adding(forest),
        "scores": _scores(forest),
        "predict": _block(_predicting(forest)),
        "print": PRINT[forest.kind == REGRESSION],
        "sum_type": _sum_type(forest),
        "guard": f"{name.upper()}_H",
    }
    text = _block("model")
    # Parts first: they contain names and sizes themselves.
    for key, value in parts.items():
        text = text.replace(f"@{key}@", value)
    sizes = {
        "n_features": forest.n_features,
        "n_columns": forest.n_columns,
        "n_trees": forest.n_splits.size,
        "nbytes": forest.nbytes,
        "format": forest.format,
    }
    # Every name begins with the model's, so that two models fit into one program.
    for key, value in (sizes | {"name": name, "NAME": name.upper()}).items():
        text = text.replace(f"@{key}@", str(value))
    return re.sub(r"\n{3,}", "\n\n", text)


THRESHOLD = (
    "@name@_threshold[at]",
    "@name@_low[@name@_feature[at]] + @name@_step[@name@_feature[at]] * (float)@name@_bin[at]",
)
FEATURE = ("@name@_feature[at]", "@name@_used[@name@_feature[at]]")
PRINT = ('printf("%d", @name@_predict(x));', 'printf("%.9g", (double)@name@_predict(x));')


def _block(key):
    """Return one part of the template."""
    return re.search(rf"^//= {key}\n(.*?)(?=^//= |\Z)", TEMPLATE, re.S | re.M)[1]


def _halves(forest):
    return forest.format == "float16" and forest.kind != VOTES


def _sum_type(forest):
    # Whole numbers add up exactly in any order; the bits of floats depend on it.
    if forest.kind == VOTES:
        return "uint32_t"
    return "int32_t" if forest.format == "int8" else "float"


def _adding(forest):
    """Return the statement that adds what a stop says."""
    if forest.kind == VOTES:
        return "sums[@name@_value[stop]] += 1u;"
    value = "@name@_value[stop * @NAME@_N_SCORES + k]"
    if _halves(forest):
        value = f"@name@_half({value})"
    return f"for (k = 0; k < @NAME@_N_SCORES; ++k) {{ sums[k] += {value}; }}"


def _scores(forest):
    """Return the expression of score k from the sums."""
    if forest.scale.size:
        return "(float)sums[k] * @name@_scale[k]"
    return "(float)sums[k]" if forest.kind == VOTES else "sums[k]"


def _predicting(forest):
    if forest.kind == REGRESSION:
        return "regression" if forest.n_columns == 1 else "outputs"
    return "sign" if forest.kind == SCORES and forest.n_columns == 1 else "argmax"


def _tables(forest):
    """Yield the tables as C definitions."""
    # In int8 splits name a place in `used`, mostly a byte where columns would take two.
    int8 = forest.format == "int8"
    n_features = forest.used.size if int8 else forest.n_features
    feature, offset, head = (C_TYPES[n] for n in widths(n_features, forest.n_splits, forest.n_left))
    yield _table(head, "head", forest.n_splits * 4 + forest.empty)
    yield _table(feature, "feature", forest.feature)
    yield _table(offset, "left", forest.n_left)
    if int8:
        yield _table("uint8_t", "bin", forest.threshold)
        yield _table("uint16_t", "used", forest.used)
        yield _table("float", "low", forest.low)
        yield _table("float", "step", forest.step)
    else:
        yield _table("float", "threshold", forest.threshold)
    if forest.scale.size:
        yield _table("float", "scale", forest.scale)
    if forest.kind == VOTES:
        yield _table("uint8_t", "value", forest.value)
        yield _table("uint32_t", "constant", forest.constant.astype(np.uint32))
        return
    kind, values = "float", forest.value
    if int8:
        kind = "int8_t"
    elif _halves(forest):
        kind, values = "uint16_t", values.view(np.uint16)
    yield _table(kind, "value", values)
    yield _table(_sum_type(forest), "constant", forest.constant)


def _table(kind, name, values):
    """Return a constant array; C has none of length 0."""
    values = values.ravel() if values.size else np.zeros(1, dtype=values.dtype)
    words = [_float(value) for value in values] if kind == "float" else map(str, values.tolist())
    lines, line = [], "   "
    for word in words:
        if len(line) + len(word) + 2 > WIDTH:
            lines.append(line)
            line = "   "
        line += f" {word},"
    lines.append(line)
    body = "\n".join(lines)
    return f"static const {kind} @name@_{name}[{values.size}] = {{\n{body}\n}};"


def _float(value):
    """Return a float32 as a literal that every compiler reads as that very number."""
    text = f"{value:.9g}"  # nine digits tell all float32 apart
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"
