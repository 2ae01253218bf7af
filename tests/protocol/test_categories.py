"""Columns of words: coded in the order of their targets, and words again where people see them."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from budgetlearn import (
    AutoBudgetClassifier,
    BudgetRFClassifier,
    BudgetRFRegressor,
    FreeConstantClassifier,
    MissingValueError,
    ModelScheduleSearch,
    ScheduleCascadeClassifier,
)
from budgetlearn.exceptions import BudgetlearnWarning
from budgetlearn.protocol.checked_data import target_order

FOREST = {"n_estimators": 5, "random_state": 0}
RANDOM = np.random.default_rng(3)
WORDS = RANDOM.permutation(np.repeat(list("abcdef"), 30))
# The share of ones, by word: no threshold on codes in the order of the alphabet parts it well.
SHARES = dict(zip("abcdef", (0.9, 0.1, 0.8, 0.3, 0.7, 0.2), strict=True))
Y = (RANDOM.random(180) < [SHARES[word] for word in WORDS]).astype(int)
TABLE = pd.DataFrame({"size": RANDOM.normal(size=180), "kind": pd.Categorical(WORDS)})


def fitted(table=TABLE, y=Y, **options):
    return BudgetRFClassifier(**FOREST, **options).fit(table, y)


def ordered(places, targets, weight, n_classes, n_words=None):
    ranks = np.arange(n_words or places.max() + 1)
    weight = np.ones(places.size) if weight is None else weight
    return target_order(places, targets, weight, n_classes, ranks)


def squares(targets, left):
    """Return the squared differences from the means of two sides."""
    return sum(((side - side.mean()) ** 2).sum() for side in (targets[left], targets[~left]))


@pytest.mark.parametrize("n_classes", [2, None])
def test_a_beginning_of_the_order_is_the_best_of_all_parts(n_classes):
    places = np.repeat(np.arange(6), 20)
    targets = RANDOM.integers(0, 2, 120) if n_classes else RANDOM.normal(size=120) ** 3
    order = ordered(places, targets, None, n_classes)
    beginnings = min(squares(targets, np.isin(places, order[:k])) for k in range(1, 6))
    subsets = (each for k in range(1, 6) for each in combinations(range(6), k))
    assert beginnings == pytest.approx(min(squares(targets, np.isin(places, s)) for s in subsets))


def test_of_several_classes_neighbours_are_alike():
    places = np.repeat(np.arange(6), 60)
    # Words 0 and 3, 1 and 4, 2 and 5 have the same classes.
    targets = np.where(RANDOM.random(360) < 0.8, places % 3, RANDOM.integers(0, 3, 360))
    order = ordered(places, targets, None, 3) % 3
    assert (order[::2] == order[1::2]).all()


def test_weights_count_and_their_unit_does_not():
    places, targets = np.array([0, 0, 1, 1] * 9), np.array([0, 1, 1, 0] * 9)
    heavy = np.where((places == 0) == (targets == 1), 3.0, 1.0)
    assert ordered(places, targets, heavy, 2).tolist() == [1, 0]
    assert ordered(places, targets, 4 - heavy, 2).tolist() == [0, 1]


def test_rare_words_stay_in_the_middle():
    places, targets = np.array([0] * 50 + [1] * 50 + [2]), np.array([0] * 40 + [1] * 60 + [0])
    assert ordered(places, targets, None, 2).tolist() == [0, 2, 1]


def test_words_that_are_alike_keep_their_order():
    places = np.tile(np.arange(7), 10)
    ranks = np.array([3, 0, 6, 1, 2, 5, 4])  # where they were given, not where codes have them
    equals = target_order(places, np.repeat([0, 1], 35), np.ones(70), 2, ranks)
    assert ranks[equals].tolist() == list(range(7))
    assert ordered(places, np.repeat([0, 1], 35), None, 2).tolist() == list(range(7))


def test_words_count_as_their_codes():
    model = fitted()
    words = model.categories_["kind"].tolist()
    assert sorted(words) == list("abcdef")
    shares = [Y[word == WORDS].mean() for word in words]
    assert shares == sorted(shares)
    coded = TABLE.assign(kind=[float(words.index(word)) for word in WORDS])
    probabilities = model.predict_proba(TABLE)
    assert np.array_equal(probabilities, fitted(coded).predict_proba(coded))
    # However the words come: their place in the declared categories says nothing.
    other = TABLE.assign(kind=pd.Categorical(WORDS, list("fedcba")))
    for same in (other, TABLE.astype({"kind": object}), TABLE.to_numpy()):
        assert np.array_equal(model.predict_proba(same), probabilities)
    assert not fitted(coded).categories_


def test_a_given_order_stays_without_words_that_no_row_has():
    kind = pd.Categorical(WORDS, list("fzedcba"), ordered=True)
    assert fitted(TABLE.assign(kind=kind)).categories_["kind"].tolist() == list("fedcba")


def test_validation_words_and_numbers_as_words():
    table = TABLE.assign(kind=pd.Categorical(np.searchsorted(list("abcdef"), WORDS) + 10))
    model = BudgetRFRegressor(**FOREST).fit(table[:120], Y[:120] * 2.0, table[120:], Y[120:] * 2.0)
    assert set(model.categories_["kind"]) == set(range(10, 16))
    assert np.isfinite(model.operating_points_["score"]).all()


def test_an_unknown_word_is_told_and_counts_as_missing():
    model = fitted()
    new = TABLE[:4].assign(kind=["a", "zebra", "b", None])
    said = "feature 'kind' is 'zebra' in row 2 .* Training has"
    with pytest.warns(BudgetlearnWarning, match=said), pytest.raises(MissingValueError):
        model.predict(new)
    gaps = TABLE.assign(kind=TABLE["kind"].where(np.arange(180) % 4 > 0))
    model = fitted(gaps)
    with pytest.warns(BudgetlearnWarning, match=said):
        predicted = model.predict_proba(new)
    assert np.array_equal(predicted, model.predict_proba(new.replace("zebra", None)))


def test_numbers_that_look_like_words_are_told_apart():
    model = fitted(TABLE.assign(kind=TABLE["kind"].cat.rename_categories([*"12345", "K"])))
    with pytest.warns(BudgetlearnWarning, match=r"has .*K.*\. One is a number, the other text"):
        model.predict(TABLE.assign(kind=1), fallback=True)


def test_sessions_sources_and_explanations_speak_in_words():
    model = fitted()
    session = model.session()
    while not session.done:
        name = session.wanted[0][0]
        session.give({name: TABLE[name][7]})
    assert session.probability == model.predict_proba(TABLE[7:8]).max()
    with pytest.raises(ValueError, match=r"'kind' must be one of .*, got 'zebra'"):
        model.session().give(kind="zebra")
    for row in (TABLE.iloc[7], TABLE.iloc[7].to_dict(), TABLE[7:8], TABLE.iloc[7].tolist()):
        measured = model.explain(row).set_index("feature")["measured"]
        assert measured["kind"] == WORDS[7]
    decisions = model.predict_acquiring(
        lambda rows, name: TABLE[name].to_numpy()[rows], n_samples=180
    )
    assert np.array_equal(decisions.prediction, model.predict(TABLE))


def test_a_word_without_examples_comes_where_the_average_is():
    places, targets = np.array([0] * 50 + [2] * 50), np.array([1] * 40 + [0] * 60)
    assert ordered(places, targets, None, 2, 4).tolist() == [2, 1, 3, 0]


OTHERS = ["linear model", "sparse linear", "filter + boosting", "average", "cascade", "msB"]
ONE = {"others": dict.fromkeys(OTHERS, FreeConstantClassifier())}  # the forest and LightGBM remain
RARE = pd.DataFrame({"word": pd.Categorical(np.arange(240) % 80), "number": np.arange(240.0)})
COINS = np.random.default_rng(5).integers(0, 2, 240)


@pytest.mark.parametrize(
    "model",
    [
        BudgetRFClassifier(**FOREST),
        ModelScheduleSearch(random_state=0),
        ScheduleCascadeClassifier(random_state=0, estimators="forest"),
        AutoBudgetClassifier(random_state=0, **ONE),
    ],
    ids=["forest", "held out", "cascade", "comparison"],
)
def test_words_that_no_row_held_out_has_ordered_promise_nothing_of_coins(model):
    # Three rows a word: in the order of all targets, a threshold knows each word's own labels.
    model.fit(RARE, COINS)
    share = max(COINS.mean(), 1 - COINS.mean())
    error = np.sqrt(0.25 / 240)
    assert model.operating_points_["score"].max() <= share + 2 * error
