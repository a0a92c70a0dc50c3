"""Files next to a feed that may have rows: every verb names them."""

from __future__ import annotations

import gzip
import os
import shutil
from pathlib import Path

import pytest

from cdcwire.files.messages_io import read_messages
from cdcwire.files.stores import LocalStore
from cdcwire.files.unread import Unread, unread_files
from cdcwire_conformance.cli import main
from cdcwire_conformance.sources.source_urls import SourceError, source_of_folder

ROWS = 20


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    folder = tmp_path / "feed"
    assert main(["generate", "craft", "--rows", str(ROWS), "--to", str(folder)]) == 0
    return folder


def put(folder: Path, name: str, content: bytes = b"{}") -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


@pytest.mark.parametrize(
    "name",
    [
        "sub/more.jsonl",
        "a/b/c.parquet",
        "more.json",
        "more.jsonl.lz4",
        "more.jsonl.bak",
        "messages.jsonl~",
        "more.csv",
        "more",
        "sub/.hidden.jsonl",
        "_temporary/0/part-0.parquet",
        "sub/feed.json",
        "schemas/rows.json",
    ],
)
def test_a_file_that_may_have_rows_is_named(feed: Path, name: str) -> None:
    put(feed, name)
    assert source_of_folder("craft", feed).unread.paths == (name,)


@pytest.mark.parametrize(
    "name",
    [
        "_SUCCESS",
        ".DS_Store",
        "._messages.jsonl",
        ".messages.jsonl.crc",
        ".git/config",
        "README.md",
        "shop.sql",
        "changefeed.toml",
        "schemas/7.avsc",
        "tables.json",
        ".feed.json",
    ],
)
def test_a_marker_or_a_document_is_not_named(feed: Path, name: str) -> None:
    put(feed, name)
    assert not source_of_folder("craft", feed).unread


def test_the_result_of_a_comparison_is_not_named(feed: Path, tmp_path: Path) -> None:
    put(feed, "found.json", b'{\n "comparison": 1,\n "left": "a"}')
    put(feed, "other.json", b'{"comparisons": 1}')
    assert source_of_folder("craft", feed).unread.paths == ("other.json",)


def test_an_empty_file_has_no_rows(feed: Path) -> None:
    put(feed, "sub/more.jsonl", b"")
    assert not source_of_folder("craft", feed).unread


@pytest.mark.parametrize("name", ["more.ndjson", "MORE.JSONL", "more.jsonl.GZ", "more.ndjson.gz"])
def test_other_spellings_of_lines_are_read(feed: Path, name: str) -> None:
    content = (feed / "messages.jsonl").read_bytes()
    put(feed, name, gzip.compress(content) if name.lower().endswith("gz") else content)
    source = source_of_folder("craft", feed)
    assert len(source.files) == 2
    assert not source.unread
    assert len(list(read_messages(str(feed)))) == 2 * len(content.splitlines())


def test_many_files_are_counted(feed: Path) -> None:
    for number in range(8):
        put(feed, f"sub/{number}.jsonl")
    unread = source_of_folder("craft", feed).unread
    assert str(unread).endswith("sub/3.jsonl, sub/4.jsonl and 3 more")
    assert str(Unread(unread.paths, is_all=False)).endswith("and more than 3 more")


def test_files_known_by_their_names_are_left_out() -> None:
    unread = Unread(("claims/a.json", "sub/b.json"))
    assert unread.without({"a.json": b""}).paths == ("sub/b.json",)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list every directory")
def test_a_directory_that_may_not_be_listed_is_named(feed: Path) -> None:
    put(feed, "sub/more.jsonl")
    (feed / "sub").chmod(0)
    try:
        (line,) = source_of_folder("craft", feed).unread.paths
    finally:
        (feed / "sub").chmod(0o700)
    assert "sub: can't be read" in line


def test_a_directory_that_can_not_be_listed_is_named(feed: Path, tmp_path: Path) -> None:
    put(feed, "sub/rest/x.md")
    (feed / "sub" / "out").symlink_to(tmp_path)
    (line,) = source_of_folder("craft", feed).unread.paths
    assert "it leads out of its directory" in line


def test_a_directory_without_a_feed_says_what_it_has(tmp_path: Path) -> None:
    put(tmp_path, "sub/more.jsonl")
    with pytest.raises(SourceError, match=r"there is no \*\.jsonl .*; not read: sub/more\.jsonl"):
        source_of_folder("craft", tmp_path)


def test_files_that_are_read_are_not_named(feed: Path) -> None:
    assert unread_files(LocalStore(feed), ()).paths == ("messages.jsonl",)
    assert not unread_files(LocalStore(feed), ["messages.jsonl"])


def compare(left: Path, right: Path, *words: str) -> int:
    pytest.importorskip("pyarrow", reason="needs the extra compare")
    return main(["compare", f"craft:file:{left}", f"craft:file:{right}", *words])


def test_compare_does_not_decide_over_files_that_are_not_read(
    feed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    shutil.copytree(feed, other)
    put(feed, "sub/more.jsonl")
    assert compare(feed, other) == 2
    problem = capsys.readouterr()
    assert "not read: left: sub/more.jsonl" in problem.err
    assert "--ignore-unread" in problem.err
    assert "EQUAL" not in problem.out

    assert compare(feed, other, "--ignore-unread") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "not read  left: sub/more.jsonl"
    assert lines[-1].endswith("; left out: files that were not read")


def test_compare_names_them_where_the_feeds_differ(
    feed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    shutil.copytree(feed, other)
    lines = (other / "messages.jsonl").read_bytes().splitlines(keepends=True)
    put(other, "messages.jsonl", b"".join(lines[:-1]))
    put(other, "sub/last.jsonl", lines[-1])
    assert compare(feed, other) == 1
    assert "not read  right: sub/last.jsonl" in capsys.readouterr().out.splitlines()[:4]


@pytest.mark.parametrize("verb", ["decode", "explain"])
def test_decoding_warns_of_them(feed: Path, verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    put(feed, "more.jsonl.lz4")
    assert main([verb, "craft", str(feed)]) == 0
    assert f"cdcwire {verb}: warning: {feed}: not read: more.jsonl.lz4" in capsys.readouterr().err


def test_identify_warns_of_them(feed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(feed, "sub/more.jsonl")
    assert main(["identify", str(feed)]) == 0
    assert "not read: sub/more.jsonl" in capsys.readouterr().err
