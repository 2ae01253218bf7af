"""The web server that the tests of fetching ask."""

import pytest

from tests.datasets.sources import Server


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr("budgetbench.datasets.fetching.FIRST_WAIT", 0.01)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("BUDGETLEARN_DATA", raising=False)
    running = Server()
    yield running
    running.close()
