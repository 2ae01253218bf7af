"""Descriptions of parameters that classes take over from their bases."""

import ast
import inspect

from numpydoc.docscrape import NumpyDocString
from sklearn.base import BaseEstimator, ClassifierMixin

from budgetlearn import cascade, msb, peers, sequential
from budgetlearn.protocol import BudgetedEstimator
from budgetlearn.protocol.documenting import documented
from tests.looping import for_each

ESTIMATORS = [
    item
    for room in (cascade, msb, peers, sequential)
    for item in vars(room).values()
    if inspect.isclass(item) and issubclass(item, BudgetedEstimator)
]


@documented
class Base(BaseEstimator):
    """Do nothing.

    Parameters
    ----------
    size : int, default=1
        How large.
    depth : int, default=2
        How deep.

    Attributes
    ----------
    found_ : int
        What was found.
    """

    def __init__(self, size=1, depth=2):
        self.size = size
        self.depth = depth


@documented
class Heir(ClassifierMixin, Base):
    """Do nothing else.

    Parameters
    ----------
    size : int, default=3
        How wide.

    References
    ----------
    Nobody.
    """

    def __init__(self, random_state=None, size=3):
        self.random_state = random_state
        super().__init__(size)


def test_what_a_docstring_leaves_out_comes_from_the_nearest_base():
    told = NumpyDocString(Heir.__doc__)
    described = {each.name: each.desc for each in told["Parameters"]}
    # In the constructor's order, without `depth`, which it does not take.
    assert list(described) == ["random_state", "size"]
    assert described["size"] == ["How wide."]
    assert described["random_state"] == ["Source of randomness."]
    attributes = [each.name for each in told["Attributes"]]
    assert attributes[0] == "found_"
    assert "classes_" in attributes
    assert "classes_" not in Base.__doc__  # it is no classifier
    assert told["Summary"] == ["Do nothing else."]
    assert told["References"] == ["Nobody."]

    @documented
    class Grandchild(Heir):
        """Do nothing.

        Examples
        --------
        >>> Grandchild()
        """

    assert NumpyDocString(Grandchild.__doc__)["References"] == ["Nobody."]
    assert Grandchild.__doc__.endswith(">>> Grandchild()\n")  # the last section


@for_each("estimator", ESTIMATORS)
def test_the_parameters_and_defaults_described_are_those_of_the_constructor(estimator):
    told = NumpyDocString(inspect.getdoc(estimator))["Parameters"]
    taken = inspect.signature(estimator).parameters
    assert [each.name for each in told] == list(taken)
    for each in told:
        _, named, default = each.type.partition("default=")
        assert bool(named) == (taken[each.name].default is not inspect.Parameter.empty), each.name
        if named:
            assert ast.literal_eval(default) == taken[each.name].default, each.name
