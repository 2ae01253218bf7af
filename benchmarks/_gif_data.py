"""The data sets of the GIF paper, and the size of the forests on them."""

from functools import cache

from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.model_selection import train_test_split

from budgetbench.datasets import synthetic
from budgetbench.datasets.preparing import load_dataset
from budgetbench.datasets.registry import load_registry

# Training and test rows, as in the paper; the test sizes are from the authors' code.
SIZES = {
    "friedman1": (300, 2000),
    "hwang_f5": (2000, 11600),
    "abalone": (2506, 1671),
    "california": (12384, 8256),
    "ringnorm": (300, 7100),
    "twonorm": (300, 7100),
    "hastie": (2000, 10000),
    "waveform40": (3500, 1500),
    "musk2": (2000, 4598),
    "vowel": (495, 495),
    "vowel_binary": (495, 495),
    "letter": (16000, 4000),
    "letter_binary": (16000, 4000),
    "mnist_8v9": (11800, 1983),
    "mnist": (50000, 10000),
}
registry = cache(load_registry)


def parts(dataset, run):
    """Return the task, and the training and test parts of one run; generated data are drawn."""
    n_train, n_test = SIZES[dataset]
    spec = registry()[dataset]
    if spec.kind == "generated":
        X, y = getattr(synthetic, spec.reader)(n_train + n_test, 1000 + run)
    else:
        data = load_dataset(dataset)
        X, y = data.X, data.y
    return spec.task, train_test_split(X, y, train_size=n_train, test_size=n_test, random_state=run)


def full_budget(task, X, y, run):
    """Return the expected number of nodes of 1000 fully grown extremely randomized trees."""
    forest = ExtraTreesRegressor if task == "regression" else ExtraTreesClassifier
    fitted = forest(20, random_state=run).fit(X, y)
    return 50 * sum(tree.tree_.node_count for tree in fitted.estimators_)
