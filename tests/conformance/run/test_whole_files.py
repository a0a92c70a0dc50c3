"""Files that are written whole: nothing else in the directory changes, whatever its name."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest

from cdcwire_conformance import whole_files
from cdcwire_conformance.whole_files import write_whole

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
        with whole_files.whole_file(folder / "report.json") as out:
            out.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert [(each.name, each.read_bytes()) for each in folder.iterdir()] == [
        ("report.json", b"old")
    ]
