"""`Dataset`: checks, storage, verification."""

import numpy as np
import pytest

from budgetbench.datasets.dataset import Dataset
from budgetbench.datasets.registry import DatasetSpec
from budgetlearn.exceptions import DatasetError


def make(**changes):
    rng = np.random.default_rng(0)
    about = {
        "id": "toy",
        "title": "Toy",
        "task": "classification",
        "X": rng.random((12, 3)),
        "y": np.arange(12) % 2,
        "feature_names": ("a", "b", "c"),
        "class_names": ("no", "yes"),
        "licence": "none",
        "citation": "nobody",
    }
    return Dataset(**(about | changes))


def spec(**expected):
    return DatasetSpec("toy", "Toy", "classification", "files", "table", **expected)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"X": np.ones((12, 3), np.float32)},
        {"part": np.arange(12) % 3},
        {"task": "regression", "y": np.linspace(0, 1, 12), "class_names": ()},
        {"task": "ranking", "groups": np.arange(12) // 4, "class_names": ()},
        {"feature_names": ("target", "groupé", "x y")},
    ],
)
def test_save_and_load_give_the_same(tmp_path, changes):
    dataset = make(**changes)
    dataset.save(tmp_path / "new/toy.parquet")
    loaded = Dataset.load(tmp_path / "new/toy.parquet")
    for name in ("id", "title", "task", "feature_names", "class_names", "sha256", "licence"):
        assert getattr(loaded, name) == getattr(dataset, name)
    for name in ("X", "y", "groups", "part"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(dataset, name))
    assert loaded.X.dtype == dataset.X.dtype
    assert loaded.X.flags.f_contiguous
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["toy.parquet"]


def test_saving_twice_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        make().save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_hash_sees_values_names_and_groups_but_not_the_layout():
    base = make().sha256
    assert make(X=np.asfortranarray(make().X)).sha256 == base
    changed = make().X.copy()
    changed[3, 1] += 1e-12
    assert make(X=changed).sha256 != base
    assert make(feature_names=("a", "b", "d")).sha256 != base
    assert make(y=1 - make().y).sha256 != base
    assert make(part=np.zeros(12)).sha256 != base


def test_a_file_that_is_no_dataset(tmp_path):
    (tmp_path / "a").write_text("hello")
    for name in ("a", "none"):
        with pytest.raises(
            DatasetError, match=r"as a prepared data set; prepare it again|No such file"
        ):
            Dataset.load(tmp_path / name)


def test_a_changed_file_is_noticed(tmp_path):
    import pyarrow.parquet as pq

    make().save(tmp_path / "a")
    table = pq.read_table(tmp_path / "a")
    pq.write_table(table.set_column(0, "a", table.column("b")), tmp_path / "a")
    with pytest.raises(DatasetError, match="expected content sha256"):
        Dataset.load(tmp_path / "a")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": np.full((12, 3), np.nan)}, "column 'a' holds nan in row 1 .*12 such rows"),
        ({"X": np.where(np.eye(12, 3) > 0, np.inf, 1.0)}, "holds inf"),
        ({"feature_names": ("a", "b")}, "3 columns, but 2 feature names"),
        ({"feature_names": ("a", "b", "a")}, "repeated: a"),
        ({"y": np.zeros(11, int)}, "y must have one entry for each of the 12 rows"),
        ({"y": np.zeros(12, int)}, "at least 2 classes are needed, found 1"),
        ({"class_names": tuple("abcdefghijklmn")}, "12 rows are fewer than its 14 classes"),
        ({"part": np.zeros(3)}, "part must have one entry"),
        ({"task": "regression", "y": np.full(12, np.nan), "class_names": ()}, "target holds"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(changes, message):
    with pytest.raises(DatasetError, match=f"Data set 'toy': .*{message}"):
        make(**changes)


def test_verify():
    dataset = make(part=np.zeros(12))
    good = spec(rows=12, features=3, classes={"no": 6, "yes": 6}, parts=(12, 0, 0))
    assert dataset.verify(good) is dataset
    assert dataset.verify(spec()) is dataset
    for expected, message in [
        ({"rows": 13}, "expected rows 13, found 12. Correct the entry or the data"),
        ({"features": 4}, "expected features 4, found 3"),
        ({"classes": {"no": 5, "yes": 7}}, r"found \{'no': 6, 'yes': 6\}"),
        ({"parts": (10, 0, 2)}, r"expected parts \(10, 0, 2\), found \(12, 0, 0\)"),
        ({"queries": 3}, "expected queries 3, found None"),
    ]:
        with pytest.raises(DatasetError, match=message):
            dataset.verify(spec(**expected))
