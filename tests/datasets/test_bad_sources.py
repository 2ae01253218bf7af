"""Sources that lie, trickle, explode or break: the next one is tried, and one error tells all."""

import errno
import gzip
import io
import os
import tarfile
import time
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from budgetbench.datasets.fetching import extract, fetch
from budgetbench.datasets.preparing import prepare
from budgetlearn.exceptions import DatasetError
from tests.datasets.sources import GOOD, leftovers, sha256, spec_of, zipped

LOCAL, CENTRAL = b"PK\x03\x04", b"PK\x01\x02"


def flagged(content, offset, value):
    """Return a zip file with a field of 16 bits set; `offset` is that in the local header."""
    content = bytearray(content)
    for mark, place in ((LOCAL, offset), (CENTRAL, offset + 2)):
        start = content.index(mark) + place
        content[start : start + 2] = value.to_bytes(2, "little")
    return bytes(content)


def broken_deflate():
    content = bytearray(zipped(toy_csv=GOOD))
    start = content.index(b"toy.csv") + 7
    content[start : start + 8] = b"\xff" * 8
    return bytes(content)


def broken_gzip():
    return gzip.compress(GOOD)[:10] + b"\xff" * 30


def bomb(size=4 << 20):
    return zipped(toy_csv=bytes(size))


def lying_bomb():
    """A zip file that says it grows to 100 bytes, and grows to 4 MB."""
    content = bytearray(bomb())
    for mark, place in ((LOCAL, 22), (CENTRAL, 24)):
        start = content.index(mark) + place
        content[start : start + 4] = (100).to_bytes(4, "little")
    return bytes(content)


def tarred_bomb():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        info = tarfile.TarInfo("toy.csv")
        info.size = 4 << 20
        archive.addfile(info, io.BytesIO(bytes(info.size)))
    return out.getvalue()


BAD = {
    "zlib.error": (broken_deflate(), "#toy.csv", "cannot be read as an archive"),
    "encrypted": (flagged(zipped(toy_csv=GOOD), 6, 1), "#toy.csv", "encrypted"),
    "method": (flagged(zipped(toy_csv=GOOD), 8, 99), "#toy.csv", "NotImplementedError"),
    "BadGzipFile": (b"\x1f\x8bnonsense", "", "cannot be read as a gzip file"),
    "gzip body": (broken_gzip(), "", "cannot be read as a gzip file"),
    "zip bomb": (bomb(), "#toy.csv", "would grow to more than"),
    "lying zip bomb": (lying_bomb(), "#toy.csv", "cannot be read as an archive"),
    "tar bomb": (tarred_bomb(), "#toy.csv", "would grow to more than"),
    "gzip bomb": (gzip.compress(bytes(4 << 20)), "", "would grow to"),
    "JSON": (b'{"error": "moved"}', "", "got a JSON message instead of the file"),
    "empty": (b"", "", "found"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_source_leads_to_the_next_and_to_one_error(server, tmp_path, monkeypatch, case):
    monkeypatch.setattr("budgetbench.datasets.fetching.LEAST_LIMIT", 1 << 14)
    content, member, message = BAD[case]
    server.answers["/bad"] = [(200, content)]
    server.answers["/good"] = [(200, GOOD)]
    bad, good = f"{server.url}/bad{member}", f"{server.url}/good"
    fetch(spec_of(bad, good), tmp_path)
    assert (tmp_path / "toy/toy.csv").read_bytes() == GOOD
    with pytest.raises(DatasetError) as caught:
        fetch(spec_of(bad, f"{server.url}/lost"), tmp_path / "other")
    text = str(caught.value)
    assert f"tried {bad}: " in text
    assert message in text
    assert f"tried {server.url}/lost: the server answered 404" in text
    assert leftovers(tmp_path / "other") == []


@pytest.mark.parametrize(
    "address", ["http://[broken/x.csv", "http://127.0.0.1:99999/x", "http:///x"]
)
def test_addresses_that_are_none(server, tmp_path, address):
    server.answers["/good"] = [(200, GOOD)]
    fetch(spec_of(address, f"{server.url}/good"), tmp_path)
    with pytest.raises(DatasetError, match="tried http://"):
        fetch(spec_of(address), tmp_path / "other")


def test_a_length_that_is_no_number(server, tmp_path):
    server.answers["/odd"] = [(200, GOOD, "many")]
    server.answers["/good"] = [(200, GOOD)]
    fetch(spec_of(f"{server.url}/odd", f"{server.url}/good"), tmp_path)
    assert (tmp_path / "toy/toy.csv").read_bytes() == GOOD


def drip(connection):
    for byte in GOOD:
        connection.write(bytes([byte]))
        connection.flush()
        time.sleep(0.05)


def test_a_trickle_has_an_end(server, tmp_path, monkeypatch):
    monkeypatch.setattr("budgetbench.datasets.fetching.MOST_SECONDS", 0.4)
    server.answers["/slow"] = [(200, drip, len(GOOD))]
    server.answers["/good"] = [(200, GOOD)]
    start = time.monotonic()
    fetch(spec_of(f"{server.url}/slow", f"{server.url}/good"), tmp_path)
    assert time.monotonic() - start < 10
    with pytest.raises(DatasetError, match=r"not complete after 0\.4 s"):
        fetch(spec_of(f"{server.url}/slow"), tmp_path / "other")


def test_attempts_together_have_an_end(server, tmp_path, monkeypatch):
    monkeypatch.setattr("budgetbench.datasets.fetching.MOST_SECONDS", 0.2)
    monkeypatch.setattr("budgetbench.datasets.fetching.FIRST_WAIT", 0.5)
    server.answers["/busy"] = [(503, b"")]
    with pytest.raises(DatasetError, match=r"not complete after 0\.2 s"):
        fetch(spec_of(f"{server.url}/busy"), tmp_path)
    assert server.requests == ["/busy"]


def test_a_server_that_says_nothing(server, tmp_path, monkeypatch):
    monkeypatch.setattr("budgetbench.datasets.fetching.TIMEOUT", (1, 0.2))
    monkeypatch.setattr("budgetbench.datasets.fetching.FIRST_WAIT", 0.01)
    server.answers["/mute"] = [(200, lambda connection: time.sleep(0.6), len(GOOD))]
    server.answers["/good"] = [(200, GOOD)]
    fetch(spec_of(f"{server.url}/mute", f"{server.url}/good"), tmp_path)
    assert (tmp_path / "toy/toy.csv").read_bytes() == GOOD
    with pytest.raises(DatasetError, match="no complete answer in 3 attempts"):
        fetch(spec_of(f"{server.url}/mute"), tmp_path / "other")


def test_a_download_without_end_is_cut(server, tmp_path, monkeypatch):
    monkeypatch.setattr("budgetbench.datasets.fetching.MOST_BYTES", 1000)
    server.answers["/long"] = [(200, GOOD)]
    with pytest.raises(DatasetError, match="more than 1,000 bytes"):
        fetch(spec_of(f"{server.url}/long"), tmp_path)


def test_files_of_the_user_are_copied(tmp_path):
    mine = tmp_path / "mine/toy/toy.csv"
    mine.parent.mkdir(parents=True)
    mine.write_bytes(GOOD)
    (path,) = fetch(spec_of(), tmp_path / "raw", tmp_path / "mine", offline=True)
    assert path.stat().st_ino != mine.stat().st_ino
    path.write_bytes(b"changed in place")
    assert mine.read_bytes() == GOOD


def test_a_damaged_compressed_file_heals(server, tmp_path):
    server.answers["/x"] = [(200, GOOD)]
    spec = spec_of(f"{server.url}/x", path="toy/toy.csv.gz")
    (path,) = fetch(spec, tmp_path)
    for damage in (b"\x1f\x8bnonsense", path.read_bytes()[:-9], broken_gzip()):
        path.write_bytes(damage)
        fetch(spec, tmp_path)
        assert gzip.decompress(path.read_bytes()) == GOOD


def test_what_nobody_verified_is_not_held_for_right(server, tmp_path):
    server.answers["/x.csv"] = [(200, b"not,what,it\nshould,be,x\n"), (200, GOOD)]
    spec = spec_of(f"{server.url}/x.csv", content=None, parameters={}, rows=200)
    fetch(spec, tmp_path)
    with pytest.raises(DatasetError) as caught:
        prepare(spec, tmp_path)
    assert f"no known hash for toy.csv. If the content is wrong, remove {tmp_path / 'toy'}" in str(
        caught.value
    )
    assert leftovers(tmp_path) == ["toy/toy.csv"]
    (tmp_path / "toy/toy.csv").unlink()
    fetch(spec, tmp_path)
    assert prepare(spec, tmp_path).n_samples == 200
    assert (tmp_path / "toy/toy.csv.sha256").read_text().strip() == sha256(GOOD)
    with pytest.raises(DatasetError, match="expected rows 7") as caught:
        prepare(replace(spec, rows=7), tmp_path)
    assert "no known hash" not in str(caught.value)


def test_a_full_disk_is_told_as_such(server, tmp_path, monkeypatch):
    server.answers["/x.zip"] = [(200, zipped(toy_csv=GOOD))]

    def full(source, *_):
        source.close()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("budgetbench.datasets.fetching._copy", full)
    with pytest.raises(DatasetError) as caught:
        fetch(spec_of(f"{server.url}/x.zip#toy.csv", f"{server.url}/y"), tmp_path)
    assert f"cannot be written to {tmp_path} (No space left on device). Free space" in str(
        caught.value
    )
    assert server.requests == ["/x.zip"]
    assert leftovers(tmp_path) == []


def test_a_folder_that_cannot_be_made(server, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DatasetError, match="cannot be written to"):
        fetch(spec_of(f"{server.url}/x.csv"), tmp_path / "file/raw")


def test_a_read_only_folder_that_has_all(tmp_path, monkeypatch):
    spec = spec_of(content=None, parameters={})
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/toy.csv").write_bytes(GOOD)

    def refuse(*_, **__):
        raise PermissionError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("tempfile.TemporaryDirectory", refuse)
    monkeypatch.setattr("budgetbench.datasets.fetching.write_whole", refuse)
    fetch(spec, tmp_path, offline=True)
    assert prepare(spec, tmp_path).n_samples == 200


def small_tar():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        info = tarfile.TarInfo("toy.csv")
        info.size = len(GOOD)
        archive.addfile(info, io.BytesIO(GOOD))
    return out.getvalue()


ARCHIVES = [zipped(toy_csv=GOOD), small_tar(), gzip.compress(GOOD)]


@given(st.data())
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_damage_of_an_archive_is_one_kind_of_error(tmp_path_factory, data):
    content = bytearray(data.draw(st.sampled_from(ARCHIVES)))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    content = content[: data.draw(st.integers(0, len(content)))]
    folder = tmp_path_factory.getbasetemp()
    (folder / "archive").write_bytes(content)
    for members in ([], ["toy.csv"]):
        try:
            extract(folder / "archive", members, folder / "out.csv")
        except DatasetError:
            continue
