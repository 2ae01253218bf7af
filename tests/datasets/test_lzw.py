""".Z files are unpacked, against an encoder written here."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgetbench.datasets import fetching
from budgetlearn.exceptions import DatasetError


def compress(content, max_bits=16, clear_every=None):
    """Encode as Unix ``compress`` does; a clear code after each `clear_every` codes."""
    body, codes, bits, emitted = bytearray(), [], 9, 0
    table, free = {bytes([value]): value for value in range(256)}, 257

    def flush(padded=True):
        number = sum(code << (place * bits) for place, code in enumerate(codes))
        size = bits if padded else (len(codes) * bits + 7) // 8
        body.extend(number.to_bytes(size, "little") if codes else b"")
        codes.clear()

    def put(code):
        codes.append(code)
        if len(codes) == 8:
            flush()

    word = b""
    for value in content:
        longer = word + bytes([value])
        if longer in table:
            word = longer
            continue
        put(table[word])
        if free == 1 << bits and bits < max_bits:
            flush()
            bits += 1
        if free < 1 << max_bits:
            table[longer], free = free, free + 1
        word, emitted = bytes([value]), emitted + 1
        if emitted == clear_every:
            put(256)
            flush()
            table, free = {bytes([value]): value for value in range(256)}, 257
            bits, emitted = 9, 0
    if word:
        put(table[word])
    flush(padded=False)
    return bytes([0x1F, 0x9D, 0x80 | max_bits]) + bytes(body)


def decompress(folder, content):
    (folder / "in.Z").write_bytes(content)
    fetching.extract(folder / "in.Z", (), folder / "out")
    return (folder / "out").read_bytes()


@settings(deadline=None, max_examples=30)
@given(st.binary(max_size=2000), st.sampled_from([12, 16]), st.sampled_from([None, 7, 300]))
def test_round_trip(tmp_path_factory, content, max_bits, clear_every):
    folder = tmp_path_factory.getbasetemp()
    assert decompress(folder, compress(content, max_bits, clear_every)) == content


@pytest.mark.parametrize("max_bits", [12, 16])
def test_long_content_fills_the_table(tmp_path, max_bits):
    content = b"".join(b"%d," % (number * number) for number in range(20000))
    assert decompress(tmp_path, compress(content, max_bits)) == content


def test_damaged(tmp_path):
    with pytest.raises(DatasetError, match="damaged"):
        decompress(tmp_path, b"\x1f\x9d\x90\xff\xff\xff\xff")
    for bits in (17, 31):
        with pytest.raises(DatasetError, match="damaged"):
            decompress(tmp_path, bytes([0x1F, 0x9D, 0x80 | bits]) + bytes(9))


def test_growth_has_a_limit(tmp_path, monkeypatch):
    packed = compress(bytes(200_000))
    monkeypatch.setattr(fetching, "MOST_GROWTH", 0)
    monkeypatch.setattr(fetching, "LEAST_LIMIT", 200_000)
    assert len(decompress(tmp_path, packed)) == 200_000
    monkeypatch.setattr(fetching, "LEAST_LIMIT", 199_999)
    with pytest.raises(DatasetError, match="would grow to more than 199,999 bytes"):
        decompress(tmp_path, packed)


@settings(deadline=None, max_examples=30)
@given(st.binary(max_size=60), st.integers(0, 255))
def test_any_bytes_are_unpacked_or_one_kind_of_error(tmp_path_factory, content, flags):
    try:
        decompress(tmp_path_factory.getbasetemp(), bytes([0x1F, 0x9D, flags]) + content)
    except DatasetError:
        return
