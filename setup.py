"""Build the Cython kernels; everything else is declared in pyproject.toml."""

import os
from pathlib import Path

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup

ROOT = Path(__file__).parent
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "cdivision": True,
    "freethreading_compatible": True,
}


def extension(source: Path) -> Extension:
    """One extension module per .pyx file, named after its place in the package."""
    flags = ["-O3"]
    # The host's own instruction set makes a binary that other machines cannot run: on request only.
    if os.environ.get("BUDGETLEARN_NATIVE") == "1":
        flags.append("-march=native")
    return Extension(
        ".".join(source.relative_to(ROOT / "src").with_suffix("").parts),
        [str(source.relative_to(ROOT))],
        include_dirs=[np.get_include()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
        extra_compile_args=flags,
        depends=["setup.py"],  # the flags above
    )


sources = sorted((ROOT / "src").rglob("*.pyx"))
setup(
    ext_modules=cythonize(
        [extension(source) for source in sources],
        compiler_directives=DIRECTIVES,
        build_dir="build/cython",
        include_path=["src"],
    ),
    options={"build_ext": {"parallel": os.cpu_count()}},
)
