"""Messages of differing rows as cases: cut down to the row, or masked and encoded again."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import BoolType, Column, IntType, TextType
from cdcwire.registry import get_format
from cdcwire_conformance.compare.cases import (
    CaseMaker,
    NotSavedError,
    RowMessage,
    SideCase,
    pieces_of,
    row_of_record,
    with_readings,
)
from cdcwire_conformance.compare.result import ColumnDifference, RowDifference, Shown
from cdcwire_conformance.compare.value_masks import RowMask

CRAFT = get_format("craft")
CSV = get_format("csv")
MAKER = CaseMaker("0.5.0")
MASK = RowMask(b"a key of sixteen bytes or more", "row")
TABLE = Table(
    "orders",
    "shop",
    columns=(
        Column("id", TextType(), "varchar", roles=frozenset({"primary", "handle"})),
        Column("note", TextType(), "varchar"),
    ),
    key=("id",),
)


def change(key: str, note: str) -> RowChange:
    image = Image(TABLE.columns or (), (key, note))
    return RowChange(TABLE, "insert", None, image, Position(commit_ts=1 << 60))


def craft_row(row: int) -> RowMessage:
    (message,) = CRAFT.from_events([change(str(number), f"note {number}") for number in range(3)])
    return RowMessage(CRAFT, Context(), message, ("shop", "orders"), row)


def note_of(found: SideCase) -> str:
    image = found.change.after
    assert image is not None
    return str(image["note"])


def test_message_of_several_rows_stays_whole() -> None:
    found = MAKER.side_case(craft_row(1), "left")
    assert (note_of(found), found.rows) == ("note 1", 3)
    assert found.case.messages == (craft_row(1).message,)
    assert found.case.origin.startswith("producer: ")
    assert len(found.case.events or ()) == 3


def test_rows_of_one_message_have_their_own_cases() -> None:
    assert len({MAKER.side_case(craft_row(row), "left").case.id for row in range(3)}) == 3


def test_masked_case_has_the_row_alone_with_other_values() -> None:
    found = replace(MAKER, mask=MASK).side_case(craft_row(1), "left")
    assert found.rows == 1
    assert len(found.case.events or ()) == 1
    (message,) = found.case.messages
    assert isinstance(message, KafkaMessage)
    assert b"note " not in (message.value or b"")
    assert note_of(found) != "note 1"
    assert len(note_of(found)) == len("note 1")
    assert found.case.origin.startswith("derived: ")


@pytest.mark.parametrize("row", [3, 100])
def test_row_that_the_message_does_not_have_is_not_saved(row: int) -> None:
    with pytest.raises(NotSavedError, match="other rows when it is read again"):
        MAKER.side_case(craft_row(row), "left")


def test_message_that_needs_its_headers_is_not_saved() -> None:
    broken = replace(craft_row(0), message=KafkaMessage(None, b"\xff", (("a", b"b"),)))
    with pytest.raises(NotSavedError, match="without its headers"):
        MAKER.side_case(broken, "left")


def test_case_has_the_types_of_a_message_that_decides_within_its_definition() -> None:
    """Another feed may have made a definition of TINYINT(1) a boolean; this one has numbers."""
    columns = (Column("id", IntType(32)), Column("a", BoolType()))
    table = Table("orders", "shop", columns=columns, key=("id",))
    value = b'{"database":"shop","table":"orders","type":"insert","ts":1,"data":{"id":1,"a":0}}'
    maxwell, message = get_format("maxwell-json"), KafkaMessage(None, value)
    row = RowMessage(maxwell, Context(tables=(table,)), message, ("shop", "orders"), 0)
    case = MAKER.side_case(row, "left").case
    assert case.events is not None
    assert case.events[0]["after"]["a"]["value"] == "0"
    assert [column["type"] for column in case.tables[0]["columns"]] == ["int32", "int8"]


def stored(content: bytes) -> RowMessage:
    path = "shop/orders/1/2024-01-01/CDC00000000000000000001.csv"
    file = StoredFile(path, content)
    context = Context(tables=(replace(TABLE, version=1),))
    form = CSV.stored
    assert form is not None
    pieces = pieces_of(file, form.settings(context), 1)
    return RowMessage(CSV, context, file, ("shop", "orders"), 1, pieces)


def test_file_is_cut_down_to_the_record_of_the_row() -> None:
    lines = [f'"I","orders","shop","{key}","a\nb {key}"\r\n'.encode() for key in "123"]
    found = MAKER.side_case(stored(b"".join(lines)), "right")
    assert found.rows == 1
    assert note_of(found) == "a\nb 2"
    assert [message.value for message in found.case.messages] == [lines[1]]


@pytest.mark.parametrize("number", [None, 2])
def test_pieces_of_a_file_are_records_after_the_header(number: int | None) -> None:
    form = CSV.stored
    assert form is not None
    settings = replace(form.settings(Context()), has_header=True)
    file = StoredFile("x.csv", b"h\r\na\r\nb\r\nc\r\n")
    found = [piece.value for piece in islice(pieces_of(file, settings, number), 2)]
    first = b"a\r\n" if number is None else b"c\r\n"
    second = b"a\r\nb\r\n" if number is None else b"c\r\n"
    assert found == [b"h\r\n" + first, b"h\r\n" + second]
    assert list(pieces_of(file, replace(settings, terminator=b";"), number)) == []


def test_joined_records_count_twice() -> None:
    both = replace(change("1", "b"), op="update", before=change("1", "a").after)
    events = [both, change("2", "c"), both]
    assert [row_of_record(CSV, events, number) for number in (0, 2, 3)] == [0, 1, 2]
    assert [row_of_record(CRAFT, events, number) for number in (0, 1, 2)] == [0, 1, 2]


def test_note_has_both_readings_and_the_other_case() -> None:
    sides = [MAKER.side_case(craft_row(row), "left") for row in (0, 1)]
    column = ColumnDifference("after", "remark", "text", Shown("note 0"), Shown("note 1"))
    whole = ColumnDifference("before", None, "image", Shown("sent"), Shown("sent"))
    difference = RowDifference("changed", "insert", (), (), 1, 1, (column, whole))
    names = {"left": {"remark": "note"}, "right": {"remark": "note"}}
    ours, theirs = with_readings(difference, {"left": sides[0], "right": sides[1]}, names)  # type: ignore[arg-type]  # names of sides
    left, right = (f'{{"type": "text", "value": "note {row}"}}' for row in (0, 1))
    start = f"changed: insert. after.remark: left {left}, right {right}. See "
    assert (ours.note, theirs.note) == (f"{start}{theirs.id}.", f"{start}{ours.id}.")
    (alone,) = with_readings(difference, {"left": sides[0]}, names)  # type: ignore[arg-type]  # names of sides
    assert (alone.note or "").endswith("The other feed does not have the row.")
