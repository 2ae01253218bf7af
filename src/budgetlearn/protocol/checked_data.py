"""Checks of training and validation data and of tables to predict; codes of words.

Words are the values of columns with pandas' type category. If the type is not ordered, there is no
order in which a threshold could split them, so one is learned from the target. With two classes or
one number, the best split of a node's words is a prefix of their order by mean target (Fisher
1958). With several, the order along the first principal component of the mean targets comes close
(Coppersmith et al. 1999). It is learned once rather than at each node, which predicts as well
(Wright and König 2019), and never from held-out rows, because the code of a rare word would reveal
their targets.
"""

import warnings
from dataclasses import dataclass, field, replace
from math import isfinite

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from ..costs import FeatureCosts
from ..exceptions import BudgetlearnWarning, MissingValueError
from ..per_feature import PerFeature, check_same_columns, columns_of
from ..preprocessing.categories import as_number
from ..validation import ParameterError, check_classes, codes_of_groups, holdout, in_row, listed
from .feature_requests import missing_message

_EXAMPLE = PerFeature("values of the example", "value", ParameterError)
LARGEST_DENSE = 2**32  # most bytes that a sparse table may take as a dense array
# Pseudo-examples with the mean target, added to each word, so that rare words stay in the middle.
SMOOTHING = 10.0
MOST_WORDS = 10  # most words listed in a message


def working_dtype(estimator):
    """Return the dtype that an estimator uses if it has a choice."""
    return estimator._dtypes[0]


def _validated(estimator, X, *y, **how):
    """Return the result of scikit-learn's check; its error for a bad cell names the cell."""
    try:
        return validate_data(estimator, X, *y, **how)
    except (TypeError, ValueError, OverflowError) as error:
        X = X.to_pandas() if hasattr(type(X), "to_pandas") else X  # a table of pyarrow
        # The type of an array, such as a sparse one, is an error that scikit-learn explains itself.
        explained = isinstance(error, TypeError) and not hasattr(X, "columns")
        if explained or np.ndim(X) != 2 or not np.isrealobj(X):
            raise
        for name, column in pd.DataFrame(X).items():
            plain = isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf"
            cells = column if plain else column.map(as_number)  # slow: for words
            cells = cells.to_numpy(np.float64, na_value=np.nan)
            if (rows := np.flatnonzero(np.isinf(cells))).size:
                raise ParameterError(
                    f"feature {name!r} is {str(column.iloc[rows[0]])!r:.40} {in_row(rows)}, which "
                    "is not a finite number. Words need pandas' type category, or a "
                    "BudgetPreprocessor."
                ) from error
        raise


def dense(estimator, X):
    """Return a sparse table as a dense array if the estimator accepts sparse tables, else X."""
    # Complex numbers are left to scikit-learn's check, which explains the error.
    if not estimator._takes_sparse or not issparse(X) or np.iscomplexobj(X):
        return X
    # As in dense tables, single precision is kept if the estimator accepts it.
    dtype = np.dtype(X.dtype if X.dtype in estimator._dtypes else working_dtype(estimator))
    n_bytes = np.prod(X.shape, dtype=float) * dtype.itemsize
    if n_bytes > LARGEST_DENSE:
        raise ParameterError(
            f"X is sparse, of shape {X.shape}, and would take {n_bytes:.3g} bytes as a dense "
            f"array, more than {LARGEST_DENSE}: choose fewer rows or columns."
        )
    return X.astype(dtype).toarray()


def checked_table(estimator, X):
    """Return X as an array, and the names of the absent columns, which are filled with NaN."""
    if _passes_as_it_is(estimator, X):
        return X, []
    check_is_fitted(estimator)
    absent, names = [], estimator.feature_costs_.names
    if hasattr(X, "reindex") and hasattr(X, "columns") and names is not None:
        known = set(X.columns)
        absent = [name for name in names if name not in known]
        # If there are unknown columns, too, leave the error to scikit-learn's check.
        if absent and known < set(names) and len(known) == len(X.columns):
            X = X.reindex(columns=list(names))
    check_same_columns(X, names)
    X = learned_codes(estimator, dense(estimator, X))
    kind = {"dtype": estimator._dtypes, "ensure_all_finite": "allow-nan"}
    return _validated(estimator, X, reset=False, **kind), absent


def _passes_as_it_is(estimator, X):
    """Return whether X needs no check: checks take longer than the models of a single row."""
    known = vars(estimator)
    if "n_features_in_" not in known or "feature_names_in_" in known or estimator.categories_:
        return False
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype not in estimator._dtypes:
        return False
    # A sum is finite only if all numbers are and, unlike a mask, takes no memory.
    with np.errstate(over="ignore", invalid="ignore"):
        return len(X) > 0 and X.shape[1] == known["n_features_in_"] and isfinite(X.sum())


def complete_table(estimator, X):
    """Return X, checked; raise `MissingValueError` if the default stage needs a missing cell."""
    X, absent = checked_table(estimator, X)
    refuse_missing(estimator, missing_cells(estimator, X, estimator._default_stage()), absent)
    return X


def one_row(estimator, x):
    """Return one example, an array, dict, Series or frame, as a checked table of one row."""
    if not hasattr(x, "columns"):
        check_is_fitted(estimator)
        labels, values = _EXAMPLE.labelled(x)
        # As objects: in an array with words, numbers would become text.
        x = np.atleast_2d(np.array(values, dtype=object))
        if labels is not None:
            names = estimator.feature_costs_.names
            places = _EXAMPLE.places(labels, names, estimator.n_features_in_)
            x = pd.DataFrame(x[:, places], columns=names)
    if len(x) != 1:
        raise ValueError(f"explain takes one example, got {len(x)} rows. Pass them one by one.")
    return checked_table(estimator, x)[0]


def stage_of(estimator, X, index, want):
    """Return the `Stage` of an index with the wanted parts, applied to checked examples."""
    return next(iter(estimator._stages(X, [index], frozenset(want))))


def missing_cells(estimator, X, index):
    """Return the mask of the missing cells that a stage needs, or None if there are none."""
    # Most tables are complete; then the stage need not be applied.
    missing = np.isnan(X)
    if not missing.any():
        return None
    stage = stage_of(estimator, X, index, {"acquired"})
    # Features with missing values in training may be missing: the model has learned from them.
    missing &= stage.acquired & ~estimator.missing_in_training_
    return missing if missing.any() else None


def refuse_missing(estimator, missing, absent):
    """Raise `MissingValueError` for cells, as from `missing_cells`, and for absent columns."""
    if missing is None:
        return
    # The message names the first cell in reading order and counts the others.
    rows, features = np.nonzero(missing)
    labels = estimator.feature_costs_.labels
    if labels[features[0]] not in absent:
        raise MissingValueError(missing_message(rows, labels[features[0]]))
    needed = [labels[each] for each in np.unique(features) if labels[each] in absent]
    raise MissingValueError(
        "The feature names should match those that were passed during fit.\n"
        f"Feature names seen at fit time, yet now missing:\n- {min(absent, key=str)}\n"
        f"The prediction needs {listed(needed, form=repr)}: add what is missing, or pass "
        "fallback=True to predict with the next best model that does without."
    )


def refuse_unlearned(estimator, valid):
    """Return validation examples; raise if a feature that training always has is missing."""
    rows, features = np.nonzero(np.isnan(valid.X) & ~estimator.missing_in_training_)
    if rows.size:
        name = estimator.feature_costs_.labels[features[0]]
        raise MissingValueError(
            f"X_val has no value (NaN) of feature {name!r} {in_row(rows, 'cells')}, but no "
            "training example lacks it, so no model has learned to do without it: fill it in, or "
            "leave those rows out."
        )
    return valid


ROWS = 2**16  # rows of a block in which missing values are looked for
# Least ratio of two weights: below it, the smaller one is lost in the rounding of their sum.
LIGHTEST = 1e-12
# Factor of a limit that sums of weights must reach, as weights are rounded to single precision.
ROUNDED = 1 - 2.0**-22


@dataclass(frozen=True, eq=False)
class Examples:
    """Training or validation rows."""

    X: np.ndarray  # checked, of shape (n_samples, n_features)
    # Index of each class among `classes_`, -1 for one unknown in training; numbers in regression.
    y: np.ndarray
    targets: np.ndarray  # y as the caller gave it
    weight: np.ndarray | None = None  # positive, 1 on average in training; None: 1 each
    # For each column of words without an order, by index: the original place of each code's word.
    given: dict[int, np.ndarray] = field(default_factory=dict)
    groups: np.ndarray | None = None  # int (n_samples,): group of each row; None: no groups

    @property
    def n_groups(self):
        """Number of groups, or of rows if there are no groups."""
        return len(self.y) if self.groups is None else np.unique(self.groups).size

    def take(self, rows):
        """Return the examples of these rows."""
        weight = None if self.weight is None else self.weight[rows]
        groups = None if self.groups is None else self.groups[rows]
        return Examples(self.X[rows], self.y[rows], self.targets[rows], weight, self.given, groups)

    def codes_by_target(self, n_classes):
        """Return, for each column of words, the codes in the order learned from these examples."""
        codes = {}
        for at, ranks in self.given.items():
            known = ~np.isnan(self.X[:, at])
            if ranks.size > 1 and known.any():
                places = self.X[known, at].astype(np.intp)
                order = target_order(places, self.y[known], self.weights[known], n_classes, ranks)
                codes[at] = np.argsort(order)
        return codes

    def ordered_by(self, rows, n_classes):
        """Return the examples with words coded in the order learned from some of the rows."""
        return self.recoded(self.take(rows).codes_by_target(n_classes)) if self.given else self

    def recoded(self, codes):
        """Return the examples with new codes of words; `codes` has an array for each column."""
        given = {at: self.given[at][np.argsort(new)] for at, new in codes.items()}
        return replace(self, X=recoded(self.X, codes), given={**self.given, **given})

    def held_out(self, fraction, random, estimator):
        """Split into training and validation examples, stratified by class."""
        train, valid = holdout(self.y, fraction, random, is_classifier(estimator))
        return self.take(train), self.take(valid)

    def joined(self, other):
        """Return these and the other examples, without those of classes unknown in training."""
        # Models have no column for an unknown class; in regression, -1 is a number like others.
        if other.y.dtype.kind == "i":
            other = other.take(np.flatnonzero(other.y != -1))
        weighed = self.weight is not None or other.weight is not None
        weight = np.concatenate([self.weights, other.weights]) if weighed else None
        X, y = np.concatenate([self.X, other.X]), np.concatenate([self.y, other.y])
        targets, groups = np.concatenate([self.targets, other.targets]), self.groups
        if groups is not None:  # each of the other examples is a group of its own
            groups = np.append(groups, groups.max() + 1 + np.arange(len(other.y)))
        return Examples(X, y, targets, weight, self.given, groups)

    def weighed_for(self, estimator):
        """Return the examples with sample weights times class weights, 1 on average."""
        class_weight = getattr(estimator, "class_weight", None)
        if class_weight is not None:
            shares = _class_weights(class_weight, estimator.classes_, self)
            return replace(self, weight=_relative(self.weights * shares[self.y], "weights"))
        return self if self.weight is None else replace(self, weight=_relative(self.weight))

    @property
    def weights(self):
        """The weight of each example, an array even if all are 1."""
        return np.ones(len(self.y)) if self.weight is None else self.weight


def checked_examples(estimator, X, y, X_val, y_val, weight, groups=None):
    """Return checked training and validation examples (or None), and set fitted attributes."""
    takes_missing, classifies = estimator._takes_missing, is_classifier(estimator)
    finite = "allow-nan" if takes_missing else True
    checks = {"dtype": estimator._dtypes, "ensure_all_finite": finite}
    kind = {"y_numeric": not classifies, "multi_output": estimator._multi_output}
    given, kinds = given_codes(dense(estimator, X))
    X, y = _validated(estimator, given, _labels(y) if classifies else y, **checks, **kind)
    X, y, weight, groups = _weighed(X, y, weight, codes_of_groups(groups, X))
    if classifies:
        estimator.classes_, codes = check_classes(y)
    else:  # small integers overflow in sums and differences, which booleans lack
        codes = y = y.astype(np.float64, copy=False)
    names = columns_of(given)  # scikit-learn ignores names that are numbers
    estimator.feature_costs_ = FeatureCosts.of(estimator.feature_costs, X.shape[1], names)
    # A feature with missing values in training may also be missing later.
    estimator.missing_in_training_ = missing = np.zeros(X.shape[1], dtype=bool)
    # In blocks of rows, because a mask of the whole table may not fit into memory.
    for start in range(0, len(X) if takes_missing else 0, ROWS):
        missing |= np.isnan(X[start : start + ROWS]).any(axis=0)
    X, words = without_absent(X, kinds)
    labels = estimator.feature_costs_.labels
    estimator.categories_ = {labels[at]: each for at, each in words.items()}
    ranks = {at: np.arange(len(words[at])) for at, kind in kinds.items() if not kind.ordered}
    # `weighed_for` adds class weights later, when the training rows are known.
    train = Examples(X, codes, y, weight, ranks, groups)
    if groups is not None and train.n_groups == 1:
        raise ParameterError("groups must be two or more, got one, which cannot be held out.")
    estimator.constant_ = _constant(train, estimator)
    if (X_val is None) != (y_val is None):
        raise ParameterError("X_val and y_val belong together: give both or none.")
    if X_val is None:
        return train, None
    # Before scikit-learn's check, which ignores names that are not text.
    check_same_columns(X_val, names)
    X_val = learned_codes(estimator, dense(estimator, X_val))
    # Missing values are left to `refuse_unlearned`, which explains the error.
    X_val = _validated(estimator, X_val, reset=False, **checks | {"ensure_all_finite": "allow-nan"})
    return train, _validation(estimator, X_val, y_val, train.y)


def _labels(y):
    """Return labels, none missing; scikit-learn would turn pandas' nullable ones into floats."""
    if (rows := np.flatnonzero(y is not None and pd.isna(y))).size:
        raise ParameterError(f"y contains NaN or None {in_row(rows)}. Leave these rows out.")
    y = y.iloc[:, 0] if hasattr(y, "iloc") and y.shape[1:] == (1,) else y
    kind = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    return y if kind is None else np.asarray(y, dtype=kind)


def learned_together(estimator, train, valid):
    """Return all examples with ordered words, for a method that also trains on validation data."""
    if valid is not None:
        train = train.joined(valid)
        estimator.missing_in_training_ |= np.isnan(valid.X).any(axis=0)
        estimator.constant_ = _constant(train, estimator)
    return words_by_target(estimator, train)[0]


def n_classes_of(estimator):
    """Return the number of classes in training; None in regression."""
    return estimator.classes_.size if is_classifier(estimator) else None


def words_by_target(estimator, train, valid=None):
    """Return both sets of examples with words in the order of `train`; set `categories_` alike."""
    codes = train.codes_by_target(n_classes_of(estimator))
    labels, words = estimator.feature_costs_.labels, estimator.categories_
    ordered = {labels[at]: words[labels[at]][np.argsort(new)] for at, new in codes.items()}
    estimator.categories_ = words | ordered
    valid = valid and replace(refuse_unlearned(estimator, valid), given=train.given)
    return train.recoded(codes), valid and valid.recoded(codes)


def table_for(other, estimator, X):
    """Return a table that `estimator` has checked with the codes of `other` for the same words."""
    codes = {
        at: pd.Index(other.categories_[name]).get_indexer(estimator.categories_[name])
        for at, name in enumerate(estimator.feature_costs_.labels)
        if name in estimator.categories_
    }
    return recoded(X, codes)


def _weighed(X, y, weight, groups):
    """Return the examples with positive weight, and their weights, 1 on average."""
    if weight is None:
        return X, y, None, groups
    weight = checked_weight(weight, X)
    counts = weight > 0
    # A row with weight 0 must not affect medians, bins or classes either.
    if not counts.all():
        X, y, weight = X[counts], y[counts], weight[counts]
        groups = None if groups is None else groups[counts]
    return X, y, _relative(weight), groups


def checked_weight(weight, X):
    """Return the weights of the examples as floats, checked."""
    weight = _check_sample_weight(weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weight.any():
        raise ParameterError("sample_weight must not be 0 everywhere.")
    return weight


def _relative(weight, name="sample_weight"):
    """Return positive weights divided by their mean, or None if all are equal."""
    ratio = weight / weight.max()  # so that sums do not overflow
    if ratio.min() < LIGHTEST:
        raise ParameterError(
            f"{name} must not differ by more than a factor of {1 / LIGHTEST:g}, got "
            f"{weight.min():g} and {weight.max():g}: leave out the examples of tiny weight."
        )
    # Rounded to single precision, so that the unit of the weights cannot change a bit and a tie.
    single = (ratio / ratio.mean()).astype(np.float32)
    return single.astype(np.float64) if np.ptp(single) else None


def _class_weights(class_weight, classes, examples):
    if isinstance(class_weight, str) and class_weight == "balanced":
        weights = 1 / np.bincount(examples.y, examples.weight, classes.size)
    else:
        weights = compute_class_weight(class_weight, classes=classes, y=examples.targets)
        if not (np.isfinite(weights) & (weights > 0)).all():
            what = f"class_weight must give each class a finite number > 0, got {class_weight!r}"
            raise ParameterError(f"{what}. To ignore rows, give them a sample_weight of 0.")
    return weights / weights.max()


def _constant(examples, estimator):
    """Return the class shares; in regression, the means of the outputs, or the median for MAE."""
    # Weighted like the models, so that it is the model without features.
    codes, weight = examples.y, examples.weighed_for(estimator).weight
    if is_classifier(estimator):
        counts = np.bincount(codes, weight, estimator.classes_.size)
        return counts / counts.sum()
    if str(getattr(estimator, "scoring", None)) == "neg_mean_absolute_error":
        return np.atleast_1d(weighted_quantile(codes, 0.5, weight))
    shares = np.full(len(codes), 1 / len(codes)) if weight is None else weight / weight.sum()
    return np.atleast_1d(shares @ codes)  # sums weighted by shares do not overflow


def weighted_quantile(values, share, weight):
    """Return the weighted quantile of each column, always one of its values."""
    weights = None if weight is None else np.broadcast_to(weight, values.T.shape).T
    share = share * (1 - 1e-12 if weight is None else ROUNDED)  # a share reached exactly counts
    return np.quantile(values, share, axis=0, method="inverted_cdf", weights=weights)


def _validation(estimator, X, y, known):
    check_consistent_length(X, y)
    y = estimator._targets(y, "y_val")
    if not is_classifier(estimator):
        y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y_val")
        wanted, given = (each.size // len(each) for each in (known, y))
        if given != wanted:
            raise ParameterError(f"y_val must hold {wanted} outputs, as y does, got {given}.")
        return Examples(X, y, y)
    # An unknown label becomes -1, which no prediction equals.
    place = {label: code for code, label in enumerate(estimator.classes_.tolist())}
    codes = np.array([place.get(label, -1) for label in y.tolist()], dtype=np.intp)
    if not (codes >= 0).any():
        raise ParameterError(
            f"y_val has no class of y: y has {list(place)[:5]}, y_val {y[:5].tolist()}. Write the "
            "labels of both in the same form."
        )
    return Examples(X, codes, y)


def given_codes(X):
    """Return a frame with words coded in their original order, and pandas' types by column."""
    kinds = dict(enumerate(X.dtypes)) if hasattr(X, "isetitem") else {}
    kinds = {at: kind for at, kind in kinds.items() if isinstance(kind, pd.CategoricalDtype)}
    if not kinds:
        return X, {}
    coded = X.copy(deep=False)
    for at in kinds:
        coded.isetitem(at, _codes(X.iloc[:, at], kinds[at].categories))
    return coded, kinds


def _codes(column, words):
    """Return the index of each word as a float, NaN for unknown ones."""
    places = words.get_indexer(pd.Index(column)).astype(np.float64)
    return np.where(places < 0, np.nan, places)


def without_absent(X, kinds):
    """Return the array X without codes of absent words, and the words by column index."""
    codes, words = {}, {}
    for at, kind in kinds.items():
        present = np.unique(X[~np.isnan(X[:, at]), at]).astype(np.intp)
        codes[at] = np.zeros(len(kind.categories))
        codes[at][present] = np.arange(present.size)
        words[at] = kind.categories[present].to_numpy()
    return recoded(X, codes), words


def recoded(X, codes):
    """Return X with new codes of its words; `codes` has an array for each column index."""
    if not codes:
        return X
    X = X.copy()
    for at, new in codes.items():
        known = ~np.isnan(X[:, at])
        X[known, at] = new[X[known, at].astype(np.intp)]
    return X


def target_order(places, targets, weight, n_classes, ranks):
    """Return the words 0, 1, … in the order of their targets; ties are broken by `ranks`."""
    if n_classes is not None:
        targets = np.eye(n_classes)[targets]
    targets = np.reshape(targets, (len(places), -1))
    centred = targets - weight @ targets / weight.sum()
    # Outputs are scaled, so that their units do not matter; shares of classes have the same unit.
    if n_classes is None:
        scale = np.sqrt(weight @ centred**2)
        centred = centred / np.where(scale > 0, scale, 1.0)
    mass = np.bincount(places, weight, ranks.size)
    sums = [np.bincount(places, weight * column, ranks.size) for column in centred.T]
    means = np.transpose(sums) / (mass + SMOOTHING)[:, None]
    axis = np.linalg.eigh(means.T @ (mass[:, None] * means))[1][:, -1]
    # The sign of the axis is arbitrary: fix it by its largest component, the last one in a tie.
    longest = np.abs(axis).round(9)
    axis = axis * np.sign(axis[np.flatnonzero(longest == longest.max())[-1]])
    # Rounded, so that floating-point errors do not order words with equal targets.
    score = means @ axis  # 0, that of the average target, for words without examples
    return np.lexsort((ranks, (score / (np.abs(score).max() or 1.0)).round(12)))


def learned_codes(estimator, X):
    """Return a table with words coded as in training; warn of unknown ones, which become NaN."""
    categories = estimator.categories_
    if not categories or np.ndim(X) != 2:
        return X
    labels = estimator.feature_costs_.labels
    if not hasattr(X, "isetitem"):
        # In an array, columns are identified by position.
        if np.shape(X)[1] != len(labels):
            return X
        X = pd.DataFrame(np.asarray(X, dtype=object), columns=list(labels))
    coded = X.copy(deep=False)
    for at, name in enumerate(X.columns):
        if name in categories:
            coded.isetitem(at, column_codes(X.iloc[:, at], name, categories[name]))
    return coded


def column_codes(column, name, words):
    """Return the codes of a column of words; warn of unknown ones, which become NaN."""
    codes = _codes(column, pd.Index(words))
    unknown = np.flatnonzero(np.isnan(codes) & ~pd.isna(np.asarray(column, dtype=object)))
    if unknown.size:
        first = np.asarray(column, dtype=object)[unknown[0]]
        hint = " One is a number, the other text." if str(first) in map(str, words) else ""
        warnings.warn(
            f"feature {name!r} is {str(first)!r} {in_row(unknown)}, which no training example has: "
            f"it counts as a missing value. Training has {listed(words, MOST_WORDS)}.{hint}",
            BudgetlearnWarning,
            stacklevel=2,
        )
    return codes


def word_code(value, name, words):
    """Return the code of one word, NaN for a missing one; raise `ValueError` for an unknown one."""
    if pd.isna(value):
        return np.nan
    place = pd.Index(words).get_indexer([value])[0]
    if place < 0:
        wanted = f"one of {listed(words, MOST_WORDS)} (NaN: unavailable)"
        raise ValueError(f"feature {name!r} must be {wanted}, got {str(value)!r}.")
    return float(place)
