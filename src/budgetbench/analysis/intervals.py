"""Intervals of means over runs that split the same table again and again.

Their results are not independent; the variance is corrected for that (Nadeau and Bengio).
"""

import numpy as np

LEVEL = 0.05


def corrected_interval(differences, ratio, level=LEVEL):
    """Return mean, interval and p-value of differences over runs that share examples.

    Parameters
    ----------
    differences : ndarray of shape (n_runs,)
        One for each run.
    ratio : float
        Test rows by training rows.
    level : float, default=0.05
        How often the interval may miss the true mean.

    Returns
    -------
    mean, low, high, p : float
        Of the corrected resampled t test; NaN but for the mean with one run.

    References
    ----------
    C. Nadeau and Y. Bengio. Inference for the generalization error. Machine Learning 52, 2003.
    """
    from scipy import stats  # here: planning a report loads no more than it needs

    n_runs, mean = len(differences), float(np.mean(differences))
    if n_runs < 2:
        return mean, np.nan, np.nan, np.nan
    error = float(np.sqrt((1 / n_runs + ratio) * np.var(differences, ddof=1)))
    if error == 0:
        return mean, mean, mean, float(mean == 0)
    reach = stats.t.ppf(1 - level / 2, n_runs - 1) * error
    p = 2 * stats.t.sf(abs(mean) / error, n_runs - 1)
    return mean, mean - reach, mean + reach, float(p)


def score_interval(scores, ratio, bounded):
    """Return mean and 95 % interval of a score over runs that share examples.

    Parameters
    ----------
    scores : ndarray of shape (n_runs,)
        One for each run.
    ratio : float
        Test rows by training rows.
    bounded : bool
        Whether the score lies in [0, 1] by its nature, as accuracy does and R² does not. The
        interval is then drawn on the logit axis (by the delta method), and stays inside.

    Returns
    -------
    mean, low, high : float
        NaN but for the mean with one run.
    """
    from scipy.special import expit, logit

    mean, low, high, _ = corrected_interval(scores, ratio)
    if not bounded or not low < high or not 0 < mean < 1:
        return mean, low, high
    reach = (high - mean) / (mean * (1 - mean))
    return mean, float(expit(logit(mean) - reach)), float(expit(logit(mean) + reach))
