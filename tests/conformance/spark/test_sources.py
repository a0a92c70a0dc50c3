"""Sources, and how JSON lines are cut into pieces. No Spark here."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdcwire.registry import get_format
from cdcwire_conformance.decode.workers import share_bytes_of, shares_of
from cdcwire_conformance.sources.pieces import (
    line_number,
    line_numbers,
    read_lines,
)
from cdcwire_conformance.sources.source_urls import (
    Source,
    SourceError,
    parse_source,
    source_of_folder,
)

LINES = (b"first\n", b"\n", b"second, longer\n", b"  \n", b"3\n", b"last without an end")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "b.jsonl").write_bytes(b"".join(LINES))
    (tmp_path / "a.jsonl").write_bytes(b"x\n")
    (tmp_path / "c.jsonl").write_bytes(b"")
    (tmp_path / "tables.json").write_text("[]")
    return tmp_path


def test_source_is_the_files_of_a_directory_by_name(folder: Path) -> None:
    files = tuple(str(folder / name) for name in ("a.jsonl", "b.jsonl", "c.jsonl"))
    expected = Source(get_format("craft"), str(folder), "jsonl", files)
    for text in (f"craft:file:{folder}", f"craft:{folder}", f"craft:file://{folder}"):
        assert parse_source(text) == expected
    assert str(expected) == f"craft:file:{folder}"


def test_files_of_a_relative_directory_are_absolute(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    source = parse_source(f"craft:file:{folder.name}")
    assert str(source) == f"craft:file:{folder.name}"
    assert source.files[0] == str(folder / "a.jsonl")


def test_source_of_an_escaped_address_is_its_directory(tmp_path: Path) -> None:
    folder = tmp_path / "my feed"
    folder.mkdir()
    (folder / "m.jsonl").write_bytes(b"")
    assert parse_source(f"craft:file://{tmp_path}/my%20feed").folder == str(folder)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("feed", "'feed' has no format; write auto:file:feed"),
        ("nothing:file:/x", "unknown format 'nothing'; known: debezium-json"),
        ("craft:", "a directory is missing, as in craft:file:DIR"),
        ("craft:file:", "a directory is missing after file:"),
        ("craft:file:/no/such/folder", "/no/such/folder: there is no such directory"),
        ("craft:s3://bucket/feed", "s3 is not read here; it is s3a://BUCKET/DIR"),
        ("craft:https://host/feed", "https is not read here; there are file:DIR, kafka: and"),
        ("craft:s3a:///feed", "a bucket is missing, as in s3a://BUCKET/DIR"),
        ("craft:s3a://key:word@bucket/feed", "craft:s3a: a URL is shown, so it takes no password"),
        ("craft:file://feed", "a file URL has three slashes"),
    ],
)
def test_text_that_names_no_source_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_source(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_directory_without_messages_or_with_both_kinds_is_refused(tmp_path: Path) -> None:
    empty = r"there is no \*\.jsonl or \*\.ndjson, and no \*\.parquet"
    with pytest.raises(SourceError, match=empty):
        source_of_folder("craft", tmp_path)
    for name in ("a.jsonl", "a.parquet"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(SourceError, match="a feed is one of them"):
        source_of_folder("craft", tmp_path)


@pytest.mark.parametrize("share_bytes", [*range(1, 40), 1000])
def test_shares_of_any_size_have_every_line_once_and_in_order(
    folder: Path, share_bytes: int
) -> None:
    source = source_of_folder("craft", folder)
    shares = shares_of(source.files, share_bytes)
    assert all(sum(p.end - p.start for p in share) <= share_bytes for share in shares)
    found = [line for share in shares for piece in share for _, line in read_lines(piece)]
    assert found == [b"x\n", *(line for line in LINES if not line.isspace())]


def test_lines_are_numbered_by_the_byte_where_they_begin(folder: Path) -> None:
    file = str(folder / "b.jsonl")
    (piece,) = shares_of([file])[0]
    offsets = [offset for offset, _ in read_lines(piece)]
    numbers = [1, 3, 5, 6]
    assert [line_number(file, offset) for offset in offsets] == numbers
    assert line_numbers(file, offsets) == dict(zip(offsets, numbers, strict=True))


def test_share_is_a_workers_part_but_not_too_small(folder: Path) -> None:
    source = source_of_folder("craft", folder)
    assert share_bytes_of(source.files, 4) == 1 << 20
    (folder / "a.jsonl").write_bytes(bytes((6 << 20) - len(b"".join(LINES))))
    assert share_bytes_of(source.files, 2) == 3 << 20
    assert share_bytes_of(source.files * 100, 2) == 128 << 20
