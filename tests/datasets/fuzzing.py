"""Mutated files for every parser: nothing but this package's own errors may come out.

python -m tests.datasets.fuzzing                      every parser for five minutes
python -m tests.datasets.fuzzing --seconds 60 idx     one of them for a minute

Seeds are the beginnings of real files where $BUDGETLEARN_DATA has them, and generated ones. Files
that made a parser raise anything else are kept in tests/datasets/corpus/PARSER/, which the tests
read each time. Compressed files are changed inside half of the time.
"""

import argparse
import gzip
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from contextlib import contextmanager
from pathlib import Path

from budgetlearn.exceptions import BudgetlearnError
from tests.datasets.fuzzed_parsers import PARSERS

CORPUS = Path(__file__).with_name("corpus")
MOST_SECONDS = 20  # of this process for one input: more is a finding
MOST_BYTES = 4 << 30  # of memory
TOKENS = (
    b"", b"\0", b"\n", b"\r", b"\r\n", b"\t", b" ", b",", b";", b'"', b"'", b"#", b":", b"-", b".",
    b"nan", b"NaN", b"inf", b"-inf", b"1e999", b"-0", b"0", b"-1", b"1_000", b"0x1f", b"1,5", b"?",
    b"2147483648", b"-9223372036854775809", b"99999999999999999999999999", b"qid:", b"qid:1", b"1:",
    b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3\x28", b"\xd9\xa1", b"None", b"null", b"True", b"{", b"[1]",
    b"&a *a", b"<<: *x", b"!!python/object:os.system", b"2020-01-01", b"\x00\x00\x08\x03",
)  # fmt: skip


def flip(content, rng):
    """Change one byte."""
    place = rng.randrange(len(content))
    return content[:place] + bytes([rng.randrange(256)]) + content[place + 1 :]


def put(content, rng):
    """Write a token over what is there, or between."""
    place, token = rng.randrange(len(content) + 1), rng.choice(TOKENS)
    return content[:place] + token + content[place + rng.choice((0, 0, len(token), 4)) :]


def cut(content, rng):
    """Leave out a piece, or all from a place on."""
    start = rng.randrange(len(content))
    stop = rng.choice((len(content), start + rng.randrange(1, 50)))
    return content[:start] + content[stop:]


def repeat(content, rng):
    """Put a piece in again elsewhere."""
    start, place = rng.randrange(len(content)), rng.randrange(len(content))
    return content[:place] + content[start : start + rng.randrange(1, 200)] + content[place:]


def lines(content, rng):
    """Leave out, repeat or swap lines."""
    rows = content.splitlines(keepends=True)
    one, other = rng.randrange(len(rows)), rng.randrange(len(rows))
    kind = rng.randrange(4)
    if kind == 0:
        return b"".join(rows[:one] + rows[one + 1 :])
    if kind == 1:
        return b"".join(rows[:one])
    if kind == 2:
        return b"".join([*rows[:one], rows[other], *rows[one:]])
    rows[one], rows[other] = rows[other], rows[one]
    return b"".join(rows)


def cells(content, rng):
    """Replace one field of one row by a token."""
    rows = content.split(b"\n")
    row = rng.randrange(len(rows))
    separator = rng.choice((b",", b";", b" ", b"\t", b":"))
    fields = rows[row].split(separator)
    fields[rng.randrange(len(fields))] = rng.choice(TOKENS)
    rows[row] = separator.join(fields)
    return b"\n".join(rows)


MUTATORS = (flip, put, cut, repeat, lines, cells)


def mutated(content, rng):
    """Return a file with one to six changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        if content:
            content = rng.choice(MUTATORS)(content, rng)
    return content


def parse(parser, files, folder):
    """Parse some files; return what else than an error of this package came out, or None."""
    paths = []
    for place, (name, content) in enumerate(files):
        path = folder / (name if len(files) == 1 else f"{place}-{name}")
        path.write_bytes(content)
        paths.append(path)
    try:
        with warnings.catch_warnings(), _in_time():
            warnings.simplefilter("ignore")
            parser.read(paths)
    except BudgetlearnError as error:
        return None if str(error).strip() else error
    except Exception as error:  # whatever it is, it is a finding
        return error
    return None


@contextmanager
def _in_time():
    def late(*_):
        raise TimeoutError(f"not done after {MOST_SECONDS} s")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def cases(parser, rng):
    """Yield sets of files without end, each with one of them changed."""
    seeds = parser.seeds()
    while True:
        files = list(rng.choice(seeds))
        place = rng.randrange(len(files))
        name, content = files[place]
        inside = name.endswith(".gz") and rng.random() < 0.5
        changed = mutated(gzip.decompress(content) if inside else content, rng)
        files[place] = (name, gzip.compress(changed, 1) if inside else changed)
        yield files


def fuzz(name, seconds, seed, scratch):
    """Fuzz one parser for a time; return the number of inputs, and findings by their kind."""
    parser, rng = PARSERS[name], random.Random(f"{name} {seed}")
    end, count, found = time.monotonic() + seconds, 0, {}
    for files in cases(parser, rng):
        if time.monotonic() > end:
            return count, found
        count += 1
        error = parse(parser, files, scratch)
        if error is None:
            continue
        last = traceback.extract_tb(error.__traceback__)[-1]
        kind = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
        if kind not in found:
            found[kind] = error
            keep(name, files, len(found), seed)
    return count, found


def keep(name, files, number, seed):
    """Put a finding into the corpus."""
    folder = CORPUS / name / f"{seed}-{number}"
    folder.mkdir(parents=True, exist_ok=True)
    for place, (file, content) in enumerate(files):
        (folder / f"{place}-{file}").write_bytes(content)


def kept(name):
    """Return the findings of a parser in the corpus, as lists of (name, content)."""
    return [
        [(path.name.partition("-")[2], path.read_bytes()) for path in sorted(folder.iterdir())]
        for folder in sorted((CORPUS / name).glob("*"))
    ]


def main():
    """Fuzz the parsers that the command line names, and tell what was found."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("parsers", nargs="*", default=list(PARSERS), help=", ".join(PARSERS))
    options.add_argument("--seconds", type=float, default=300, help="for each parser")
    options.add_argument("--seed", type=int, default=int(time.time()))
    asked = options.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    all_found = 0
    with tempfile.TemporaryDirectory(prefix="fuzzing-") as scratch:
        for name in asked.parsers:
            before = time.process_time()
            count, found = fuzz(name, asked.seconds, asked.seed, Path(scratch))
            busy = time.process_time() - before
            print(
                f"{name}: {count:,} inputs, {busy:.0f} s of CPU, {len(found)} findings", flush=True
            )
            for kind, error in found.items():
                print(f"  {kind}: {str(error)[:200]!r}", flush=True)
            all_found += len(found)
    sys.exit(bool(all_found))


if __name__ == "__main__":
    os.environ.setdefault("TQDM_DISABLE", "1")
    main()
