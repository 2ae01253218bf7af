"""The stored form of a forest on devices, and its bytes; docs/gif-format.md describes both.

In a globally induced forest, a side of a split may not have been accepted. Such a side predicts the
same as its parent. Like a leaf, it is a stop: it has a stored value, but no node. A tree of s
splits has s + 1 stops. In preorder, the left side of a split has one more stop than splits, so one
number for each split leads both to its right side and to the values there. From split i, whose
first stop is j, the left side begins at split i + 1 and stop j, the right side at split i + 1 +
n_left and stop j + 1 + n_left.
"""

import struct
from dataclasses import dataclass

import numpy as np

from ..exceptions import BudgetlearnError
from ..tree.predictor import LEAF, Tree

FULL, LEFT_IS_ZERO, RIGHT_IS_ZERO = 0, 1, 2  # the side of a root that is not stored
MAGIC, VERSIONS = b"BLCF", (1, 2)  # version 2 has a bit for the missing values of each split
HEADER = struct.Struct("<4sBBBBHHHHIII")
REGRESSION, SCORES, VOTES = 0, 1, 2
# Flags if features, offsets or heads of trees take twice their least width, or offsets four times.
FLAGS, LEAST, WIDEST_OFFSETS = (1, 2, 4), (1, 1, 2), 8
VALUE_TYPES = {"float32": "<f4", "float16": "<f2", "int8": "|i1"}
DAMAGED = "the parts of this compact forest contradict each other: the bytes are damaged."


class FormatError(BudgetlearnError, ValueError):
    """Bytes that are not a compact model, or have another version."""


@dataclass
class StoredTrees:
    """The splits and stops of a forest, tree by tree."""

    n_splits: np.ndarray  # of each tree, at least 1
    empty: np.ndarray  # the side of each root that is a zero stop, which is not stored, or `FULL`
    feature: np.ndarray  # of each split, in preorder
    threshold: np.ndarray  # x[feature] <= threshold goes left
    n_left: np.ndarray  # splits in the left side of each split
    missing_left: np.ndarray  # whether missing values go left at each split
    value: np.ndarray  # (n_stops, n_values), left to right
    # For trees without a split: the sum of their values, and the class of each one's largest value.
    constant: np.ndarray
    labels: np.ndarray


def stored(trees, zero_stops=True):
    """Return the splits and stops of `Tree` objects that must be stored.

    With `zero_stops`, a root's stop of value zero is omitted.
    """
    feature, threshold, value, left, right = (
        np.concatenate([getattr(tree, name) for tree in trees])
        for name in ("feature", "threshold", "value", "children_left", "children_right")
    )
    missing_left = np.concatenate(
        [np.zeros(t.node_count, bool) if t.missing_left is None else t.missing_left for t in trees]
    )
    sizes = np.array([tree.node_count for tree in trees])
    roots = np.cumsum(sizes) - sizes
    stops = np.flatnonzero(left == LEAF)
    left, right = (side + np.repeat(roots, sizes) for side in (left, right))
    n_splits, split, stop = _preorder(left, right, roots, stops)
    # A tree without a split predicts the same for all examples, and is added to the constant.
    lone, roots = roots[n_splits[roots] == 0], roots[n_splits[roots] > 0]
    zero = (n_splits == 0) & ~value.any(axis=1) & zero_stops
    empty = np.select([zero[left[roots]], zero[right[roots]]], [LEFT_IS_ZERO, RIGHT_IS_ZERO], FULL)
    dropped = left[roots[empty == LEFT_IS_ZERO]], right[roots[empty == RIGHT_IS_ZERO]]
    kept = np.setdiff1d(stops, np.concatenate([lone, *dropped]))
    inner = np.delete(np.arange(left.size), stops)
    inner, kept = inner[split[inner].argsort()], kept[stop[kept].argsort()]
    splits = feature[inner].astype(np.int64), threshold[inner], n_splits[left[inner]]
    constant = sum(value[lone], np.zeros(value.shape[1])), value[lone].argmax(axis=1)
    return StoredTrees(n_splits[roots], empty, *splits, missing_left[inner], value[kept], *constant)


def _preorder(left, right, roots, stops):
    """Return the number of splits, the first split and the first stop at and below each node."""
    n_splits, split, stop = np.zeros((3, left.size), dtype=np.int64)
    inner = np.ones(left.size, dtype=bool)
    inner[stops] = False
    levels, level = [], roots
    while level.size:
        level = level[inner[level]]
        levels.append(level)
        level = np.concatenate([left[level], right[level]])
    # For all trees at once, level by level: count from the bottom up, number from the top down.
    for level in reversed(levels):
        n_splits[level] = 1 + n_splits[left[level]] + n_splits[right[level]]
    split[roots] = np.cumsum(n_splits[roots]) - n_splits[roots]
    stop[roots] = split[roots] + np.arange(roots.size)
    for level in levels:
        before = 1 + n_splits[left[level]]
        split[left[level]], stop[left[level]] = split[level] + 1, stop[level]
        split[right[level]], stop[right[level]] = split[level] + before, stop[level] + before
    return n_splits, split, stop


def stored_bytes(trees, n_features, n_columns):
    """Return the size in bytes of a sum of at least one tree in the compact format "float32".

    `n_columns`, the values of a stop, is 1 for two classes, and if each class has its own trees.
    """
    forest = stored(trees)
    shape = forest.n_splits, forest.n_left, len(forest.value), n_columns, n_features
    return size("float32", *shape, 0, missing=forest.missing_left.any())


def rebuilt(n_splits, feature, threshold, n_left, missing_left=None):
    """Return `Tree` objects of these splits; the value of a leaf is the index of its stop."""
    ends = np.cumsum(n_splits)
    gaps = np.zeros(len(feature)) if missing_left is None else missing_left
    return [
        _rebuilt(*(array[start:end] for array in (feature, threshold, n_left, gaps)))
        for start, end in zip(ends - n_splits, ends, strict=True)
    ]


def _rebuilt(feature, threshold, n_left, missing_left):
    """Return one tree, whose nodes are its splits in preorder and its stops from left to right."""
    n = feature.size
    left, right, value = np.full((3, 2 * n + 1), LEAF)
    value[n:] = np.arange(n + 1)
    # For each split, the number of splits at and below it, and the first stop below it.
    sizes, stops = [n] * (n + 1), [0] * (n + 1)
    for split, before in enumerate(n_left.tolist()):
        stop, child = stops[split], split + 1 + before
        after = sizes[split] - 1 - before
        if after < 0:
            raise FormatError(DAMAGED)
        left[split] = split + 1 if before else n + stop
        right[split] = child if after else n + stop + 1 + before
        if before:
            sizes[split + 1], stops[split + 1] = before, stop
        if after:
            sizes[child], stops[child] = after, stop + 1 + before
    leaves = np.full(n + 1, LEAF)
    thresholds, gaps = (np.append(each, np.zeros(n + 1)) for each in (threshold, missing_left))
    nodes = np.concatenate([feature, leaves]), thresholds, left, right
    return Tree(*nodes, value[:, None], np.zeros(2 * n + 1), gaps)


def widths(n_features, n_splits, n_left):
    """Return the widths in bytes of a feature, of an offset and of a tree's head."""
    return (
        1 if n_features <= 1 << 8 else 2,
        1 if np.max(n_left, initial=0) < 1 << 8 else 2 if np.max(n_left) < 1 << 16 else 4,
        2 if np.max(n_splits, initial=0) < 1 << 14 else 4,
    )


def sections(format, votes, n_splits, n_stops, n_trees, n_columns, n_used, width, missing):
    """Return the name, type and shape of each array, in the order of the bytes."""
    int8 = format == "int8"
    feature, offset, head = ({1: "|u1", 2: "<u2", 4: "<u4"}[n] for n in width)
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
        ("missing", "|u1", (-(-n_splits // 8) * missing,)),
        ("value", "|u1" if votes else VALUE_TYPES[format], (n_stops, 1 if votes else n_columns)),
    )


def size(format, n_splits, n_left, n_stops, n_columns, n_features, n_used, missing=False):
    """Return the size in bytes of a sum of trees; the parameters are as in `CompactForest`."""
    width = widths(n_used if format == "int8" else n_features, n_splits, n_left)
    counts = int(np.sum(n_splits)), n_stops, len(n_splits), n_columns, n_used
    parts = sections(format, False, *counts, width, missing)
    return HEADER.size + sum(np.dtype(kind).itemsize * int(np.prod(n)) for _, kind, n in parts)


def arrays_of(forest):
    """Return the stored arrays of a `CompactForest` by name, in types and order of the bytes."""
    # In int8, the feature of a split is an index into `used`, which usually fits into one byte.
    n_features = forest.used.size if forest.format == "int8" else forest.n_features
    width = widths(n_features, forest.n_splits, forest.n_left)
    counts = forest.feature.size, len(forest.value), forest.n_splits.size, forest.n_columns
    counts += forest.used.size, width, forest.missing_left.any()
    parts = sections(forest.format, forest.kind == VOTES, *counts)
    # The two low bits of a tree's head are the empty side of its root; the others count splits.
    arrays = vars(forest) | {"head": forest.n_splits * 4 + forest.empty}
    bits = np.packbits(forest.missing_left, bitorder="little")
    arrays["missing"] = bits if forest.missing_left.any() else bits[:0]
    return {name: np.ascontiguousarray(arrays[name], dtype=kind) for name, kind, _ in parts}


def written(forest):
    """Return a `CompactForest` as bytes."""
    arrays = arrays_of(forest)
    width = [arrays[name].itemsize for name in ("feature", "n_left", "head")]
    flags = sum(flag * (n > least) for flag, n, least in zip(FLAGS, width, LEAST, strict=True))
    flags += WIDEST_OFFSETS * (width[1] == 4)
    about = forest.kind, list(VALUE_TYPES).index(forest.format), flags
    sizes = forest.n_features - 1, forest.n_classes, forest.n_columns, forest.used.size
    counts = forest.feature.size, len(forest.value), forest.n_splits.size
    header = HEADER.pack(MAGIC, VERSIONS[int(arrays["missing"].size > 0)], *about, *sizes, *counts)
    return header + b"".join(array.tobytes() for array in arrays.values())


def read(data):
    """Return the fields of a `CompactForest` from its bytes."""
    if len(data) < HEADER.size or data[:4] != MAGIC:
        raise FormatError("these bytes are not a compact forest, which begins with b'BLCF'.")
    _, version, kind, format, flags, n_features, n_classes, *counts = HEADER.unpack_from(data)
    if version not in VERSIONS:
        raise FormatError(
            f"this compact forest has version {version}, but this budgetlearn reads versions "
            f"{VERSIONS}. Write it again, or use the budgetlearn that wrote it."
        )
    n_columns, n_used, n_splits, n_stops, n_trees = counts
    if kind > VOTES or format >= len(VALUE_TYPES):
        raise FormatError(f"unknown kind {kind} or format {format}: the bytes are damaged.")
    # The inverse of the flags in `written`: each doubles the least width.
    width = [n << bool(flags & flag) for flag, n in zip(FLAGS, LEAST, strict=True)]
    width[1] <<= bool(flags & WIDEST_OFFSETS)
    name = list(VALUE_TYPES)[format]
    counts = n_splits, n_stops, n_trees, n_columns, n_used, width, version == VERSIONS[1]
    parts = sections(name, kind == VOTES, *counts)
    place, arrays = HEADER.size, {}
    expected = place + sum(np.dtype(kind).itemsize * int(np.prod(n)) for _, kind, n in parts)
    # Checked before reading, because no array may extend beyond the bytes.
    if len(data) != expected:
        raise FormatError(f"expected {expected} bytes, got {len(data)}: the file is damaged.")
    for part, dtype, shape in parts:
        # Copied to the native byte order; views of `data` would be read-only.
        array = np.frombuffer(data, dtype, int(np.prod(shape)), place).reshape(shape)
        arrays[part] = array.astype(np.dtype(dtype).newbyteorder("="))
        place += array.nbytes
    head = arrays.pop("head").astype(np.int64)
    bits = np.unpackbits(arrays.pop("missing"), bitorder="little")[:n_splits]
    arrays["missing_left"] = bits > 0 if bits.size else np.zeros(n_splits, dtype=bool)
    # Widened, because sums of offsets would overflow narrow types.
    indices = {part: arrays[part].astype(np.int64) for part in ("feature", "n_left")}
    about = {"kind": kind, "format": name, "n_features": n_features + 1, "n_classes": n_classes}
    fields = about | arrays | indices | {"n_splits": head >> 2, "empty": head & 3}
    _refuse_contradictions(**fields)
    return fields


def _refuse_contradictions(kind, n_classes, n_features, n_splits, empty, feature, value, **others):
    """Raise `FormatError` unless all splits, stops, features and classes lead into their arrays."""
    n_columns, one = others["constant"].size, kind == SCORES and n_classes == 2
    expected = n_columns if kind == REGRESSION else 1 if one else n_classes
    int8 = others["format"] == "int8"
    if (
        not n_columns == expected > 0
        or n_splits.sum() != feature.size
        or (n_splits + (empty == FULL)).sum() != len(value)
        or (feature >= (others["used"].size if int8 else n_features)).any()
        or (others["used"] >= n_features).any()
        or (kind == VOTES and (value >= n_classes).any())
    ):
        raise FormatError(DAMAGED)
    rebuilt(n_splits, feature, others["threshold"], others["n_left"])  # checks the sides
