"""The registry: schema, forms of source, unknown ids."""

import shutil
from contextlib import nullcontext

import pytest
import yaml

from budgetbench.datasets.registry import DEFAULT_REGISTRY, SCHEMA, load_registry
from budgetlearn.exceptions import ConfigError, DatasetError

FETCHED = {
    "title": "A",
    "task": "classification",
    "source": {"mirrors": ["https://a.org/x.zip#{name}"], "files": {"a/b.gz": "0" * 64}},
    "reader": {"name": "table"},
    "features": 2,
    "licence": "none",
    "citation": "none",
}


def write(folder, **entries):
    path = folder / "datasets.yaml"
    path.write_text(yaml.safe_dump({"datasets": entries}, sort_keys=False))
    return path


def test_own_registry_is_complete():
    registry = load_registry()
    assert {"wine", "spambase", "yahoo_set1", "gaussian_mixture"} <= set(registry)
    for spec in registry.values():
        assert spec.licence, spec.id
        assert spec.citation, spec.id
        assert spec.features, spec.id
        assert spec.rows or all(file.sha256 for file in spec.files), spec.id
        if spec.classes:
            assert spec.rows == sum(spec.classes.values())
        if spec.parts:
            assert spec.rows == sum(spec.parts)


def test_ranked_data_say_from_which_grade_on_a_document_is_relevant():
    ranked = [spec for spec in load_registry().values() if spec.task == "ranking"]
    assert ranked
    assert [spec.id for spec in ranked if set(spec.labels) != {"at_least"}] == []


def test_hashes_of_equal_files_agree():
    known = {}
    for spec in load_registry().values():
        for file in spec.files:
            assert known.setdefault(file.path, file.sha256) == file.sha256


def test_package_and_source_tree_share_one_registry():
    root = DEFAULT_REGISTRY.parents[1]
    if not (root / "workflow").is_dir():
        pytest.skip("installed without the source tree")
    assert (root / "config/datasets.yaml").samefile(DEFAULT_REGISTRY)
    assert (root / "workflow/schemas/datasets.schema.yaml").samefile(SCHEMA)


def test_files_keep_order_and_mirrors_take_names(tmp_path):
    source = {
        "mirrors": ["https://a.org/{name}", "https://b.org/x.zip#{stem}"],
        "files": {"a/two.gz": None, "a/one": ["0" * 64, "1" * 64]},
    }
    spec = load_registry(write(tmp_path, a=FETCHED | {"source": source}))["a"]
    first, second = spec.files
    assert first.path == "a/two.gz"
    assert first.sha256 == ()
    assert first.mirrors == ("https://a.org/two.gz", "https://b.org/x.zip#two")
    assert second.sha256 == ("0" * 64, "1" * 64)
    # Of two files under one path, the one fetched first would be taken for both. A file that the
    # user has to bring says nothing on the addresses of others.
    local = {"instructions": "Ask for it.", "files": {"a/two.gz": "0" * 64}}
    for mirrors, sha256, same in (("c", None, 0), ("c", "0" * 64, 1), ("a", None, 1)):
        other = {"mirrors": [f"https://{mirrors}.org/{{name}}"], "files": {"a/two.gz": sha256}}
        with nullcontext() if same else pytest.raises(ConfigError, match=r"b: .*fetches a/two"):
            sources = {"local": local, "a": source, "b": other}
            load_registry(
                write(tmp_path, **{n: FETCHED | {"source": s} for n, s in sources.items()})
            )


def test_unknown_id_offers_the_closest():
    with pytest.raises(DatasetError, match=r"Unknown data set 'spambas'\. Did you mean spambase"):
        load_registry()["spambas"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": "clasification"}, "a > task.*'clasification' is not one of"),
        ({"rows": 0}, "a > rows"),
        ({"colour": 1}, "'colour' was unexpected"),
        (
            {"reader": {"name": "table", "seperator": ";"}},
            "'seperator' .*known are name, separator",
        ),
        ({"source": {"mirrors": ["ftp://a"], "files": {"a/b": None}}}, "a > source"),
        ({"source": {"mirrors": ["https://a"], "files": {"b": None}}}, "a > source"),
        ({"source": {"mirrors": ["https://a"], "files": {"a/b": "12"}}}, "a > source"),
        ({"features": None}, "a > features"),
        ({"labels": {"quantile": 4}}, "'quantile' was unexpected"),
    ],
)
def test_schema_names_the_place(tmp_path, change, message):
    with pytest.raises(ConfigError, match=message):
        load_registry(write(tmp_path, a=FETCHED | change))


def test_fetched_data_need_a_licence(tmp_path):
    entry = {key: value for key, value in FETCHED.items() if key != "licence"}
    with pytest.raises(ConfigError, match="'licence' is a required property"):
        load_registry(write(tmp_path, a=entry))


def test_missing_or_broken_file(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.yaml cannot be read"):
        load_registry(tmp_path / "none.yaml")
    (tmp_path / "broken.yaml").write_text("datasets: {a: [")
    with pytest.raises(ConfigError, match="not valid YAML"):
        load_registry(tmp_path / "broken.yaml")
    (tmp_path / "latin.yaml").write_text("toy: {title: Größe}", encoding="latin-1")
    with pytest.raises(ConfigError, match=r"latin\.yaml is not valid .* Save it as UTF-8"):
        load_registry(tmp_path / "latin.yaml")
    (tmp_path / "empty.yaml").write_text("")
    with pytest.raises(ConfigError, match="top level") as raised:
        load_registry(tmp_path / "empty.yaml")
    assert "indented" not in str(raised.value)
    (tmp_path / "bare.yaml").write_text("toy: {title: Toy}")
    with pytest.raises(ConfigError, match="Entries belong below the line 'datasets:', indented"):
        load_registry(tmp_path / "bare.yaml")


def test_a_file_is_read_anew_after_an_edit(tmp_path):
    path = write(tmp_path, a=FETCHED)
    assert load_registry(path)["a"].title == FETCHED["title"]
    write(tmp_path, a=FETCHED | {"title": "Another"})
    assert load_registry(path)["a"].title == "Another"
    copy = shutil.copy(path, tmp_path / "copy.yaml")
    assert load_registry(copy).path == copy
