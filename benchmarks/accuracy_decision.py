"""The automatic choice compared with each of its methods, on held-out rows.

    python benchmarks/accuracy_decision.py collect folder thyroid:0 wine:0
    python benchmarks/accuracy_decision.py collect folder fresh:11
    python benchmarks/accuracy_decision.py judge folder results.csv
    python benchmarks/accuracy_decision.py trial folder
    python benchmarks/accuracy_decision.py quotes quotes.csv twonorm:7 bank:7
    python benchmarks/accuracy_decision.py numbers numbers.csv friedman2:1 wine_proline:1

- `collect` fits every method of the choice on some rows of a table (name:seed) and stores its
  predictions, out of fold and for held-out rows.
- `judge` makes the choice from these predictions and compares it with the methods.
- `trial` chooses, for each table, how much worse a purchase may be than the best cheaper one
  (`TO_SPEND`), by the results on the other tables.
- `quotes` compares the costs that the cascade quotes with those of held-out rows, after learning
  from 300, 1,000 and 3,000 rows.
- `numbers` compares a cascade's R² out of fold with its R² on held-out rows, for the model of all
  rows and for those of the folds.

30 % of the rows are held out. Of the others, 300 are used to learn, and 40 columns of tables with
more. Prices are random. Regret is the score of the best method on the held-out rows minus that of
the choice. `thrifty` is the choice that buys only what scores more out of fold.

`unseen` names the 24 tables of the first test, on which rules have been tried since. `fresh` names
tables that no rule of the choice had seen, in the order in which they run: first data sets of which
no column had been used, then other targets of tables that had been used. `keel` names the tables of
`_keel_tables.py`, which no rule had seen either.
"""

import pickle
import sys
import warnings
from pathlib import Path
from time import monotonic

import numpy as np
import pandas as pd
from _keel_tables import KEEL, keel_table
from sklearn import datasets
from sklearn.datasets import make_classification
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

from budgetbench.datasets import load_dataset
from budgetlearn.auto import evidence
from budgetlearn.auto.estimator import SHARES
from budgetlearn.auto.evidence import (
    Comparison,
    Field,
    best_at_budgets,
    optimism,
    quoted_scores,
)
from budgetlearn.auto.methods import Stages, competitors
from budgetlearn.auto.scores import Objective, decide
from budgetlearn.cascade import ScheduleCascadeClassifier, ScheduleCascadeRegressor
from budgetlearn.cascade.mixture import with_temperature
from budgetlearn.cascade.models import assign_folds
from budgetlearn.cascade.pool import REFIT_ERROR
from budgetlearn.costs import random_costs
from budgetlearn.protocol.calibration import fit_temperature
from budgetlearn.protocol.checked_data import Examples
from budgetlearn.protocol.scoring import mean_and_error

MOST_ROWS, MOST_TESTED, MOST_COLUMNS = 300, 1500, 40
MOST_SECONDS = 240  # for a table; then the remaining methods are skipped, as with `max_minutes`
MADE = {
    "made_flip": {"n_features": 15, "n_informative": 4, "flip_y": 0.3, "weights": [0.7]},
    "made_easy": {"n_features": 20, "n_informative": 8, "class_sep": 1.5},
    "made_noise": {"n_features": 12, "flip_y": 1.0, "weights": [0.7]},
    "made_many": {"n_features": 25, "n_informative": 6, "n_classes": 4},
    "made_small": {"n_features": 20, "n_informative": 5, "flip_y": 0.15, "weights": [0.8]},
}
OTHERS = {
    "iris": (datasets.load_iris, {"return_X_y": True}, "classification"),
    "progression": (datasets.load_diabetes, {"return_X_y": True}, "regression"),
    "friedman2": (datasets.make_friedman2, {"n_samples": 1500, "noise": 100}, "regression"),
    "friedman3": (datasets.make_friedman3, {"n_samples": 1500, "noise": 0.1}, "regression"),
    "sparse": (datasets.make_sparse_uncorrelated, {"n_samples": 1500}, "regression"),
    "quantiles": (
        datasets.make_gaussian_quantiles,
        {"n_samples": 1500, "n_features": 8, "n_classes": 3},
        "classification",
    ),
    "blobs": (
        datasets.make_blobs,
        {"n_samples": 1500, "n_features": 8, "centers": 5, "cluster_std": 6},
        "classification",
    ),
}
_NAMES = """
    abalone california covertype_sample friedman1 gaussian_mixture_06 letter_binary vowel_binary
    hastie twonorm ringnorm indicator steel hwang_f5 waveform spambase madelon musk2
    miniboone_tiny_scaled
"""
STORED = _NAMES.split()
_FRESH = """
    naval usci_test physionet hwang_simple ct_slice_sample cube budgetrf_example madelon_like
    waveform40 mnist_8v9 satellite
"""
OTHER_TARGETS = {  # a column of a table, to be predicted from the others
    "heart_rate": ("heart", 7),
    "wine_proline": ("wine", 12),
    "pima_glucose": ("pima", 1),
    "bank_age": ("bank", 0),
    "concrete_cement": ("concrete", 0),
}
# The last ones, which have many classes and take the longest.
MANY_CLASSES = ["digits", "vowel", "mfeat_pix", "letter"]
FRESH = [*_FRESH.split(), *OTHER_TARGETS, "progression", *MANY_CLASSES]
UNSEEN = [*(each for each in OTHERS if each != "progression"), *STORED]
LISTS = {"unseen": UNSEEN, "fresh": FRESH, "keel": [*KEEL]}
BUDGETS = {0.05: 1, 0.1: 2, 0.25: 4, 0.5: 6}  # share of the full cost: place among SHARES
TRIED = [0.0, -0.25, -0.5, -0.75, -1.0, -1.25, -1.5, -2.0, -3.0, -np.inf]
ALL_FEATURES = ("LightGBM", "linear model")


def parts_of(name, seed, most=MOST_ROWS, most_tested=MOST_TESTED):
    """Return training rows, rows held out, and the task."""
    if name in MADE:
        n = 400 if name == "made_small" else 2000
        X, y = make_classification(n, random_state=seed, **MADE[name])
        task = "classification"
    elif name in OTHERS:
        make, parameters, task = OTHERS[name]
        drawn = {} if "return_X_y" in parameters else {"random_state": seed}
        X, y = make(**parameters, **drawn)
    elif name in OTHER_TARGETS:
        table, column = OTHER_TARGETS[name]
        X, task = np.asarray(load_dataset(table, offline=True).X, dtype=float), "regression"
        X, y = np.delete(X, column, axis=1), X[:, column]
    elif name in KEEL:
        (X, y), task = keel_table(name), "classification"
    else:
        data = load_dataset(name, offline=True)
        X, y, task = np.asarray(data.X, dtype=float), np.asarray(data.y), data.task
    if X.shape[1] > MOST_COLUMNS and name in (*STORED, *FRESH, *KEEL):
        X = X[:, np.random.RandomState(seed).permutation(X.shape[1])[:MOST_COLUMNS]]
    classes = y if task == "classification" else None
    train, test = train_test_split(
        np.arange(len(y)), test_size=0.3, random_state=seed, stratify=classes
    )
    train, test = train[:most], test[:most_tested]
    if task == "classification":
        labels, counts = np.unique(y[train], return_counts=True)
        known = labels[counts > 1]
        train, test = train[np.isin(y[train], known)], test[np.isin(y[test], known)]
    return (X[train], y[train]), (X[test], y[test]), task


class Keeping(Comparison):
    """A comparison that keeps the predictions of each policy."""

    kept = None

    def _policy(self, method, place, found, spent, seen):
        Keeping.kept.append((method.name, place, method.everything, found, spent))
        return super()._policy(method, place, found, spent, seen)


def collected(name, seed):
    """Return every policy's predictions of training rows, out of fold, and of held-out rows."""
    (X, y), (X_test, y_test), task = parts_of(name, seed)
    classes = np.unique(y) if task == "classification" else None
    codes = y.astype(float) if classes is None else np.searchsorted(classes, y)
    costs = random_costs(X.shape[1], seed + 1)
    budgets, Keeping.kept = [share * costs.full for share in SHARES], []
    objective = Objective("r2" if classes is None else "accuracy")
    examples = Examples(X, codes, y)
    # The prediction that costs nothing: the mean, or class shares.
    constant = np.atleast_1d(codes.mean()) if classes is None else np.bincount(codes) / len(y)
    made = Keeping(
        train=examples,
        classes=classes,
        costs=costs,
        budgets=budgets,
        objective=objective,
        seed=0,
        n_jobs=1,
        deadline=monotonic() + MOST_SECONDS,
        fill=None,
        constant=constant,
    )
    methods = competitors(classes is not None, X.shape[1])
    policies, skipped = made.run(methods)
    free = np.tile(constant, (len(y_test), 1))
    test = [(0, free, np.zeros(len(y_test)), (0.0, 0.0))]
    for method in methods:
        if method.name not in skipped:
            model = made.fitted(method, examples)
            stages = Stages(model, X)
            for k, policy in enumerate(policies):
                if policy.method is method:
                    stage = stages.choose(budgets[policy.place])
                    if stage is None:
                        test.append((k, free, np.zeros(len(y_test)), (0.0, 0.0)))
                    else:
                        said = made.predicted(model, stage, X_test)
                        test.append((k, *said, stages.quoted(stage, policy.inflation)))
    targets = y_test if classes is None else np.searchsorted(classes, y_test)
    about = {"name": name, "seed": seed, "n": len(y), "K": made.n_classes, "full": costs.full}
    return {**about, "y": codes, "yt": targets, "kept": Keeping.kept, "test": test}


def quoted_costs(name, seed):
    """Yield a cascade's quoted cost and its cost on other rows, by number of rows and budget."""
    for most in (300, 1000, 3000):
        (X, y), (X_test, _), task = parts_of(name, seed, most, 4000)
        if len(y) < 0.8 * most:
            return
        costs = random_costs(X.shape[1], seed + 1)
        kind = ScheduleCascadeClassifier if task == "classification" else ScheduleCascadeRegressor
        model = kind(feature_costs=costs, random_state=0).fit(X, y)
        stages = Stages(model, X)
        for share in (*BUDGETS, 1.0):
            chosen = stages.choose(share * costs.full)
            if chosen is None:
                continue
            cost, error = stages.quoted(chosen, 1.0)
            paid = costs.total(list(model.stages(X_test, {"acquired"}))[chosen].acquired).mean()
            near = abs(paid - cost) <= 0.1 * paid
            yield {
                "table": name,
                "rows": most,
                "budget": share,
                "quoted": cost,
                "error": error,
                "paid": paid,
                "near": near,
            }


def r2_out_of_fold(name, seed):
    """Yield a cascade's R² by budget: out of fold, and held out with all rows and with fewer."""
    (X, y), (X_test, y_test), _ = parts_of(name, seed)
    costs = random_costs(X.shape[1], seed + 1)
    shares = (*BUDGETS, 1.0)

    def predicted(rows, *tables):
        model = ScheduleCascadeRegressor(feature_costs=costs, random_state=0).fit(X[rows], y[rows])
        stages = Stages(model, X[rows])
        chosen = [stages.choose(share * costs.full) for share in shares]
        for table in tables:
            made = [stage.output for stage in model.stages(table, {"output"})]
            nothing = np.full(len(table), y[rows].mean())
            yield np.array([nothing if k is None else made[k] for k in chosen])

    (of_all,) = predicted(np.arange(len(y)), X_test)
    folds = assign_folds(y, None, 5, np.random.RandomState(0))
    left_out, fewer = np.zeros((len(shares), len(y))), []
    for fold in range(5):
        out = folds == fold
        left_out[:, out], of_test = predicted(np.flatnonzero(~out), X[out], X_test)
        fewer.append([r2_score(y_test, each) for each in of_test])
    for k, share in enumerate(shares):
        yield {
            "table": name,
            "seed": seed,
            "budget": share,
            "out_of_fold": r2_score(y, left_out[k]),
            "all_rows": r2_score(y_test, of_all[k]),
            "fewer_rows": np.mean(fewer, axis=0)[k],
        }


def judged_policies(data, with_costs):
    """Return the field of the policies, and scores and costs of each on held-out rows."""
    y, y_test, n_classes = data["y"], data["yt"], data["K"]
    if with_costs:
        # Errors cost 0.3 to 2 times the price of everything, drawn once for a table.
        random = np.random.RandomState(len(y))
        errors = random.uniform(0.3, 2, (n_classes, n_classes)) * data["full"]
        objective = Objective("total_cost", errors * (1 - np.eye(n_classes)))
    else:
        objective = Objective("r2" if n_classes is None else "accuracy")
    costs = None if n_classes is None else objective.decision_costs(y, n_classes)
    test = {each[0]: each[1:] for each in data["test"]}
    rows, held_out, quotes = [], [], []
    for k, (*_, found, spent) in enumerate(data["kept"]):
        predicted, paid, quote = test[k]
        if n_classes is not None:
            temperature = fit_temperature(found.reshape(-1, n_classes), np.tile(y, len(found)))
            found = [with_temperature(each, temperature) for each in found]
            predicted = with_temperature(predicted, temperature)
        decided = [None if n_classes is None else decide(each, costs) for each in found]
        parts = zip(found, decided, spent, strict=True)
        rows.append(np.mean([objective.rows(y, *each) for each in parts], axis=0))
        label = None if n_classes is None else decide(predicted, costs)
        held_out.append(objective.rows(y_test, predicted, label, paid))
        quotes.append((*quote, paid.mean(), paid.std() / np.sqrt(paid.size)))
    names, places, whole = zip(*[each[:3] for each in data["kept"]], strict=True)
    spends = not with_costs
    field = Field(np.array(rows), list(names), np.array(places), np.array(whole), spends)
    return field, np.array(held_out), np.array(quotes)


def spending(field, limit):
    """Return the choice for each budget if purchases must be better by `limit` standard errors."""
    before, evidence.TO_SPEND = evidence.TO_SPEND, limit
    chosen = best_at_budgets(field)
    evidence.TO_SPEND = before
    return chosen


def judged(data, with_costs=False):
    """Yield a record for each budget: the choice, the constant and each method."""
    field, held_out, quotes = judged_policies(data, with_costs)
    thrifty, chosen = spending(field, 0.0), best_at_budgets(field)
    expected = quoted_scores(field, chosen, optimism(field, 0))
    scores = held_out.mean(axis=1)
    errors = held_out.std(axis=1) / np.sqrt(held_out.shape[1])
    means = field.rows.mean(axis=1)
    for share, place in {**BUDGETS, 1.0: len(SHARES) - 1}.items():
        pool = {field.names[k]: k for k in np.flatnonzero(field.places == place) if k}
        own = chosen[place]
        about = {"table": data["name"], "seed": data["seed"], "rows": data["n"], "budget": share}
        quote = expected.get(own, means[own])
        error = mean_and_error(field.rows[own])[1] * (REFIT_ERROR if own else 1.0)
        yield {
            **about,
            "objective": "total cost" if with_costs else "score",
            "chosen": field.names[own],
            "auto": scores[own],
            "auto_se": errors[own],
            "quoted": quote,
            "quoted_se": error,
            "quoted_cost": quotes[own, 0],
            "quoted_cost_se": quotes[own, 1],
            "cost": quotes[own, 2],
            "cost_se": quotes[own, 3],
            "thrifty": scores[thrifty[place]],
            "constant": scores[0],
            "constant_se": errors[0],
            **{name: scores[k] for name, k in pool.items()},
        }


def report(table):
    """Print how good the choice is, and how often its quotes are right."""
    for objective, part in table.groupby("objective"):
        methods = part.columns[part.columns.get_loc("constant_se") + 1 :]
        at_budgets, full = part[part["budget"] < 1], part[part["budget"] == 1]
        singles = [name for name in methods if name not in ALL_FEATURES]
        names = ["auto", *singles]
        scores = at_budgets[names].T.fillna(at_budgets["constant"]).T.astype(float)
        best = np.maximum(scores.max(axis=1), at_budgets["constant"])
        print(
            f"{objective}: {part['table'].nunique()} tables, {len(at_budgets)} budgets below full"
        )
        regret = (-scores).add(best, axis=0)
        # A method that ran out of time or has no regressor is compared where it has a result.
        ran = at_budgets[singles].notna()
        own = regret[singles].where(ran).mean()
        same = {name: regret["auto"][ran[name]].mean() for name in singles}
        print(pd.DataFrame({"cases": ran.sum(), "regret": own, "auto there": same}).round(4))
        print(f"regret of the thrifty choice: {(best - at_budgets['thrifty']).mean():.4f}")
        below = at_budgets["auto"] < at_budgets["constant"] - at_budgets["constant_se"]
        print(f"below the constant by a standard error: {below.sum()} of {len(below)}")
        target = np.maximum(full["constant"], full["LightGBM"])
        kept = full["auto"] >= target - full["auto_se"].clip(lower=1e-9)
        print(f"full budget, at least constant and LightGBM: {kept.sum()} of {len(kept)}")
        bought = part[part["chosen"] != "constant"]
        gap = (bought["auto"] - bought["quoted"]).abs()
        inside = gap < 2 * np.hypot(bought["auto_se"], bought["quoted_se"])
        near = (bought["cost"] - bought["quoted_cost"]).abs() <= 0.1 * bought["cost"]
        print(f"quoted score within its interval: {inside.mean():.3f}")
        print(f"quoted cost within 10 %: {near.mean():.3f}")
        gap = (bought["cost"] - bought["quoted_cost"]).abs()
        inside = gap <= 2 * np.hypot(bought["cost_se"], bought["quoted_cost_se"]) + 1e-9
        print(f"quoted cost within its interval: {inside.mean():.3f}")
        if objective == "total cost":
            # The choice on each table, compared with the method that is best over all tables.
            mean = at_budgets[singles].mean().idxmax()
            won = at_budgets["auto"] >= at_budgets[mean].fillna(at_budgets["constant"]) - 1e-9
            print(f"total cost at most that of {mean}: {won.mean():.3f}")


def trial(cases):
    """Print the regret of each table with `TO_SPEND` chosen on the other tables, and with 0.

    `cases` holds the name, the field and the mean scores on held-out rows of each table.
    """
    names = sorted({name for name, *_ in cases})
    regret = np.zeros((len(TRIED), len(names)))
    for name, field, scores in cases:
        for which, limit in enumerate(TRIED):
            chosen = spending(field, limit)
            for place in BUDGETS.values():
                pool = [
                    k
                    for k in np.flatnonzero(field.places == place)
                    if field.names[k] not in ALL_FEATURES
                ]
                lost = max(scores[[0, *pool]]) - scores[chosen[place]]
                regret[which, names.index(name)] += lost / len(BUDGETS)
    regret /= [sum(each == name for each, *_ in cases) for name in names]
    # The first one spends least, so it is taken among equals.
    best = (regret.sum(axis=1, keepdims=True) - regret).argmin(axis=0)
    own = regret[best, np.arange(len(names))]
    print(pd.DataFrame({"set": np.array(TRIED)[best], "regret": own, "at 0": regret[0]}, names))
    lower, higher = (own < regret[0] - 1e-12).sum(), (own > regret[0] + 1e-12).sum()
    print(f"mean {own.mean():.5f}, at 0 {regret[0].mean():.5f}: lower {lower}, higher {higher}")
    for limit, row in zip(TRIED, regret, strict=True):
        print(f"{limit:6} on all: {row.mean():.5f}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[2])
    if sys.argv[1] == "collect":
        folder.mkdir(parents=True, exist_ok=True)
        for case in sys.argv[3:]:
            name, seed = case.split(":")
            for each in LISTS.get(name, [name]):
                path = folder / f"{each.replace('/', '_')}-{seed}.pkl"
                if not path.exists():
                    path.write_bytes(pickle.dumps(collected(each, int(seed))))
    elif sys.argv[1] == "quotes":
        cases = (case.split(":") for case in sys.argv[3:])
        table = pd.DataFrame([row for name, seed in cases for row in quoted_costs(name, int(seed))])
        table.to_csv(sys.argv[2], index=False)
        if table.empty:
            sys.exit("Each table has fewer than 240 rows to learn from.")
        print(table.groupby("rows")["near"].agg(["mean", "size"]).round(3))
    elif sys.argv[1] == "numbers":
        cases = (case.split(":") for case in sys.argv[3:])
        rows = [row for name, seed in cases for row in r2_out_of_fold(name, int(seed))]
        pd.DataFrame(rows).to_csv(sys.argv[2], index=False)
        table = pd.DataFrame(rows).groupby(["table", "seed"]).mean().drop(columns="budget")
        table["of_more_rows"] = table["all_rows"] - table["fewer_rows"]
        table["of_these_rows"] = table["fewer_rows"] - table["out_of_fold"]
        print(table.round(3).to_string(), table.agg(["mean", "sem"]).round(4).to_string(), sep="\n")
    elif sys.argv[1] == "trial":
        cases = [pickle.loads(path.read_bytes()) for path in sorted(folder.glob("*.pkl"))]
        policies = [(data["name"], *judged_policies(data, False)[:2]) for data in cases]
        trial([(name, field, held_out.mean(axis=1)) for name, field, held_out in policies])
    else:
        records = []
        for path in sorted(folder.glob("*.pkl")):
            data = pickle.loads(path.read_bytes())
            records += judged(data)
            if data["K"] is not None:
                records += judged(data, with_costs=True)
        table = pd.DataFrame(records)
        table.round(4).to_csv(sys.argv[3], index=False)
        report(table)
