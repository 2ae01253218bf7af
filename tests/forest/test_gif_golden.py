"""Small fits against numbers kept from earlier versions: the paper's algorithm stays the same."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_friedman1

from budgetlearn.forest import GIFClassifier, GIFRegressor

# By loss and window: nodes, sum of the tested features, and what is said of the first example.
KEPT = {
    ("regression", 1): (300, 569, [16.043595285449282, 13.621107461637145, 16.912712251969744]),
    ("regression", 10): (300, 677, [15.59222752379602, 13.243553910130364, 17.31209609001964]),
    ("regression", None): (300, 752, [14.931374591180841, 12.673369712747697, 18.0268749131055]),
    ("refit", 1): (300, 585, [16.391474099243627, -0.07390859768679192]),
    ("squared", 1): (300, 399, [0.23409573290279548, 0.434295593865919, 0.33160867323128557]),
    ("squared", 10): (300, 390, [0.2858662661759953, 0.40005179094025894, 0.31408194288374575]),
    ("squared", None): (300, 410, [0.20830176515594132, 0.3831577967796079, 0.4085404380644508]),
    ("trimmed_exponential", 1): (
        300,
        399,
        [0.11234046702843681, 0.39549228163765693, 0.4921672513339062],
    ),
    ("trimmed_exponential", 10): (
        300,
        423,
        [0.13799467226595175, 0.3931872923603656, 0.46881803537368266],
    ),
    ("trimmed_exponential", None): (
        300,
        488,
        [0.09471554650552462, 0.372317062176613, 0.5329673913178624],
    ),
    ("exponential", 1): (
        300,
        399,
        [3.986307446672308e-07, 0.25900501619100014, 0.7409945851782552],
    ),
    ("exponential", 10): (
        300,
        430,
        [5.278794773812438e-08, 0.22521336678580903, 0.7747865804262433],
    ),
    ("exponential", None): (
        300,
        481,
        [5.159462323507321e-05, 0.0029553782239859177, 0.9969930271527789],
    ),
}
OPTIONS = {"node_budget": 300, "n_estimators": 40, "learning_rate": 0.1, "random_state": 1}


def fitted(loss, window):
    if loss in ("regression", "refit"):
        X, y = make_friedman1(120, noise=1.0, random_state=7)
        refit = 2 if loss == "refit" else 0
        y = np.column_stack([y, np.cos(y)]) if refit else y
        model = GIFRegressor(candidate_window=window, refit=refit, **OPTIONS).fit(X, y)
        return model, model.predict(X[:3]).ravel()
    X, y = make_classification(150, 6, n_informative=4, n_classes=3, flip_y=0.1, random_state=7)
    model = GIFClassifier(candidate_window=window, loss=loss, **OPTIONS).fit(X, y)
    return model, model.predict_proba(X[:3]).ravel()


@pytest.mark.parametrize(("loss", "window"), KEPT)
def test_fits_as_before(loss, window):
    n_nodes, tested, first = KEPT[loss, window]
    model, output = fitted(loss, window)
    assert model.n_nodes_ == n_nodes
    assert sum(tree.feature[tree.feature >= 0].sum() for tree in model.trees_) == tested
    # Other libraries of mathematics may differ in the last digits.
    np.testing.assert_allclose(output[: len(first)], first, rtol=1e-10)
