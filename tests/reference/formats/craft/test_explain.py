"""Explained Craft messages: every byte once, codes with names, the shipped encoder's fault."""

from __future__ import annotations

from itertools import pairwise

import pytest

from cdcwire.core.context import NO_CONTEXT
from cdcwire.core.explanation import Explanation
from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire.formats.craft.format import FORMAT
from cdcwire.formats.craft.spans import SHIPPED_FLOAT_FAULT
from cdcwire.model.events import path_text

RESOLVED = bytes.fromhex("010103010101020a09010005")
DDL = bytes.fromhex("01 0102010002 030178 020101 7374 020a00 0106 05")
ROW = bytes.fromhex(
    "01a091d8e18ebba7c51601010000010102060001020404746573746e756c6c021a03010c010c07"
)


def explain(value: bytes | None) -> Explanation:
    return FORMAT.explain(KafkaMessage(None, value), context=NO_CONTEXT)


@pytest.mark.parametrize("data", [RESOLVED, DDL, ROW])
def test_spans_cover_every_byte_once_and_in_order(data: bytes) -> None:
    found = explain(data)
    assert found.error is None
    assert found.spans[0].start == 0
    assert found.spans[-1].end == len(data)
    assert all(one.end == two.start for one, two in pairwise(found.spans))
    assert all(span.clause.startswith("craft: ") for span in found.spans)


def test_spans_of_a_row_say_field_and_value() -> None:
    lines = {path_text(span.path): span.text for span in explain(ROW).spans}
    assert lines == {
        "version": "1",
        "events[0].commit_ts": "1624284170621946016",
        "events[0].type": "1 (row)",
        "events[0].partition": "-1 (none)",
        "events[0].schema": "0 ('test')",
        "events[0].table": "0 ('test')",
        "events[0].groups[0].type": "1 (new)",
        "events[0].groups[0].count": "1",
        "events[0].groups[0].columns[0].name": "1 ('null')",
        "events[0].groups[0].columns[0].type": "6 (null)",
        "events[0].groups[0].columns[0].flags": "0",
        "events[0].groups[0].columns[0].length": "-1 (NULL)",
        "dictionary.count": "2",
        "dictionary[0].length": "4",
        "dictionary[1].length": "4",
        "dictionary[0]": "'test'",
        "dictionary[1]": "'null'",
        "size_tables.meta.count": "2",
        "size_tables.meta[0]": "13",
        "size_tables.meta[1]": "11",
        "size_tables.bodies.count": "1",
        "size_tables.bodies[0]": "6",
        "size_tables.groups[0].count": "1",
        "size_tables.groups[0][0]": "6",
        "tail": "7",
    }


def test_broken_message_gives_the_spans_so_far_and_the_error() -> None:
    broken = ROW.replace(b"null", b"\xffull")
    found = explain(broken)
    assert found.error is not None
    assert found.error.offset == broken.index(b"\xff")
    assert [span.start for span in found.spans] == sorted(span.start for span in found.spans)
    assert any(span.path == ("dictionary", 0) for span in found.spans)


@pytest.mark.parametrize("cut", range(len(ROW)))
def test_truncated_message_is_explained_as_far_as_it_goes(cut: int) -> None:
    found = explain(ROW[:cut])
    assert found.error is not None
    assert all(0 <= span.start < span.end <= cut for span in found.spans)


def test_message_without_value_is_an_error() -> None:
    found = explain(None)
    assert found.error is not None
    assert found.error.clause == "craft: kafka message"


def test_key_is_one_separate_span() -> None:
    spans = FORMAT.explain(KafkaMessage(b"k", RESOLVED), context=NO_CONTEXT).spans
    assert [(span.part, span.start, span.end) for span in spans[:2]] == [
        ("key", 0, 1),
        ("value", 0, 1),
    ]


def test_stored_file_is_explained_as_its_bytes() -> None:
    assert FORMAT.explain(StoredFile("a", RESOLVED), context=NO_CONTEXT) == explain(RESOLVED)


@pytest.mark.parametrize(
    ("bits", "note"),
    [
        ("000000a09999b93f", ""),
        ("000000a000000000", SHIPPED_FLOAT_FAULT),
        ("000000a001000000", "not exactly a 32-bit float"),
    ],
    ids=["right", "shipped", "other"],
)
def test_float_with_bits_of_the_next_number_is_recognised(bits: str, note: str) -> None:
    spans = explain(_floats(bits)).spans
    path = ("events", 0, "groups", 0, "columns", 1, "value")
    assert [span.note for span in spans if span.path == path] == [note]


def _floats(bits: str) -> bytes:
    """Return an insert of an INT 1, a FLOAT of these bits, a TEXT and the DOUBLE 2.25."""
    body = "01 04 04020202 03 04 fc01 05 0b 41 40 41 02 10 02 10 02" + bits + "78 0000000000000240"
    size = len(bytes.fromhex(body))
    names = "06 01 01 02 01 01 01 73 74 6964 66 78 64"
    difference = len(bytes.fromhex(names)) - 5
    tables = f"02 0a {2 * difference:02x} 01 {2 * size:02x} 01 {2 * size:02x}"
    return bytes.fromhex(f"01 01 01 01 00 02 {body} {names} {tables} 07")
