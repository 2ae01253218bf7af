"""The tutorial's code runs, and prints what the page says."""

import doctest
from pathlib import Path

from budgetbench.datasets import load_dataset

ROOT = Path(__file__).parents[2]


def test_tutorial_prints_what_it_says(tmp_path, monkeypatch, data_dir):
    import matplotlib
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BUDGETLEARN_DATA", str(data_dir))
    (tmp_path / "resources").mkdir()
    (tmp_path / "resources" / "costs").symlink_to(ROOT / "resources" / "costs")
    with matplotlib.rc_context({"backend": "agg"}):
        load_dataset("pima")
        page = str(ROOT / "docs" / "tutorial.md")
        failed, tried = doctest.testfile(page, module_relative=False)
        plt.close("all")
    assert tried > 15
    assert not failed
