"""The exported C code: compiled without a warning, and equal to Python bit for bit."""

import shutil
import subprocess
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from budgetlearn.export import FORMATS, CompactForest
from budgetlearn.export.c_code import LAYOUTS, _table, c_header
from budgetlearn.export.serialization import rebuilt
from budgetlearn.validation import ParameterError
from tests.export.test_compact import MODELS, fitted  # noqa: F401
from tests.looping import for_each

FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", "-O2"]
CHECKED = ["-fsanitize=undefined", "-fno-sanitize-recover=all"]
# One program for several headers: each has its own `main`, called by its number.
MAIN = """
#include <stdlib.h>
int main(int argc, char **argv)
{
    static int (*const programs[])(void) = { %s };
    return argc == 2 ? programs[atoi(argv[1])]() : 2;
}
"""
needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
needs_arm = pytest.mark.skipif(
    not (shutil.which("arm-none-eabi-gcc") and shutil.which("qemu-system-arm")),
    reason="no arm-none-eabi-gcc or no qemu-system-arm (Debian: gcc-arm-none-eabi)",
)

# A board without an operating system: the vector table, the emulator's way to end, and the two
# functions of the C library that gcc calls of its own accord.
BOARD = """
#include <stddef.h>
#include <stdint.h>
extern int check(void);
void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int value, size_t n);
void *memcpy(void *to, const void *from, size_t n)
{
    for (size_t i = 0; i < n; ++i) { ((char *)to)[i] = ((const char *)from)[i]; }
    return to;
}
void *memset(void *to, int value, size_t n)
{
    for (size_t i = 0; i < n; ++i) { ((char *)to)[i] = (char)value; }
    return to;
}
static void quit(int failed)
{
    register uint32_t operation __asm__("r0") = 0x18;  /* SYS_EXIT */
    register uint32_t reason __asm__("r1") = failed ? 0x20023 : 0x20026;
    __asm__ volatile("bkpt 0xab" : : "r"(operation), "r"(reason) : "memory");
    for (;;) { }
}
static void reset(void) { quit(check()); }
static void fault(void) { quit(1); }
__attribute__((section(".vectors"), used)) static void (*const vectors[])(void) = {
    (void (*)(void))0x20008000, reset, fault, fault, fault, fault, fault,
};
"""
CHECK = """
#include "model.h"
static const float rows[][MODEL_N_FEATURES] = { %s };
static const uint32_t expected[][MODEL_N_SCORES] = { %s };
int check(void);
int check(void)
{
    float scores[MODEL_N_SCORES];
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        model_scores(rows[i], scores);
        for (unsigned k = 0; k < MODEL_N_SCORES; ++k) {
            union { float number; uint32_t bits; } score;
            score.number = scores[k];
            if (score.bits != expected[i][k]) { return 1; }
        }
    }
    return 0;
}
"""


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def compiled(folder, model, *variants, level="-O0"):
    """Return the program of a model in several formats and layouts.

    It is not optimised where that would take longer than all else.
    """
    lines = []
    for place, (format, layout) in enumerate(variants):
        model.export_c(folder / f"model{place}.h", format, name=f"tiny{place}", layout=layout)
        lines += [f"#define TINY{place}_MAIN", f"#define main main{place}"]
        lines += [f'#include "model{place}.h"', "#undef main"]
    source = folder / "main.c"
    mains = ", ".join(f"main{place}" for place in range(len(variants)))
    source.write_text("\n".join(lines) + MAIN % mains)
    run("cc", *FLAGS, level, *CHECKED, "-o", folder / "main", source)
    return folder / "main"


def printed(program, X, place=0, nan="nan"):
    """Return what a program prints in one of its formats: the prediction, and the scores."""
    rows = "\n".join(" ".join(f"{x:.9g}" for x in row) for row in X.tolist())
    lines = run(program, str(place), input=rows.replace("nan", nan)).splitlines()
    return np.array([line.split() for line in lines])


def bits(scores):
    """Return float32 numbers as whole numbers: -0.0 differs from 0.0."""
    return np.ascontiguousarray(scores, dtype=np.float32).view(np.uint32)


def hostile(model, X):
    """Return rows at thresholds and next to them, and rows of zeros, infinities and the like."""
    forest = model.compact("int8")
    X = X[:60].copy()
    random = np.random.default_rng(0)
    for feature, threshold in zip(forest.features(), forest.thresholds(), strict=True):
        near = threshold, np.nextafter(threshold, np.float32(np.inf)), -threshold
        X[random.integers(len(X), size=3), feature] = near
    extreme = np.array([0.0, -0.0, np.inf, -np.inf, 3e38, -3e38, 1e-45, -1e-45], dtype=np.float32)
    return np.vstack([X, random.choice(extreme, (40, X.shape[1]))])


def formats_and_layouts(name, names):
    """Return every format, each in one layout: the next model of the list has it in the other."""
    first = [*names].index(name)
    return [
        (format, LAYOUTS[(first + place) % len(LAYOUTS)]) for place, format in enumerate(FORMATS)
    ]


@needs_cc
@pytest.mark.parametrize("name", MODELS)
def test_c_is_python_bit_for_bit(fitted, tmp_path, name):  # noqa: F811
    model, X, _ = fitted(name)
    X = np.vstack([X, hostile(model, X)])
    variants = formats_and_layouts(name, MODELS)
    program = compiled(tmp_path, model, *variants)
    for place, (format, layout) in enumerate(variants):
        numbers, where = printed(program, X, place), f"{format}, {layout}"
        forest = model.compact(format)
        np.testing.assert_array_equal(bits(numbers[:, 1:]), bits(forest.scores(X)), where)
        if hasattr(model, "classes_"):
            predicted = model.classes_[numbers[:, 0].astype(int)]
            np.testing.assert_array_equal(predicted, forest.predict(X), where)
            if format == "float32":  # without the hostile ones: they stand on thresholds
                assert (predicted[:-100] == model.predict(X[:-100])).mean() > 0.995


@needs_cc
@pytest.mark.parametrize("name", ["two classes", "ten classes", "random forest"])
def test_missing_numbers_go_right_in_both_layouts(fitted, tmp_path, name):  # noqa: F811
    model, X, _ = fitted(name)
    X = X[:50].copy()
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    # Beyond every threshold, whatever the sign of NaN.
    expected = bits(model.compact().scores(np.where(np.isnan(X), np.float32(np.inf), X)))
    program = compiled(tmp_path, model, *product(["float32"], LAYOUTS), level="-O2")
    for place, nan in product(range(len(LAYOUTS)), ("nan", "-nan")):
        numbers = printed(program, X, place, nan)
        np.testing.assert_array_equal(bits(numbers[:, 1:]), expected)
    if name == "random forest":  # its keys and votes are whole numbers, whatever the flags
        program = compiled(tmp_path, model, ("float32", "fast"), level="-Ofast")
        numbers = printed(program, X, 0, "-nan")
        np.testing.assert_array_equal(bits(numbers[:, 1:]), expected)


@needs_cc
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_code_needs_neither_malloc_nor_libm(fitted, tmp_path, layout):  # noqa: F811
    for format in FORMATS:
        # The shortest names clash with those of local variables, if any do.
        fitted("ten classes")[0].export_c(tmp_path / "model.h", format, name="n", layout=layout)
        (tmp_path / "model.c").write_text(
            '#include "model.h"\nint f(const float *x);\n'
            "int f(const float *x) { return n_predict(x); }\n"
        )
        run("cc", *FLAGS, "-ffreestanding", "-c", "model.c", cwd=tmp_path)
        symbols = run("nm", "model.o", cwd=tmp_path).splitlines()
        assert {line.split()[-1] for line in symbols if " U " in line} <= {"__stack_chk_fail"}
        # Nothing is written but the stack: no initialised and no zeroed memory.
        sizes = run("size", "model.o", cwd=tmp_path).splitlines()[1].split()
        assert sizes[1:3] == ["0", "0"]


@needs_arm
@pytest.mark.parametrize("name", ["regression", "two classes", "ten classes, pruned", "BudgetRF"])
@for_each("format, layout", product(FORMATS, LAYOUTS))
def test_a_cortex_m_says_the_same(fitted, tmp_path, name, format, layout):  # noqa: F811
    model, X, _ = fitted(name)
    X = X[:40]
    model.export_c(tmp_path / "model.h", format, layout=layout)
    rows = ", ".join("{" + ", ".join(f"{x:.9e}f" for x in row) + "}" for row in X.tolist())
    scores = bits(model.compact(format).scores(X)).tolist()
    expected = ", ".join("{" + ", ".join(f"{b}u" for b in row) + "}" for row in scores)
    (tmp_path / "check.c").write_text(CHECK % (rows, expected))
    (tmp_path / "board.c").write_text(BOARD)
    (tmp_path / "board.ld").write_text(
        "SECTIONS { . = 0; .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } }"
    )
    command = (
        "arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -ffreestanding -nostartfiles -nodefaultlibs"
    )
    files = ["-T", "board.ld", "-o", "model.elf", "check.c", "board.c", "-lgcc"]
    run(*command.split(), *FLAGS, *files, cwd=tmp_path)
    emulator = "qemu-system-arm -M mps2-an385 -nographic -semihosting -kernel model.elf"
    run(*emulator.split(), cwd=tmp_path, timeout=60, stdin=subprocess.DEVNULL)


def test_names_that_c_refuses(fitted):  # noqa: F811
    forest = fitted("regression")[0].compact()
    with pytest.raises(ParameterError, match=r"start with a letter, .* got '2nd model'"):
        c_header(forest, "2nd model")


def test_tables_do_not_depend_on_the_order_of_bytes():
    numbers = np.array([1.5, 300.0, 0.0])
    for kind in ("f4", "f2"):
        little, big = (_table("left", numbers.astype(order + kind)) for order in "<>")
        assert little == big, kind


def test_layouts_that_are_refused(fitted, tmp_path):  # noqa: F811
    with pytest.raises(ParameterError, match="layout must be one of 'small', 'fast', got 'flat'"):
        fitted("regression")[0].export_c(tmp_path / "model.h", layout="flat")
    assert not list(tmp_path.iterdir())


def chain(n_splits):
    """Return a forest of one tree, whose splits lie one to the right of another.

    Its thresholds are -0.0, 1, 2, ...
    """
    thresholds = np.append(-0.0, np.arange(1.0, n_splits))
    none = np.zeros(n_splits, dtype=int)
    tree = rebuilt(np.array([n_splits]), none, thresholds, none)[0]
    # Values that tell the stops apart; the kernel of predictions takes them as float64.
    return CompactForest.of([replace(tree, value=tree.value.astype(float))], 1)


@needs_cc
def test_deep_trees_are_nested_as_far_as_every_compiler_nests(tmp_path):
    with pytest.raises(ParameterError, match=r"nests at most 120 blocks.*layout='small'"):
        c_header(chain(126), layout="fast")
    (tmp_path / "model.c").write_text(c_header(chain(124), layout="fast"))
    run("cc", *FLAGS, "-DMODEL_MAIN", "-o", "main", "model.c", cwd=tmp_path)
    X = np.append(-0.0, np.arange(-1, 125)).astype(np.float32)[:, None]
    lines = run(tmp_path / "main", input="\n".join(map(str, X[:, 0].tolist()))).splitlines()
    scores = np.array([line.split()[1] for line in lines])[:, None]
    np.testing.assert_array_equal(bits(scores), bits(chain(124).scores(X)))
    header = subprocess.run([tmp_path / "main"], input="x0\n1\n", text=True, capture_output=True)
    assert (header.returncode, header.stdout) == (1, "")


@needs_cc
def test_sums_that_leave_16_bits_take_more(tmp_path):
    # Every tree adds the least number of int8 to each class: 300 of them leave 16 bits.
    tree = rebuilt(np.array([1]), np.array([0]), np.array([0.0]), np.array([0]))[0]
    tree = replace(tree, value=np.repeat([[0.0], [-1.0], [-1.0]], 3, axis=1))
    for n_trees, bits_of_sums in ((258, "int16_t"), (300, "int32_t")):
        forest = CompactForest.of([tree] * n_trees, 1, format="int8", classes=np.arange(3))
        text = c_header(forest, layout="fast")
        assert f"{bits_of_sums} sums[" in text
        (tmp_path / "model.c").write_text(text)
        run("cc", *FLAGS, "-DMODEL_MAIN", "-o", "main", "model.c", cwd=tmp_path)
        scores = np.array([run(tmp_path / "main", input="1").split()[1:]])
        np.testing.assert_array_equal(bits(scores), bits(forest.scores(np.ones((1, 1)))))
