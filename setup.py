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
# Files that `budgetlearn compare` runs; an installed package has a copy.
WORKFLOW = (
    *("Snakefile", "environment.yml", "workflow", "config", "profiles/default"),
    *("resources/costs", "resources/published"),
)
# Code that all kernels with memoryviews share, translated and compiled once.
SHARED = "budgetlearn._memoryview"
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "cdivision": True,
    "freethreading_compatible": True,
    "auto_pickle": False,  # kernels are never pickled, and this code takes an eighth of the time
}


def extension(name: str, source: str) -> Extension:
    """Return an extension module."""
    flags = ["-O3", "-g0"]  # debug symbols would be nine tenths of an installation
    if sys.platform == "linux":
        # Otherwise GCC would not inline the small functions that large kernels take from headers.
        flags.append("--param=inline-unit-growth=1000")
    # Strip symbols that nobody links to; the linker of macOS has no such option.
    link = ["-s"] if sys.platform == "linux" else []
    # Only on request, because other machines may not be able to run the result.
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
    """Return a module for each .pyx file, named after its path, and the shared one."""
    kernels = [
        extension(
            ".".join(source.relative_to(ROOT / "src").with_suffix("").parts),
            str(source.relative_to(ROOT)),
        )
        for source in SOURCES
    ]
    return [extension(SHARED, f"src/{SHARED.replace('.', '/')}.c"), *kernels]


class BuildKernels(build_ext):
    """Translate the Cython sources only when compiling; an sdist contains them untranslated."""

    def run(self):
        translated = cythonize(
            extensions(),
            compiler_directives=DIRECTIVES,
            build_dir="build/cython",
            include_path=["src"],
            shared_utility_qualified_name=SHARED,
            nthreads=os.cpu_count() if sys.platform == "linux" else 0,  # spawn needs a main guard
        )
        for kernel, made in zip(self.extensions, translated, strict=True):
            kernel.sources, kernel.depends = made.sources, made.depends
        super().run()


class WithWorkflow(build_py):
    """Copy the workflow into the installed package."""

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
        f"budgetlearn cannot be built: {ROOT / 'src'} has no .pyx files, from which its kernels "
        "are compiled. Use a complete copy of the project, or an sdist."
    )
setup(
    ext_modules=extensions(),
    cmdclass={"build_ext": BuildKernels, "build_py": WithWorkflow},
    options={"build_ext": {"parallel": os.cpu_count()}},
)
