"""Slow twins of the kernels of globally induced forests, straight from the paper's formulas."""

import numpy as np

from budgetlearn.gif.fitting import candidates
from budgetlearn.gif.grower import grow, grow_on_residuals
from budgetlearn.gif.nodes import NodeTable
from budgetlearn.gif.splitters import GiniSplitter, VarianceSplitter


class SlowSquared:
    """Squared loss of predictions `F`, summed over samples and outputs."""

    def __init__(self, targets, intercept):
        self.targets = targets
        self.F = np.tile(intercept, (len(targets), 1))

    def losses(self, F, rows):
        return np.square(self.targets[rows] - F).sum(axis=1)

    def weight(self, rows):
        return (self.targets[rows] - self.F[rows]).mean(axis=0)

    def gap(self, rows):
        after = self.losses(self.F[rows] + self.weight(rows), rows)
        return (self.losses(self.F[rows], rows) - after).sum()


class SlowTrimmed(SlowSquared):
    """Trimmed exponential loss; `targets` are one-hot, `theta` the saturation."""

    def __init__(self, targets, intercept, theta):
        super().__init__(targets, intercept)
        self.theta, self.K = theta, targets.shape[1]
        self.codes = targets.argmax(axis=1)

    def losses(self, F, rows):
        encoded = np.where(self.targets[rows] == 1, 1.0, -1.0 / (self.K - 1))
        return np.exp(-(encoded * F).sum(axis=1) / self.K)

    def tau(self, first, second):
        if first == 0 and second == 0:
            return 0.0
        if second == 0 or (first > 0 and np.log(first) - np.log(second) > self.theta):
            return self.theta
        if first == 0 or np.log(second) - np.log(first) > self.theta:
            return -self.theta
        return np.log(first) - np.log(second)

    def weight(self, rows):
        losses = self.losses(self.F[rows], rows)
        alpha = np.bincount(self.codes[rows], losses, minlength=self.K)
        sums = [sum(self.tau(a, b) for b in alpha) for a in alpha]
        return (self.K - 1) / self.K * np.array(sums)


class SlowBinary:
    """Binary trimmed exponential loss: labels -1 and 1, one score, loss exp(-y f)."""

    def __init__(self, labels, intercept, theta):
        self.labels, self.theta = labels, theta
        self.f = np.full(len(labels), intercept)

    def weight(self, rows):
        losses = np.exp(-self.labels[rows] * self.f[rows])
        up, down = losses[self.labels[rows] > 0].sum(), losses[self.labels[rows] < 0].sum()
        with np.errstate(divide="ignore"):
            return np.clip(np.log(up) - np.log(down), -self.theta, self.theta) / 2


class Grown:
    """A forest grown by the kernels, with all its candidates."""

    def __init__(
        self,
        X,
        targets,
        loss,
        *,
        codes=None,
        n_trees,
        budget,
        rate,
        window,
        n_visits=2,
        n_thresholds=1,
        seed=3,
        charges=None,
    ):
        self.X, self.targets, self.rate = np.asfortranarray(X), targets, rate
        self.intercept, kernel = loss.start(targets)
        self.table = NodeTable(n_trees, len(X), 3 * n_trees + 2 * budget)
        splits = self.X, n_visits, n_thresholds, 1, 5
        weights = np.empty((budget, targets.shape[1]))
        self.nodes_after = np.empty(budget, dtype=np.int64)
        out = budget, rate, weights, self.nodes_after
        if window == "residuals":
            splitter = VarianceSplitter(*splits, np.asarray(kernel.residuals))
            n_steps = grow_on_residuals(self.table, splitter, kernel, *out[:2], seed, *out[2:])
        else:
            if codes is None:
                centred = np.ascontiguousarray(targets - targets.mean(axis=0))
                splitter = VarianceSplitter(*splits, centred)
            else:
                splitter = GiniSplitter(*splits, codes, targets.shape[1])
            splitter.charges = charges
            pool = candidates(self.table, kernel, window, rate, seed, splitter)
            n_steps = grow(self.table, splitter, kernel, pool, *out)
        self.weights = weights[:n_steps]
        self.records = self.table.records[: self.table.n_nodes]

    def rows(self, node):
        """Return the samples of a node."""
        return self.table.samples(node)

    def accepted(self):
        """Return the accepted nodes in order."""
        nodes = np.flatnonzero(self.records["step"] >= 0)
        return nodes[np.argsort(self.records["step"][nodes])]

    def replay(self, slow):
        """Accept the same nodes by the slow loss; yield each node and the candidates there were."""
        candidates = set()
        roots = np.flatnonzero(self.records["parent"] < 0)
        opened = list(roots)
        for node in self.accepted():
            for parent in opened:
                child = self.records["child"][parent]
                candidates |= {child, child + 1} if child >= 0 else set()
            yield node, sorted(candidates)
            slow.F[self.rows(node)] += self.rate * slow.weight(self.rows(node))
            candidates.remove(node)
            opened = [node]
