"""CPU seconds of random forests with √p features at a node, ours and scikit-learn's, in one thread.

    python benchmarks/speed_random_forest.py [--repeats 3]

The tables are the covertype sample of GIF's paper (36,603 × 54, most columns zeros and ones), a
table with more columns than rows, most of which a node does not examine, and small tables, on which
a tree takes less time than a Python call. Fits include coding; the least seconds count.
"""

import argparse
from functools import partial

from _budgetrf_data import covertype
from _measuring import least, report
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier as Peer

from budgetlearn.forests import RandomForestClassifier
from budgetlearn.parallel import one_thread


def generated(n, p):
    """Return a table of n rows and p features, four of which determine the classes."""
    return make_classification(n, p, n_informative=4, n_redundant=0, random_state=0)


# The function that returns each table, and the number of trees to fit.
TABLES = {
    "covertype 36,603 x 54": (lambda: covertype(0)[0], 40),
    "2,000 x 5,000": (partial(generated, 2000, 5000), 40),
    "500 x 20": (partial(generated, 500, 20), 100),
    "200 x 6": (partial(generated, 200, 6), 100),
}


def main():
    """Print a line for each table and kind of codes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("tables", nargs="*", help="names of tables (default: all)")
    options = parser.parse_args()
    for name in options.tables or TABLES:
        table, n_trees = TABLES[name]
        X, y = table()
        for max_bins in (None, 255):
            ours = RandomForestClassifier(n_estimators=n_trees, max_bins=max_bins, random_state=0)
            peer = Peer(n_trees, random_state=0, n_jobs=1)
            codes = "exact" if max_bins is None else f"{max_bins} bins"
            with one_thread():
                mine, theirs = (
                    least(partial(model.fit, X, y), options.repeats)[0] for model in (ours, peer)
                )
            report(f"{name}, {codes}", mine, theirs)


if __name__ == "__main__":
    main()
