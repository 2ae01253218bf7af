"""The smooth mean: follows a line, and knows its limits."""

import numpy as np

from budgetbench.analysis.areas import lowess_mean


def test_lowess_follows_a_line_and_knows_its_limits():
    x = np.linspace(0, 1, 40)
    grid, mean = lowess_mean(x, 0.3 + 0.5 * x)
    np.testing.assert_allclose(mean, 0.3 + 0.5 * grid, atol=1e-9)
    # Two fifths of the points, the last of them with weight 0, are the neighbourhood of the first.
    starts = [lowess_mean(x, np.arange(40) >= first)[1][0] for first in (15, 14)]
    assert abs(starts[0]) < 1e-9 < 1e-6 < abs(starts[1])
    assert lowess_mean(x[:19], x[:19]) is None
    assert lowess_mean(np.repeat([0.1, 0.2, 0.3, 0.4], 10), np.ones(40)) is None
    tied = lowess_mean(np.repeat([0.0, 0.1, 0.2, 0.3, 0.4], 10), np.ones(50))
    assert tied is None or np.isfinite(tied[1]).all()
