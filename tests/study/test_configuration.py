"""Settings from the command line mean what they mean in a file."""

from pathlib import Path

import pytest

from budgetbench.study.study import check_schema, typed
from budgetlearn.exceptions import ConfigError

SCHEMA = Path(__file__).resolve().parents[2] / "workflow" / "schemas" / "config.schema.yaml"


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("offline", "true", True),
        ("offline", "False", False),
        ("time_limit", "null", None),
        ("time_limit", 4, 4),
        ("data_dir", "null", None),
        ("data_dir", "7", "7"),
        ("title", "true", "true"),
        ("datasets", "wine", ["wine"]),
        ("datasets", "wine, digits", ["wine", "digits"]),
        ("datasets", ["wine"], ["wine"]),
        ("costs", "unit", ["unit"]),
        ("methods", "msb, constant", ["msb", "constant"]),
        ("split", {"train": "0.5", "test": "rest"}, {"train": 0.5, "test": "rest"}),
        ("split", "given", "given"),
        ("overrides", {"msb": {"n": ["5", "-.5", "5x"]}}, {"msb": {"n": [5, -0.5, "5x"]}}),
        ("no_such_key", "true", True),
    ],
)
def test_text_is_read_as_the_schema_asks(key, text, value):
    assert typed({key: text}, SCHEMA) == {key: value}


def test_what_cannot_be_read_so_is_refused():
    config = typed({"offline": "yes please"}, SCHEMA)
    with pytest.raises(ConfigError, match="offline: 'yes please' is not of type 'boolean'"):
        check_schema(config, SCHEMA, "the study")


def test_a_study_without_the_constant_is_told_so():
    config = {"methods": ["msb"]}
    with pytest.raises(ConfigError, match=r"methods: \['msb'\] lacks 'constant', which every"):
        check_schema(config, SCHEMA, "the study")
