"""What each part of the cascade contributes: the area on test data without it.

    python benchmarks/accuracy_cascade_parts.py wine vehicle --runs 3 --first 0

Data are split 60/20/20 (80 % to train on), with random prices from 1 to 100 (pima has its own). The
models of all stages are fitted once, and the variants use them in different ways:

    cascade            two orders, forest, boosting, linear and kernel; expected scores choose
    one order          LightGBM's alone
    no exits           every example stops at the same stage
    chosen by accuracy the observed accuracy chooses among the candidates, not the expected one
    forest, boosting   one kind of model alone

In addition, the whole estimator is measured with fixed orders, with a dynamic one, and with both
("auto").
"""

import argparse

import numpy as np
import pandas as pd

from budgetbench.datasets import load_dataset
from budgetbench.study.runs import draw_costs, draw_splits, iterate
from budgetlearn.cascade import ScheduleCascadeClassifier
from budgetlearn.cascade.fixed_order import Answers, Cascade, walk
from budgetlearn.cascade.models import StageModels, Table, as_kind, assign_folds
from budgetlearn.cascade.orders import geometric_stages, ordered_acquisitions
from budgetlearn.cascade.pool import Trace, candidates, class_evidence
from budgetlearn.curves import CostAccuracyCurve, pareto_indices

SEED = 20260101
KINDS = ("forest", "boosting", "linear", "kernel")


def pool_of(orders, models, kinds, table, costs):
    """Return the candidates of some orders with some kinds of models."""
    pool = []
    held_out = {key: found for key, found in models.held_out.items() if key[0] in kinds}
    some = StageModels({key: models.models[key] for key in held_out}, held_out)
    for name, stages in orders.items():
        mixtures = tuple(some.mixture(features, table) for features in stages)
        held_out = some.held_out_stages(stages, mixtures)
        spent = np.array([costs.subset(list(features)) for features in stages])
        cascade = Cascade(name, tuple(stages), spent, mixtures, None)
        bill = spent[:, None], cascade.sizes[:, None]
        trace = Trace(cascade, held_out, *bill).calibrated(table)
        evidence = class_evidence(trace, table, trace.predictions[-1])
        pool += candidates(evidence, costs.full)
    return pool


def variants(orders, models, table, costs):
    """Yield (name, candidates, scores to choose by)."""
    first = dict(list(orders.items())[:1])
    both = pool_of(orders, models, KINDS, table, costs)
    yield "cascade", both, "score"
    yield "one order", pool_of(first, models, KINDS, table, costs), "score"
    yield "no exits", [each for each in both if np.isnan(each.tradeoff)], "score"
    yield "chosen by accuracy", both, "observed"
    for kind in KINDS:
        yield kind, pool_of(orders, models, (kind,), table, costs), "score"


def area(pool, chooser, models, test, costs, constant):
    """Return the area under the staircase of the chosen candidates on the test data."""
    kept = pareto_indices([each.cost for each in pool], [getattr(each, chooser) for each in pool])
    points, answers = [], Answers(len(test[1]))
    for candidate in (pool[i] for i in kept):
        told = candidate.cascade.reader(models, test[0], answers)
        stops, predictions = walk(candidate, told, len(test[1]))
        right = predictions.argmax(axis=1) == test[1]
        points.append((candidate.cascade.costs[stops].mean(), right.mean()))
    return CostAccuracyCurve(*np.array(sorted(points)).T).area(costs.full, constant)


def areas(run):
    """Return the area of each variant in one run."""
    X, y = (np.concatenate(parts) for parts in zip(run.train, run.valid, strict=True))
    seed, n_classes = run.seed("cascade"), int(y.max()) + 1
    table = Table(X, y, n_classes, assign_folds(y, n_classes, 5, np.random.RandomState(seed)))
    orders = {
        name: geometric_stages(ordered_acquisitions(name, table, run.costs, seed), run.costs, 10)
        for name in ("boosted_path", "schedule")
    }
    kinds = {name: as_kind(name, n_classes) for name in KINDS}
    sets = [features for stages in orders.values() for features in stages]
    models = StageModels.fit(table, sets, kinds, seed)
    constant = (run.test[1] == np.bincount(y).argmax()).mean()
    found = {
        name: area(pool, chooser, models, run.test, run.costs, constant)
        for name, pool, chooser in variants(orders, models, table, run.costs)
    }
    for dynamic in (False, True, "auto"):
        model = ScheduleCascadeClassifier(
            feature_costs=run.costs, dynamic=dynamic, random_state=seed
        ).fit(X, y)
        points = [
            (stage.cost.mean(), (stage.output == run.test[1]).mean())
            for stage in model.stages(run.test[0])
        ]
        curve = CostAccuracyCurve(*np.array(sorted(points)).T)
        found[f"dynamic={dynamic}"] = curve.area(run.costs.full, constant)
    return found


def main():
    """Print a line for each run, and the means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    rows, numbers = [], range(options.first, options.first + options.runs)
    for name in options.datasets:
        data = load_dataset(name, offline=True)
        splits = draw_splits(data, numbers, SEED, (0.6, 0.2, 0.2))
        kind = "given" if name == "pima" else "random"
        given = pd.read_csv("resources/costs/pima.csv") if name == "pima" else None
        costs = draw_costs(data, kind, numbers, SEED, given)
        for run in iterate(data, splits, costs, kind, SEED):
            rows.append({"dataset": name, "run": run.number, **areas(run)})
            print({k: round(v, 4) if isinstance(v, float) else v for k, v in rows[-1].items()})
    print(pd.DataFrame(rows).drop(columns=["dataset", "run"]).mean().round(4).to_string())


if __name__ == "__main__":
    main()
