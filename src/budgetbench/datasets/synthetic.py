"""Data that need no network: the papers' generators, and the data sets of scikit-learn."""

import numpy as np

from budgetlearn.costs import FeatureCosts
from budgetlearn.exceptions import DatasetError

from .dataset import Table

# {price: number of features} of the 519 features of `yahoo_like` (BudgetRF, section 3).
PRICE_CLASSES = {1: 123, 5: 31, 20: 191, 50: 125, 100: 16, 150: 32, 200: 1}
MEAN_QUERY = 23.7  # documents per query: 473,134 for 19,944 queries
GRADES = (0.26, 0.36, 0.28, 0.08)  # shares of documents of relevance 0, 1, 2, 3; the others have 4
N_TOPICS = 6
_BLOCK = 1 << 15  # rows drawn at a time, to avoid a second table in memory


def gaussian_mixture(n_samples, seed, correlation=0.3, separation=0.85):
    """Draw from four Gaussians in eight dimensions; the component is the class (msB, section 4)."""
    # The formulas are missing in our copy of the paper, so this is a reconstruction: equal weights,
    # covariance correlation ** |i - j|, means ±a·(1, …, 1) and ±a·(1, 1, 1, 1, -1, -1, -1, -1) with
    # a = `separation`. The paper varies the correlation of neighbouring features (0.1, 0.3, 0.6)
    # and has 50,000 examples; with a = 0.85, the best possible accuracies are 0.89, 0.85 and 0.81.
    rng = np.random.default_rng(seed)
    place = np.arange(8)
    covariance = float(correlation) ** np.abs(place[:, None] - place)
    halves = np.where(place < 4, 1.0, -1.0)
    means = separation * np.array([np.ones(8), -np.ones(8), halves, -halves])
    y = rng.integers(4, size=n_samples)
    noise = rng.standard_normal((n_samples, 8)) @ np.linalg.cholesky(covariance).T
    return means[y] + noise, y


def friedman1(n_samples, seed, noise=1.0):
    """Draw Friedman's first function: five useful and five useless features, uniform on [0, 1]."""
    # By default the GIF paper's noise, of standard deviation 1.
    from sklearn.datasets import make_friedman1  # here, as planning does not need scikit-learn

    return make_friedman1(n_samples, n_features=10, noise=noise, random_state=seed)


def hwang_f5(n_samples, seed, noise=0.25):
    """Draw the "complicated interaction" function of Hwang et al. (1994), with unit variance."""
    # By default with their noise, of standard deviation 0.25.
    rng = np.random.default_rng(seed)
    X = rng.random((n_samples, 2))
    x1, x2 = X.T
    wave = np.exp(x1) * np.sin(13 * (x1 - 0.6) ** 2) * np.exp(-x2) * np.sin(7 * x2)
    return X, 1.9 * (1.35 + wave) + noise * rng.standard_normal(n_samples)


def hwang_simple(n_samples, seed, noise=0.25):
    """Draw the "simple interaction" function of Hwang et al. (1994), the first of their five."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_samples, 2))
    y = 10.391 * ((X[:, 0] - 0.4) * (X[:, 1] - 0.6) + 0.36)
    return X, y + noise * rng.standard_normal(n_samples)


def ringnorm(n_samples, seed):
    """Draw Breiman's Ringnorm: a wide Gaussian around a narrow one, d = 20."""
    # Class 0 has mean 0 and variance 4. Class 1 has mean a in each dimension and variance 1, with
    # a = 2/√20, which gives the error rates of the GIF paper.
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n_samples)
    narrow = (y == 1)[:, None]
    X = rng.standard_normal((n_samples, 20))
    return np.where(narrow, X + 2 / np.sqrt(20), 2 * X), y


def twonorm(n_samples, seed):
    """Draw Breiman's Twonorm: two unit Gaussians with means ±2/√20 in each of 20 dimensions."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n_samples)
    mean = np.where(y == 1, -1.0, 1.0)[:, None] * 2 / np.sqrt(20)
    return mean + rng.standard_normal((n_samples, 20)), y


def hastie(n_samples, seed):
    """Draw ten Gaussian features; class 1 is outside the sphere that contains half the mass."""
    # From example 10.2 of Hastie, Tibshirani and Friedman: in class 1 the squared radius exceeds
    # 9.34, the median of a chi-square distribution with ten degrees of freedom.
    X = np.random.default_rng(seed).standard_normal((n_samples, 10))
    return X, ((X**2).sum(axis=1) > 9.34).astype(np.intp)


def waveform(n_samples, seed, n_noise=19):
    """Draw Breiman's waveforms: noisy random blends of two of three triangles at 21 points."""
    # A further `n_noise` features are pure noise; with 19 there are 40 features as in GIF's paper.
    rng = np.random.default_rng(seed)
    place = np.arange(1, 22)
    triangles = np.array([np.maximum(6 - np.abs(place - peak), 0) for peak in (11, 15, 7)])
    first, second = np.array([[0, 1], [0, 2], [1, 2]]).T
    y = rng.integers(3, size=n_samples)
    share = rng.random((n_samples, 1))
    X = rng.standard_normal((n_samples, 21 + n_noise))
    X[:, :21] += share * triangles[first[y]] + (1 - share) * triangles[second[y]]
    return X, y


def madelon_like(n_samples, seed):
    """Draw data like Madelon: 500 features, of which 20 are informative and 50 redundant."""
    # 4400 samples and seed 42 are the recipe of the GIF paper's Madelon.
    from sklearn.datasets import make_classification

    return make_classification(
        n_samples, n_features=500, n_informative=20, n_redundant=50, random_state=seed
    )


def budgetrf_example(n_samples=1024, seed=0):
    """Return the worked example of the BudgetRF paper (figures 1 and 2), which is not random.

    The ten binary features of an example are the bits of its number, 0 to 1023, highest bit first.
    Each quarter of the numbers is one class, but 0, 256, 512 and 768 belong to the next quarter's.
    `n_samples` must be 1024, and `seed` is not used.
    """
    if n_samples != 1024:
        raise DatasetError(f"budgetrf_example needs n_samples=1024, got {n_samples}.")
    number = np.arange(1024)
    X = (number[:, None] >> np.arange(9, -1, -1)) & 1
    quarter = number // 256
    return X.astype(np.float64), np.where(number % 256 == 0, (quarter + 1) % 4, quarter)


def _bits(label):
    """Return ten features for each label k: its bits, lowest first, in k to k + 2; else 0.5."""
    X = np.full((len(label), 10), 0.5)
    for bit in range(3):
        X[np.arange(len(label)), (label + bit) % 10] = label >> bit & 1
    return X


def cube(n_samples, seed, noise=0.3):
    """Draw the cube of acquisition benchmarks: each class has its bits in other features."""
    # A row of class k has its three bits in the features k to k + 2 of twenty. The last ten
    # features are uninformative (AFABench, Aronsson et al. 2025, after the CUBE of ODIN). `noise`
    # is the standard deviation of all features.
    rng = np.random.default_rng(seed)
    y = rng.integers(8, size=n_samples)
    X = np.hstack([_bits(y), np.full((n_samples, 10), 0.5)])
    return X + noise * rng.standard_normal(X.shape), y


def cube_nm(n_samples, seed, noise=0.3, context_noise=0.1):
    """Draw a cube in one of five blocks; a context, uninformative alone, identifies the block."""
    # The context consists of five indicators, which have a shared price in the data set's price
    # list (CUBE-NM of AFABench, Aronsson et al. 2025). Greedy acquisition, which looks one feature
    # ahead, never acquires it. Each block has ten features. `noise` is their standard deviation
    # (with 0, uninformative features are one half), and `context_noise` that of the indicators.
    rng = np.random.default_rng(seed)
    y, context = rng.integers(8, size=n_samples), rng.integers(5, size=n_samples)
    blocks = np.full((n_samples, 5, 10), 0.5)
    blocks[np.arange(n_samples), context] = _bits(y)
    blocks += noise * rng.standard_normal(blocks.shape)
    shown = np.eye(5)[context] + context_noise * rng.standard_normal((n_samples, 5))
    return np.hstack([shown, blocks.reshape(n_samples, 50)]), y


def indicator(n_samples, seed):
    """Draw the index of the coin that is the label, these eight fair coins, and eleven others."""
    # Two features suffice for every row: the index and its coin. The index alone is uninformative.
    rng = np.random.default_rng(seed)
    name = rng.integers(8, size=n_samples)
    coins = rng.integers(2, size=(n_samples, 19))
    return np.column_stack([name, coins]).astype(float), coins[np.arange(n_samples), name]


def generate(name, n_samples, seed=0, **parameters):
    """Return the table of a generator, a function of this module; the schema lists the names."""
    try:
        X, y, *groups = globals()[name](n_samples=n_samples, seed=seed, **parameters)
    except TypeError as error:
        raise DatasetError(f"Generator {name}: {error}.") from error
    names = tuple(f"x{place + 1}" for place in range(X.shape[1]))
    return Table(X, y, names, groups=groups[0] if groups else None)


def read_embedded(name):
    """Return a table of scikit-learn: wine, breast_cancer, digits, iris or diabetes."""
    # Imported here: without scikit-learn, jobs that split or price data start in half the time.
    from sklearn import datasets as bundled

    # By default, scikit-learn's diabetes data are scaled.
    bunch = getattr(bundled, f"load_{name}")(**({"scaled": False} if name == "diabetes" else {}))
    names = tuple(str(feature).replace(" ", "_") for feature in bunch.feature_names)
    classes = bunch.get("target_names")
    target = bunch.target if classes is None else np.asarray(classes).astype(str)[bunch.target]
    return Table(bunch.data, target, names)


def yahoo_costs():
    """Return 519 fixed prices, in the numbers that the paper has for its seven price classes."""
    prices = np.repeat(list(PRICE_CLASSES), list(PRICE_CLASSES.values()))
    # The price of each feature is not public, so their order is random.
    return FeatureCosts(np.random.default_rng(519).permutation(prices))


def yahoo_like(n_samples, seed):
    """Draw documents with 519 features, grouped in queries, with graded relevance.

    Relevance grows with a few hidden topics of a document, two of which only matter together, and
    varies between queries. Each feature is a noisy view of one topic, between 0 and 1 like Yahoo's
    features. The noise shrinks with the price, and two topics are seen by expensive features only.
    So cheap features alone rank fairly well, and expensive ones add information.

    Return X (float32, column-major), y (relevance 0 to 4, with about the shares of Yahoo's data)
    and the query of each document: 0, 1, …, in ascending order.
    """
    rng = np.random.default_rng(seed)
    lengths = []  # of the queries: at least 1
    while sum(lengths) < n_samples:
        lengths += (1 + rng.negative_binomial(3, 3 / (MEAN_QUERY + 2), size=1024)).tolist()
    groups = np.repeat(np.arange(len(lengths)), lengths)[:n_samples]
    topics = rng.standard_normal((n_samples, N_TOPICS), dtype=np.float32)
    costs, views = yahoo_costs().costs, np.random.default_rng(700)  # the same for every seed
    seen = (views.integers(n, size=costs.size) for n in (N_TOPICS, N_TOPICS - 2))
    topic = np.where(costs >= 50, *seen)
    noise = (4 / costs**0.35 * views.uniform(0.7, 1.3, size=costs.size)).astype(np.float32)
    X = np.empty((n_samples, topic.size), np.float32, order="F")
    for start in range(0, n_samples, _BLOCK):
        rows = slice(start, min(start + _BLOCK, n_samples))
        shape = (rows.stop - rows.start, topic.size)
        view = noise * rng.standard_normal(shape, dtype=np.float32)
        view += topics[rows][:, topic]
        view /= np.sqrt(1 + noise**2)
        X[rows] = 1 / (1 + np.exp(-1.7 * view))
    first, second, third, fourth, rare, hidden = topics.T
    query = rng.standard_normal(groups[-1] + 1)[groups]
    score = first + 0.6 * second + 0.8 * third * fourth + 0.8 * np.maximum(rare, 0) + 0.6 * hidden
    score = score + 0.4 * query + 0.5 * rng.standard_normal(len(topics))
    return X, np.searchsorted(np.quantile(score, np.cumsum(GRADES)), score), groups
