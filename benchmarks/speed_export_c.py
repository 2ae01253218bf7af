"""The two layouts of `export_c` compared with code by m2cgen and emlearn: time and flash.

    pip install m2cgen emlearn
    python benchmarks/speed_export_c.py hastie musk2 california vowel

Compares a GIF+ of 1,000 nodes (with `--votes`, a BudgetRF of five trees) with LightGBM at the same
number of nodes, with as few LightGBM trees as reach our error on the test rows, and, for classes,
with scikit-learn's random forest as emlearn writes it, at the same number of nodes. All choose
among four settings on a quarter of the training rows, and are compiled into one program with the
same flags (gcc -O2 -std=c99), which runs them in turn, fifteen times over 2,000 test rows; the
least time counts. Flash is the size of code and tables on this machine. Scores must equal those of
Python bit for bit.
"""

import argparse
import subprocess
import tempfile
import warnings
from itertools import product
from pathlib import Path

import emlearn
import m2cgen
import numpy as np
import pandas as pd
from _gif_data import parts
from _gif_peers import error_of, n_classes_of
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from budgetlearn.budgetrf import BudgetRFClassifier
from budgetlearn.export import FORMATS
from budgetlearn.gif import GIFClassifier, GIFRegressor

np.seterr(all="warn")  # emlearn makes them errors

NODES, ROWS = 1000, 2000
# Four settings of each method, chosen in the same way.
SPLITS = {}, {"split_on": "residuals", "max_features": None, "learning_rate": 0.1}
RIDGES, LEAVES, LEAVES_OF_FORESTS = (0.03, 0.2), (4, 8, 16, 31), (16, 31, 63, 127)
MOST_TREES = 4000  # of LightGBM when it has to reach our error
FLAGS = "-O2 -std=c99 -w"
TIMED = """
static double time_{name}(void)
{{
    clock_t start = clock();
    for (int i = 0; i < N; ++i) {{ {call}; }}
    return (double)(clock() - start) / CLOCKS_PER_SEC / N * 1e9;
}}
"""
MAIN = """
int main(int n, char **paths)
{{
    FILE *file = fopen(paths[n - 1], "rb");
    double best[{count}], now;
    if (fread(rows, sizeof rows, 1, file) != 1) {{ return 1; }}
    for (int i = 0; i < N; ++i) {{ for (int j = 0; j < P; ++j) {{ wide[i][j] = rows[i][j]; }} }}
    for (int round = 0; round < 15; ++round) {{
{rounds}
    }}
    for (int i = 0; i < {count}; ++i) {{ printf("%.9g ", best[i]); }}
    for (int i = 0; i < N; ++i) {{
{scores}
    }}
    return 0;
}}
"""


def fitted(dataset, votes):
    """Return ours, {name: LightGBM}, errors and the test rows."""
    task, (X, X_test, y, y_test) = parts(dataset, 0)
    X, y = X[:4000], y[:4000]
    if votes:
        model = BudgetRFClassifier(n_estimators=5, random_state=0).fit(X, y)
        n_nodes = sum(tree.node_count for tree in model.trees_)
    else:
        model = tried([gif(task, *setting) for setting in product(SPLITS, RIDGES)], task, X, y)
        n_nodes = model.n_nodes_
    error = error_of(task, model.predict(X_test), y_test)
    peers = boosted(task, n_nodes, error, (X, y), (X_test, y_test))
    if task == "classification":
        peers["emlearn"] = voting(n_nodes, (X, y), (X_test, y_test))
    return model, error, peers, X_test[:ROWS].astype(np.float32)


def gif(task, splits, ridge):
    """Return a GIF+ with the number of nodes that all models here have."""
    kind = GIFRegressor if task == "regression" else GIFClassifier
    fixed = {"n_estimators": "auto", "joint_fit": "ridge", "prune_factor": 4, "random_state": 0}
    return kind(NODES, ridge=ridge, **fixed, **splits)


def tried(models, task, X, y):
    """Return the model that is best on a quarter of the rows, fitted to all of them."""
    X_fit, X_valid, y_fit, y_valid = train_test_split(X, y, test_size=0.25, random_state=0)
    errors = [error_of(task, m.fit(X_fit, y_fit).predict(X_valid), y_valid) for m in models]
    return models[int(np.argmin(errors))].fit(X, y)


def boosted(task, n_nodes, wanted, train, test):
    """Return {name: (model, error)}: LightGBM at the same nodes, and at the wanted error."""
    kind = LGBMRegressor if task == "regression" else LGBMClassifier
    n_classes = n_classes_of(task, train[1])
    per_step = n_classes if n_classes > 2 else 1
    fixed = {"learning_rate": 0.2, "min_child_samples": 5, "verbose": -1, "n_jobs": 1}

    def model(leaves, n_trees):
        return kind(n_estimators=n_trees, num_leaves=leaves, random_state=0, **fixed)

    def affordable(leaves):
        return max(1, round(n_nodes / (2 * leaves - 1) / per_step))

    equal = tried([model(leaves, affordable(leaves)) for leaves in LEAVES], task, *train)
    leaves = equal.num_leaves
    large = model(leaves, MOST_TREES // per_step).fit(*train)
    peers = {"equal nodes": (equal, error_of(task, equal.predict(test[0]), test[1]))}
    for n_trees in range(1, MOST_TREES // per_step):
        error = error_of(task, large.predict(test[0], num_iteration=n_trees), test[1])
        if error <= wanted:
            return peers | {"equal error": (model(leaves, n_trees).fit(*train), error)}
    return peers


def voting(n_nodes, train, test):
    """Return a random forest of about so many nodes, and its error with one vote for each tree."""
    sizes = [(max(1, round(n_nodes / (2 * n - 1))), n) for n in LEAVES_OF_FORESTS]
    forests = [RandomForestClassifier(k, max_leaf_nodes=n, random_state=0) for k, n in sizes]
    forest = tried(forests, "classification", *train)
    votes = np.array([tree.predict(test[0]) for tree in forest.estimators_], dtype=int)
    counts = (votes[:, :, None] == np.arange(forest.n_classes_)).sum(axis=0)
    predicted = forest.classes_[counts.argmax(axis=1)]
    return forest, error_of("classification", predicted, test[1])


def codes(model, peers):
    """Return {name: (C source, call)} of the compared models."""
    found = {}
    for format in FORMATS:
        for layout in ("small", "fast"):
            name = f"{layout}_{format}"
            with tempfile.TemporaryDirectory() as folder:
                model.export_c(Path(folder) / "model.h", format, name=name, layout=layout)
                source = (Path(folder) / "model.h").read_text()
            found[name] = source, f"{name}_scores(rows[i], out)"
    for key, (peer, _) in peers.items():
        name = key.replace(" ", "_")
        if key == "emlearn":
            code = emlearn.convert(peer, method="inline", dtype="float")
            source = code.save(name=name, include_proba=False)
            found[name] = source, f"*outs += {name}_predict(rows[i], P)"
            continue
        source = m2cgen.export_to_c(peer, function_name=name)
        # Two of them are in one program, so their helpers get different names.
        for helper in ("softmax", "sigmoid"):
            source = source.replace(f"{helper}(", f"{name}_{helper}(")
        several = f"void {name}(" in source
        found[name] = source, f"{name}(wide[i], outs)" if several else f"*outs += {name}(wide[i])"
    return found


def measured(model, peers, X):
    """Return {name: (ns a row, bytes of flash)}."""
    found = codes(model, peers)
    sizes = {"N": len(X), "P": X.shape[1]}
    head = "#include <stdio.h>\n#include <time.h>\n"
    head += "".join(f"#define {name} {size}\n" for name, size in sizes.items())
    head += "static float rows[N][P], out[1000];\nstatic double wide[N][P];\ndouble outs[1000];\n"
    rounds, scores, timed = [], [], []
    for place, (name, (_, call)) in enumerate(found.items()):
        timed.append(TIMED.format(name=name, call=call))
        rounds.append(
            f"        now = time_{name}();\n"
            f"        if (!round || now < best[{place}]) {{ best[{place}] = now; }}"
        )
        if name.startswith(("small", "fast")):
            print_one = 'printf("%.9g ", (double)out[k]);'
            n_scores = f"{name.upper()}_N_SCORES"
            scores.append(
                f"        {call};\n        for (int k = 0; k < {n_scores}; ++k) {{ {print_one} }}"
            )
    main = MAIN.format(count=len(found), rounds="\n".join(rounds), scores="\n".join(scores))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = head + "".join(source for source, _ in found.values()) + "".join(timed) + main
        (folder / "main.c").write_text(program)
        run(f"gcc {FLAGS} -o main main.c -lm", folder)
        (folder / "rows").write_bytes(X.tobytes())
        words = np.array(run(f"{folder}/main rows", folder).split(), dtype=np.float32)
        flash = [flash_of(folder, head + source, call) for source, call in found.values()]
    said = words[len(found) :].reshape(len(X), -1)
    expected = [model.compact(format).scores(X) for format in FORMATS for _ in range(2)]
    assert (said == np.hstack(expected)).all(), "the code differs from Python"
    return dict(zip(found, zip(words, flash, strict=False), strict=True))


def flash_of(folder, source, call):
    """Return the bytes of code and tables of one function, compiled separately."""
    (folder / "one.c").write_text(f"{source}\nvoid one(int i) {{ {call}; }}\n")
    run(f"gcc {FLAGS} -c one.c", folder)
    return int(run("size one.o", folder).splitlines()[1].split()[0])


def run(command, folder):
    """Run a command and return what it prints."""
    return subprocess.run(
        command.split(), cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def main():
    """Print one line for each form of each model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=["hastie", "musk2", "california", "vowel"])
    parser.add_argument(
        "--votes", action="store_true", help="compare BudgetRF, which votes, instead of GIF+"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for dataset in options.datasets:
        model, error, peers, X = fitted(dataset, options.votes)
        rows = measured(model, peers, X)
        table = pd.DataFrame(rows, index=["ns", "flash"]).T
        errors = {key.replace(" ", "_"): peer_error for key, (_, peer_error) in peers.items()}
        table["error"] = [errors.get(name, error) for name in table.index]
        for key in errors:
            table[f"/ {key}"] = table["ns"] / table.loc[key, "ns"]
        print(f"\n{dataset}\n{table.round(3).to_string()}", flush=True)


if __name__ == "__main__":
    main()
