"""Read SVMlight files in bounded memory, and images from MNIST's idx files and CIFAR batches."""

import gzip
import math
import struct
from itertools import product

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from budgetlearn.exceptions import DatasetError
from budgetlearn.parallel import Bar
from budgetlearn.preprocessing.reading import reading

from .dataset import Table
from .table_files import parts_of

CHUNK = 32 << 20  # bytes of text parsed at a time; no row may be longer
# Of CIFAR-10 and its features:
SIDE, COLOURS = 32, 3
PATCH, N_PATCHES, N_LEARNED = 6, 40_000, 100
ROUNDS = 10  # of k-means, as in Coates and Ng
THRESHOLD = 0.5  # of similarity to a patch
_BYTES = 1 + SIDE * SIDE * COLOURS  # of a label and an image
_BLOCK = 100  # images at a time, for 30 MB of patches
_QUARTERS = [(row, column) for row in ("upper", "lower") for column in ("left", "right")]


def read_svmlight(
    paths,
    n_columns,
    queries=None,
    parts=None,
    dtype="float64",
    drop_empty=False,
    scale=None,
    names=None,
):
    """Read ``label [qid:q] index:value …`` files into one dense table; see the registry's schema.

    With ``queries="files"``, each of `paths` is followed by the file of its query lengths. Text is
    parsed in chunks into the final array, so little memory is needed beyond the array.
    """
    tables = paths[0::2] if queries == "files" else paths
    X, y, qid, lengths = _parsed(tables, n_columns, dtype, queries == "qid")
    if scale is not None:
        _scale(X, **scale)
    groups = None
    if queries == "qid":
        # A query starts at a new id and at a new file, which may begin with the last file's id.
        starts = np.r_[True, qid[1:] != qid[:-1]]
        starts[np.cumsum(lengths)[:-1]] = True
        groups = np.cumsum(starts) - 1
    elif queries == "files":
        groups = _query_files(paths[1::2], lengths)
    feature_names = np.array(names or [f"f{index + 1}" for index in range(n_columns)])
    if drop_empty:
        used = [column for column in range(n_columns) if X[:, column].any()]
        for place, column in enumerate(used):  # in place, because a copy would double the memory
            X[:, place] = X[:, column]
        X, feature_names = X[:, : len(used)], feature_names[used]
    return Table(X, y, tuple(feature_names.tolist()), parts_of(parts, lengths), groups)


def _parsed(tables, n_columns, dtype, has_qid):
    """Return the table of all files, the targets and queries, and the number of rows per file."""
    # Rows are counted first, so that the table is allocated once.
    lengths = []
    for path in tables:
        with path.open("rb") as stream:
            lengths.append(sum(1 for _ in stream))
        if not lengths[-1]:
            raise DatasetError(f"{path.name} is empty: it holds no examples.")
    ends = np.cumsum(lengths)
    # Column-major, as the tree kernels read it; a later copy would double the memory.
    X = np.zeros((ends[-1], n_columns), dtype, order="F")
    y = np.empty(ends[-1])
    qid = np.zeros(ends[-1], np.int64)
    for path, end, length in zip(tables, ends, lengths, strict=True):
        rows = slice(end - length, end)
        _fill(path, X[rows], y[rows], qid[rows], has_qid)
    return X, y, qid, lengths


def _scale(X, low, high, without):
    """Scale every column to a range in place, except rows that have `without` in all columns."""
    measured = np.not_equal(X, without).any(axis=1)
    least, most = X[measured].min(axis=0), X[measured].max(axis=0)
    width = np.where(most > least, most - least, 1.0)
    X[measured] = low + (high - low) * (X[measured] - least) / width


def _fill(path, X, y, qid, with_queries):
    from sklearn.datasets import load_svmlight_file  # here, as planning does not need scikit-learn

    row, size = 0, path.stat().st_size
    known = {"n_features": X.shape[1], "dtype": X.dtype, "zero_based": False}
    starts = range(0, size, CHUNK)
    for start in Bar(starts, desc=f"reading {path.name}", disable=len(starts) < 2):
        with reading(path, "SVMlight: label index:value …"):
            part = {"query_id": with_queries, "offset": start, "length": CHUNK}
            values, labels, *queries = load_svmlight_file(str(path), **known, **part)
            if with_queries and queries[0].size != labels.size:
                raise DatasetError(f"{path.name}: a row has no query (qid:…).")
        stop = row + labels.size
        X[row:stop] = values.toarray()
        y[row:stop] = labels
        if with_queries:
            qid[row:stop] = queries[0]
        row = stop
    if row != len(X):
        raise DatasetError(f"{path.name}: {len(X)} lines, but {row} examples.")


def _query_files(paths, lengths):
    """Return the query of each row, from files with the number of rows of each query."""
    found = []
    for path, length in zip(paths, lengths, strict=True):
        with reading(path, "rows per query"):
            sizes = np.array([int(word) for word in path.read_text().split()], np.int64)
        if not sizes.size or sizes.min() < 1:
            raise DatasetError(f"{path.name} must hold the number of rows of each query, all >= 1.")
        if sizes.sum() != length:
            raise DatasetError(f"{path.name} counts {sizes.sum()} rows, the data have {length}.")
        found.append(sizes)
    sizes = np.concatenate(found)
    return np.repeat(np.arange(sizes.size), sizes)


def read_idx(paths, parts=None):
    """Read pairs of idx files, images of bytes followed by their labels, as a float32 table."""
    images = [read_idx_array(path) for path in paths[0::2]]
    labels = [read_idx_array(path) for path in paths[1::2]]
    if any(image.ndim != 3 or image.shape[1:] != images[0].shape[1:] for image in images):
        shapes = ", ".join(str(image.shape) for image in images)
        raise DatasetError(f"Images must all have the same size; found arrays of {shapes}.")
    if any(label.ndim != 1 for label in labels):
        raise DatasetError("Each label must be one number.")
    lengths = [len(image) for image in images]
    if lengths != [len(label) for label in labels]:
        raise DatasetError(f"Images and labels differ in number: {lengths}.")
    # float32 represents bytes exactly, with half the memory of float64.
    X = np.concatenate([image.reshape(len(image), -1) for image in images]).astype(np.float32)
    height, width = images[0].shape[1:]
    names = tuple(f"r{row}c{column}" for row in range(height) for column in range(width))
    return Table(X, np.concatenate(labels).astype(np.int64), names, parts_of(parts, lengths))


def read_idx_array(path):
    """Return the array of unsigned bytes in an idx file, which may be gzip-compressed (``.gz``)."""
    with reading(path, "an idx file"):
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        # Magic number: two zero bytes, the type (8 for unsigned byte), the number of dimensions.
        if content[:3] != b"\x00\x00\x08":
            raise DatasetError(f"{path.name} is not an idx file of unsigned bytes.")
        dimensions = content[3]
        shape = struct.unpack(f">{dimensions}I", content[4 : 4 + 4 * dimensions])
        values = np.frombuffer(content, np.uint8, offset=4 + 4 * dimensions)
        if values.size != math.prod(shape):
            raise DatasetError(f"{path.name} should hold {shape} values, found {values.size}.")
        return values.reshape(shape)


def read_cifar(paths, parts=None, seed=0):
    """Read the binary batches of CIFAR-10 and compute features of the images.

    For each image, a batch has its class, then red, green and blue, row by row. Patches are learned
    from the batches of part 0, or from all batches without `parts`.
    """
    batches = [_batch(path) for path in paths]
    given = zip(batches, parts or [0] * len(paths), strict=True)
    learned_from = [images for (images, _), part in given if part == 0]
    if not learned_from:
        raise DatasetError("CIFAR-10: no batch is part 0, from which patches are learned.")
    # Test images must not influence the features.
    filters = _learn(np.concatenate(learned_from), np.random.default_rng(seed))
    X = np.concatenate([_features(images, *filters) for images, _ in batches])
    y = np.concatenate([labels for _, labels in batches])
    part = parts_of(parts, [len(labels) for _, labels in batches])
    names = [f"p{k}_{row}_{column}" for row, column in _QUARTERS for k in range(N_LEARNED)]
    return Table(X, y.astype(np.int64), tuple(names), part)


def _batch(path):
    """Return images (n, 32, 32, 3) of bytes, and their labels."""
    with reading(path, "a batch of CIFAR-10"):
        content = np.frombuffer(path.read_bytes(), np.uint8)
    if not content.size or content.size % _BYTES:
        raise DatasetError(
            f"{path.name} should hold images of {_BYTES} bytes each, found {content.size} bytes."
        )
    rows = content.reshape(-1, _BYTES)
    if rows[:, 0].max() > 9:
        raise DatasetError(f"{path.name}: a label is {rows[:, 0].max()}, expected 0 to 9.")
    # The file has colour planes; patches need the colours of each pixel side by side.
    return rows[:, 1:].reshape(-1, COLOURS, SIDE, SIDE).transpose(0, 2, 3, 1), rows[:, 0]


def _patches(images):
    """Return a view of all patches by image and position; a pixel's colours are side by side."""
    windows = sliding_window_view(images, (PATCH, PATCH), axis=(1, 2))
    return windows.transpose(0, 1, 2, 4, 5, 3)


def _contrasted(patches):
    """Return patches (n, 108) scaled to mean 0 and equal contrast."""
    patches = patches - patches.mean(axis=1, keepdims=True)
    # 10, in squared grey levels (0 to 255), keeps flat patches from becoming noise.
    return patches / np.sqrt(patches.var(axis=1, keepdims=True) + 10)


def _learn(images, rng):
    """Return the shift of the whitening, and the learned filters with whitening, as columns."""
    which = rng.integers(len(images), size=N_PATCHES)
    top, left = rng.integers(SIDE - PATCH + 1, size=(2, N_PATCHES))
    patches = _patches(images)[which, top, left].reshape(N_PATCHES, -1)
    patches = _contrasted(patches.astype(np.float64))
    shift = patches.mean(axis=0)
    # Zero-phase whitening; 0.1 limits the scale of directions without variance.
    values, vectors = np.linalg.eigh(np.cov(patches, rowvar=False))
    whitening = vectors / np.sqrt(values + 0.1) @ vectors.T
    patches = (patches - shift) @ whitening
    # Spherical k-means by damped updates (Coates and Ng 2012, section 3).
    centres = rng.standard_normal((patches.shape[1], N_LEARNED))
    for _ in range(ROUNDS):
        centres /= np.linalg.norm(centres, axis=0) + 1e-12
        likeness = patches @ centres
        # The absolute value, because a patch and its negative belong to the same centre.
        best = np.abs(likeness).argmax(axis=1)
        damped = np.zeros_like(likeness)  # has each patch's likeness to its nearest centre only
        damped[np.arange(len(best)), best] = likeness[np.arange(len(best)), best]
        centres += patches.T @ damped
    centres /= np.linalg.norm(centres, axis=0) + 1e-12
    return shift, whitening @ centres


def _features(images, shift, filters):
    """Return the similarity to each learned patch, summed over each quarter of an image."""
    places = SIDE - PATCH + 1
    half = places // 2 + 1  # 14 of 27 places: the middle ones count as upper and as left
    X = np.empty((len(images), len(_QUARTERS) * N_LEARNED), np.float32)
    for start in range(0, len(images), _BLOCK):
        block = images[start : start + _BLOCK].astype(np.float32)
        patches = _patches(block).reshape(-1, PATCH * PATCH * COLOURS)
        like = (_contrasted(patches) - shift.astype(np.float32)) @ filters.astype(np.float32)
        # Soft thresholds make features sparse; sums over quarters drop the exact position.
        like = np.maximum(like - THRESHOLD, 0).reshape(len(block), places, places, N_LEARNED)
        parts = slice(half), slice(half, None)
        quarters = [like[:, r, c].sum(axis=(1, 2)) for r, c in product(parts, parts)]
        X[start : start + len(block)] = np.concatenate(quarters, axis=1)
    return X
