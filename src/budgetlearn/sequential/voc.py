"""Value of classifier (Gao and Koller 2011), in the version that Nan et al. (2014) compare with.

Each class is modelled locally around the test point. The acquired features determine the weights of
the training examples, and a weighted ridge regression per class predicts each remaining feature.
"""

import numpy as np

from ..costs import affords
from ..parallel import one_thread
from ..protocol.documenting import estimator_class
from ..protocol.feature_requests import walked
from ..validation import check_number
from .classifier import BLOCK_ROWS, Record, SequentialClassifier, standardiser

# Gauss-Hermite nodes for expectations over a normal variable; weights sum to 1.
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(16)
NODE_WEIGHTS = NODE_WEIGHTS / NODE_WEIGHTS.sum()
# Values closer than this differ only by rounding and are treated as equal.
EQUAL = 1e-12
# Training examples per matrix product, and numbers per table of a block, which bound the memory.
CHUNK, TABLE_SIZE = 1024, 2**22
# Least weight of a class, and least standard deviation: equal neighbours have a finite density.
TINY, LEAST_SPREAD = 1e-300, 1e-6
# Standardised values of test points are at most this far from 0, so that squares do not overflow.
FARTHEST = 1e140


@estimator_class
class VoCClassifier(SequentialClassifier):
    """Acquire the feature that most raises the expected certainty of a local Gaussian model.

    The local weight of a training example is its own weight times exp(-d2 / beta), where d2 is the
    squared distance over the acquired features, and beta the median distance (not weighted). The
    share of class c in the local weights is P(c | O), and the class with the largest is predicted.
    The value of a feature is the expected rise of max_c P(c | O).

    Parameters
    ----------
    ridge : float, default=0.5
        Penalty lambda of the locally weighted regressions (the intercept is not penalised).
    random_state : int, RandomState instance or None, default=None
        Not used, as the method is deterministic. Present for the common interface.

    References
    ----------
    T. Gao, D. Koller, "Active classification based on value of classifier", NIPS 2011; F. Nan et
    al., "Fast margin-based cost-sensitive classification", ICASSP 2014, section 4.
    """

    ridge: float = 0.5

    def _fit_codes(self, X, codes, weight, rng):
        check_number(self.ridge, "ridge", low=0.0, low_open=True, high=np.inf, high_open=True)
        self._scaler = standardiser(X, weight)
        order = np.argsort(codes, kind="stable")
        self._train = self._scaler.transform(X)[order]
        # Sorted by class, so that each class is a slice, and regressions need no mask.
        self._ends = np.cumsum(np.bincount(codes))
        self._weight = np.ones(len(X)) if weight is None else weight[order]

    def _block_rows(self):
        n_train, n_features = self._train.shape
        per_row = max(n_train, (n_features + 1) ** 2)  # weights; products of two columns
        return int(np.clip(TABLE_SIZE // per_row, 1, BLOCK_ROWS))

    def _walk(self, X, *, stop=True):
        # Threads of the linear algebra would compete with ours.
        with one_thread("blas"):
            return super()._walk(X, stop=stop)

    def _walk_block(self, X, threshold, max_cost):
        return walked(self._acquiring(len(X), threshold, max_cost, X.shape[1]), X)

    def _acquiring(self, n_rows, threshold, max_cost, most):
        walk = Record.empty(n_rows, self.n_features_in_, self.classes_.size)
        model = LocalModel(self._train, self._ends, self._weight, n_rows, self.ridge)
        acquired = np.zeros((n_rows, self.n_features_in_), dtype=bool)
        refused, spent = np.tile(~self._varies, (n_rows, 1)), np.zeros(n_rows)
        for stage in range(most + 1):
            rows, certainty = model.rows, model.posterior.max(axis=1)
            walk.estimate[rows, stage:] = certainty[:, None]
            walk.winner[rows, stage:] = model.posterior.argmax(axis=1)[:, None]
            walk.shares[rows, stage:] = model.posterior[:, None]
            # As in FMCC, a first feature is acquired before the threshold applies.
            sure = (stage > 0) & (certainty > threshold)
            prices = self.feature_costs_.marginal(acquired[rows])
            possible = ~(acquired | refused)[rows] & affords(max_cost, spent[rows, None] + prices)
            going = ~sure & possible.any(axis=1)
            model.keep(going)
            if stage == most or not going.any():
                break
            prices, possible, rows = prices[going], possible[going], rows[going]
            worth = model.look_ahead() - certainty[going, None] - self.cost_weight * prices
            offered = possible.copy()  # `_acquire` clears refused features in `possible`
            features, values = yield from _acquire(rows, worth, prices, possible, walk)
            refused[rows] |= ~possible & offered
            had = np.flatnonzero(features >= 0)
            walk.order[rows[had], stage] = features[had]
            walk.value[rows[had], stage] = worth[had, features[had]]
            acquired[rows[had], features[had]] = True
            spent[rows[had]] += prices[had, features[had]]
            known = (features >= 0) & ~np.isnan(values)  # a missing value ends the walk
            model.keep(known)
            if not known.any():
                break
            features, values = features[known], values[known]
            with np.errstate(over="ignore"):
                scaled = (values - self._scaler.mean_[features]) / self._scaler.scale_[features]
            model.acquire(features, np.clip(scaled, -FARTHEST, FARTHEST))
        return walk


def _acquire(rows, worth, prices, possible, walk):
    """Yield each row's best acquisition, then the next best where it is refused.

    Returns the acquired features (-1 if all were refused) and their values. Refused features are
    cleared in `possible`.
    """
    features, values = np.full(rows.size, -1, dtype=np.intp), np.full(rows.size, np.nan)
    waiting = np.arange(rows.size)
    while waiting.size:
        offers = np.where(possible[waiting], worth[waiting], -np.inf)
        top = offers >= offers.max(axis=1, keepdims=True) - EQUAL
        # Ties go to the cheaper feature, then to the lower index.
        best = np.where(top, prices[waiting], np.inf).argmin(axis=1)
        got, no = yield rows[waiting], best, walk
        features[waiting[~no]], values[waiting[~no]] = best[~no], got[~no]
        possible[waiting[no], best[no]] = False
        waiting = waiting[no]
        waiting = waiting[possible[waiting].any(axis=1)]
    return features, values


class LocalModel:
    """Weighted Gaussian models of all classes around each of m test points.

    All test points have the same number of acquired features, so that their regressions are solved
    together. `train` is sorted by class, `ends` are the ends of the classes, and `weight` has the
    weight of each example. `rows` are the points that continue, `posterior` their P(c | O).
    """

    def __init__(self, train, ends, weight, n_points, ridge):
        self.rows = np.arange(n_points)
        self._train, self._ends, self._weight, self._ridge = train, ends, weight, ridge
        # The first column is a constant for the intercept, which is known from the start.
        self._points = np.full((n_points, train.shape[1] + 1), np.nan)
        self._points[:, 0] = 1.0
        self._known = np.zeros((n_points, 1), dtype=np.intp)
        self._squares = np.zeros((n_points, len(train)))
        self._reweigh()

    def keep(self, going):
        """Continue with the rows where `going` is true."""
        if not going.all():
            for name, part in vars(self).items():
                if name not in ("_train", "_ends", "_weight", "_ridge"):
                    setattr(self, name, part[going])

    def acquire(self, features, measured):
        """Add one measured feature of each test point, given standardised."""
        self._points[np.arange(features.size), features + 1] = measured
        self._squares += np.square(self._train.T[features] - measured[:, None])
        self._known = np.column_stack([self._known, features + 1])
        self._reweigh()

    def _reweigh(self):
        """Weigh the training examples by their distance over the acquired features."""
        bandwidth = np.maximum(np.median(np.sqrt(self._squares), axis=1), TINY)
        # The nearest has weight 1: a common factor changes nothing, and far weights underflow.
        nearest = self._squares.min(axis=1, keepdims=True)
        with np.errstate(over="ignore"):
            near = np.exp((nearest - self._squares) / bandwidth[:, None])
        self._weights = near * self._weight
        masses = np.add.reduceat(self._weights, np.r_[0, self._ends[:-1]], axis=1)
        self.posterior = masses / masses.sum(axis=1, keepdims=True)

    def look_ahead(self):
        """Return the expected max_c P(c | O and i) for each feature i; 0 for acquired ones."""
        acquired = np.zeros((self.rows.size, self._points.shape[1]), dtype=bool)
        np.put_along_axis(acquired, self._known, True, axis=1)
        rest = np.nonzero(~acquired)[1].reshape(self.rows.size, -1)
        starts = np.r_[0, self._ends[:-1]]
        fits = [self._regress(*ends, rest) for ends in zip(starts, self._ends, strict=True)]
        certainty = _expected_certainty(self.posterior, *np.stack(fits, axis=1))
        expected = np.zeros(acquired.shape)
        np.put_along_axis(expected, rest, certainty, axis=1)
        return expected[:, 1:]

    def _regress(self, start, end, rest):
        """Return means and spreads of the features `rest` under one class, at the test points."""
        moments = _weighted_products(self._train[start:end], self._weights[:, start:end])
        # The index of each pair of columns among the products, by the upper triangle.
        pair = np.zeros((self._points.shape[1],) * 2, dtype=np.intp)
        pair[np.triu_indices(len(pair))] = np.arange(moments.shape[1])
        pair = np.maximum(pair, pair.T)
        every, known = np.arange(self.rows.size)[:, None, None], self._known
        gram = moments[every, pair[known[:, :, None], known[:, None, :]]]
        cross = moments[every, pair[known[:, :, None], rest[:, None, :]]]
        squares = moments[every[:, 0], pair[rest, rest]]
        mass = np.maximum(gram[:, 0, 0], TINY)
        # Normal equations of the weighted ridge regressions, for all points at once.
        penalised = gram + self._ridge * np.eye(known.shape[1])
        penalised[:, 0, 0] = mass  # the intercept is free
        slopes = np.linalg.solve(penalised, cross)
        # Weighted residual sum of squares from moments only: y'y − 2 b'X'y + b'X'X b.
        residual = squares - (slopes * (2.0 * cross - gram @ slopes)).sum(axis=1)
        spreads = np.sqrt(np.maximum(residual / mass[:, None], LEAST_SPREAD**2))
        return (np.take_along_axis(self._points, known, axis=1)[:, None] @ slopes)[:, 0], spreads


def _weighted_products(examples, weights):
    """Return the weighted sums of all products of two columns, where column 0 is constant.

    The sums are linear in the weights, so one matrix product gives them for all test points. They
    are in the order of the upper triangle, row by row.
    """
    n_columns = examples.shape[1] + 1
    sums = np.zeros((len(weights), n_columns * (n_columns + 1) // 2))
    for low in range(0, len(examples), CHUNK):
        chunk = examples[low : low + CHUNK].T
        chunk = np.vstack([np.ones(chunk.shape[1]), chunk])
        products = np.concatenate([chunk[a] * chunk[a:] for a in range(n_columns)])
        sums += weights[:, low : low + CHUNK] @ products.T
    return sums


def _expected_certainty(posterior, means, spreads):
    """Return the expected largest posterior after measuring each feature.

    `posterior` is P(c | O); `means` and `spreads`, (n_classes, m, n_rest), are the Gaussians.
    """
    # Log of P(c | O) times the Gaussian's height. Common factors cancel in the posterior.
    heights = np.log(np.maximum(posterior, TINY)).T[:, :, None] - np.log(spreads)
    expected = np.zeros(means.shape[1:])
    at_once = max(1, 2**12 // means.size)  # nodes: all of them for few numbers, to save calls
    for low in range(0, NODES.size, at_once):
        nodes, certainty = NODES[low : low + at_once, None, None, None], []
        for mean, spread in zip(means, spreads, strict=True):
            scores = heights - 0.5 * np.square((mean + nodes * spread - means) / spreads)
            certainty.append(1.0 / np.exp(scores - scores.max(1, keepdims=True)).sum(axis=1))
        for node_weight, *of_node in zip(NODE_WEIGHTS[low:], *certainty, strict=False):
            for share, each in zip(posterior.T, of_node, strict=True):
                expected += node_weight * share[:, None] * each
    return expected
