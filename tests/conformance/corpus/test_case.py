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
    ("id-elsewhere", {"id": "craft/events/other"}, "the id is"),
    ("level-unknown", {"level": "perhaps"}, "level is 'perhaps'"),
    ("expect-missing", {"expect": None}, "expect is to be there"),
    ("title-number", {"title": 7}, "title is to be there, as text"),
    ("member-unknown", {"colour": "red"}, "colour is not known"),
    ("clause-empty", {"clause": []}, "names one at least"),
    ("clause-text", {"clause": "craft: limits"}, "clause is to be there, as a list"),
    ("clause-of-numbers", {"clause": [1]}, "clause is a list of texts"),
    ("messages-empty", {"messages": []}, "messages: there is none"),
    ("message-no-key", {"messages": [{"value": "resolved.bin"}]}, "messages.key"),
    ("file-outside", {"messages": [{"key": None, "value": "../x.bin"}]}, "not the name of a .bin"),
    ("file-missing", {"messages": [{"key": None, "value": "none.bin"}]}, "none.bin can't be read"),
    ("events-missing", {"events": None}, "events is to be there, as a list"),
    ("error-on-accept", {"error": {"clause": "x"}}, "a case to accept has no member 'error'"),
    ("may-without-choice", {"level": "may"}, "choice: a case of level 'may' names one"),
    ("must-with-choice", {"choice": "a: b"}, "choice: a case of level 'must' leaves none"),
    ("canonical-text", {"canonical": "yes"}, "canonical is true or false"),
    ("option-list", {"options": {"a": []}}, "options.a is text"),
    ("sum-number", {"sha256": {"resolved.bin": 1}}, "sha256 is an object of texts"),
]


@pytest.mark.parametrize(("members", "problem"), [s[1:] for s in SLIPS], ids=[s[0] for s in SLIPS])
def test_slip_in_accept_case_is_named(
    golden: Path, edit: Any, members: dict[str, Any], problem: str
) -> None:
    edit(**members)
    with pytest.raises(CorpusError) as caught:
        read_case(FolderFiles(golden), "craft/events/resolved.json")
    assert caught.value.where == "craft/events/resolved.json"
    assert problem in caught.value.problem


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        ({"clause": "craft: limits"}, "none of the clauses of the case"),
        ({"clause": "craft: version", "offset": -1}, "error.offset is a number"),
        ({"clause": "craft: version", "message": 1}, "not the number of a message"),
        ({"clause": "craft: version", "path": [None]}, "error.path is a list"),
        ({"clause": "craft: version", "part": "blob"}, "error.part is one of"),
        ({"clause": "craft: version", "byte": 0}, "error.byte is not known"),
        ({}, "error.clause is to be there"),
    ],
)
def test_slip_in_error_is_named(
    golden: Path, edit: Any, error: dict[str, Any], problem: str
) -> None:
    edit("version-2", error=error)
    with pytest.raises(CorpusError, match=problem):
        read_case(FolderFiles(golden), "craft/events/version-2.json")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"{", "line 1"),
        (b'{"id": 1, "id": 2}', "member 'id' is there twice"),
        (b"\xff", "byte 0 is not UTF-8"),
        (b"[]", "a case is an object"),
    ],
)
def test_file_that_is_no_object_is_named(golden: Path, text: bytes, problem: str) -> None:
    file = golden / "craft" / "events" / "resolved.json"
    file.write_bytes(text)
    with pytest.raises(CorpusError, match=problem):
        read_case(FolderFiles(golden), "craft/events/resolved.json")


def test_table_that_is_none_is_an_error_of_the_context(golden: Path, edit: Any) -> None:
    edit(tables=[{"table": "t", "columns": [{"name": "a", "type": "integer"}]}])
    case = read_case(FolderFiles(golden), "craft/events/resolved.json")
    with pytest.raises(CorpusError, match="integer"):
        case.context()
