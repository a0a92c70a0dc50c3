"""Files that are written whole: whatever else has the name of the unfinished file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cdcwire_conformance.whole_files import write_whole

UNFINISHED = ".report.json.unfinished"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("victim", ["file", "missing"])
def test_whole_file_does_not_write_through_a_link(victim: str, folder: Path) -> None:
    outside = folder.parent
    (outside / "file").write_bytes(b"keep")
    (folder / UNFINISHED).symlink_to(outside / victim)
    write_whole(folder / "report.json", b"new")
    assert (outside / "file").read_bytes() == b"keep"
    assert not (outside / "missing").exists()
    assert [each.name for each in folder.iterdir()] == ["report.json"]
    assert not (folder / "report.json").is_symlink()
    assert (folder / "report.json").read_bytes() == b"new"


def test_whole_file_does_not_write_through_a_hard_link(folder: Path) -> None:
    other = folder.parent / "file"
    other.write_bytes(b"keep")
    os.link(other, folder / UNFINISHED)
    write_whole(folder / "report.json", b"new")
    assert other.read_bytes() == b"keep"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_whole_file_does_not_wait_for_the_reader_of_a_pipe(folder: Path) -> None:
    os.mkfifo(folder / UNFINISHED)
    # Without a reader an open for writing would wait for ever.
    reader = os.open(folder / UNFINISHED, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(folder / "report.json", b"new")
        assert os.read(reader, 9) == b""
    finally:
        os.close(reader)
    assert (folder / "report.json").is_file()
    assert [each.name for each in folder.iterdir()] == ["report.json"]


def test_whole_file_replaces_what_a_killed_run_has_left(folder: Path) -> None:
    (folder / UNFINISHED).write_bytes(b"older and longer")
    write_whole(folder / "report.json", b"new")
    assert [(each.name, each.read_bytes()) for each in folder.iterdir()] == [
        ("report.json", b"new")
    ]


def test_whole_file_leaves_a_directory_of_the_unfinished_name(folder: Path) -> None:
    (folder / UNFINISHED).mkdir()
    with pytest.raises(OSError, match=r"report\.json'$") as caught:
        write_whole(folder / "report.json", b"new")
    assert caught.value.filename == str(folder / "report.json")
    assert [each.name for each in folder.iterdir()] == [UNFINISHED]
