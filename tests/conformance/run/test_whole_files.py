"""Files that are written whole: nothing else in the directory changes, whatever its name."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest

from cdcwire.files import local_files
from cdcwire.files.local_files import whole_folder, write_whole
from cdcwire_conformance.cli import main

OLD_NAMES = (".report.json.unfinished", "report.json.unfinished", ".cdcwire-00.unfinished")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    folder.mkdir()
    return folder


def test_whole_file_leaves_what_it_did_not_make(folder: Path) -> None:
    for name in OLD_NAMES:
        (folder / name).mkdir()
    (folder / "other.unfinished").write_bytes(b"keep")
    write_whole(folder / "report.json", b"new")
    assert {each.name for each in folder.iterdir()} == {
        *OLD_NAMES,
        "other.unfinished",
        "report.json",
    }
    assert (folder / "report.json").read_bytes() == b"new"


@pytest.mark.parametrize("kind", ["link", "link to nothing", "hard link", "directory"])
def test_whole_file_uses_no_name_that_something_has(
    kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that is guessed leads nowhere: the file is new, or it is not written."""
    monkeypatch.setattr(secrets, "token_hex", lambda size: "guessed")
    taken = folder / ".cdcwire-guessed.unfinished"
    other = folder.parent / "file"
    other.write_bytes(b"keep")
    if kind == "link":
        taken.symlink_to(other)
    elif kind == "link to nothing":
        taken.symlink_to(folder.parent / "missing")
    elif kind == "hard link":
        os.link(other, taken)
    else:
        taken.mkdir()
    with pytest.raises(OSError, match=r"report\.json'$"):
        write_whole(folder / "report.json", b"new")
    assert other.read_bytes() == b"keep"
    assert not (folder.parent / "missing").exists()
    assert not (folder / "report.json").exists()
    assert [each.name for each in folder.iterdir()] == [taken.name]


def test_whole_file_that_fails_leaves_the_old_one(folder: Path) -> None:
    (folder / "report.json").write_bytes(b"old")

    def fail() -> None:
        with local_files.whole_file(folder / "report.json") as out:
            out.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert [(each.name, each.read_bytes()) for each in folder.iterdir()] == [
        ("report.json", b"old")
    ]


@pytest.mark.parametrize("is_new", [True, False])
def test_whole_folder_comes_with_its_last_file_and_leaves_others(
    is_new: bool, tmp_path: Path
) -> None:
    target = tmp_path / "a" / "b"
    if not is_new:
        target.mkdir(parents=True)
        (target / "other").write_bytes(b"keep")
        (target / "one").write_bytes(b"old")
    before = sorted(each.relative_to(target) for each in target.rglob("*"))
    with whole_folder(target) as made:
        (made / "one").write_bytes(b"new")
        (made / "c").mkdir()
        shown = [each for each in target.rglob("*") if ".unfinished" not in str(each)]
        assert sorted(each.relative_to(target) for each in shown) == before
    assert (target / "one").read_bytes() == b"new"
    names = ["c", "one"] if is_new else ["c", "one", "other"]
    assert sorted(each.name for each in target.iterdir()) == names
    assert [each.name for each in target.parent.iterdir()] == ["b"]


@pytest.mark.parametrize("is_new", [True, False])
def test_whole_folder_that_fails_leaves_nothing(is_new: bool, tmp_path: Path) -> None:
    target = tmp_path / "a" / "b"
    if not is_new:
        target.mkdir(parents=True)
        (target / "one").write_bytes(b"old")

    def fail() -> None:
        with whole_folder(target) as made:
            (made / "one").write_bytes(b"new")
            (made / "two" / "missing").write_bytes(b"new")

    with pytest.raises(FileNotFoundError) as caught:
        fail()
    assert caught.value.filename == str(target / "two" / "missing")
    left = {each.name: each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()}
    assert left == ({} if is_new else {"one": b"old"})
    assert is_new != (tmp_path / "a").exists()


def test_parts_of_a_feed_leave_what_has_their_names(tmp_path: Path) -> None:
    taken = [tmp_path / f".messages.jsonl.{number}" for number in range(2)]
    for each in taken:
        each.write_bytes(b"keep")
    words = ["--rows", "20000", "--jobs", "2", "--to", str(tmp_path)]
    assert main(["generate", "craft", *words]) == 0
    assert [each.read_bytes() for each in taken] == [b"keep", b"keep"]
