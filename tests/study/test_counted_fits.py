"""What methods say that they fitted is what they fitted: both are counted, each in its own way."""

from dataclasses import replace
from functools import cache, wraps
from pathlib import Path

import glmnet
import lightgbm
import pytest
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

from budgetbench.study.experiment import fit, run_method
from budgetbench.study.methods import build
from budgetlearn.budgetrf.feature_sets import Regrowth
from budgetlearn.budgetrf.growing import TreeSource
from budgetlearn.cascade import bayes
from budgetlearn.cascade.smooth_models import KernelFit, LinearKind
from budgetlearn.costs import FeatureCosts
from budgetlearn.files import read_yaml
from budgetlearn.fit_counts import count_fit, counting_fits, fit_counted
from budgetlearn.forests import (
    CostSensitiveRFClassifier,
    CostWeightedRFClassifier,
    RandomForestClassifier,
)
from budgetlearn.forests.random_forest import RandomForestRegressor
from budgetlearn.gif import fitting
from budgetlearn.msb import ExhaustiveSearch
from budgetlearn.parallel import task_threads, thread_map, threads_ahead
from budgetlearn.peers.astc import LinearTreeGrower
from budgetlearn.peers.ensembles import SAMMERClassifier
from budgetlearn.policies.networks import Training
from budgetlearn.tree.boosting import Boosting
from tests.auto.conftest import limit_methods

pytestmark = pytest.mark.usefixtures("quick_cascade")
METHODS = read_yaml(Path(__file__).parents[2] / "config" / "methods.yaml")
POLICY = {"n_steps": 40}
SMALLER = {"n_estimators": 5, "n_trees": [1, 5], "percents": [5, 10]}
SHARES = {"n_full_trees": 50}
STAGES = {"n_stages": 3, "cv": 2}


class Watch:
    """Counts calls of what trains; a call within another one is a part of it."""

    def __init__(self):
        self.total, self._depth = 0, 0

    def of(self, function):
        @wraps(function)
        def watched(*given, **named):
            self.total += self._depth == 0
            self._depth += 1
            try:
                return function(*given, **named)
            finally:
                self._depth -= 1

        return watched


@cache
def scikit_learn_models():
    """Return every class of scikit-learn that predicts and defines `fit` itself."""
    found = [cls for _, cls in all_estimators(["classifier", "regressor"])]
    bases = {base for cls in found for base in cls.__mro__ if issubclass(base, BaseEstimator)}
    return [cls for cls in {*found, *bases} if "fit" in vars(cls)]


@pytest.fixture
def watch(monkeypatch):
    """Count what trains at its innermost: no line of the library's own counting is used."""
    watch = Watch()

    def watched(owner, name):
        monkeypatch.setattr(owner, name, watch.of(getattr(owner, name)))

    for cls in scikit_learn_models():
        watched(cls, "fit")
    forests = CostWeightedRFClassifier, CostSensitiveRFClassifier
    for cls in (RandomForestClassifier, RandomForestRegressor, *forests):
        watched(cls, "_fit")
    watched(lightgbm, "train")
    watched(lightgbm.LGBMModel, "fit")
    watched(Boosting, "_begin")
    watched(LinearKind, "fit")
    watched(KernelFit, "__init__")
    watched(bayes._Growth, "__init__")
    watched(glmnet.LogitNet, "fit")
    watched(SAMMERClassifier, "fit")
    watched(TreeSource, "trees")
    watched(Regrowth, "_forest")
    watched(fitting, "_accept_nodes")
    watched(LinearTreeGrower, "grow")
    watched(Training, "network")
    return watch


def little(run):
    """Return a run on a few rows and columns."""

    def part(data, n_rows):
        return data[0][:n_rows, :5], data[1][:n_rows]

    return replace(
        run,
        train=part(run.train, 90),
        valid=part(run.valid, 40),
        test=part(run.test, 40),
        costs=FeatureCosts(run.costs.costs[:5]),
        choosing=run.choosing[:40],
    )


def smaller(spec):
    """Return a specification of few trees: how many models are fitted does not depend on them."""
    parameters = dict(spec.get("parameters", {}))
    parameters = {name: SMALLER.get(name, value) for name, value in parameters.items()}
    for name, value in parameters.items():
        if isinstance(value, dict) and "class" in value:
            parameters[name] = smaller(value)
    if spec["class"].endswith("NodeShares"):
        parameters |= SHARES
    if spec["class"].startswith("budgetlearn.cascade."):
        parameters |= STAGES
    return {**spec, "parameters": parameters}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_tells_how_many_models_it_fits(
    method, watch, wine_runs, regression_run, monkeypatch
):
    # Of those that `auto` compares the slow ones are counted by themselves, here and below.
    limit_methods(monkeypatch)
    run = little(regression_run if "regressor" in method else wine_runs[0])
    spec = {**smaller(METHODS[method]), "refit": True}
    if "needs" in spec:
        pytest.importorskip(spec["needs"])
        spec["parameters"] = POLICY
    spec = {key: value for key, value in spec.items() if key not in ("grid", "space")}
    fitted = []
    points = list(run_method(method, spec, run, fitted=fitted))
    assert {row["status"] for row in points} == {"ok"}
    if method == "voc":  # trains for each point that it predicts: each fit counts as one model
        watch.total += 2
    assert {row["n_fitted"] for row in points} == {watch.total}
    assert 1 <= fitted[0].n_models_fitted_ <= watch.total


def test_the_cascade_counts_folds_orders_and_stand_ins(watch, wine_runs):
    model = build(METHODS["cascade"], feature_costs=wine_runs[0].costs, random_state=0)
    fit(model, wine_runs[0])
    assert model.n_models_fitted_ == watch.total > 84


@pytest.mark.parametrize("method", ["cascade", "msb", "astc", "greedy_miser", "fmcc"])
def test_threads_change_no_count(method, wine_runs):
    run = little(wine_runs[0])
    models = [
        build(smaller(METHODS[method]), feature_costs=run.costs, random_state=0, n_jobs=threads)
        for threads in (1, None, 2)
    ]
    for model in models:
        fit(model, run)
    one, plain, two = (model.n_models_fitted_ for model in models)
    assert one == plain == two > 1


def test_a_checkpoint_changes_no_count(tmp_path, wine_runs):
    run = little(wine_runs[0])
    search = ExhaustiveSearch(DecisionTreeClassifier(), checkpoint=tmp_path / "scores")
    search.set_params(random_state=0, feature_costs=run.costs)
    fit(search, run)
    first = search.n_models_fitted_
    fit(search, run)
    assert 26 < search.n_models_fitted_ <= first  # 26 subsets; what is timed is not timed again


def test_what_counts_nothing_is_one_model_each_time_it_is_fitted(wine, wine_runs):
    with counting_fits() as outer:
        fit_counted(DummyClassifier(), wine.X, wine.y)
        fit_counted(RandomForestClassifier(n_estimators=2), wine.X, wine.y)
    assert sum(outer) == 2
    spec = {"class": "tests.study.test_experiment.Constant", "refit": True}
    assert [row["n_fitted"] for row in run_method("m", spec, wine_runs[0])] == [2]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_know_what_counts(n_jobs):
    def trained(_):
        count_fit()

    with counting_fits() as count:
        thread_map(trained, range(3), n_jobs)
        list(threads_ahead(trained, range(4), n_jobs))
        with task_threads(n_jobs) as submit:
            for one in [submit(trained, 0), submit(trained, 1)]:
                one.result()
    assert sum(count) == 9
