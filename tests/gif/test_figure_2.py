"""Figure 2 of Begon et al. (2017): the nodes that the smallest trees hold, on Friedman1."""

import numpy as np
import pytest

from budgetbench.datasets import synthetic
from budgetlearn.gif import GIFRegressor


# Printed are .43 and .17 of the nodes for the smallest 80 % of the trees. That is what the smallest
# 70 % hold, at both rates of the text that fill the budget: the printed 80 % is not reproduced.
@pytest.mark.parametrize(
    ("rate", "printed", "of_80_percent"), [(1e-3, 0.43, 0.58), (10**-1.5, 0.17, 0.30)]
)
def test_the_printed_shares_are_of_seven_in_ten_trees(rate, printed, of_80_percent):
    X, y = synthetic.friedman1(300, 0)
    forest = GIFRegressor(
        n_estimators=1000,
        candidate_window=None,
        learning_rate=rate,
        node_budget=59900,
        max_features="sqrt",
        random_state=0,
    ).fit(X, y)
    nodes = np.sort(forest.node_distribution_)
    share = np.cumsum(nodes) / nodes.sum()
    assert share[699] == pytest.approx(printed, abs=0.02)
    assert share[799] == pytest.approx(of_80_percent, abs=0.02)
