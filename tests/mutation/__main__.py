"""Change the code in small ways and count the changes that tests notice.

    make mutants                                   80 changes of each part
    python -m tests.mutation --sample 20 msb       20 of one part
    python -m tests.mutation --by-hand             those of `by_hand.toml`, or of some modules of it

Each mutant is one change of one expression (`operators.py`). It is tried on a copy of the tree with
those tests of its part that run its line. The fast tests run first, until one fails. A mutant that
takes far longer than its tests counts as noticed. (mutmut changes functions only, and cosmic-ray
runs all tests for each change.)

Results are kept in `.mutants/`, so a stopped run can be continued. After a change of the code, only
the mutants that it may affect are tried again. A mutant that tests have noticed is tried again only
after a change of its own file.
"""

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.mutation import by_hand
from tests.mutation.operators import mutants_of
from tests.mutation.running import SURVIVED, preload, trace, try_mutant

ROOT = Path(__file__).parents[2]
PRICE_TESTS = "named_prices", "price_lists", "reading_prices"
PARTS = {  # sources, and the tests that must notice their mutants
    "protocol": ("src/budgetlearn/protocol/", ["tests/protocol"]),
    "msb": ("src/budgetlearn/msb/", ["tests/msb"]),
    "forests": ("src/budgetlearn/forests/", ["tests/forests"]),
    "budgetrf": ("src/budgetlearn/budgetrf/", ["tests/budgetrf"]),
    "gif": ("src/budgetlearn/gif/", ["tests/gif"]),
    "export": ("src/budgetlearn/export/", ["tests/export"]),
    "sequential": ("src/budgetlearn/sequential/", ["tests/sequential"]),
    "cascade": ("src/budgetlearn/cascade/", ["tests/cascade"]),
    "study": ("src/budgetbench/study/", ["tests/study"]),
    "costs": (
        "src/budgetlearn/costs.py",
        ["tests/test_costs.py", *(f"tests/test_{name}.py" for name in PRICE_TESTS)],
    ),
    "curves": ("src/budgetlearn/curves.py", ["tests/test_curves.py"]),
}


def copy_tree(target):
    """Copy tracked and new files, and the compiled kernels."""
    names = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(names, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    kernels = (str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.so"))
    for name in {*listed.split("\0"), *kernels} - {""}:
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def digest(*parts):
    """Return a hash of texts and of files."""
    found = hashlib.sha256()
    for part in parts:
        found.update(part.read_bytes() if isinstance(part, Path) else str(part).encode())
        found.update(b"\0")
    return found.hexdigest()[:16]


def sample_of(mutants, n_wanted, seed):
    """Return `n_wanted` mutants; an edit elsewhere in the sources hardly changes the choice."""
    return sorted(mutants, key=lambda m: digest(seed, m.path, m.text, m.before, m.after))[:n_wanted]


class Results:
    """Results so far, in a file with one line for each mutant tried.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path):
        self._path = path
        self._known = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                key, outcome = json.loads(line)
                self._known[key] = outcome

    def get(self, *keys):
        """Return the outcome under the first known key, or None."""
        return next((self._known[key] for key in keys if key in self._known), None)

    def add(self, key, outcome):
        """Store an outcome."""
        self._known[key] = outcome
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([key, outcome]) + "\n")


def measure(part, tree, options, results):
    """Try a sample of one part's mutants; return (survivors, tried, all)."""
    prefix, tests = PARTS[part]
    sources = sorted(tree.glob(f"{prefix}*.py" if prefix.endswith("/") else prefix))
    state = digest(*sources, *sorted(p for t in tests for p in _files(tree / t)))
    key = f"{part} {state}"
    runs = results.get(key)
    if runs is None:
        print(f"{part}: tracing the tests ...", flush=True)
        runs = trace(tree, prefix, tests)
        results.add(key, runs)
    mutants = []
    for source in sources:
        name = str(source.relative_to(tree))
        mutants += mutants_of(name, source.read_text(encoding="utf-8"))
    chosen = sample_of(mutants, options.sample, options.seed)
    survivors = []
    for count, mutant in enumerate(chosen, start=1):
        outcome = _outcome(tree, mutant, runs, state, results)
        if outcome == SURVIVED:
            survivors.append(mutant)
        print(f"{part} {count}/{len(chosen)} {outcome}: {mutant}", flush=True)
    return survivors, len(chosen), len(mutants)


def _outcome(tree, mutant, runs, state, results):
    """Return the outcome of a mutant, the stored one if neither code nor tests have changed."""
    name = (mutant.path, mutant.number)  # two mutants of a line may have the same text
    killed = digest(*name, tree / mutant.path)  # better tests still kill a killed mutant
    survived = digest(*name, state)
    known = results.get(killed, survived)
    if known is not None:
        return known
    line = f"{mutant.path}:{mutant.line}"
    tests = [test for test, lines in runs["lines"].items() if line in lines]
    if not tests and mutant.at_import:  # a line of the module itself, which all tests run
        tests = list(runs["lines"])
    elif not tests:  # a process that a test started may run it, which is not traced
        prefix = f"{mutant.path}:"
        tests = [
            test for test, seen in runs["lines"].items() if any(n.startswith(prefix) for n in seen)
        ]
    tests.sort(key=runs["seconds"].__getitem__)
    seconds = {test: runs["seconds"][test] for test in tests}
    outcome = try_mutant(tree, mutant, seconds) if tests else SURVIVED
    results.add(survived if outcome == SURVIVED else killed, outcome)
    return outcome


def _files(path):
    return [path] if path.is_file() else path.rglob("*.py")


def _try_by_hand(parser, modules):
    """Try the mutants written by hand, all or those of some modules."""
    mutants = by_hand.listed()
    known = list(dict.fromkeys(mutant.module for mutant in mutants))
    if unknown := set(modules) - set(known):
        parser.error(f"unknown modules {sorted(unknown)}; known: {', '.join(known)}")
    mutants = [mutant for mutant in mutants if mutant.module in (modules or known)]
    preload()
    with tempfile.TemporaryDirectory() as temporary:
        tree = Path(temporary).resolve() / "tree"
        copy_tree(tree)
        if (ROOT / "build").is_dir():  # compiled parts, so that only a changed kernel is compiled
            shutil.copytree(ROOT / "build", tree / "build", dirs_exist_ok=True)
        survivors = by_hand.measure(tree, mutants)
    print("", *by_hand.summary(mutants, survivors), sep="\n")


def main():
    """Measure the named parts, and print the share of noticed mutants and the survivors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=80, help="mutants of each part")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample")
    parser.add_argument("--by-hand", action="store_true", help="try the mutants written by hand")
    parts = f"of {', '.join(PARTS)}; with --by-hand modules"
    parser.add_argument("parts", nargs="*", metavar="PART", help=parts)
    options = parser.parse_args()
    if options.by_hand:
        _try_by_hand(parser, options.parts)
        return
    parts = options.parts or list(PARTS)
    if unknown := set(parts) - set(PARTS):
        parser.error(f"unknown parts {sorted(unknown)}; known: {', '.join(PARTS)}")
    folder = ROOT / ".mutants"
    folder.mkdir(exist_ok=True)
    preload()
    with tempfile.TemporaryDirectory() as temporary:
        tree = Path(temporary).resolve() / "tree"
        copy_tree(tree)
        found = {}
        for part in parts:
            found[part] = measure(part, tree, options, Results(folder / f"{part}.jsonl"))
    for part, (survivors, n_tried, n_mutants) in found.items():
        share = 100 * (1 - len(survivors) / n_tried)
        print(f"\n{part}: {share:.0f} % of {n_tried} mutants (of {n_mutants}) noticed")
        for mutant in survivors:
            print(f"  {mutant}")


if __name__ == "__main__":
    sys.exit(main())
