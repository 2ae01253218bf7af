"""Hard calls, as newcomers make them: each is answered right, or told what to do; none misleads.

Each call has its files, its words, the exit status, and words that must be on the screen: `out` in
what is printed, `err` in notes and errors. A call without `err` must have no note at all.
"""

import gzip
import io
import json
import re
import shutil
import sys
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from budgetlearn.cli.commands import run
from budgetlearn.cli.table import days, form_of
from budgetlearn.exceptions import DatasetError
from tests.cli.conftest import PRICES, patients

N = 240
DAYS = pd.date_range("2023-11-01", periods=N)
NAMES = [f"{k:03d}" for k in range(N)]
RANDOM = np.random.default_rng(1)
FIT = ("fit", "table.csv", "--target", "ill")
FOREST = (*FIT, "--method", "filter_forest")
PRICED = (*FOREST, "--costs", "prices.csv")
PREDICT = ("predict", "forest", "new.csv")
ROWS = patients().iloc[1:48]


@dataclass
class Call:
    """A call: its words, the files that differ from the usual ones, and what is to be said."""

    words: tuple
    files: dict = field(default_factory=dict)
    status: int = 0
    out: tuple = ()
    err: tuple = ()
    stdin: bytes = b""


def csv(table, encoding="utf-8", **how):
    return table.to_csv(index=False, **how).encode(encoding)


def table(change, **how):
    """Return the table as a changed file, written when the call is made."""
    return {"table.csv": partial(csv, change(patients()), **how)}


def new(change, **how):
    """Return rows to predict as a changed file."""
    return {"new.csv": partial(csv, change(ROWS), **how)}


def xlsx(frame):
    """Return what makes a workbook, when the call is made."""

    def made():
        out = io.BytesIO()
        frame.to_excel(out, index=False)
        return out.getvalue()

    return made


def parquet(frame):
    out = io.BytesIO()
    frame.to_parquet(out)
    return out.getvalue()


def with_names(t):
    return t.assign(patient=NAMES[: len(t)])


def gap(t):
    """Return rows of which one lacks a glucose."""
    return t.assign(glucose=t["glucose"].where(np.arange(len(t)) != 6))


SEMICOLONS = "feature;cost;group;group_cost\nage;1;;\nsmoker;2,0;;\nglucose;15,5;blood;2,1\n"
SEMICOLONS += "insulin;20,7;blood;2,1\n"
GERMAN = {"sep": ";", "decimal": ","}
AS_ALWAYS = "4 columns with a total cost of 41.3"

CALLS = {
    # Files as they come.
    "Excel table": Call(
        ("fit", "t.xlsx", *PRICED[2:]), {"t.xlsx": xlsx(patients())}, out=(AS_ALWAYS,)
    ),
    "Excel price list": Call(
        (*FOREST, "--costs", "p.xlsx"),
        {"p.xlsx": xlsx(pd.read_csv(io.StringIO(PRICES)))},
        out=(AS_ALWAYS,),
    ),
    "old Excel form": Call(
        ("fit", "t.xls", *PRICED[2:]),
        {"t.xls": b"\xd0\xcf\x11\xe0" + bytes(600)},
        2,
        err=("t.xls is a workbook of the old form (.xls). Save it as .xlsx or csv",),
    ),
    "Excel called csv": Call(PRICED, {"table.csv": xlsx(patients())}, out=(AS_ALWAYS,)),
    "Parquet": Call(
        ("fit", "t.parquet", *PRICED[2:]), {"t.parquet": parquet(patients())}, out=(AS_ALWAYS,)
    ),
    "Parquet with decimals, as databases have them": Call(
        ("fit", "t.parquet", *PRICED[2:]),
        {
            "t.parquet": parquet(
                patients().assign(
                    glucose=lambda t: [Decimal(str(cell)) for cell in t["glucose"]],
                    age=lambda t: [Decimal(cell) if cell > 0 else None for cell in t["age"]],
                )
            )
        },
        out=(AS_ALWAYS,),
    ),
    "Parquet through a pipe": Call(
        ("fit", "-", *PRICED[2:]), stdin=parquet(patients()), out=("on standard input", AS_ALWAYS)
    ),
    "csv through a pipe": Call(
        ("fit", "-", *PRICED[2:]), stdin=csv(patients()), out=("on standard input", AS_ALWAYS)
    ),
    "an empty pipe": Call(
        ("fit", "-", *PRICED[2:]), status=2, err=("standard input is empty: it holds no table",)
    ),
    "gzip": Call(PRICED, {"table.csv": gzip.compress(csv(patients()))}, out=(AS_ALWAYS,)),
    "Latin-1": Call(
        PRICED,
        table(lambda t: t.replace("former", "früher"), encoding="latin-1"),
        out=(AS_ALWAYS, "früher, no, yes"),
        err=("table.csv is not UTF-8 and is read as Windows-1252 (Latin-1), for example 'früher'",),
    ),
    "Latin-1 price list": Call(
        PRICED,
        {
            **table(lambda t: t.rename(columns={"age": "âge"})),
            "prices.csv": PRICES.replace("age", "âge").encode("latin-1"),
        },
        out=(AS_ALWAYS,),
        err=("prices.csv is not UTF-8 and is read as Windows-1252 (Latin-1), for example 'âge'",),
    ),
    "UTF-16, as Excel saves Unicode text": Call(
        PRICED, table(lambda t: t, encoding="utf-16", sep="\t"), out=(AS_ALWAYS,)
    ),
    "semicolons and decimal commas": Call(
        (*PRICED, "--decimal", ","),
        {**table(lambda t: t, **GERMAN), "prices.csv": SEMICOLONS.encode()},
        out=(AS_ALWAYS,),
    ),
    "decimal commas without the option": Call(
        PRICED, table(lambda t: t, **GERMAN), 2, err=("'58,0' in row 2", "--decimal , reads them")
    ),
    "the wrong separator": Call(
        (*PRICED, "--separator", ";"), status=2, err=("no column 'ill'", "Is --separator right?")
    ),
    "an empty file": Call(PRICED, {"table.csv": b""}, 2, err=("table.csv is empty",)),
    "a header alone": Call(PRICED, table(lambda t: t.head(0)), 2, err=("but no rows",)),
    "a column twice": Call(
        PRICED,
        {"table.csv": csv(patients()).replace(b"insulin", b"glucose", 1)},
        2,
        err=("column names must differ; repeated: ['glucose']",),
    ),
    "a column twice but for blanks": Call(
        PRICED,
        {"table.csv": csv(patients()).replace(b"insulin", b"glucose ", 1)},
        2,
        err=("column names must differ; repeated: ['glucose']",),
    ),
    "a line that was cut off": Call(
        PRICED, {"table.csv": csv(patients())[:-9]}, 2, err=("line 241:", "cut off")
    ),
    "a picture": Call(PRICED, {"table.csv": b"\x89PNG\r\n\x1a\n\0\0"}, 2, err=("is not text",)),
    # Targets.
    "amounts to predict": Call(
        FIT, table(lambda t: t.assign(ill=t["glucose"] * 2)[["age", "insulin", "ill"]]), out=("R²",)
    ),
    "amounts to predict, with a classifier": Call(
        FOREST,
        table(lambda t: t.assign(ill=t["glucose"])),
        2,
        err=("filter_forest does not predict numbers. Methods for regression: auto, cascade",),
    ),
    "ids to predict": Call(
        FIT,
        table(lambda t: t.assign(ill=RANDOM.permutation(N))),
        out=("R²",),
        err=("ill holds a different whole number in each row, like an identifier",),
    ),
    "three classes": Call(
        PRICED,
        table(lambda t: t.assign(ill=pd.qcut(t["glucose"], 3, labels=["low", "mid", "high"]))),
        out=("ill is one of: high (",),
        err=("glucose alone predicts ill almost perfectly",),
    ),
    "classes by number": Call(
        PRICED,
        table(lambda t: t.assign(ill=pd.cut(t["glucose"], 4, labels=False))),
        out=("ill is one of: 0 (",),
        err=("4 different numbers, taken as classes", "--task regression"),
    ),
    "a rare class": Call(
        PRICED,
        table(lambda t: t.assign(ill=np.where(np.arange(N) < 8, "rare", "usual"))),
        out=("rare (3 %), usual (97 %)",),
        err=("the class 'rare' has 8 of 240 rows", "always predicting 'usual' is right in 97 %"),
    ),
    "a row that R² depends on": Call(
        (*PRICED, "--method", "lightgbm"),
        table(lambda t: t.assign(ill=np.where(t.index == 6, -4e5, t["glucose"]))),
        err=(
            "-400000 in row 7",
            "makes up 100 % of the variance of ill",
            "neg_mean_absolute_error",
        ),
    ),
    "a class that is too rare": Call(
        PRICED,
        table(lambda t: t.assign(ill=np.where(np.arange(N) < 2, "odd", "usual"))),
        2,
        err=("the class 'odd' in 2 of 240 rows: too few to train, validate and test",),
    ),
    "one class": Call(
        PRICED, table(lambda t: t.assign(ill="yes")), 2, err=("has only one class, 'yes'",)
    ),
    "a target with gaps": Call(
        PRICED,
        table(lambda t: t.assign(ill=t["ill"].where(t.index != 7))),
        2,
        err=("The target 'ill' is empty in row 8", "Remove these rows"),
    ),
    "a misspelt target": Call(
        ("fit", "table.csv", "--target", "Ill"), status=2, err=("no column 'Ill'", "mean 'ill'?")
    ),
    # Columns.
    "dates": Call(
        FOREST,
        table(lambda t: t.assign(came=DAYS)),
        2,
        err=("'came' holds dates", "--date came, or leave it out with --drop came"),
    ),
    "dates with time zones as days": Call(
        (*FOREST, "--date", "came"),
        table(lambda t: t.assign(came=[f"{day:%Y-%m-%dT%H:%M}:00Z" for day in DAYS])),
        out=("5 columns",),
        err=("later rows may have other scores",),
    ),
    "dates that may be read in two ways": Call(
        (*FOREST, "--date", "came"),
        table(lambda t: t.assign(came=np.where(t.index % 2, "03/04/2024", "05/06/2024"))),
        2,
        err=("'05/06/2024' may be 05 June or 06 May. Write dates as 2024-03-31",),
    ),
    "no dates": Call((*FOREST, "--date", "smoker"), status=2, err=("dates in one format",)),
    "a number of each row left in": Call(
        PRICED,
        table(lambda t: t.assign(id=RANDOM.permutation(N))),
        out=("4 columns",),
        err=("id has a different whole number in each row", "--keep id"),
    ),
    "a copy of the target left in": Call(
        FOREST,
        table(lambda t: t.assign(code=np.where(t["ill"] == "yes", "A", "B"))),
        out=("5 columns",),
        err=("code alone predicts ill almost perfectly", "--drop code"),
    ),
    "a name of each row left in": Call(
        FOREST,
        table(lambda t: t.assign(who=[f"p{k}" for k in NAMES])),
        2,
        err=(
            "'who' holds 240 different words",
            "use --id who: predict then writes it",
            "--drop who",
        ),
    ),
    "a name of each row": Call((*PRICED, "--id", "patient"), table(with_names), out=(AS_ALWAYS,)),
    "names that repeat": Call(
        (*PRICED, "--id", "who"),
        table(lambda t: t.assign(who=t.index // 4)),
        out=(AS_ALWAYS,),
        err=("rows with the same who are held out together, so that scores are for unseen",),
    ),
    "rows that stand there twice": Call(
        FOREST,
        table(lambda t: pd.concat([t, t.iloc[:24]])),
        err=("Note: 24 rows repeat earlier ones in every cell.", "name the cases with --id"),
    ),
    "names that repeat, unnamed": Call(
        FOREST,
        table(lambda t: t.assign(**{"case id": t.index // 4, "paid": t.index % 2})),
        out=("48 held out; 6 columns",),
        err=("Note: case id is used as a feature", "such as a patient, use --id 'case id'"),
    ),
    "names that repeat, in a cascade": Call(
        ("fit", "table.csv", "--target", "ill", "--method", "cascade", "--id", "who"),
        table(lambda t: t.assign(who=t.index // 4)),
        out=("192 rows to train, 48 held out",),
        err=("rows with the same who are held out together",),
    ),
    "a name that is the target": Call((*PRICED, "--id", "ill"), status=2, err=("--target ill is",)),
    "marks for gaps": Call(
        PRICED,
        table(lambda t: t.assign(glucose=t["glucose"].astype(object).where(t.index % 9 != 0, "?"))),
        2,
        err=("'?' in row 1", "If values are missing there: on the command line --na '?'"),
    ),
    "an empty column": Call(
        FOREST, table(lambda t: t.assign(more=None)), 2, err=("'more'. Leave them out with --drop",)
    ),
    "numbers as text": Call(
        ("fit", "t.parquet", *FOREST[2:]),
        {
            "t.parquet": parquet(
                patients().assign(age=lambda t: t["age"].map(str, na_action="ignore"))
            )
        },
        2,
        err=("'age' holds numbers that are stored as text",),
    ),
    # Weights of rows.
    "weights for a method without": Call(
        (*PRICED, "--weights", "glucose"),
        status=2,
        err=("and --weights need --method auto, got fil",),
    ),
    "weights under a wrong name": Call(
        (*FIT, "--weights", "Age"), status=2, err=("no column 'Age'", "Did you mean 'age'?")
    ),
    "weights that are none": Call(
        (*FIT, "--weights", "w"),
        table(lambda t: t.assign(w="much")),
        2,
        err=("--weights w: weights must be numbers above 0, got 'much' in row 1",),
    ),
    "a weight that is none": Call(
        (*FIT, "--weights", "w"),
        table(lambda t: t.assign(w=np.where(t.index == 3, "much", "2"))),
        2,
        err=("got 'much' in row 4 (counted from 1, without the header). Remove",),
    ),
    "an amount that is none": Call(
        (*FIT, "--task", "regression"),
        table(lambda t: t.assign(ill=np.where(t.index == 3, "much", t["glucose"].map(str)))),
        2,
        err=("'ill' holds numbers, but 1 of", "'much' in row 4"),
    ),
    "weights with a gap": Call(
        (*FIT, "--weights", "age"),
        status=2,
        err=("--weights age: weights must be numbers above 0, got an empty cell in row 1",),
    ),
    "a weight of 0": Call(
        (*FIT, "--weights", "w"),
        table(lambda t: t.assign(w=np.where(t.index == 3, 0, 2))),
        2,
        err=("got '0' in row 4", "Remove rows"),
    ),
    "weights that are the target": Call(
        (*FIT, "--weights", "ill"), status=2, err=("no other option may name it",)
    ),
    "weights for a score that has its own": Call(
        (*FIT, "--weights", "glucose", "--scoring", "f1"),
        status=2,
        err=("--weights count in accuracy", "not in scoring='f1'"),
    ),
    "a score of the other task": Call(
        (*FIT, "--scoring", "r2"), status=2, err=("--scoring must be one of 'accuracy'", "got 'r2'")
    ),
    # Prices and budgets.
    "a price that is missing": Call(
        PRICED,
        {"prices.csv": PRICES.replace("insulin,20.7,blood,2.1\n", "").encode()},
        2,
        err=("no price for: 'insulin'. Add them (0 if they are free)", "--drop"),
    ),
    "a price under another name": Call(
        PRICED,
        {"prices.csv": PRICES.replace("insulin", "Insulin ").encode()},
        2,
        err=("unknown features: 'Insulin'", "no price for: 'insulin' (found: 'Insulin')"),
    ),
    "group prices that differ": Call(
        PRICED,
        {"prices.csv": PRICES.replace("20.7,blood,2.1", "20.7,blood,9").encode()},
        2,
        err=("cost group 'blood' must have the same group_cost, found 2.1, 9",),
    ),
    "a price of two readings": Call(
        PRICED,
        {"prices.csv": b"feature;cost\nage;1\nsmoker;2\nglucose;1,500\ninsulin;2,000\n"},
        2,
        err=("line 4: '1,500' may be 1500 or 1.5",),
    ),
    "a budget that is too small": Call(
        (*PRICED, "--budget", "0.5"), status=2, err=("No operating point costs at most 0.5",)
    ),
    "a model to the screen": Call(
        (*PRICED, "--out", "-"), status=2, err=("The output file needs a name",)
    ),
    # Predictions.
    "only bought columns": Call(
        PREDICT,
        new(lambda t: t[["age", "smoker", "glucose"]]),
        out=("ill,probability,probability_no",),
    ),
    "predict through pipes": Call(
        ("predict", "forest", "-", "--out", "-"), stdin=csv(ROWS), out=("ill,probability,",)
    ),
    "predict from Excel": Call(
        ("predict", "forest", "n.xlsx"), {"n.xlsx": xlsx(ROWS)}, out=("ill,probability,",)
    ),
    "columns of other names": Call(
        PREDICT,
        new(lambda t: t.rename(columns={"age": "Age ", "glucose": "glucose_mg"})),
        2,
        err=("'age' (found: 'Age')", "'glucose' (found: 'glucose_mg')", "--fallback"),
    ),
    "no column of that name": Call(
        PREDICT, new(lambda t: t.add_prefix("x_")), 2, err=("none of the columns to buy",)
    ),
    "new categories": Call(
        PREDICT,
        new(lambda t: t.assign(smoker="sometimes")),
        out=("ill,",),
        err=("Column 'smoker' has categories unknown in training, taken as missing: 'sometimes'",),
    ),
    "one gap in 47 rows": Call(
        PREDICT,
        new(gap),
        out=("cost,bought,missing", ",glucose\n"),
        err=("1 of 47 rows lack a value that would be bought", "the first is row 7 (without gluc"),
    ),
    "a column of gaps": Call(
        PREDICT,
        new(lambda t: t.assign(glucose=np.nan)),
        2,
        err=("has no value of 'glucose', which the prediction needs, in any of its 47 rows",),
    ),
    "a mark that training did not have": Call(
        PREDICT,
        new(lambda t: t.assign(glucose=t["glucose"].astype(object).where(t.index > 3, "-"))),
        2,
        err=("now '-' in row 1", "--na - reads them so"),
    ),
    "names kept": Call(
        ("predict", "named", "new.csv"), new(with_names), out=("patient,ill,", "\n000,", "\n046,")
    ),
    "a name that stands for a gap elsewhere": Call(
        ("predict", "named", "new.csv"),
        new(lambda t: with_names(t).replace({"patient": {"000": "NA"}})),
        out=("patient,ill,", "\nNA,"),
    ),
    "names that are not there": Call(
        ("predict", "named", "new.csv"),
        out=("ill,",),
        err=("column patient: the output does not name the rows",),
    ),
    "a wrong name of rows": Call(
        (*PREDICT, "--id", "Patient"), new(with_names), 2, err=("'Patient' (found: 'patient')",)
    ),
    "a name beside a gap": Call(
        ("predict", "named", "new.csv"),
        new(lambda t: gap(with_names(t))),
        out=("patient,ill,",),
        err=("the first is row 7, patient 006 (without glucose)",),
    ),
    "options that the model remembers": Call(
        ("predict", "german", "new.csv"),
        new(
            lambda t: t.assign(came=DAYS[: len(t)].strftime("%d.%m.%Y")).fillna({"smoker": "?"}),
            **GERMAN,
        ),
        out=("ill,probability",),
    ),
    "dates of another form": Call(
        ("predict", "german", "new.csv"),
        new(lambda t: t.assign(came=DAYS[: len(t)].strftime("%m/%d/%Y")), **GERMAN),
        2,
        err=("'came' held dates such as 31.03.2024 in training, but now '11/01/2023' in row 1",),
    ),
    "a model that is none": Call(
        ("predict", "table.csv", "new.csv"), status=2, err=("is not a model that",)
    ),
    "a target called as the output": Call(
        ("predict", "costly", "new.csv"),
        new(lambda t: t.rename(columns={"ill": "cost"})),
        out=("cost,probability,probability_no,probability_yes,cost (2),bought\n",),
    ),
    "ask through a pipe that ends": Call(
        ("ask", "forest", "--json"), stdin=b"", status=2, out=('"next"',), err=("The input ended",)
    ),
    "ask with an unknown word": Call(
        ("ask", "forest", "--json"),
        stdin=b'{"value": 50}\n{"value": "Yes"}\n',
        status=2,
        out=('"next": "smoker"',),
        err=("'Yes' is unknown; known categories: former, no, yes",),
    ),
}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder with models: of the table as it is, with names, as a German export, called cost."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "prices.csv").write_text(PRICES)
    german = patients().assign(came=DAYS.strftime("%d.%m.%Y")).fillna({"smoker": "?"})
    tables = {
        "forest": (patients(), ()),
        "named": (with_names(patients()), ("--id", "patient")),
        "german": (german, ("--decimal", ",", "--na", "?", "--date", "came")),
        "costly": (patients().rename(columns={"ill": "cost"}), ()),
    }
    for name, (frame, words) in tables.items():
        frame.to_csv(folder / "t.csv", index=False, **(GERMAN if name == "german" else {}))
        target = "cost" if name == "costly" else "ill"
        call = ["fit", "t.csv", "--target", target, "--method", "filter_forest", *words]
        call += [] if name == "german" else ["--costs", "prices.csv", "--budget", "25"]
        call = [str(folder / word) if word.endswith(".csv") else word for word in call]
        assert run([*call, "--out", str(folder / name)]) == 0
    return folder


@pytest.fixture
def called(models, folder, told, monkeypatch):
    """Make a call, and return its exit status, what it printed, and notes and errors."""

    def made(call):
        for name in ("forest", "named", "german", "costly"):
            shutil.copy(models / name, folder / name)
        (folder / "new.csv").write_bytes(csv(ROWS))
        for name, content in call.files.items():
            (folder / name).write_bytes(content() if callable(content) else content)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(call.stdin)))
        return told(*call.words)

    return made


@pytest.mark.parametrize("name", CALLS)
def test_a_hard_call_is_answered_right_or_told_what_to_do(called, name):
    call = CALLS[name]
    status, out, err = called(call)
    assert status == call.status, err
    for words in call.out:
        assert words in out
    for words in call.err:
        assert words in err
    if not call.err:
        assert err == ""
    # One line each: no traceback, no warning of Python's.
    starts = ("Note: ", "Error: ", "Usage: ", "Try ")
    assert all(line.startswith(starts) for line in err.splitlines() if line)
    assert "Traceback" not in err
    assert "Warning" not in err
    if status == 2 and call.words[0] != "ask":
        assert out == ""
    assert not Path("-").exists()


def test_there_are_more_than_forty():
    assert len(CALLS) >= 60
    assert {call.words[0] for call in CALLS.values()} == {"fit", "predict", "ask"}


SAME = {
    "Excel table": "t.xlsx",
    "Excel called csv": "table.csv",
    "Excel price list": "table.csv",
    "Parquet": "t.parquet",
    "Parquet through a pipe": "standard input",
    "csv through a pipe": "standard input",
    "gzip": "table.csv",
    "Latin-1": "table.csv",
    "UTF-16, as Excel saves Unicode text": "table.csv",
    "semicolons and decimal commas": "table.csv",
    "a name of each row": "table.csv",
}


@pytest.mark.parametrize("name", SAME)
def test_the_same_table_in_another_form_gives_the_same_schedule(called, name):
    plain = called(Call(PRICED))[1]
    out = called(CALLS[name])[1].replace(SAME[name], "table.csv").replace("früher", "former")
    assert out == plain


@pytest.mark.parametrize(
    "name", ["only bought columns", "predict through pipes", "predict from Excel"]
)
def test_the_same_rows_in_another_form_give_the_same_predictions(called, name):
    assert called(CALLS[name])[1] == called(Call(PREDICT))[1]


def test_weights_count_in_models_and_in_both_scores(called):
    ill = patients()["ill"] == "yes"
    files = table(lambda t: t.assign(w=np.where(ill, 1.0, 9.0)))
    words = (*FIT, "--costs", "prices.csv", "--weights", "w", "--minutes", "0.01")
    status, out, err = called(Call(words, files))
    assert (status, err) == (
        0,
        "Note: models and scores weight rows by w; mean costs are unweighted.\n",
    )
    # No price is needed for it, and it is no feature.
    assert AS_ALWAYS in out
    # Classes keep their shares in all parts: so does the weighted share of the constant.
    share = 9 * (~ill).sum() / (9 * (~ill).sum() + ill.sum())
    free = re.search(r"always predicting no: accuracy (\S+) ± \S+, held out (\S+) ±", out)
    assert [float(each) for each in free.groups()] == pytest.approx([share, share], abs=0.005)


def test_a_gap_changes_no_other_row(called):
    whole = pd.read_csv(io.StringIO(called(Call(PREDICT))[1]))
    partly = pd.read_csv(io.StringIO(called(CALLS["one gap in 47 rows"])[1]))
    assert partly["missing"].notna().tolist() == [row == 6 for row in range(47)]
    others = partly.drop(columns="missing").drop(index=6)
    pd.testing.assert_frame_equal(others, whole.drop(index=6))
    assert "glucose" not in str(partly["bought"][6])


def test_the_probabilities_of_the_classes_are_those_of_the_prediction(called):
    rows = pd.read_csv(io.StringIO(called(Call(PREDICT))[1]))
    shares = rows[["probability_no", "probability_yes"]]
    assert shares.sum(axis=1).to_numpy() == pytest.approx(1, abs=2e-6)
    assert (rows["probability"] == shares.max(axis=1)).all()
    assert (rows["ill"] == shares.idxmax(axis=1).str.removeprefix("probability_")).all()


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        (["2024-03-31T06:00:00Z", None], [19813.25, np.nan]),
        (["2024-03-31T02:00:00+02:00", "2024-01-01T01:00:00+01:00"], [19813, 19723]),
        (DAYS[:2].tz_localize("Europe/Paris"), [19662 - 1 / 24, 19663 - 1 / 24]),
        (["9999-12-31", "0001-01-01"], [2932896, -719162]),
        (["31/03/2024 06:00", "01/01/2024 18:00"], [19813.25, 19723.75]),
        (["03/31/2024 06:00:00", "01/02/2024 18:00:00"], [19813.25, 19724.75]),
        (["31-03-2024 06:00", "01-01-2024 18:00"], [19813.25, 19723.75]),
    ],
)
def test_days_are_those_of_one_clock_however_far(dates, expected):
    column = pd.Series(dates, name="came")
    found = days(column, form_of(column))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_day_that_may_be_a_month_is_refused_with_an_hour_too():
    column = pd.Series(["01/02/2024 10:30", "02/03/2024 11:30"], name="came")
    with pytest.raises(DatasetError, match="may be 01 February or 02 January"):
        form_of(column)
    months = pd.read_csv(io.StringIO("came\n2024.01\n2024.10\n"))["came"]  # read as 2024.1
    with pytest.raises(DatasetError, match=r"the first is '2024\.01'"):
        form_of(months)
    years = pd.Series([2023.0, 2024.0, np.nan], name="came")
    np.testing.assert_array_equal(days(years, form_of(years)), [19358, 19723, np.nan])


def test_days_are_counted_in_ask_as_in_a_table(called):
    days = DAYS.strftime("%d.%m.%Y")
    files = table(lambda t: t[["ill"]].assign(came=days))
    assert called(Call((*FOREST, "--date", "came", "--out", "dated"), files))[0] == 0
    files = {"new.csv": csv(pd.DataFrame({"came": days[:9]}))}
    rows = pd.read_csv(io.StringIO(called(Call(("predict", "dated", "new.csv"), files))[1]))
    assert len(set(rows["probability"])) > 1
    for day, probability in zip(days[:9], rows["probability"], strict=True):
        answer = json.dumps({"value": day}).encode()
        _, out, err = called(Call(("ask", "dated", "--json"), stdin=answer))
        first, last = map(json.loads, out.splitlines())
        assert (first["next"], err) == ("came", "")
        assert last["probability"] == pytest.approx(probability, abs=1e-6)
    _, _, err = called(Call(("ask", "dated", "--json"), stdin=b'{"value": "2024-01-01"}'))
    assert "held dates such as 31.03.2024 in training, but now '2024-01-01'.\n" in err
