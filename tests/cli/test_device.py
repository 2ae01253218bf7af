"""`recommend --bytes`: the model that errs least in so many bytes, on the screen and in C."""

import re
import subprocess

import pytest

from budgetlearn.auto import device
from budgetlearn.cli import compare
from tests.cli.conftest import called_in, patients
from tests.export.test_c_code import FLAGS, needs_cc


@needs_cc
def test_recommend_names_and_writes_a_model_of_so_many_bytes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(compare, "run_snakemake", lambda *_: False)
    monkeypatch.setattr(device, "GROWN", 1)
    table = patients(150)
    table.loc[::9, ["smoker", "age"]] = None
    table.to_csv("table.csv", index=False)
    assert called_in(tmp_path, "compare", "table.csv", "--target", "ill")[0] == 0
    words = ("recommend", "results/table", "--bytes", "700", "--out", "model.h")
    status, said, err = called_in(tmp_path, *words)
    assert status == 0, err
    kind, size = re.match(r"Best within 700 bytes: a (forest|perceptron) of (\d+)\.", said).groups()
    assert int(size) <= 700
    errors = dict(re.findall(r"(forest|perceptron): share of wrong classes ([\d.]+)", said))
    assert float(errors[kind]) == min(map(float, errors.values()))
    assert "it returns 0, 1, … for: no, yes" in said
    # What stands for an empty cell: a whole range below the others, as training had it.
    age = 2 * table["age"].min() - table["age"].max() - 1
    assert float(re.search(r"x holds: .*age \(empty: ([-\d.]+)\)", said)[1]) == pytest.approx(age)
    assert "smoker (former, no, yes: 0, 1, …, empty: -1)" in said
    subprocess.run(["cc", *FLAGS, "-DMODEL_MAIN", "-x", "c", "model.h"], check=True, cwd=tmp_path)
    either = "either --budget or --bytes"
    for words, said in (
        (("--budget", "3", "--bytes", "700"), either),
        ((), either),
        (("--bytes", "700", "--guaranteed"), "--guaranteed needs a --budget"),
    ):
        status, _, err = called_in(tmp_path, "recommend", "results/table", *words)
        assert status == 2
        assert said in err
