"""The reference lists every public name once."""

import re
import runpy
from pathlib import Path

import budgetlearn

PAGE = Path(__file__).parents[2] / "docs" / "reference.rst"


def test_every_public_name_has_a_page():
    listed = re.findall(r"^   (\w+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(set(budgetlearn.__all__) - {"__version__"})


def test_the_lists_are_up_to_date():
    script = runpy.run_path(str(PAGE.with_name("write_api.py")))
    assert script["reference"]() == PAGE.read_text("utf-8"), "run `make docs`."
