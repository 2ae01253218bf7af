"""Build the Cython kernels; everything else is declared in pyproject.toml."""

import os
import shutil
import sys
from pathlib import Path

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
# What `budgetlearn compare` runs: here in a clone, inside the package where it is installed.
WORKFLOW = (
    *("Snakefile", "environment.yml", "workflow", "config", "profiles/default"),
    *("resources/costs", "resources/published"),
)
# What every kernel with a memoryview needs, translated and compiled once.
SHARED = "budgetlearn._memoryview"
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "cdivision": True,
    "freethreading_compatible": True,
    "auto_pickle": False,  # no kernel is pickled; what would do so takes an eighth of the time
}


def extension(name: str, source: str) -> Extension:
    """Return an extension module."""
    flags = ["-O3", "-g0"]  # symbols for debuggers would be nine tenths of an installation
    if sys.platform == "linux":
        # Kernels come in headers: GCC would leave small functions of a large unit out of line.
        flags.append("--param=inline-unit-growth=1000")
    # Names that nobody links to, too; the linker of macOS has no such switch.
    link = ["-s"] if sys.platform == "linux" else []
    # The host's own instruction set makes a binary that other machines cannot run: on request only.
    if os.environ.get("BUDGETLEARN_NATIVE") == "1":
        flags.append("-march=native")
    return Extension(
        name,
        [source],
        include_dirs=[np.get_include()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
        extra_compile_args=flags,
        extra_link_args=link,
    )


def extensions() -> list[Extension]:
    """Return one module for each .pyx file, named after its place, and what they share."""
    kernels = [
        extension(
            ".".join(source.relative_to(ROOT / "src").with_suffix("").parts),
            str(source.relative_to(ROOT)),
        )
        for source in SOURCES
    ]
    return [extension(SHARED, f"src/{SHARED.replace('.', '/')}.c"), *kernels]


class BuildKernels(build_ext):
    """Translate the sources when they are compiled; an sdist carries them as they are."""

    def run(self):
        translated = cythonize(
            extensions(),
            compiler_directives=DIRECTIVES,
            build_dir="build/cython",
            include_path=["src"],
            shared_utility_qualified_name=SHARED,
            nthreads=os.cpu_count() if sys.platform == "linux" else 0,  # elsewhere it needs a guard
        )
        for kernel, made in zip(self.extensions, translated, strict=True):
            kernel.sources, kernel.depends = made.sources, made.depends
        super().run()


class WithWorkflow(build_py):
    """Put the workflow into the package that is installed."""

    def run(self):
        super().run()
        if self.editable_mode:
            return
        inside = Path(self.build_lib) / "budgetlearn" / "_project"
        shutil.rmtree(inside, ignore_errors=True)
        for part in WORKFLOW:
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
            (inside / part).parent.mkdir(parents=True, exist_ok=True)
            copy(ROOT / part, inside / part)


SOURCES = sorted((ROOT / "src").rglob("*.pyx"))
if not SOURCES:
    raise SystemExit(
        f"budgetlearn cannot be built: {ROOT / 'src'} holds no .pyx file, and without its kernels "
        "it does not import. Take a whole copy of the project, or an sdist that has them."
    )
setup(
    ext_modules=extensions(),
    cmdclass={"build_ext": BuildKernels, "build_py": WithWorkflow},
    options={"build_ext": {"parallel": os.cpu_count()}},
)
