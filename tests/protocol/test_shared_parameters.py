"""Shared parameters are described in every method that takes them, in the same words."""

import inspect

import pytest
from numpydoc.docscrape import FunctionDoc

from budgetlearn.protocol import BudgetedEstimator
from budgetlearn.protocol.documenting import described


def documented():
    """Return the parameters of each public method, as it describes them."""
    members = inspect.getmembers(BudgetedEstimator, inspect.isfunction)
    return {
        name: {p.name: " ".join(p.desc) for p in FunctionDoc(method)["Parameters"]}
        for name, method in members
        if not name.startswith("_") and method.__module__.startswith("budgetlearn")
    }


def test_a_shared_parameter_is_described_in_one_way():
    methods = documented()
    for shared in ("budget", "max_cost", "fallback"):
        texts = {given[shared] for given in methods.values() if shared in given}
        assert len(texts) == 1, shared
        assert sum(shared in given for given in methods.values()) >= 8


def test_parameters_stand_in_the_order_of_the_signature_and_own_words_win():
    def method(self, X, y, fallback=False):
        """Do something with X.

        Parameters
        ----------
        y : object
            Ours.

        Returns
        -------
        None
        """

    told = FunctionDoc(described(method))
    assert [each.name for each in told["Parameters"]] == ["X", "y", "fallback"]
    assert told["Parameters"][1].desc == ["Ours."]
    assert told["Raises"][0].type == "BudgetError"


def test_limits_are_named_in_signatures_and_in_messages():
    taken = list(inspect.signature(BudgetedEstimator.predict).parameters)
    assert taken == ["self", "X", "budget", "max_cost", "fallback", "budget_mode"]
    with pytest.raises(TypeError, match=r"BudgetedEstimator.predict\(\) got an unexpected"):
        BudgetedEstimator.predict(None, None, bugdet=3)


def test_without_docstrings_there_is_nothing_to_write():
    def method():
        pass

    assert described(method) is method
    assert method.__doc__ is None
