"""All node weights of a forest fitted at once: ridge and logistic regression.

The indicators of the nodes are centred, so that the intercept is not shrunk. What is solved is the
smaller of two systems, one equation for each example or for each node; where both are large, the
normal equations by conjugate gradients. One probe in {-1, 1} stands for the trace that
generalised cross-validation needs there.
"""

from functools import partial

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, eigh, get_blas_funcs, solve_triangular
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import logsumexp

# Choices of the penalty, in mean numbers of nodes that an example reaches.
ALPHAS = np.logspace(-3, 1.5, 10)
BLOCK = 2048
MOST_STEPS, TOLERANCE = 200, 1e-5


class NodeRidge:
    """Ridge regression on node indicators, for one penalty after another, fewer nodes each time.

    `spread` are the weighted squares of the centred indicators, added up over the examples.
    """

    largest_dense = 3000  # equations; more are solved by conjugate gradients

    def __init__(self, indicators, targets, sample_weight=None):
        n_samples = len(targets)
        weight = np.ones(n_samples) if sample_weight is None else sample_weight
        # Weighted least squares as plain ones: rows times the roots of their weights.
        root = np.sqrt(weight)
        self._size = np.sqrt(weight.sum())
        self._u = root / self._size
        self._root = root[:, None]
        self._mean, self._targets = self._centred(targets)
        # Row i of B is the root of its weight times its indicators; A = B - u (u'B) is centred.
        self._B = indicators.astype(np.float64)
        self._B.data *= root[self._B.indices]
        self._start()

    def _centred(self, targets):
        """Return the weighted means of targets, and the targets less these, as rows of A are."""
        mean = self._u @ (self._root * targets) / self._size
        return mean, self._root * (targets - mean)

    def _start(self):
        n_samples, n_nodes = self._B.shape
        self._c = self._u @ self._B
        squares = self._B.copy()
        squares.data **= 2
        self._reached = np.asarray(squares.sum(axis=0))
        self.spread = np.maximum(self._reached - self._c**2, 0.0)
        self._gram = None
        # A w = b with penalty p: (A'A + pI) w = A'b, or w = A' (AA' + pI)^-1 b, the dual form.
        if n_samples <= self.largest_dense and n_samples <= n_nodes:
            self._dual, self._gram = True, self._project(_outer(self._B))
        elif n_nodes <= self.largest_dense:
            self._dual = False
            self._gram = _outer(self._B.T.tocsc())
            self._gram -= np.outer(self._c, self._c)

    @property
    def scale(self):
        """Mean number of nodes that an example reaches, the unit of penalties."""
        return float(self._reached.sum() / self._size**2)

    def _project(self, gram):
        """Centre the product of B with itself on both sides, in place."""
        along = self._u @ gram
        across = np.outer(self._u, along)
        gram -= across
        gram -= across.T
        gram += (along @ self._u) * np.outer(self._u, self._u)
        return gram

    def keep(self, kept):
        """Do without the nodes that are not in the mask `kept`."""
        dropped = self._B[:, ~kept]
        self._B = self._B[:, kept]
        n_samples, n_nodes = self._B.shape
        if self._gram is None or (self._dual and n_nodes < n_samples):
            self._start()
            return
        for name in ("_c", "_reached", "spread"):
            setattr(self, name, getattr(self, name)[kept])
        # The dual matrix is a sum over nodes, from which dropped ones are taken away.
        if self._dual:
            self._gram -= self._project(_outer(dropped))
        else:
            self._gram = self._gram[np.ix_(kept, kept)]

    def solve(self, penalty):
        """Return the weights (n_nodes, n_outputs) that a penalty gives, and the intercept."""
        return self._with_intercept(self._solver(penalty)(self._targets))

    def _solver(self, penalty):
        """Return a function that takes centred targets and returns weights."""
        if self._gram is None:
            return lambda targets: self._iterate(penalty, targets)
        shifted = self._gram.copy()
        shifted.flat[:: len(shifted) + 1] += penalty
        # Its own transpose, which the solver takes as it lies in memory.
        factor = cho_factor(shifted.T, overwrite_a=True, check_finite=False)
        if self._dual:
            return lambda targets: self._to_nodes(cho_solve(factor, targets, check_finite=False))
        return lambda targets: cho_solve(factor, self._to_nodes(targets), check_finite=False)

    def path(self, penalties):
        """Solve for several penalties: return the (weights, intercept) of each, and scores.

        The scores are generalised cross-validation: the smaller the better.
        """
        if self._gram is None:
            return self._iterated_path(penalties)
        values, vectors = eigh(self._gram, check_finite=False)
        values = np.maximum(values, 0.0)
        right = self._targets if self._dual else self._to_nodes(self._targets)
        turned = vectors.T @ right
        solutions, scores = [], []
        for penalty in penalties:
            solved = vectors @ (turned / (values + penalty)[:, None])
            solutions.append(self._with_intercept(self._to_nodes(solved) if self._dual else solved))
            freedom = (values / (values + penalty)).sum()  # trace of the hat matrix
            scores.append(self._cross_validation(solutions[-1][0], freedom))
        return solutions, scores

    def _iterated_path(self, penalties):
        probe = np.random.default_rng(0).choice([-1.0, 1.0], size=len(self._u))
        probe -= self._u * (self._u @ probe)
        right = np.column_stack([self._targets, probe])
        solutions, scores, start = [], [], None
        # From the largest: each solution is a good start for the next, less shrunk one.
        for penalty in sorted(penalties, reverse=True):
            start = self._iterate(penalty, right, start)
            freedom = probe @ self._to_samples(start[:, -1])
            solutions.append(self._with_intercept(start[:, :-1]))
            scores.append(self._cross_validation(start[:, :-1], freedom))
        order = np.argsort(np.argsort(penalties)[::-1])
        return [solutions[i] for i in order], [scores[i] for i in order]

    def _iterate(self, penalty, right, start=None):
        n_nodes = self._B.shape[1]
        operator = LinearOperator(
            (n_nodes, n_nodes),
            matvec=lambda w: self._to_nodes(self._to_samples(w)) + penalty * w,
            dtype=np.float64,
        )
        jacobi = LinearOperator(
            (n_nodes, n_nodes), matvec=lambda w: w / (self.spread + penalty), dtype=np.float64
        )
        columns = [
            cg(
                operator,
                self._to_nodes(column),
                None if start is None else start[:, k],
                rtol=TOLERANCE,
                maxiter=MOST_STEPS,
                M=jacobi,
            )[0]
            for k, column in enumerate(right.T)
        ]
        return np.column_stack(columns)

    def _to_nodes(self, right):
        """Return A'v."""
        along = self._u @ right
        return self._B.T @ right - (
            np.outer(self._c, along) if right.ndim == 2 else self._c * along
        )

    def _to_samples(self, weights):
        """Return A w."""
        along = self._c @ weights
        shift = np.outer(self._u, along) if weights.ndim == 2 else self._u * along
        return self._B @ weights - shift

    def _with_intercept(self, weights):
        return weights, self._mean - self._c @ weights / self._size

    def _cross_validation(self, weights, freedom):
        rest = np.square(self._targets - self._to_samples(weights)).sum()
        left = max(len(self._u) - 1 - freedom, 1e-3)
        return float(rest / left**2)


def _outer(sparse):
    """Return the dense product of a csc_array with its own transpose, block by block of columns."""
    # Counts of zeros and ones are exact in single precision, and take half of the time.
    single = (sparse.data == 1).all() and sparse.shape[1] < 2**24
    dtype = np.float32 if single else np.float64
    multiply = get_blas_funcs("syrk", dtype=dtype)
    upper = np.zeros((sparse.shape[0],) * 2, dtype=dtype, order="F")
    for start in range(0, sparse.shape[1], BLOCK):
        block = sparse[:, start : start + BLOCK].astype(dtype).toarray(order="F")
        upper = multiply(1.0, block, beta=1.0, c=upper, overwrite_c=True)
    total = upper.astype(np.float64, order="C")
    total += np.triu(upper, 1).T
    return total


# A step of logistic regression that lowers the loss by a smaller share is the last.
LEAST_DROP = 1e-5
MOST_LOGIT_STEPS = 300
LEAST_CURVATURE = 0.01  # where one class is nearly alone
SAMPLED = 4096  # examples that say how nodes overlap


def logarithms(shares):
    """Return scores of class shares; that of a class without examples is small, not infinite."""
    return np.log(np.maximum(shares, np.finfo(float).eps))


class NodeLogit(NodeRidge):
    """Multinomial logistic regression on node indicators; targets are one-hot.

    The penalty is a quarter of that of `NodeRidge`, as is the squared error that bounds the loss
    (Boehning, 1992). L-BFGS needs products with the sparse indicators alone, no matrix of pairs of
    nodes, and starts from the weights that were found before: pruning changes few of them.
    """

    largest_dense = 0
    largest_factor = 3000  # nodes; the root of a larger Hessian takes longer than it saves

    def __init__(self, indicators, targets, sample_weight=None):
        super().__init__(indicators, targets, sample_weight)
        self._classes = targets
        self._weights = np.zeros((self._B.shape[1], targets.shape[1]))
        self._scores = logarithms(self._mean)
        self._sampled = None

    def keep(self, kept):
        """Do without the nodes that are not in the mask `kept`."""
        super().keep(kept)
        self._weights = self._weights[kept]
        if self._sampled is not None:
            self._sampled = self._sampled[np.ix_(kept, kept)]

    def solve(self, penalty):
        """Return the weights (n_nodes, n_classes) that a penalty gives, and the intercept."""
        into, back, slope_into = self._units(penalty)
        start = np.vstack([self._weights, self._scores])  # the last row is the mean score

        def loss(steps):
            value, slope = self._loss(back(steps.reshape(start.shape)), penalty)
            return value, slope_into(slope).ravel()

        options = {"maxiter": MOST_LOGIT_STEPS, "ftol": LEAST_DROP, "gtol": 0.0, "maxcor": 20}
        steps = into(start).ravel()
        found = minimize(loss, steps, jac=True, method="L-BFGS-B", options=options)
        solution = back(found.x.reshape(start.shape))
        self._weights, self._scores = solution[:-1], solution[-1]
        return self._weights, self._scores - self._c @ self._weights / self._size

    def _units(self, penalty):
        """Return functions that take solutions, steps and slopes into the other's units.

        In units of a root of the Hessian the loss is about as steep in all directions. A sample of
        the examples says enough of how nodes overlap; of many nodes the spread alone counts.
        """
        curvature = (self._mean * (1 - self._mean)).mean() + LEAST_CURVATURE
        n_nodes = self._B.shape[1]
        if n_nodes > self.largest_factor:
            diagonal = np.append(curvature * self.spread + penalty / 2, curvature * self._size**2)
            root = np.sqrt(diagonal)[:, None]
            return (
                (lambda each: each * root),
                (lambda each: each / root),
                (lambda each: each / root),
            )
        hessian = np.zeros((n_nodes + 1,) * 2, order="F")
        hessian[:-1, :-1] = curvature * self._overlaps()
        hessian.flat[:: n_nodes + 2] += np.append(
            np.full(n_nodes, penalty / 2), curvature * self._size**2
        )
        root = cholesky(hessian, lower=True, overwrite_a=True, check_finite=False)
        divide = partial(solve_triangular, root, lower=True, check_finite=False)
        return (lambda each: root.T @ each), partial(divide, trans="T"), divide

    def _overlaps(self):
        """Return about the products of centred indicators; the diagonal is never too small."""
        if self._sampled is None:
            n_samples = self._B.shape[0]
            rows = np.random.default_rng(0).permutation(n_samples)[:SAMPLED]
            sample = self._B.tocsr()[np.sort(rows)].toarray()
            sample -= np.outer(self._u[np.sort(rows)], self._c)
            self._sampled = sample.T @ sample * (n_samples / len(rows))
            self._sampled.flat[:: len(self._c) + 1] += np.maximum(
                self.spread - np.diag(self._sampled), 0.0
            )
        return self._sampled

    def _loss(self, solution, penalty):
        """Return the penalised loss of weights and mean scores, and its gradient."""
        weights = solution[:-1]
        scores = self._to_samples(weights) / self._root + solution[-1]
        total = logsumexp(scores, axis=1, keepdims=True)
        value = self._root[:, 0] ** 2 @ (total[:, 0] - (self._classes * scores).sum(axis=1))
        value += penalty / 4 * np.square(weights).sum()
        rest = self._root * (np.exp(scores - total) - self._classes)
        slope = np.vstack([self._to_nodes(rest) + penalty / 2 * weights, self._root.T @ rest])
        return value, slope

    def path(self, penalties):
        """Solve for several penalties: return (weights, intercept) of each, and None for scores.

        What is best is for validation data to say.
        """
        # From the largest: each solution is a good start for the next, less shrunk one.
        order = np.argsort(penalties)[::-1]
        solved = {int(i): self.solve(penalties[i]) for i in order}
        return [solved[i] for i in range(len(penalties))], None
