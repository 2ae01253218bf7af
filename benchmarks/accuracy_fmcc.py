"""Accuracy of FMCC, VoC and random order against the number of acquired features.

    python benchmarks/accuracy_fmcc.py [--data FOLDER] [--draws 5] [letter satellite ...]

The settings are those of figure 2 of Nan et al. (2014):

- letter: the first 13 letters against the last 13, with 200 training and 100 test examples per
  letter and 1,000 boosted stumps;
- Landsat: the first three classes against the last three in its own split, with 1,000 boosted
  stumps;
- MiniBooNE: 1,000 balanced training examples and 300 of each class to test, with a linear SVM, from
  the sample `miniboone_tiny`. The 12 rows in which nothing was measured (all features are -999) are
  left out.

MiniBooNE's SVM is strongly regularised (C = 0.001 on standardised features). FMCC's estimate p
counts margins of the examples that the SVM was fitted to, so a closer fit makes it more optimistic;
`--svm-c 1` shows by how much.

The script prints the accuracy by number of features, FMCC's estimate p and its actual accuracy, and
on MiniBooNE the same for the neighbourhoods of table 1.
"""

import argparse

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from budgetbench.datasets import load_dataset
from budgetlearn.sequential import (
    FMCCClassifier,
    RandomOrderClassifier,
    VoCClassifier,
    boosted_stumps,
)

TEST = 2  # the part of a data set that was published as its test set


def per_class(y, n_train, n_test, seed):
    """Draw rows of each class: n_train to learn from, n_test to test."""
    rng = np.random.default_rng(seed)
    rows = [rng.permutation(np.flatnonzero(y == c))[: n_train + n_test] for c in np.unique(y)]
    return (
        np.concatenate([r[:n_train] for r in rows]),
        np.concatenate([r[n_train:] for r in rows]),
    )


def split_letter(data, seed):
    train, test = per_class(data.y, 200, 100, seed)
    return data.X, data.y >= 13, train, test


def split_satellite(data, seed):
    return data.X, data.y >= 3, np.flatnonzero(data.part != TEST), np.flatnonzero(data.part == TEST)


def split_miniboone(data, seed):
    measured = (data.X != -999).any(axis=1)
    X, y = data.X[measured], data.y[measured]
    return X, y == 1, *per_class(y, 500, 300, seed)


SPLITS = {
    "letter": split_letter,
    "satellite": split_satellite,
    "miniboone_tiny": split_miniboone,
}


def staged(model, X, y):
    """Return actual and estimated accuracy after 1, 2, ... features."""
    stages = zip(model.staged_predict(X), model.staged_predict_proba(X), strict=True)
    actual, estimated = [], []
    for predicted, probability in stages:
        columns = np.searchsorted(model.classes_, predicted)
        actual.append(np.mean(predicted == y))
        estimated.append(probability[np.arange(len(y)), columns].mean())
    return np.array([actual, estimated])


def one_draw(data, seed, estimator, neighborhoods):
    """Return actual and estimated accuracies of every method on one draw, by name."""
    X, y, train, test = SPLITS[data.id](data, seed)
    models = {
        f"fmcc {k}": FMCCClassifier(estimator, n_neighbors=k, random_state=seed)
        for k in neighborhoods
    }
    models["voc"] = VoCClassifier()
    models["random"] = RandomOrderClassifier(estimator, random_state=seed)
    return {
        name: staged(model.fit(X[train], y[train]), X[test], y[test])
        for name, model in models.items()
    }


def study(dataset, draws, svm_c, folder):
    """Print the table of one data set."""
    data = load_dataset(dataset, data_dir=folder)
    estimator, neighborhoods = boosted_stumps(), (65,)
    if dataset == "miniboone_tiny":
        svm = SVC(kernel="linear", C=svm_c)
        estimator, neighborhoods = make_pipeline(StandardScaler(), svm), (65, 125, 185)
    draws = 1 if dataset == "satellite" else draws
    results = [one_draw(data, seed, estimator, neighborhoods) for seed in range(draws)]
    mean = {name: np.mean([r[name] for r in results], axis=0) for name in results[0]}
    table = pd.DataFrame({name: actual for name, (actual, _) in mean.items()})
    for k in neighborhoods:
        table[f"p {k}"] = mean[f"fmcc {k}"][1]
    table.index = table.index + 1
    print(f"\n{dataset}: {draws} draw(s), accuracy after n features; p: estimate of FMCC")
    print(table.round(3).to_string(), flush=True)
    summarise(table, neighborhoods)


def summarise(table, neighborhoods):
    """Print where FMCC is better than the others, and the largest error of its estimate."""
    inner = table.iloc[1:-1]  # with all features, every order has the same score
    print(
        f"FMCC - random, least from 2 features to all but one: "
        f"{(inner['fmcc 65'] - inner['random']).min():+.3f}"
    )
    behind = table.index[table["fmcc 65"] <= table["voc"]]
    print(f"FMCC is not above VoC at: {behind.tolist() or 'no number of features'}")
    for k in neighborhoods:
        error = (table[f"p {k}"] - table[f"fmcc {k}"]).loc[15:].abs()
        print(f"K = {k}: |estimated - actual| from 15 features on: at most {error.max():.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=list(SPLITS))
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--svm-c", type=float, default=0.001)
    parser.add_argument("--data", help="folder with the raw files (default: fetch them)")
    arguments = parser.parse_args()
    for dataset in arguments.datasets:
        study(dataset, arguments.draws, arguments.svm_c, arguments.data)


if __name__ == "__main__":
    main()
