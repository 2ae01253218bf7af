"""Peers of GIF under budgets of nodes or bytes: boosting, forests and int8 perceptrons."""

import itertools
import re

import numpy as np
from lightgbm import LGBMClassifier, LGBMRegressor
from lightgbm.basic import LightGBMError
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

from budgetlearn.export.serialization import size

CHECKPOINTS = 20
MOST_TREES = 3000  # in a booster
BYTES_A_NODE = 2
WIDEST = 256  # units in the widest layer of a perceptron
EMPTY = np.empty(0, dtype=int)


def error_of(task, predicted, y):
    """Return the mean squared error, or the percentage of wrong classes."""
    if task == "regression":
        return float(np.square(predicted - y).mean())
    return 100 * float((predicted != y).mean())


def n_classes_of(task, y):
    """Return the number of classes, 1 in regression."""
    return np.unique(y).size if task != "regression" else 1


class Boosting:
    """Boosting, cut at the best number of iterations on validation data.

    One fit serves all budgets: a smaller budget takes fewer of its trees.
    """

    def best(self, task, budgets, fit, valid, train, test, seed):
        """Return (setting, test error, size) for each budget, {(unit, nodes): ...}."""
        best = dict.fromkeys(budgets, (np.inf, 0, None))
        for setting in self.settings():
            try:
                model, sizes = self._fitted(task, setting, budgets, *fit, seed)
            except LightGBMError:  # raised when every example is fitted and no split remains
                continue
            steps = {budget: steps_within(sizes, budget) for budget in budgets}
            wanted = set(np.concatenate(list(steps.values())).tolist())
            errors = {
                step: error_of(task, predicted, valid[1])
                for step, predicted in self.staged(model, valid[0], wanted)
            }
            for budget, own in steps.items():
                tries = [(errors[step], step, setting) for step in own.tolist()]
                best[budget] = min([best[budget], *tries], key=lambda row: row[0])
        return {
            budget: self._final(task, budget, chosen, train, test, seed)
            for budget, chosen in best.items()
            if chosen[2] is not None
        }

    def _final(self, task, budget, chosen, train, test, seed):
        _, step, setting = chosen
        model, sizes = self._fitted(task, setting, [budget], *train, seed, step)
        step = min(step, int(np.searchsorted(sizes[budget[0]], limit_of(budget), side="right")))
        ((_, predicted),) = self.staged(model, test[0], {step})
        error = error_of(task, predicted, test[1])
        return setting | {"trees": step}, error, int(sizes[budget[0]][step - 1])

    def _fitted(self, task, setting, budgets, X, y, seed, most=None):
        n_classes = n_classes_of(task, y)
        per_step = n_classes if n_classes > 2 else 1
        nodes = max(nodes for _, nodes in budgets)
        fit_in = int(1.1 * nodes) // self.least_nodes(setting) // per_step
        most = max(1, min(MOST_TREES // per_step**0.5, fit_in)) if most is None else most
        model = self.model(task, setting, int(most), seed).fit(X, y)
        features = self.features(model)
        units = {unit for unit, _ in budgets}
        return model, {unit: prefix_sizes(features, per_step, unit) for unit in units}


def limit_of(budget):
    """Return how many nodes or bytes a budget (unit, nodes) allows."""
    unit, nodes = budget
    return nodes if unit == "nodes" else nodes * BYTES_A_NODE


def steps_within(sizes, budget):
    """Return the numbers of iterations to try; the last one is the largest that fits."""
    n_fit = int(np.searchsorted(sizes[budget[0]], limit_of(budget), side="right"))
    return np.unique(np.linspace(1, n_fit, min(n_fit, CHECKPOINTS)).astype(int))


def prefix_sizes(features, per_step, unit):
    """Return nodes or bytes of the first k iterations, from the features of each tree's splits.

    Bytes are those of the compact format "int8" with one output column per tree, because each tree
    of a booster predicts one class.
    """
    splits = np.array([len(own) for own in features])
    if unit == "nodes":
        return np.cumsum(2 * splits + 1)[per_step - 1 :: per_step]
    tree = np.repeat(np.arange(len(features)), splits)
    _, first = np.unique(np.concatenate(features), return_index=True)
    used = np.cumsum(np.bincount(tree[first], minlength=len(features)))
    head = size("int8", [], [], 0, per_step, 1, 0)
    return (head + np.cumsum(2 + 3 * splits + splits + 1) + 10 * used)[per_step - 1 :: per_step]


class SklearnBoosting(Boosting):
    """scikit-learn's gradient boosting of trees of depth 2 to 4."""

    name = "sklearn_gb"

    def settings(self):
        """Return twelve settings."""
        return [
            {"max_depth": depth, "learning_rate": rate, "max_features": features}
            for depth in (2, 3, 4)
            for rate in (0.1, 0.3)
            for features in ("sqrt", None)
        ]

    def least_nodes(self, setting):
        """Return about the nodes of a tree."""
        return 2 ** setting["max_depth"] + 1

    def model(self, task, setting, n_trees, seed):
        """Return the estimator."""
        kind = GradientBoostingRegressor if task == "regression" else GradientBoostingClassifier
        return kind(n_estimators=n_trees, random_state=seed, **setting)

    def features(self, model):
        """Return the features of the splits of each tree."""
        trees = [one.tree_.feature for one in model.estimators_.ravel()]
        return [feature[feature >= 0] for feature in trees]

    def staged(self, model, X, steps):
        """Yield iterations and predictions."""
        for step, predicted in enumerate(model.staged_predict(X), 1):
            if step in steps:
                yield step, predicted


class LightGBM(Boosting):
    """LightGBM of 4 to 16 leaves, without limits on the leaves' size."""

    name = "lightgbm"

    def settings(self):
        """Return twelve settings."""
        return [
            {"num_leaves": leaves, "learning_rate": rate, "min_child_samples": least}
            for leaves in (4, 8, 16)
            for rate in (0.1, 0.3)
            for least in (1, 10)
        ]

    def least_nodes(self, setting):
        """Return about the nodes of a tree."""
        return 2 * setting["num_leaves"] - 1

    def model(self, task, setting, n_trees, seed):
        """Return the estimator."""
        kind = LGBMRegressor if task == "regression" else LGBMClassifier
        fixed = {"n_jobs": 1, "verbose": -1, "min_child_weight": 1e-4, "random_state": seed}
        return kind(n_estimators=n_trees, **fixed, **setting)

    def features(self, model):
        """Return the features of the splits of each tree."""
        text = model.booster_.model_to_string()
        leaves = [int(number) for number in re.findall(r"^num_leaves=(\d+)", text, re.M)]
        lines = iter(re.findall(r"^split_feature=(.*)$", text, re.M))
        # A tree of one leaf has no such line in some versions, an empty one in others.
        return [np.array(next(lines).split(), dtype=int) if n > 1 else EMPTY for n in leaves]

    def staged(self, model, X, steps):
        """Yield iterations and predictions."""
        for step in sorted(steps):
            yield step, model.predict(X, num_iteration=step)


FORESTS = {
    "rf": (RandomForestRegressor, RandomForestClassifier),
    "et": (ExtraTreesRegressor, ExtraTreesClassifier),
}


class Forests:
    """Random forests and extra trees of few leaves each."""

    name = "forest"

    def best(self, task, budgets, fit, valid, train, test, seed):
        """Return (setting, test error, size) for each budget, {(unit, nodes): ...}."""
        found = {}
        for budget in budgets:
            tries = []
            for kind in FORESTS:
                for leaves in (4, 8, 16, 32, 64, 128):
                    made = self._fitted(task, kind, leaves, budget, *fit, seed)
                    if made:
                        error = error_of(task, made[0].predict(valid[0]), valid[1])
                        tries.append((error, kind, leaves))
            if tries:
                _, kind, leaves = min(tries)
                model, cost = self._fitted(task, kind, leaves, budget, *train, seed)
                error = error_of(task, model.predict(test[0]), test[1])
                found[budget] = {"kind": kind, "leaves": leaves}, error, cost
        return found

    def _fitted(self, task, kind, leaves, budget, X, y, seed):
        """Return the forest and its size, or None if not even one tree fits."""
        n_classes = n_classes_of(task, y)
        n_columns = n_classes if n_classes > 2 else 1
        cost, limit = 2 * leaves - 1, limit_of(budget)
        if budget[0] == "bytes":
            cost = 2 + 3 * (leaves - 1) + n_columns * leaves
            limit -= 30 + 10 * X.shape[1]
        n_trees = min(1000, limit // cost)
        if n_trees < 1:
            return None
        model = FORESTS[kind][task != "regression"](
            n_trees, max_leaf_nodes=leaves, random_state=seed, n_jobs=1
        )
        return model.fit(X, y), n_trees * cost


class Int8MLP:
    """A perceptron with one or two hidden ReLU layers, whose weights are stored in a byte each.

    Weights are rounded to 255 equal steps in each layer. The layers are as wide as fits, up to 256.
    The size counts a byte for each weight, four for each bias and for each layer's step, and eight
    for the mean and the scale of each feature. Sums and activations are not rounded.
    """

    name = "mlp"
    penalties, rates = (1e-4, 1e-2, 1.0), (1e-3, 1e-2)

    def best(self, task, budgets, fit, valid, train, test, seed):
        """Return (setting, test error, size) for each budget, {(unit, nodes): ...}."""
        found = {}
        for budget in budgets:
            shape = train[0].shape[1], n_classes_of(task, train[1]), limit_of(budget)
            settings = [
                {"layers": layers, "alpha": alpha, "learning_rate_init": rate}
                for layers in (1, 2)
                for alpha in self.penalties
                for rate in self.rates
                if widest(*shape, layers)
            ]
            tries = []
            for setting in settings:
                predict, _ = self._fitted(setting, shape, *fit, seed)
                tries.append((error_of(task, predict(valid[0]), valid[1]), setting))
            if tries:
                setting = min(tries, key=lambda row: row[0])[1]
                predict, n_bytes = self._fitted(setting, shape, *train, seed)
                found[budget] = setting, error_of(task, predict(test[0]), test[1]), n_bytes
        return found

    def _fitted(self, setting, shape, X, y, seed):
        """Return a function that predicts with the rounded weights, and the bytes of the model."""
        n_features, n_classes, limit = shape
        layers = setting["layers"]
        width = widest(n_features, n_classes, limit, layers)
        options = {key: value for key, value in setting.items() if key != "layers"}
        scaler = StandardScaler().fit(X)
        net = MLPClassifier((width,) * layers, max_iter=150, random_state=seed, **options)
        net.fit(scaler.transform(X).astype(np.float32), y)
        steps = [np.abs(weights).max() / 127 or 1.0 for weights in net.coefs_]
        rounded = [np.round(w / step) * step for w, step in zip(net.coefs_, steps, strict=True)]

        def predict(rows):
            values = scaler.transform(rows)
            for weights, bias in zip(rounded[:-1], net.intercepts_[:-1], strict=True):
                values = np.maximum(values @ weights + bias, 0)
            scores = values @ rounded[-1] + net.intercepts_[-1]
            chosen = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
            return net.classes_[chosen.astype(int)]

        return predict, mlp_bytes(n_features, n_classes, layers, width)


def mlp_bytes(n_features, n_classes, layers, width):
    """Return the bytes of an `Int8MLP`."""
    outputs = n_classes if n_classes > 2 else 1
    sides = [n_features, *(width,) * layers, outputs]
    weights = sum(a * b for a, b in itertools.pairwise(sides))
    return weights + 4 * sum(sides[1:]) + 4 * (layers + 1) + 8 * n_features


def widest(n_features, n_classes, limit, layers):
    """Return the largest width that fits into the bytes, or 0 if none does."""
    widths = range(WIDEST, 0, -1)
    return next((w for w in widths if mlp_bytes(n_features, n_classes, layers, w) <= limit), 0)
