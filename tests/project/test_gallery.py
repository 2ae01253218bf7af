"""Every example of the gallery runs, in seconds, and prints or draws something.

`auto` compares its fast methods only, and forests are small; `make docs-html` runs the examples as
they are.
"""

import runpy
import warnings
from pathlib import Path

import pytest

from budgetlearn import RandomForestClassifier
from tests.auto.conftest import limit_methods

pytestmark = pytest.mark.usefixtures("quick_cascade")

EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path, capsys, monkeypatch):
    limit_methods(monkeypatch)
    monkeypatch.setitem(RandomForestClassifier.__init__.__kwdefaults__, "n_estimators", 20)
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    plt.close("all")
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        runpy.run_path(str(path))
    assert plt.get_fignums() or capsys.readouterr().out
    plt.close("all")


def test_there_are_ten_examples_that_begin_with_a_title():
    assert len(EXAMPLES) >= 10
    for path in EXAMPLES:
        quotes, title, line = path.read_text(encoding="utf-8").splitlines()[:3]
        assert quotes == '"""'
        assert line == "=" * len(title)
