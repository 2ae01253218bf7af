"""Tables that several tests of the peers fit on."""

import pytest
from sklearn.datasets import load_wine, make_friedman1


@pytest.fixture
def numbers():
    return make_friedman1(200, random_state=0)


@pytest.fixture
def classes():
    return load_wine(return_X_y=True)
