"""Vowel on a microcontroller: forests of a few kilobytes, exported to C, compiled, sized and run.

    python benchmarks/accuracy_gif_microcontroller.py --runs 10

Each model is fitted within a byte budget ("int8"), exported, compiled for this machine and run on
the test rows. The error is that of the compiled program. If arm-none-eabi-gcc is installed, its
`size` reports what the prediction function takes on a Cortex-M0+: flash (code and tables) and
static memory.
"""

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from _gif_data import parts

from budgetlearn.gif import GIFClassifier

BUDGETS = (4_000, 8_000, 16_000, 32_000, 64_000)
ARM = "arm-none-eabi-gcc -mcpu=cortex-m0plus -mthumb -std=c99 -Os -c"
PROGRAM = '#define MODEL_MAIN\n#include "model.h"\n'
FUNCTION = """#include "model.h"
int predict(const float *x);
int predict(const float *x) { return model_predict(x); }
"""


def run(command, folder, **options):
    """Run a command and return what it prints."""
    return subprocess.run(
        command.split(), cwd=folder, check=True, capture_output=True, text=True, **options
    ).stdout


def compiled_predictions(folder, X):
    """Return the classes that the compiled program prints for rows."""
    (folder / "main.c").write_text(PROGRAM)
    run("cc -std=c99 -Wall -Wextra -Werror -Os -o main main.c", folder)
    rows = "\n".join(" ".join(f"{x:.9g}" for x in row) for row in X.astype(np.float32).tolist())
    lines = run(str(folder / "main"), folder, input=rows).splitlines()
    return np.array([int(line.split()[0]) for line in lines])


def compiled_size(folder):
    """Return code with tables, and static memory, of the prediction function on a Cortex-M0+."""
    if shutil.which("arm-none-eabi-gcc") is None:
        return np.nan, np.nan
    (folder / "function.c").write_text(FUNCTION)
    run(f"{ARM} function.c", folder)
    text, data, zeroed = run("arm-none-eabi-size function.o", folder).splitlines()[1].split()[:3]
    return int(text), int(data) + int(zeroed)


def measured(budget, n_run):
    """Return the sizes of one model and its error."""
    _, (X, X_test, y, y_test) = parts("vowel", n_run)
    model = GIFClassifier(
        budget // 7,
        n_estimators=int(np.clip(budget // 32, 50, 2000)),
        joint_fit="ridge",
        prune_factor=4,
        ridge=0.01,
        byte_budget=budget,
        byte_format="int8",
        random_state=n_run,
    ).fit(X, y)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model.export_c(folder / "model.h", "int8")
        codes = compiled_predictions(folder, X_test)
        flash, memory = compiled_size(folder)
    stored = model.compact("int8")
    assert (model.classes_[codes] == stored.predict(X_test)).all()
    return {
        "budget": budget,
        "nodes": model.n_nodes_,
        "bytes": stored.nbytes,
        "flash": flash,
        "static": memory,
        "error %": 100 * (model.classes_[codes] != y_test).mean(),
        "unrounded %": 100 * (model.predict(X_test) != y_test).mean(),
    }


def main():
    """Print one line for each budget, with means over the runs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    runs = parser.parse_args().runs
    rows = pd.DataFrame([measured(budget, n) for budget in BUDGETS for n in range(runs)])
    table = rows.groupby("budget").mean()
    table["sd"] = rows.groupby("budget")["error %"].std()
    print(table.round(2).to_string())


if __name__ == "__main__":
    main()
