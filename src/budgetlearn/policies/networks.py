"""Small networks of partly known examples, and the walks that they are trained on.

PyTorch is needed for training only; predictions use NumPy.
"""

from contextlib import contextmanager
from math import sqrt

import numpy as np

from ..exceptions import extra
from ..fit_counts import count_fit

DROPOUT, LEARNING_RATE = 0.3, 1e-3
POINTS = 256  # most points of the piecewise linear code of a feature
BLOCK_ROWS = 2048  # rows evaluated at a time, which bounds the memory


class RankCode:
    """Features as their ranks in the training data, scaled to about unit spread."""

    # Ranks are robust to long tails, and the mean of each feature is 0.
    def __init__(self, X):
        self._curves = [_ranks(column) for column in X.T]

    def table(self, X):
        """Return the codes of a complete table."""
        pairs = zip(X.T, self._curves, strict=True)
        return np.column_stack([np.interp(column, *curve) for column, curve in pairs])

    def cells(self, features, values):
        """Return the codes of single values, one for each of `features`."""
        coded = np.empty(values.size)
        for feature in np.unique(features):
            mine = features == feature
            coded[mine] = np.interp(values[mine], *self._curves[feature])
        return coded


def _ranks(column):
    """Return distinct values of a column, ascending, and their codes."""
    distinct, counts = np.unique(column, return_counts=True)
    below = np.cumsum(counts) - counts / 2  # rows with the same value count half
    kept = np.unique(np.linspace(0, distinct.size - 1, POINTS).round().astype(np.intp))
    return distinct[kept], sqrt(3) * (2 * below[kept] / column.size - 1)


def forward(layers, known, mask, drop=None):
    """Return the outputs of a network, whose layers are arrays or tensors.

    `known` has the codes of known features and 0 for the others; `mask` marks the known ones.
    """
    first, by_mask, bias, *rest = layers
    out = known @ first + mask @ by_mask + bias
    for weights, bias in zip(rest[::2], rest[1::2], strict=True):
        hidden = out.clip(0)
        out = (hidden if drop is None else drop(hidden)) @ weights + bias
    return out


def evaluate(layers, known, acquired):
    """Return the outputs of a trained network, block by block."""
    parts = [slice(start, start + BLOCK_ROWS) for start in range(0, max(len(known), 1), BLOCK_ROWS)]
    outputs = [forward(layers, known[part], acquired[part].astype(float)) for part in parts]
    return np.concatenate(outputs)


@contextmanager
def one_thread(user):
    """Yield PyTorch, limited to one thread so that sums do not depend on the number of threads."""
    with extra("policies", user):
        import torch  # here, because it takes seconds and is needed for fits only
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield torch
    finally:
        torch.set_num_threads(threads)


class Training:
    """Training rows as tensors, networks with an optimiser, and their source of randomness."""

    def __init__(self, torch, coded, labels, seed):
        self.torch, self.seed, self.random = torch, seed, torch.Generator().manual_seed(seed)
        self.X = torch.as_tensor(coded, dtype=torch.float32)
        self.y = torch.as_tensor(labels, dtype=torch.int64)

    def network(self, n_hidden, n_outputs):
        """Return the layers of a network to train, with two hidden layers and random weights."""
        count_fit()
        d, h = self.X.shape[1], n_hidden
        layers = []
        for shape in [(d, h), (d, h), (h,), (h, h), (h,), (h, n_outputs), (n_outputs,)]:
            start = self.torch.zeros(shape)
            if len(shape) > 1:
                start = self.torch.randn(shape, generator=self.random) * sqrt(2 / shape[0])
            layers.append(start.requires_grad_())
        return layers

    def uniform(self, shape):
        """Draw random numbers between 0 and 1."""
        return self.torch.rand(shape, generator=self.random)

    def drop(self, hidden):
        """Apply dropout to a hidden layer."""
        return hidden * (self.uniform(hidden.shape) > DROPOUT) / (1 - DROPOUT)

    def rows(self, number):
        """Draw training rows."""
        return self.torch.randint(len(self.X), (number,), generator=self.random)

    def pretrain(self, predictor, n_steps, n_rows, most):
        """Train a predictor on random masks."""
        for _ in self.descend([predictor], n_steps):
            rows = self.rows(n_rows)
            # The number of features is uniform between 0 and `most`.
            sizes = self.torch.randint(most + 1, (n_rows, 1), generator=self.random)
            mask = (self.uniform((n_rows, self.X.shape[1])).argsort(dim=1) < sizes).float()
            self.loss(predictor, self.X[rows], mask, self.y[rows]).backward()

    def loss(self, predictor, X, mask, y):
        """Return the cross-entropy of predictions from masked examples."""
        scores = forward(predictor, X * mask, mask, self.drop)
        return self.torch.nn.functional.cross_entropy(scores, y)

    def descend(self, networks, n_steps):
        """Yield the share of completed steps before each of `n_steps` Adam steps.

        The caller computes gradients before each resumption. The learning rate falls linearly to 0.
        """
        parameters = [each for layers in networks for each in layers]
        adam = self.torch.optim.Adam(parameters, lr=LEARNING_RATE)
        for step in range(n_steps):
            done = step / n_steps
            adam.param_groups[0]["lr"] = LEARNING_RATE * (1 - done)
            adam.zero_grad()
            yield done
            adam.step()


class Walks:
    """A batch of examples that acquire features, each replaced when it has `most` of them."""

    def __init__(self, training, n_walks, most):
        self._training, self._most = training, most
        torch, self._every = training.torch, training.torch.arange(n_walks)
        self._rows = training.rows(n_walks)
        self.mask = torch.zeros((n_walks, training.X.shape[1]))
        # They start with different remaining lengths, so that a batch has walks of every length.
        self._left = torch.randint(1, most + 1, (n_walks,), generator=training.random)

    @property
    def examples(self):
        """The examples and their classes."""
        return self._training.X[self._rows], self._training.y[self._rows]

    def advance(self, chosen):
        """Acquire one feature of each example."""
        self.mask = self.mask.clone()
        self.mask[self._every, chosen] = 1.0
        self._left -= 1
        done = (self._left == 0).nonzero()[:, 0]
        self._rows[done], self.mask[done] = self._training.rows(len(done)), 0.0
        self._left[done] = self._most


def trained(layers):
    """Return the layers of a trained network as arrays."""
    return [each.detach().numpy().astype(np.float64) for each in layers]
