"""Model sequences: orders in which msB visits subsets of the variables.

A sequence is any object with a `name` and a method `subsets(problem)` that yields tuples of
variable indices. `problem` is a `budgetlearn.msb.problem.SequenceProblem`: it knows the costs, the
importance of the variables, the training data and a source of randomness, and fits models.
"""

from .._validation import ParameterError, check_number
from .removal import (
    CostSequence,
    ImportancePerCostSequence,
    ImportanceSequence,
    SamplingSequence,
    UniformSequence,
)
from .stagewise import BackwardSequence, ForwardSequence


class L1PathSequence:
    """Follow the L1 path of logistic regression (section 3.1.2, algorithm L1 path).

    Parameters
    ----------
    n_lambda : int, default=100
        Number of penalties on the path.
    """

    name = "l1"

    def __init__(self, n_lambda=100):
        self.n_lambda = n_lambda

    def subsets(self, problem):
        """Return the distinct sets of variables with a non-zero coefficient, sparse to full.

        Parameters
        ----------
        problem : SequenceProblem
            Costs, importance, data and randomness to order the variables by.

        Returns
        -------
        iterator of tuple of int
            Indices of the variables of each subset, ascending.
        """
        check_number(self.n_lambda, "n_lambda", low=1, integer=True)
        path = problem.l1_path(self.n_lambda)
        seen = {}
        for step in range(len(path)):
            variables = path.variables(step)
            if len(variables) >= problem.min_variables:
                seen.setdefault(variables)
        return iter(seen)


SEQUENCES = {
    cls.name: cls
    for cls in (
        ImportanceSequence,
        CostSequence,
        SamplingSequence,
        L1PathSequence,
        UniformSequence,
        ImportancePerCostSequence,
        ForwardSequence,
        BackwardSequence,
    )
}


def as_sequence(sequence):
    """Return a sequence object for a name of `SEQUENCES`, or the object itself.

    Parameters
    ----------
    sequence : str or object
        A name, or an object with `name` and `subsets(problem)`.

    Returns
    -------
    object

    Raises
    ------
    ParameterError
        When it is neither.
    """
    if isinstance(sequence, str) and sequence in SEQUENCES:
        return SEQUENCES[sequence]()
    if not isinstance(sequence, (str, type)) and all(
        hasattr(sequence, wanted) for wanted in ("name", "subsets")
    ):
        return sequence
    raise ParameterError(
        f"a sequence must be one of {', '.join(map(repr, SEQUENCES))}, or an object with `name` "
        f"and `subsets(problem)`; got {sequence!r}."
    )
