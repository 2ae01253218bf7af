"""The bytes of a `CompactForest`: docs/gif-format.md describes them."""

import struct

import numpy as np

from ..exceptions import BudgetlearnError

MAGIC, VERSION = b"BLCF", 1
HEADER = struct.Struct("<4sBBBBHHHHIII")
VOTES = 2
# Which of features, offsets and heads of trees take twice their least bytes; offsets also four.
FLAGS, LEAST, WIDEST_OFFSETS = (1, 2, 4), (1, 1, 2), 8
VALUE_TYPES = {"float32": "<f4", "float16": "<f2", "int8": "|i1"}


class FormatError(BudgetlearnError, ValueError):
    """Bytes that are not a model, or one of another version."""


def widths(n_features, n_splits, n_left):
    """Return the bytes of a feature, of an offset and of a tree's head."""
    return (
        1 if n_features <= 1 << 8 else 2,
        1 if np.max(n_left, initial=0) < 1 << 8 else 2 if np.max(n_left) < 1 << 16 else 4,
        2 if np.max(n_splits, initial=0) < 1 << 14 else 4,
    )


def sections(format, votes, n_splits, n_stops, n_trees, n_columns, n_used, width):
    """Return name, type and shape of each array, in the order of the bytes."""
    int8 = format == "int8"
    unsigned = {1: "|u1", 2: "<u2", 4: "<u4"}
    feature, offset, head = (unsigned[n] for n in width)
    scaled = int8 and not votes
    return (
        ("constant", "<i4" if scaled else "<f4", (n_columns,)),
        ("scale", "<f4", (n_columns if scaled else 0,)),
        ("used", "<u2", (n_used,)),
        ("low", "<f4", (n_used,)),
        ("step", "<f4", (n_used,)),
        ("head", head, (n_trees,)),
        ("feature", feature, (n_splits,)),
        ("threshold", "|u1" if int8 else "<f4", (n_splits,)),
        ("n_left", offset, (n_splits,)),
        ("value", "|u1" if votes else VALUE_TYPES[format], (n_stops, 1 if votes else n_columns)),
    )


def size(votes, format, n_splits, n_left, n_stops, n_columns, n_features, n_used):
    """Return the bytes of a model; the arrays and numbers are those of `CompactForest`."""
    width = widths(n_used if format == "int8" else n_features, n_splits, n_left)
    counts = int(np.sum(n_splits)), n_stops, len(n_splits), n_columns, n_used
    parts = sections(format, votes, *counts, width)
    return HEADER.size + sum(np.dtype(kind).itemsize * int(np.prod(n)) for _, kind, n in parts)


def written(forest):
    """Return a `CompactForest` as bytes."""
    votes = forest.kind == VOTES
    n_features = forest.used.size if forest.format == "int8" else forest.n_features
    width = widths(n_features, forest.n_splits, forest.n_left)
    counts = forest.feature.size, len(forest.value), forest.n_splits.size, forest.n_columns
    header = HEADER.pack(
        MAGIC,
        VERSION,
        forest.kind,
        list(VALUE_TYPES).index(forest.format),
        sum(flag * (n > least) for flag, n, least in zip(FLAGS, width, LEAST, strict=True))
        + WIDEST_OFFSETS * (width[1] == 4),
        forest.n_features - 1,
        forest.n_classes,
        forest.n_columns,
        forest.used.size,
        *counts[:3],
    )
    # The side of an empty root takes the two low bits of a tree's head, its splits the others.
    arrays = vars(forest) | {"head": forest.n_splits * 4 + forest.empty}
    return header + b"".join(
        np.ascontiguousarray(arrays[name], dtype=kind).tobytes()
        for name, kind, _ in sections(forest.format, votes, *counts, forest.used.size, width)
    )


def read(data):
    """Return the fields of a `CompactForest` from its bytes."""
    if len(data) < HEADER.size or data[:4] != MAGIC:
        raise FormatError("these bytes are not a compact forest: they should begin with b'BLCF'.")
    _, version, kind, format, flags, n_features, n_classes, *counts = HEADER.unpack_from(data)
    if version != VERSION:
        raise FormatError(
            f"this is a compact forest of version {version}; this budgetlearn reads version "
            f"{VERSION}. Write it anew, or use the budgetlearn that wrote it."
        )
    n_columns, n_used, n_splits, n_stops, n_trees = counts
    if kind > VOTES or format >= len(VALUE_TYPES):
        raise FormatError(f"unknown kind {kind} or format {format}: the bytes are damaged.")
    # The inverse of the flags in `written`: each doubles the least width.
    width = [n << bool(flags & flag) for flag, n in zip(FLAGS, LEAST, strict=True)]
    width[1] <<= bool(flags & WIDEST_OFFSETS)
    name = list(VALUE_TYPES)[format]
    parts = sections(name, kind == VOTES, n_splits, n_stops, n_trees, n_columns, n_used, width)
    place, arrays = HEADER.size, {}
    expected = place + sum(np.dtype(kind).itemsize * int(np.prod(n)) for _, kind, n in parts)
    # Before anything is read: no array may reach beyond the bytes.
    if len(data) != expected:
        raise FormatError(f"expected {expected} bytes, got {len(data)}: the file was cut or grew.")
    for part, dtype, shape in parts:
        # Copied, in the order of this machine: views of `data` could not be written to.
        array = np.frombuffer(data, dtype, int(np.prod(shape)), place).reshape(shape)
        arrays[part] = array.astype(np.dtype(dtype).newbyteorder("="))
        place += array.nbytes
    head = arrays.pop("head").astype(np.int64)
    # Narrow types were for the bytes; sums of offsets would overflow them.
    indices = {part: arrays[part].astype(np.int64) for part in ("feature", "n_left")}
    about = {"kind": kind, "format": name, "n_features": n_features + 1, "n_classes": n_classes}
    return about | arrays | indices | {"n_splits": head >> 2, "empty": head & 3}
