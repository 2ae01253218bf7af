"""Bring the verified raw files of a data set into a folder, from the nearest source."""

import codecs
import gzip
import hashlib
import json
import logging
import os
import shutil
import tarfile
import tempfile
import time
import zipfile
import zlib
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import requests
import urllib3

from budgetlearn.exceptions import DatasetError
from budgetlearn.files import is_gzip, write_whole
from budgetlearn.parallel import Bar
from budgetlearn.preprocessing.reading import DISK, reading

from .registry import DatasetSpec

# This module replaces pooch, which lacks several mirrors and hashes for one file, hashes of gzip
# content, limits on seconds and bytes, and copies of local files.
ATTEMPTS = 3
FIRST_WAIT = 1.0  # seconds; doubled after each failure
TIMEOUT = (10, 60)  # seconds to connect, and between two packets
MOST_SECONDS = 1800  # for a whole file with all attempts, even if the server still sends data
MOST_BYTES = 4 << 30
_BLOCK = 1 << 20
# Limit on the bytes extracted from an archive: a constant plus a multiple of its size. Tables of
# numbers shrink to about a tenth, so what shrinks to less than a hundredth is a decompression bomb.
LEAST_LIMIT = 16 << 20
MOST_GROWTH = 100
_TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}
# While the body is read, urllib3 raises its own errors.
_BROKEN = (requests.RequestException, urllib3.exceptions.HTTPError)
DATA_DIR_VARIABLE = "BUDGETLEARN_DATA"

# Small tables with open licences that come with the package, each file as `<path>.gz`.
SHIPPED = Path(__file__).with_name("tables")

logger = logging.getLogger("budgetlearn")


def download(url, path, label):
    """Download `url` to `path`, with retries and a progress line that begins with `label`."""
    wait, end = FIRST_WAIT, time.monotonic() + MOST_SECONDS
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _download_once(url, path, label, end)
            return
        except requests.HTTPError as error:
            status = error.response.status_code
            if status not in _TRY_AGAIN or attempt == ATTEMPTS:
                raise DatasetError(f"the server answered {status}") from error
        except _BROKEN as error:
            if attempt == ATTEMPTS:
                raise DatasetError(
                    f"no complete answer in {ATTEMPTS} attempts ({type(error).__name__}: {error})"
                ) from error
        logger.info("%s: try %d failed, next in %g s", url, attempt, wait)
        if time.monotonic() + wait > end:
            raise DatasetError(f"not complete after {MOST_SECONDS} s")
        time.sleep(wait)
        wait *= 2


def _download_once(url, path, label, end):
    with requests.get(url, stream=True, timeout=TIMEOUT) as answer:
        answer.raise_for_status()
        length = answer.headers.get("content-length", "")
        # Some servers send no length or an invalid one; the bar then has no total.
        total = int(length) if length.isdecimal() else None
        bar = Bar(total=total, desc=label, unit="B", unit_scale=True, mininterval=1.0)
        with path.open("wb") as out, bar:
            # `iter_content` would wait for a whole block, for any time.
            while block := answer.raw.read1(1 << 16, decode_content=True):
                out.write(block)
                bar.update(len(block))
                if out.tell() > MOST_BYTES:
                    raise DatasetError(f"more than {MOST_BYTES:,} bytes")
                if time.monotonic() > end:
                    raise DatasetError(f"not complete after {MOST_SECONDS} s")


def fetch(spec, folder, data_dir=None, offline=False):
    """Make sure that `folder` has the verified raw files of a data set, and return their paths.

    Each file is looked for in `folder`, in `data_dir` (None: the environment variable
    ``BUDGETLEARN_DATA``, if set), among the tables of the package, and at the mirrors unless
    `offline`. If one of these fails, the next is tried. A file appears in `folder` only when it is
    complete and verified. Files in `data_dir` are copied, never linked.

    Raise `DatasetError` with the file, expected and found hash, what was tried, and what to do.
    """
    folder = Path(folder)
    if data_dir is None:
        data_dir = os.environ.get(DATA_DIR_VARIABLE) or None
    paths = [folder / file.path for file in spec.files]
    pairs = zip(map(pinned, spec.files, paths), paths, strict=True)
    # Missing or wrong files, each with its problem.
    absent = [(file, problem) for file, path in pairs if (problem := check_file(file, path))]
    if not absent:
        return paths  # without writing anything, as the folder may be read-only
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # On the target's file system, so that moving a file into place is an atomic rename.
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as workplace:
            job = _Fetch(spec, folder, Path(workplace), data_dir, offline)
            for file, problem in absent:
                job.bring(file, problem)
    except OSError as error:
        raise DatasetError(
            f"Data set {spec.id!r}: its files cannot be written to {folder.resolve()} "
            f"({error.strerror or error}). Free space there, or make the folder writable."
        ) from error
    return paths


def check_file(file, path):
    """Return the problem of `path` as a copy of `file`, or "" if none is found."""
    if not path.is_file():
        return "no such file"
    found = content_sha256(path)
    known = found in file.sha256 if file.sha256 else not found.startswith("none ")
    return "" if known else f"{_wanted(file)}, found {found}"


def content_sha256(path):
    """Return a file's sha256, for ``.gz`` that of the content; or "none (" and what is wrong."""
    # The content, because mirrors compress the same content differently.
    opener = gzip.open if path.name.endswith(".gz") and is_gzip(path) else open
    try:
        with opener(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        return f"none (damaged gzip file: {error})"
    except OSError as error:
        return f"none (it cannot be read: {error.strerror})"


def refuse_changed(path, expected):
    """Raise `DatasetError` if a file has changed since the study was planned."""
    if expected is not None and content_sha256(Path(path)) != expected:
        raise DatasetError(
            f"{path} was changed while the study was running. Run it again to use the new content."
        )


def pin(spec, folder):
    """Record the hashes of verified files for which the registry has no hash."""
    for file in spec.files:
        path = Path(folder) / file.path
        if file.sha256 or _record_of(path).exists():
            continue
        try:
            write_whole(_record_of(path), content_sha256(path) + "\n")
        except OSError as error:
            logger.warning("%s: its hash cannot be recorded (%s)", path, error.strerror)


def pinned(file, path):
    """Return `file`, with the hash recorded beside `path` if the registry has none."""
    record = _record_of(path)
    if file.sha256 or not record.is_file():
        return file
    return replace(file, sha256=(record.read_text().strip(),))


def _wanted(file):
    if not file.sha256:
        return "expected sha256 not known, rows and columns will be checked instead"
    return f"expected sha256 {' or '.join(file.sha256)}"


def _record_of(path):
    return path.with_name(path.name + ".sha256")


@dataclass
class _Fetch:
    """Fetch one data set; each archive is downloaded only once for all its members."""

    spec: DatasetSpec
    folder: Path
    workplace: Path
    data_dir: str | Path | None
    offline: bool
    downloads: dict = field(default_factory=dict)  # {address: file}

    def bring(self, file, problem):
        """Put a file into the folder; `problem` is that of the present file."""
        target = self.folder / file.path
        tried = [f"{target}: {problem}"] if target.exists() else []
        candidate = self.workplace / Path(file.path).name
        for place, put in self._places(file):
            try:
                put(candidate)
                if problem := check_file(file, candidate):
                    raise DatasetError(problem)
            except Exception as error:
                if getattr(error, "errno", None) in DISK:
                    raise
                kind = "" if isinstance(error, DatasetError) else f"{type(error).__name__}: "
                tried.append(f"{place}: {kind}{error}")
                logger.warning("%s, %s: %s", self.spec.id, file.path, tried[-1])
                continue
            self._refuse_outside(target)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(candidate, target)
            return
        raise DatasetError(self._message(file, tried))

    def _refuse_outside(self, target):
        """Raise `DatasetError` if a link in the data folder leads out of it."""
        real = Path(os.path.realpath(target.parent))
        if not real.is_relative_to(os.path.realpath(self.folder)):
            raise DatasetError(
                f"Data set {self.spec.id!r}: {target.parent} leads to {real}, and nothing is "
                f"written outside of {self.folder}. Remove the link. To use the files there, set "
                "`data_dir` to their folder."
            )

    def _places(self, file):
        """Yield places that may have a file, each with a function that copies it to a path."""
        for folder in filter(None, (self.spec.folder, self.data_dir)):
            # The files may be in the folder itself or in the data set's folder below it.
            options = [Path(folder, file.path), Path(folder, Path(file.path).name)]
            for source in [option for option in options if option.is_file()] or options[:1]:
                yield source, partial(self._from_folder, source)
        if (packed := SHIPPED / f"{file.path}.gz").is_file():
            yield packed, partial(extract, packed, ())
        for mirror in () if self.offline else file.mirrors:
            yield mirror, partial(self._from_mirror, mirror)

    def _from_folder(self, source, candidate):
        if not source.is_file():
            raise DatasetError("no such file")
        shutil.copyfile(source, candidate)

    def _from_mirror(self, mirror, candidate):
        url, *members = mirror.split("#")
        if url not in self.downloads:
            path = self.workplace / f"download-{len(self.downloads)}"
            download(url, path, f"{self.spec.id}: {url.rsplit('/', 1)[-1]}")
            self.downloads[url] = path
        extract(self.downloads[url], members, candidate)

    def _message(self, file, tried):
        spec = self.spec
        lines = [
            f"Data set {spec.id!r}: cannot get {file.path} ({_wanted(file)}).",
            *(f"  tried {attempt}" for attempt in tried),
        ]
        if spec.kind == "local":
            names = ", ".join(Path(each.path).name for each in spec.files)
            place = spec.folder or self.folder / Path(file.path).parent
            lines.append(f"{spec.instructions} Put {names} into {place}.")
        elif self.offline:
            lines.append(
                "The network is off (offline: true). Set `data_dir` or the environment variable "
                f"{DATA_DIR_VARIABLE} to a folder that holds {file.path}, or set `offline: false`."
            )
        else:
            lines.append(
                "Check the network and try again, or download the file yourself, save it as "
                f"{file.path} in a folder, and set `data_dir` or the environment variable "
                f"{DATA_DIR_VARIABLE} to this folder."
            )
        return "\n".join(lines)


def write_manifest(spec, paths, manifest):
    """Write a JSON file with the hashes of the raw files that `fetch` returned."""
    hashes = {f.path: content_sha256(path) for f, path in zip(spec.files, paths, strict=True)}
    if spec.content is not None:
        hashes[spec.parameters["path"]] = spec.content
    content = {"dataset": spec.id, "source": spec.kind, "sha256": hashes}
    write_whole(manifest, json.dumps(content, indent=2) + "\n")


def extract(archive, members, target):
    """Write a file from an archive to `target`; each of `members` is inside the one before.

    A member is given by its path or the last parts of its path. The result is compressed if and
    only if the name of `target` ends in ``.gz``, so that all mirrors give the same content.
    """
    current = archive
    for depth, member in enumerate(members):
        inner = target.with_name(f"{target.name}.{depth}")
        _extract_one(current, member, inner)
        current = inner
    # Checked after unpacking, too, because an archive may contain such a page.
    _refuse_pages(current)
    # Decided by content, because mirrors use both names for the same file.
    compressed, wanted = is_gzip(current), target.name.endswith(".gz")
    read = gzip.open if compressed and not wanted else open
    write = gzip.open if wanted and not compressed else open
    with reading(current, "a gzip file"):
        _copy(read(current, "rb"), target, current, write)


def _refuse_pages(path):
    """Refuse a page or message, which some servers send with status 200 for a missing file."""
    with path.open("rb") as stream:
        start = stream.read(256).removeprefix(codecs.BOM_UTF8).lstrip().lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"{", b"[")):
        kind = "a JSON message" if start[:1] in b"{[" else "an HTML page"
        raise DatasetError(f"got {kind} instead of the file")


def _extract_one(archive, member, target):
    _refuse_pages(archive)
    with reading(archive, "an archive"):
        # tar before zip, because a tar archive that ends with a zip archive looks like one.
        if tarfile.is_tarfile(archive):
            with tarfile.open(archive) as opened:
                name = _match(member, [info.name for info in opened if info.isfile()])
                _copy(opened.extractfile(name), target, archive)
        elif zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as opened:
                name = _match(member, opened.namelist())
                _copy(opened.open(name), target, archive)
        else:
            raise DatasetError("truncated file, or not an archive")


def _match(member, names):
    # By the last parts of the path, because archives differ in their outer folders.
    found = [name for name in names if f"/{name}".endswith(f"/{member}")]
    if found:
        return member if member in found else found[0]
    raise DatasetError(f"the archive lacks {member!r}; it holds {', '.join(names[:20])}")


def _copy(source, target, packed, write=open):
    """Write the content of a packed file, up to a limit on its size."""
    limit = LEAST_LIMIT + MOST_GROWTH * packed.stat().st_size
    # Counted while writing, because sizes in headers cannot be trusted.
    with source, write(target, "wb") as out:
        while block := source.read(_BLOCK):
            out.write(block)
            if out.tell() > limit:
                raise DatasetError(f"the archive would grow to more than {limit:,} bytes")
