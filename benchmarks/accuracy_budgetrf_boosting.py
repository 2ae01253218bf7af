"""BudgetRF+ beside LightGBM's feature costs and trees boosted under exact charges, equal tries.

    python benchmarks/accuracy_budgetrf_boosting.py rows.csv wine pima
    python benchmarks/accuracy_budgetrf_boosting.py rows.csv

The boosted trees are a trial that docs/notes/budgetrf.md judges, not a part of the library. Tables
are those of `accuracy_lead.py`: 800 rows, of which 30 % choose, 1,000 to test, prices log-uniform
in 1..100. Each method has six settings, drawn; validation rows choose among all their operating
points. A row for each table and method is added: area under the staircase on test rows, errors at
5, 10, 20 and 100 % of the cost, and processor seconds; then means are printed, and ratios to
LightGBM's.
"""

import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from accuracy_cascade import SHARES, area, errors_at, points_of
from accuracy_lead import APART, USED, parts_of
from scipy.special import expit, softmax
from sklearn.model_selection import train_test_split

from budgetlearn.budgetrf import BudgetRFClassifier
from budgetlearn.costs import FeatureCosts
from budgetlearn.curves import pareto_indices
from budgetlearn.peers import LightGBMCostClassifier
from budgetlearn.tree.binning import bin_features
from budgetlearn.tree.growth import Acquisitions, GrowthRule, grow_tree
from budgetlearn.tree.impurity import Variance
from budgetlearn.tree.predictor import ForestPredictor

TRIES, STEPS, N_TREES, SAMPLED, RIDGE = 6, 12, 40, 0.7, 1.0
MARKS = (4, 11, 21)  # iterations before which a model is an operating point, too


class BoostedPath:
    """Models at falling weights of the prices; what earlier ones acquired is free to later ones.

    Each grows trees on the gradients of the log-loss, splits where the mean drop in variance is
    more than weight × price × share of the node's examples that have not acquired the feature, and
    has Newton steps in its leaves.
    """

    def __init__(self, costs, seed, depth, rate, leaf):
        self.costs, self.random, self.rate = costs, np.random.RandomState(seed), rate
        self.rule = GrowthRule(
            impurity=Variance(),
            least_gain=1e-9,
            max_depth=depth,
            min_samples_leaf=leaf,
            reuse_discount=0.0,
        )

    def fit(self, X, y):
        """Grow a model for each weight of the prices."""
        most = min(0.25 * self.costs.full / self.costs.costs.min(), 3.0)
        self.target = np.eye(int(y.max()) + 1)[y]
        prior = np.log(self.target.mean(axis=0) + 1e-3)
        self.base = prior[1:] - prior[0] if prior.size == 2 else prior - prior.mean()
        acquisitions = Acquisitions(self.costs, len(y))
        data, shares = bin_features(X, 255), self.costs.costs / self.costs.full
        self.models = []
        for weight in [*np.geomspace(most, 0.01, STEPS - 1), 0.0]:
            acquisitions.prices = weight * shares
            self.models.append(self._boosted(X, data, acquisitions))
        return self

    def _boosted(self, X, data, acquisitions):
        scores, model = np.tile(self.base, (len(X), 1)), []
        for step in range(N_TREES):
            shares = self._shares(scores)
            slopes = self.target[:, -shares.shape[1] :] - shares
            n_outputs = shares.shape[1]
            bends = shares * (1 - shares) * (n_outputs / (n_outputs - 1) if n_outputs > 1 else 1)
            weights, grew = (self.random.rand(len(X)) < SAMPLED).astype(float), False
            for output in range(n_outputs):
                slope = np.ascontiguousarray(slopes[:, output])
                how = self.rule, acquisitions.prices, int(self.random.randint(2**31 - 1))
                tree = grow_tree(data, slope, weights, 1, *how, None, acquisitions)
                if tree.node_count == 1:
                    continue
                grew, walk = True, walked(tree, X)
                at = walk.leaves[:, 0]
                sums = (
                    np.bincount(at, weights * each, minlength=tree.node_count)
                    for each in (slope, bends[:, output])
                )
                value = self.rate * next(sums) / (next(sums) + RIDGE)
                scores[:, output] += value[at]
                acquisitions.add(walk.acquired)
                model.append((step, output, tree, value))
            if not grew and step >= 2:
                break
        return model

    @staticmethod
    def _shares(scores):
        return expit(scores) if scores.shape[1] == 1 else softmax(scores, axis=1)

    def points(self, X, y):
        """Return cost and accuracy of models, of parts of them, and of the mean of each three."""

        def point(sums, acquired):
            labels = sums[:, 0] > 0 if sums.shape[1] == 1 else sums.argmax(axis=1)
            return self.costs.total(acquired).mean(), (labels == y).mean()

        found, recent = [], []
        for model in self.models:
            scores, acquired, last = np.tile(self.base, (len(X), 1)), np.zeros(X.shape, bool), 0
            for step, output, tree, value in model:
                if step != last and step in MARKS:
                    found.append(point(scores, acquired))
                walk, last = walked(tree, X), step
                scores[:, output] += value[walk.leaves[:, 0]]
                acquired |= walk.acquired
            found.append(point(scores, acquired))
            recent = [*recent[-2:], (self._shares(scores) - 0.5, acquired)]
            found.append(point(sum(s for s, _ in recent), np.any([a for _, a in recent], axis=0)))
        return np.array(found)


def walked(tree, X):
    """Return the leaves that examples reach, and what they acquire on the way."""
    return ForestPredictor([tree], X.shape[1]).walk(X, leaves=True, acquired=True)


def log_uniform(random, low, high):
    """Return a number whose logarithm is uniform."""
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def boosted(random, costs, seed):
    """Return boosted trees at drawn settings."""
    depth, leaf = random.choice([2, 3, 4, 6]), random.choice([1, 5, 10])
    return BoostedPath(costs, seed, int(depth), log_uniform(random, 0.05, 0.4), int(leaf))


def budgetrf_plus(random, costs, seed):
    """Return the `budgetrf_plus` of config/methods.yaml at drawn settings."""
    drawn = {
        "leaves__prune": log_uniform(random, 0.05, 16),
        "growth__reuse_discount": float(random.choice([1, 0.5, 0.2])),
        "cost_exponent": float(random.choice([1, 0.5, 0.25, 0])),
        "leaves__joint_fit": float(random.choice([30, 10, 3])),
        "growth__max_depth": int(random.choice([4, 8])),
    }
    kind = {"growth__impurity": "entropy", "growth__split": "expected", "growth__max_features": 0.5}
    forest = BudgetRFClassifier(feature_costs=costs, random_state=seed)
    return forest.set_params(**kind, **drawn)


def lightgbm(random, costs, seed):
    """Return LightGBM with coupled and lazy costs in turn, at drawn settings."""
    return LightGBMCostClassifier(
        feature_costs=costs,
        penalty=("coupled", "lazy")[seed % 2],
        cost_weights=None,
        n_trees=(1, 3, 10, 20, 40, 100),
        learning_rate=log_uniform(random, 0.03, 0.5),
        num_leaves=int(random.choice([2, 4, 8, 16, 31])),
        min_child_samples=int(random.choice([1, 5, 20])),
        random_state=seed,
    )


METHODS = {"boosted": boosted, "budgetrf_plus": budgetrf_plus, "lightgbm": lightgbm}


def row_of(name, method):
    """Return what a method comes to on a table."""
    (X, y), (X_test, y_test) = parts_of(name, 0)
    X, y, X_test, y_test = X[:800], y[:800], X_test[:1000], y_test[:1000]
    costs = FeatureCosts(np.exp(np.random.RandomState(77).uniform(0, np.log(100), X.shape[1])))
    learn, choose = train_test_split(np.arange(len(y)), test_size=0.3, random_state=0, stratify=y)
    start, random, found = time.process_time(), np.random.RandomState(5), []
    for seed in range(TRIES):
        model = METHODS[method](random, costs, seed).fit(X[learn], y[learn])
        points = model.points if method == "boosted" else lambda *rows, m=model: points_of(m, *rows)
        found.append((points(X[choose], y[choose]), points(X_test, y_test)))
    seconds = time.process_time() - start
    valid, test = map(np.concatenate, zip(*found, strict=True))
    kept = pareto_indices(*valid.T)
    constant = (y_test == np.bincount(y[learn]).argmax()).mean()
    errors = errors_at(valid[kept], test[kept], costs.full, constant)
    row = {"table": name, "method": method, "area": area(test[kept], costs.full, constant)}
    row |= {f"error at {share:g}": error for share, error in zip(SHARES, errors, strict=True)}
    return row | {"cpu_seconds": seconds}


def main():
    """Add the rows that the file lacks, and print means and ratios."""
    path, names = Path(sys.argv[1]), sys.argv[2:] or [*USED, *APART]
    done = set()
    if path.exists():
        done = set(pd.read_csv(path)[["table", "method"]].itertuples(index=False, name=None))
    for name in names:
        for method in METHODS:
            if (name, method) not in done:
                row = pd.DataFrame([row_of(name, method)]).round(4)
                row.to_csv(path, mode="a", header=not path.exists(), index=False)
                print(row.to_string(header=False), flush=True)
    means = pd.read_csv(path).drop(columns="table").groupby("method").mean()
    print(
        means.round(4).to_string(), (means / means.loc["lightgbm"]).round(3).to_string(), sep="\n"
    )


if __name__ == "__main__":
    main()
