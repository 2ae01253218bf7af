"""Operating points on disk: whole, in one format, or a clear error."""

import numpy as np
import pytest

from budgetbench.study import records

ROW = {
    "dataset": "wine",
    "costs": "random",
    "method": "msb",
    "run": 0,
    "stage": 2,
    "cost": 17.0,
    "test_score": 0.9,
    "variables": "1,4",
}


@pytest.mark.parametrize("variables", [(), (3,), (0, 3, 12)])
def test_variables_come_back(variables):
    assert records.parse_variables(records.variables_text(variables)) == variables


def test_settings_come_back_whatever_their_values_are():
    setting = {"alpha": [0, 8], "loss": "a=b, c", "rows": (1, 2), "size": None}
    text = records.setting_text(setting)
    assert records.parse_setting(text) == {name: str(value) for name, value in setting.items()}
    assert records.parse_setting(None) == {}


def test_round_trip(tmp_path):
    path = tmp_path / "deep" / "points.parquet"
    records.write([ROW, {**ROW, "run": 1, "status": "failed: why"}], path)
    read = records.read(path)
    assert list(read.columns) == list(records.COLUMNS)
    assert read["run"].tolist() == [0, 1]
    assert read["status"].tolist() == ["ok", "failed: why"]
    assert read["test_score"].tolist() == [0.9, 0.9]
    assert np.isnan(read["n_nodes"]).all()
    assert [p.name for p in path.parent.iterdir()] == ["points.parquet"]


def test_many_files_are_one_table(tmp_path):
    for run in range(3):
        records.write([{**ROW, "run": run}], tmp_path / f"{run}.parquet")
    assert records.read(sorted(tmp_path.iterdir()))["run"].tolist() == [0, 1, 2]


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    def burst(table, path):
        with open(path, "w") as file:
            file.write("half")
        raise OSError("disk full")

    monkeypatch.setattr(records.pq, "write_table", burst)
    with pytest.raises(OSError, match="disk full"):
        records.write([ROW], tmp_path / "points.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_is_named_with_its_folder(tmp_path):
    path = tmp_path / "msb" / "0.parquet"  # as the file of every method is called
    path.parent.mkdir()
    path.write_bytes(b"PAR1 cut off")
    with pytest.raises(records.RecordError, match=r"0\.parquet cannot be read") as told:
        records.read(path)
    assert f"in {path.parent}: " in str(told.value)
    assert "Delete the file" in str(told.value)


def test_unknown_column_is_refused():
    with pytest.raises(records.RecordError, match="colour"):
        records.table([{**ROW, "colour": "red"}])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.drop(columns="cost"), "lacks \\['cost'\\]"),
        (lambda frame: frame.assign(format_version=99), "format version \\[.*99"),
        (lambda frame: frame.assign(format_version=7), "format version \\[7"),
    ],
)
def test_other_formats_are_refused(tmp_path, change, message):
    path = tmp_path / "points.parquet"
    change(records.table([ROW])).to_parquet(path)
    with pytest.raises(records.RecordError, match=message):
        records.read(path)


@pytest.mark.parametrize("column", ["n_bytes", "format_version", "processor_seconds"])
def test_a_file_of_today_has_all_columns(tmp_path, column):
    path = tmp_path / "points.parquet"
    records.table([ROW]).drop(columns=column).to_parquet(path)
    with pytest.raises(records.RecordError, match=f"lacks \\['{column}'\\]"):
        records.read(path)


def test_origins_are_kept_with_the_points(tmp_path):
    first, second = {"numpy": "2.0"}, {"numpy": "2.1"}
    for run, origin in enumerate([first, second, first]):
        effort = {"seconds": 1.5 + run, "peak_mb": 200 + 100 * (run % 2)}
        records.write([{**ROW, "run": run}], tmp_path / f"{run}.parquet", [origin | effort])
    origins = records.origins_of(sorted(tmp_path.iterdir()))
    assert origins == [
        {**first, "jobs": 2, "seconds": 5.0, "peak_mb": 200},
        {**second, "jobs": 1, "seconds": 2.5, "peak_mb": 300},
    ]
    records.write([ROW], tmp_path / "all.parquet", origins)
    assert records.origins_of(tmp_path / "all.parquet") == origins
    records.write([ROW], tmp_path / "old.parquet")
    assert records.origins_of(tmp_path / "old.parquet") == []
