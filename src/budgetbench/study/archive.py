"""A study packed into one file: what it asked for, what came out, and how to go on with it."""

import json
import zipfile
from pathlib import Path

import yaml

from budgetlearn.files import whole_file

from . import records
from .study import place_of

# What of a study's folder is packed: logs and durations speak of one machine only.
PACKED = ("report.html", "points.parquet", "tables", "figures", "captions", "costs", "splits")
# What decides results beside the configuration.
SOURCES = ("resources/costs", "resources/published")
_OLDEST = (1980, 1, 1, 0, 0, 0)  # the first time that zip knows: the same content, the same bytes

READ_ME = """# {study}

A study of budgetlearn: `report.html` is its report, `points.parquet` has every operating point
(docs/results.md of the project says what each column means), `tables/` and `figures/` are those of
the report, `costs/` and `splits/` what was drawn. `provenance.json` says what it was made with.

To reopen it in Python:

    from budgetbench.study import records
    points = records.read("points.parquet")

To run it again, and compare number by number, in a clone of the project at commit {commit}:

    make setup
    .venv/bin/snakemake --cores 2 rerun_check --configfile <this folder>/study.yaml \\
        --config stored=<this folder>

with `config/datasets.yaml` and `config/methods.yaml` of this folder where they were changed.
"""


def pack(study, path):
    """Write a study as one zip file, the same for the same results, and return its number of files.

    The report of the study is made in the current folder.
    """
    origins = records.origins_of(Path(study.folder) / "points.parquet")
    portable = {**study.config, "data_dir": None, "stored": None}  # no folders of this machine
    # Sorted entries without times: equal results pack to equal bytes.
    texts = {
        "README.md": READ_ME.format(
            study=study.name, commit=" or ".join(sorted({one["commit"] for one in origins}))
        ),
        "study.yaml": yaml.safe_dump(portable, sort_keys=False, allow_unicode=True),
        "provenance.json": json.dumps(origins, indent=1, sort_keys=True) + "\n",
    }
    files = dict(_files(study))
    with whole_file(path) as partial, zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in sorted({*texts, *files}):
            content = texts[name].encode() if name in texts else files[name].read_bytes()
            packed.writestr(_entry(f"{study.name}/{name}"), content)
    return len(texts) + len(files)


def _entry(name):
    """Return the entry of a file: readable by all, of no particular time."""
    entry = zipfile.ZipInfo(name, _OLDEST)
    entry.external_attr = 0o644 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _files(study):
    """Yield (name in the archive, file) of what is packed."""
    own = [study.config["datasets_file"], study.config["methods_file"]]
    for source in (*SOURCES, *own):
        place = Path(place_of(source, study.root))
        # What lies elsewhere is packed under its own name: no folders of this machine.
        named = Path(source) if not Path(source).is_absolute() else Path(place.name)
        for path in _below(place):
            yield (named / path.relative_to(place)).as_posix(), path
    folder = Path(study.folder)
    for part in PACKED:
        for path in _below(folder / part):
            yield path.relative_to(folder).as_posix(), path


def _below(path):
    return sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
