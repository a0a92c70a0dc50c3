"""Messages of the Craft proposal: worked examples both ways, and every rule that can be broken.

No producer writes this format; the bytes are this project's own, made by hand from the readings
that the format's page lists.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.formats.craft.proposal import (
    SKIPPED,
    Column,
    ColumnGroup,
    DDLEvent,
    Event,
    Message,
    ResolvedEvent,
    RowEvent,
    UnknownEvent,
    UnknownGroup,
    decode,
    encode,
    warnings_of,
)
from cdcwire.model.events import Path


def unhex(text: str) -> bytes:
    """Return the bytes of hexadecimal text in which ``|`` separates the parts of a message."""
    return bytes.fromhex(text.replace("|", " "))


RESOLVED = unhex("0001 0001 | 01 03 00 01 00 00 | | 01 06 01 00 00 | 05")
DELETE = unhex(
    "0001 0001 | 01 01 00 01 01 73 01 74 | 03 02 02 01 6964 66 03 04 0b 41 02 08 02 0000c03f"
    "| 01 08 01 12 01 12 | 06"
)
# An update of row -5 in partition 7, CREATE DATABASE, a resolved event with an older timestamp.
MIXED = unhex(
    "0001 0003 | 05 00 ffffffffffffffffff01 | 01 02 03 | fbffffffffffffffff01 00 00"
    "| 0e 01 01 | 01 01 00 73 61 | 01 00 00 74"
    "| 01 01 01 61 03 00 02 04  02 01 01 61 03 00 01"
    "| 01 01 78 |"
    "| 01 27 03 0f 03 00 02 08 07 00 00 | 0b"
)
NEW = ColumnGroup(1, (Column("a", 3, 0, 2),))
OLD = ColumnGroup(2, (Column("a", 3, 0, None),))
MESSAGES: list[tuple[str, bytes, Message]] = [
    ("resolved", RESOLVED, Message((ResolvedEvent(1),))),
    (
        "delete",
        DELETE,
        Message(
            (
                RowEvent(
                    1,
                    "s",
                    "t",
                    (ColumnGroup(3, (Column("id", 3, 11, 1), Column("f", 4, 65, 1.5))),),
                ),
            )
        ),
    ),
    (
        "mixed",
        MIXED,
        Message(
            (
                RowEvent(5, "s", "t", (NEW, OLD), -5, 7),
                DDLEvent(5, 1, "x", "a"),
                ResolvedEvent(4),
            )
        ),
    ),
]
IDS = [name for name, _, _ in MESSAGES]
CUTS = [(data, cut) for _, data, _ in MESSAGES for cut in range(len(data))]


@pytest.mark.parametrize(("data", "message"), [m[1:] for m in MESSAGES], ids=IDS)
def test_message_has_the_golden_bytes_both_ways(data: bytes, message: Message) -> None:
    assert decode(data) == message
    assert encode(message) == data
    assert warnings_of(message) == ()


@pytest.mark.parametrize(("data", "cut"), CUTS)
def test_message_every_truncation_is_rejected(data: bytes, cut: int) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(data[:cut])
    assert 0 <= caught.value.offset <= cut
    assert caught.value.clause.startswith("craft-proposal: ")


@pytest.mark.parametrize("data", [m[1] for m in MESSAGES], ids=IDS)
def test_message_with_a_byte_after_it_is_rejected_unless_it_is_a_tail(data: bytes) -> None:
    # One more than the old tail makes this a part of the size tables, which may hold unknown bytes.
    new_tail = data[-1] + 1
    assert decode(data + bytes([new_tail])).tables_surplus == data[-1:]
    for byte in set(range(256)) - {new_tail}:
        with pytest.raises(DecodeError):
            decode(data + bytes([byte]))


@pytest.mark.parametrize("data", [m[1] for m in MESSAGES], ids=IDS)
def test_message_with_any_byte_changed_gives_a_message_or_a_decode_error(data: bytes) -> None:
    for index in range(len(data)):
        for byte in {*range(9), 0x7F, 0x80, 0x81, 0xFF, data[index] ^ 1, data[index] ^ 2}:
            changed = data[:index] + bytes([byte]) + data[index + 1 :]
            try:
                message = decode(changed)
            except DecodeError as error:
                assert 0 <= error.offset <= len(data)  # noqa: PT017 - not every change is an error
                assert error.clause.startswith("craft-proposal: ")  # noqa: PT017
            else:
                assert encode(decode(encode(message))) == encode(message)


def test_old_group_before_new_is_read_and_kept() -> None:
    message = Message((RowEvent(1, "s", "t", (OLD, NEW)),))
    assert decode(encode(message)) == message


def test_message_of_65535_pairs_is_the_largest() -> None:
    message = Message((ResolvedEvent(1),) * 65535)
    assert decode(encode(message)) == message
    with pytest.raises(EncodeError) as caught:
        encode(Message((ResolvedEvent(1),) * 65536))
    assert caught.value.clause == "craft-proposal: number of pairs"


GROUP: Path = ("events", 0, "groups", 0)
COLUMNS: Path = (*GROUP, "columns")
# The worked example of a delete with one byte changed: offset, byte, and what is found.
CHANGES: list[tuple[str, int, int, int, Path, str]] = [
    ("version-256", 0, 1, 0, ("version",), "version"),
    ("version-0", 1, 0, 0, ("version",), "version"),
    ("version-2", 1, 2, 0, ("version",), "version"),
    ("no-pairs", 3, 0, 2, ("number_of_pairs",), "number of pairs"),
    ("two-pairs", 3, 2, 32, ("size_tables", "values"), "size tables"),
    ("schema-empty", 8, 0, 9, ("events", 0, "schema"), "names"),
    ("schema-not-utf8", 9, 0xFF, 9, ("events", 0, "schema"), "names"),
    ("table-longer", 10, 2, 12, ("events", 0, "table"), "string arrays"),
    ("old-group-only", 12, 2, 30, (*GROUP[:-1],), "row events"),
    ("no-columns", 13, 0, 13, (*GROUP, "count"), "column groups"),
    ("column-unnamed", 15, 0, 18, (*COLUMNS, 1, "name"), "columns"),
    ("float-as-double", 20, 5, 26, (*COLUMNS, 1, "value"), "float values"),
    ("float-as-int", 20, 3, 27, (*COLUMNS, 1, "value"), "values"),
    ("float-as-null-type", 20, 6, 26, (*COLUMNS, 1, "value"), "values"),
    ("length-minus-2", 24, 3, 24, (*COLUMNS, 1, "length"), "nullable bytes arrays"),
    ("length-5", 24, 10, 30, (*COLUMNS, 1, "value"), "nullable bytes arrays"),
    ("keys-size-7", 31, 7, 30, ("size_tables",), "size tables"),
    ("no-keys-size", 30, 0, 30, ("size_tables", "keys"), "size tables"),
    ("two-keys-sizes", 30, 2, 30, ("size_tables", "keys"), "size tables"),
    ("no-value-size", 32, 0, 32, ("size_tables", "values"), "size tables"),
    ("group-size-19", 35, 19, 12, ("size_tables", "groups", 0), "size tables"),
    ("no-group", 34, 0, 12, ("events", 0, "groups"), "row events"),
    ("tables-size-127", 36, 127, 36, ("tail",), "tail"),
    ("resolved-with-group-sizes", 5, 3, 12, ("size_tables", "groups", 0), "size tables"),
]


@pytest.mark.parametrize(
    ("index", "byte", "offset", "path", "clause"),
    [c[1:] for c in CHANGES],
    ids=[c[0] for c in CHANGES],
)
def test_delete_with_one_byte_changed_is_rejected(
    index: int, byte: int, offset: int, path: Path, clause: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(DELETE[:index] + bytes([byte]) + DELETE[index + 1 :])
    error = caught.value
    assert (error.offset, error.path, error.clause) == (offset, path, f"craft-proposal: {clause}")


def _row(*groups: ColumnGroup | UnknownGroup) -> Message:
    return Message((RowEvent(1, "s", "t", groups),))


@pytest.mark.parametrize("kinds", [(2,), (1, 3), (2, 3), (1, 2, 3), (3, 1)])
def test_row_with_groups_of_no_operation_is_rejected(kinds: tuple[int, ...]) -> None:
    groups = "".join(f"{kind:02x} 01 01 61 06 00 01 " for kind in kinds)
    count = len(kinds)
    data = unhex(
        f"0001 0001 | 01 01 00 01 01 73 01 74 | {groups}"
        f"| 01 08 01 {7 * count:02x} {count:02x} {'07' * count} | {5 + count:02x}"
    )
    with pytest.raises(DecodeError) as caught:
        decode(data)
    assert caught.value.clause == "craft-proposal: row events"


def test_row_with_a_group_type_twice_is_rejected() -> None:
    data = unhex(
        "0001 0001 | 01 01 00 01 01 73 01 74 | 01 01 01 61 06 00 01 01 01 01 61 06 00 01"
        "| 01 08 01 0e 02 07 07 | 07"
    )
    with pytest.raises(DecodeError) as caught:
        decode(data)
    assert (caught.value.offset, caught.value.path) == (19, ("events", 0, "groups", 1, "type"))


def test_column_twice_in_a_group_is_rejected() -> None:
    data = unhex(
        "0001 0001 | 01 01 00 01 01 73 01 74 | 01 02 01 01 61 61 06 06 00 00 01 01"
        "| 01 08 01 0c 01 0c | 06"
    )
    with pytest.raises(DecodeError) as caught:
        decode(data)
    assert (caught.value.offset, caught.value.path) == (17, (*COLUMNS, 1, "name"))


# Everything that a reader of this version passes over.
UNKNOWN: list[tuple[str, bytes, Message, int]] = [
    (
        "keys-surplus",
        unhex("0001 0001 | 01 03 00 01 00 00 ffff | | 01 08 01 00 00 | 05"),
        Message((ResolvedEvent(1),), keys_surplus=b"\xff\xff"),
        1,
    ),
    (
        "resolved-surplus",
        unhex("0001 0001 | 01 03 00 01 00 00 | 00 | 01 06 01 01 00 | 05"),
        Message((ResolvedEvent(1, surplus=b"\0"),)),
        1,
    ),
    (
        "ddl-surplus",
        unhex("0001 0001 | 01 02 00 01 00 00 | 01 01 78 09 | 01 06 01 04 00 | 05"),
        Message((DDLEvent(1, 1, "x", surplus=b"\x09"),)),
        1,
    ),
    (
        "row-and-group-surplus",
        unhex(
            "0001 0001 | 01 01 00 01 01 73 01 74 | 01 01 01 61 03 00 02 04 aa bb"
            "| 01 08 01 0a 01 09 | 06"
        ),
        Message((RowEvent(1, "s", "t", (replace(NEW, surplus=b"\xaa"),), surplus=b"\xbb"),)),
        2,
    ),
    (
        "size-tables-surplus",
        unhex("0001 0001 | 01 03 00 01 00 00 | | 01 06 01 00 00 ff80 | 07"),
        Message((ResolvedEvent(1),), tables_surplus=b"\xff\x80"),
        1,
    ),
    (
        "event-type",
        unhex("0001 0001 | 01 09 00 01 00 00 | 7879 | 01 06 01 02 02 6307 | 07"),
        Message((UnknownEvent(1, 9, b"xy", (99, 7)),)),
        1,
    ),
    (
        "group-type",
        unhex(
            "0001 0001 | 01 01 00 01 01 73 01 74 | 09 6f 01 01 01 61 03 00 02 04 09"
            "| 01 08 01 0b 03 02 08 01 | 08"
        ),
        _row(UnknownGroup(9, b"o"), NEW, UnknownGroup(9, b"")),
        2,
    ),
    (
        "group-types-only",
        unhex("0001 0001 | 01 01 00 01 01 73 01 74 | 04 | 01 08 01 01 01 01 | 06"),
        _row(UnknownGroup(4, b"")),
        2,
    ),
]


@pytest.mark.parametrize(
    ("data", "message", "count"), [u[1:] for u in UNKNOWN], ids=[u[0] for u in UNKNOWN]
)
def test_unknown_bits_are_kept_and_reported(data: bytes, message: Message, count: int) -> None:
    assert decode(data) == message
    assert encode(message) == data
    assert len(warnings_of(message)) == count


def test_group_of_no_bytes_is_truncated() -> None:
    data = unhex("0001 0001 | 01 01 00 01 01 73 01 74 | | 01 08 01 00 01 00 | 06")
    with pytest.raises(DecodeError) as caught:
        decode(data)
    assert (caught.value.offset, caught.value.path) == (12, (*GROUP, "type"))


COLUMN = Column("a", 3, 0, 1)
NOT_ENCODED: list[tuple[str, tuple[Event, ...], Path, str]] = [
    ("no-events", (), ("events",), "number of pairs"),
    ("schema-empty", (RowEvent(1, "", "t", (NEW,)),), ("events", 0, "schema"), "names"),
    ("ddl-schema-empty", (DDLEvent(1, 1, "", ""),), ("events", 0, "schema"), "names"),
    (
        "partition-minus-1",
        (ResolvedEvent(1, partition=-1),),
        ("events", 0, "partition"),
        "partition",
    ),
    ("row-id-65-bits", (ResolvedEvent(1, row_id=2**63),), ("events", 0, "row_id"), "row id"),
    ("commit-ts-65-bits", (ResolvedEvent(2**64),), ("events", 0, "commit_ts"), "integers"),
    ("no-groups", (RowEvent(1, "s", "t", ()),), ("events", 0, "groups"), "row events"),
    ("old-only", (RowEvent(1, "s", "t", (OLD,)),), ("events", 0, "groups"), "row events"),
    (
        "known-group-as-unknown",
        (RowEvent(1, "s", "t", (NEW, UnknownGroup(2, b""))),),
        ("events", 0, "groups", 1, "type"),
        "column groups",
    ),
    (
        "known-event-as-unknown",
        (UnknownEvent(1, 3, b"", ()),),
        ("events", 0, "type"),
        "event types",
    ),
    (
        "float-of-64-bits",
        (RowEvent(1, "s", "t", (ColumnGroup(1, (Column("f", 4, 0, 0.1),)),)),),
        (*COLUMNS, 0, "value"),
        "float values",
    ),
    (
        "column-name-too-long",
        (RowEvent(1, "s", "t", (ColumnGroup(1, (COLUMN._replace(name="n" * 1025),)),)),),
        (*COLUMNS, 0, "name"),
        "limits",
    ),
    (
        "ddl-query-surrogate",
        (DDLEvent(1, 1, "\ud800"),),
        ("events", 0, "query"),
        "ddl events",
    ),
]


@pytest.mark.parametrize(
    ("events", "path", "clause"), [c[1:] for c in NOT_ENCODED], ids=[c[0] for c in NOT_ENCODED]
)
def test_message_that_the_format_cannot_carry_is_not_encoded(
    events: tuple[Event, ...], path: Path, clause: str
) -> None:
    with pytest.raises(EncodeError) as caught:
        encode(Message(events))
    assert (caught.value.path, caught.value.clause) == (path, f"craft-proposal: {clause}")


def test_selection_leaves_out_rows_and_ddl_of_other_tables() -> None:
    other = Selection(tables=frozenset({("s", "other")}))
    assert decode(MIXED, context=Context(selection=other)).events == MESSAGES[2][2].events[1:]
    table_ddl = Message((DDLEvent(1, 3, "x", "s", "t"),))
    assert decode(encode(table_ddl), context=Context(selection=other)) == Message(())


def test_selection_of_columns_skips_the_values_of_others() -> None:
    row = decode(DELETE, context=Context(selection=Selection(columns=frozenset({"f"})))).events[0]
    assert isinstance(row, RowEvent)
    assert row.known_groups[0].columns == (Column("id", 3, 11, SKIPPED), Column("f", 4, 65, 1.5))


def test_shipped_message_is_never_taken_for_one_of_the_proposal() -> None:
    shipped = bytes.fromhex("010103010101020a09010005")
    with pytest.raises(DecodeError) as caught:
        decode(shipped)
    assert caught.value.clause == "craft-proposal: version"
