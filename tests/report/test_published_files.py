"""Tables of printed numbers and reasons: what is refused, and that ours are good."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from budgetbench.analysis.reproduction import QUANTITIES
from budgetbench.report.sections.printed import read_published, read_reasons
from budgetlearn.exceptions import ConfigError
from budgetlearn.files import read_yaml

ROOT = Path(__file__).resolve().parents[2]
HEAD = "paper,table,dataset,method,trees,quantity,value"


def printed(tmp_path, *lines, head=HEAD):
    path = tmp_path / "one.csv"
    path.write_text("\n".join([head, *lines]) + "\n")
    return read_published([path])


@pytest.mark.parametrize(
    ("lines", "head", "message"),
    [
        (["p,1,d,m,1,speed,3"], HEAD, "unknown quantity 'speed'; known: cost,"),
        (["p,1,d,m,1,3"], HEAD.replace("quantity,", ""), "need the column 'quantity'"),
        (["p,1,d,m,1,cost,3", "p,1,d,m,1,cost,4"], HEAD, "more than once"),
    ],
)
def test_wrong_tables_are_refused(tmp_path, lines, head, message):
    with pytest.raises(ConfigError, match=message):
        printed(tmp_path, *lines, head=head)


def rerun_tables():
    studies = (ROOT / "config" / "studies").glob("*.yaml")
    return sorted({n for s in studies for n in read_yaml(s).get("published", [])})


def test_every_table_that_a_study_reruns_is_good():
    names = rerun_tables()
    table = read_published([ROOT / "resources" / "published" / f"{name}.csv" for name in names])
    assert set(table["source"]) == set(names)
    good = table["quantity"].isin(list(QUANTITIES)) & np.isfinite(table["value"])
    assert good.all(), table.loc[~good, ["source", "dataset", "method", "quantity", "value"]]


def test_no_tables_are_an_empty_frame():
    assert isinstance(read_published([]), pd.DataFrame)
    assert read_published([]).empty


@pytest.mark.parametrize(
    "entry",
    [
        "{table: gif-regression}",
        "{table: gif-regression, why: so}",
        "{tabel: gif-regression, why: so, variant: gif-window}",
    ],
)
def test_an_entry_without_a_variant_is_refused(tmp_path, entry):
    (tmp_path / "d.yaml").write_text(f"- {entry}\n")
    with pytest.raises(ConfigError, match="needs `why` and `variant` and may have"):
        read_reasons(tmp_path / "d.yaml")


def test_every_reason_is_about_numbers_that_are_printed_and_names_a_study():
    folder = ROOT / "resources" / "published"
    for entry in read_reasons(folder / "deviations.yaml"):
        numbers = read_published([folder / f"{entry['table']}.csv"])
        for key in entry.keys() & {"dataset", "method", "setting", "quantity"}:
            assert entry[key] in set(numbers[key]), entry
        study = yaml.safe_load((ROOT / f"config/studies/{entry['variant']}.yaml").read_text())
        assert entry["table"] in study["published"]


def test_numbers_keep_the_digits_and_the_runs_that_are_printed(tmp_path):
    lines = ["p,1,d,m,1,mse,2.40,10", "p,1,d,m,2,mse,14,", "p,1,d,m,3,mse,0.0820,9"]
    table = printed(tmp_path, *lines, head=HEAD + ",runs")
    assert table["unit"].tolist() == pytest.approx([0.01, 1, 0.0001])
    assert table["printed_runs"].tolist() == [10, 1, 9]
    assert printed(tmp_path, "p,1,d,m,1,mse,2")["printed_runs"].tolist() == [1]
    assert table["setting"].tolist() == ["trees=1", "trees=2", "trees=3"]
