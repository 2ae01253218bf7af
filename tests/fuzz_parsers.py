"""Feed damaged files to every parser: whatever they raise but budgetlearn's own errors is a bug.

python -m tests.fuzz_parsers [--seconds 60] [--seed 0] [parser ...]

Findings are printed with the bytes that caused them, once for each place they come from; the exit
status is their number. Put them into the tests of the parser.
"""

import argparse
import contextlib
import gzip
import os
import random
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

from budgetlearn._files import read_yaml
from budgetlearn.datasets import Dataset, read_prices
from budgetlearn.datasets.archives import extract
from budgetlearn.datasets.images import read_idx
from budgetlearn.datasets.lzw import decompress
from budgetlearn.datasets.preparing import _read_own
from budgetlearn.datasets.svmlight import read_svmlight
from budgetlearn.datasets.tables import read_excel, read_table
from budgetlearn.exceptions import BudgetlearnError

from .datasets.sources import GOOD, zipped
from .datasets.test_bad_sources import small_tar
from .datasets.test_lzw import compress

IDX = b"\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x01abcd"
DATA = Path(os.environ.get("BUDGETLEARN_DATA", "../shared/data"))
# Parser → how it is called with a file, and files to damage.
PARSERS = {
    "table": (lambda path: read_table([path], categorical="codes"), [GOOD, b"1,2.5,a\n3,,b\n"]),
    "words": (lambda path: read_table([path], "whitespace"), [b"1 2 a\n3 4 b\n", GOOD]),
    "own": (lambda path: _read_own(path, "ill"), [b"age,job,ill\n30,cook,yes\n40,?,no\n"]),
    "svmlight": (
        lambda path: read_svmlight([path], 9, "qid"),
        [b"1 qid:1 1:.5 3:2\n0 qid:2 9:1\n"],
    ),
    "idx": (lambda path: read_idx([path, path]), [IDX, IDX[:3] + b"\x01\0\0\0\x02ab"]),
    "excel": (lambda path: read_excel([path]), []),
    "lzw": (lambda path: decompress(path.read_bytes(), 1 << 20), [compress(GOOD)]),
    "archive": (
        lambda path: extract(path, ["toy.csv"], path.with_name("out.csv")),
        [zipped(toy_csv=GOOD), small_tar()],
    ),
    "gzip": (
        lambda path: extract(path, [], path.with_name("out.csv")),
        [gzip.compress(GOOD), compress(GOOD)],
    ),
    "prices": (read_prices, [b"feature,cost,group,group_cost\na,1,lab,2\nb,2,,\n"]),
    "yaml": (read_yaml, [b"a: &a {b: 1}\nc: {<<: *a, d: [1, 2]}\n"]),
    "parquet": (Dataset.load, []),
}
PIECES = (
    b"\0",
    b"\xff",
    b"\n",
    b",",
    b";",
    b'"',
    b":",
    b" ",
    b"-1",
    b"1e999",
    b"nan",
    b"qid:",
    b"9" * 30,
)


def damaged(content, rng):
    """Return `content` with a few bytes changed, put in, left out or repeated."""
    content = bytearray(content)
    for _ in range(rng.randint(1, 6)):
        place = rng.randint(0, len(content))
        action = rng.randrange(5)
        if action == 0 and place < len(content):
            content[place] = rng.randrange(256)
        elif action == 1:
            content[place:place] = rng.choice(PIECES)
        elif action == 2:
            del content[place : place + rng.randint(1, 9)]
        elif action == 3:
            content[place:place] = content[place : place + rng.randint(1, 40)]
        elif rng.random() < 0.2:
            del content[place:]
    return bytes(content)


def fuzz(parser, seconds, rng, folder):
    """Run one parser on damaged files; return how many it had and what it raised by place."""
    call, seeds = PARSERS[parser]
    path, found, count = folder / parser, {}, 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        content = damaged(rng.choice(seeds), rng)
        path.write_bytes(content)
        count += 1
        try:
            call(path)
        except BudgetlearnError:
            continue
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            found.setdefault((type(error).__name__, place.filename, place.lineno), content)
    return count, found


def main():
    """Fuzz the parsers that are asked for, or all."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("parsers", nargs="*", metavar="parser", help=", ".join(PARSERS))
    options.add_argument("--seconds", type=float, default=60, help="for each parser")
    options.add_argument("--seed", type=int, default=0)
    options = options.parse_args()
    warnings.simplefilter("error")  # as in the tests: a warning nobody reads is no answer
    total = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        with contextlib.suppress(OSError):
            PARSERS["excel"][1].append((DATA / "concrete/Concrete_Data.xls").read_bytes())
        small = Dataset("a", "A", "regression", [[1.0], [2.0]], [0.5, 1.5], ["x"])
        small.save(folder / "seed.parquet")
        PARSERS["parquet"][1].append((folder / "seed.parquet").read_bytes())
        for parser in options.parsers or PARSERS:
            if not PARSERS[parser][1]:
                print(f"{parser:>10}: left out, no file to start from in {DATA}")
                continue
            count, found = fuzz(parser, options.seconds, random.Random(options.seed), folder)
            print(f"{parser:>10}: {count:,} files, {len(found)} raw exceptions", flush=True)
            for (kind, name, line), content in found.items():
                print(f"{'':12}{kind} at {name}:{line} from {content[:200]!r}")
            total += len(found)
    return total


if __name__ == "__main__":
    sys.exit(main())
