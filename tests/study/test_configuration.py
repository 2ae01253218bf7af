"""Settings from the command line mean what they mean in a file."""

import json
import math
from pathlib import Path

import pytest

from budgetbench.study.study import Study, check_schema, typed, with_defaults
from budgetlearn.exceptions import BudgetlearnError, ConfigError

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"


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
        (
            "overrides",
            {"msb": {"n": ["5", "-0.5", "5x", "yes"]}},
            {"msb": {"n": [5, -0.5, "5x", True]}},
        ),
        ("no_such_key", "true", True),
    ],
)
def test_text_is_read_as_the_schema_asks(key, text, value):
    assert typed({key: text}, SCHEMA) == {key: value}


@pytest.mark.parametrize("key", ["runs", "runs_per_job", "seed", "tries"])
def test_whole_numbers_are_the_same_however_they_are_written(key):
    study, same = planned({key: 3.0}), planned({key: 3})
    assert study.config == same.config
    assert isinstance(study.config[key], int)
    assert study.points_files == same.points_files


def planned(more):
    """Return the study of a configuration of one data set and two methods."""
    asked = {"study": "odd", "datasets": ["wine"], "methods": ["random_forest", "constant"]}
    return Study.from_config(with_defaults(asked | more, ROOT), ROOT)


def test_what_cannot_be_read_so_is_refused():
    config = typed({"offline": "yes please", "split": "givn"}, SCHEMA)
    config["by_dataset"] = {"wine": {"split": {"per_class": [5, 0, 3]}}}
    config |= {"time_limit": math.nan, "memory_limit": math.inf, "runs": math.inf}
    with pytest.raises(ConfigError) as told:
        check_schema(config, SCHEMA, "the study")
    for line in (
        "offline: 'yes please' is not of type 'boolean'",
        "split: 'givn' is not valid under any of the given schemas: write for example given or {",
        "time_limit: nan is not of type 'number', 'null'",
        "memory_limit: inf is not of type 'number', 'null'",
        "runs: inf is not of type 'integer'",
        "by_dataset.wine.split.per_class.1: 0 is less than the minimum of 1",
    ):
        assert f"  {line}" in str(told.value)


def test_a_study_without_the_constant_is_told_so():
    config = {"methods": ["msb"]}
    with pytest.raises(ConfigError, match=r"methods: \['msb'\] lacks 'constant', which every"):
        check_schema(config, SCHEMA, "the study")


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"parameters": {"n_treees": 5}}, "has no parameter n_treees; it has .*n_trees"),
        ({"space": [{"n_trees": [[5]]}, {"estimater__depth": [1]}]}, "no parameter estimater__de"),
        ({"grid": {"depht": [1]}}, "has no parameter depht"),
    ],
)
@pytest.mark.parametrize("place", ["overrides", "by_dataset"])
def test_a_misspelt_parameter_is_refused_at_planning(own, said, place):
    more = {"overrides": {"random_forest": own}}
    with pytest.raises(ConfigError, match=said):
        planned(more if place == "overrides" else {"by_dataset": {"wine": more}})


def test_a_misspelt_parameter_of_an_inner_estimator_is_refused_at_planning():
    inner = {"class": "budgetlearn.forests.RandomForestClassifier", "parameters": {"n_tree": 5}}
    with pytest.raises(ConfigError, match="RandomForestClassifier has no parameter n_tree"):
        planned({"overrides": {"random_forest": {"parameters": {"estimator": inner}}}})
    with pytest.raises(ConfigError, match=r"method random_forest: 'nowhere\.Forest' is not"):
        planned({"overrides": {"random_forest": {"class": "nowhere.Forest"}}})


@pytest.fixture
def own_table(tmp_path):
    """The settings of a study of a table of three classes, whose target a rule may change."""
    table = tmp_path / "own.csv"
    lines = [f"{row % 7},{row % 5},{'abc'[row % 3]}" for row in range(30)]
    table.write_text("\n".join(["one,two,kind", *lines]) + "\n")
    entry = {"title": "Own", "task": "classification"}
    source = {"csv": str(table), "target": "kind"}

    def settings(**more):
        registry = {"datasets": {"own": {**entry, "source": {**source, **more.pop("source", {})}}}}
        (tmp_path / "registry.yaml").write_text(json.dumps(registry))
        return {"datasets": ["own"], "datasets_file": str(tmp_path / "registry.yaml"), **more}

    return settings


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            {"split": {"train": 20, "valid": 6, "test": 5}},
            "has 30 rows, but the sizes .* need more",
        ),
        ({"split": {"per_class": [6, 3, 2]}}, "class"),
        ({"split": {"train": 28, "valid": 1, "test": 1}}, "class 'a' has 10 of 30 rows, too few"),
        ({"split": "given"}, "has no split of its own"),
        ({"scoring": "roc_auc"}, "has: accuracy, balanced_accuracy, f1_macro, neg_log_loss"),
        ({"source": {"target": "sort"}}, "sort"),
    ],
)
def test_what_an_own_table_has_not_the_rows_for_is_refused_at_planning(own_table, more, said):
    study = planned(own_table(**more))
    with pytest.raises(BudgetlearnError, match=said):
        study.check_tables()


def test_grades_of_relevance_are_refused_at_planning(own_table, tmp_path):
    entry = {"title": "Own", "task": "ranking"}
    entry["source"] = {"csv": str(tmp_path / "own.csv"), "target": "one"}
    entry["source"]["group"] = "two"
    own = own_table()
    for labels in ({}, {"labels": {"at_least": 2}}):
        registry = {"datasets": {"own": entry | labels}}
        (tmp_path / "registry.yaml").write_text(json.dumps(registry))
        if labels:
            planned(own).check_tables()
        else:
            with pytest.raises(ConfigError, match=r"grades up to 6, .*`labels: \{at_least: 1\}`"):
                planned(own).check_tables()


def test_methods_of_one_label_are_refused_at_planning():
    same = {"overrides": {"msb": {"label": "logitB"}}, "methods": ["msb", "logitb", "constant"]}
    with pytest.raises(ConfigError, match="Several methods have the label 'logitB'"):
        planned(same)


def test_what_an_own_table_has_the_rows_for_is_planned(own_table, monkeypatch):
    for split in ({"train": 20, "valid": 5, "test": "rest"}, {"per_class": [6, 2, 2]}):
        planned(own_table(split=split, scoring="f1_macro")).check_tables()
    study = planned(own_table(scoring="roc_auc"))
    monkeypatch.setattr("budgetbench.study.study.SMALL_TABLE", 10)
    study.check_tables()  # larger tables are left to the jobs


@pytest.mark.parametrize(
    "sizes",
    [
        {"train": 0.6, "valid": 0.3, "test": 0.2},
        {"train": 0.6, "valid": 0.2, "test": 0.1},
        {"train": 0.6, "valid": 0.2, "test": "rest"},
        {"train": 60, "valid": 0.2, "test": 0.2},
    ],
)
def test_shares_that_do_not_sum_to_1_are_refused_at_planning(sizes):
    for more in ({"split": sizes}, {"by_dataset": {"wine": {"split": sizes}}}):
        with pytest.raises(ConfigError, match="Shares of a split must sum to 1, got"):
            planned(more)
    planned({"split": {"train": 60, "valid": 20, "test": "rest"}})


@pytest.mark.parametrize("value", [3, None, "n_trees"])
def test_overrides_that_are_no_settings_are_told_so(value):
    more = {"overrides": {"random_forest": value}}
    with pytest.raises(ConfigError, match=r"overrides\.random_forest: .* is not of type 'object'"):
        planned(more)
    with pytest.raises(ConfigError, match=r"overrides\.random_forest: .* is not of type 'object'"):
        planned({"by_dataset": {"wine": more}})


def test_a_split_by_classes_stands_in_place_of_the_shares_of_every_study():
    assert planned({"split": {"per_class": [10, 10, 10]}}).sizes("wine") == {
        "per_class": [10, 10, 10]
    }
    assert planned({"split": {"train": 0.5, "valid": 0.3}}).sizes("wine") == [0.5, 0.3, 0.2]
