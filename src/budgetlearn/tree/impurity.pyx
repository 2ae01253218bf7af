"""Impurity functions of class counts.

The first three families are admissible (Nan, Wang and Saligrama 2015, section 2.2): non-negative,
zero for a pure set, monotone and supermodular. Gini and entropy are not monotone: a subset may be
more impure than the set.
"""

import numpy as np

from libc.stdint cimport int32_t

from ..validation import ParameterError, check_number


# Fill the tables, which other modules read. The entries of 0 stay 0, which is the limit of x log x.
cdef int32_t whole
for whole in range(1, N_TABLED):
    LOGS[whole] = log2(<double> whole)
    X_LOGS[whole] = whole * LOGS[whole]


class ImpurityFunction:
    """An impurity F(counts) of the class counts of a set of examples.

    Attributes
    ----------
    admissible : bool
        Whether F is monotone and supermodular, which minimax splits require.
    degree : float
        Computing F of whole counts involves whole numbers up to the power `degree` of their sum,
        and is exact while this is below 2**53. Infinite if other numbers are involved.
    """

    # Defaults, which some families override.
    admissible = True
    parameter = 0.0
    degree = np.inf

    def __call__(self, counts):
        """Return F for class counts of shape (n_classes,), which are finite and not negative.

        Raises
        ------
        ParameterError
            For other counts, or if F overflows a float.
        """
        counts = np.asarray(counts, dtype=np.float64)
        if counts.ndim != 1 or not (np.isfinite(counts) & (counts >= 0)).all():
            raise ParameterError(
                "counts must be an array (n_classes,) of finite numbers >= 0, got "
                f"{np.array2string(counts, threshold=10)}."
            )
        cdef const double[::1] n = np.ascontiguousarray(counts)
        cdef double[::1] seen = np.zeros(n.shape[0])
        cdef Impurity f = Impurity(<Kind> <int> self.kind, self.parameter, n.shape[0], False)
        cdef Side side = Side(0.0, 0.0, 0.0, &seen[0])
        cdef Py_ssize_t c
        # One class after another, in the steps of a search, so that tests of F cover the search.
        for c in range(n.shape[0]):
            shift(&f, &side, <int32_t> c, n[c])
        found = value(&f, &side)
        # Powers of large counts overflow, and an infinite F would make every drop infinite or NaN.
        if not np.isfinite(found):
            raise ParameterError(
                f"{type(self).__name__} of {counts.sum():g} examples overflows a float: use "
                "weights on a smaller scale, or a smaller exponent."
            )
        return found


class ThresholdPairs(ImpurityFunction):
    """Sum over pairs of classes of [[n_i - α]+ [n_j - α]+ - α²]+ (Equation 11 of BudgetRF).

    Pairs are ordered, so each counts twice. At α = 0 this is (Σn)² - Σn², computed in O(K).

    Parameters
    ----------
    alpha : float, default=0.0
        Threshold, >= 0 and finite. The larger it is, the earlier a node counts as pure.
    """

    def __init__(self, alpha=0.0):
        self.parameter = float(check_number(alpha, "alpha", low=0, high=np.inf, high_open=True))
        # At alpha = 0 nothing is cut off, and the sum over pairs has a closed form.
        self.kind = THRESHOLD_PAIRS if self.parameter > 0 else PAIRS
        self.degree = 2 if self.parameter.is_integer() else np.inf


class Powers(ImpurityFunction):
    """(Σn)^l - Σn^l, the Powers family.

    Parameters
    ----------
    exponent : int, default=3
        Exponent l, from 2 to 8; 2 is threshold-Pairs at α = 0.
    """

    kind = POWERS

    def __init__(self, exponent=3):
        self.parameter = float(check_number(exponent, "exponent", low=2, high=8, integer=True))
        # F is a sum of l-th powers of counts, each at most the l-th power of their sum.
        self.degree = exponent


class Polynomial(ImpurityFunction):
    """Sum over ordered pairs i ≠ j of n_i² n_j: a polynomial without single-class terms."""

    kind = POLYNOMIAL
    degree = 3  # n_i^2 n_j


class Gini(ImpurityFunction):
    """1 - Σp², the probability that two draws differ in class."""

    kind = GINI
    admissible = False


class Entropy(ImpurityFunction):
    """-Σ p log2 p, in bits."""

    kind = ENTROPY
    admissible = False


class Variance:
    """Variance of a node's targets, which are numbers instead of classes."""

    kind = VARIANCE
    parameter = 0.0
    degree = np.inf
    admissible = False
