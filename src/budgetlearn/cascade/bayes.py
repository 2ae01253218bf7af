"""Naive Bayes in the leaves of a tree: predictions from any known values, and expected gains.

A leaf of the tree is a kind of example (a context), and a cell is a class in a leaf. Features are
assumed to be independent within a cell. Unknown features therefore drop out of the product exactly,
and the information from an acquisition is a sum over its possible values. Expected gains look one
acquisition ahead, or two where the first mainly reveals the leaf of an example.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

from ..costs import affords
from ..fit_counts import count_fit
from ..protocol.scoring import mean_and_error

N_BINS = 16
N_LEAVES = 16
# Classes differ in a feature if their means vary by more than this multiple of chance.
CHANCE = 2.0
# Pseudo-counts: POOLED of a feature's pooled variance, N_NARROWEST of the small variance NARROWEST,
# which keeps densities finite.
POOLED, NARROWEST, N_NARROWEST = 60.0, 0.01, 5.0
# Probability, in each cell, of values that its density does not expect.
UNFORESEEN = 0.01
# A split must lower the log loss on the held-out examples by this many standard errors.
SURE = 2.0
# Number of splits, those that most reduce the variance within cells, tried on held-out examples.
N_TRIED = 4
CUTS = (0.2, 0.5, 0.8)
# Features are not fully independent: powers of their densities, chosen on the held-out examples.
EVIDENCE = (1.0, 0.8, 0.6, 0.45, 0.3, 0.2)
LEAST_CHANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Bins:
    """The bins of each feature: one for each value if there are few, otherwise quantile ranges."""

    sizes: np.ndarray  # int (n_features,): number of bins
    edges: np.ndarray  # (N_BINS - 1, n_features): ascending inner edges, padded with infinity
    few: np.ndarray  # bool (n_features,): one bin for each value
    scores: np.ndarray  # (n_features, N_BINS - 1): the edges as normal scores

    @classmethod
    def of(cls, X):
        """Return the bins of the columns of X, ignoring NaN."""
        sizes, few = np.ones(X.shape[1], dtype=np.intp), np.zeros(X.shape[1], dtype=bool)
        scores = np.full((X.shape[1], N_BINS - 1), np.inf)
        edges = scores.T.copy()
        for feature, column in enumerate(X.T):
            known = np.sort(column[~np.isnan(column)])
            values = np.unique(known)
            few[feature] = values.size <= N_BINS
            if few[feature]:
                found = (values[1:] + values[:-1]) / 2
            else:
                found = np.unique(np.quantile(known, np.arange(1, N_BINS) / N_BINS))
            below = np.searchsorted(known, found) / max(known.size, 1)
            sizes[feature] += found.size
            edges[: found.size, feature] = found
            scores[feature, : found.size] = ndtri(np.clip(below, 1e-6, 1 - 1e-6))
        return cls(sizes, edges, few, scores)

    def codes(self, X):
        """Return the bin of each cell of X, -1 where it is NaN, int8 (n_samples, n_features)."""
        # Comparing with all edges at once is faster than a search for each feature.
        below = (self.edges[:, None] <= X).sum(axis=0, dtype=np.int8)
        return np.where(np.isnan(X), np.int8(-1), below)


class _Examples:
    """Training examples as bins and normal scores; estimates the densities of a leaf's cells."""

    def __init__(self, table):
        self.y, self.n_classes = table.y, table.n_classes
        self.bins = Bins.of(table.X)
        self.codes = self.bins.codes(table.X)
        self.known = (self.codes >= 0).astype(np.float64)
        counts = np.maximum(self.known.sum(axis=0), 1)
        ranks = rankdata(table.X, axis=0, nan_policy="omit")
        self.scores = np.where(self.known > 0, ndtri((ranks - 0.5) / counts), 0.0)
        weight = np.ones(len(table.y)) if table.weight is None else table.weight
        self.weight = weight / weight.mean()

    def prior(self, rows):
        """Return the smoothed weight of each class among some examples, (n_classes,), above 0."""
        return np.bincount(self.y[rows], self.weight[rows], self.n_classes) + 0.5 / self.n_classes

    def densities(self, rows):
        """Return the logarithm of each bin's probability, (n_classes, n_features, N_BINS)."""
        one = np.zeros((self.n_classes, rows.size))
        one[self.y[rows], np.arange(rows.size)] = self.weight[rows]
        counts = one @ self.known[rows]
        found = self._gaussian(one, counts, rows)
        few = np.flatnonzero(self.bins.few)
        found[:, few] = self._tabulated(counts[:, few], rows, few)
        inside = np.arange(N_BINS) < self.bins.sizes[:, None]
        even = inside / self.bins.sizes[:, None]
        return np.log(np.where(inside, (1 - UNFORESEEN) * found + UNFORESEEN * even, 1.0))

    def _gaussian(self, one, counts, rows):
        """Return bin probabilities of normal scores, with means shrunk towards the leaf's mean."""
        scores = self.scores[rows]
        n = np.maximum(counts, 1e-9)
        total = np.maximum(counts.sum(axis=0), 1e-9)
        sums = one @ scores
        centre = sums.sum(axis=0) / total
        means = np.where(counts > 0, sums / n, centre)
        within = np.maximum(one @ scores**2 - counts * means**2, 0)
        n_present = (counts > 0).sum(axis=0)
        pooled = within.sum(axis=0) + N_NARROWEST * NARROWEST
        pooled /= np.maximum(total - n_present, 1) + N_NARROWEST
        between = (counts * (means - centre) ** 2).sum(axis=0) / np.maximum(n_present - 1, 1)
        ratio = _beyond_chance(between / pooled, counts)
        means = centre + ratio * counts / (1 + ratio * counts) * (means - centre)
        own = (within + POOLED * pooled) / (counts + POOLED)
        deviations = np.sqrt(np.where(ratio > 0, own, pooled))
        below = ndtr((self.bins.scores - means[..., None]) / deviations[..., None])
        return np.diff(below, axis=2, prepend=0.0, append=1.0)

    def _tabulated(self, counts, rows, few):
        """Return, for features of few values, the values' shares, shrunk towards the leaf's."""
        shape = self.n_classes, few.size, N_BINS
        codes, weight = self.codes[np.ix_(rows, few)].astype(np.intp), self.weight[rows]
        places = (self.y[rows, None] * few.size + np.arange(few.size)) * N_BINS + codes
        seen = codes >= 0
        weights = np.broadcast_to(weight[:, None], seen.shape)[seen]
        table = np.bincount(places[seen], weights, np.prod(shape)).reshape(shape)
        sizes = self.bins.sizes[few]
        inside = np.arange(N_BINS) < sizes[:, None]
        shares = np.where(inside, table.sum(axis=0) + 0.5, 0)
        shares /= shares.sum(axis=1, keepdims=True)
        expected = np.maximum(counts[..., None] * shares, 1e-9)
        squares = ((table - expected) ** 2 / expected * inside).sum(axis=(0, 2))
        n_free = np.maximum((counts > 0).sum(axis=0) - 1, 1) * np.maximum(sizes - 1, 1)
        ratio = _beyond_chance(squares / n_free, counts)[:, None]
        return (table * ratio + shares) / (counts[..., None] * ratio + 1)


def _beyond_chance(ratio, counts):
    """Return the between-cell variance beyond chance, relative to that within, (n_features,).

    Uses the method of moments for a one-way layout with unequal `counts`, (n_classes, n_features).
    `ratio` is the ratio of mean squares; chance alone gives 1.
    """
    total = np.maximum(counts.sum(axis=0), 1e-9)
    n_present = np.maximum((counts > 0).sum(axis=0) - 1, 1)
    size = (total - (counts**2).sum(axis=0) / total) / n_present
    return np.maximum(ratio - CHANCE, 0) / np.maximum(size, 1e-9)


class NaiveBayesTree:
    """A naive Bayes tree: cells (classes in leaves) with the densities of the features in each.

    R. Kohavi. Scaling up the accuracy of naive-Bayes classifiers: a decision-tree hybrid. KDD 1996.
    Unlike there, the leaf of an example need not be known: it is inferred along with the class.
    """

    def __init__(self, bins, logs, prior, evidence):
        self.bins = bins
        self.prior = prior  # (n_leaves, n_classes): they sum to 1
        self.evidence = evidence  # the power of the densities
        self._by_bin, self._log_prior = _by_bin(logs), np.log(prior)

    @classmethod
    def fit(cls, table, seed):
        """Grow on two thirds of the examples, accept splits on the others, fit cells on all."""
        count_fit()
        examples = _Examples(table)
        leaves, evidence = _Growth(examples, seed).grown()
        rows = [np.flatnonzero(leaves == leaf) for leaf in range(leaves.max() + 1)]
        prior = np.array([examples.prior(each) for each in rows])
        logs = np.array([examples.densities(each) for each in rows])
        return cls(examples.bins, logs, prior / prior.sum(), evidence)

    @property
    def logs(self):
        """Log-probability of each bin, (n_leaves, n_classes, n_features, N_BINS)."""
        return np.ascontiguousarray(self._by_bin.T).reshape(*self.prior.shape, -1, N_BINS)

    def posterior(self, codes):
        """Return the probability of each cell given bins, (n_samples, n_leaves, n_classes)."""
        logs = _summed(codes, self._by_bin).reshape(-1, *self.prior.shape)
        logs = self._log_prior + self.evidence * logs
        found = np.exp(logs - logs.max(axis=(1, 2), keepdims=True))
        return found / found.sum(axis=(1, 2), keepdims=True)

    def predict(self, X):
        """Return class probabilities, (n_samples, n_classes), from the known cells of X."""
        return self.posterior(self.bins.codes(X)).sum(axis=1)


def known_bins(codes):
    """Return one-hot encoded bins as a sparse table, (n_samples, n_features · N_BINS)."""
    known = codes >= 0
    places = (np.arange(codes.shape[1]) * N_BINS + codes)[known]
    ends = np.concatenate([[0], known.sum(axis=1).cumsum()])
    shape = len(codes), codes.shape[1] * N_BINS
    return csr_array((np.ones(places.size), places, ends), shape=shape)


def _by_bin(logs):
    """Reshape log-densities, (..., n_features, N_BINS), to one row for each bin of a feature."""
    return np.ascontiguousarray(logs.reshape(-1, logs.shape[-2] * N_BINS).T)


def _summed(codes, by_bin):
    """Return the sum over the known bins of each example, (n_samples, n_cells)."""
    if len(codes) != 1:
        return known_bins(codes) @ by_bin
    # For a single row, adding up its bins is several times faster than building a sparse table.
    known = np.flatnonzero(codes[0] >= 0)
    return by_bin[known * N_BINS + codes[0, known]].sum(axis=0, keepdims=True)


class _Growth:
    """Grows the tree: splits leaves as long as that improves predictions of held-out labels."""

    def __init__(self, examples, seed):
        self._examples = examples
        random = np.random.RandomState(seed)
        n, d = examples.codes.shape
        aside = random.permutation(n)[: n // 3]
        self._learns = np.setdiff1d(np.arange(n), aside)
        # Each held-out example is scored twice: with all its values, and with a random subset.
        hidden = random.uniform(size=(aside.size, d)).argsort(axis=1)
        hidden = hidden >= random.randint(0, d + 1, size=(aside.size, 1))
        codes = examples.codes[aside]
        self._bins = known_bins(np.vstack([codes, np.where(hidden, np.int8(-1), codes)]))
        self._labels = np.tile(examples.y[aside], 2)
        self._weight = examples.weight[aside]
        self._fewest = max(3 * examples.n_classes, 20)
        cuts = [(f, cut) for f in range(d) for cut in self._places(f)]
        self._cuts = np.array(cuts, dtype=np.intp).reshape(-1, 2)  # feature, last bin below

    def _places(self, feature):
        """Return the last bins below the possible cuts of a feature."""
        size = self._examples.bins.sizes[feature]
        if self._examples.bins.few[feature]:
            return range(size - 1)
        return sorted({round(share * size) - 1 for share in CUTS} & set(range(size - 1)))

    def grown(self):
        """Return the leaf of each example, and the power of the densities."""
        leaves = np.zeros(len(self._examples.y), dtype=np.intp)
        rows = [self._learns]
        parts = [self._part(rows[0])]
        losses, waiting = self._losses(parts), [0]
        while waiting and len(rows) < N_LEAVES:
            leaf = waiting.pop(0)
            best = self._best_split(rows, parts, leaf, losses)
            if best is None:
                continue
            (feature, cut), (below, above), (part_below, part_above), losses = best
            leaves[(leaves == leaf) & (self._examples.codes[:, feature] > cut)] = len(rows)
            rows[leaf], parts[leaf] = below, part_below
            waiting += [leaf, len(rows)]
            rows.append(above)
            parts.append(part_above)
        by_power = [self._losses(parts, power).mean() for power in EVIDENCE]
        return leaves, EVIDENCE[int(np.argmin(by_power))]

    def _part(self, rows):
        """Return the class weights of a leaf, and its log-densities of the held-out examples."""
        return self._examples.prior(rows), self._bins @ _by_bin(self._examples.densities(rows))

    def _losses(self, parts, power=1.0):
        """Return the log loss of each held-out example, averaged over its two scorings."""
        prior = np.array([each for each, _ in parts])
        logs = np.array([power * each for _, each in parts]) + np.log(prior)[:, None]
        chances = np.exp(logs - logs.max(axis=(0, 2))[:, None]).sum(axis=0)
        own = chances[np.arange(self._labels.size), self._labels] / chances.sum(axis=1)
        return -np.log(np.maximum(own, LEAST_CHANCE)).reshape(2, -1).mean(axis=0)

    def _best_split(self, rows, parts, leaf, losses):
        """Return the cut that lowers the losses most, rows and parts of its sides, and losses."""
        here, best, most = rows[leaf], None, 0.0  # None: no cut clearly lowers the losses
        for place in self._promising(here):
            feature, cut = self._cuts[place]
            above = self._examples.codes[here, feature] > cut
            sides = here[~above], here[above]
            halves = [self._part(each) for each in sides]
            others = [each for k, each in enumerate(parts) if k != leaf]
            found = self._losses([*others, *halves])
            gain, error = mean_and_error(losses - found, self._weight)
            if gain > max(most, SURE * error):
                best, most = ((feature, cut), sides, halves, found), gain
        return best

    def _promising(self, rows):
        """Return the indices of the cuts that most reduce the variance of scores within classes."""
        scores, labels = self._examples.scores[rows], self._examples.y[rows]
        features, last = self._cuts.T
        below = (self._examples.codes[np.ix_(rows, features)] <= last).T.astype(np.float64)
        n_below = below.sum(axis=1)
        fits = np.minimum(n_below, rows.size - n_below) >= self._fewest
        below, features = below[fits], features[fits]
        gains = np.zeros((len(below), scores.shape[1]))
        for label in np.unique(labels):
            gains += _likelihood_gain(below[:, labels == label], scores[labels == label])
        # A cut always reduces the variance of its own feature: only the others count.
        gains[np.arange(len(below)), features] = 0
        # Subtract the gain that two more parameters for each class and feature have by chance.
        total = np.maximum(gains - CHANCE * self._examples.n_classes, 0).sum(axis=1)
        return np.flatnonzero(fits)[np.argsort(-total, kind="stable")[:N_TRIED]]


def _likelihood_gain(below, scores):
    """Return twice the log-likelihood ratio of two normal distributions to one, by cut."""
    # `below`, (n_cuts, n_samples), marks the lower side of each cut.
    n, squares = len(scores), scores**2
    low = below.sum(axis=1)[:, None]
    high = n - low
    sums, sums2 = below @ scores, below @ squares

    def variance(n, total, total2):
        n = np.maximum(n, 1)
        return np.maximum(total2 / n - (total / n) ** 2, 0) + NARROWEST * N_NARROWEST

    whole, whole2 = scores.sum(axis=0), squares.sum(axis=0)
    return (
        n * np.log(variance(n, whole, whole2))
        - low * np.log(variance(low, sums, sums2))
        - high * np.log(variance(high, whole - sums, whole2 - sums2))
    )


# Number of training examples whose values are the possible outcomes of a unit of several features.
N_OUTCOMES = 16
# Look-ahead considers this many units, the most informative about the leaf, and only for examples
# whose leaf has an entropy above UNSURE nats.
N_AHEAD, UNSURE = 2, 0.2
# Most numbers in memory at a time.
AT_ONCE = 2_000_000
TINY = 1e-30


class ForeseenGains:
    """The information that each unit is expected to give about the class, by a naive Bayes tree."""

    def __init__(self, tree, units, X, seed):
        self.tree, self.units = tree, units
        codes = tree.bins.codes(X)
        drawn = np.random.RandomState(seed).permutation(len(X))[:N_OUTCOMES]
        logs = tree.logs
        tables = [self._outcomes(each, codes[drawn], logs) for each in units.features]
        self._starts = np.cumsum([0, *(each.shape[2] for each in tables)])
        # (n_leaves, n_classes, n_outcomes), and with classes first: contiguous in either use.
        self._of_leaf = np.concatenate(tables, axis=2).astype(np.float32)
        self._of_class = np.ascontiguousarray(self._of_leaf.transpose(1, 0, 2))

    def _outcomes(self, features, drawn, logs):
        """Return the probability of a unit's outcomes in each cell, (n_leaves, n_classes, n)."""
        tree = self.tree
        if len(features) == 1:
            size = tree.bins.sizes[features[0]]
            found = np.exp(tree.evidence * logs[:, :, features[0], :size])
            # Half as many bins give nearly the same information in half the time.
            step = 2 if size > N_BINS // 2 else 1
            found = np.add.reduceat(found, np.arange(0, size, step), axis=2)
        else:
            columns = list(features)
            # The drawn examples represent all: each gets its probability in every cell.
            scores = _summed(drawn[:, columns], _by_bin(logs[:, :, columns]))
            scores = tree.evidence * scores.reshape(-1, *tree.prior.shape)
            found = np.exp(scores - scores.max(axis=(1, 2), keepdims=True))
            found = np.moveaxis(found / (found * tree.prior).sum(axis=(1, 2), keepdims=True), 0, 2)
        return found / found.sum(axis=2, keepdims=True)

    def rates(self, X, owned, prices, left):
        """Return the expected information per price of each unit, nats, (n_samples, n_units).

        For units that are informative about an uncertain leaf, the rate may also include the best
        unit after them: both gains for both prices, where `left`, (n_samples,), pays for both.
        """
        # Examples with the same known values share a computation: at first, that is all of them.
        codes = self.tree.bins.codes(X)
        if len(X) == 1:
            return self._rates(self.tree.posterior(codes), owned, prices, left)
        _, money = np.unique(left, return_inverse=True)
        money = money.astype(np.int32)[:, None].view(np.int8)
        state = np.ascontiguousarray(np.hstack([codes, owned.view(np.int8), money]))
        # Sorting strings of bytes is several times faster than sorting rows of numbers.
        strings = state.view(f"V{state.shape[1]}")
        _, first, where = np.unique(strings, return_index=True, return_inverse=True)
        found = np.empty((first.size, self.units.n_units))
        for rows in _parts(first.size, self._of_leaf.shape[2]):
            some = first[rows]
            cells = self.tree.posterior(codes[some])
            found[rows] = self._rates(cells, owned[some], prices[some], left[some])
        return found[where.ravel()]

    def _rates(self, cells, owned, prices, left):
        cells = cells.astype(np.float32)
        nats = self._information(cells, self._of_class)
        nats[owned] = 0
        rates = nats / prices
        unsure = np.flatnonzero(_entropy(cells.sum(axis=2)) > UNSURE)
        if not unsure.size:
            return rates
        of_leaf = self._information(cells[unsure].transpose(0, 2, 1), self._of_leaf)
        of_leaf[owned[unsure]] = 0
        top = np.argsort(-of_leaf / prices[unsure], axis=1, kind="stable")[:, :N_AHEAD]
        for unit in np.unique(top):
            rows = unsure[(top == unit).any(axis=1)]
            rows = rows[~owned[rows, unit]]
            for part in _parts(rows.size, self._of_leaf.shape[2] * N_OUTCOMES):
                some = rows[part]
                rest = left[some] - prices[some, unit]
                can = ~owned[some] & affords(rest[:, None], prices[some])
                can[:, unit] = False
                ahead = self._ahead(unit, cells[some], can, prices[some], nats[some, unit])
                rates[some, unit] = np.maximum(rates[some, unit], ahead)
        return rates

    def _information(self, cells, table):
        """Return the mutual information of each unit with the last axis of `cells`."""
        total = np.zeros((len(cells), table.shape[2]), dtype=np.float32)
        nats = np.zeros_like(total)
        for k, chances in enumerate(table):
            joint = np.ascontiguousarray(cells[:, :, k]) @ chances
            total += joint
            nats += _times_log(joint)
        nats -= _times_log(total)
        by_unit = np.add.reduceat(nats, self._starts[:-1], axis=1)
        return np.maximum(by_unit + _entropy(cells.sum(axis=1))[:, None], 0)

    def _ahead(self, unit, cells, can, prices, nats):
        """Return the information of a unit and the best one after it, per sum of their prices."""
        outcomes = self._of_leaf[:, :, self._starts[unit] : self._starts[unit + 1]]
        after = np.moveaxis(cells[..., None] * outcomes, 3, 1)
        chances = after.sum(axis=(2, 3))
        after /= np.maximum(chances, TINY)[..., None, None]
        n, n_outcomes = chances.shape
        after = after.reshape(-1, *cells.shape[1:])
        then = self._information(after, self._of_class).reshape(n, n_outcomes, -1)
        then = np.where(can[:, None], then, 0)
        best = (then / prices[:, None]).argmax(axis=2)
        gain = np.take_along_axis(then, best[..., None], 2)[..., 0]
        price = np.where(gain > 0, np.take_along_axis(prices, best, axis=1), 0)
        both = prices[:, unit] + (chances * price).sum(axis=1)
        return (nats + (chances * gain).sum(axis=1)) / both


def _times_log(shares):
    """Return shares · log(shares), 0 for 0."""
    # In one new array, as allocating takes as long as the logarithms.
    found = shares + TINY
    np.log(found, out=found)
    found *= shares
    return found


def _entropy(shares):
    return -_times_log(shares).sum(axis=1)


def _parts(n_rows, n_numbers):
    """Return slices of rows that keep at most AT_ONCE numbers in memory."""
    step = max(1, AT_ONCE // n_numbers)
    return [slice(start, start + step) for start in range(0, n_rows, step)]
