"""Runs: the repetitions of a study, each with its own split, cost profile and seed."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from budgetlearn.costs import FeatureCosts, profile_of, random_costs
from budgetlearn.exceptions import CostError, DatasetError
from budgetlearn.per_feature import PerFeature
from budgetlearn.validation import derive_seed

from ..datasets.dataset import TEST, TRAIN, VALID, split

# Share of the training rows that validate where the split that came with the data has no such part.
HELD_OUT = 0.1


@dataclass(frozen=True, eq=False)
class Run:
    """One repetition on one data set, the same for all methods."""

    dataset: str
    costs_kind: str
    number: int  # which repetition
    task: str  # "classification", "regression" or "ranking"
    costs: FeatureCosts  # the cost profile
    train: tuple  # X and y, as of the other parts
    valid: tuple
    test: tuple
    study_seed: int
    valid_queries: np.ndarray | None = None  # in ranking the query of each row
    test_queries: np.ndarray | None = None
    choosing: np.ndarray | None = None  # mask of test rows that choose between methods
    source: str = ""  # what the data were prepared from, as `Dataset.source` has it

    def seed(self, method):
        """Return the seed of `method` in this run."""
        return derive_seed(self.study_seed, self.dataset, self.number, method)


def draw_splits(dataset, runs, study_seed, sizes):
    """Return the part (0 train, 1 validation, 2 test) of each row in each run, a column of int8.

    Validation data choose among operating points: where `sizes` has no such part, it is a tenth of
    the training rows, and the test part stays whole.
    """
    return pd.DataFrame({str(run): _draw_split(dataset, run, study_seed, sizes) for run in runs})


def _draw_split(dataset, run, study_seed, sizes):
    part = split(dataset, derive_seed(study_seed, dataset.id, run, "split"), sizes)
    if (part == VALID).any():
        return part
    rows = np.flatnonzero(part == TRAIN)
    queries = None if dataset.groups is None else dataset.groups[rows]
    training = replace(dataset, X=dataset.X[rows], y=dataset.y[rows], groups=queries, part=None)
    seed = derive_seed(study_seed, dataset.id, run, "validation")
    part[rows] = split(training, seed, (1 - HELD_OUT, HELD_OUT, 0))
    return part


def draw_costs(dataset, kind, runs, study_seed, given=None):
    """Return a table of the costs in each run: run, feature, cost, group, group_cost."""
    names = list(dataset.feature_names)
    if kind == "given":
        # By name: rows are in the order of the features, a list may have another one.
        prices = PerFeature(f"the prices of {dataset.id}", "price", CostError, table="the data set")
        given = given.iloc[prices.in_order(pd.Series(range(len(given)), given["feature"]), names)]
    frames = []
    for run in runs:
        seed = derive_seed(study_seed, dataset.id, run, "costs")
        drawn = random_costs(len(names), seed).costs if kind == "random" else 1.0
        frame = given if kind == "given" else pd.DataFrame({"feature": names, "cost": drawn})
        frames.append(frame.assign(run=run))
    table = pd.concat(frames, ignore_index=True).reindex(
        columns=["run", "feature", "cost", "group", "group_cost"]
    )
    profiles_of(table, names)  # refuses prices that are not valid, here and not in the fits
    return table


def profiles_of(table, names):
    """Return {run: FeatureCosts} from the table that `draw_costs` made."""
    profiles = {}
    for run, part in table.groupby("run", sort=True):
        # In the order of the data: costs are then taken by index.
        in_order = part.set_index("feature").loc[list(names)].reset_index()
        profiles[int(run)] = profile_of(in_order).unnamed
    return profiles


def ratio_of_test_rows(dataset, study):
    """Return the number of test rows by each row that a model trains on.

    Beside a method that always trains on validation rows the intervals are wider than need be.
    """
    part = _draw_split(dataset, 0, study.seed, study.sizes(dataset.id))
    trained = (part == TRAIN) | (study.config.get("refit", False) & (part == VALID))
    return float((part == TEST).sum() / trained.sum())


def choosing_rows(dataset, study_seed):
    """Return a mask of the half of the data that chooses between methods where it is test data.

    `budgetbench.analysis.recommendations` says why. Rows that belong to a group stay together.
    """
    # Independent of the run, so that a row never chooses in one and tells in another.
    random = np.random.default_rng(derive_seed(study_seed, dataset.id, "choosing rows"))
    if dataset.groups is not None:
        return np.isin(dataset.groups, random.permutation(np.unique(dataset.groups))[::2])
    choosing = np.zeros(len(dataset.y), dtype=bool)
    # Every second in the order of the target: both halves have nearly the same classes.
    choosing[np.lexsort((random.random(len(dataset.y)), dataset.y))[::2]] = True
    return choosing


def iterate(dataset, splits, costs, costs_kind, study_seed):
    """Yield the `Run` of each column of `splits`, with the prices that `draw_costs` drew."""
    profiles = profiles_of(costs, dataset.feature_names)
    choosing = choosing_rows(dataset, study_seed)
    for column in splits.columns:
        part = splits[column].to_numpy()
        # X once for all runs, filled again only where gaps depend on the training rows.
        rows = [np.flatnonzero(part == which) for which in (TRAIN, VALID, TEST)]
        X = _filled(dataset, rows[TRAIN]) if dataset.gaps else dataset.X
        train, valid, test = ((X[index], dataset.y[index]) for index in rows)
        # What one setting of a method changed in place the next one would learn from.
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
            valid_queries=None if queries is None else queries[rows[1]],
            test_queries=None if queries is None else queries[rows[2]],
            choosing=choosing[rows[2]],
            source=dataset.source,
        )


def _filled(dataset, train):
    """Return X with each gap filled by the median, or the most frequent word, of training rows."""
    X = dataset.X.copy()
    for place, name in enumerate(dataset.feature_names):
        missing = np.isnan(X[:, place])
        if missing.any():
            known = X[train, place][~missing[train]]
            if not known.size:
                raise DatasetError(
                    f"{dataset.id}: column {name!r} is empty in all training rows of a run. Leave "
                    "it out, or take `missing: indicator`."
                )
            values, counts = np.unique(known, return_counts=True)
            word = name in dataset.categories
            X[missing, place] = values[counts.argmax()] if word else np.median(known)
    return X
