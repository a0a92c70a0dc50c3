"""Craft messages that break one rule each, with the place and the clause that is found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.formats.craft import (
    SKIPPED,
    Column,
    ColumnGroup,
    DDLEvent,
    Event,
    Message,
    RowEvent,
    decode,
    encode,
)
from cdcwire.model.events import Path


def unhex(text: str) -> bytes:
    """Return the bytes of hexadecimal text in which ``|`` separates the parts of a message."""
    return bytes.fromhex(text.replace("|", " "))


ROW = unhex(
    "01 | a091d8e18ebba7c516 01 01 00 00 | 01 01 02 06 00 01 | 02 04 04 74657374 6e756c6c"
    "| 02 1a 03 01 0c 01 0c | 07"
)

# What the shipped Go decoder does with these: a panic, foreign bytes, or no error at all.
SHIPPED = [
    ("version-only", "01", 1, ("tail",), "reversed uvarint"),
    ("no-tables", "0100", 1, ("size_tables", "meta", "count"), "integers"),
    ("endless-tail", "0180", 1, ("tail",), "reversed uvarint"),
    ("tables-longer-than-message", "017f", 1, ("tail",), "tail"),
    ("empty-meta-table", "010001", 1, ("size_tables", "meta", "count"), "size tables"),
    ("empty-body-table", "01021a000004", 4, ("size_tables", "bodies", "count"), "size tables"),
    ("no-body-table", "01020a0003", 4, ("size_tables", "bodies", "count"), "integers"),
    ("version-2", "029091d8e18ebba7c51603010101021a19010005", 0, ("version",), "version"),
    (
        "body-size-minus-1",
        "019091d8e18ebba7c51603010101021a19010105",
        18,
        ("size_tables", "bodies", 0),
        "size tables",
    ),
    (
        "body-size-64",
        "019091d8e18ebba7c51603010101021a1901800106",
        14,
        ("size_tables",),
        "size tables",
    ),
    (
        "dictionary-size-64",
        "019091d8e18ebba7c51603010101021a66010005",
        14,
        ("size_tables",),
        "size tables",
    ),
    (
        "term-of-127-bytes",
        "019491d8e18ebba7c51602010001011263726561746520646174616261736520613b017f61021a13012805",
        37,
        ("dictionary", 0),
        "string arrays",
    ),
    (
        "row-without-group-table",
        "01a091d8e18ebba7c51601010000010102060001020404746573746e756c6c021a03010c07",
        36,
        ("size_tables", "meta"),
        "size tables",
    ),
    ("2-to-the-31-bodies", "01020000ffffffff0708", 9, ("size_tables", "bodies"), "size tables"),
]
GROUP: Path = ("events", 0, "groups", 0)
# The row of the worked example with one byte changed: offset, byte, and what is found.
ROW_CHANGES: list[tuple[str, int, int, int, Path, str]] = [
    ("value-length-minus-2", 19, 3, 19, (*GROUP, "columns", 0, "length"), "nullable bytes arrays"),
    ("value-length-60", 19, 0x78, 20, (*GROUP, "columns", 0, "value"), "nullable bytes arrays"),
    ("null-type-of-length-0", 19, 0, 20, (*GROUP, "columns", 0, "value"), "types without values"),
    ("no-columns", 15, 0, 15, (*GROUP, "count"), "column groups"),
    ("two-columns", 15, 2, 17, (*GROUP, "columns", 1, "name"), "column names"),
    ("127-columns", 15, 0x7F, 20, (*GROUP, "count"), "column groups"),
    ("group-type-0", 14, 0, 14, (*GROUP, "type"), "column groups"),
    ("group-type-3", 14, 3, 14, (*GROUP, "type"), "column groups"),
    ("event-type-0", 10, 0, 10, ("events", 0, "type"), "event types"),
    ("event-type-9", 10, 9, 10, ("events", 0, "type"), "event types"),
    ("event-type-ddl", 10, 2, 38, ("size_tables", "groups"), "size tables"),
    ("event-type-resolved", 10, 3, 38, ("size_tables", "groups"), "size tables"),
    ("no-schema", 12, 1, 12, ("events", 0, "schema"), "headers"),
    ("no-table", 13, 1, 13, ("events", 0, "table"), "headers"),
    ("schema-term-2", 12, 4, 12, ("events", 0, "schema"), "headers"),
    ("schema-term-minus-2", 12, 3, 12, ("events", 0, "schema"), "headers"),
    ("column-term-2", 16, 4, 16, (*GROUP, "columns", 0, "name"), "column names"),
    ("column-term-minus-1", 16, 1, 16, (*GROUP, "columns", 0, "name"), "column names"),
    ("term-not-utf8", 23, 0xFF, 23, ("dictionary", 0), "term dictionary"),
    ("term-of-length-0", 21, 0, 23, ("dictionary", 0), "term dictionary"),
    ("term-longer", 22, 5, 31, ("dictionary", 1), "string arrays"),
    ("term-shorter", 22, 3, 30, ("dictionary",), "term dictionary"),
    ("one-term", 20, 1, 26, ("dictionary",), "term dictionary"),
    ("no-terms", 20, 0, 20, ("dictionary", "count"), "term dictionary"),
    ("headers-size-12", 32, 0x18, 31, ("size_tables",), "size tables"),
    ("meta-of-1", 31, 1, 31, ("size_tables", "meta"), "size tables"),
    ("body-size-7", 35, 0x0E, 31, ("size_tables",), "size tables"),
    ("group-size-7", 37, 0x0E, 14, ("size_tables", "groups", 0), "size tables"),
    ("group-size-minus-1", 37, 1, 37, ("size_tables", "groups", 0, 0), "size tables"),
    ("no-group-sizes", 36, 0, 36, ("size_tables", "groups", 0, "count"), "size tables"),
    ("tail-6", 38, 6, 38, ("size_tables", "meta"), "size tables"),
]


@pytest.mark.parametrize(
    ("hexed", "offset", "path", "clause"), [c[1:] for c in SHIPPED], ids=[c[0] for c in SHIPPED]
)
def test_input_that_breaks_the_shipped_decoder_is_rejected(
    hexed: str, offset: int, path: Path, clause: str
) -> None:
    _expect_error(unhex(hexed), offset, path, clause)


@pytest.mark.parametrize(
    ("index", "byte", "offset", "path", "clause"),
    [c[1:] for c in ROW_CHANGES],
    ids=[c[0] for c in ROW_CHANGES],
)
def test_row_with_one_byte_changed_is_rejected(
    index: int, byte: int, offset: int, path: Path, clause: str
) -> None:
    _expect_error(ROW[:index] + bytes([byte]) + ROW[index + 1 :], offset, path, clause)


def _expect_error(data: bytes, offset: int, path: Path, clause: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(data)
    error = caught.value
    assert (error.offset, error.path, error.clause) == (offset, path, f"craft: {clause}")


OTHER_BREAKS = [
    (
        "group-type-twice",
        "01 | 01 01 01 00 02 | 01 01 04 06 00 01 01 01 04 06 00 01 | 03 01 01 01 73 74 63"
        "| 02 0a 04 01 18 02 0c 00 | 08",
        ("events", 0, "groups", 1, "type"),
        "column groups",
    ),
    (
        "column-twice-by-two-terms",
        "01 | 01 01 01 00 02 | 01 02 04 02 06 06 00 00 01 01 | 04 01 01 01 01 73 74 63 63"
        "| 02 0a 08 01 14 01 14 | 07",
        ("events", 0, "groups", 0, "columns", 1, "name"),
        "column names",
    ),
    (
        "column-type-256",
        "01 | 01 01 01 00 02 | 01 01 04 8002 00 01 | 03 01 01 01 73 74 63"
        "| 02 0a 04 01 0e 01 0e | 07",
        ("events", 0, "groups", 0, "columns", 0, "type"),
        "column types",
    ),
    (
        "flags-over-64-bits",
        "01 | 01 01 01 00 02 | 01 01 04 06 ffffffffffffffffff02 01 | 03 01 01 01 73 74 63"
        "| 02 0a 04 01 1e 01 1e | 07",
        ("events", 0, "groups", 0, "columns", 0, "flags"),
        "integers",
    ),
    (
        "group-with-a-byte-left",
        "01 | 01 01 01 00 02 | 01 01 04 06 00 01 00 | 03 01 01 01 73 74 63"
        "| 02 0a 04 01 0e 01 0e | 07",
        ("events", 0, "groups", 0),
        "column groups",
    ),
    (
        "headers-with-a-byte-left",
        "01 | 01 03 01 01 01 00 | 02 0c 0b 01 00 | 05",
        ("headers",),
        "headers",
    ),
    (
        "headers-too-short",
        "01 | 01 03 01 01 | 02 08 07 01 00 | 05",
        ("events",),
        "headers",
    ),
    (
        "resolved-with-a-body",
        "01 | 01 03 01 01 01 | 00 | 02 0a 09 01 02 | 05",
        ("events", 0),
        "resolved events",
    ),
    (
        "ddl-with-a-byte-left",
        "01 | 01 02 01 01 01 | 01 01 78 00 | 02 0a 09 01 08 | 05",
        ("events", 0),
        "ddl events",
    ),
    (
        "ddl-type-256",
        "01 | 01 02 01 01 01 | 8002 01 78 | 02 0a 09 01 08 | 05",
        ("events", 0, "type"),
        "ddl events",
    ),
    (
        "ddl-query-too-long",
        "01 | 01 02 01 01 01 | 01 02 78 | 02 0a 09 01 06 | 05",
        ("events", 0, "query"),
        "strings",
    ),
    (
        "ddl-query-not-utf8",
        "01 | 01 02 01 01 01 | 01 01 ff | 02 0a 09 01 06 | 05",
        ("events", 0, "query"),
        "ddl events",
    ),
    (
        "two-resolved",
        "01 | 0100 0303 0100 0100 0100 | 02 14 13 02 0000 | 06",
        ("events", 0, "type"),
        "event types",
    ),
    (
        "row-and-resolved",
        "01 | 0100 0103 0100 0001 0201 | 01 01 04 06 00 01 | 03 01 01 01 73 74 63"
        "| 02 14 05 02 0c 0b 01 0c | 08",
        ("events", 1, "type"),
        "event types",
    ),
    (
        "meta-of-3",
        "01 | 01 03 01 01 01 | 03 0a 09 00 01 00 | 06",
        ("size_tables", "meta"),
        "size tables",
    ),
    (
        "sizes-whose-sum-wraps-at-64-bits",
        "01 | 01 03 01 01 01 | 02 0a 09 03 feffffffffffffffff01 00 f9ffffffffffffffff01 | 19",
        ("size_tables",),
        "size tables",
    ),
    (
        "group-tables-of-a-ddl",
        "01 | 01 02 01 01 01 | 01 01 78 | 02 0a 09 01 06 01 06 | 07",
        ("size_tables", "groups"),
        "size tables",
    ),
]


@pytest.mark.parametrize(
    ("hexed", "path", "clause"),
    [c[1:] for c in OTHER_BREAKS],
    ids=[c[0] for c in OTHER_BREAKS],
)
def test_message_that_breaks_one_rule_is_rejected(hexed: str, path: Path, clause: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(unhex(hexed))
    assert (caught.value.path, caught.value.clause) == (path, f"craft: {clause}")


COLUMN = Column("a", 3, 0, 1)
ROW_EVENT = RowEvent(1, "s", "t", (ColumnGroup(1, (COLUMN,)),))


def _row(**changes: object) -> Event:
    return replace(ROW_EVENT, **changes)  # type: ignore[arg-type]  # wrong values are the point


def _columns(*columns: Column) -> Event:
    return replace(ROW_EVENT, groups=(ColumnGroup(1, columns),))


GROUP_COLUMNS: Path = ("events", 0, "groups", 0, "columns")
NOT_ENCODED: list[tuple[str, tuple[Event, ...], Path, str]] = [
    ("no-events", (), ("events",), "message"),
    ("ddl-in-company", (ROW_EVENT, DDLEvent(1, 3, "")), ("events", 1), "event types"),
    ("partition-minus-1", (_row(partition=-1),), ("events", 0, "partition"), "partition"),
    ("partition-65-bits", (_row(partition=2**63),), ("events", 0, "partition"), "integers"),
    ("commit-ts-negative", (_row(commit_ts=-1),), ("events", 0, "commit_ts"), "integers"),
    ("schema-empty", (_row(schema=""),), ("events", 0, "schema"), "term dictionary"),
    ("schema-none", (_row(schema=None),), ("events", 0, "schema"), "term dictionary"),
    ("table-empty", (_row(table=""),), ("events", 0, "table"), "term dictionary"),
    ("no-groups", (_row(groups=()),), ("events", 0, "groups"), "row events"),
    (
        "two-new-groups",
        (_row(groups=ROW_EVENT.groups * 2),),
        ("events", 0, "groups"),
        "row events",
    ),
    (
        "group-type-3",
        (_row(groups=(ColumnGroup(3, (COLUMN,)),)),),
        ("events", 0, "groups"),
        "row events",
    ),
    ("no-columns", (_columns(),), ("events", 0, "groups", 0), "column groups"),
    ("column-twice", (_columns(COLUMN, COLUMN),), (*GROUP_COLUMNS, 1, "name"), "column names"),
    (
        "column-unnamed",
        (_columns(COLUMN._replace(name="")),),
        (*GROUP_COLUMNS, 0, "name"),
        "column names",
    ),
    (
        "type-256",
        (_columns(COLUMN._replace(type=256)),),
        (*GROUP_COLUMNS, 0, "type"),
        "column types",
    ),
    (
        "flags-negative",
        (_columns(COLUMN._replace(flags=-1)),),
        (*GROUP_COLUMNS, 0, "flags"),
        "integers",
    ),
    (
        "value-of-another-type",
        (_columns(COLUMN._replace(value="1")),),
        (*GROUP_COLUMNS, 0, "value"),
        "integer values",
    ),
    (
        "value-skipped",
        (_columns(COLUMN._replace(value=SKIPPED)),),
        (*GROUP_COLUMNS, 0, "value"),
        "nullable bytes arrays",
    ),
    ("ddl-type-256", (DDLEvent(1, 256, ""),), ("events", 0, "type"), "ddl events"),
    ("ddl-query-surrogate", (DDLEvent(1, 1, "\ud800"),), ("events", 0, "query"), "ddl events"),
    ("name-too-long", (_row(table="t" * 1025),), ("dictionary", 1), "limits"),
]


@pytest.mark.parametrize(
    ("events", "path", "clause"), [c[1:] for c in NOT_ENCODED], ids=[c[0] for c in NOT_ENCODED]
)
def test_message_that_the_format_cannot_carry_is_not_encoded(
    events: tuple[Event, ...], path: Path, clause: str
) -> None:
    with pytest.raises(EncodeError) as caught:
        encode(Message(events))
    assert (caught.value.path, caught.value.clause) == (path, f"craft: {clause}")
