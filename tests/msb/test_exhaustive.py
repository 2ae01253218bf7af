"""Exhaustive search: nothing beats it, nothing is lost, nothing foreign is taken over."""

import importlib.util
import linecache
import pickle
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import f1_score, make_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from budgetlearn.costs import FeatureCosts, random_costs
from budgetlearn.msb import ExhaustiveSearch, ModelScheduleSearch
from budgetlearn.msb import exhaustive as module
from budgetlearn.msb.exhaustive import CheckpointError, duration, fingerprint, variables_of
from tests.looping import check_conventions


@pytest.mark.parametrize(
    "estimator", [ExhaustiveSearch(DecisionTreeClassifier(max_depth=3))], ids=type
)
def test_scikit_learn_conventions(estimator):
    check_conventions(estimator)


@pytest.fixture(scope="module")
def data():
    X, y = load_wine(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(y))
    X = X[:, [0, 1, 3, 4, 6, 9]]
    return X[order[:100]], y[order[:100]], X[order[100:]], y[order[100:]]


COSTS = random_costs(6, 2).costs


def search(**changes):
    parameters = {"feature_costs": COSTS, "random_state": 1, **changes}
    return ExhaustiveSearch(DecisionTreeClassifier(max_depth=3), **parameters)


def test_every_subset_is_scored_and_priced(data):
    fitted = search().fit(*data)
    subsets = [variables_of(code) for code in fitted.subsets_]
    assert len(set(subsets)) == 2**6 - 1 - 6
    assert min(map(len, subsets)) == 2
    costs = FeatureCosts(COSTS)
    np.testing.assert_allclose(fitted.subset_costs_, [costs.subset(s) for s in subsets])
    for entry in range(fitted.subsets_.size):
        best = fitted.schedule_.select(fitted.subset_costs_[entry])[1]
        assert best >= fitted.subset_scores_[entry]


def test_schedule_scores_are_those_of_its_models(data):
    fitted = search().fit(*data)
    scores = [np.mean(predicted == data[3]) for predicted in fitted.staged_predict(data[2])]
    assert scores == fitted.schedule_.scores.tolist()
    assert fitted.acquisition_cost(data[2])[0] == fitted.schedule_.costs[-1]


@pytest.mark.parametrize("groups", [None, [0, 0, 1, 1, -1, -1]])
def test_no_schedule_of_sequences_beats_it(data, groups):
    costs = FeatureCosts(COSTS, groups, None if groups is None else [40, 60])
    engine = RandomForestClassifier(5)
    sequences = ("importance", "cost", "sampling", "l1", "uniform")
    msb = ModelScheduleSearch(engine, sequences, feature_costs=costs, random_state=4).fit(*data)
    best = ExhaustiveSearch(engine, feature_costs=costs, random_state=4).fit(*data)
    for cost, score in zip(msb.schedule_.costs, msb.schedule_.scores, strict=True):
        assert best.schedule_.select(cost)[1] >= score
    visited = {m.variables: m.score for models in msb.sequences_.values() for m in models}
    scores = dict(zip(map(variables_of, best.subsets_), best.subset_scores_, strict=True))
    assert visited == {variables: scores[variables] for variables in visited}


def test_single_variables_can_be_models(data):
    assert search(min_variables=1).fit(*data).subsets_.size == 63
    assert search(min_variables=9).fit(*data).schedule_.variables == (tuple(range(6)),)


def test_n_jobs_does_not_matter(data):
    one, two = (search(n_jobs=n).fit(*data) for n in (1, 2))
    assert one.schedule_.variables == two.schedule_.variables
    np.testing.assert_array_equal(one.subset_scores_, two.subset_scores_)
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(again.predict(data[2]), two.predict(data[2]))


class Power(DecisionTreeClassifier):
    """A tree that counts its fits, and fails when the power goes."""

    fits, supply = 0, np.inf

    def fit(self, X, y):
        if Power.fits >= Power.supply:
            raise KeyboardInterrupt
        Power.fits += 1
        return super().fit(X, y)


def test_an_interrupted_search_goes_on_where_it_stopped(data, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 8)
    path = tmp_path / "folder" / "scores.csv"
    powered = search(checkpoint=path).set_params(estimator=Power(max_depth=3))
    monkeypatch.setattr(Power, "supply", 30)
    with pytest.raises(KeyboardInterrupt):
        powered.fit(*data)
    with path.open("ab") as file:
        file.write(b"17,0.9")  # a line that the interruption cut short
    monkeypatch.setattr(Power, "fits", 0)
    monkeypatch.setattr(Power, "supply", np.inf)
    resumed = powered.fit(*data)
    trial, schedule = 1, len(resumed.schedule_)
    assert Power.fits == trial + (57 - 3 * 8) + schedule
    assert resumed.resumed_seconds_ > 0
    fresh = search().set_params(estimator=Power(max_depth=3)).fit(*data)
    np.testing.assert_array_equal(resumed.subset_scores_, fresh.subset_scores_)
    assert resumed.schedule_.variables == fresh.schedule_.variables
    lines = path.read_text().splitlines()[2:]
    assert len(lines) == 57
    assert all(len(line.split(",")) == 3 for line in lines)  # the line cut short is gone


def test_a_finished_file_serves_other_prices(data, tmp_path, monkeypatch):
    data = (data[0], data[1] == 1, data[2], data[3] == 1)
    for scoring in (None, "roc_auc"):  # the latter is computed by our own function
        path = tmp_path / f"{scoring}.csv"
        powered = search(checkpoint=path, scoring=scoring).set_params(estimator=Power(max_depth=3))
        powered.fit(*data)
        monkeypatch.setattr(Power, "fits", 0)
        other = powered.set_params(feature_costs=COSTS[::-1]).fit(*data)
        assert Power.fits == len(other.schedule_)
        fresh = search(feature_costs=COSTS[::-1], scoring=scoring)
        fresh = fresh.set_params(estimator=Power(max_depth=3)).fit(*data)
        assert other.schedule_.variables == fresh.schedule_.variables


@pytest.mark.parametrize(
    "changes",
    [
        {"random_state": 2},
        {"estimator": DecisionTreeClassifier(max_depth=2)},
        {"estimator": RandomForestClassifier(3, max_depth=3)},
    ],
)
def test_a_foreign_file_is_refused(data, tmp_path, changes):
    path = tmp_path / "scores.csv"
    search(checkpoint=path).fit(*data)
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match="does not hold scores of these data"):
        search(checkpoint=path).set_params(**changes).fit(*data)
    other = data[0].copy()
    other[0, 0] += 1
    with pytest.raises(CheckpointError, match="delete it"):
        search(checkpoint=path).fit(other, *data[1:])
    assert path.read_bytes() == before


def written_scoring(path, sign):
    """Return a scoring function of one's own, as a new process reads it."""
    path.write_text(f"def own(model, X, y):\n    return {sign}(model.predict(X) == y).mean()\n")
    name = f"scoring_{len(list(path.parent.iterdir()))}"
    spec = importlib.util.spec_from_file_location(name, path)
    spec.loader.exec_module(script := importlib.util.module_from_spec(spec))
    linecache.checkcache(str(path))
    return script.own


def test_a_scoring_function_is_known_by_its_source(data, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    path, script = tmp_path / "scores.csv", tmp_path / "own.py"
    first = written_scoring(script, "")
    search(checkpoint=path, scoring=first).fit(*data)
    again = written_scoring(script, "")
    assert again is not first  # at another address, as in another process
    resumed = search(checkpoint=path, scoring=again).fit(*data)
    assert resumed.resumed_seconds_ > 0
    with pytest.raises(CheckpointError, match="does not hold scores"):
        search(checkpoint=path, scoring=written_scoring(script, "2 * ")).fit(*data)


def test_a_scorer_is_known_by_its_function_and_what_that_is_given(data, tmp_path):
    X, y = data[:2]

    def key(sign="", function=None, **given):
        function = function or written_scoring(tmp_path / "own.py", sign)
        return fingerprint(GaussianNB(), 0, [X, y], make_scorer(function, **given))

    assert key() == key()
    assert key(function=f1_score, average="macro") == key(function=f1_score, average="macro")
    others = [
        {"sign": "2 * "},
        {"greater_is_better": False},
        {"response_method": "predict_proba"},
        {"beta": 2},
        {"function": f1_score, "average": "macro"},
        {"function": f1_score, "average": "micro"},
        {"function": partial(f1_score, average="macro")},
    ]
    assert len({key(), *(key(**each) for each in others)}) == len(others) + 1


def test_arrays_of_an_engine_count_in_full(data, tmp_path):
    path, priors = tmp_path / "scores.csv", np.full(3, 1 / 3)
    prior = search(checkpoint=path).set_params(estimator=GaussianNB(priors=priors)).fit(*data)
    prior.fit(*data)
    others = priors + np.array([1e-9, -1e-9, 0])
    with pytest.raises(CheckpointError, match="does not hold scores"):
        prior.set_params(estimator=GaussianNB(priors=others)).fit(*data)


def test_a_file_of_another_kind_is_refused(data, tmp_path):
    path = tmp_path / "prices.csv"
    path.write_bytes(b"feature,cost\nalcohol,\xff3")
    with pytest.raises(CheckpointError, match=r"prices\.csv"):
        search(checkpoint=path).fit(*data)


def test_scores_that_do_not_come_out_again_are_refused(data, tmp_path):
    path = tmp_path / "scores.csv"
    search(checkpoint=path).fit(*data)
    lines = path.read_text().splitlines()
    for lines[-1] in ("63,1.25,0.1", "64,1.25,0.1", "63,1.25"):  # there are 63 subsets
        path.write_text("\n".join(lines) + "\n")
        wrong = "fitted again" if lines[-1] == "63,1.25,0.1" else f"has a line '{lines[-1]}'"
        with pytest.raises(CheckpointError, match=wrong):
            search(checkpoint=path).fit(*data)


def test_too_many_variables_are_refused_with_the_time_it_would_take():
    X, y = make_classification(60, 20, random_state=0)
    with pytest.raises(ValueError, match=r"20 variables fits 1,048,575 models; .* takes"):
        search(feature_costs=None).fit(X, y)
    with pytest.raises(ValueError, match="max_variables must be an integer >= 1"):
        search(feature_costs=None, max_variables=0).fit(X, y)
    with pytest.raises(ValueError, match="checkpoint must be a path or None, got 3"):
        search(feature_costs=None, checkpoint=3, max_variables=20).fit(X, y)
    X, y = make_classification(30, 300, random_state=0)
    with pytest.raises(ValueError, match=r"fits 2\.0e\+90 models; .* years"):
        search(feature_costs=None).fit(X, y)


@pytest.mark.parametrize(("n_jobs", "time"), [(1, "12 days"), (2, r"6\.1 days")])
def test_the_time_it_would_take_is_shared_by_the_threads(monkeypatch, n_jobs, time):
    monkeypatch.setattr(ExhaustiveSearch, "_trial", lambda self, data: (10, 1.0))
    X, y = make_classification(60, 20, random_state=0)
    with pytest.raises(ValueError, match=f"that takes {time} with n_jobs={n_jobs}"):
        search(feature_costs=None, n_jobs=n_jobs).fit(X, y)


def test_time_is_told_before_the_start(data, capsys):
    search(verbose=True).fit(*data)
    out, err = capsys.readouterr()
    assert "57 models to fit, about" in out
    assert "57/57" in err


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.02, "0.02 s"),
        (75, "75 s"),
        (2400, "40 min"),
        (3 * 86400, "3 days"),
        (1e12, "31,688 years"),
    ],
)
def test_duration_in_words(seconds, text):
    assert duration(seconds) == text
