"""Fitting all node weights of a forest at once, by ridge or logistic regression.

The indicators of the nodes are centred, so that the intercept is not shrunk. The smaller of two
systems is solved, with one equation for each example or for each node. If both are large, conjugate
gradients solve the normal equations, and one random probe in {-1, 1} estimates the trace for
generalised cross-validation.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh, get_blas_funcs
from scipy.sparse import csc_array
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import softmax

from ..validation import ParameterError

# Penalties to choose from, in units of the mean number of nodes that an example reaches.
ALPHAS = np.logspace(-3, 1.5, 10)
BLOCK = 2048  # columns that are made dense at a time
MOST_STEPS, TOLERANCE = 200, 1e-5  # limits of conjugate gradients


class NodeRidge:
    """Ridge regression on node indicators, solved repeatedly with fewer and fewer nodes.

    `spread` holds the sum of the weighted squares of each centred indicator. If the examples are a
    `share` of all, penalties are scaled by that share.
    """

    largest_dense = 3000  # equations; larger systems are solved by conjugate gradients

    def __init__(self, indicators, targets, sample_weight=None, share=1.0):
        n_samples, self._share = len(targets), share
        weight = np.ones(n_samples) if sample_weight is None else sample_weight
        # Multiplying rows by the roots of their weights turns weighted into plain least squares.
        root = np.sqrt(weight)
        self._size = np.sqrt(weight.sum())
        self._u = root / self._size
        self._root = root[:, None]
        self._mean, self._targets = self._centred(targets)
        # Row i of B is the root of weight i times its indicators; A = B - u (u'B) is centred.
        self._B = indicators.astype(np.float64)
        self._B.data *= root[self._B.indices]
        self._start()

    def _centred(self, targets):
        """Return the weighted means of targets, and the targets centred and weighted like A."""
        mean = self._u @ (self._root * targets) / self._size
        return mean, self._root * (targets - mean)

    def _start(self):
        n_samples, n_nodes = self._B.shape
        self._c = self._u @ self._B
        places = self._B.indices, self._B.indptr
        squares = csc_array((np.square(self._B.data), *places), shape=self._B.shape)
        self._reached = np.asarray(squares.sum(axis=0))
        self.spread = np.maximum(self._reached - self._c**2, 0.0)
        self._gram, self._dual = None, False
        # A w = b with penalty p: (A'A + pI) w = A'b, or w = A' (AA' + pI)^-1 b, the dual form.
        if n_samples <= self.largest_dense and n_samples <= n_nodes:
            self._dual, self._gram = True, self._project(_outer(self._B))
        elif n_nodes <= self.largest_dense:
            self._gram = _outer(self._B.T.tocsc())
            self._gram -= np.outer(self._c, self._c)

    @property
    def scale(self):
        """The unit of penalties: the share times the mean number of nodes an example reaches."""
        return float(self._share * self._reached.sum() / self._size**2)

    def _project(self, gram):
        """Centre the product of B with itself on both sides, in place."""
        along = self._u @ gram
        across = np.outer(self._u, along)
        gram -= across
        gram -= across.T
        gram += (along @ self._u) * np.outer(self._u, self._u)
        return gram

    def keep(self, kept):
        """Drop the nodes outside the mask `kept`."""
        dropped = self._B[:, ~kept]
        self._B = self._B[:, kept]
        n_samples, n_nodes = self._B.shape
        if self._gram is None or (self._dual and n_nodes < n_samples):
            self._start()
            return
        for name in ("_c", "_reached", "spread"):
            setattr(self, name, getattr(self, name)[kept])
        # The dual matrix is a sum over nodes, so the dropped ones are subtracted.
        if self._dual:
            self._gram -= self._project(_outer(dropped))
        else:
            self._gram = self._gram[np.ix_(kept, kept)]

    def solve(self, penalty):
        """Return the weights (n_nodes, n_outputs) and the intercept for a penalty."""
        return self._with_intercept(self._weights(self._solver(penalty)(self._targets)))

    def _weights(self, solved):
        return self._to_nodes(solved) if self._dual else solved

    def _solver(self, penalty):
        """Return a function from centred targets to weights, or to z of the dual form, A'z = w."""
        if self._gram is None:
            return lambda targets: self._iterate(penalty, targets)
        shifted = self._gram.copy()
        shifted.flat[:: len(shifted) + 1] += penalty
        # The matrix is symmetric, and its transpose has the memory layout of the solver.
        try:
            factor = cho_factor(shifted.T, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError as error:
            message = "ridge is so small that rounding outweighs it: set it to 1e-8 or more."
            raise ParameterError(message) from error
        if self._dual:
            return lambda targets: cho_solve(factor, targets, check_finite=False)
        return lambda targets: cho_solve(factor, self._to_nodes(targets), check_finite=False)

    def path(self, penalties):
        """Return the (weights, intercept) of each of the ascending penalties, and their scores.

        The scores are errors of generalised cross-validation.
        """
        if self._gram is None:
            return self._iterated_path(penalties)
        values, vectors = eigh(self._gram, check_finite=False)
        values = np.maximum(values, 0.0)
        turned = vectors.T @ (self._targets if self._dual else self._to_nodes(self._targets))
        solutions, scores = [], []
        for penalty in penalties:
            solved = vectors @ (turned / (values + penalty)[:, None])
            solutions.append(self._with_intercept(self._weights(solved)))
            freedom = (values / (values + penalty)).sum()  # trace of the hat matrix
            scores.append(self._cross_validation(solutions[-1][0], freedom))
        return solutions, scores

    def _iterated_path(self, penalties):
        probe = np.random.default_rng(0).choice([-1.0, 1.0], size=len(self._u))
        probe -= self._u * (self._u @ probe)
        right = np.column_stack([self._targets, probe])
        solutions, scores, start = [], [], None
        # From the largest penalty down, as each solution is a good start for the next.
        for penalty in penalties[::-1]:
            start = self._iterate(penalty, right, start)
            # z'A (A'A + pI)^-1 A'z for the probe z: on average the trace of the hat matrix.
            freedom = probe @ self._to_samples(start[:, -1])
            solutions.append(self._with_intercept(start[:, :-1]))
            scores.append(self._cross_validation(start[:, :-1], freedom))
        return solutions[::-1], scores[::-1]

    def _iterate(self, penalty, right, start=None):
        """Solve the normal equations for each column by conjugate gradients."""
        shape = self._B.shape[1], self._B.shape[1]

        def product(weights):
            return self._to_nodes(self._to_samples(weights)) + penalty * weights

        operator = LinearOperator(shape, matvec=product, dtype=np.float64)
        jacobi = LinearOperator(
            shape, matvec=lambda weights: weights / (self.spread + penalty), dtype=np.float64
        )
        limits = {"rtol": TOLERANCE, "maxiter": MOST_STEPS, "M": jacobi}
        starts = [None] * right.shape[1] if start is None else start.T
        columns = zip(right.T, starts, strict=True)
        solved = [cg(operator, self._to_nodes(b), w, **limits)[0] for b, w in columns]
        return np.column_stack(solved)

    def _to_nodes(self, right):
        """Return A'v for v = `right`."""
        return self._B.T @ right - np.multiply.outer(self._c, self._u @ right)

    def _to_samples(self, weights):
        """Return A w."""
        return self._B @ weights - np.multiply.outer(self._u, self._c @ weights)

    def _with_intercept(self, weights):
        return weights, self._mean - self._c @ weights / self._size

    def _cross_validation(self, weights, freedom):
        rest = np.square(self._targets - self._to_samples(weights)).sum()
        return float(rest / max(len(self._u) - 1 - freedom, 1e-3) ** 2)


def _outer(sparse):
    """Return the dense product of a csc_array with its transpose, computed in blocks of columns."""
    # Counts of ones are exact in single precision, which takes half the time.
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


# Number of ridge regressions; with momentum, errors on new data hardly change after these.
STEPS = 30
# A sample of the examples needs fewer to choose the nodes to drop.
FEW_STEPS = 5


def logarithms(shares):
    """Return the logarithms of class shares, which stay finite for classes without examples."""
    return np.log(np.maximum(shares, np.finfo(float).eps))


class NodeLogit(NodeRidge):
    """Multinomial logistic regression on node indicators; targets are one-hot.

    The Hessian of the loss is at most half of that of the squared error (Boehning, 1992). So each
    step is a ridge regression on the scores plus twice the residuals of the probabilities. All
    steps use one matrix and Nesterov's momentum.
    """

    # One matrix serves all steps and classes; conjugate gradients would start again for each.
    largest_dense = 12_000

    def solve(self, penalty):
        """Return the weights (n_nodes, n_classes) and the intercept for a penalty."""
        solver, shares = self._solver(penalty), self._mean
        targets = self._targets / self._root + shares
        scores = before = np.tile(logarithms(shares), (len(targets), 1))
        momentum = 1.0
        for _ in range(STEPS if self._share == 1 else FEW_STEPS):
            mean, centred = self._centred(scores + 2 * (targets - softmax(scores, axis=1)))
            solved = solver(centred)
            # (AA' + pI) z = b, so A w = AA'z = b - p z: no pass over the nodes.
            reached = centred - penalty * solved if self._dual else self._to_samples(solved)
            fitted = reached / self._root + mean
            following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            scores = fitted + (momentum - 1) / following * (fitted - before)
            before, momentum = fitted, following
        weights = self._weights(solved)
        return weights, mean - self._c @ weights / self._size

    def path(self, penalties):
        """Return the solutions for several penalties, without scores: validation data choose."""
        return [self.solve(penalty) for penalty in penalties], None
