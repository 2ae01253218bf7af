"""How far our numbers are from the printed ones, and why where that is known."""

import numpy as np

FAR = 2.0  # standard deviations from which a difference asks for a reason
_LOWER_IS_BETTER = ("cost", "cost_percent", "error_percent", "mse", "n_features", "n_nodes")
_LOWER_IS_BETTER += ("seconds", "test_error")
_NEITHER_IS_BETTER = ("entropy_percent",)


def with_deviations(table, reasons):
    """Say of each printed number how far ours is, whether it is better, and why.

    Parameters
    ----------
    table : DataFrame
        From `budgetlearn.analysis.published.published_table`.
    reasons : list of dict
        From `budgetlearn.report.published_files.read_reasons`.

    Returns
    -------
    DataFrame
        With the columns in_sd, the difference in standard deviations over runs (ours and, where it
        is printed, the paper's together; NaN with a single run of ours); better, whether ours is
        the better number (None of a quantity that is neither good nor bad); and reason, "" unless
        the difference exceeds `FAR` and one is known.
    """
    lower = table["quantity"].isin(_LOWER_IS_BETTER)
    better = np.where(lower, table["difference"] < 0, table["difference"] > 0).astype(object)
    better[table["quantity"].isin(_NEITHER_IS_BETTER)] = None
    spread = np.hypot(table["sd"], table["value_sd"].fillna(0.0))
    in_sd = (table["difference"] / spread).where(spread > 0)
    table = table.assign(in_sd=in_sd, better=better)
    rows = zip(table.to_dict("records"), in_sd.abs() > FAR, strict=True)
    return table.assign(reason=[_reason(row, reasons) if far else "" for row, far in rows])


def _reason(row, reasons):
    """Return the reason of the entry that fits a row most closely."""
    row = row | {"table": row["source"]}
    fitting = [
        entry for entry in reasons if all(row[k] == v for k, v in entry.items() if k != "why")
    ]
    return max(fitting, key=len)["why"] if fitting else ""
