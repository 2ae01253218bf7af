"""The parsers that are fuzzed: how each reads files, and what real files are like."""

import gzip
import io
import json
import os
import struct
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from budgetbench.datasets import formats, load_dataset
from budgetbench.datasets.dataset import Dataset
from budgetbench.datasets.fetching import extract
from budgetbench.datasets.formats import read_idx, read_svmlight
from budgetbench.datasets.preparing import make_target
from budgetbench.datasets.registry import load_registry
from budgetbench.datasets.table_files import read_excel, read_own, read_paired, read_table
from budgetbench.study import records
from budgetbench.study.runs import draw_costs
from budgetbench.study.study import Study
from budgetlearn.costs import read_prices
from budgetlearn.exceptions import BudgetlearnError
from budgetlearn.files import read_yaml

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("BUDGETLEARN_DATA", ROOT.parent / "shared" / "data"))


@dataclass(frozen=True)
class Parser:
    """How files are read (paths → anything), and seeds: lists of (name, content)."""

    read: Callable
    seeds: Callable


def head(path, n_lines, made):
    """Return the first lines of a real file, or `made` where it is not there."""
    if not (DATA / path).is_file():
        return made
    opener = gzip.open if path.endswith(".gz") else open
    with opener(DATA / path, "rb") as stream:
        return b"".join(stream.readline() for _ in range(n_lines))


TABLE = b"1,2.5,a,1\n3,4.5,b,0\n5,6.5,a,1\n" * 4
NAMED = b"age,height,colour,ill\n" + TABLE
WHITE = b" 1 2 3 1\n 4 5 6 2\n 7 8 9 1\n" * 4


def tables():
    """Return beginnings of delimited files."""
    return [
        [("t.csv", TABLE)],
        [("t.csv", head("letter/letter-recognition.data", 12, TABLE))],
        [("t.csv", head("abalone/abalone.data", 12, TABLE))],
        [("t.csv", head("steel/Faults.NNA", 12, WHITE))],
        [("t.csv", head("bank/bank-full.csv", 12, NAMED))],
        [("t.csv", head("census_kdd/census-income.test.gz", 8, TABLE))],
        [("t.csv", head("satellite/sat.trn", 12, WHITE))],
        [("t.csv", TABLE), ("u.csv", TABLE)],
    ]


FORMS = (
    {"categorical": "codes"},
    {"categorical": "codes", "target": 0, "missing": "?", "drop": [1]},
    {"separator": "whitespace"},
    {"separator": "whitespace", "names": ["x{1..3}"], "standardise": True},
    {"separator": ";", "header": True, "categorical": "codes", "standardise": True},
    {"header": True, "categorical": "codes", "target": "ill", "one_hot": ["colour"]},
    {"header": True, "categorical": "codes", "ratios": {"add": {"r": ["age", "ill"]}, "drop": []}},
    {"categorical": "codes", "part_column": {"column": 0, "values": {1: 0, 5: 2}}, "skip_rows": 1},
    {"categorical": "codes", "target": [-1, -2], "max_rows": 5},
)
RULES = (
    ("classification", {}),
    ("classification", {"first_classes": 1}),
    ("classification", {"quantiles": 2}),
    ("classification", {"at_least": 1}),
    ("classification", {"keep": [1, 2, "a"]}),
    ("regression", {}),
    ("regression", {"unit": 100}),
    ("ranking", {}),
)


def finished(table, about, rules=RULES):
    """Make every target of a table, and data sets of what comes out."""
    for task, rule in rules:
        own(_data_set, table, task, rule, about)


def own(function, *arguments):
    """Call a function and let this package's own errors pass."""
    try:
        return function(*arguments)
    except BudgetlearnError:
        return None


def _data_set(table, task, rule, about):
    done, names = make_target(table, task, rule)
    Dataset(**vars(done), id=about, title=about, task=task, class_names=names)


def read_tables(paths):
    """Read delimited text in every form."""
    for form in FORMS:
        parts = {"parts": [0, 2]} if len(paths) == 2 else {}
        table = own(lambda form=form, parts=parts: read_table(paths, **form, **parts))
        if table is not None:
            several = [("classification", {"both_above_median": True}),
                       ("classification", {"one_hot": ["no", "yes"]})]  # fmt: skip
            finished(table, "table", several if isinstance(form.get("target"), list) else RULES)


def spreadsheets():
    """Return a small spreadsheet; xlrd reads the old form only, which nothing here can write."""
    start_of_one = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    return [[("c.xls", head("concrete/Concrete_Data.xls", 10**6, start_of_one))]]


def paired():
    """Return features and labels in files of their own."""
    features, labels = b"1 2 3\n4 5 6\n7 8 9\n", b"1\n-1\n1\n"
    real = [head(f"madelon/madelon_train.{kind}", 4, made)
            for kind, made in (("data", features), ("labels", labels))]  # fmt: skip
    names = ("f.data", "f.labels")
    return [list(zip(names, (features, labels), strict=True)), list(zip(names, real, strict=True))]


RANKED = b"2 qid:1 1:.5 3:1\n0 qid:1 2:1\n1 qid:2 1:1 2:2 3:3 # a\n"


def svmlights():
    """Return ranking data: with queries in the rows, and beside."""
    rows = head("lambdarank_sample/rank.train", 8, b"1 1:.5\n0 2:1\n" * 4)
    return [[("r.txt", RANKED)], [("r.txt", RANKED), ("r.txt", RANKED)],
            [("r.txt", rows), ("r.query", b"3\n5\n")]]  # fmt: skip


def read_svmlights(paths):
    """Read ranking data as the entries of the registry do."""
    files = paths[-1].suffix == ".query"
    how = {"queries": "files"} if files else {"queries": "qid", "drop_empty": True}
    for more in ({}, {"dtype": "float32", "parts": [0] * (1 if files else len(paths))}):
        columns = 300 if files else 3
        table = own(lambda more=more, n=columns: read_svmlight(paths, n, **how, **more))
        if table is not None:
            finished(table, "ranked", [("ranking", {}), ("classification", {"at_least": 1})])


def idx(values):
    """Return an array as an idx file."""
    shape = struct.pack(f">{values.ndim}I", *values.shape)
    return bytes([0, 0, 8, values.ndim]) + shape + values.tobytes()


def images():
    """Return images and labels, plain and compressed."""
    values, labels = np.arange(48, dtype=np.uint8).reshape(3, 4, 4), np.array([0, 1, 1], np.uint8)
    plain = [("i-idx3-ubyte", idx(values)), ("l-idx1-ubyte", idx(labels))]
    return [plain, [(f"{name}.gz", gzip.compress(content)) for name, content in plain]]


def read_images(paths):
    """Read images with their labels."""
    finished(read_idx(paths, parts=[0]), "images", [("classification", {})])


def cifar_batches():
    """Return a batch of three images."""
    return [[("data_batch_1.bin", bytes([1, *bytes(3072), 2, *bytes(3072), 1, *bytes(3072)]))]]


def archives():
    """Return archives of every kind, one inside another too."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("toy.csv", TABLE)
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w:gz") as archive:
        info = tarfile.TarInfo("toy.csv")
        info.size = len(TABLE)
        archive.addfile(info, io.BytesIO(TABLE))
    plain_tar = gzip.decompress(tar.getvalue())
    nested = io.BytesIO()
    with zipfile.ZipFile(nested, "w") as archive:
        archive.writestr("toy.csv", out.getvalue())
    kinds = [kind.getvalue() for kind in (out, tar, nested)]
    kinds += [plain_tar, gzip.compress(TABLE)]
    return [[("archive", content)] for content in kinds]


def unpack(paths):
    """Take the file out of an archive, by every way in."""
    for members in ([], ["toy.csv"], ["toy.csv", "toy.csv"]):
        for target in ("out.csv", "out.csv.gz"):
            own(extract, paths[0], members, paths[0].with_name(target))


def own_tables():
    """Return tables as users bring them."""
    german = NAMED.replace(b",", b";").replace(b".", b",")
    return [[("own.csv", NAMED)], [("own.csv", german)], [("own.csv.gz", gzip.compress(NAMED))],
            [("own.csv", head("bank/bank-full.csv", 9, german))]]  # fmt: skip


def read_own_tables(paths):
    """Read a table of the user's under every treatment of gaps."""
    for how in ({}, {"missing": "median", "categorical": ["age"]}, {"missing": "refuse"},
                {"separator": ";", "decimal": ","}, {"drop": ["age"], "na": "?"},
                {"group": "colour"}):  # fmt: skip
        for target in ("ill", "y"):
            table = own(lambda how=how, target=target: read_own(paths[0], target, **how))
            if table is not None:
                finished(table, "own", [("classification", {}), ("regression", {})])


@cache
def saved(name):
    """Return what is kept as Parquet: a user's table, a data set, operating points."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        if name.startswith("own"):
            pd.read_csv(io.BytesIO(NAMED)).to_parquet(path)
        elif name.startswith("dataset"):
            load_dataset("wine").save(path)
        else:
            point = {"dataset": "wine", "costs": "random", "method": "msb", "run": 0, "cost": 1.0}
            records.write([point, point | {"run": 1}], path, [{"commit": "abc"}])
        return [[(name, path.read_bytes())]]


def prices():
    """Return price lists and a file of cost profiles."""
    lists = [path.read_bytes() for path in sorted((ROOT / "resources" / "costs").glob("*.csv"))]
    out = io.StringIO()
    draw_costs(load_dataset("wine"), "random", [0, 1], 1).to_csv(out, index=False)
    return [[("p.csv", content)] for content in (*lists, out.getvalue().encode())]


def study(paths):
    """Check a study's configuration; Snakemake itself refuses a file without keys."""
    asked = read_yaml(paths[0]) or {}
    if not isinstance(asked, dict):
        return
    config = read_yaml(ROOT / "config" / "config.yaml") | asked
    Study.from_config(config, ROOT)


def studies():
    """Return the studies that come along."""
    names = ("smoke", "fmcc-figure-2", "gif-features", "msb-naval")
    paths = [ROOT / "config" / "studies" / f"{name}.yaml" for name in names]
    return [[("s.yaml", path.read_bytes())] for path in paths]


def registries():
    """Return some entries of the registry of data sets."""
    head_of = (ROOT / "config" / "datasets.yaml").read_bytes()[:9000]
    entry = {"title": "T", "task": "classification", "source": {"csv": "a.csv", "target": "y"}}
    one = json.dumps({"datasets": {"own": entry}}, indent=1).encode()
    return [[("d.yaml", head_of)], [("d.yaml", one)]]


def points(paths):
    """Read operating points and what they were made with."""
    records.read(paths)
    records.origins_of(paths)


PARSERS = {
    "table": Parser(read_tables, tables),
    "excel": Parser(lambda paths: finished(read_excel(paths), "excel"), spreadsheets),
    "paired": Parser(lambda paths: finished(read_paired(paths, [0]), "paired"), paired),
    "svmlight": Parser(read_svmlights, svmlights),
    "idx": Parser(read_images, images),
    "cifar": Parser(lambda paths: formats._batch(paths[0]), cifar_batches),
    "archive": Parser(unpack, archives),
    "own": Parser(read_own_tables, own_tables),
    "parquet": Parser(lambda paths: read_own(paths[0], "ill"), lambda: saved("own.parquet")),
    "prices": Parser(lambda paths: read_prices(paths[0]), prices),
    "dataset": Parser(lambda paths: Dataset.load(paths[0]), lambda: saved("dataset.parquet")),
    "points": Parser(points, lambda: saved("points.parquet")),
    "registry": Parser(lambda paths: load_registry(paths[0]), registries),
    "study": Parser(study, studies),
}
