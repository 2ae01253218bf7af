"""Runs: the repetitions of a study, each with its own split, cost profile and seed."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pandas as pd

from budgetlearn.costs import COLUMNS, FeatureCosts, profile_of, random_costs
from budgetlearn.exceptions import CostError, DatasetError
from budgetlearn.per_feature import PerFeature
from budgetlearn.validation import derive_seed

from ..datasets.dataset import TEST, TRAIN, VALID, split
from ..datasets.table_files import own_prices

# Share of the training rows that become validation data if a split has no validation part.
HELD_OUT = 0.1


@dataclass(frozen=True, eq=False)
class Run:
    """One repetition on one data set, the same for all methods."""

    dataset: str
    costs_kind: str
    number: int  # of the repetition
    task: str  # "classification", "regression" or "ranking"
    costs: FeatureCosts  # the cost profile
    train: tuple  # X and y, like `valid` and `test`
    valid: tuple
    test: tuple
    study_seed: int
    valid_queries: np.ndarray | None = None  # query of each row, in ranking
    test_queries: np.ndarray | None = None
    choosing: np.ndarray | None = None  # mask of test rows that choose between methods
    source: str = ""  # `Dataset.source`: hash of what the data were prepared from

    def seed(self, method):
        """Return the seed of `method` in this run."""
        return derive_seed(self.study_seed, self.dataset, self.number, method)


def draw_splits(dataset, runs, study_seed, sizes):
    """Return a frame with a column for each run: the part of each row, as from `split`."""
    return pd.DataFrame({str(run): _draw_split(dataset, run, study_seed, sizes) for run in runs})


def _draw_split(dataset, run, study_seed, sizes):
    part = split(dataset, derive_seed(study_seed, dataset.id, run, "split"), sizes)
    if (part == VALID).any():
        return part
    # Operating points are chosen on validation data, so a tenth of the training rows becomes that.
    rows = np.flatnonzero(part == TRAIN)
    seed = derive_seed(study_seed, dataset.id, run, "validation")
    part[rows] = split(dataset.take(rows), seed, (1 - HELD_OUT, HELD_OUT, 0))
    return part


def draw_costs(dataset, kind, runs, study_seed, given=None):
    """Return a table of the costs in each run: run, feature, cost, group, group_cost."""
    names = list(dataset.feature_names)
    if kind == "given":
        # Sorted by feature, as the price list may have another order.
        prices = PerFeature(f"the prices of {dataset.id}", "price", CostError, table="the data set")
        given = given.iloc[prices.in_order(pd.Series(range(len(given)), given["feature"]), names)]
    frames = []
    for run in runs:
        seed = derive_seed(study_seed, dataset.id, run, "costs")
        drawn = random_costs(len(names), seed).costs if kind == "random" else 1.0
        frame = given if kind == "given" else pd.DataFrame({"feature": names, "cost": drawn})
        frames.append(frame.assign(run=run))
    table = pd.concat(frames, ignore_index=True).reindex(columns=["run", *COLUMNS])
    profiles_of(table, names)  # raises for invalid prices here, before any fit
    return table


def given_prices(study, prices):
    """Return {data set: `FeatureCosts`} of the price lists as they are now, not as in `prices`."""
    found = {}
    for (dataset, kind), drawn in prices.groupby(["dataset", "costs"]):
        names = drawn["feature"].unique()
        for path in study.price_list(dataset, kind):
            now = own_prices(path, study.unpriced(dataset))
            shown = SimpleNamespace(id=dataset, feature_names=names)
            table = draw_costs(shown, kind, [0], study.seed, now)
            found[dataset] = profiles_of(table, names)[0]
    return found


def profiles_of(table, names):
    """Return {run: FeatureCosts} from the table of `draw_costs`."""
    profiles = {}
    for run, part in table.groupby("run", sort=True):
        # In the order of the data, because costs are then used by index.
        in_order = part.set_index("feature").loc[list(names)].reset_index()
        profiles[int(run)] = profile_of(in_order).unnamed
    return profiles


def ratio_of_test_rows(dataset, study):
    """Return the ratio of test rows to the rows that a model trains on."""
    # For methods that always train on validation rows too, it is too high, and intervals too wide.
    part = _draw_split(dataset, 0, study.seed, study.sizes(dataset.id))
    trained = (part == TRAIN) | (bool(study.config.get("refit")) & (part == VALID))
    return float((part == TEST).sum() / trained.sum())


def choosing_rows(dataset, study_seed):
    """Return a mask of the half of the rows that choose between methods when they are test data."""
    # For the reason see `budgetbench.analysis.recommendations`. Independent of the run, so that no
    # row chooses in one run and evaluates the choice in another.
    random = np.random.default_rng(derive_seed(study_seed, dataset.id, "choosing rows"))
    if dataset.groups is not None:  # which stay together
        return np.isin(dataset.groups, random.permutation(np.unique(dataset.groups))[::2])
    choosing = np.zeros(len(dataset.y), dtype=bool)
    # Every second row in the order of the target, so both halves have nearly the same classes.
    choosing[np.lexsort((random.random(len(dataset.y)), dataset.y))[::2]] = True
    return choosing


def iterate(dataset, splits, costs, costs_kind, study_seed):
    """Yield the `Run` of each column of `splits`, with the prices of `draw_costs`."""
    profiles = profiles_of(costs, dataset.feature_names)
    choosing = choosing_rows(dataset, study_seed)
    for column in splits.columns:
        part = splits[column].to_numpy()
        # All runs share X, unless it has gaps, which are filled from each run's training rows.
        rows = [np.flatnonzero(part == which) for which in (TRAIN, VALID, TEST)]
        X = _filled(dataset, rows[TRAIN]) if dataset.gaps else dataset.X
        train, valid, test = ((X[index], dataset.y[index]) for index in rows)
        # Read-only: if a fit changed data in place, later fits would learn from the changed data.
        for values in (*train, *valid, *test):
            values.flags.writeable = False
        run, queries = int(column), dataset.groups if dataset.task == "ranking" else None
        yield Run(
            dataset=dataset.id,
            costs_kind=costs_kind,
            number=run,
            task=dataset.task,
            costs=profiles[run],
            train=train,
            valid=valid,
            test=test,
            study_seed=study_seed,
            valid_queries=None if queries is None else queries[rows[VALID]],
            test_queries=None if queries is None else queries[rows[TEST]],
            choosing=choosing[rows[TEST]],
            source=dataset.source,
        )


def _filled(dataset, train):
    """Return X with gaps filled by the median or the most frequent word of the training rows."""
    X = dataset.X.copy()
    for place, name in enumerate(dataset.feature_names):
        missing = np.isnan(X[:, place])
        if missing.any():
            known = X[train, place][~missing[train]]
            if not known.size:
                raise DatasetError(
                    f"{dataset.id}: column {name!r} is empty in all training rows of a run. Drop "
                    "it, or set `missing: indicator`."
                )
            values, counts = np.unique(known, return_counts=True)
            word = name in dataset.categories
            X[missing, place] = values[counts.argmax()] if word else np.median(known)
    return X
