"""No name and no symbolic link leads out of a prefix, a corpus or a directory of claim checks."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cdcwire.cli.context import read_claim_checks
from cdcwire.files.stores import LocalStore, StoreError
from cdcwire.schema_registry.opening import read_schema_folder
from cdcwire_conformance.cli import main
from cdcwire_conformance.corpus.files import FolderFiles
from cdcwire_conformance.corpus.store import load_case
from cdcwire_conformance.property.cases import save_cases

SECRET = b"not for this prefix"


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    """A store with a file; a file with a secret is next to it."""
    (tmp_path / "secret").write_bytes(SECRET)
    (tmp_path / "prefix-2").mkdir()
    (tmp_path / "prefix-2" / "secret").write_bytes(SECRET)
    found = LocalStore(tmp_path / "prefix")
    found.put("s/t/file", b"1")
    return found


@pytest.mark.parametrize(
    "name", ["../secret", "s/../../secret", "../prefix-2/secret", "s/t/../../../secret"]
)
def test_name_leads_out_of_no_store(store: LocalStore, name: str) -> None:
    with pytest.raises(StoreError, match="leads out of its directory"):
        store.read(name)
    with pytest.raises(StoreError, match="leads out of its directory"):
        store.look(name)
    with pytest.raises(OSError, match="leads out of its directory"):
        store.open(name)
    with pytest.raises(StoreError, match="leads out of its directory"):
        store.put(name, b"written")
    assert store.folder.parent.joinpath("secret").read_bytes() == SECRET


def test_absolute_name_leads_out_of_no_store(store: LocalStore, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="leads out of its directory"):
        store.read(str(tmp_path / "secret"))


@pytest.mark.parametrize("target", ["../../../secret", "../../../prefix-2", "/etc"])
def test_link_out_of_a_store_is_an_error(store: LocalStore, target: str) -> None:
    (store.folder / "s" / "t" / "link").symlink_to(target)
    with pytest.raises(StoreError, match="link: can't be read: it leads out of its directory"):
        list(store.list())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_pipe_in_a_store_is_an_error(store: LocalStore) -> None:
    """Reading it would wait for a writer."""
    os.mkfifo(store.folder / "s" / "t" / "pipe")
    with pytest.raises(StoreError, match="pipe: can't be read: it is not a file"):
        list(store.list())
    with pytest.raises(StoreError, match="pipe: can't be read: it is not a file"):
        store.look("s/t/pipe")


def test_link_that_is_written_through_is_an_error(store: LocalStore, tmp_path: Path) -> None:
    (store.folder / "link").symlink_to(tmp_path / "prefix-2")
    with pytest.raises(StoreError, match="leads out"):
        store.put("link/secret", b"written")
    assert (tmp_path / "prefix-2" / "secret").read_bytes() == SECRET


def test_link_inside_a_store_is_followed(store: LocalStore) -> None:
    (store.folder / "again").symlink_to("s/t")
    assert {each.path for each in store.list()} == {"s/t/file", "again/file"}
    assert store.read("again/file") == b"1"


@pytest.mark.parametrize("targets", [{"s/loop": "."}, {"s/a": "../u", "u/b": "../s"}])
def test_links_in_a_circle_are_an_error(store: LocalStore, targets: dict[str, str]) -> None:
    (store.folder / "u").mkdir()
    for name, target in targets.items():
        (store.folder / name).symlink_to(target)
    with pytest.raises(StoreError, match="leads to a directory that is read already"):
        list(store.list())


def test_store_may_be_a_link_itself(store: LocalStore, tmp_path: Path) -> None:
    (tmp_path / "other").symlink_to(store.folder)
    assert LocalStore(tmp_path / "other").read("s/t/file") == b"1"
    assert [each.path for each in LocalStore(tmp_path / "other").list()] == ["s/t/file"]


def test_claim_checks_stay_in_their_directory(store: LocalStore, tmp_path: Path) -> None:
    assert read_claim_checks(str(store.folder))["s3://bucket/s/t/file"] == b"1"
    with pytest.raises(KeyError):
        read_claim_checks(str(store.folder))[f"{tmp_path}/../secret"]
    (store.folder / "claim.json").symlink_to(tmp_path / "secret")
    with pytest.raises(StoreError, match="leads out"):
        read_claim_checks(str(store.folder))


def test_files_of_a_corpus_stay_in_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "secret").write_bytes(SECRET)
    root = tmp_path / "golden"
    assert main(["corpus", "copy", str(root), "maxwell-json"]) == 0
    file = min(root.rglob("*/*/*.json"))
    document = json.loads(file.read_text(encoding="utf-8"))
    document["messages"][0]["value"] = "../../../secret"
    file.write_text(json.dumps(document), encoding="utf-8")
    capsys.readouterr()
    for words in (["list"], ["copy", str(tmp_path / "copy")], ["export", str(tmp_path / "x")]):
        assert main(["corpus", *words, "--root", str(root)]) in (0, 2)
        shown = capsys.readouterr()
        assert "leads out of its directory" in shown.err or words[0] == "copy"
    copied = [each for each in (tmp_path / "copy").rglob("*") if each.is_file()]
    assert not any(SECRET in each.read_bytes() for each in copied)
    assert not (tmp_path / "x").exists()
    (root / "link.json").symlink_to(tmp_path / "secret")
    with pytest.raises(OSError, match="leads out"):
        FolderFiles(root).read("link.json")
    assert "link.json" not in FolderFiles(root)


@pytest.mark.parametrize(
    ("words", "link"),
    [
        (["corpus", "copy", "to", "maxwell-json"], "index.json"),
        (["corpus", "copy", "to", "maxwell-json"], "VERSION"),
        (["generate", "craft", "--rows", "3", "--to", "to"], "tables.json"),
        (["generate", "craft", "--rows", "3", "--to", "to"], "feed.json"),
        (["generate", "craft", "--rows", "3", "--to", "to"], "messages.jsonl"),
        (["generate", "craft", "--rows", "3", "--jobs", "2", "--to", "to"], ".messages.jsonl.0"),
        (["generate", "datahub-blob", "--rows", "3", "--shards", "2", "--to", "to"], "feed.json"),
    ],
)
@pytest.mark.parametrize("exists", [True, False])
def test_no_link_in_a_target_is_written_through(
    words: list[str],
    link: str,
    exists: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    target, secret = tmp_path / "to", tmp_path / "secret"
    target.mkdir()
    if exists:
        secret.write_bytes(SECRET)
    (target / link).symlink_to(secret)
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"cdcwire {words[0]}: ")
    said = ("leads out of its directory", "already exists", "is not empty")
    assert any(each in line for each in said)
    assert (secret.read_bytes() == SECRET) if exists else not secret.exists()


@pytest.mark.parametrize("link", ["craft", "VERSION", "index.json", "craft/rows"])
def test_saved_cases_stay_in_their_directory(link: str, tmp_path: Path) -> None:
    case = load_case("craft/rows/all-flags")
    root, outside = tmp_path / "to", tmp_path / "outside"
    outside.mkdir()
    (root / link).parent.mkdir(parents=True)
    is_file = link in ("VERSION", "index.json")
    (root / link).symlink_to(outside / "file" if is_file else outside)
    with pytest.raises(OSError, match="leads out"):
        save_cases([case], root)
    assert list(outside.iterdir()) == []


def test_schema_ids_are_no_paths(tmp_path: Path) -> None:
    (tmp_path / "secret.avsc").write_text('"string"')
    folder = tmp_path / "schemas"
    folder.mkdir()
    (folder / "7.avsc").write_text('"int"')
    found = read_schema_folder(folder)
    assert set(found) == {"7"}
    assert found.get("../secret") is None
