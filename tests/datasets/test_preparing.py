"""From files to verified data sets: the real data, and the user's own table."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import yaml

from budgetbench.datasets import load_dataset
from budgetbench.datasets.dataset import Dataset
from budgetbench.datasets.fetching import fetch
from budgetbench.datasets.preparing import prepare
from budgetbench.datasets.registry import Registry, load_registry
from budgetlearn.exceptions import DatasetError

REGISTRY = load_registry()
OFFLINE = [spec.id for spec in REGISTRY.values() if spec.kind in ("embedded", "generated")]
# Rows, features and class counts as an inventory made apart from this code has them.
MSB = {
    "spambase": (4601, 57, [2788, 1813]),
    "satellite": (6435, 36, [1533, 703, 1358, 626, 707, 1508]),
    "satellite_train": (4435, 36, [1072, 479, 961, 415, 470, 1038]),
    "vehicle": (846, 18, [218, 212, 217, 199]),
    "thyroid": (7200, 21, [166, 368, 6666]),
    "concrete": (1030, 8, [258, 257, 257, 258]),
    "steel": (1941, 27, [158, 190, 391, 72, 55, 402, 673]),
    "naval": (11934, 16, [9009, 2925]),
    "bank": (45211, 16, [39922, 5289]),
}
OTHERS = [
    spec.id
    for spec in REGISTRY.values()
    if spec.kind in ("files", "local") and spec.id not in MSB and "mnist" not in spec.id
]


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    return tmp_path_factory.mktemp("raw")


@pytest.fixture
def real(data_dir, raw):
    """Return a function that prepares a real data set, or skips where its files are not there."""

    def load(name):
        spec = REGISTRY[name]
        missing = [file.path for file in spec.files if not (data_dir / file.path).is_file()]
        if missing:
            pytest.skip(f"{', '.join(missing)} not in {data_dir}")
        return load_dataset(name, REGISTRY, raw, data_dir, offline=True)

    return load


@pytest.mark.parametrize("name", OFFLINE)
def test_embedded_and_generated(name):
    dataset = prepare(REGISTRY[name])
    assert dataset.sha256 == prepare(REGISTRY[name]).sha256
    assert dataset.n_samples == REGISTRY[name].rows


@pytest.mark.parametrize("name", MSB)
def test_data_of_the_msb_paper(real, name):
    dataset = real(name)
    rows, features, counts = MSB[name]
    assert dataset.X.shape == (rows, features)
    assert dataset.class_counts.tolist() == counts


@pytest.mark.parametrize("name", OTHERS)
def test_data_of_the_other_papers(real, name):
    dataset = real(name)  # verified against the registry on the way
    assert dataset.n_features == REGISTRY[name].features
    assert np.isfinite(dataset.X).all()


def test_mnist_eight_against_nine(real):
    dataset = real("mnist_8v9")
    assert dataset.X.dtype == np.float32
    assert dataset.X.max() == 255
    assert np.bincount(dataset.part).tolist() == [11800, 0, 1983]


def test_lambdarank_queries_stand_together(real):
    dataset = real("lambdarank_sample")
    assert (np.diff(dataset.groups) >= 0).all()
    assert np.bincount(dataset.y).tolist() == [851, 2922]  # of grades 1 to 4 all are relevant
    assert np.bincount(dataset.groups)[:2].tolist() == [1, 13]


def test_first_rows_are_those_of_the_files(real):
    vehicle = real("vehicle")
    assert vehicle.X[0, :4].tolist() == [95, 48, 83, 178]
    assert vehicle.class_names[vehicle.y[0]] == "van"
    letter = real("letter")
    assert letter.X[0, :3].tolist() == [2, 8, 3]
    assert letter.class_names[letter.y[0]] == "T"
    abalone = real("abalone")
    assert abalone.y[0] == 15
    assert abalone.X[0, abalone.feature_names.index("sex=M")] == 1
    concrete = real("concrete")
    np.testing.assert_allclose(concrete.X[0, [0, 7]], [540, 28])
    assert concrete.y[0] == 3  # 79.99 MPa
    assert real("california").y[0] == 4.526


def test_bank_is_standardised(real):
    X = real("bank").X
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(X.std(axis=0), 1)


def test_naval_labels_need_both_coefficients(real):
    # 25 of 51 compressor levels and 13 of 26 turbine levels lie above the median, at 9 speeds.
    assert real("naval").class_counts[1] == 25 * 13 * 9


def test_prepare_checks_the_files_again(real, raw):
    real("vowel")
    path = raw / "vowel/vowel-context.data"
    content = path.read_bytes()
    path.unlink()  # it may be a link to the data folder
    path.write_bytes(content.replace(b"-3.639", b"-3.638"))
    with pytest.raises(DatasetError, match=r"Data set 'vowel': .*expected sha256 .*found"):
        prepare(REGISTRY["vowel"], raw)
    path.unlink()
    with pytest.raises(DatasetError, match=r"no such file\. Fetch it"):
        prepare(REGISTRY["vowel"], raw)
    with pytest.raises(DatasetError, match="'vowel': give the folder with its raw files"):
        prepare(REGISTRY["vowel"])


def test_yahoo_says_which_files_to_put_where(tmp_path):
    with pytest.raises(DatasetError) as caught:
        fetch(REGISTRY["yahoo_set1"], tmp_path, tmp_path / "mine")
    text = str(caught.value)
    assert "does not allow this data set to be passed on" in text
    wanted = "set1.train.txt, set1.valid.txt, set1.test.txt"
    assert f"Put {wanted} into {tmp_path / 'yahoo_set1'}." in text


def test_yahoo_files_are_read_and_counted(tmp_path):
    folder = tmp_path / "yahoo_set1"
    folder.mkdir()
    for name, first in (("train", 0), ("valid", 5), ("test", 9)):
        rows = [f"{i % 5} qid:{first + i // 2} {i + 3}:0.5 {i + 4}:1\n" for i in range(4)]
        (folder / f"set1.{name}.txt").write_text("".join(rows))
    spec = REGISTRY["yahoo_set1"]
    fetch(spec, tmp_path / "raw", tmp_path, offline=True)
    with pytest.raises(DatasetError, match="expected rows 473134, found 12"):
        prepare(spec, tmp_path / "raw")
    small = replace(spec, rows=12, parts=(4, 4, 4), queries=6, features=5)
    dataset = prepare(small, tmp_path / "raw")
    assert dataset.X.dtype == np.float32
    assert dataset.feature_names == ("f3", "f4", "f5", "f6", "f7")
    assert dataset.y.tolist() == [0, 1, 1, 1] * 3
    assert (tmp_path / "raw/yahoo_set1/set1.test.txt.sha256").is_file()


def test_miniboone_blocks(tmp_path):
    (tmp_path / "miniboone").mkdir()
    rows = [" ".join(f"{i}.5" for _ in range(50)) for i in range(5)]
    (tmp_path / "miniboone/MiniBooNE_PID.txt").write_text("\n".join(["  2  3", *rows]) + "\n")
    spec = REGISTRY["miniboone"]
    with pytest.raises(DatasetError, match="The blocks have 130064 rows, but the data 5"):
        prepare(spec, tmp_path)
    blocks = {"signal": 2, "background": 3}
    dataset = prepare(replace(spec, rows=5, classes=blocks, labels={"blocks": blocks}), tmp_path)
    assert dataset.y.tolist() == [0, 0, 1, 1, 1]
    assert dataset.X[:, 49].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]


def own(folder, text, **entry):
    (folder / "mine.csv").write_text(text)
    source = {"csv": str(folder / "mine.csv"), "target": "ill"} | entry.pop("source", {})
    content = {"datasets": {"mine": {"title": "M", "task": "classification", "source": source}}}
    content["datasets"]["mine"] |= entry
    (folder / "datasets.yaml").write_text(yaml.safe_dump(content))
    return folder / "datasets.yaml"


def test_own_table(tmp_path):
    path = own(tmp_path, "age,job,ill\n30,cook,yes\n40,baker,no\n50,cook,no\n")
    dataset = load_dataset("mine", path)
    assert dataset.feature_names == ("age", "job")
    assert dataset.X.tolist() == [[30, 1], [40, 0], [50, 1]]
    assert dataset.class_names == ("no", "yes")
    assert dataset.y.tolist() == [1, 0, 0]


def test_coded_columns_are_kept_with_the_data_and_logged(tmp_path, caplog):
    caplog.set_level("INFO", "budgetlearn")
    path = own(tmp_path, "age,job,ill\n30,cook,yes\n40,baker,no\n50,cook,no\n")
    dataset = load_dataset("mine", path)
    assert dataset.categories == {"job": ("baker", "cook")}
    assert "mine: the words of column 'job' are coded: 0 = baker, 1 = cook" in caplog.text
    dataset.save(tmp_path / "mine.parquet")
    assert Dataset.load(tmp_path / "mine.parquet").categories == dataset.categories
    other = replace(dataset, categories={"job": ("nurse", "cook")})
    assert other.sha256 != dataset.sha256


def test_names_of_columns_stay_as_they_are_written(tmp_path):
    names = ["0", "007", "NA", "None", "null", "a; b"]
    path = own(tmp_path, f"{','.join(names)},ill\n1,2,3,4,5,6,yes\n6,5,4,3,2,1,no\n")
    dataset = load_dataset("mine", path)
    dataset.save(tmp_path / "mine.parquet")
    assert Dataset.load(tmp_path / "mine.parquet").feature_names == tuple(names)


def test_rows_without_a_measurement_can_be_left_out(tmp_path):
    text = "a,b,ill\n-9,-9,1\n-9,2,0\n3,4,1\n"
    dataset = load_dataset("mine", own(tmp_path, text, unmeasured=-9, rows=2))
    assert dataset.X.tolist() == [[-9, 2], [3, 4]]
    assert dataset.y.tolist() == [0, 1]


def test_own_ranking_table(tmp_path):
    text = "q,a,ill\n1,0.5,2\n1,0.1,0\n2,0.7,1\n"
    path = own(tmp_path, text, task="ranking", source={"group": "q"})
    dataset = load_dataset("mine", path)
    assert dataset.groups.tolist() == [0, 0, 1]
    assert dataset.y.tolist() == [2, 0, 1]


GAPS = "age,job,ill\n30,cook,yes\n,baker,no\n50,,no\n"


def test_gaps_of_an_own_table_are_values_of_their_own(tmp_path):
    dataset = load_dataset("mine", own(tmp_path, GAPS))
    assert dataset.X.tolist() == [[30, 1], [9, 0], [50, -1]]  # 30 - (50 - 30) - 1


def test_gaps_stay_for_each_run_to_fill(tmp_path):
    dataset = load_dataset("mine", own(tmp_path, GAPS, source={"missing": "median"}))
    dataset.save(tmp_path / "mine.parquet")
    for found in (dataset, Dataset.load(tmp_path / "mine.parquet")):
        assert found.gaps
        assert np.isnan(found.X).tolist() == [[False, False], [True, False], [False, True]]


def test_an_own_table_as_spreadsheets_write_it(tmp_path):
    text = "age;zip;ill\n30,5;80331;yes\n?;53111;no\n50,5;80331;no\n"
    how = {"decimal": ",", "na": "?", "categorical": ["zip"]}
    dataset = load_dataset("mine", own(tmp_path, text, source=how))
    assert dataset.X.tolist() == [[30.5, 1], [9.5, 0], [50.5, 1]]
    assert dataset.categories == {"zip": ("53111", "80331")}


REFUSE = {"source": {"missing": "refuse"}}


@pytest.mark.parametrize(
    ("text", "entry", "message"),
    [
        ("age,ill\n1,yes\n,no\n3,no\n", REFUSE, "Column 'age' is empty in row 2"),
        ("job,ill\na,yes\n,no\nb,no\n", REFUSE, "Column 'job' is empty in row 2"),
        ("age,ill\n,yes\n,no\n", {}, "without a single value: 'age'"),
        ("day,ill\n2024-03-01,yes\n2024-03-02,no\n", {}, "Column 'day' holds dates"),
        ("age,ill\n1,yes\n2,\n3,no\n", {}, "target is missing in 1 rows"),
        ("age,ill\n1,yes\n2,NULL\n3,None\n", {}, "also NA, NaN, NULL or null"),
        ("age,ill\n1,yes\n2,yes\n", {}, "at least 2 classes are needed, found 1"),
        ("age,sick\n1,yes\n2,no\n", {}, "no column 'ill'. The columns are: 'age', 'sick'"),
        ("age,ill\n1,yes\n2,no\n", {"rows": 3}, "expected rows 3, found 2"),
        ("age,ill\n1,a\n2,b\n", {"task": "regression"}, "target of regression must be numbers"),
        ("age,ill\n1,0\n2,1\n", {"task": "ranking"}, "set `group` to their column"),
        ("", {}, "mine.csv is empty"),
        ("age,ill\n1,yes\n?,no\n3,no\n", {}, "Column 'age' holds numbers, but 1 of its 3 cells"),
        ("age,ill\n1,yes,\n2,no,\n", {}, "mine.csv, line 2: 3 fields, but 2"),
        ("age,ill\n1,yes\n2,no\n3\n", {}, "mine.csv, line 4: 1 fields, but 2"),
        ("age,ill\n1,\n2,3\n3,4\n", {"labels": {"at_least": 3}}, "target is missing in 1 rows"),
        ("age,ill\n1,yes\n2,yes \n3,no\n", {}, "'yes' and 'yes ' differ only in blanks"),
        ("__target__,ill\n1,yes\n2,no\n", {}, "must not be named '__target__'"),
        ("__group__,ill\n1,yes\n2,no\n", {}, "must not be named '__group__'"),
        ('" ",ill\n1,yes\n2,no\n', {}, "must not be named ''"),
        (",age,ill\n0,1,yes\n1,2,no\n", {}, "'Unnamed: 0' has no name in its file"),
    ],
)
def test_bad_own_tables(tmp_path, text, entry, message):
    with pytest.raises(DatasetError) as caught:
        load_dataset("mine", own(tmp_path, text, **deepcopy(entry)))
    assert message in str(caught.value)
    assert "'mine'" in str(caught.value)


def test_own_table_that_is_not_there(tmp_path):
    path = own(tmp_path, "")
    (tmp_path / "mine.csv").unlink()
    with pytest.raises(DatasetError, match=r"mine\.csv cannot be read: No such file"):
        load_dataset("mine", path)


def test_registry_can_be_given_as_it_is():
    assert load_dataset("wine", Registry([REGISTRY["wine"]])).n_samples == 178
