"""What a study's configuration asks for, and how mistakes in it are told."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import yaml

from budgetbench.study.methods import build
from budgetbench.study.study import Study, with_defaults
from budgetlearn.cli.compare import REGRESSORS
from budgetlearn.exceptions import BudgetlearnError, ConfigError
from budgetlearn.files import read_yaml

ROOT = Path(__file__).resolve().parents[2]
COMMON = read_yaml(ROOT / "config" / "config.yaml")
DEFAULT = COMMON | read_yaml(ROOT / "config" / "studies" / "showcase.yaml")
# What a test changes stands alone.
PLAIN = {**DEFAULT, "overrides": {}, "by_dataset": {}, "datasets": ["wine", "digits", "twonorm"]}


def changed(**changes):
    return Study.from_config({**PLAIN, **changes}, ROOT)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"methods": ["msb", "logitbb", "constant"]}, "Did you mean logitb"),
        ({"datasets": ["wine", "whine"]}, "wine"),
        ({"methods": ["msb"]}, "methods"),
        ({"runs": 0}, "runs: 0 is less than the minimum"),
        ({"runz": 3}, r"'runz' was unexpected\): known are .*\bruns, "),
        ({"costs": ["cheap"]}, "costs"),
        ({"split": {"train": 0.5, "valid": 0.5}}, "split"),
        ({"overrides": {"rfb_subsets": {}}}, "method in overrides .*Did you mean rfb_subset"),
        ({"methods_file": "config/none.yaml"}, "cannot be read: No such file"),
        ({"study": "My Study"}, "study"),
        ({"datasets": ["wine", "friedman1"]}, "friedman1 is regression, and cascade"),
        (
            {"budget": "memory", "by_dataset": {"abalone": {"budget": "acquisition"}}}
            | {"datasets": ["wine", "abalone"]},
            "abalone is regression",
        ),
        ({"by_dataset": {"whine": {"split": "given"}}}, "Did you mean wine"),
        ({"by_dataset": {"wine": {"split": "taken"}}}, "by_dataset.wine.split"),
        ({"by_dataset": {"wine": {"methods": ["msb"]}}}, "by_dataset.wine.methods"),
        ({"by_dataset": {"wine": {"methods": ["msbb", "constant"]}}}, "Did you mean msb"),
        ({"budget": "time"}, "budget: 'time' is not one of"),
        ({"stand_ins": {"whine": "wine"}}, "Did you mean wine"),
        ({"published": ["budgetrf-table-2"]}, "Did you mean budgetrf-table-1"),
        ({"overrides": {"msb": {"grid": {"min_variables": [2, 3]}}}}, "msb has a grid"),
        ({"by_dataset": {"wine": {"split": {"per_class": [9, 0, 9]}}}}, "by_dataset.wine.split"),
        ({"by_dataset": {"wine": {"overrides": {"msbb": {}}}}}, "Did you mean msb"),
        ({"by_dataset": {"wine": {"overrides": {"msb": {"clas": "x"}}}}}, "'clas' was unexpected"),
    ],
)
def test_mistakes_are_refused(changes, message):
    with pytest.raises(BudgetlearnError, match=message):
        changed(**changes)


def test_regression_under_acquisition_costs_takes_regressors_only():
    regressors = {"methods": ["cascade_regressor", "constant"], "datasets": ["friedman1"]}
    constant = {"class": "budgetlearn.peers.FreeConstantRegressor"}
    study = changed(**regressors, overrides={"constant": constant})
    assert study.budget("friedman1") == "acquisition"
    with pytest.raises(
        BudgetlearnError, match=r"constant predict classes only. .*overrides"
    ) as told:
        changed(**regressors)
    assert all(f"{name}_regressor" in str(told.value) for name in REGRESSORS)


def test_overrides_of_methods_that_a_call_leaves_out_wait():
    study = changed(methods=["cascade", "constant"], overrides={"msb": {"label": "other"}})
    assert list(study.methods) == ["cascade", "constant"]


def test_classes_are_not_for_regressors():
    with pytest.raises(
        BudgetlearnError, match=r"wine is classification: remove cascade_regressor, which"
    ):
        changed(methods=["cascade_regressor", "constant"], datasets=["wine"])


def test_given_costs_need_a_price_list():
    study = changed(costs=["given"])
    with pytest.raises(BudgetlearnError, match="wine has no price list"):
        study.check_tables()
    study.datasets["wine"] = replace(study.datasets["wine"], costs="lost.csv")
    with pytest.raises(BudgetlearnError, match=r"there is no price list lost\.csv"):
        study.check_tables()


def test_a_data_set_can_have_its_own_split():
    counts = {"train": 100, "valid": 30, "test": "rest"}
    study = changed(by_dataset={"wine": {"split": counts}, "digits": {"split": "given"}})
    assert study.sizes("wine") == [100, 30, "rest"]
    assert study.sizes("digits") == "given"
    assert study.sizes("breast_cancer") == [0.6, 0.2, 0.2]


def test_a_split_can_count_rows_per_class():
    sizes = {"per_class": [20, 5, 10]}
    assert changed(by_dataset={"wine": {"split": sizes}}).sizes("wine") == sizes


def test_a_method_can_be_another_on_one_data_set():
    own = {"msb": {"parameters": {"sequences": ["cost"]}}}
    study = changed(by_dataset={"wine": {"overrides": own}})
    assert study.sequences("msb", "wine") == ["cost"]
    assert study.spec("msb", "digits") == changed().spec("msb", "digits")
    assert study.spec("msb", "wine") != study.spec("msb", "digits")


def test_a_data_set_can_have_methods_costs_and_a_budget_of_its_own():
    own = {"methods": ["voc", "constant"], "costs": ["unit"], "budget": "memory"}
    study = changed(
        datasets=["wine", "digits"], methods=["msb", "constant"], by_dataset={"wine": own}
    )
    assert study.cells == [
        ("wine", "unit", "voc"),
        ("wine", "unit", "constant"),
        ("digits", "random", "msb"),
        ("digits", "random", "constant"),
    ]
    assert list(study.methods) == ["msb", "constant", "voc"]
    assert [study.budget(name) for name in ("wine", "digits")] == ["memory", "acquisition"]


def test_settings_of_a_data_set_that_is_not_compared_add_no_method():
    study = changed(datasets=["digits"], by_dataset={"wine": {"methods": ["voc", "constant"]}})
    assert "voc" not in study.methods


def test_methods_that_no_data_set_in_use_compares_are_none_of_the_study():
    study = changed(
        datasets=["wine"],
        methods=["msb", "constant"],
        overrides={"msb": {"label": "never fitted"}},
        by_dataset={"wine": {"methods": ["voc", "constant"]}},
    )
    assert list(study.methods) == ["constant", "voc"]


def test_chunks_cover_all_runs_once():
    study = changed(runs=7, runs_per_job=3)
    assert [study.runs_of(chunk) for chunk in study.chunks] == [[0, 1, 2], [3, 4, 5], [6]]


def test_overrides_reach_into_nested_parameters():
    study = changed(
        overrides={"msb": {"parameters": {"estimator": {"parameters": {"max_depth": 3}}}}}
    )
    assert study.spec("msb", "wine")["parameters"]["estimator"]["parameters"]["max_depth"] == 3
    assert study.spec("msb", "wine")["parameters"]["estimator"]["parameters"]["n_estimators"] > 1


def test_every_method_can_be_built():
    # An error's own message names the class, or the parameter that it does not have.
    for spec in read_yaml(ROOT / "config/methods.yaml").values():
        assert build({key: spec.get(key) for key in ("class", "parameters")})


def test_methods_whose_package_is_not_installed_are_left_out(tmp_path):
    methods = read_yaml(ROOT / "config" / "methods.yaml")
    methods["rfb"]["needs"], methods["msb"]["needs"] = "no_such_package", "numpy"
    (tmp_path / "methods.yaml").write_text(yaml.safe_dump(methods))
    study = changed(
        methods_file=str(tmp_path / "methods.yaml"),
        methods=["rfb", "msb", "constant"],
        overrides={"rfb": {"label": "mine"}},
        left_out={"theirs": "of an earlier call"},
        by_dataset={"wine": {"methods": ["rfb", "constant"], "overrides": {"rfb": {}}}},
    )
    assert list(study.methods) == ["msb", "constant"]
    assert not [cell for cell in study.cells if cell[2] == "rfb"]
    assert study.config["left_out"] == {
        "theirs": "of an earlier call",
        "mine": "needs the package no_such_package, which is not installed",
    }
    with pytest.raises(ConfigError, match=r"No method of the study can run.*no_such_package"):
        changed(methods_file=str(tmp_path / "methods.yaml"), methods=["rfb", "constant"])


def test_a_study_with_methods_is_not_laid_over_the_default_study():
    default = read_yaml(ROOT / "config" / "studies" / "default.yaml")
    config = with_defaults({"study": "own", "datasets": ["wine"], "methods": ["voc"]}, ROOT)
    assert config["runs"] == COMMON["runs"] != default["runs"]
    assert (config["datasets"], config["methods"]) == (["wine"], ["voc"])
    # A name alone, or a part of a study without a name, is laid over it.
    for own in ({"study": "own"}, {"datasets": ["wine"]}):
        assert with_defaults(own, ROOT) == COMMON | default | own
    # But not that of a study whose file was not read.
    with pytest.raises(ConfigError, match=r"Add --configfile config/studies/smoke\.yaml"):
        with_defaults({"study": "smoke", "runs": 1}, ROOT)
    assert with_defaults({"study": "default"}, ROOT) == COMMON | default


def test_a_study_without_a_title_is_called_by_its_name():
    config = {key: value for key, value in PLAIN.items() if key != "title"}
    assert Study.from_config({**config, "study": "mine"}, ROOT).config["title"] == "mine"
    assert changed().config["title"] == PLAIN["title"]


def test_text_from_the_command_line_is_read_as_the_schema_asks():
    assert changed(runs="3", offline="true").config["runs"] == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"own_cost": ["msbb"]}, "unknown method in a figure 'msbb'. Did you mean msb"),
        ({"staircases": {"a": ["constand"]}}, "method in a figure 'constand'"),
    ],
)
def test_figures_name_methods_of_the_study(changes, message):
    with pytest.raises(BudgetlearnError, match=message):
        changed(**changes)


def test_cells_are_cases_times_methods_and_have_a_file_for_each_chunk():
    study = changed(
        study="own",
        datasets=["wine", "digits"],
        methods=["msb", "constant"],
        costs=["random", "unit"],
        runs=3,
        runs_per_job=2,
        by_dataset={"digits": {"budget": "memory", "costs": ["unit"]}},
    )
    wine = [("wine", "random"), ("wine", "unit")]
    assert study.cases == [*wine, ("digits", "unit")]
    assert study.cases_under("acquisition") == wine
    assert study.cases_under("memory") == [("digits", "unit")]
    assert len(study.cells) == 6
    assert study.cells[1] == ("wine", "random", "constant")
    assert len(study.points_files) == 12
    assert study.points_files[1] == "results/own/points/wine/random/msb/1.parquet"
    assert (study.folder, study.seed) == ("results/own", DEFAULT["seed"])


def test_settings_are_those_that_decide_numbers():
    settings = changed().settings
    assert {"datasets", "methods", "runs", "seed", "split", "costs"} <= settings.keys()
    assert not {"runs_per_job", "time_limit", "offline", "data_dir"} & settings.keys()
    assert settings["runs"] == DEFAULT["runs"]


def test_a_title_is_for_readers_and_prepares_nothing():
    study = changed()
    assert study.shown["wine"]["title"] == "Wine"
    assert study.prepared("wine")["title"] == "wine"
    assert study.prepared("wine")["citation"] == ""
    assert study.prepared("wine")["costs"] is None
    assert study.prepared("wine")["rows"] == 178
    raw = study.raw("twonorm")
    assert raw["kind"] == "generated"
    assert raw["title"] == raw["task"] == ""


def test_files_that_jobs_read_are_named():
    study = changed(
        datasets=["yahoo_like", "vehicle"], costs=["given", "unit"], published=["msb-table-2"]
    )
    assert study.published == ["resources/published/msb-table-2.csv"]
    (prices,) = study.price_list("yahoo_like", "given")
    assert prices.endswith("yahoo_like.csv")
    assert study.price_list("yahoo_like", "unit") == []
    assert study.own_table("vehicle") == []


def test_a_table_of_ones_own_is_a_file_that_jobs_read(tmp_path):
    (tmp_path / "own.csv").write_text("a,b,y\n1,2,x\n")
    entry = {"title": "Own", "task": "classification", "source": {"csv": "own.csv", "target": "y"}}
    registry = tmp_path / "datasets.yaml"
    registry.write_text(yaml.safe_dump({"datasets": {"own": entry}}))
    study = changed(datasets=["own"], datasets_file=str(registry))
    (path,) = study.own_table("own")
    assert path.endswith("own.csv")


def test_methods_are_told_apart_by_how_they_are_built():
    study = changed(methods=["msb", "voc", "constant"])
    assert study.methods_of("schedule") == ["msb"]
    assert study.methods_of("fit") == ["voc", "constant"]
    assert changed(refit=True).spec("msb", "wine")["refit"]
    assert "refit" not in changed(refit=False).spec("msb", "wine")


def test_the_order_of_lines_decides_nothing():
    own = {"parameters": {"sequences": ["cost"], "min_variables": 3}}
    turned = {"parameters": dict(reversed(own["parameters"].items()))}
    specs = [changed(overrides={"msb": one}).spec("msb", "wine") for one in (own, turned)]
    assert repr(specs[0]) == repr(specs[1])


def test_other_methods_may_use_the_seconds_of_one():
    study = changed(
        datasets=["wine"],
        methods=["cascade", "rfb", "logitb", "constant"],
        tries=3,
        seconds_of="cascade",
    )
    assert study.spec("rfb", "wine")["seconds_of"] == "cascade"
    assert "subset" in study.spec("rfb", "wine")["space"]
    assert study.seconds_files("rfb", "wine", "random", "0") == [
        study.points_file("wine", "random", "cascade", "0")
    ]
    for name in ("cascade", "logitb", "constant"):
        assert study.seconds_files(name, "wine", "random", "0") == []
    overrides = {"cascade": {"space": {"n_stages": [3, 5]}}}  # its own seconds limit it not
    tuned = {"tries": 3, "seconds_of": "cascade", "overrides": overrides}
    own = changed(datasets=["wine"], methods=["cascade", "rfb", "constant"], **tuned)
    assert own.seconds_files("cascade", "wine", "random", "0") == []
    points = pd.DataFrame({"dataset": "wine", "method": ["rfb"] * 2 + ["logitb"] * 2, "fit": 2})
    points.loc[[1, 3], "fit"] = 3
    assert study.beyond_tries(points).tolist() == [False, True, False, False]
    plain = changed(datasets=["wine"], methods=["rfb", "constant"], tries=3)
    assert "seconds_of" not in plain.spec("rfb", "wine")
    assert not plain.beyond_tries(points).any()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tries": 2, "seconds_of": "cascada"}, "unknown method in seconds_of"),
        ({"tries": None, "seconds_of": "constant"}, "set tries too"),
    ],
)
def test_seconds_of_names_a_method_of_the_study_and_comes_with_tries(changes, message):
    with pytest.raises(BudgetlearnError, match=message):
        changed(datasets=["wine"], methods=["rfb", "constant"], **changes)
