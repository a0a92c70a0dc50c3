"""The fast decoder gives what the plain one gives, and refuses the same in the same words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cdcwire.core.context import EVERYTHING, Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.rows import Row
from cdcwire.formats.open_protocol import Column, Dialect, Item, Key, Message, encode, fast
from cdcwire.formats.open_protocol import Row as RowItem
from cdcwire.formats.open_protocol.batching import messages_of
from cdcwire.formats.open_protocol.events import events_of
from cdcwire.formats.open_protocol.fast import RowDecoder
from cdcwire.formats.open_protocol.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.open_protocol.wire import read_message, write_message
from cdcwire.model.events import Event, Progress, RowChange
from cdcwire.model.text import event_to_json
from cdcwire_generators.formats.open_protocol.messages import open_messages
from cdcwire_generators.strategies import damaged_bytes
from cdcwire_generators.workloads import WORKLOAD_NAMES, workload, workload_tables

Pair: TypeAlias = "tuple[bytes | None, bytes | None]"

EVERY_FORM = (
    Column("tiny", 1, True, 11, -3),
    Column("big", 8, False, 193, 2**64 - 1),
    Column("bit", 16, False, 193, 5),
    Column("float", 4, False, 65, 1.5),
    Column("double", 5, False, 65, -0.25),
    Column("decimal", 246, False, 65, "-0.010"),
    Column("text", 15, False, 64, 'é "<\u2028>" \\'.encode()),
    Column("quoted", 15, False, 65, b'\xff\x00\n\\"\xc2\xa0'),
    Column("blob", 252, False, 65, b"x" * 31),
    Column("clob", 252, False, 64, b"y\xff"),
    Column("vector", 225, False, 65, "[1,-2.5]"),
    Column("nothing", 6, False, 0, None),
)
KEY = '{"ts":1,"scm":"s","tbl":"t","t":1}'
SELECTIONS = {
    "everything": EVERYTHING,
    "columns": Selection(columns=frozenset({"id", "c1", "c20", "a", "tiny", "quoted"})),
    "table": Selection(tables=frozenset({("test", "test_flink"), ("s", "t")})),
}
each_selection = pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS)
each_dialect = pytest.mark.parametrize("dialect", ["tiflow", "ticdc"])
many = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def row(u: object = None, p: object = None, d: object = None, **key: object) -> Item:
    return Item(Key(7, 1, "s", "t", **key), RowItem(u, p, d))  # type: ignore[arg-type]  # for short


def nulls(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    return tuple(Column(each.name, each.type, each.h, each.flag, None) for each in columns)


def decoder(selection: Selection = EVERYTHING, settings: Settings = DEFAULT_SETTINGS) -> RowDecoder:
    """Return a decoder that has earned all patterns that it may need."""
    made = RowDecoder(Context(selection=selection), settings)
    made._credit.earn(1 << 30)
    return made


def outcome(decoded: Callable[[], list[Event]]) -> object:
    """Return events in their text form, or all that an error says."""
    try:
        return [event_to_json(event) for event in decoded()]
    except DecodeError as error:
        return (type(error), error.problem, error.offset, error.path, error.clause)


def assert_same(pair: Pair, each: RowDecoder) -> None:
    def plain() -> list[Event]:
        message = read_message(*pair, each.selection, each.settings.compression)
        return events_of(message, each.settings, selection=each.selection)

    assert outcome(lambda: each.decode_events(KafkaMessage(*pair))) == outcome(plain)


def frame(*items: str) -> bytes:
    return b"".join(len(item.encode()).to_bytes(8, "big") + item.encode() for item in items)


def pair_of(value: str, key: str = KEY) -> Pair:
    return (1).to_bytes(8, "big") + frame(key), frame(value)


@pytest.fixture
def no_plain_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail when the fast way is left."""

    def refuse(*arguments: object) -> Message:
        raise AssertionError("the plain decoder was asked")

    monkeypatch.setattr(fast, "read_message", refuse)


def feed(name: str) -> list[Pair]:
    messages = messages_of(workload(name, 40, 1), DEFAULT_SETTINGS, workload_tables(name))
    return [(each.key, each.value) for each in messages if isinstance(each, KafkaMessage)]


FEEDS = {name: feed(name) for name in WORKLOAD_NAMES}


@pytest.mark.parametrize("name", FEEDS)
def test_workload_is_read_as_the_plain_decoder_reads_it(name: str) -> None:
    each = decoder()
    for pair in FEEDS[name]:
        assert_same(pair, each)


@pytest.mark.parametrize("name", FEEDS)
@pytest.mark.usefixtures("no_plain_decoder")
def test_workload_never_needs_the_plain_decoder(name: str) -> None:
    each = decoder()
    for pair in FEEDS[name]:
        assert each.decode(KafkaMessage(*pair))


@each_selection
@each_dialect
@many
@given(data=st.data())
def test_any_message_is_read_as_the_plain_decoder_reads_it(
    data: st.DataObject, dialect: Dialect, selection: Selection
) -> None:
    each = decoder(selection)
    pair = write_message(data.draw(open_messages(dialect=dialect)), dialect)
    assert_same(pair, each)
    assert_same(pair, each)  # once more, with what was learned


@each_selection
@many
@given(data=st.data())
def test_damage_is_refused_as_the_plain_decoder_refuses_it(
    data: st.DataObject, selection: Selection
) -> None:
    """The decoder knows the layouts of the message before it was damaged."""
    known = [pair for pairs in FEEDS.values() for pair in pairs[:1]]
    pair = data.draw(st.one_of(open_messages().map(encode), st.sampled_from(known)))
    each = decoder(selection)
    each.decode(KafkaMessage(*pair))
    key, value = pair
    assert key is not None
    assert value is not None
    for _ in range(3):
        assert_same((key, data.draw(damaged_bytes(value))), each)
    assert_same((data.draw(damaged_bytes(key)), value), each)


def test_every_changed_byte_is_taken_as_the_plain_decoder_takes_it() -> None:
    key, value = write_message(Message((row(EVERY_FORM, EVERY_FORM[:1]),)), "ticdc")
    each = decoder()
    each.decode(KafkaMessage(key, value))
    for place, byte in enumerate(value):
        for lie in {ord(char) for char in '0"\\}'} - {byte}:
            assert_same((key, value[:place] + bytes((lie,)) + value[place + 1 :]), each)
    for place, byte in enumerate(key):
        for lie in {ord(char) for char in '0"\\}'} - {byte}:
            assert_same((key[:place] + bytes((lie,)) + key[place + 1 :], value), each)


@each_dialect
@pytest.mark.usefixtures("no_plain_decoder")
def test_rows_of_every_form_and_operation_are_read_in_the_fast_way(dialect: Dialect) -> None:
    new, old = EVERY_FORM, nulls(EVERY_FORM)
    each = decoder()
    rows = each.decode(
        KafkaMessage(*write_message(Message((row(new), row(new, old), row(d=old, ptn=5))), dialect))
    )
    insert, update, delete = rows
    assert isinstance(insert, Row)
    assert isinstance(update, Row)
    assert isinstance(delete, Row)
    assert [each.op for each in (insert, update, delete)] == ["insert", "update", "delete"]
    assert insert.new == update.new
    assert insert.new_layout is not None
    names = [column.name for column in insert.new_layout.columns]
    values = dict(zip(names, insert.new or (), strict=True))
    assert values == {
        **{column.name: column.value for column in new},
        "text": 'é "<\u2028>" \\',
    }
    assert update.old == delete.old == (None,) * len(EVERY_FORM)
    assert (insert.partition, delete.partition) == (None, 5)
    assert insert.table.key == ("tiny",)


VALUES = {
    "integer at the end": (8, 65, "9223372036854775807"),
    "integer beyond": (8, 65, "9223372036854775808"),
    "unsigned at the end": (8, 193, "18446744073709551615"),
    "unsigned below": (8, 193, "-1"),
    "unsigned minus zero": (8, 193, "-0"),
    "21 digits": (8, 193, "1" + "0" * 20),
    "fraction": (3, 65, "1.0"),
    "true": (1, 65, "true"),
    "minus zero": (5, 65, "-0"),
    "infinite": (5, 65, "1e999"),
    "float beyond": (4, 65, "1e39"),
    "float between two": (4, 65, "7.038531e-26"),
    "lone surrogate": (15, 64, r'"\ud800"'),
    "pair of surrogates": (15, 64, r'"\ud83d\ude00"'),
    "unknown escape": (15, 64, r'"\q"'),
    "raw newline": (15, 64, '"\n"'),
    "line separator": (15, 65, '"\u2028"'),
    "quoted quote": (15, 65, r'"\""'),
    "octal": (15, 65, r'"\\377"'),
    "octal beyond": (15, 65, r'"\\400"'),
    "quoted rune": (15, 65, r'"\\u00e9\\U0001f600"'),
    "quoted surrogate": (15, 65, r'"\\ud800"'),
    "apostrophe": (15, 65, r'"\\\'"'),
    "backslash at the end": (15, 65, r'"\\"'),
    "stray bits": (252, 65, '"QR=="'),
    "three letters": (252, 65, '"QUI"'),
    "padding only": (252, 65, '"=="'),
    "foreign letter": (252, 65, '"Q-=="'),
    "text of any bytes": (252, 64, '"/w=="'),
    "vector": (225, 65, '"[1,2]"'),
    "no vector": (225, 65, '"[1,]"'),
    "no such value": (6, 0, "0"),
    "NaN": (5, 65, "NaN"),
}


@pytest.mark.parametrize(("code", "flag", "text"), VALUES.values(), ids=VALUES)
def test_odd_values_are_taken_as_the_plain_decoder_takes_them(
    code: int, flag: int, text: str
) -> None:
    each = decoder()
    column = f'{{"u":{{"a":{{"t":{code},"f":{flag},"v":%s}}}}}}'
    assert_same(pair_of(column % "null"), each)
    assert_same(pair_of(column % text), each)


TEXTS = {
    "white space": '{"u": {"a":{"t":3,"f":0,"v":1}}}',
    "no flags": '{"u":{"a":{"t":3,"v":1}}}',
    "other order": '{"u":{"a":{"f":0,"t":3,"v":1}}}',
    "unknown member": '{"u":{"a":{"t":3,"f":0,"v":1,"x":2}}}',
    "column twice": '{"u":{"a":{"t":3,"f":0,"v":1},"a":{"t":3,"f":0,"v":1}}}',
    "u and d": '{"u":{"a":{"t":3,"f":0,"v":1}},"d":{"a":{"t":3,"f":0,"v":1}}}',
    "empty p": '{"u":{"a":{"t":3,"f":0,"v":1}},"p":{}}',
    "something behind": '{"u":{"a":{"t":3,"f":0,"v":1}}}}',
    "escaped name": r'{"u":{"\u0061":{"t":3,"f":0,"v":1}}}',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_other_ways_of_writing_are_taken_as_the_plain_decoder_takes_them(text: str) -> None:
    each = decoder()
    assert_same(pair_of('{"u":{"a":{"t":3,"f":0,"v":1}}}'), each)
    assert_same(pair_of(text), each)
    assert_same(pair_of(text), each)


KEYS = {
    "zero": '{"ts":0,"scm":"s","tbl":"t","t":1}',
    "leading zero": '{"ts":01,"scm":"s","tbl":"t","t":1}',
    "largest": '{"ts":18446744073709551615,"scm":"s","tbl":"t","t":1}',
    "beyond": '{"ts":18446744073709551616,"scm":"s","tbl":"t","t":1}',
    "many digits": f'{{"ts":{"9" * 5000},"scm":"s","tbl":"t","t":1}}',
    "other digits": '{"ts":٣,"scm":"s","tbl":"t","t":1}',
    "no table": '{"ts":1,"scm":"s","t":1}',
    "ts twice": '{"ts":1,"scm":"s","tbl":"t","t":1,"ts":1}',
    "ts last": '{"scm":"s","tbl":"t","t":1,"ts":1}',
    "ts only": '{"ts":1}',
    "row id": '{"ts":1,"scm":"s","tbl":"t","rid":5,"t":1}',
    "handle key only": '{"ts":1,"scm":"s","tbl":"t","t":1,"ohk":true}',
    "claim check": '{"ts":1,"scm":"s","tbl":"t","t":1,"ccl":"file:a"}',
    "another event type": '{"ts":1,"scm":"s","tbl":"t","t":4}',
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_odd_keys_are_taken_as_the_plain_decoder_takes_them(key: str) -> None:
    each = decoder()
    for _ in range(2):
        assert_same(pair_of('{"u":{"a":{"t":3,"f":0,"v":1}}}', key), each)


def test_content_without_a_row_form_is_given_as_a_neutral_event() -> None:
    a = (Column("a", 3, False, 0, 1),)
    rows = decoder().decode(
        KafkaMessage(*encode(Message((row(a, rid=5), row(a, ccl="file:a"), row(a)))))
    )
    assert [type(each) for each in rows] == [RowChange, RowChange, Row]


def test_resolved_events_are_given_as_neutral_events() -> None:
    (resolved,) = decoder().decode(KafkaMessage(*encode(Message((Item(Key(2, 3), None),)))))
    assert isinstance(resolved, Progress)


def test_message_without_key_or_value_is_read_as_by_the_plain_decoder() -> None:
    key, value = encode(Message((Item(Key(2, 3), None),)))
    for pair in ((None, value), (key, None), (b"", b""), (key[:8], b"")):
        assert_same(pair, decoder())


@pytest.mark.parametrize("is_set", [False, True])
def test_the_settings_are_heard(is_set: bool) -> None:
    settings = Settings(
        delete_only_handle_key=is_set, only_updated_columns=is_set, time_zone="Asia/Shanghai"
    )
    at = (Column("at", 7, False, 65, "2024-01-01 00:00:00"),)
    pair = encode(Message((row(at, at), row(d=at), row(d=at, ohk=True))))
    each = decoder(settings=settings)
    assert_same(pair, each)
    rows = each.decode(KafkaMessage(*pair))
    sent = [found.sent for found in rows if isinstance(found, Row)]
    assert sent == (["changed", "key", "key"] if is_set else [None, None, "key"])


@pytest.mark.long
def test_memory_is_bounded() -> None:
    """Every message has names, types and numbers that were never there before."""
    each = decoder()
    for number in range(1500):
        columns = tuple(
            Column(f"c{number}_{index}", (1, 4, 15, 246)[number >> 2 * index & 3], False, 64, None)
            for index in range(6)
        )
        key = Column("id", 8, True, 11, number * 1_000_003)
        item = Item(Key(number, 1, "s", f"t{number}"), RowItem((*columns, key)))
        each._credit.earn(1 << 20)
        each.decode(KafkaMessage(*write_message(Message((item,)), "ticdc")))
    assert sum(len(columns) for columns in each._groups) <= each._groups.limit
    assert sum(map(len, each._subjects)) <= each._subjects.limit
    assert len(each._signed) <= 1 << 14
