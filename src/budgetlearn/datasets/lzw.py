"""Decompress Unix ``compress`` files (``.Z``), in which the UCI archive keeps some old data."""

from ..exceptions import DatasetError

_MAGIC = b"\x1f\x9d"
_CLEAR = 256  # in block mode this code starts the table anew
_FIRST_BITS, _MOST_BITS = 9, 16


def is_lzw(path):
    """Return whether `path` starts as a ``.Z`` file does."""
    with path.open("rb") as stream:
        return stream.read(2) == _MAGIC


def decompress(content, most=None):
    """Return the plain bytes of a ``.Z`` file.

    Parameters
    ----------
    content : bytes
        The whole file.
    most : int, default=None
        How many bytes may come out; None: any number.

    Returns
    -------
    bytes

    Raises
    ------
    DatasetError
        When the content is damaged, or more than `most` bytes come out.
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
        if len(table) == 1 << codes.bits and len(table) < limit:
            codes.change(codes.bits + 1)
        code = codes.next()
        if code is None:
            return b"".join(out)
        if code == _CLEAR and block_mode:
            table, previous = list(singles), b""
            codes.change(_FIRST_BITS)
            continue
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
        window = int.from_bytes(self.content[start // 8 : start // 8 + 4], "little")
        self.place += 1
        if self.place == 8:
            self.group, self.place = self.group + self.bits, 0
        return (window >> (start % 8)) & ((1 << self.bits) - 1)

    def change(self, bits):
        """Go on with `bits` bits; what is left of the current group is padding."""
        if self.place:
            self.group, self.place = self.group + self.bits, 0
        self.bits = bits
