"""Reading case files: what they give, and what is said of a slip in one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire_conformance.corpus.case import CorpusError, case_from_json, read_case
from cdcwire_conformance.corpus.files import FolderFiles

RESOLVED = bytes.fromhex("010103010101020a09010005")


def test_case_of_one_value_has_its_members(golden: Path) -> None:
    case = read_case(FolderFiles(golden), "craft/events/resolved.json")
    assert (case.format, case.group, case.name) == ("craft", "events", "resolved")
    assert case.messages == (KafkaMessage(None, RESOLVED),)
    assert case.events is not None
    assert case.error is None
    assert case.canonical


def test_case_with_blob_and_stored_file_has_their_bytes(golden: Path) -> None:
    folder = golden / "craft" / "events"
    (folder / "resolved.0.blob.bin").write_bytes(b"blob")
    document = {
        "id": "craft/events/resolved",
        "title": "t",
        "level": "must",
        "expect": "accept",
        "clause": ["craft: limits"],
        "origin": "derived: x",
        "since": "0.1.0",
        "blobs": {"s3://b/1": "resolved.0.blob.bin"},
        "messages": [{"path": "a/b.csv", "value": "resolved.bin"}],
        "events": [],
    }
    case = case_from_json(document, FolderFiles(golden), "craft/events/resolved.json")
    assert case.messages == (StoredFile("a/b.csv", RESOLVED),)
    assert case.blobs == {"s3://b/1": b"blob"}
    assert case.context().blobs == {"s3://b/1": b"blob"}


SLIPS: list[tuple[str, dict[str, Any], str]] = [
    ("id-elsewhere", {"id": "craft/events/other"}, "the id is 'craft/events/other'; the file's"),
    ("expect-missing", {"expect": None}, "not finished; missing: expect"),
    ("events-missing", {"events": None}, "not finished; missing: events"),
    ("message-no-key", {"messages": [{"value": "resolved.bin"}]}, "member 'key' is missing"),
    ("file-missing", {"messages": [{"key": None, "value": "none.bin"}]}, "none.bin can't be read"),
    (
        "clause-number",
        {"clause": 7},
        "a member has the wrong form; `cdcwire corpus check`",
    ),
    ("blobs-list", {"blobs": ["resolved.bin"]}, "a member has the wrong form"),
]


@pytest.mark.parametrize(("members", "problem"), [s[1:] for s in SLIPS], ids=[s[0] for s in SLIPS])
def test_case_that_cannot_be_read_is_one_error(
    golden: Path, edit: Any, members: dict[str, Any], problem: str
) -> None:
    edit(**members)
    with pytest.raises(CorpusError) as caught:
        read_case(FolderFiles(golden), "craft/events/resolved.json")
    assert caught.value.where == "craft/events/resolved.json"
    assert problem in caught.value.problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"{", "not JSON at character 2"),
        (b'{"id": 1, "id": 2}', "member 'id' is repeated"),
        (b"\xff", "byte 0 is not UTF-8"),
        (b"[]", "wrong form"),
    ],
)
def test_file_that_is_not_an_object_is_named(golden: Path, text: bytes, problem: str) -> None:
    file = golden / "craft" / "events" / "resolved.json"
    file.write_bytes(text)
    with pytest.raises(CorpusError, match=problem):
        read_case(FolderFiles(golden), "craft/events/resolved.json")


def test_table_that_is_none_is_an_error_of_the_context(golden: Path, edit: Any) -> None:
    edit(tables=[{"table": "t", "columns": [{"name": "a", "type": "integer"}]}])
    case = read_case(FolderFiles(golden), "craft/events/resolved.json")
    with pytest.raises(CorpusError, match="integer"):
        case.context()
