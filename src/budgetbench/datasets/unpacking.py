"""Take one file out of an archive, and decompress the Unix ``compress`` format (``.Z``)."""

import gzip
import tarfile
import zipfile

from budgetlearn.exceptions import DatasetError
from budgetlearn.files import is_gzip
from budgetlearn.preprocessing.reading import DAMAGE, is_of_disk

_MAGIC = b"\x1f\x9d"
_CLEAR = 256  # in block mode this code starts the table anew
# As `compress` writes: codes grow from 9 bits to at most 16.
_FIRST_BITS, _MOST_BITS = 9, 16


def is_lzw(path):
    """Return True if `path` starts as a ``.Z`` file does."""
    with path.open("rb") as stream:
        return stream.read(2) == _MAGIC


def decompress(content, most=None):
    """Return the plain bytes of a ``.Z`` file, of which not more than `most` may come out.

    A `DatasetError` says when the content is damaged, or more comes out.
    """
    if content[:2] != _MAGIC or len(content) < 3:
        raise DatasetError("no .Z file")
    if not _FIRST_BITS <= content[2] & 31 <= _MOST_BITS:
        raise DatasetError("damaged .Z file")
    limit = 1 << (content[2] & 31)
    block_mode = bool(content[2] & 128)
    codes = _Codes(content)
    first_free = 257 if block_mode else 256
    singles = [bytes([value]) for value in range(256)] + [b""] * (first_free - 256)
    table, out, previous, done = list(singles), [], b"", 0
    while True:
        # The writer widened its codes when its table was full, which is now.
        if len(table) == 1 << codes.bits and len(table) < limit:
            codes.change(codes.bits + 1)
        code = codes.next()
        if code is None:
            return b"".join(out)
        if code == _CLEAR and block_mode:
            table, previous = list(singles), b""
            codes.change(_FIRST_BITS)
            continue
        # Only the entry that is about to be made may be named before it is there.
        if code > len(table) or (code == len(table) and not previous):
            raise DatasetError("damaged .Z file")
        # A code that is not in the table yet stands for the entry about to be made.
        entry = table[code] if code < len(table) else previous + previous[:1]
        if previous and len(table) < limit:
            table.append(previous + entry[:1])
        out.append(entry)
        done += len(entry)
        if most is not None and done > most:
            raise DatasetError(f"the .Z file grows to more than {most:,} bytes")
        previous = entry


class _Codes:
    """Codes of `bits` bits, lowest bit first, in groups of eight: a group fills `bits` bytes."""

    def __init__(self, content):
        self.content = content
        self.bits = _FIRST_BITS
        self.group = 3  # where the current group starts; the header has three bytes
        self.place = 0

    def next(self):
        """Return the next code, or None at the end."""
        start = self.group * 8 + self.place * self.bits
        if start + self.bits > len(self.content) * 8:
            return None
        # A code of 16 bits that starts within a byte ends within the third.
        window = int.from_bytes(self.content[start // 8 : start // 8 + 4], "little")
        self.place += 1
        # Groups of eight codes fill whole bytes; what compress wrote after a change starts a new
        # one.
        if self.place == 8:
            self.group, self.place = self.group + self.bits, 0
        return (window >> (start % 8)) & ((1 << self.bits) - 1)

    def change(self, bits):
        """Go on with `bits` bits; what is left of the current group is padding."""
        if self.place:
            self.group, self.place = self.group + self.bits, 0
        self.bits = bits


# What may come out of an archive: so much at any rate, and so much for each byte of it. Tables of
# numbers shrink to a tenth; what shrinks to a hundredth is a bomb.
LEAST_LIMIT = 16 << 20
MOST_GROWTH = 100
_BLOCK = 1 << 20


def extract(archive, members, target):
    """Write the file that `members` leads to, ready to use.

    A gzip file is kept compressed only if the name of `target` ends in ``.gz``, and plain content
    is compressed then; so the same path holds the same content from every mirror. A ``.Z`` file is
    always unpacked. `members` are names to follow inwards, each a member of the archive before it
    (its whole path or its last parts); empty for the file itself. A `DatasetError` says when an
    archive is damaged or not an archive, lacks the member, or would grow beyond all measure.
    """
    current = archive
    for depth, member in enumerate(members):
        inner = target.with_name(f"{target.name}.{depth}")
        _extract_one(current, member, inner)
        current = inner
    # After unpacking, too: an archive may hold the page that its maker was sent.
    refuse_pages(current)
    try:
        _copy_content(current, target)
    except DAMAGE as error:
        if is_of_disk(error):
            raise
        raise DatasetError(f"truncated or damaged gzip file ({error})") from error


def refuse_pages(path):
    """Raise `DatasetError` if `path` holds a page or a message, as servers send for a lost file."""
    with path.open("rb") as stream:
        start = stream.read(256).lstrip().lower()
    # Servers answer 200 with a page that says that the file is gone.
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"{", b"[")):
        kind = "a JSON message" if start[:1] in b"{[" else "an HTML page"
        raise DatasetError(f"got {kind} instead of the file")


def _extract_one(archive, member, target):
    refuse_pages(archive)
    limit = limit_of(archive)
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as opened:
                name = _match(member, opened.namelist())
                # The header may lie; `_pour` counts what really comes.
                _check_size(opened.getinfo(name).file_size, limit)
                _pour(opened.open(name), target, limit)
        elif tarfile.is_tarfile(archive):
            with tarfile.open(archive) as opened:
                name = _match(member, [info.name for info in opened if info.isfile()])
                _check_size(opened.getmember(name).size, limit)
                _pour(opened.extractfile(name), target, limit)
        else:
            raise DatasetError("truncated file, or not an archive")
    except DAMAGE as error:
        if is_of_disk(error):
            raise
        raise DatasetError(f"damaged archive ({type(error).__name__}: {error})") from error


def _match(member, names):
    for name in names:
        # By its last parts, as archives differ in the folder around their files.
        if name == member or name.endswith("/" + member):
            return name
    raise DatasetError(f"the archive lacks {member!r}; it holds {', '.join(names[:20])}")


def limit_of(path):
    """Return the most bytes that may come out of a compressed file."""
    return LEAST_LIMIT + MOST_GROWTH * path.stat().st_size


def _check_size(size, limit):
    if size > limit:
        raise DatasetError(f"the archive would grow to {size:,} bytes, more than {limit:,}")


def _pour(stream, target, limit):
    with stream, target.open("wb") as out:
        _copy(stream, out, limit)


def _copy(stream, out, limit):
    # Counted while it is written: what a header promises cannot be trusted.
    done = 0
    while block := stream.read(_BLOCK):
        done += len(block)
        _check_size(done, limit)
        out.write(block)


def _copy_content(source, target):
    if is_lzw(source):
        target.write_bytes(decompress(source.read_bytes(), limit_of(source)))
        return
    # By content, not by name: mirrors name the same file both ways.
    compressed, wanted = is_gzip(source), target.name.endswith(".gz")
    read = gzip.open if compressed and not wanted else open
    write = gzip.open if wanted and not compressed else open
    with read(source, "rb") as stream, write(target, "wb") as out:
        _copy(stream, out, limit_of(source))
