"""Craft messages: the worked examples both ways, what a reader allows, and what it may skip."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.formats.craft import (
    SKIPPED,
    Column,
    ColumnGroup,
    DDLEvent,
    Message,
    ResolvedEvent,
    RowEvent,
    decode,
    encode,
)


def unhex(text: str) -> bytes:
    """Return the bytes of hexadecimal text in which ``|`` separates the parts of a message."""
    return bytes.fromhex(text.replace("|", " "))


RESOLVED = unhex("01 | 01 03 01 01 01 | 02 0a 09 01 00 | 05")
QUERY = "CREATE TABLE test.t1(id int primary key, val varchar(16))"
DDL = unhex(
    f"01 | 8180e0bb9bb6def105 02 01 00 02 | 03 39 {QUERY.encode().hex()} | 02 04 02 74657374 7431"
    "| 02 1a 07 01 76 | 05"
)
ROW = unhex(
    "01 | a091d8e18ebba7c516 01 01 00 00 | 01 01 02 06 00 01 | 02 04 04 74657374 6e756c6c"
    "| 02 1a 03 01 0c 01 0c | 07"
)
# Two rows of one table: an update of partition 7, then a delete with an older commit ts.
BATCH = unhex(
    "01 | 05 ffffffffffffffffff01 0101 0e0f 0000 0200"
    "| 01 02 04 02 03 0f 0b 40 02 02 02 78"  # new: id 1, v x
    "  02 02 04 02 03 0f 0b 40 02 01 02"  # old: id 1, v NULL
    "| 02 01 04 03 0b 02 04"  # old: id 2
    "| 04 01 01 02 01 73 74 6964 76"
    "| 02 26 11 02 2e 1f 02 18 01 01 0e | 0b"
)
MESSAGES: list[tuple[str, bytes, Message]] = [
    ("resolved", RESOLVED, Message((ResolvedEvent(1),))),
    ("ddl", DDL, Message((DDLEvent(424316594097225729, 3, QUERY, "test", "t1"),))),
    (
        "row",
        ROW,
        Message(
            (
                RowEvent(
                    1624284170621946016,
                    "test",
                    "test",
                    (ColumnGroup(1, (Column("null", 6, 0, None),)),),
                ),
            )
        ),
    ),
    (
        "batch",
        BATCH,
        Message(
            (
                RowEvent(
                    5,
                    "s",
                    "t",
                    (
                        ColumnGroup(1, (Column("id", 3, 11, 1), Column("v", 15, 64, b"x"))),
                        ColumnGroup(2, (Column("id", 3, 11, 1), Column("v", 15, 64, None))),
                    ),
                    7,
                ),
                RowEvent(4, "s", "t", (ColumnGroup(2, (Column("id", 3, 11, 2),)),)),
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


@pytest.mark.parametrize(("data", "cut"), CUTS)
def test_message_every_truncation_is_rejected(data: bytes, cut: int) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(data[:cut])
    assert 0 <= caught.value.offset <= cut
    assert caught.value.clause.startswith("craft: ")


@pytest.mark.parametrize("data", [m[1] for m in MESSAGES], ids=IDS)
def test_message_with_a_byte_after_it_is_rejected(data: bytes) -> None:
    for byte in range(256):
        with pytest.raises(DecodeError):
            decode(data + bytes([byte]))


@pytest.mark.parametrize("data", [m[1] for m in MESSAGES], ids=IDS)
def test_message_with_any_byte_changed_gives_a_message_or_a_decode_error(data: bytes) -> None:
    for index in range(len(data)):
        for byte in {*range(9), 0x7F, 0x80, 0x81, 0xFF, data[index] ^ 1, data[index] ^ 2}:
            try:
                decode(data[:index] + bytes([byte]) + data[index + 1 :])
            except DecodeError as error:
                assert 0 <= error.offset <= len(data)  # noqa: PT017 - not every change is an error


def test_row_without_terms_in_order_of_use_is_read() -> None:
    """A reader takes any order of terms, unused ones and repeated ones."""
    reordered = unhex(
        "01 | a091d8e18ebba7c516 01 01 08 08 | 01 01 02 06 00 01"
        "| 05 01 04 01 01 04 78 6e756c6c 79 78 74657374 | 02 1a 08 01 0c 01 0c | 07"
    )
    row = decode(reordered).events[0]
    assert isinstance(row, RowEvent)
    assert (row.schema, row.table, row.groups[0].columns[0].name) == ("test", "test", "null")
    assert encode(decode(reordered)) == ROW


def test_old_group_before_new_is_read_and_kept() -> None:
    message = MESSAGES[3][2]
    first = message.events[0]
    assert isinstance(first, RowEvent)
    turned = Message((replace(first, groups=first.groups[::-1]),))
    assert decode(encode(turned)) == turned


@pytest.mark.parametrize(
    "data",
    [
        unhex("8100 | 8100 8300 8100 01 01 | 8200 10 0f 8100 00 | 07"),
        unhex("01 | 01 03 01 01 01 | 02 0a 09 01 00 | 00 85"),
    ],
    ids=["version-headers-tables", "tail"],
)
def test_integers_longer_than_needed_are_read_and_never_written(data: bytes) -> None:
    assert encode(decode(data)) == RESOLVED


def test_flags_keep_undefined_bits() -> None:
    column = Column("a", 3, 2**64 - 1, 1)
    message = Message((RowEvent(1, "s", "t", (ColumnGroup(1, (column,)),)),))
    assert decode(encode(message)) == message


def test_ddl_without_names_has_no_dictionary() -> None:
    message = Message((DDLEvent(1, 1, "x"),))
    data = unhex("01 | 01 02 01 01 01 | 01 01 78 | 02 0a 09 01 06 | 05")
    assert encode(message) == data
    assert decode(data) == message


def test_resolved_with_names_and_partition_is_kept() -> None:
    message = Message((ResolvedEvent(1, "s", "t", 5),))
    assert decode(encode(message)) == message


def test_selection_of_tables_leaves_out_rows_undecoded() -> None:
    other = Selection(tables=frozenset({("s", "other")}))
    assert decode(BATCH, context=Context(selection=other)) == Message(())
    assert decode(
        BATCH, context=Context(selection=Selection(tables=frozenset({("s", "t")})))
    ) == decode(BATCH)
    broken = BATCH.replace(unhex("02 01 04 03 0b 02 04"), unhex("09 01 04 03 0b 02 04"))
    assert decode(broken, context=Context(selection=other)) == Message(())


def test_selection_of_tables_leaves_out_their_ddl_but_no_resolved_event() -> None:
    other = Selection(tables=frozenset({("s", "other")}))
    assert decode(DDL, context=Context(selection=other)) == Message(())
    assert decode(RESOLVED, context=Context(selection=other)) == decode(RESOLVED)
    without_table = Message((DDLEvent(1, 1, "CREATE DATABASE a", "a"),))
    assert decode(encode(without_table), context=Context(selection=other)) == without_table


def test_selection_of_columns_skips_the_values_of_others() -> None:
    first = decode(BATCH, context=Context(selection=Selection(columns=frozenset({"v"})))).events[0]
    assert isinstance(first, RowEvent)
    assert first.groups[0].columns == (Column("id", 3, 11, SKIPPED), Column("v", 15, 64, b"x"))
