"""Take one file out of an archive, or out of an archive inside another."""

import gzip
import shutil
import tarfile
import zipfile

from ..exceptions import DatasetError
from .lzw import decompress, is_lzw


def extract(archive, members, target):
    """Write the file that `members` leads to, ready to use.

    A gzip file is kept compressed only if the name of `target` ends in ``.gz``, and plain content
    is compressed then; so the same path holds the same content from every mirror. A ``.Z`` file is
    always unpacked.

    Parameters
    ----------
    archive : Path
        What was downloaded.
    members : list of str
        Names to follow inwards, each a member of the archive before it; empty for the file itself.
        A name matches a member's whole path or its last parts.
    target : Path
        File to write.

    Raises
    ------
    DatasetError
        When an archive is damaged or is none at all, or lacks the member.
    """
    current = archive
    for depth, member in enumerate(members):
        inner = target.with_name(f"{target.name}.{depth}")
        _extract_one(current, member, inner)
        current = inner
    refuse_html(current)
    try:
        _copy_content(current, target)
    except (EOFError, OSError, gzip.BadGzipFile) as error:
        raise DatasetError(f"truncated or damaged gzip file ({error})") from error


def refuse_html(path):
    """Raise `DatasetError` if `path` holds a web page, as servers send for a lost file."""
    with path.open("rb") as stream:
        start = stream.read(256).lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")):
        raise DatasetError("got an HTML page instead of the file")


def is_gzip(path):
    """Return whether `path` starts as a gzip file does."""
    with path.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


def _extract_one(archive, member, target):
    refuse_html(archive)
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as opened:
                name = _match(member, opened.namelist())
                _pour(opened.open(name), target)
        elif tarfile.is_tarfile(archive):
            with tarfile.open(archive) as opened:
                name = _match(member, [info.name for info in opened if info.isfile()])
                _pour(opened.extractfile(name), target)
        else:
            raise DatasetError("truncated file, or no archive at all")
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError) as error:
        raise DatasetError(f"damaged archive ({error})") from error


def _match(member, names):
    for name in names:
        if name == member or name.endswith("/" + member):
            return name
    raise DatasetError(f"the archive lacks {member!r}; it holds {', '.join(names[:20])}")


def _pour(stream, target):
    with stream, target.open("wb") as out:
        shutil.copyfileobj(stream, out, 1 << 20)


def _copy_content(source, target):
    if is_lzw(source):
        target.write_bytes(decompress(source.read_bytes()))
        return
    compressed, wanted = is_gzip(source), target.name.endswith(".gz")
    read = gzip.open if compressed and not wanted else open
    write = gzip.open if wanted and not compressed else open
    with read(source, "rb") as stream, write(target, "wb") as out:
        shutil.copyfileobj(stream, out, 1 << 20)
