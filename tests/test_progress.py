"""Long fits show their progress."""

import io
import sys
import threading
import time

import pytest
from sklearn.datasets import load_wine
from sklearn.tree import DecisionTreeClassifier

from budgetlearn import (
    BudgetRFClassifier,
    CostSensitiveRFClassifier,
    CostSensitiveRFPathClassifier,
    CostWeightedRFClassifier,
    ExhaustiveSearch,
    FilterForestClassifier,
    FMCCClassifier,
    GIFClassifier,
    GreedyMiserClassifier,
    LightGBMCostClassifier,
    ModelScheduleSearch,
    RandomForestClassifier,
    ScheduleCascadeClassifier,
    parallel,
)

SMALL = {"cost_weights": (1, 0), "n_trees": (2,)}


@pytest.fixture
def bars(monkeypatch):
    """The progress bars of a terminal, all shown: (unit, total, progress)."""
    made = []

    class Bar(parallel.Bar):
        def __init__(self, *arguments, **named):
            super().__init__(*arguments, **named | {"disable": False, "file": io.StringIO()})
            made.append(self)

    monkeypatch.setattr(parallel, "Bar", Bar)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    return made


def test_a_bar_starts_no_thread():
    # A process forked while another thread holds the lock of the bars would wait forever.
    before = threading.enumerate()
    with parallel.Bar(total=3, file=io.StringIO()) as bar:
        bar.update()
        assert threading.enumerate() == before


@pytest.mark.parametrize(
    ("model", "unit", "n"),
    [
        (ModelScheduleSearch(DecisionTreeClassifier(), ("cost",)), " models", 4),
        (ModelScheduleSearch(DecisionTreeClassifier(), refit=True), " models to refit", None),
        (ExhaustiveSearch(DecisionTreeClassifier()), " models", None),
        (BudgetRFClassifier(n_estimators=3), " trees", 3),
        (RandomForestClassifier(n_estimators=3), " trees", 3),
        (CostSensitiveRFClassifier(n_estimators=3), " trees", 3),
        (CostSensitiveRFPathClassifier(n_estimators=2, cost_weights=[0, 1]), " forests", 2),
        (CostWeightedRFClassifier(n_estimators=3), " trees", 3),
        (GIFClassifier(60, n_estimators=5), " nodes", None),
        (FMCCClassifier(), " scores", 3),
        (ScheduleCascadeClassifier(estimators="forest", orders=[[[0], [0, 1]]]), " models", 2),
        (LightGBMCostClassifier(**SMALL), " models", 2),
        (GreedyMiserClassifier(**SMALL), " models", 2),
        (FilterForestClassifier(n_estimators=2, n_selected=[1, 5]), " forests", 2),
    ],
    ids=lambda value: type(value).__name__,
)
def test_fit_shows_how_far_it_is(bars, model, unit, n):
    X, y = load_wine(return_X_y=True)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    model.fit(X[:, :5], y)
    shown = [bar for bar in bars if bar.unit == unit]
    assert shown
    if n is not None:
        assert n in [bar.n for bar in shown]


def test_a_kernel_is_watched_from_another_thread(bars):
    came = [0]
    with parallel.watched(lambda: came[0], "nodes", 10):
        came[0] = 7
        time.sleep(1.2)
    assert (bars[0].n, bars[0].total) == (7, 10)


def test_nothing_is_shown_where_there_is_no_terminal(capfd):
    with parallel.watched(lambda: 1 / 0, "nodes", 10):
        time.sleep(0.6)
    assert list(parallel.progress([1, 2], "items")) == [1, 2]
    assert capfd.readouterr() == ("", "")
