"""The exported C code: compiled without a warning, and equal to Python bit for bit."""

import shutil
import subprocess

import numpy as np
import pytest

from budgetlearn.export import FORMATS
from budgetlearn.export.exporting import c_header
from budgetlearn.validation import ParameterError
from tests.export.test_compact import MODELS, fitted  # noqa: F401

FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2"]
needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
needs_arm = pytest.mark.skipif(
    not (shutil.which("arm-none-eabi-gcc") and shutil.which("qemu-system-arm")),
    reason="no arm-none-eabi-gcc or no qemu-system-arm (Debian: gcc-arm-none-eabi)",
)

# A board without an operating system: the vector table, and the emulator's way to end.
BOARD = """
#include <stdint.h>
extern int check(void);
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


@needs_cc
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", MODELS)
def test_c_is_python_bit_for_bit(fitted, tmp_path, name, format):  # noqa: F811
    model, X, _ = fitted(name)
    model.export_c(tmp_path / "model.h", format, name="tiny")
    source = tmp_path / "main.c"
    source.write_text('#define TINY_MAIN\n#include "model.h"\n')
    run("cc", *FLAGS, "-o", tmp_path / "main", source)
    rows = "\n".join(" ".join(f"{x:.9g}" for x in row) for row in X.tolist())
    lines = run(tmp_path / "main", input=rows).splitlines()
    numbers = np.array([line.split() for line in lines])
    forest = model.compact(format)
    np.testing.assert_array_equal(numbers[:, 1:].astype(np.float32), forest.scores(X))
    if hasattr(model, "classes_"):
        predicted = model.classes_[numbers[:, 0].astype(int)]
        np.testing.assert_array_equal(predicted, forest.predict(X))
        if format == "float32":
            assert (predicted == model.predict(X)).mean() > 0.995


@needs_cc
def test_the_code_needs_neither_malloc_nor_libm(fitted, tmp_path):  # noqa: F811
    for format in FORMATS:
        fitted("ten classes")[0].export_c(tmp_path / "model.h", format)
        (tmp_path / "model.c").write_text(
            '#include "model.h"\nint f(const float *x);\n'
            "int f(const float *x) { return model_predict(x); }\n"
        )
        run("cc", *FLAGS, "-ffreestanding", "-c", "model.c", cwd=tmp_path)
        symbols = run("nm", "model.o", cwd=tmp_path).splitlines()
        assert {line.split()[-1] for line in symbols if " U " in line} <= {"__stack_chk_fail"}
        # Nothing is written but the stack: no initialised and no zeroed memory.
        sizes = run("size", "model.o", cwd=tmp_path).splitlines()[1].split()
        assert sizes[1:3] == ["0", "0"]


@needs_arm
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ["regression", "two classes", "ten classes, pruned", "BudgetRF"])
def test_a_cortex_m_says_the_same(fitted, tmp_path, name, format):  # noqa: F811
    model, X, _ = fitted(name)
    X = X[:40]
    model.export_c(tmp_path / "model.h", format)
    rows = ", ".join("{" + ", ".join(f"{x:.9e}f" for x in row) + "}" for row in X.tolist())
    bits = model.compact(format).scores(X).view(np.uint32).tolist()
    expected = ", ".join("{" + ", ".join(f"{b}u" for b in row) + "}" for row in bits)
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
    with pytest.raises(ParameterError, match="a letter first, got '2nd model'"):
        c_header(forest, "2nd model")
