"""What newcomers do, and what used to mislead them: prices, errors, units, files, defaults."""

import io
import json
import os
import re
import socket
import sys
from dataclasses import replace
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from joblib import cpu_count

from budgetlearn.cli import main, output
from budgetlearn.cli.commands import run
from budgetlearn.cli.output import least, money
from budgetlearn.cli.predict import Case, _sure
from budgetlearn.cli.saved_model import SavedModel
from budgetlearn.cli.serve import conversation, enough
from budgetlearn.cli.table import _numbers_rows
from budgetlearn.costs import FeatureCosts, affords
from tests.cli.conftest import FIT, PRICES, QUICK, patients
from tests.looping import check_each

ERRORS = "true,predicted,cost\nyes,no,500\nno,yes,40\n"
AUTO = (*FIT, "--minutes", "1e-5", "--error-costs", "errors.csv")


def of_table(told, change, *words):
    """Fit to a changed table, by a quick method unless words name another."""
    change(patients()).to_csv("table.csv", index=False)
    return told("fit", "table.csv", "--target", "ill", *(words or QUICK[-2:]))


# --- prices


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("15.5", "inf", "line 4: the cost of 'glucose' must be finite and >= 0, not above 1e+100"),
        ("15.5", "1e308", "must be finite and >= 0, not above 1e+100, got 1e+308"),
        ("15.5", "-3", "the cost of 'glucose' must be finite and >= 0, not above 1e+100, got -3"),
        ("2.1", "1e308", "group_costs must be finite and >= 0"),
        ("20.7,blood", "20.7,Blood", "cost groups differ in capitals only: 'Blood', 'blood'"),
    ],
)
def test_prices_that_add_up_to_nonsense_are_refused(folder, told, old, new, said):
    (folder / "prices.csv").write_text(PRICES.replace(old, new))
    status, out, err = told(*QUICK)
    assert (status, out) == (2, "")
    assert said in err


def test_the_error_of_a_quoted_cost_stands_beside_it(folder, told):
    assert told(*FIT, "--out", "m", "--report", "m.html")[0] == 0
    saved = SavedModel.load("m")
    points = saved.model.operating_points_
    assert (saved.curve["cost_se"] == points["cost_se"]).all()
    saved.curve["cost_se"] = [0.0, 0.814, *(0.0 for _ in points["cost"][2:])]
    nothing, first, *_ = output.lines_of(saved)[1:]
    assert f"{least(points['cost'][1])} ± 0.81  " in first
    assert "0.00         " in nothing
    output.write_page(saved, "m.html")
    assert f">{least(points['cost'][1])} ± 0.81</td>" in (folder / "m.html").read_text()


def test_a_price_that_is_shown_is_a_budget_that_buys_its_line():
    random = np.random.default_rng(0)
    sums = [sum([0.1] * n) for n in range(300)]
    for cost in [*np.exp(random.uniform(-30, 15, 2_000)), *random.uniform(0, 1e6, 2_000), *sums]:
        shown = float(least(cost))
        assert affords(shown, cost)
        assert shown - cost < (0.0101 if cost >= 0.1 else 0.0101 * cost + 1e-300)
    curve = pd.DataFrame({"cost": [0.0, 8.861, 8.869, 9.0], "score": [0.5, 0.6, 0.7, 0.8]})
    of_curve = SimpleNamespace(curve=curve)  # a budget of 8.87 buys the better one
    assert [*SavedModel.steps(of_curve).index] == [0, 2, 3]
    assert [*SavedModel.steps(of_curve, also=1).index] == [0, 1, 2, 3]


def test_small_prices_are_shown_as_they_are(folder, told):
    words = [money(cost) for cost in (0, 0.0042, 0.053, 0.1, 3, 1234567.891)]
    assert words == ["0.00", "0.0042", "0.053", "0.10", "3.00", "1234567.89"]
    assert [least(cost) for cost in (0, 0.00421, 0.09996, 0.1, 1.1, 1.4716, 21.7947)] == [
        *("0.00", "0.00421", "0.10", "0.10", "1.10", "1.48", "21.80"),
    ]
    prices = "feature,cost\nage,0.0005\nsmoker,0.001\nglucose,0.004\ninsulin,0.005\n"
    (folder / "prices.csv").write_text(prices)
    status, out, _ = told(*QUICK, "--out", "m", "--report", "m.html")
    assert status == 0
    assert "  0.0005  " in out
    assert "0.0005" in (folder / "m.html").read_text()
    assert "for 0.0" in conversation(SavedModel.load("m"), None, None, [])["about"]
    (folder / "prices.csv").write_text(re.sub(r"0\.00\d*", "3e-12", prices))
    assert told(*QUICK, "--out", "m")[0] == 0
    tiny = pd.read_csv(io.StringIO(told("predict", "m", "table.csv")[1]))["cost"]
    assert tiny.between(3e-12, 12e-12).all()
    large = "feature,cost\nage,1234567.5\nsmoker,1\nglucose,1\ninsulin,1\n"
    (folder / "prices.csv").write_text(large)
    assert "with a total cost of 1234570.5." in told(*QUICK)[1]


# --- costs of errors


def test_costs_of_errors_are_read_as_tables_are(folder, told):
    (folder / "errors.csv").write_text(ERRORS)
    plain = told(*AUTO)
    assert (plain[0], plain[2]) == (0, "")
    assert re.search(r"always predicting \w+: total cost \d", plain[1])  # no sign, so not two
    forms = {
        "semicolons": ERRORS.replace(",", ";"),
        "blanks": ERRORS.replace(",", " , "),
        "another order": "predicted,true,cost\nno,yes,500\nyes,no,40\n",
        "decimal commas": ERRORS.replace(",", ";").replace("500", "500,0"),
        "UTF-16": ERRORS.encode("utf-16"),
        "mark": "\ufeff" + ERRORS,
    }

    def check(name):
        content = forms[name]
        (folder / "errors.csv").write_bytes(
            content if isinstance(content, bytes) else content.encode()
        )
        assert told(*AUTO) == plain

    check_each(forms, check)


def test_errors_name_classes_of_numbers_as_the_table_does(folder, told):
    (folder / "errors.csv").write_text("true,predicted,cost\n1.0,0.0,500\n0.0,1.0,40\n")
    status, _, err = of_table(told, lambda t: t.assign(ill=1.0 * (t["ill"] == "yes")), *AUTO[-4:])
    assert (status, err) == (0, "")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (f"{ERRORS}yes,no,5\n", "lists the same error again in row 3"),
        (ERRORS.replace("40", "-40"), "must be numbers >= 0, got '-40' in row 2"),
        (ERRORS.replace("40", "inf"), "must be numbers >= 0, got 'inf' in row 2"),
        (ERRORS.replace("40", "much"), "must be numbers >= 0, got 'much' in row 2"),
        (ERRORS.replace("40", ""), "must be numbers >= 0, got '' in row 2"),
        (ERRORS.replace(",", ";").replace("40", "1,500"), "line 3: '1,500' may be 1500 or 1.5"),
        ("", "errors.csv is empty"),
    ],
)
def test_costs_of_errors_that_cannot_be_right(folder, told, content, said):
    (folder / "errors.csv").write_text(content)
    status, out, err = told(*AUTO)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_a_comparison_on_some_of_the_rows_is_told(folder, told, monkeypatch):
    quick = *FIT, "--minutes", "1e-5"
    assert told(*quick)[2] == ""
    monkeypatch.setattr(sys.modules["budgetlearn.cli.fit"], "MOST_COMPARED", 50)
    assert "Note: methods are compared on 50 rows" in told(*quick)[2]


def test_errors_that_are_left_out_are_told(folder, told):
    (folder / "errors.csv").write_text("true,predicted,cost\nyes,no,500\n")
    status, _, err = told(*AUTO)
    assert (status, err) == (
        0,
        "Note: errors that errors.csv does not list cost nothing: no taken for yes.\n",
    )


# --- targets and columns


def test_so_many_rows_as_are_asked_for_are_enough(folder, told):
    def fit_to(n_rows):
        words = ("--keep", "age", "--minutes", "1e-5")
        return of_table(told, lambda t: t[5 : 5 + n_rows], *words)

    fewest = int(re.search(r"Give at least (\d+)", fit_to(8)[2])[1])
    assert fit_to(fewest - 1)[:2] == (2, "")
    assert fit_to(fewest)[0] == 0


@pytest.mark.parametrize("unit", [1e-6, 1e9])
def test_scores_in_any_unit_are_shown_with_their_digits(folder, told, unit):
    words = ("--scoring", "neg_mean_absolute_error", "--minutes", "1e-5", "--report", "page.html")
    status, out, _ = of_table(told, lambda t: t.assign(ill=t["glucose"] * unit), *words)
    assert status == 0
    head, *steps = [line for line in out.splitlines() if re.match("→? +(price|[0-9.]+) ", line)]
    for line in steps:
        scores = re.findall(r"(-[0-9.]+) ± ([0-9.]+)", line)
        assert len(scores) == 2
        assert all(float(score) < -3 * float(error) < 0 for score, error in scores)
        assert line.index("-", line.index("±")) == head.index("held out")
        assert all(f"{score} ± {error}" in Path("page.html").read_text() for score, error in scores)


def test_a_target_that_never_varies_is_not_estimated(folder, told):
    words = ("--task", "regression", "--minutes", "1e-5")
    status, out, err = of_table(told, lambda t: t.assign(ill=1.5), *words)
    assert (status, out) == (2, "")
    assert "for regression, got '1.5' in the first row and nearly the same in others" in err


@pytest.mark.parametrize("unit", [1e-304, 1e-150, 1e150, 1e305])
def test_a_target_whose_squares_are_no_numbers_is_refused(folder, told, unit):
    words = ("--minutes", "1e-5")
    status, out, err = of_table(told, lambda t: t.assign(ill=t["glucose"] * unit), *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "must be numbers of up to 1e+100 that differ by 1e-100 or more for regression" in err


def test_the_cell_of_a_target_that_is_wrong_is_shown(folder, told):
    table = patients()
    numbers = table["glucose"].where(table.index != 6, np.inf)
    err = of_table(told, lambda t: t.assign(ill=numbers), "--minutes", "1e-5")[2]
    assert "got 'inf' in row 7" in err
    assert "the first is '80.7'" in of_table(told, lambda t: t.iloc[2:], "--date", "glucose")[2]


@pytest.mark.parametrize(
    ("column", "option"),
    [("smoker", "--categorical smoker"), ("ill", "--task classification")],
)
def test_codes_beside_words_lead_to_the_option_that_takes_both(folder, told, column, option):
    codes = np.resize(["1", "2", "4", "5", "three"], 400)
    status, _, err = of_table(told, lambda t: t.assign(**{column: codes[: len(t)]}), *QUICK[-2:])
    assert (status, option.split()[0] in err) == (2, True)
    words = *QUICK[-2:], *option.split()
    assert of_table(told, lambda t: t.assign(**{column: codes[: len(t)]}), *words)[0] == 0


@pytest.mark.parametrize("mark", [-999, 999])
def test_nines_that_may_stand_for_gaps_are_told(folder, told, mark):
    status, _, err = of_table(told, lambda t: t.assign(age=t["age"].fillna(mark)))
    assert status == 0
    assert f"age holds {mark} in 16 rows, far from all others" in err
    assert f"--na {mark}" in err
    assert of_table(told, lambda t: t.assign(age=t["age"].fillna(mark)), *QUICK[-2:], "--na", mark)[
        2
    ] == ("")


def test_columns_that_may_be_misread_are_told(folder, told):
    odd = {
        "site": ("A", "site, dev: the same value in every row", "--drop site --drop dev\n"),
        "dev": (1, "site, dev: the same value", "--drop dev\n"),
        "mood": (["Yes", "yes"], "mood: 'Yes' and 'yes' differ only in capitals and count as two"),
        "zip": (["01067", "30159"], "zip holds 01067, and is read as a number", "al zip\n"),
        "sample": ([f"{a}{b}" for a in "efghijklm" for b in "abcdefghi"], "what rows", "sample\n"),
        "day": ([20240331, 20231201], "day holds 20240331, and is read as a", "--date day\n"),
        "left": ([-1, *range(12)], "left holds -1 in 19 rows, and nothing else", "--na -1\n"),
    }
    plain = {
        "grade": [-1, 0, 1],
        "change": [-1, -2, *range(20)],
        "gap": [None, 1],
        "part": ["0.5", "01.5"],
        "street": [f"{a}{b}" for a in "abcdefgh" for b in "abcdefghij"],
        "code": [20241331, 20240101],
    }
    cells = {name: values for name, (values, *_) in odd.items()} | plain
    columns = {name: np.resize(np.array(each, object), 240) for name, each in cells.items()}
    status, _, err = of_table(told, lambda table: table.assign(**columns))
    assert (status, err.count("Note: "), err.count("\n")) == (0, 6, 6)
    assert all(words in err for _, *said in odd.values() for words in said)
    assert (
        "zip has the categories: 01067, 30159"
        in of_table(
            told, lambda table: table.assign(**columns), *QUICK[-2:], "--categorical", "zip"
        )[1]
    )
    err = of_table(told, lambda table: table.assign(ill=np.resize(["007", "12"], len(table))))[2]
    assert "ill holds 007, and is read as a number: 7." in err


def test_points_between_thousands_are_told(folder, told):
    said = "pay holds 1.002 beside 600. If the point separates thousands, remove it"
    for point in (".", ""):
        pay = [f"{n // 1000}{point}{n % 1000:03}" if n > 999 else n for n in range(600, 1080, 2)]
        status, _, err = of_table(told, lambda t, pay=pay: t.assign(pay=pay))
        assert (status, said in err) == (0, point == ".")
    said = "holds 42.000 and the like. If the point separates thousands, remove it"
    for last in ("500", "5"):
        pay = [*np.resize(["42.000", "38.125", "8.000", "117.500"], 239), f"9.{last}"]
        assert (said in of_table(told, lambda t, pay=pay: t.assign(pay=pay))[2]) == (last == "500")
    nullable = pd.array([*range(239), None], dtype="Int64")
    patients().assign(pay=nullable).to_parquet("table.parquet")
    words = ("fit", "table.parquet", "--target", "ill", *QUICK[-2:])
    assert told(*words)[0] == 0
    for cell in ([1, 2], {"a": 1}):
        patients().assign(pay=[cell] * 240).to_parquet("table.parquet")
        for more in ((), *((option, "pay") for option in ("--categorical", "--id", "--weights"))):
            status, _, err = told(*words, *more)
            assert (status, "'pay' holds lists or records" in err) == (2, True)
            assert err.endswith("or leave it out with --drop pay.\n")
        assert told(*words, "--drop", "pay")[0] == 0


@pytest.mark.parametrize("other", [99, 81, -998])
def test_nines_beside_such_numbers_are_numbers(folder, told, other):
    assert of_table(told, lambda t: t.assign(age=t["age"].fillna(other)))[2] == ""


@pytest.mark.parametrize(
    ("line", "separator"), [("Patients of 2024", ","), ("sep=;", ";"), ("Lab,,,,", ",")]
)
def test_lines_above_the_names_are_told(folder, told, line, separator):
    table = patients().to_csv(index=False, sep=separator)
    (folder / "table.csv").write_text(f"{line}\n{table}")
    assert "Take out lines above the column names." in told(*QUICK)[2]


def test_a_time_of_day_is_no_date(folder, told):
    status, _, err = of_table(told, lambda t: t.assign(when=["9:30", "12:05", "23:59"] * 80))
    assert status == 2
    assert "'when' holds dates or times (the first is '9:30')" in err
    assert "such as hours since midnight, or leave it out with --drop when. If" in err
    assert "--categorical when.\n" in err
    assert "four digits" not in err
    err = of_table(told, lambda t: t.assign(when=["05.07.24", "6.8.99", "01.02.03"] * 80))[2]
    assert "(the first is '05.07.24'). Write its years with four digits. Read it as days" in err
    err = of_table(told, lambda t: t.assign(when=["2024-05", "2023-12", "2024-01"] * 80))[2]
    assert "(the first is '2024-05'). Read it as days" in err
    words = *QUICK[-2:], "--date", "when"
    for months in (["2024-05", "2023-12"], ["13-Aug-2020", "1-May-2021"], ["13 Aug 2020"] * 2):
        assert of_table(told, lambda t, m=months: t.assign(when=m * 120), *words)[0] == 0


def test_prices_of_any_size_stand_below_their_heading(folder, told):
    (folder / "prices.csv").write_text("feature,cost\nage,2e9\nsmoker,1\nglucose,3\ninsulin,5\n")
    lines = [line for line in told(*QUICK)[1].splitlines() if "price" in line or "±" in line]
    head, *steps = lines[:-1]
    assert "2000000" in steps[-1]
    assert {line[head.index("accuracy") - 1] for line in steps} == {" "}
    assert all(line[head.index("accuracy")].isdigit() for line in steps)


def test_a_tab_may_be_written_as_a_shell_passes_it(folder, told):
    patients().to_csv("table.csv", index=False, sep="\t")
    assert told(*QUICK, "--separator", "\\t") == told(*QUICK)


def test_numbers_as_text_lead_to_the_option(folder, told):
    patients().to_csv("table.csv", index=False, sep=";")
    assert "Is --decimal right?" in told(*QUICK, "--decimal", ",")[2]


# --- files


def test_errors_name_the_options_of_the_call(folder, told):
    assert told(*QUICK, "--out", "model")[0] == 0
    with socket.create_server(("127.0.0.1", 0)) as taken:
        words = ("serve", "model", "--no-browser", "--port", taken.getsockname()[1])
        assert "in use: choose another --port, or none" in told(*words)[2]
    (folder / "errors.csv").write_text(ERRORS)
    assert "give them or --scoring, not both" in told(*AUTO, "--scoring", "roc_auc")[2]
    assert "Error: --categorical names columns" in told(*QUICK, "--categorical", "ill")[2]


@pytest.mark.parametrize("option", ["--out", "--report"])
@pytest.mark.parametrize("name", ["table.csv", "prices.csv", "./table.csv", "link"])
def test_what_is_read_is_not_written_over(folder, told, option, name):
    before = (folder / "table.csv").read_bytes()
    (folder / "link").symlink_to("table.csv")
    status, out, err = told(*QUICK, option, name)
    assert (status, out) == (2, "")
    assert "would be overwritten: name another file" in err
    assert (folder / "table.csv").read_bytes() == before
    assert (folder / "prices.csv").read_text() == PRICES


def test_a_pipe_that_has_a_name_is_read_once(folder, told):
    """As a shell's <(…): it was called empty, for files are read more than once."""

    def pipe(name):
        content = Path(name).read_bytes()
        Path(name).unlink()
        os.mkfifo(name)
        Thread(target=Path(name).write_bytes, args=(content,), daemon=True).start()

    (folder / "errors.csv").write_text(ERRORS)
    whole = told(*AUTO)
    for name in ("table.csv", "prices.csv", "errors.csv"):
        pipe(name)
    assert told(*AUTO) == whole
    patients().to_csv("new.csv", index=False)
    pipe("new.csv")
    status, out, err = told("compare", "new.csv", "--target", "ill")
    assert (status, out) == (2, "")
    assert "The study cannot read a pipe again later: save it to a file first." in err


def test_ctrl_c_before_the_command_line_is_there_shows_no_traceback(monkeypatch):
    class Loading:
        def __getattr__(self, name):
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "budgetlearn.cli.commands", Loading())
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 130


def test_a_model_is_written_whatever_the_screen_does(folder, monkeypatch):
    words = [*QUICK, "--budget", "25", "--out", "model", "--report", "page.html"]
    screen = io.TextIOWrapper(io.BytesIO(), "latin-1", write_through=True)
    monkeypatch.setattr("sys.stdout", screen)
    assert run(words) == 0
    assert "? is what a budget of 25 buys." in screen.buffer.getvalue().decode("latin-1")
    for name in ("model", "page.html"):
        Path(name).unlink()
    closed = SimpleNamespace(write=mock.Mock(side_effect=OSError("closed")), flush=mock.Mock())
    monkeypatch.setattr("sys.stdout", closed)
    assert run(words) == 2
    assert Path("model").is_file()
    assert Path("page.html").is_file()


@pytest.mark.parametrize("option", ["--out", "--report"])
def test_an_empty_name_of_a_file_is_refused_before_the_fit(folder, told, option):
    status, out, err = told(*QUICK, option, "")
    assert (status, out) == (2, "")
    assert "The output file needs a name" in err


def test_two_files_have_two_names(folder, told):
    assert "m would be overwritten" in told(*QUICK, "--out", "m", "--report", "m")[2]
    assert told(*QUICK, "--out", "m")[0] == told(*QUICK, "--out", "m")[0] == 0
    for name in ("m", "table.csv"):
        assert "would be overwritten" in told("predict", "m", "table.csv", "--out", name)[2]
    assert told("predict", "m", "table.csv", "--out", "-")[0] == 0


def test_a_place_that_cannot_be_written_is_told_before_the_fit(folder, told, monkeypatch):
    for name in ("table.csv/m", "table.csv/a/m"):
        status, out, err = told(*QUICK, "--out", name)
        assert (status, out) == (2, "")
        assert "table.csv is not a folder that can be written to" in err
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place) != folder)
    assert "not a folder that can be written to" in told(*QUICK, "--report", "new/m.html")[2]


def test_no_threads_are_no_number_of_threads(folder, told):
    status, out, err = told(*FIT, "--jobs", "0")
    assert (status, out) == (2, "")
    assert "--jobs must be -1 (all cores), or 1 or more" in err


@pytest.mark.parametrize("words", [("--seed", "-1"), ("--seed", "9" * 11), ("--max-rows", "12")])
def test_numbers_out_of_range_are_said_to_be_of_their_option(folder, told, words):
    status, _, err = told(*QUICK, *words)
    assert status == 2
    assert f"Invalid value for '{words[0]}': {words[1]} is not in the range" in err


def test_more_threads_than_cores_are_as_many_as_these(folder, told):
    assert told(*QUICK, "--jobs", "100000", "--out", "model")[0] == 0
    assert SavedModel.load("model").model.n_jobs == cpu_count()


# --- predictions


def test_another_unit_is_told(folder, told):
    assert told(*QUICK, "--out", "m")[0] == 0
    new = patients().iloc[1:48]
    new.to_csv("new.csv", index=False)
    assert told("predict", "m", "new.csv")[2] == ""
    new.assign(glucose=new["glucose"] / 18).to_csv("new.csv", index=False)
    status, _, err = told("predict", "m", "new.csv")
    assert status == 0
    assert "glucose is outside the training range (24.6 to 155.1) in 47 of 47 rows" in err
    # One of 47 rows a little beyond is what chance explains.
    new.assign(age=new["age"].where(new.index != 3, 99)).to_csv("new.csv", index=False)
    assert told("predict", "m", "new.csv")[2] == ""
    # So are four of 47 after 80 rows, but not after 400.
    new.assign(age=new["age"].where(new.index > 4, 99)).to_csv("new.csv", index=False)
    assert "age is outside the training range" in told("predict", "m", "new.csv")[2]
    replace(SavedModel.load("m"), n_rows=(60, 0, 20, 0)).save("few")
    assert told("predict", "few", "new.csv")[2] == ""


def test_later_dates_are_no_other_unit(folder, told):
    days = pd.Series(pd.date_range("2023-01-01", periods=240).strftime("%Y-%m-%d"))
    table = patients().assign(came=days, ill=np.where(np.arange(240) > 90, "yes", "no"))
    table.to_csv("table.csv", index=False)
    words = ("fit", "table.csv", "--target", "ill", "--date", "came", *QUICK[-2:])
    status, _, err = told(*words, "--out", "m")
    assert (status, "later rows may have other scores and costs.\n" in err) == (0, True)
    table.head(9).assign(came="2026-01-01").to_csv("new.csv", index=False)
    status, out, err = told("predict", "m", "new.csv")
    assert (status, err) == (0, "")
    assert "came" in out


def test_infinity_is_refused_by_its_column(folder, told):
    assert told(*QUICK, "--out", "m")[0] == 0
    for age, said in (
        (np.inf, "'age' holds infinity in row 1"),
        (10**400, f"'age' held numbers in training, but now 1{39 * '0'} in row 1 "),
    ):
        patients().iloc[1:9].assign(age=age).to_csv("new.csv", index=False)
        status, out, err = told("predict", "m", "new.csv")
        assert (status, out) == (2, "")
        assert said in err


@pytest.mark.parametrize("budget", ["nan", "NaN", "-nan", "5,5", "5 EUR"])
@pytest.mark.parametrize("words", [FIT, ("recommend", "."), ("ask", "table.csv")])
def test_a_budget_that_is_no_number_is_refused_before_any_work(folder, told, words, budget):
    for option in ("--budget", *(["--max-cost"] * (words[0] == "ask"))):
        status, out, err = told(*words, option, budget)
        assert (status, out) == (2, "")
        assert re.search(f"Invalid value for '{option}': .* (is not a|not a valid) number", err)


def test_small_parts_of_sentences():
    amounts = pd.Series(np.random.default_rng(0).permutation(90_000)[:200], name="income")
    assert not _numbers_rows(amounts)
    for ids in (amounts.rename("Case ID"), amounts.sort_values(), amounts.rank()):
        assert _numbers_rows(ids)
    assert [output.percent(share) for share in (0.005, 0.0051, 0.0149, 1)] == [
        *("<1 %", "1 %", "1 %", "100 %")
    ]
    assert output.plus_minus(-0.0004, 0.01) == "0.000 ± .010"
    for number in (0.7635, np.float64(0.7635)):  # whose own rounding would give .764
        assert output.plus_minus(number, 0.005) == "0.763 ± .005"
    assert output.plus_minus(0.95, 0.00043) == "0.95000 ± .00043"
    assert output.plus_minus(0.5, 1e-17) == output.plus_minus(0.5, 0) == "0.500 ± .000"
    assert output.plus_minus(0.5, np.nan) == "0.500 ± ?"
    assert output.plus_minus(-7.2494, 0.9999) == "-7.249 ± 1.000"
    assert output.plus_minus(-7.2494, 1.5432) == "-7.2 ± 1.5"
    assert output.plus_minus(-59424.022, 4230.7) == "-59424 ± 4231"
    known = [_sure({"prediction": "a", "probability": share}) for share in (0.994, 0.996, 1)]
    assert known == ["a (99 % sure)", "a (99.6 % sure)", "a (100 % sure)"]
    assert output.spread({"cost": 3.0, "cost_se": np.nan}) == " ± ?"
    assert output.spread({"cost": 0.00713, "cost_se": 5.96e-5}) == " ± 0.00006"
    assert output.spread({"cost": 3.0, "cost_se": 0.004}) == ""
    saved = SimpleNamespace(expected_cost=lambda stage, n_rows: (3.0, 1.0))
    said = [output.mean_cost(saved, 0, n_rows) for n_rows in (1, 2000)]
    assert [text.split(" expected")[0] for text in said] == ["1 new row is", "2,000 new rows are"]


def test_without_a_budget_the_schedule_says_what_is_bought(folder, told):
    table = patients().assign(ill=lambda t: np.where(t["glucose"] > 100, "yes", "no"))
    table.to_csv("table.csv", index=False)
    assert told(*QUICK, "--out", "m")[0] == 0
    saved = SavedModel.load("m")
    last = saved.steps().iloc[-1]
    # The most expensive model is no better, and no line of the schedule.
    assert last["cost"] < saved.curve["cost"].max()
    rows = pd.read_csv(io.StringIO(told("predict", "m", "table.csv")[1]))
    assert rows["cost"].to_numpy() == pytest.approx(last["cost"])
    assert set(rows["bought"]) == {"; ".join(last["variables"])}


@pytest.fixture
def of_zips(folder, told):
    """A model of a column of numbers that name categories."""
    zips = np.tile([1010, 1020, 8010], 80)
    pd.DataFrame({"zip": zips, "ill": np.where(zips == 1020, "yes", "no")}).to_csv(
        "zips.csv", index=False
    )
    words = ("zips.csv", "--target", "ill", "--categorical", "zip", *QUICK[-2:])
    assert told("fit", *words, "--out", "m")[0] == 0
    return SavedModel.load("m")


def test_an_expected_cost_and_its_error_have_the_same_digits():
    saved = SimpleNamespace(expected_cost=lambda *_: (7.951, 0.0489))
    said = "100 new rows are expected to cost 7.95 ± 0.05 (95 %) on average"
    assert output.mean_cost(saved, 1, 100) == said
    saved.expected_cost = lambda *_: (0.0123, 0.00456)
    assert "cost 0.0123 ± 0.0046 (95 %) on" in output.mean_cost(saved, 1, 100)


def test_numbers_that_name_categories_are_asked_for_as_words(of_zips, told, monkeypatch):
    assert conversation(of_zips, None, None, [])["asked"]["words"] == ["1010", "1020", "8010"]
    (step,) = conversation(of_zips, None, None, [("zip", "1020")])["steps"]
    assert step["prediction"] == "yes"
    assert "is unknown" in conversation(of_zips, None, None, [("zip", "9")])["said"]
    monkeypatch.setattr("sys.stdin", io.StringIO("1020\n"))
    status, out, err = told("ask", "m")
    assert (status, err) == (0, "")
    assert "prediction: yes" in out
    monkeypatch.setattr("sys.stdin", io.StringIO('{"value": 1020}\n'))
    out = told("ask", "m", "--json")[1]
    assert json.loads(out.splitlines()[-1])["prediction"] == "yes"


@pytest.mark.parametrize("gap", [False, True])
def test_leading_zeros_of_numbers_that_name_categories_stay(folder, told, gap):
    table = pd.DataFrame({"zip ": np.tile(["01010", "1010", "08010"], 80)})
    table["ill"] = np.where(table["zip "] == "01010", "yes", "no")
    table.loc[3 : 8 if gap else 2, "zip "] = None
    table.to_csv("zips.csv", index=False)
    words = ("zips.csv", "--target", "ill", "--categorical", "zip", *QUICK[-2:])
    status, out, _ = told("fit", *words, "--out", "m")
    assert status == 0
    assert "zip has the categories: 01010, 08010, 1010\n" in out
    (step,) = conversation(SavedModel.load("m"), None, None, [("zip", "01010")])["steps"]
    assert step["prediction"] == "yes"
    told_of = pd.read_csv(io.StringIO(told("predict", "m", "zips.csv")[1]))["ill"]
    assert (told_of == table["ill"]).mean() > 0.95
    table.set_axis(["zip", "ill"], axis=1).to_parquet("zips.parquet")
    assert told("predict", "m", "zips.parquet")[1:] == told("predict", "m", "zips.csv")[1:]


@pytest.mark.parametrize(("decimal", "typed"), [(",", "50.5"), (",", "1.050"), (".", "5_0")])
def test_marks_between_thousands_are_no_decimals(folder, told, decimal, typed):
    patients().to_csv("table.csv", index=False, sep=";", decimal=decimal)
    words = ("fit", "table.csv", "--target", "ill", "--decimal", decimal, *QUICK[-2:])
    assert told(*words, "--out", "m")[0] == 0
    saved = SavedModel.load("m")
    assert conversation(saved, None, None, [])["asked"]["name"] == "age"
    said = conversation(saved, None, None, [("age", typed)])["said"]
    assert f"{typed!r} is not a number (decimal mark: {decimal!r})." in said
    if decimal == ",":
        assert conversation(saved, None, None, [("age", "50,5")])["said"] is None
        doubted = Case(saved, None, None).beyond("glucose", "900,5")
        assert re.search(r"900,5 is outside .* table \(\d+,\d to \d+,\d\)\.", doubted)
        assert conversation(saved, None, None, [])["asked"]["mark"] == ","
    # Numbers of a program have a point, whatever the table has.
    assert conversation(saved, None, None, [("age", 50.5)])["said"] is None


def test_the_end_of_a_case_says_why(of_zips):
    told = conversation(of_zips, None, None, [("zip", None)])["enough"]
    assert "no other available column within the limits is worth its price. 0 of 1" in told
    capped = conversation(of_zips, None, 0.5, [])["enough"]
    assert "available column within the limits" in capped
    saved = SimpleNamespace(costs=FeatureCosts([0.3]), model=of_zips.model)
    session = SimpleNamespace(cost=0.1 + 0.2)  # not 0.3
    case = SimpleNamespace(next=None, saved=saved, session=session, given=1)
    assert enough(case).endswith(" 1 of 1 columns known; 0 saved.")
