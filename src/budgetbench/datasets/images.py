"""Reader of the idx files in which MNIST comes."""

import gzip
import math
import struct

import numpy as np

from budgetlearn.exceptions import DatasetError
from budgetlearn.preprocessing.reading import reading

from .tables import Table


def read_idx(paths, parts=None):
    """Read pairs of idx files: images, then their labels.

    Parameters
    ----------
    paths : list of Path
        Images, labels, images, labels, …; unsigned bytes, gzip-compressed or not.
    parts : list of int, default=None
        Split that each pair is: 0 train, 1 validation, 2 test.

    Returns
    -------
    Table
        float32, one column per pixel, 0 to 255, named by row and column.
    """
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
    X = np.concatenate([image.reshape(len(image), -1) for image in images]).astype(np.float32)
    height, width = images[0].shape[1:]
    names = tuple(f"r{row}c{column}" for row in range(height) for column in range(width))
    part = None if parts is None else np.repeat(np.array(parts, np.int8), lengths)
    return Table(X, np.concatenate(labels).astype(np.int64), names, part)


def read_idx_array(path):
    """Return the array of unsigned bytes that an idx file holds.

    Parameters
    ----------
    path : Path
        The file; gzip-compressed if its name ends in ``.gz``.

    Returns
    -------
    ndarray of uint8
    """
    with reading(path, "an idx file"):
        content = path.read_bytes()
        return _parse(gzip.decompress(content) if path.suffix == ".gz" else content, path.name)


def _parse(content, name):
    # Magic number: two zero bytes, the type (8: unsigned byte), the number of dimensions.
    if content[:3] != b"\x00\x00\x08":
        raise DatasetError(f"{name} is not an idx file of unsigned bytes.")
    dimensions = content[3]
    shape = struct.unpack(f">{dimensions}I", content[4 : 4 + 4 * dimensions])
    values = np.frombuffer(content, np.uint8, offset=4 + 4 * dimensions)
    if values.size != math.prod(shape):
        raise DatasetError(f"{name} should hold {shape} values, found {values.size}.")
    return values.reshape(shape)
