"""Mutants written by hand, in `by_hand.toml`: faults that a change of one expression rarely makes.

Each is applied to a copy of the tree, in which its tests must fail. Changed kernels are compiled.
"""

import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.running import SURVIVED, run_tests

LIST = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True)
class HandMade:
    """A change of one module, and the tests that must notice it.

    Attributes
    ----------
    module : str
        Dotted name.
    before, after : str
        Text that is in the source exactly once, and its replacement.
    why : str
        The fault that the change causes.
    tests : tuple of str
        Test files, relative to the repository.
    """

    module: str
    before: str
    after: str
    why: str
    tests: tuple

    def source(self, tree):
        """Return the path of the module in a tree."""
        stem = tree / "src" / self.module.replace(".", "/")
        return next(p for p in map(stem.with_suffix, (".py", ".pyx")) if p.exists())

    def __str__(self):
        return f"{self.module}: {self.why}"


def listed():
    """Return all mutants of the list."""
    found = tomllib.loads(LIST.read_text(encoding="utf-8"))["mutant"]
    return [HandMade(**{**each, "tests": tuple(each["tests"])}) for each in found]


def measure(tree, mutants):
    """Try mutants on a copy of the tree, print each outcome, and return the survivors."""
    for tests in dict.fromkeys(mutant.tests for mutant in mutants):
        if (outcome := run_tests(tree, tests)) != SURVIVED:
            raise SystemExit(f"without any mutant, {' '.join(tests)}: {outcome}")
    survivors = []
    for count, mutant in enumerate(mutants, start=1):
        outcome = _try(tree, mutant)
        if outcome == SURVIVED:
            survivors.append(mutant)
        print(f"{count}/{len(mutants)} {outcome}: {mutant}", flush=True)
    return survivors


def summary(mutants, survivors):
    """Return lines with the share of noticed mutants, by module and in all, and the survivors."""
    tried, left = (Counter(each.module for each in some) for some in (mutants, survivors))
    lines = [f"{name}: {n - left[name]} of {n} noticed" for name, n in tried.items()]
    share = 100 * (1 - len(survivors) / len(mutants))
    lines.append(f"all: {share:.0f} % of {len(mutants)} mutants noticed")
    return lines + [f"  {mutant}" for mutant in survivors]


def _try(tree, mutant):
    """Return the outcome of a mutant."""
    path = mutant.source(tree)
    text = path.read_text(encoding="utf-8").replace(mutant.before, mutant.after)
    if path.suffix == ".py":
        return run_tests(tree, mutant.tests, path, compile(text, str(path), "exec"))
    kept = [path, *path.parent.glob(f"{path.stem}.*.so")]
    copies = [shutil.copy2(each, tree.parent / each.name) for each in kept]
    try:
        path.write_text(text, encoding="utf-8")
        _compile(tree)
        return run_tests(tree, mutant.tests)
    finally:
        for copy, each in zip(copies, kept, strict=True):
            shutil.move(copy, each)
        path.touch()  # newer than its translation from the mutant


def _compile(tree):
    """Translate and compile changed kernels."""
    build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(build, cwd=tree, check=True, capture_output=True)
