"""Meanings of the columns of the report's tables, for `tables/schema.json`."""

from ..study.records import POINTS

MEANINGS = {name: column.meaning for name, column in POINTS.items()} | {
    "budget": "what may be spent, as a share of what all features cost",
    "mean": "mean over runs",
    "sd": "standard deviation over runs",
    "n_runs": "runs that the mean is over",
    "n_affording": "runs that afford a model of the method at this budget",
    "aup_test": "area under the Pareto staircase of test scores",
    "aup_valid": "area under the Pareto staircase of validation scores",
    "n_points": "length of the schedule",
    "mean_test": "mean area on test data",
    "sd_test": "its standard deviation over runs",
    "mean_valid": "mean area on validation data",
    "sd_valid": "its standard deviation over runs",
    "n_failed": "runs without a result",
    "horizon": "share of the full cost that may be spent; log: each decade counts alike",
    "mean_rank": "mean rank over data sets, 1 is the best",
    "n_cases": "data sets",
    "p_best": "p-value of Nemenyi's test against the method of the best mean rank",
    "elo": "Elo rating, 1000 on average",
    "low": "lower bound of the 95 % interval",
    "high": "upper bound of the 95 % interval",
    "wins": "data sets, runs or matches won",
    "ties": "data sets or matches tied",
    "losses": "data sets or matches lost",
    "p": "p-value of the corrected resampled t test",
    "p_holm": "the same after Holm's correction",
    "choice": "mean score on the rows that chose between methods",
    "test": "mean held-out score",
    "gain": "held-out score above the free constant's",
    "gain_low": "lower bound of its 95 % interval",
    "gain_high": "upper bound of its 95 % interval",
    "as_good": "whether that interval includes 0: the free constant may do as well",
    "runners_up": "the next best methods and their held-out scores",
    "default_models": "models fitted by the first fit of a run",
    "default_seconds": "seconds of the first fit of a run",
    "default_aup": "area of the first fit alone: the method at its own settings",
    "models": "models fitted in a run",
    "seconds": "seconds of all fits of a run",
    "aup": "area of all fits of a run: the method tuned",
    "splits": "standard deviation of the area that is due to splits",
    "prices": "standard deviation of the area that is due to prices",
    "rest": "standard deviation of the area that is due to neither alone",
    "n_splits": "splits",
    "n_prices": "cost profiles",
}


def schema_of(tables):
    """Return name, type and meaning of each column of the tables.

    Parameters
    ----------
    tables : dict of str to DataFrame
        By the name of their file.
    """
    return {
        name: [
            {"name": column, "type": _kind(frame[column]), "meaning": MEANINGS.get(column, "")}
            for column in frame
        ]
        for name, frame in sorted(tables.items())
    }


def _kind(values):
    """Return the type of a column as schema.org calls it."""
    kinds = {"b": "Boolean", "i": "Integer", "u": "Integer", "f": "Float"}
    return kinds.get(values.dtype.kind, "Text")
