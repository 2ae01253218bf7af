"""The order in which jobs start: if a long one began last, the other cores would be idle."""

import re

import pandas as pd
import pytest

pytestmark = pytest.mark.workflow
STUDY = ["study=s", "methods=[msb,gif_squared,constant]", "datasets=[wine,heart]", "runs=2"]


def priorities(workflow):
    """Return {rule, with its method if it has one: priorities of its planned jobs}."""
    code, output = workflow.plan("-n", "--config", *STUDY)
    assert code == 0, output
    found = {}
    for job in re.split(r"^ *(?=(?:local)?rule \w+:$)", output, flags=re.MULTILINE)[1:]:
        rule, *method = re.findall(r"rule (\w+):|method=(\w+)", job)
        key = " ".join(filter(None, (rule[0], *(name for _, name in method))))
        (priority,) = re.findall(r"priority: (\S+)", job) or [0]
        found.setdefault(key, []).append(float(priority))
    return found


def test_what_others_wait_for_comes_first_then_the_heaviest(make_workflow):
    workflow = make_workflow()
    found = priorities(workflow)
    ahead = ("fetch", "prepare", "costs", "split", "msb_importance msb")
    fits = [found[name] for name in ("msb_sequence msb", "fit gif_squared", "fit constant")]
    assert min(min(found[name]) for name in ahead) > max(map(max, fits))
    # Nothing is known yet, so the order is that of the study's methods.
    assert min(fits[0]) > max(fits[1])
    assert min(fits[1]) > max(fits[2]) > 0
    for method, data, seconds in (
        ("gif_squared", "wine", 9),
        ("gif_squared", "heart", 1),
        ("constant", "wine", 3),
    ):
        usage = workflow.folder / f"results/s/usage/fit/{data}/random/{method}/0.tsv"
        usage.parent.mkdir(parents=True)
        usage.write_text(f"s\th:m:s\n{seconds}\t0:00:01\n")
        points = workflow.folder / f"results/s/points/{data}/random/{method}/0.parquet"
        points.parent.mkdir(parents=True, exist_ok=True)
        row = {"fit": 0, "fit_seconds": 0.1, "added_seconds": 0.1}
        pd.DataFrame([{"run": run} | row for run in (0, 1)]).to_parquet(points)
    fits = priorities(workflow)
    slow, quick = sorted(fits["fit gif_squared"], reverse=True)
    known, unknown = sorted(fits["fit constant"])
    assert unknown > slow > known > quick
