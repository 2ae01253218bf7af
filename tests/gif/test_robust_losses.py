"""Huber's and the pinball loss: against slow twins, beside wild targets, and as intervals."""

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from budgetbench.datasets import load_dataset
from budgetlearn import GIFRegressor
from budgetlearn.gif.estimators import Huber, Quantile
from budgetlearn.validation import ParameterError
from tests.gif.reference import Grown


class SlowHuber:
    """Huber's loss of predictions `F`; a weight minimises the parabola above the loss."""

    def __init__(self, targets, intercept, mass):
        self.targets, self.mass = targets, mass
        self.F = np.tile(intercept, (len(targets), 1))
        distance = np.sort(np.abs(targets - intercept), axis=0)
        self.delta = distance[len(targets) * 9 // 10 - 1]  # of a multiple of ten

    def weight(self, rows):
        cut = np.clip(self.targets[rows] - self.F[rows], -self.delta, self.delta)
        return (self.mass[rows, None] * cut).sum(axis=0) / self.mass[rows].sum()

    def losses(self, F, rows):
        distance = np.abs(self.targets[rows] - F)
        inside = np.minimum(distance, self.delta)
        return (inside * (2 * distance - inside)).sum(axis=1) * self.mass[rows]

    def fall(self, rows, weight):
        before = self.losses(self.F[rows], rows)
        return (before - self.losses(self.F[rows] + weight, rows)).sum()

    def gap(self, rows):
        return (self.weight(rows) ** 2).sum() * self.mass[rows].sum()


class SlowPinball(SlowHuber):
    """The pinball loss; a weight is the least residual that has the quantile below or at it."""

    quantile = 0.3

    def weight(self, rows):
        residuals = self.targets[rows] - self.F[rows]
        return np.array([self._quantile(column, self.mass[rows]) for column in residuals.T])

    def _quantile(self, values, mass):
        order = np.argsort(values, kind="stable")
        reached = np.cumsum(mass[order]) >= self.quantile * mass.sum() * (1 - 1e-12)
        return values[order][reached.argmax()]

    def losses(self, F, rows):
        below = self.targets[rows] - F
        loss = np.maximum(self.quantile * below, (self.quantile - 1) * below)
        return loss.sum(axis=1) * self.mass[rows]

    def gap(self, rows):
        return self.fall(rows, self.weight(rows))


class Weighted:
    """A loss whose examples have weights."""

    def __init__(self, loss, mass):
        self.loss, self.mass = loss, mass

    def start(self, targets):
        return self.loss.start(targets, self.mass)


def case(kind, n_outputs=1, window=1, mass=None, n=60):
    """Return a forest that the kernels have grown on heavy tails, and the slow loss."""
    random = np.random.default_rng(n_outputs)
    X = random.normal(size=(n, 4))
    targets = np.round(X[:, :n_outputs] + 0.3 * random.standard_cauchy((n, n_outputs)), 2)
    loss = Huber() if kind is SlowHuber else Quantile(SlowPinball.quantile)
    options = {"n_trees": 8, "budget": 120, "rate": 0.3, "window": window}
    grown = Grown(X, targets, loss if mass is None else Weighted(loss, mass), **options)
    return grown, kind(targets, grown.intercept, np.ones(n) if mass is None else mass)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("kind", [SlowHuber, SlowPinball])
def test_nodes_get_their_optimal_weight_and_lower_the_loss(kind, n_outputs):
    grown, slow = case(kind, n_outputs)
    assert len(grown.weights) > 80
    for step, (node, _) in enumerate(grown.replay(slow)):
        rows, weight = grown.rows(node), slow.weight(grown.rows(node))
        np.testing.assert_allclose(grown.weights[step], 0.3 * weight, rtol=1e-7, atol=1e-9)
        # Never less than the gap by which candidates are compared.
        assert slow.fall(rows, weight) >= slow.gap(rows) - 1e-9
        assert slow.fall(rows, 0.3 * weight) > -1e-9


@pytest.mark.parametrize("kind", [SlowHuber, SlowPinball])
def test_all_candidates_accepts_the_largest_gap(kind):
    grown, slow = case(kind, window=None)
    for node, candidates in grown.replay(slow):
        largest = max(slow.gap(grown.rows(candidate)) for candidate in candidates)
        assert slow.gap(grown.rows(node)) >= largest - 1e-9 * (1 + largest)


def test_weights_move_the_quantile_of_a_node():
    counts = np.random.default_rng(4).integers(1, 4, 60)
    # Estimators divide weights by their mean, and round them to single precision.
    grown, slow = case(SlowPinball, mass=(counts / counts.mean()).astype(np.float32).astype(float))
    slow.mass = counts
    repeated = np.repeat(slow.targets, counts)
    assert grown.intercept == np.quantile(repeated, SlowPinball.quantile, method="inverted_cdf")
    for step, (node, _) in enumerate(grown.replay(slow)):
        weight = slow.weight(grown.rows(node))
        np.testing.assert_allclose(grown.weights[step], 0.3 * weight, rtol=1e-7, atol=1e-9)


def friedman(seed, n=600):
    random = np.random.default_rng(seed)
    X = random.uniform(size=(n, 5))
    signal = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return X, signal + 10 * X[:, 3] + 5 * X[:, 4] + random.normal(size=n)


ROBUST = {"n_estimators": 100, "learning_rate": 0.1, "max_features": None, "random_state": 0}


@pytest.mark.parametrize("loss", ["huber", "quantile"])
def test_one_wild_target_moves_the_median_error_by_less_than_5_percent(loss):
    X, y = friedman(0)
    wild = y.copy()
    wild[3] = 1e9

    def median_error(targets, loss):
        errors = []
        for seed in range(5):  # splits are drawn: the mean of a few forests
            model = GIFRegressor(2000, loss=loss, **ROBUST | {"random_state": seed})
            predicted = model.fit(X[:400], targets[:400]).predict(X[400:])
            errors.append(np.median(np.abs(predicted - y[400:])))
        return np.mean(errors)

    assert median_error(wild, loss) < 1.05 * median_error(y, loss)
    assert median_error(wild, "squared") > 1e3


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_quantile_has_its_share_below(share):
    X, y = friedman(1, 1500)
    model = GIFRegressor(400, loss="quantile", quantile=share, **ROBUST).fit(X[:1000], y[:1000])
    assert np.mean(y[:1000] <= model.predict(X[:1000])) == pytest.approx(share, abs=0.03)
    assert np.mean(y[1000:] <= model.predict(X[1000:])) == pytest.approx(share, abs=0.07)


def test_two_quantiles_are_an_interval_on_abalone(tmp_path, data_dir):
    data = load_dataset("abalone", folder=tmp_path, data_dir=data_dir)
    X, X_test, y, y_test = train_test_split(data.X, data.y, test_size=0.3, random_state=0)
    low, high = (
        GIFRegressor(1000, loss="quantile", quantile=share, **ROBUST).fit(X, y).predict(X_test)
        for share in (0.1, 0.9)
    )
    assert np.mean((low <= y_test) & (y_test <= high)) == pytest.approx(0.8, abs=0.04)
    # Narrower than the same interval without looking.
    assert (high - low).mean() < 0.7 * np.subtract(*np.quantile(y_test, [0.9, 0.1]))


@pytest.mark.parametrize("loss", ["huber", "quantile"])
def test_a_constant_and_a_rare_other_value_are_learned(loss):
    X = np.arange(40.0)[:, None]
    for y in (np.full(40, 3.0), np.where(X[:, 0] == 7, 5.0, 3.0)):
        model = GIFRegressor(200, loss=loss, **ROBUST | {"n_estimators": 20})
        predicted = model.fit(X, y).predict(X)
        assert np.median(predicted) == pytest.approx(3, abs=0.01)
        assert np.isfinite(predicted).all()


@pytest.mark.parametrize("loss", ["huber", "quantile"])
def test_early_stopping_and_passes_work_with_every_loss(loss):
    X, y = friedman(2, 300)
    valid = X[200:], y[200:]
    stopped = GIFRegressor(1500, loss=loss, early_stopping=True, **ROBUST)
    assert 0 < stopped.fit(X[:200], y[:200], *valid).n_nodes_ <= 1500
    errors = [
        np.abs(GIFRegressor(300, loss=loss, joint_fit=n, **ROBUST).fit(X, y).predict(X) - y).mean()
        for n in (0, 5)
    ]
    assert errors[1] < errors[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"loss": "huber", "joint_fit": "ridge"}, "set loss='squared', got loss='huber'"),
        ({"loss": "quantile", "split_on": "residuals"}, "set loss='squared', got loss='quantile'"),
        ({"loss": "quantile", "quantile": 1}, "quantile must be a number > 0 and < 1"),
        ({"loss": "pinball"}, "loss must be one of 'squared', 'huber', 'quantile'"),
    ],
)
def test_what_does_not_go_together_is_refused(options, words):
    X, y = friedman(0, 30)
    with pytest.raises(ParameterError, match=words):
        GIFRegressor(20, n_estimators=5, **options).fit(X, y)
