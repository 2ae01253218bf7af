"""Reader of SVMlight files, with queries, in bounded memory."""

import numpy as np
from tqdm import tqdm

from budgetlearn.exceptions import DatasetError
from budgetlearn.preprocessing.reading import DAMAGE, reading

from .tables import Table

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
    """Read ``label [qid:q] index:value …`` files into one dense table.

    Text is parsed in chunks straight into the final array, so the memory is that of the array.

    Parameters
    ----------
    paths : list of Path
        The files; with ``queries="files"`` each is followed by the file of its query lengths.
    n_columns : int
        Highest feature index (they count from 1).
    queries : {"qid", "files"}, default=None
        Where the queries come from: in the rows, or beside as rows per query.
    parts : list of int, default=None
        Split that each data file is: 0 train, 1 validation, 2 test.
    dtype : {"float64", "float32"}, default="float64"
        Of the table.
    drop_empty : bool, default=False
        Whether columns that are zero everywhere are left out.
    scale : dict, default=None
        {low, high, without}: the range that every column is scaled to, over all rows together as
        LIBSVM's svm-scale does it; rows that have the value `without` everywhere keep it.
    names : list of str, default=None
        Names of the columns; None numbers them by their index in the files.
    """
    tables = paths[0::2] if queries == "files" else paths
    lengths = [_count_rows(path) for path in tables]
    for path, length in zip(tables, lengths, strict=True):
        if not length:
            raise DatasetError(f"{path.name} is empty: it holds no examples.")
    # Rows are counted before any is parsed: the table is made once, at its size.
    ends = np.cumsum(lengths)
    # Column-major, as the tree kernels read it; a later copy would double the memory.
    X = np.zeros((ends[-1], n_columns), dtype, order="F")
    y = np.empty(ends[-1])
    qid = np.zeros(ends[-1], np.int64)
    for path, end, length in zip(tables, ends, lengths, strict=True):
        rows = slice(end - length, end)
        _fill(path, X[rows], y[rows], qid[rows], queries == "qid")
    if scale is not None:
        _scale(X, **scale)
    groups = None
    if queries == "qid":
        groups = _separate(qid, ends)
    elif queries == "files":
        groups = _query_files(paths[1::2], lengths)
    part = None if parts is None else np.repeat(np.array(parts, np.int8), lengths)
    feature_names = np.array(names or [f"f{index + 1}" for index in range(n_columns)])
    if drop_empty:
        X, used = _without_empty(X)
        feature_names = feature_names[used]
    return Table(X, y, tuple(feature_names.tolist()), part, groups)


def _scale(X, low, high, without):
    """Scale every column to a range in place, rows of `without` left out."""
    measured = np.not_equal(X, without).any(axis=1)
    least, most = X[measured].min(axis=0), X[measured].max(axis=0)
    width = np.where(most > least, most - least, 1.0)
    X[measured] = low + (high - low) * (X[measured] - least) / width


def _count_rows(path):
    rows, last = 0, b"\n"
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            rows += block.count(b"\n")
            last = block[-1:]
    # The last line may lack its end.
    return rows + (last != b"\n")


def _fill(path, X, y, qid, with_queries):
    """Parse a file chunk by chunk into the rows given."""
    from sklearn.datasets import load_svmlight_file  # here: planning does without scikit-learn

    row, size = 0, path.stat().st_size
    starts = range(0, size, CHUNK)
    for start in tqdm(starts, desc=f"reading {path.name}", disable=len(starts) < 2):
        try:
            values, labels, *queries = load_svmlight_file(
                str(path),
                n_features=X.shape[1],
                dtype=X.dtype,
                zero_based=False,
                query_id=with_queries,
                offset=start,
                length=CHUNK,
            )
        except DAMAGE as error:
            where = _first_fault(path, X.shape[1], with_queries)
            raise DatasetError(
                f"{where or path.name} ({type(error).__name__}: {error})."
            ) from error
        if with_queries and queries[0].size != labels.size:
            raise DatasetError(_first_fault(path, X.shape[1], with_queries))
        stop = row + labels.size
        X[row:stop] = values.toarray()
        y[row:stop] = labels
        if with_queries:
            qid[row:stop] = queries[0]
        row = stop
    if row != len(X):
        where = _first_fault(path, X.shape[1], with_queries)
        raise DatasetError(where or f"{path.name}: {len(X)} lines, but {row} examples.")


def _first_fault(path, n_columns, with_queries):
    """Return the first line that is not in SVMlight form and its fault; "" for none."""
    with path.open("rb") as stream:
        for place, line in enumerate(stream, 1):
            if fault := _fault(line.partition(b"#")[0].split(), n_columns, with_queries):
                return f"{path.name}, line {place}: {fault}"
    return ""


def _fault(fields, n_columns, with_queries):
    last = 0
    if with_queries and not any(field.startswith(b"qid:") for field in fields):
        return "the query (qid:…) is missing"
    try:
        float(fields[0])
        for field in fields[1:]:
            name, value = field.split(b":")
            float(value)
            if name == b"qid":
                continue
            if not last < int(name) <= n_columns:
                return f"feature {int(name)}, expected one from {last + 1} to {n_columns}"
            last = int(name)
    except (ValueError, IndexError):
        text = b" ".join(fields)[:60].decode("ascii", "replace")
        return f"expected 'label index:value …', got {text!r}"
    return ""


def _separate(qid, ends):
    """Number queries by where they start; a new file or a new id starts one."""
    starts = np.r_[True, qid[1:] != qid[:-1]]
    starts[ends[:-1]] = True
    return np.cumsum(starts) - 1


def _query_files(paths, lengths):
    sizes = [_query_sizes(path) for path in paths]
    for path, size, length in zip(paths, sizes, lengths, strict=True):
        if size.sum() != length:
            raise DatasetError(f"{path.name} counts {size.sum()} rows, the data have {length}.")
    sizes = np.concatenate(sizes)
    return np.repeat(np.arange(sizes.size), sizes)


def _query_sizes(path):
    with reading(path, "rows per query"):
        sizes = np.array([int(word) for word in path.read_text().split()], np.int64)
    if not sizes.size or sizes.min() < 1:
        raise DatasetError(f"{path.name} must hold the number of rows of each query, all >= 1.")
    return sizes


def _without_empty(X):
    """Move the columns that are used to the front, in place: a copy would double the memory."""
    used = [column for column in range(X.shape[1]) if X[:, column].any()]
    for place, column in enumerate(used):
        if place != column:
            X[:, place] = X[:, column]
    return X[:, : len(used)], used
