"""Probabilities from scores, against Python's own exponential."""

import math

import numpy as np
from scipy.special import softmax as expected_softmax

from budgetlearn.tree.shares import softmax


def test_scores_become_shares():
    scores = np.random.default_rng(0).normal(scale=300, size=(40, 3))
    before = scores.copy()
    np.testing.assert_allclose(softmax(scores), expected_softmax(scores, axis=1), atol=1e-14)
    np.testing.assert_array_equal(scores, before)
    np.testing.assert_array_equal(softmax(scores.T), softmax(scores.T.copy()))


def test_the_last_bit_is_that_of_the_c_library():
    # NumPy's is another one on processors with AVX-512, for one argument in twenty.
    scores = np.random.default_rng(0).normal(size=(300, 3))
    for row, found in zip(scores, softmax(scores), strict=True):
        first, second, third = (math.exp(score - max(row)) for score in row)
        total = first + second + third  # from Python 3.12, sum() corrects its rounding
        assert found.tolist() == [first / total, second / total, third / total]
