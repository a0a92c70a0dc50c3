"""The fast decoder gives what the plain one gives, and refuses the same in the same words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cdcwire.core.compiled import IRREGULARITIES
from cdcwire.core.context import EVERYTHING, Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.reader import write_uvarint, write_varint
from cdcwire.core.rows import Row
from cdcwire.formats.craft import (
    Column,
    ColumnGroup,
    DDLEvent,
    Message,
    ResolvedEvent,
    RowEvent,
    decode,
    encode,
    fast,
)
from cdcwire.formats.craft.events import events_of, messages_of
from cdcwire.formats.craft.fast import RowDecoder
from cdcwire.formats.craft.row_plan import read_uvarint, read_varint, split_varints
from cdcwire.formats.craft.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.craft.wire import VERSION
from cdcwire.model.events import Event, Progress, SchemaChange
from cdcwire.model.text import event_to_json
from cdcwire_generators.formats.craft.messages import craft_messages, craft_renderings
from cdcwire_generators.strategies import damaged_bytes
from cdcwire_generators.workloads import WORKLOAD_NAMES, workload, workload_tables

Outcome: TypeAlias = "list[object] | tuple[object, ...]"

INT, FLOAT, DOUBLE, NULL, VARCHAR, DECIMAL, VECTOR = 3, 4, 5, 6, 15, 246, 225
EVERY_FORM = (
    Column("tiny", 1, 11, -3),
    Column("big", 8, 193, 2**64 - 1),
    Column("year", 13, 193, 2024),
    Column("bit", 16, 193, 5),
    Column("float", FLOAT, 65, 1.5),
    Column("double", DOUBLE, 65, -0.25),
    Column("decimal", DECIMAL, 65, "-0.010"),
    Column("text", VARCHAR, 64, "é".encode()),
    Column("bytes", VARCHAR, 65, b"\xff\x00"),
    Column("blob", 252, 65, b"x" * 70),
    Column("vector", VECTOR, 65, "[1,-2.5]"),
    Column("nothing", NULL, 0, None),
)
SELECTIONS = {
    "everything": EVERYTHING,
    "columns": Selection(columns=frozenset({"id", "c1", "c20", "a", "tiny", "bytes", "blob"})),
    "no column": Selection(columns=frozenset()),
    "table": Selection(tables=frozenset({("test", "test_flink"), ("s", "t")})),
}
each_selection = pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS)
many = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def row(*groups: tuple[Column, ...], kinds: tuple[int, ...] = (1,), ts: int = 7) -> RowEvent:
    pairs = zip(kinds, groups, strict=True)
    return RowEvent(ts, "s", "t", tuple(ColumnGroup(kind, columns) for kind, columns in pairs))


def nulls(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    return tuple(Column(column.name, column.type, column.flags, None) for column in columns)


def decoder(selection: Selection = EVERYTHING, settings: Settings = DEFAULT_SETTINGS) -> RowDecoder:
    """Return a decoder that has earned all row functions that it may need."""
    made = RowDecoder(Context(selection=selection), settings)
    made._memory.credit.earn(1 << 30)
    return made


def outcome(decoded: Callable[[], list[Event]]) -> Outcome:
    """Return events in their text form, or all that an error says."""
    try:
        return [event_to_json(event) for event in decoded()]
    except DecodeError as error:
        return (type(error), error.problem, error.offset, error.path, error.clause)


def assert_same(value: bytes, fast_decoder: RowDecoder) -> None:
    plain = outcome(
        lambda: events_of(
            decode(value, context=Context(selection=fast_decoder.selection)), fast_decoder.settings
        )
    )
    assert outcome(lambda: fast_decoder.decode_events(KafkaMessage(None, value))) == plain


@pytest.fixture
def no_plain_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail when the fast way is left."""

    def refuse(value: bytes, selection: Selection) -> Message:
        raise AssertionError("the plain decoder was asked")

    monkeypatch.setattr(fast, "read_message", refuse)


def feed_messages(name: str, rows_per_message: int) -> list[bytes]:
    made = Settings(max_batch_size=rows_per_message)
    return [
        encode(message)
        for message in messages_of(workload(name, 40, 1), made, workload_tables(name))
    ]


FEEDS = {(name, batch): feed_messages(name, batch) for name in WORKLOAD_NAMES for batch in (1, 16)}


@pytest.mark.parametrize(("name", "batch"), FEEDS)
def test_workload_is_read_as_the_plain_decoder_reads_it(name: str, batch: int) -> None:
    each = decoder()
    for value in FEEDS[name, batch]:
        assert_same(value, each)


@pytest.mark.parametrize(("name", "batch"), FEEDS)
@pytest.mark.usefixtures("no_plain_decoder")
def test_workload_never_needs_the_plain_decoder(name: str, batch: int) -> None:
    each = decoder()
    for value in FEEDS[name, batch]:
        assert each.decode(KafkaMessage(None, value))


@each_selection
@many
@given(message=craft_messages())
def test_any_message_is_read_as_the_plain_decoder_reads_it(
    message: Message, selection: Selection
) -> None:
    each = decoder(selection)
    value = encode(message)
    assert_same(value, each)
    assert_same(value, each)  # once more, with what was learned


@many
@given(data=st.data())
def test_any_rendering_is_read_as_the_plain_decoder_reads_it(data: st.DataObject) -> None:
    assert_same(data.draw(craft_renderings(data.draw(craft_messages()))), decoder())


@each_selection
@many
@given(data=st.data())
def test_damage_is_refused_as_the_plain_decoder_refuses_it(
    data: st.DataObject, selection: Selection
) -> None:
    """The decoder knows the layouts of the message before it was damaged."""
    good = data.draw(
        st.one_of(
            craft_messages().map(encode),
            st.sampled_from([value for values in FEEDS.values() for value in values[:2]]),
        )
    )
    each = decoder(selection)
    each.decode(KafkaMessage(None, good))
    for _ in range(4):
        assert_same(data.draw(damaged_bytes(good)), each)


@pytest.mark.parametrize("selection", [EVERYTHING, SELECTIONS["columns"]])
def test_every_changed_byte_is_taken_as_the_plain_decoder_takes_it(selection: Selection) -> None:
    new, old = EVERY_FORM, nulls(EVERY_FORM)
    value = encode(Message((row(new), row(new, old, kinds=(1, 2)), row(old, kinds=(2,)))))
    each = decoder(selection)
    each.decode(KafkaMessage(None, value))
    for place, byte in enumerate(value):
        for lie in {0, 1, 2, 0x7F, 0x80, 0xFF, byte ^ 1, byte + 2 & 0xFF, byte - 2 & 0xFF} - {byte}:
            assert_same(value[:place] + bytes((lie,)) + value[place + 1 :], each)
        assert_same(value[:place], each)


@pytest.mark.usefixtures("no_plain_decoder")
def test_rows_of_every_form_and_operation_are_read_in_the_fast_way() -> None:
    new, old = EVERY_FORM, nulls(EVERY_FORM)
    message = Message((row(new), row(new, old, kinds=(1, 2), ts=3), row(old, kinds=(2,), ts=9)))
    insert, update, delete = decoder().decode(KafkaMessage(None, encode(message)))
    assert isinstance(insert, Row)
    assert isinstance(update, Row)
    assert isinstance(delete, Row)
    assert [each.op for each in (insert, update, delete)] == ["insert", "update", "delete"]
    assert [each.commit_ts for each in (insert, update, delete)] == [7, 3, 9]
    assert insert.new == update.new
    assert insert.new is not None
    assert list(insert.new[:4]) == [-3, 2**64 - 1, 2024, 5]
    assert list(insert.new[4:9]) == [1.5, -0.25, "-0.010", "é", b"\xff\x00"]
    assert list(insert.new[9:]) == [b"x" * 70, "[1,-2.5]", None]
    assert update.old == delete.old == (None,) * len(EVERY_FORM)
    assert insert.table.key == ("tiny",)


@pytest.mark.usefixtures("no_plain_decoder")
def test_rows_of_one_layout_share_it_over_messages_with_other_dictionaries() -> None:
    each = decoder()
    columns = (Column("a", INT, 0, 1),)
    other = RowEvent(1, "another schema", "another table", (ColumnGroup(1, columns),))
    (first,) = each.decode(KafkaMessage(None, encode(Message((row(columns),)))))
    (second,) = each.decode(KafkaMessage(None, encode(Message((other,)))))
    assert isinstance(first, Row)
    assert isinstance(second, Row)
    assert first.new_layout is second.new_layout


@pytest.mark.parametrize(
    "column",
    [
        Column("float", FLOAT, 65, 1e300),
        Column("float", FLOAT, 65, 0.1),
        Column("text", VARCHAR, 64, b"\xff"),
        Column("decimal", DECIMAL, 65, "not a number"),
        Column("unknown", 99, 2**64 - 1, None),
        Column("long", VARCHAR, 64, b"y" * 70000),
        Column("n" * 1024, INT, 0, -(2**63)),
    ],
    ids=lambda column: column.name[:8],
)
def test_odd_values_are_read_as_the_plain_decoder_reads_them(column: Column) -> None:
    assert_same(encode(Message((row((column,)),))), decoder())


@pytest.mark.parametrize("count", [127, 128, 512, 513])
def test_many_columns_are_read(count: int) -> None:
    columns = tuple(Column(f"c{index}", INT, 0, index) for index in range(count))
    assert_same(encode(Message((row(columns),))), decoder())


def test_old_before_new_is_an_update_too() -> None:
    columns = (Column("a", INT, 0, 1),)
    assert_same(encode(Message((row(columns, columns, kinds=(2, 1)),))), decoder())


def test_ddl_and_resolved_events_are_given_as_neutral_events() -> None:
    each = decoder()
    (ddl,) = each.decode(
        KafkaMessage(None, encode(Message((DDLEvent(1, 3, "create table t", "s", "t"),))))
    )
    (resolved,) = each.decode(KafkaMessage(None, encode(Message((ResolvedEvent(2),)))))
    assert isinstance(ddl, SchemaChange)
    assert isinstance(resolved, Progress)


@pytest.mark.parametrize("is_set", [False, True])
def test_the_read_settings_deletes_and_time_zones_are_heard(is_set: bool) -> None:
    settings = Settings(delete_only_handle_key=is_set, time_zone="Asia/Shanghai")
    columns = (Column("at", 7, 65, "2024-01-01 00:00:00"),)
    value = encode(Message((row(columns, kinds=(2,)), row(columns))))
    each = decoder(settings=settings)
    assert_same(value, each)
    (delete, insert) = each.decode(KafkaMessage(None, value))
    assert isinstance(delete, Row)
    assert isinstance(insert, Row)
    assert (delete.sent, insert.sent) == ("key" if is_set else None, None)


def test_new_decoder_gives_the_plain_decoders_rows_until_it_has_earned_functions() -> None:
    columns = tuple(Column(f"c{index}", INT, 0, index) for index in range(40))
    value = encode(Message((row(columns),)))
    each = RowDecoder()
    each._memory.credit.left = 0
    early = list(each.decode(KafkaMessage(None, value)))
    each._memory.credit.earn(1 << 30)
    late = list(each.decode(KafkaMessage(None, value)))
    assert early == late
    assert isinstance(early[0], Row)
    assert isinstance(late[0], Row)
    assert early[0].new_layout is late[0].new_layout


def test_memory_is_bounded() -> None:
    """Every message has names, types and numbers that were never there before."""
    each = decoder()
    memory = each._memory
    for number in range(3000):
        columns = tuple(
            Column(f"c{number}_{index}", (1, 4, 15, 246)[number >> 2 * index & 3], 64, None)
            for index in range(6)
        )
        id_column = Column("id", 8, 11, number * 1_000_003)
        memory.credit.earn(1 << 20)
        each.decode(KafkaMessage(None, encode(Message((row((*columns, id_column), ts=number),)))))
    assert memory._dictionaries.weight <= memory._dictionaries.limit
    assert sum(map(len, memory._dictionaries)) <= memory._dictionaries.limit
    assert sum(map(len, memory._functions)) <= memory._functions.limit
    assert len(memory.signed) <= 1 << 14


def test_more_layouts_of_a_table_than_are_remembered_are_all_read() -> None:
    each = decoder()
    values = [
        encode(Message((row((Column("a", INT, flags, 1),)),))) for flags in (*range(12), *range(12))
    ]
    for value in values:
        assert_same(value, each)


@pytest.mark.parametrize("size", range(1, 11))
def test_varint_of_each_size_is_the_sum_of_its_bytes(size: int) -> None:
    most = 1 if size == 10 else 0x7F
    for low, last in ((0, 0), (0, 1), (1, 1), (0x55, most), (0x2A, most), (0x7F, most)):
        raw = bytes([0x80 | low] * (size - 1) + [last])
        number = sum((byte & 0x7F) << 7 * place for place, byte in enumerate(raw))
        assert read_uvarint(raw) == number
        assert read_varint(raw) == (-(number + 1) // 2 if number % 2 else number // 2)


@pytest.mark.parametrize("size", range(1, 11))
def test_varint_with_a_wrong_high_bit_is_refused(size: int) -> None:
    for low in (0, 0x7F):
        right = bytes([0x80 | low] * (size - 1) + [1])
        for place in range(size):
            wrong = bytearray(right)
            wrong[place] ^= 0x80
            for read in (read_uvarint, read_varint):
                with pytest.raises(IRREGULARITIES):
                    read(bytes(wrong))


@pytest.mark.parametrize("last", [2, 3, 0x40, 0x7F])
def test_varint_of_more_than_64_bits_is_refused(last: int) -> None:
    for read in (read_uvarint, read_varint):
        with pytest.raises(IRREGULARITIES):
            read(bytes([0x80] * 9 + [last]))


@pytest.mark.parametrize("size", [1, 10, 11, 40_000])
def test_bytes_that_all_say_more_are_one_varint_that_none_reads(size: int) -> None:
    """One match takes them all, so that a region is read in a time linear in its size."""
    unfinished = bytes((0x80,)) * size
    assert split_varints(b"\1" + unfinished) == [b"\1", unfinished]
    with pytest.raises(IRREGULARITIES):
        read_uvarint(unfinished)


@pytest.mark.parametrize("part", ["headers", "dictionary"])
def test_part_whose_bytes_all_say_more_is_refused_as_the_plain_decoder_refuses_it(
    part: str,
) -> None:
    long = bytes((0x80,)) * 2_000
    headers, dictionary = (long, b"\1\1a") if part == "headers" else (b"\0" * 5, long)
    sizes = bytearray(b"\2")
    write_varint(sizes, len(headers), "")
    write_varint(sizes, len(dictionary) - len(headers), "")
    write_uvarint(sizes, 1, "")
    write_varint(sizes, 3, "")
    sizes += b"\1\6"
    value = bytes((VERSION,)) + headers + b"\1\0\0" + dictionary + sizes
    assert_same(value + bytes((len(sizes),)), decoder())
