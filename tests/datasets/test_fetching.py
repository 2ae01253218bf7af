"""Fetching against a server on this machine: order of places, and every way to fail."""

import gzip
import io
import socket
import tarfile

import pytest

from budgetbench.datasets.fetching import extract, fetch, pin
from budgetbench.datasets.registry import DatasetSpec, FileSpec
from budgetlearn.exceptions import DatasetError
from tests.datasets.sources import GOOD, HTML, leftovers, sha256, spec_of, zipped


def test_plain_file(server, tmp_path):
    server.answers["/toy.csv"] = [(200, GOOD)]
    folder = tmp_path / "resources" / "data"
    (path,) = fetch(spec_of(f"{server.url}/toy.csv"), folder)
    assert path == folder / "toy/toy.csv"
    assert path.read_bytes() == GOOD
    assert leftovers(folder) == ["toy/toy.csv"]
    fetch(spec_of(f"{server.url}/toy.csv"), folder)
    assert len(server.requests) == 1


def test_one_download_serves_all_members(server, tmp_path):
    server.answers["/all.zip"] = [(200, zipped(a_csv=GOOD, sub__b_csv=b"x"))]
    files = (
        FileSpec("toy/a.csv", (sha256(GOOD),), (f"{server.url}/all.zip#a.csv",)),
        FileSpec("toy/b.csv", (sha256(b"x"),), (f"{server.url}/all.zip#b.csv",)),
    )
    spec = DatasetSpec("toy", "Toy", "classification", "files", "table", files=files)
    fetch(spec, tmp_path)
    assert leftovers(tmp_path) == ["toy/a.csv", "toy/b.csv"]
    assert server.requests == ["/all.zip"]


def test_zip_in_zip_and_tar_in_zip(server, tmp_path):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        info = tarfile.TarInfo("./deep/c.csv")
        info.size = len(GOOD)
        archive.addfile(info, io.BytesIO(GOOD))
    outer = zipped(inner_zip=zipped(b_csv=GOOD), inner_tgz=buffer.getvalue())
    server.answers["/outer.zip"] = [(200, outer)]
    for members in ("inner.zip#b.csv", "inner.tgz#c.csv"):
        folder = tmp_path / members[:9]
        (path,) = fetch(spec_of(f"{server.url}/outer.zip#{members}"), folder)
        assert path.read_bytes() == GOOD


def test_a_file_beside_an_outdated_one_of_the_data_folder_is_found(tmp_path):
    (tmp_path / "mine/toy").mkdir(parents=True)
    (tmp_path / "mine/toy/toy.csv").write_bytes(b"outdated")
    (tmp_path / "mine/toy.csv").write_bytes(GOOD)
    (path,) = fetch(spec_of(), tmp_path / "data", tmp_path / "mine", offline=True)
    assert path.read_bytes() == GOOD


def test_a_member_named_in_full_is_not_one_of_a_deeper_folder(tmp_path):
    archive = tmp_path / "all.zip"
    archive.write_bytes(zipped(old__toy_csv=b"old", toy_csv=GOOD))
    extract(archive, ["toy.csv"], tmp_path / "toy.csv")
    assert (tmp_path / "toy.csv").read_bytes() == GOOD


def test_a_tar_archive_that_ends_with_a_zip_archive_is_one(tmp_path):
    inner = tmp_path / "inner.zip"
    inner.write_bytes(zipped(toy_csv=GOOD))
    with tarfile.open(tmp_path / "outer.tar", "w") as archive:
        archive.add(inner, "inner.zip")
    extract(tmp_path / "outer.tar", ["inner.zip", "toy.csv"], tmp_path / "toy.csv")
    assert (tmp_path / "toy.csv").read_bytes() == GOOD


def test_a_cut_gzip_file_is_left_for_the_next_mirror_where_no_hash_is_known(server, tmp_path):
    whole = gzip.compress(GOOD)
    server.answers["/cut"], server.answers["/whole"] = [(200, whole[:-9])], [(200, whole)]
    mirrors = f"{server.url}/cut", f"{server.url}/whole"
    files = (FileSpec("toy/a.csv.gz", (), mirrors),)
    spec = DatasetSpec("toy", "Toy", "classification", "files", "table", files=files)
    (path,) = fetch(spec, tmp_path)
    assert gzip.decompress(path.read_bytes()) == GOOD


def test_compressed_and_plain_mirrors_give_the_same_file(server, tmp_path):
    server.answers["/a"] = [(200, GOOD)]
    server.answers["/a.gz"] = [(200, gzip.compress(GOOD))]
    for name, path in (("a", "toy/a.csv.gz"), ("a.gz", "toy/a.csv.gz"), ("a.gz", "toy/a.csv")):
        folder = tmp_path / f"{name}-{path[4:]}"
        (got,) = fetch(spec_of(f"{server.url}/{name}", path=path), folder)
        content = gzip.decompress(got.read_bytes()) if path.endswith(".gz") else got.read_bytes()
        assert content == GOOD


@pytest.mark.parametrize(
    ("answer", "mirror", "message"),
    [
        ((200, b"other"), "/x.csv", f"expected sha256 {sha256(GOOD)}, found {sha256(b'other')}"),
        ((200, HTML), "/x.csv", "HTML page instead of the file"),
        ((200, b"\xef\xbb\xbf" + HTML), "/x.csv", "HTML page instead of the file"),
        ((200, HTML), "/x.zip#toy.csv", "HTML page instead of the file"),
        ((200, zipped(toy_csv=GOOD)[:-40]), "/x.zip#toy.csv", "truncated file"),
        ((200, GOOD, 10 * len(GOOD)), "/x.csv", "no complete answer in 3 attempts"),
        ((200, zipped(other_csv=GOOD)), "/x.zip#toy.csv", "lacks 'toy.csv'; it holds other.csv"),
        ((404, b""), "/x.csv", "the server answered 404"),
        ((503, b""), "/x.csv", "the server answered 503"),
    ],
)
def test_bad_answers_leave_nothing_and_say_what_to_do(server, tmp_path, answer, mirror, message):
    server.answers[mirror.split("#")[0]] = [answer]
    with pytest.raises(DatasetError) as caught:
        fetch(spec_of(server.url + mirror), tmp_path)
    text = str(caught.value)
    assert message in text
    assert "Data set 'toy': cannot get toy/toy.csv" in text
    assert sha256(GOOD) in text
    assert "BUDGETLEARN_DATA" in text
    assert leftovers(tmp_path) == []


def test_truncated_gzip(server, tmp_path):
    server.answers["/x.gz"] = [(200, gzip.compress(GOOD)[:-20])]
    for path in ("toy/toy.csv", "toy/toy.csv.gz"):
        with pytest.raises(DatasetError, match=r"damaged gzip|cannot be read as a gzip"):
            fetch(spec_of(f"{server.url}/x.gz", path=path), tmp_path)
    assert leftovers(tmp_path) == []


def test_retry_after_503_then_good(server, tmp_path):
    server.answers["/x.csv"] = [(503, b""), (503, b""), (200, GOOD)]
    fetch(spec_of(f"{server.url}/x.csv"), tmp_path)
    assert len(server.requests) == 3


def test_second_mirror_after_404_and_no_retry_of_404(server, tmp_path):
    server.answers["/b.csv"] = [(200, GOOD)]
    fetch(spec_of(f"{server.url}/a.csv", f"{server.url}/b.csv"), tmp_path)
    assert server.requests == ["/a.csv", "/b.csv"]


def test_no_network(tmp_path, monkeypatch):
    monkeypatch.setattr("budgetbench.datasets.fetching.FIRST_WAIT", 0.01)
    with pytest.raises(DatasetError, match=r"no complete answer in 3 attempts \(ConnectionError"):
        fetch(spec_of("http://127.0.0.1:9/x.csv"), tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr("budgetbench.datasets.fetching.TIMEOUT", (0.1, 0.1))
        with pytest.raises(DatasetError, match=r"in 3 attempts .*Read timed out"):
            fetch(spec_of(f"http://127.0.0.1:{silent.getsockname()[1]}/x.csv"), tmp_path)


def test_offline_says_where_to_put_the_file(server, tmp_path):
    server.answers["/x.csv"] = [(200, GOOD)]
    with pytest.raises(DatasetError, match=r"The network is off.*holds toy/toy\.csv"):
        fetch(spec_of(f"{server.url}/x.csv"), tmp_path, offline=True)
    assert server.requests == []


@pytest.mark.parametrize("by_variable", [False, True])
def test_data_dir_before_mirrors(server, tmp_path, monkeypatch, by_variable):
    ready = tmp_path / "ready"
    (ready / "toy").mkdir(parents=True)
    (ready / "toy/toy.csv").write_bytes(GOOD)
    if by_variable:
        monkeypatch.setenv("BUDGETLEARN_DATA", str(ready))
    spec = spec_of(f"{server.url}/x.csv")
    (path,) = fetch(spec, tmp_path / "raw", data_dir=None if by_variable else ready, offline=True)
    assert path.read_bytes() == GOOD


def test_wrong_file_in_data_dir_is_told_and_the_mirror_taken(server, tmp_path, caplog):
    (tmp_path / "ready/toy").mkdir(parents=True)
    (tmp_path / "ready/toy/toy.csv").write_bytes(b"wrong")
    server.answers["/x.csv"] = [(200, GOOD)]
    spec = spec_of(f"{server.url}/x.csv")
    with pytest.raises(DatasetError, match=f"found {sha256(b'wrong')}"):
        fetch(spec, tmp_path / "raw", tmp_path / "ready", offline=True)
    fetch(spec, tmp_path / "raw", tmp_path / "ready")
    assert f"found {sha256(b'wrong')}" in caplog.text
    assert (tmp_path / "ready/toy/toy.csv").read_bytes() == b"wrong"


def test_damaged_file_in_folder_is_replaced(server, tmp_path):
    server.answers["/x.csv"] = [(200, GOOD)]
    spec = spec_of(f"{server.url}/x.csv")
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/toy.csv").write_bytes(GOOD[:50])
    with pytest.raises(DatasetError, match=f"found {sha256(GOOD[:50])}"):
        fetch(spec, tmp_path, offline=True)
    (path,) = fetch(spec, tmp_path)
    assert path.read_bytes() == GOOD


def test_unknown_hash_is_recorded_and_held(server, tmp_path):
    server.answers["/x.csv"] = [(200, GOOD), (200, b"changed upstream")]
    spec = spec_of(f"{server.url}/x.csv", content=None)
    (path,) = fetch(spec, tmp_path)
    assert leftovers(tmp_path) == ["toy/toy.csv"]
    pin(spec, tmp_path)
    assert (tmp_path / "toy/toy.csv.sha256").read_text().strip() == sha256(GOOD)
    path.unlink()
    with pytest.raises(DatasetError, match=f"found {sha256(b'changed upstream')}"):
        fetch(spec, tmp_path)
    path.write_bytes(b"changed here")
    with pytest.raises(DatasetError, match=f"found {sha256(b'changed here')}"):
        fetch(spec, tmp_path, offline=True)


def test_local_files_come_from_the_user_only(tmp_path):
    files = tuple(FileSpec(f"own/{name}.txt") for name in ("train", "test"))
    spec = DatasetSpec(
        "own",
        "Own",
        "ranking",
        "local",
        "svmlight",
        files=files,
        folder=str(tmp_path / "mine"),
        instructions="Ask the owner.",
    )
    with pytest.raises(DatasetError) as caught:
        fetch(spec, tmp_path / "raw")
    wanted = f"Ask the owner. Put train.txt, test.txt into {tmp_path / 'mine'}."
    assert str(caught.value).endswith(wanted)
    (tmp_path / "mine").mkdir()
    for name in ("train", "test"):
        (tmp_path / "mine" / f"{name}.txt").write_text(name)
    paths = fetch(spec, tmp_path / "raw")
    assert [path.read_text() for path in paths] == ["train", "test"]


def test_nothing_to_fetch_for_embedded_data(tmp_path):
    spec = DatasetSpec("toy", "Toy", "classification", "embedded", "wine")
    assert fetch(spec, tmp_path / "none") == []
    assert not (tmp_path / "none").exists()
