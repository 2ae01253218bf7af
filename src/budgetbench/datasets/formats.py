"""Readers of SVMlight files, in bounded memory, and of images: MNIST's idx files, CIFAR batches."""

import gzip
import math
import struct
from itertools import product

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from budgetlearn.exceptions import DatasetError
from budgetlearn.parallel import Bar
from budgetlearn.preprocessing.reading import reading

from .table_files import Table, parts_of

CHUNK = 32 << 20  # bytes of text parsed at a time; no row may be longer


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

    With ``queries="files"`` each of `paths` is followed by the file of its query lengths. Text is
    parsed in chunks straight into the final array, so the memory is that of the array.
    """
    tables = paths[0::2] if queries == "files" else paths
    X, y, qid, lengths = _parsed(tables, n_columns, dtype, queries == "qid")
    if scale is not None:
        _scale(X, **scale)
    groups = None
    if queries == "qid":
        # A new file or a new id starts a query: the last of a file and the first of the next may
        # have the same id.
        starts = np.r_[True, qid[1:] != qid[:-1]]
        starts[np.cumsum(lengths)[:-1]] = True
        groups = np.cumsum(starts) - 1
    elif queries == "files":
        groups = _query_files(paths[1::2], lengths)
    feature_names = np.array(names or [f"f{index + 1}" for index in range(n_columns)])
    if drop_empty:
        used = [column for column in range(n_columns) if X[:, column].any()]
        for place, column in enumerate(used):  # in place: a copy would double the memory
            X[:, place] = X[:, column]
        X, feature_names = X[:, : len(used)], feature_names[used]
    return Table(X, y, tuple(feature_names.tolist()), parts_of(parts, lengths), groups)


def _parsed(tables, n_columns, dtype, has_qid):
    """Return the table of all files, their targets and queries, and the rows of each."""
    # Rows are counted before any is parsed: the table is made once, at its size.
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
    """Scale every column to a range in place, rows of `without` left out."""
    measured = np.not_equal(X, without).any(axis=1)
    least, most = X[measured].min(axis=0), X[measured].max(axis=0)
    width = np.where(most > least, most - least, 1.0)
    X[measured] = low + (high - low) * (X[measured] - least) / width


def _fill(path, X, y, qid, with_queries):
    from sklearn.datasets import load_svmlight_file  # here: planning does without scikit-learn

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
    """Return the query of each row, from files of the number of rows of each query."""
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
    """Read pairs of idx files, images of bytes and then their labels, as a table of float32."""
    images = [read_idx_array(path) for path in paths[0::2]]
    labels = [read_idx_array(path) for path in paths[1::2]]
    if any(image.ndim != 3 or image.shape[1:] != images[0].shape[1:] for image in images):
        shapes = ", ".join(str(image.shape) for image in images)
        raise DatasetError(f"Images must be of one size, rows by columns; found {shapes}.")
    if any(label.ndim != 1 for label in labels):
        raise DatasetError("Labels must be one number each.")
    lengths = [len(image) for image in images]
    if lengths != [len(label) for label in labels]:
        raise DatasetError(f"Images and labels differ in number: {lengths}.")
    # Bytes are exact in float32, which takes half of the memory of float64.
    X = np.concatenate([image.reshape(len(image), -1) for image in images]).astype(np.float32)
    height, width = images[0].shape[1:]
    names = tuple(f"r{row}c{column}" for row in range(height) for column in range(width))
    return Table(X, np.concatenate(labels).astype(np.int64), names, parts_of(parts, lengths))


def read_idx_array(path):
    """Return the unsigned bytes of an idx file, gzip-compressed if its name ends in ``.gz``."""
    with reading(path, "an idx file"):
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        # Magic number: two zero bytes, the type (8: unsigned byte), the number of dimensions.
        if content[:3] != b"\x00\x00\x08":
            raise DatasetError(f"{path.name} is not an idx file of unsigned bytes.")
        dimensions = content[3]
        shape = struct.unpack(f">{dimensions}I", content[4 : 4 + 4 * dimensions])
        values = np.frombuffer(content, np.uint8, offset=4 + 4 * dimensions)
        if values.size != math.prod(shape):
            raise DatasetError(f"{path.name} should hold {shape} values, found {values.size}.")
        return values.reshape(shape)


SIDE, COLOURS = 32, 3
PATCH, N_PATCHES, N_LEARNED = 6, 40_000, 100
ROUNDS = 10  # of k-means; Coates and Ng's own number
THRESHOLD = 0.5  # of resemblance
_BYTES = 1 + SIDE * SIDE * COLOURS  # of an image with its label
_BLOCK = 100  # images at a time: 30 MB of patches
_QUARTERS = [(row, column) for row in ("upper", "lower") for column in ("left", "right")]


def read_cifar(paths, parts=None, seed=0):
    """Read the binary batches of CIFAR-10 and make features of the images.

    Of each image a batch has its class, then red, green and blue, row by row. Patches are learned
    from batches of part 0 (no `parts`: from all).
    """
    batches = [_batch(path) for path in paths]
    given = zip(batches, parts or [0] * len(paths), strict=True)
    learned_from = [images for (images, _), part in given if part == 0]
    if not learned_from:
        raise DatasetError("CIFAR-10: no batch is part 0, from which patches are learned.")
    # Test images must not shape the features by which they are judged.
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
    # Colour planes in the file, colours of a pixel side by side for the patches.
    return rows[:, 1:].reshape(-1, COLOURS, SIDE, SIDE).transpose(0, 2, 3, 1), rows[:, 0]


def _patches(images):
    """Return a view of all patches by image and place, colours of a pixel side by side."""
    windows = sliding_window_view(images, (PATCH, PATCH), axis=(1, 2))
    return windows.transpose(0, 1, 2, 4, 5, 3)


def _contrasted(patches):
    """Return patches (n, 108) with mean 0 and equal contrast."""
    patches = patches - patches.mean(axis=1, keepdims=True)
    # 10, in squared grey levels of 255, keeps flat patches from becoming noise.
    return patches / np.sqrt(patches.var(axis=1, keepdims=True) + 10)


def _learn(images, rng):
    """Return the whitening's shift and the learned patches, whitened, one in each column."""
    which = rng.integers(len(images), size=N_PATCHES)
    top, left = rng.integers(SIDE - PATCH + 1, size=(2, N_PATCHES))
    patches = _patches(images)[which, top, left].reshape(N_PATCHES, -1)
    patches = _contrasted(patches.astype(np.float64))
    shift = patches.mean(axis=0)
    # Zero-phase whitening; 0.1 keeps directions without variance from being blown up.
    values, vectors = np.linalg.eigh(np.cov(patches, rowvar=False))
    whitening = vectors / np.sqrt(values + 0.1) @ vectors.T
    patches = (patches - shift) @ whitening
    # Spherical k-means by damped updates (Coates and Ng 2012, section 3).
    centres = rng.standard_normal((patches.shape[1], N_LEARNED))
    for _ in range(ROUNDS):
        centres /= np.linalg.norm(centres, axis=0) + 1e-12
        likeness = patches @ centres
        # A patch and its negative are one centre, hence the absolute value.
        best = np.abs(likeness).argmax(axis=1)
        damped = np.zeros_like(likeness)  # of each patch, its likeness to the nearest centre only
        damped[np.arange(len(best)), best] = likeness[np.arange(len(best)), best]
        centres += patches.T @ damped
    centres /= np.linalg.norm(centres, axis=0) + 1e-12
    return shift, whitening @ centres


def _features(images, shift, filters):
    """Return sums over quarters of the resemblance to each learned patch, a block at a time."""
    places = SIDE - PATCH + 1
    half = places // 2 + 1  # 27 places: the middle ones belong to the upper and left quarters
    X = np.empty((len(images), len(_QUARTERS) * N_LEARNED), np.float32)
    for start in range(0, len(images), _BLOCK):
        block = images[start : start + _BLOCK].astype(np.float32)
        patches = _patches(block).reshape(-1, PATCH * PATCH * COLOURS)
        like = (_contrasted(patches) - shift.astype(np.float32)) @ filters.astype(np.float32)
        # Soft thresholds make the features sparse; sums over quarters forget where exactly.
        like = np.maximum(like - THRESHOLD, 0).reshape(len(block), places, places, N_LEARNED)
        parts = slice(half), slice(half, None)
        quarters = [like[:, r, c].sum(axis=(1, 2)) for r, c in product(parts, parts)]
        X[start : start + len(block)] = np.concatenate(quarters, axis=1)
    return X
