"""Time of FMCC against a plain NumPy Algorithm 1 and against VoC, on Landsat.

    python benchmarks/speed_fmcc.py [--data FOLDER] [--repeats 5]

The 2,000 test points are classified with all 36 features (the threshold never stops) by 1,000
boosted stumps learnt from 4,435 points. The plain Algorithm 1 is the slow twin of the tests
(`tests/sequential/reference.py`), on the first points of the same test set. The script also
compares the acquisitions of both. All run in one thread; the fastest of several repeats counts.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from _measuring import least
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from budgetbench.datasets import load_dataset
from budgetlearn.sequential import FMCCClassifier, VoCClassifier, boosted_stumps

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.sequential.reference import algorithm_1, stump_margins

TWIN_POINTS, VOC_POINTS = 50, 256


def plain_orders(model, X, y, points):
    """Return a function that runs the plain Algorithm 1 on `points`."""
    scaler = StandardScaler().fit(X)
    train, rows = scaler.transform(X), scaler.transform(points)
    sign = np.where(y, 1.0, -1.0)
    margins, offsets = stump_margins(model.estimators_[0], X, sign)
    weight, costs = np.ones(len(train)), model.feature_costs_

    def walked(row):
        return algorithm_1(
            train,
            margins,
            offsets,
            weight,
            row,
            costs,
            n_neighbors=65,
            threshold=1.0,
            cost_weight=0.0,
            max_cost=np.inf,
        )[0]

    return lambda: [walked(row) for row in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the raw files (default: fetch them)")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    data = load_dataset("satellite", data_dir=arguments.data)
    train, test = data.part == 0, data.part == 2
    X, y, points = np.ascontiguousarray(data.X[train]), data.y[train] >= 3, data.X[test]
    fmcc = FMCCClassifier(boosted_stumps(), threshold=1.0, random_state=0).fit(X, y)
    voc = VoCClassifier(threshold=1.0).fit(X, y)
    with threadpool_limits(1):
        ours, order = least(lambda: fmcc._walk(points).order, arguments.repeats)
        plain = plain_orders(fmcc, X, y, points[:TWIN_POINTS])
        twin, twin_order = least(plain, arguments.repeats)
        value, _ = least(lambda: voc._walk(points[:VOC_POINTS]), 2)
    same = np.mean(order[:TWIN_POINTS] == np.array(twin_order))
    ours, twin, value = ours / len(points), twin / TWIN_POINTS, value / VOC_POINTS
    print(
        f"FMCC, compiled:        {ours * 1e3:8.3f} ms per point ({ours * len(points):.2f} s in all)"
    )
    print(f"Algorithm 1 in NumPy:  {twin * 1e3:8.3f} ms per point, {twin / ours:.1f} times ours")
    print(f"VoC:                   {value * 1e3:8.3f} ms per point, {value / ours:.1f} times FMCC")
    print(f"same purchases as Algorithm 1: {same:.1%} of {len(twin_order)} x {X.shape[1]}")


if __name__ == "__main__":
    main()
