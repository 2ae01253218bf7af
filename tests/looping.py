"""One test for many items: all of them are checked, and those that fail are named."""

import functools
import inspect

import pytest

from budgetlearn.testing import expected_failed_checks


def check_each(items, check):
    """Call `check(*item)` for each item, and fail once with the names of all failing items.

    Parameters
    ----------
    items : iterable
        Arguments of the check: tuples, or single values.
    check : callable
        Asserts something about one item.
    """
    failed = []
    for item in items:
        arguments = item if isinstance(item, tuple) else (item,)
        try:
            check(*arguments)
        except (Exception, pytest.fail.Exception) as error:  # `pytest.fail` if nothing was raised
            failed.append((item, error))
    _report(failed)


def for_each(names, items):
    """Make a check of each item one test of all of them, by `check_each`.

    Parameters
    ----------
    names : str
        Arguments of the check that come from the items, separated by commas; the others are
        fixtures, made once for all items.
    items : iterable
        As for `check_each`.
    """
    names, items = names.replace(" ", "").split(","), [*items]

    def test_of(check):
        known = inspect.signature(check)

        @functools.wraps(check)
        def test(**fixtures):
            check_each(
                items, lambda *item: check(**dict(zip(names, item, strict=True)), **fixtures)
            )

        others = [each for name, each in known.parameters.items() if name not in names]
        test.__signature__ = known.replace(parameters=others)
        return test

    return test_of


def check_conventions(estimator):
    """Run scikit-learn's checks on an estimator, and name all that fail.

    Parameters
    ----------
    estimator : BaseEstimator
        Unfitted.
    """
    from sklearn.utils.estimator_checks import check_estimator  # slow: not when collected

    made = check_estimator(
        estimator,
        expected_failed_checks=expected_failed_checks(estimator),
        on_skip=None,
        on_fail=None,
    )
    assert len(made) > 40  # otherwise scikit-learn took it for another kind of estimator
    _report([(one["check_name"], one["exception"]) for one in made if one["status"] == "failed"])


def _report(failed):
    if failed:
        said = [f"{item}: {type(error).__name__}: {error}" for item, error in failed]
        raise AssertionError(f"{len(failed)} failed:\n" + "\n".join(said)) from failed[0][1]
