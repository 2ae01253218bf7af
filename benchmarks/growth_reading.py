"""Memory and time of reading the large data sets, from generated files of full size.

    python benchmarks/growth_reading.py [NAME ...]

For each data set, the script writes as many rows as the real file has, in the same form, to a
temporary folder (Yahoo's take 3 GB), and runs `prepare` in a separate process. It prints the peak
memory of this process, its memory before reading, and the size of the resulting table.
"""

import argparse
import gzip
import resource
import tempfile
import time
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from budgetbench.datasets.preparing import prepare
from budgetbench.datasets.registry import load_registry

GB = 2**30
N_DIFFERENT = 2000  # lines, repeated up to full size


def covertype(rng, count):
    """Return rows of 54 whole numbers and one of seven classes."""
    hills = rng.integers(0, 4000, size=(count, 10))
    kinds = rng.integers(0, 2, size=(count, 44))
    label = rng.integers(1, 8, size=(count, 1))
    return [",".join(map(str, row)) for row in np.hstack([hills, kinds, label]).tolist()]


def miniboone(rng, count):
    """Return rows of 50 decimals separated by blanks."""
    return [" ".join(f"{x: .6e}" for x in row) for row in rng.normal(size=(count, 50)).tolist()]


def ct_slice(rng, count):
    """Return rows of a patient, 384 decimals and a location."""
    rows = rng.random((count, 385)).round(6).tolist()
    return [f"{i % 97}," + ",".join(map(repr, row)) for i, row in enumerate(rows)]


def usci(rng, count):
    """Return rows of words with seven numbers among them."""
    words = [f" word {number}" for number in range(40)]
    numbers = set(range(0, 42, 6))
    return [
        ",".join(
            str(rng.integers(90)) if place in numbers else rng.choice(words) for place in range(41)
        )
        + rng.choice([", - 50000.", ", 50000+."])
        for _ in range(count)
    ]


def yahoo_set1_train(rng, count):
    """Return rows of a grade, a query and values of 519 of the 700 features."""
    used = 1 + np.sort(rng.choice(700, 519, replace=False))
    lines = []
    for number, values in enumerate(rng.random((count, 519)).round(6).tolist()):
        cells = " ".join(f"{place}:{value}" for place, value in zip(used, values, strict=True))
        lines.append(f"{rng.integers(5)} qid:{1 + number // 24} {cells}")
    return lines


MADE = {
    "covertype": (covertype, 581_012, ""),
    "miniboone": (miniboone, 130_064, "36499 93565"),
    "ct_slice": (ct_slice, 53_500, ",".join(["patient", *(f"v{i}" for i in range(384)), "place"])),
    "usci": (usci, 199_523, ""),
    "yahoo_set1_train": (yahoo_set1_train, 473_134, ""),
}


def write(name, path):
    """Write a file of full size."""
    make, n_rows, header = MADE[name]
    lines = make(np.random.default_rng(0), N_DIFFERENT)
    block = "\n".join(lines) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", 1) if path.suffix == ".gz" else path.open("w") as file:
        file.write(header + "\n" if header else "")
        for _ in range(n_rows // N_DIFFERENT):
            file.write(block)
        file.write("\n".join([*lines[: n_rows % N_DIFFERENT], ""]))


def peak():
    """Return the peak memory of this process in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def read(spec, folder):
    """Prepare a data set, and print memory and time."""
    import sklearn.datasets  # noqa: F401  reading imports it anyway

    before, start = peak(), time.perf_counter()
    data = prepare(spec, folder)
    seconds, table = time.perf_counter() - start, data.X.nbytes / GB
    size = f"{data.n_samples:,} x {data.n_features} {data.X.dtype}"
    print(
        f"{spec.id}: {size}, table {table:.2f} GB, peak {peak():.2f} GB ({before:.2f} before), "
        f"{seconds:.0f} s",
        flush=True,
    )


def main():
    """Write and read the data sets one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(MADE), help=", ".join(MADE))
    for name in parser.parse_args().names:
        spec = load_registry()[name]
        files = tuple(replace(file, sha256=()) for file in spec.files)
        unchecked = dict.fromkeys(("rows", "features", "queries", "parts", "classes"))
        spec = replace(spec, files=files, **unchecked)
        with tempfile.TemporaryDirectory() as folder:
            for file in files:
                write(name, Path(folder, file.path))
            process = get_context("spawn").Process(target=read, args=(spec, folder))
            process.start()
            process.join()


if __name__ == "__main__":
    main()
