"""Shared parameters are described in every method that takes them, in the same words."""

import inspect

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


def test_no_mark_is_left_in_a_docstring():
    for name, member in inspect.getmembers(BudgetedEstimator):
        lines = (getattr(member, "__doc__", None) or "").split("\n")
        assert not any(line.strip().startswith("{") for line in lines), name


def test_a_shared_parameter_is_described_in_one_way():
    methods = documented()
    for shared in ("budget", "max_cost", "fallback"):
        texts = {given[shared] for given in methods.values() if shared in given}
        assert len(texts) == 1, shared
        assert sum(shared in given for given in methods.values()) >= 8


def test_a_mark_is_replaced_where_it_stands_alone():
    def method(X):
        """Do something with {X}.

        Parameters
        ----------
        {X}
        """

    described(method)
    assert method.__doc__.startswith("Do something with {X}.")
    assert "X : array-like of shape (n_samples, n_features)\n    Examples." in method.__doc__


def test_without_docstrings_there_is_nothing_to_write():
    def method():
        pass

    assert described(method) is method
    assert method.__doc__ is None
