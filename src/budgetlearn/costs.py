"""Feature costs with shared charges, and price lists."""

import csv
import difflib
import math
import re
from copy import copy
from decimal import ROUND_CEILING, Context

import numpy as np
import pandas as pd

from .exceptions import BudgetError, CostError, MissingExtraError
from .files import (
    as_file,
    encoding_of,
    is_workbook,
    opened,
    plain_name,
    separator_of,
    workbook_as_csv,
)
from .per_feature import PerFeature, own_names
from .validation import MOST_AMOUNT

# Relative tolerance, as sums of prices in other orders differ in the last bits.
_SLACK = 1e-12
# For costs in messages: rounded up, so that the budget that a message names is large enough.
_SIX_DIGITS = Context(prec=6, rounding=ROUND_CEILING)

_COSTS = PerFeature("feature costs", "price", CostError)
_GROUPS = PerFeature("groups", "group", CostError, table="the price list")
_ACQUIRED = PerFeature("acquired", "mark", CostError, table="the prices")
_CHARGES = PerFeature("group_costs", "charge", CostError, each="group", table="groups")


def _marks(acquired):
    """Return a mask as an array of bool; refuse NaN, which NumPy takes for True."""
    values = np.asarray(acquired)
    if values.dtype.kind != "b" and (values != values).any():
        raise CostError("acquired must be True or False for each feature, got NaN.")
    return values.astype(bool, copy=False)


def spendable(budget):
    """Return the largest sum of prices that a budget pays for."""
    return budget * (1 + _SLACK)


def affords(budget, cost):
    """Return whether a budget pays for a cost (numbers or arrays), up to the rounding of sums."""
    return cost <= spendable(np.asarray(budget))


def too_small(budget, cheapest, what, limit="the budget"):
    """Return the error for a budget that pays for none of several models, forests or methods."""
    least = f"{float(_SIX_DIGITS.create_decimal(cheapest / spendable(1.0))):g}"
    text = f"No {what} costs at most {budget:.10g}: the cheapest one costs {least}."
    return BudgetError(f"{text} Raise {limit} to {least} or more.", float(cheapest))


class FeatureCosts:
    """Price of acquiring each feature once per example, with optional shared charges.

    Parameters
    ----------
    costs : array-like of shape (n_features,), dict or Series
        Price of each feature, finite and >= 0, all in the same unit. A dict or a Series has prices
        by feature name (0, 1, 2 … in a table without names) and is aligned to the table when an
        estimator is fitted.
    groups : array-like of int of shape (n_features,), dict or Series, default=None
        Cost group of each feature, -1 for none. The members of a group share one fixed charge,
        paid once per example when the first of them is acquired (one blood sample serves several
        tests). An array is in the order of `costs`, a dict or Series is by name. If `group_costs`
        has names of groups, it is a dict or Series with the group's name of each member.
    group_costs : array-like of shape (n_groups,), dict or Series, default=None
        Fixed charge of each group, required with `groups`; a dict or Series is by number or name.

    Attributes
    ----------
    costs : ndarray of shape (n_features,)
        Prices, read-only.
    names : tuple or None
        Names of the features, if they have names.
    groups : ndarray of shape (n_features,) or None
        Cost group of each feature, read-only.
    group_costs : ndarray of shape (n_groups,) or None
        Charge of each group, read-only.

    Raises
    ------
    CostError
        When a price is negative, not finite or above 1e100, or when the lengths disagree.

    Examples
    --------
    >>> costs = FeatureCosts([1, 2, 3], groups=[0, 0, -1], group_costs=[10])
    >>> costs.subset([0, 1]), costs.full
    (13.0, 16.0)
    >>> prices = {"age": 1, "glucose": 15.5, "insulin": 20.5}
    >>> blood = {"glucose": "blood", "insulin": "blood"}
    >>> FeatureCosts(prices, groups=blood, group_costs={"blood": 2}).full
    39.0
    """

    def __init__(self, costs, groups=None, group_costs=None):
        self.names, costs = _COSTS.labelled(costs)
        self.costs = nonnegative(costs, "feature costs")
        self.groups = self.group_costs = None
        # Without shared charges `groups` stays None, and total and marginal skip their loops.
        if groups is None and group_costs is None:
            return
        if groups is None or group_costs is None:
            raise CostError("groups and group_costs belong together: give both or none.")
        groups, group_costs = self._numbered(groups, group_costs)
        # Charges first, as their number limits the numbers of the groups.
        self.group_costs = nonnegative(_CHARGES.in_order(group_costs, None), "group_costs")
        if not self.group_costs.size:
            raise CostError("group_costs is empty: give one charge for each group, or no groups.")
        self.groups = self._checked_groups(_GROUPS.in_order(groups, self.names, self.n_features))

    def _numbered(self, groups, charges):
        """Return groups and charges; those by name of the group are converted to numbers."""
        names, values = _CHARGES.labelled(charges)
        members, named = _GROUPS.labelled(groups)
        if not (names and members is not None and all(isinstance(name, str) for name in names)):
            return groups, charges
        unknown = sorted({str(group) for group in named if group not in names})
        if unknown:
            raise CostError(f"groups names {', '.join(unknown)}, which group_costs does not.")
        alone = dict.fromkeys(self.names or range(self.n_features), -1)
        return alone | dict(zip(members, map(names.index, named), strict=True)), values

    def _checked_groups(self, groups):
        last = self.group_costs.size - 1
        try:
            checked = np.asarray(groups, dtype=np.float64)
        except (TypeError, ValueError):
            checked = np.empty(0)
        known = np.isin(checked, np.arange(-1, last + 1)).all()
        if checked.shape != self.costs.shape or not known:
            raise CostError(
                f"groups must give each of the {self.costs.size} features one integer from -1 (no "
                f"group) to {last} (the last of group_costs), got {groups!r}."
            )
        checked = checked.astype(np.int64)
        checked.flags.writeable = False
        return checked

    @classmethod
    def read(cls, source):
        """Read a price list.

        Parameters
        ----------
        source : path-like or DataFrame
            A table with the columns feature and cost and, if features share charges, group (name of
            the group) and group_cost; see `budgetlearn.costs.read_prices`.

        Returns
        -------
        FeatureCosts
            Costs by name, which are aligned to the table when an estimator is fitted.

        Raises
        ------
        CostError
            When the list cannot be read or contradicts itself; the message names the line.

        Examples
        --------
        >>> import pandas as pd
        >>> FeatureCosts.read(pd.DataFrame({"feature": ["age", "glucose"], "cost": [1, 17.61]}))
        FeatureCosts(2 features, full cost 18.61)
        """
        return profile_of(read_prices(source))

    @classmethod
    def of(cls, feature_costs, n_features, names=None):
        """Return `feature_costs` as `FeatureCosts` for a table of `n_features` columns.

        Parameters
        ----------
        feature_costs : None, array-like of shape (n_features,), dict, Series, DataFrame \
                or FeatureCosts
            None means a price of 1 for each feature. A dict or Series is aligned by name. A
            DataFrame is a price list, as for `read`.
        n_features : int
            Number of features of the table.
        names : sequence of n_features names, default=None
            Names of the table's columns; None: it has no names.

        Returns
        -------
        FeatureCosts

        Raises
        ------
        CostError
            When the prices are not `n_features`, or have other names than the table's features.
        """
        # The only place where prices are aligned to a table: all estimators call it in `fit`.
        names = own_names(names)
        if feature_costs is None:
            return cls(np.ones(n_features))._called(names)
        if isinstance(feature_costs, pd.DataFrame):
            feature_costs = cls.read(feature_costs)
        costs = feature_costs if isinstance(feature_costs, cls) else cls(feature_costs)
        if costs.names is not None:
            # A price list has all names as text, even if they are numbers in the table. The same
            # accented letter may be one character in the table and two in the list.
            own = {plain_name(name): name for name in names or range(n_features)}
            called = [own.get(plain_name(name), name) for name in costs.names]
            return costs.take(_COSTS.places(called, names, n_features), names)
        if costs.n_features != n_features:
            wanted = f"one entry for each of the {n_features} features of X"
            raise CostError(f"feature costs must have {wanted}, got {costs.n_features}.")
        return costs._called(names)

    def _called(self, names):
        """Return a copy whose features have these names, or none."""
        # A copy, because several estimators may share the user's object.
        called = copy(self)
        called.names = names
        return called

    def take(self, features, names=None):
        """Return the prices of some features, in their order.

        Parameters
        ----------
        features : array-like of int or bool
            Indices, or a mask.
        names : sequence, default=None
            Names of the features in the result; None: they have no names.

        Returns
        -------
        FeatureCosts
        """
        features = self._places(features)
        shared = () if self.groups is None else (self.groups[features], self.group_costs)
        return FeatureCosts(self.costs[features], *shared)._called(own_names(names))

    def __array__(self, dtype=None, copy=None):
        raise TypeError(
            "FeatureCosts is not an array, because a group's charge belongs to no single feature. "
            "Use .costs for prices without charges, .alone for prices with charges, or .subset and "
            ".total for costs of several features."
        )

    @property
    def n_features(self):
        """Number of features."""
        return self.costs.size

    @property
    def full(self):
        """Cost of acquiring every feature, including every shared charge."""
        return self.subset(np.arange(self.n_features))

    @property
    def labels(self):
        """The name of each feature, or its index if features have no names."""
        return list(range(self.n_features)) if self.names is None else list(self.names)

    @property
    def unnamed(self):
        """The same prices in their order, for a table without names."""
        return self._called(None)

    def total(self, acquired):
        """Return the acquisition cost of each example.

        Parameters
        ----------
        acquired : DataFrame or array-like of bool of shape (n_samples, n_features)
            Mask of the acquired features of each example.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        labels = getattr(acquired, "columns", None)
        acquired = _marks(acquired)
        if labels is not None:
            acquired = acquired[:, _ACQUIRED.places(labels, self.names, self.n_features)]
        if acquired.ndim != 2 or acquired.shape[1] != self.n_features:
            raise CostError(
                f"acquired must have shape (n_samples, {self.n_features}), got {acquired.shape}."
            )
        cost = np.einsum("ij,j->i", acquired, self.costs)  # unlike @, no float copy of the mask
        if self.groups is not None:
            # Each charge is paid once for an example, for any number of members.
            for group, charge in enumerate(self.group_costs):
                cost = cost + charge * acquired[:, self.groups == group].any(axis=1)
        return cost

    def subset(self, features):
        """Return the cost of acquiring some features for one example.

        Parameters
        ----------
        features : array-like of int or bool
            Indices, or a mask: an array of shape (n_features,) or a Series.

        Returns
        -------
        float
            Cost with each group's charge counted once.
        """
        mask = np.zeros(self.n_features, dtype=bool)
        mask[self._places(features)] = True
        return float(self.total(mask[None, :])[0])

    def _places(self, features):
        """Return the indices of features that are given by index or as a mask."""
        # NumPy would turn an empty list into floats.
        values = np.asarray(features, dtype=None if len(features) else np.intp)
        if values.dtype == bool:
            values = self._mask(features)
        try:
            if (values < 0).any():
                raise IndexError
            return np.arange(self.n_features)[values]
        except (IndexError, TypeError) as error:
            wanted = f"indices of {self.n_features} features, from 0, or a mask"
            raise CostError(f"features must be {wanted}, got {features!r}.") from error

    def _mask(self, acquired, ndim=1):
        """Return the mask of acquired features as an array in their order."""
        acquired = _marks(_ACQUIRED.in_order(acquired, self.names, self.n_features))
        if acquired.shape[-1:] != self.costs.shape or acquired.ndim > ndim:
            raise CostError(f"acquired must have shape ({self.n_features},), got {acquired.shape}.")
        return acquired

    def marginal(self, acquired):
        """Return the price that each feature would add to what is already acquired.

        Parameters
        ----------
        acquired : dict, Series, or array-like of bool of shape (..., n_features)
            Features acquired so far, by one example or by each of several.

        Returns
        -------
        ndarray of shape (..., n_features)
            0 for features already acquired; includes a group's charge if it is not yet paid.
        """
        acquired = self._mask(acquired, ndim=2)
        price = np.broadcast_to(self.costs, acquired.shape).copy()
        if self.groups is not None:
            # The charge of a group is due until a member is acquired.
            for group, charge in enumerate(self.group_costs):
                members = self.groups == group
                price[..., members] += charge * ~acquired[..., members].any(axis=-1, keepdims=True)
        price[acquired] = 0.0
        return price

    @property
    def alone(self):
        """Price of each feature on its own, including its group's charge, (n_features,)."""
        return self.marginal(np.zeros(self.n_features, dtype=bool))

    def group_of(self, feature):
        """Return the members of a feature's group, and the group's charge.

        Parameters
        ----------
        feature : int
            Index of the feature.

        Returns
        -------
        members : ndarray of int
            Ascending indices, including `feature`; empty if it has no group.
        charge : float
            Charge of the group; 0 if the feature has no group.
        """
        # Fast without groups, because a ledger calls it for every acquisition.
        group = -1 if self.groups is None else self.groups[self._places([feature])[0]]
        if group < 0:
            return np.empty(0, dtype=np.intp), 0.0
        return np.flatnonzero(self.groups == group), float(self.group_costs[group])

    def shares(self, acquired):
        """Return the share of each acquired feature in the acquisition cost.

        The acquired members of a group share its charge equally. A member therefore gets more
        expensive as others are dropped, and the last one has the whole charge.

        Parameters
        ----------
        acquired : array-like of bool of shape (n_features,), dict or Series
            Mask of the acquired features.

        Returns
        -------
        ndarray of shape (n_features,)
            Shares, 0 for features that are not acquired; their sum is the `subset` cost.
        """
        acquired = self._mask(acquired)
        share = np.where(acquired, self.costs, 0.0)
        if self.groups is not None:
            members = np.flatnonzero(acquired & (self.groups >= 0))
            groups = self.groups[members]
            # Equal parts, so that the shares add up to the `subset` cost.
            share[members] += self.group_costs[groups] / np.bincount(groups)[groups]
        return share

    def __repr__(self):
        shared = ""
        if self.groups is not None:
            number = self.group_costs.size
            shared = ", 1 group" if number == 1 else f", {number} groups"
        return f"FeatureCosts({self.n_features} features, full cost {self.full:.10g}{shared})"

    def __eq__(self, other):
        return isinstance(other, FeatureCosts) and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("names", "costs", "groups", "group_costs")
        )


def random_costs(n_features, random_state=None):
    """Draw a cost profile: one random integer price from 1 to 100 for each feature.

    These prices are consistent with the schedule printed by Yan et al. (section 3.1.1).

    Parameters
    ----------
    n_features : int
        Number of prices.
    random_state : int, RandomState instance or None, default=None
        Source of randomness.

    Returns
    -------
    FeatureCosts
    """
    from sklearn.utils import check_random_state  # here: scikit-learn takes a second to load

    return FeatureCosts(check_random_state(random_state).randint(1, 101, size=n_features))


COLUMNS = ("feature", "cost", "group", "group_cost")


def read_prices(source):
    """Read a price list or a file of cost profiles, with all names as text.

    The source is a csv file (with commas, semicolons or tabs; decimal points or commas), an .xlsx
    workbook or a frame. Its columns are feature and cost and, if features share charges, group and
    group_cost; cost profiles also have run. The result has these columns: feature and group are
    text (None: no group), run is an integer, cost and group_cost are numbers (NaN: no charge).
    Raises a `CostError` that names the line.
    """
    found = _from_frame if hasattr(source, "columns") else _from_file
    path, separator, header, rows = found(source)
    _check_header(path, header)
    if not rows:
        raise CostError(f"{path} has a header, but no prices.")
    records = []
    for line, row in rows:
        if len(row) != len(header):
            raise CostError(
                f"{path}, line {line}: {len(row)} fields, but {len(header)} in the header. Put "
                "names that contain a comma in double quotes, and separate fields by semicolons if "
                "decimals have commas."
            )
        record = dict(zip(header, row, strict=True)) | {"line": line}
        records.append(record | {"feature": plain_name(record["feature"])})
        if not record["feature"]:
            raise CostError(f"{path}, line {line}: the name of the feature is missing.")
    commas = has_decimal_commas(path, records, separator)
    return pd.DataFrame([_with_numbers(path, record, commas) for record in records])


def _from_frame(frame):
    """Return the same as `_from_file` for a frame, whose rows are counted from 1."""
    cells = frame.astype(object).where(frame.notna(), "").map(lambda cell: str(cell).strip())
    rows = list(enumerate(cells.to_numpy().tolist(), 1))
    return "the price list", ",", [str(name) for name in frame.columns], rows


def _from_file(path):
    """Return the path, the separator, the header, and (line number, fields) of each row."""
    try:
        file = as_file(path)
        if is_workbook(file):
            file = workbook_as_csv(file)
        with opened(file, encoding_of(file)) as stream:
            text = list(stream)
        separator = separator_of(next(filter(str.strip, text), ""))
        reader = csv.reader(text, delimiter=separator, skipinitialspace=True)
        lines = [(reader.line_num, [field.strip() for field in row]) for row in reader if row]
    except FileNotFoundError as error:
        raise CostError(f"{path} cannot be read: {error.strerror}.") from error
    except (MissingExtraError, Warning):
        raise
    except Exception as error:  # any error of the readers of text, gzip and workbooks
        what = getattr(error, "strerror", None) or str(error).rstrip(".")
        raise CostError(f"{path} cannot be read as a price list: {what}.") from error
    if not lines:
        raise CostError(f"{path} is empty. {_EXPECTED}")
    (_, header), *rows = lines
    return path, separator, header, rows


_EXPECTED = (
    "A price list starts with the line 'feature,cost' (or 'feature,cost,group,group_cost' where "
    "features share a charge) and has one line for each feature."
)


def _check_header(path, header):
    # Checked before the rows: a wrong header would make every row look wrong.
    unknown = [name for name in header if name not in (*COLUMNS, "run")]
    missing = [name for name in COLUMNS[:2] if name not in header]
    # Both or neither, because a charge without a group would have no effect.
    if "group" in header or "group_cost" in header:
        missing += [name for name in COLUMNS[2:] if name not in header]
    if not unknown and not missing and len(set(header)) == len(header):
        return
    close = {name: difflib.get_close_matches(name.lower(), COLUMNS, n=1) for name in unknown}
    hints = [f"Is {name!r} meant to be {match[0]!r}?" for name, match in close.items() if match]
    first = ", ".join(map(repr, header))
    raise CostError(" ".join([f"{path}: the first line holds {first}.", *hints, _EXPECTED]))


_PRICES = ("cost", "group_cost")
_COMMA = re.compile(r"[-+]?\d+,\d+")
_MAYBE_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}[.,]\d{3}")


def has_decimal_commas(path, records, separator=";"):
    """Return whether a list has decimal commas; raise if prices are ambiguous."""
    prices = [(record["line"], record.get(name, "")) for record in records for name in _PRICES]
    commas = [(line, text) for line, text in prices if _COMMA.fullmatch(text)]
    points = [(line, text) for line, text in prices if "." in text]
    if commas and points:
        (line, one), (_, other) = points[0], commas[0]
        raise CostError(
            f"{path}, line {line}: {one!r} has a point and another price, {other!r}, a comma. "
            "Write all decimals with points or all with commas, and no mark between thousands."
        )
    # 1,500 means 1.5 if 2,5 occurs as well. Alone, or as 1.500 between semicolons, it may be 1500.
    doubtful = commas or (points if separator == ";" else [])
    if doubtful and all(_MAYBE_THOUSANDS.fullmatch(text) for _, text in doubtful):
        line, text = doubtful[0]
        plain = text.replace(",", ".")
        raise CostError(
            f"{path}, line {line}: {text!r} may be {plain.replace('.', '')} or {float(plain):g}. "
            "Write it without a mark, or with another number of decimals."
        )
    return bool(commas)


def _with_numbers(path, record, commas):
    """Return a record with its prices as numbers."""
    where = f"{path}, line {record.pop('line')}"
    # An empty group_cost becomes NaN, for no charge; an empty cost is an error, raised below.
    for name in _PRICES:
        if name in record:
            text = record[name].replace(",", ".") if commas else record[name]
            record[name] = _number(text, name, where)
    if "run" in record:
        record["run"] = _number(record["run"], "run", where, int)
    if not 0 <= record["cost"] <= MOST_AMOUNT:
        what = f"must be finite and >= 0, not above {MOST_AMOUNT:g}, got {record['cost']:g}"
        what = "is missing" if math.isnan(record["cost"]) else what
        raise CostError(f"{where}: the cost of {record['feature']!r} {what}.")
    if "group" in record:
        record["group"] = record["group"] or None
    return record


def _number(text, name, where, kind=float):
    try:
        return math.nan if kind is float and not text else kind(text)
    except ValueError as error:
        how = " Write it as 1234.5, without a unit, blanks or marks between thousands."
        raise CostError(f"{where}: {name} must be a number, got {text!r}.{how}") from error


def profile_of(table):
    """Return the `FeatureCosts`, by name, of one price list."""
    twice = table["feature"][table["feature"].duplicated()].unique().tolist()
    if twice:
        raise CostError(f"the price list names features more than once: {', '.join(twice)}.")
    table = table.reindex(columns=COLUMNS)
    prices = dict(zip(table["feature"], table["cost"], strict=True))
    # Such a charge would never be due.
    alone = table[table["group"].isna() & table["group_cost"].notna()]
    if len(alone):
        raise CostError(
            f"{alone.iloc[0]['feature']!r} has a group_cost but no group: name the group as well."
        )
    if table["group"].isna().all():
        return FeatureCosts(prices)
    groups, labels = pd.factorize(table["group"])
    if len({label.casefold() for label in labels}) < len(labels):
        named = ", ".join(map(repr, sorted(labels)))
        raise CostError(f"cost groups differ in capitals only: {named}. Write them the same way.")
    return FeatureCosts(prices, groups, [_charge(table, label) for label in labels])


def _charge(table, group):
    """Return the one charge that all members of a cost group share."""
    # `unique` counts NaN as a value, so that a gap and a number are a contradiction.
    charges = table["group_cost"][table["group"] == group].unique()
    if charges.size != 1 or math.isnan(charges[0]):
        found = ", ".join("none" if math.isnan(charge) else f"{charge:.10g}" for charge in charges)
        raise CostError(
            f"the members of cost group {group!r} must have the same group_cost, found {found}. It "
            "is charged once for the whole group: write it in the line of each member."
        )
    return charges[0]


def nonnegative(values, name):
    """Return `values` as a read-only float64 vector; raise `CostError` for invalid prices."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise CostError(f"{name} must be numbers, got {values!r}.") from error
    if array.ndim != 1:
        raise CostError(f"{name} must be a vector (one number each), got shape {array.shape}.")
    bad = np.flatnonzero(~((array >= 0) & (array <= MOST_AMOUNT)))
    if bad.size:
        raise CostError(
            f"{name} must be finite and >= 0, not above {MOST_AMOUNT:g}; entry {bad[0]} is "
            f"{array[bad[0]]} ({bad.size} such of {array.size}). Correct the price list."
        )
    # Read-only, because many estimators share the prices.
    array.flags.writeable = False
    return array
