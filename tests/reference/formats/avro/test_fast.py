"""The fast decoder gives what the plain one gives, and refuses the same in the same words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from itertools import product
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cdcwire.apache_avro.value_code import read_int, read_length, read_long
from cdcwire.core.compiled import IRREGULARITIES
from cdcwire.core.context import EVERYTHING, Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionValue
from cdcwire.core.reader import write_varint
from cdcwire.core.rows import Row
from cdcwire.format import MessageDecoder
from cdcwire.formats.avro import FORMAT, MemorySource, read_settings
from cdcwire.formats.avro import fast as fast_module
from cdcwire.formats.avro.events import events_of
from cdcwire.formats.avro.fast import RowDecoder
from cdcwire.formats.avro.settings import Settings
from cdcwire.formats.avro.wire import read_bytes
from cdcwire.formats.avro.writing import messages_of
from cdcwire.model.events import Event
from cdcwire.model.text import event_to_json
from cdcwire_conformance.corpus.store import load_case
from cdcwire_generators.strategies import damaged_bytes
from cdcwire_generators.workloads import workload, workload_tables

Pair: TypeAlias = "tuple[bytes | None, bytes | None]"

NAMES = ("orders-10", "proposal-29", "updates", "mostly-null", "large-values", "tiny")
MODES: dict[str, dict[str, OptionValue]] = {
    "plain": {},
    "extension": {"enable-tidb-extension": True},
    "text": {
        "enable-tidb-extension": True,
        "avro-decimal-handling-mode": "string",
        "avro-bigint-unsigned-handling-mode": "string",
    },
    "checked": {
        "enable-tidb-extension": True,
        "avro-decimal-handling-mode": "string",
        "avro-bigint-unsigned-handling-mode": "string",
        "integrity": True,
        "dialect": "float-as-double,ticdc",
    },
    "glue": {"registry": "glue", "unsigned-wrap": False},
}
SELECTIONS = {
    "everything": EVERYTHING,
    "columns": Selection(columns=frozenset({"id", "c1", "c20", "price", "note"})),
    "table": Selection(tables=frozenset({("test", "test_flink")})),
}
each_mode = pytest.mark.parametrize("mode", MODES)
each_selection = pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS)
many = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


class Feed:
    """Messages of a workload with their schemas."""

    def __init__(self, name: str, mode: str) -> None:
        self.settings: Settings = read_settings(MODES[mode])
        self.source = MemorySource(registry=self.settings.registry)
        tables = workload_tables(name)
        events = workload(name, 40, 1)
        messages = messages_of(events, self.settings, tables, self.source)
        self.pairs: list[Pair] = [(each.key, each.value) for each in messages]

    def decoder(self, selection: Selection = EVERYTHING) -> RowDecoder:
        made = RowDecoder(Context(selection=selection), self.settings, self.source)
        made._credit.earn(1 << 30)
        return made

    def assert_same(self, pair: Pair, each: RowDecoder) -> None:
        def plain() -> list[Event]:
            message = read_bytes(*pair, self.source, self.settings, each.selection)
            return events_of(message, self.settings, selection=each.selection)

        assert outcome(lambda: each.decode_events(KafkaMessage(*pair))) == outcome(plain)


class RecordFeed(Feed):
    """Messages of a table with one column, whose keys and values are equal."""

    def __init__(self, kind: str) -> None:
        self.settings = read_settings({})
        self.source = MemorySource()
        field = f'{{"name":"c","type":{kind}}}'
        text = f'{{"type":"record","name":"t","namespace":"a.b","fields":[{field}]}}'
        schema_id = self.source.register("s", text)
        assert isinstance(schema_id, int)
        self.head = b"\0" + schema_id.to_bytes(4, "big")
        self.each = self.decoder()

    def fast(self, data: bytes) -> Iterable[Row | Event]:
        return self.each.decode(KafkaMessage(self.head + data, self.head + data))

    def assert_same_record(self, data: bytes) -> None:
        self.assert_same((self.head + data, self.head + data), self.each)


def outcome(decoded: Callable[[], list[Event]]) -> object:
    """Return events in their text form, or all that an error says."""
    try:
        events = decoded()
    except DecodeError as error:
        return (type(error), error.problem, error.offset, error.path, error.clause)
    return [(event_to_json(event), repr(event)) for event in events]


FEEDS: dict[tuple[str, str], Feed] = {}


def feed(name: str, mode: str) -> Feed:
    found = FEEDS.get((name, mode))
    if found is None:
        found = FEEDS[name, mode] = Feed(name, mode)
    return found


@each_selection
@each_mode
@pytest.mark.parametrize("name", NAMES)
def test_workload_is_read_as_the_plain_decoder_reads_it(
    name: str, mode: str, selection: Selection
) -> None:
    found = feed(name, mode)
    each = found.decoder(selection)
    for pair in found.pairs:
        found.assert_same(pair, each)


@each_mode
@pytest.mark.parametrize("name", NAMES)
def test_workload_never_needs_the_plain_decoder(
    name: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise AssertionError("the plain decoder was asked")

    monkeypatch.setattr(fast_module, "read_bytes", refuse)
    found = feed(name, mode)
    each = found.decoder()
    for pair in found.pairs:
        (row,) = each.decode(KafkaMessage(*pair))
        assert isinstance(row, Row)


@each_selection
@each_mode
@many
@given(data=st.data())
def test_damage_is_refused_as_the_plain_decoder_refuses_it(
    data: st.DataObject, mode: str, selection: Selection
) -> None:
    """The decoder knows the schemas of the message before it was damaged."""
    found = feed(data.draw(st.sampled_from(NAMES)), mode)
    key, value = data.draw(st.sampled_from(found.pairs))
    each = found.decoder(selection)
    each.decode(KafkaMessage(key, value))
    assert key is not None
    found.assert_same((data.draw(damaged_bytes(key)), value), each)
    if value is not None:
        found.assert_same((key, data.draw(damaged_bytes(value))), each)


@each_mode
def test_every_changed_byte_is_taken_as_the_plain_decoder_takes_it(mode: str) -> None:
    found = feed("orders-10", mode)
    key, value = next((k, v) for k, v in found.pairs if k is not None and v is not None)
    each = found.decoder()
    each.decode(KafkaMessage(key, value))
    for place, byte in enumerate(value):
        for lie in {0x00, 0x01, 0x03, 0x7F, 0x80, 0xFF, byte ^ 1} - {byte}:
            found.assert_same((key, value[:place] + bytes((lie,)) + value[place + 1 :]), each)
    for cut in range(len(value)):
        found.assert_same((key, value[:cut]), each)
    for cut in range(len(key)):
        found.assert_same((key[:cut], value), each)
        found.assert_same((key[:cut], None), each)
    for pair in ((None, value), (None, None), (value, key), (key, key), (key, value + b"\0")):
        found.assert_same(pair, each)


@pytest.mark.parametrize("digits", [4096, 4097])
def test_decimal_of_very_many_digits_is_read_as_the_plain_decoder_reads_it(digits: int) -> None:
    found = feed("orders-10", "text")
    each = found.decoder()
    for key, value in found.pairs:
        (row,) = each.decode(KafkaMessage(key, value))
        if isinstance(row, Row) and row.new_layout and row.new:
            names = [column.name for column in row.new_layout.columns]
            text = str(row.new[names.index("price")]).encode()
            old, new = bytearray(), bytearray()
            write_varint(old, len(text), "")
            write_varint(new, digits, "")
            assert value is not None
            changed = value.replace(old + text, new + b"9" * digits)
            if len(changed) > digits:
                found.assert_same((key, changed), each)
                return
    raise AssertionError("no row has a price")


@many
@given(st.integers(0, 420).flatmap(lambda size: st.binary(min_size=size, max_size=size)))
def test_decimal_of_any_bytes_is_read_as_the_plain_decoder_reads_it(raw: bytes) -> None:
    found = RecordFeed('{"type":"bytes","logicalType":"decimal","precision":65,"scale":2}')
    value = bytearray()
    write_varint(value, len(raw), "")
    found.assert_same_record(bytes(value) + raw)
    found.assert_same_record(bytes(value) + raw[:-1])


@pytest.mark.parametrize("size", [1, 32, 33])
def test_decimal_of_a_usual_size_is_exact(size: int) -> None:
    found = RecordFeed('{"type":"bytes","logicalType":"decimal","precision":65,"scale":2}')
    value = bytearray()
    write_varint(value, size, "")
    (row,) = found.fast(bytes(value) + b"\xff" * (size - 1) + b"\x85")
    assert isinstance(row, Row)
    assert row.new == (Decimal("-1.23"),)


def test_empty_text_at_the_end_is_read_in_the_fast_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_module, "read_bytes", None)
    (row,) = RecordFeed('"string"').fast(b"\0")
    assert isinstance(row, Row)
    assert row.new == ("",)


def test_messages_of_tables_in_turn_are_read_as_the_plain_decoder_reads_them() -> None:
    found = Feed("orders-10", "extension")
    for name in ("proposal-29", "tiny"):
        messages = messages_of(
            workload(name, 3, 1), found.settings, workload_tables(name), found.source
        )
        found.pairs += [(each.key, each.value) for each in messages]
    each = found.decoder()
    keys, values = zip(*found.pairs[-7:], strict=True)
    for key, value in product(keys, (*values, None)):
        found.assert_same((key, value), each)
    for value, key in product((*values, None), keys):
        found.assert_same((key, value), each)


def test_delete_with_a_value_gives_the_old_row() -> None:
    case = load_case("avro/extension/op-d")
    decode = FORMAT.decoder(case.context())
    (message,) = case.messages
    for _ in range(3):  # the second is read by what the first taught
        assert decoded_events(decode, message) == list(
            FORMAT.to_events(message, context=case.context())
        )


def decoded_events(decode: MessageDecoder, message: Message) -> list[Event]:
    return [row.to_event() if isinstance(row, Row) else row for row in decode(message)]


@many
@given(st.integers(-(1 << 63), (1 << 63) - 1), st.binary(max_size=12))
def test_numbers_of_many_bytes_are_read(value: int, behind: bytes) -> None:
    out = bytearray(b"x")
    write_varint(out, value, "")
    if len(out) > 3:
        assert read_long(bytes(out) + behind, 1) == (value, len(out))
    if len(out) == 6 and -(1 << 31) <= value < 1 << 31:
        assert read_int(bytes(out) + behind, 1) == (value, len(out))
    elif len(out) >= 6:
        with pytest.raises(IRREGULARITIES):
            read_int(bytes(out) + behind, 1)
    if value >= 64:
        assert read_length(bytes(out) + behind, 1) == (value, len(out))


@pytest.mark.long
def test_memory_is_bounded() -> None:
    """Every message has names that were never there before."""
    source = MemorySource()
    each = RowDecoder(source=source)
    for number in range(600):
        fields = ",".join(f'{{"name":"c{number}_{n}","type":"int"}}' for n in range(20))
        text = f'{{"type":"record","name":"t{number}","namespace":"a.b","fields":[{fields}]}}'
        schema_id = source.register("s", text)
        assert isinstance(schema_id, int)
        each._credit.earn(1 << 20)
        data = b"\0" + schema_id.to_bytes(4, "big") + b"\2" * 20
        (row,) = each.decode(KafkaMessage(data, data))
        assert isinstance(row, Row)
        assert row.new == (1,) * 20
    assert each._routes.weight <= each._routes.limit
    assert each._layouts.weight <= each._layouts.limit
    assert len(each._routes) < 600
