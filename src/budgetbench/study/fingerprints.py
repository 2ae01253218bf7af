"""Hashes of the code that results depend on: an edit reruns the jobs that it can touch, no others.

Comments, docstrings and layout do not count. A compiled kernel counts beside its source, because
compiler and flags decide its last bits. Imports nothing heavy: the Snakefile asks at every start.
"""

from pathlib import Path

from budgetlearn.exceptions import ConfigError

from .dependencies import (
    ROOT,
    Import,
    closure,
    compiled_into,
    digest,
    facts_of,
    keep_facts,
    kernel_of,
    package_of,
)

# What a report is drawn with beside its code.
REPORT_PARTS = (".j2", ".css", ".js", ".html", ".svg")


def script_fingerprint(script, *classes):
    """Return a hash of the code that a job runs.

    Parameters
    ----------
    script : path-like
        The job's Python script.
    *classes : str
        Dotted names of classes that the job builds by their names.

    Returns
    -------
    str
        Of every module of budgetlearn, and of the user's own, that script and classes import, one
        through another, and of their kernels.

    Raises
    ------
    ConfigError
        When a kernel is missing, or older than its source.
    """
    script = Path(script)
    named = (name.rpartition(".") for name in classes)
    roots = (*facts_of(script).imports, *(Import(module, name) for module, _, name in named))
    return _combined({"script": (script,), **closure(roots)})


def report_fingerprint(script):
    """Return a hash of what draws the report: code, templates, style and scripts of the page."""
    report = ROOT / "budgetbench" / "report"
    beside = [*report.rglob("*"), *(ROOT / "budgetlearn" / "displays").rglob("*")]
    parts = sorted(path for path in beside if path.suffix in REPORT_PARTS)
    # The page finds its sections by looking: no import names them.
    modules = sorted(path.stem for path in (report / "sections").glob("[!_]*.py"))
    sections = (f"budgetbench.report.sections.{name}" for name in modules)
    return digest([script_fingerprint(script, *sections), *map(_file_digest, parts)])


def _combined(modules):
    """Return one hash of modules, as `closure` gives them, after a look at their kernels."""
    parts = []
    for module, files in sorted(modules.items()):
        for path in files:
            _check_kernel(path)
        parts += [module, *map(_file_digest, files)]
    keep_facts()
    return digest(parts)


def _file_digest(path):
    return facts_of(path).digest


def _check_kernel(source):
    """Refuse a ``.pyx`` file without a kernel, or with one that was compiled of something else."""
    if source.suffix != ".pyx":
        return
    kernel = kernel_of(source)
    name = f"{package_of(source)}.{source.stem}"
    remedy = "Run `make setup` (without make: python setup.py build_ext --inplace)."
    if kernel is None:
        raise ConfigError(f"the kernel {name} is not compiled: only {source} is there. {remedy}")
    newest = max(compiled_into(source), key=lambda path: path.stat().st_mtime_ns)
    if newest.stat().st_mtime_ns > kernel.stat().st_mtime_ns:
        raise ConfigError(
            f"the kernel {name} was compiled before {newest} was last written, so results would "
            f"come from outdated code. {remedy}"
        )
