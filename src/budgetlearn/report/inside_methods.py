"""Which methods of a study show msB from inside."""

from ..benchmark.study import SCHEDULE

_EXHAUSTIVE = ".ExhaustiveSearch"


def sequence_method(study, dataset):
    """Return the first method of a data set that is built from sequences; None without one."""
    scheduled = study.methods_of(SCHEDULE)
    own = [method for case, _, method in study.cells if case == dataset and method in scheduled]
    return own[0] if own else None


def exhaustive_method(study, dataset):
    """Return the first method of a data set that tries every subset; None without one."""
    names = [method for case, _, method in study.cells if case == dataset]
    searching = (name for name in names if study.methods[name]["class"].endswith(_EXHAUSTIVE))
    return next(searching, None)
