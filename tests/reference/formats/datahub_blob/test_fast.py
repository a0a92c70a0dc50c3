"""The fast decoder gives what the plain one gives, for good records and for bad ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cdcwire.core.context import EVERYTHING, Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.rows import Row
from cdcwire.formats.datahub_blob import (
    BlobColumn,
    BlobMessage,
    Settings,
    Source,
    decode,
    encode,
    to_event,
)
from cdcwire.formats.datahub_blob.batching import events_of
from cdcwire.formats.datahub_blob.fast import RowDecoder
from cdcwire.model.events import Event

Decode = Callable[[KafkaMessage], list[Event]]

DATA = Path(__file__).parent / "data"
DEFAULT = Settings()
TYPES = ("LONG", "DOUBLE", "BOOLEAN", "STRING", "BYTES", "DATE")
COLUMNS = tuple(BlobColumn(name.lower() + "é", name) for name in TYPES)  # type: ignore[arg-type]
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "LONG": st.integers(-(1 << 63), (1 << 63) - 1),
    "DOUBLE": st.floats(allow_nan=False, allow_infinity=False),
    "BOOLEAN": st.booleans(),
    "STRING": st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
    "DATE": st.integers(-(1 << 63), (1 << 63) - 1),
    "BYTES": st.binary(max_size=9),
}


def read(decoder: RowDecoder, value: bytes) -> list[Row | Event]:
    return list(decoder.decode(KafkaMessage(None, value)))


def outcome(decode_events: Decode, value: bytes) -> object:
    """Return events, or all that an error says."""
    try:
        return repr(decode_events(KafkaMessage(None, value)))
    except DecodeError as error:
        return error.offset, error.clause, error.path, error.problem


def plain(value: bytes, options: Settings = DEFAULT, selection: Selection = EVERYTHING) -> object:
    return outcome(lambda message: list(events_of(message, options, selection)), value)


@st.composite
def messages(draw: st.DrawFn) -> bytes:
    op = draw(st.sampled_from(["INSERT", "UPDATE", "UPDATE_BEFOR", "UPDATE_AFTER", "DELETE"]))
    count = draw(st.integers(1, 6))
    images: list[Any] = []
    for has in (
        op in ("UPDATE", "UPDATE_BEFOR", "DELETE"),
        op in ("INSERT", "UPDATE", "UPDATE_AFTER"),
    ):
        cells = tuple(
            (c.name, draw(st.none() | VALUES[c.type]))
            for c in COLUMNS[:count]
            if draw(st.integers(0, 9)) or c is COLUMNS[0]
        )
        images.append(cells if has else None)
    message = BlobMessage(
        op,
        draw(st.integers(0, 9999999999999)),
        str(draw(st.integers(0, 10**38 - 1))),
        COLUMNS[:count],
        Source("db", "MySQL", None, None, "t"),
        (COLUMNS[0].name,) if draw(st.booleans()) else None,
        images[0],
        images[1],
        None,
        draw(st.none() | st.just(5)),
        draw(st.none() | st.integers(0, 7)),
        draw(st.sampled_from(["0.0.1", "1.0.0"])),
    )
    raw = encode(message)
    if draw(st.booleans()):  # as other writers: other orders, escapes
        found = json.loads(raw)
        payload = found["payload"]
        names = draw(st.permutations(list(payload)))
        found["payload"] = {name: payload[name] for name in names}
        raw = json.dumps(found, separators=(",", ":")).encode()
    return raw


@given(st.lists(messages(), min_size=1, max_size=8))
@settings(max_examples=60)
def test_messages_are_read_as_the_plain_decoder_reads_them(values: list[bytes]) -> None:
    decoder = RowDecoder()
    for value in values * 2:
        assert outcome(decoder.decode_events, value) == plain(value)


@given(messages(), st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), max_size=30))
@settings(max_examples=60)
def test_damaged_messages_are_read_as_the_plain_decoder_reads_them(
    value: bytes, changes: list[tuple[int, int]]
) -> None:
    decoder = RowDecoder()
    decoder.decode(KafkaMessage(None, value))
    for place, byte in changes:
        changed = bytearray(value)
        changed[place % len(changed)] = byte
        assert outcome(decoder.decode_events, bytes(changed)) == plain(bytes(changed))


TEXTS = (
    ("long", "9223372036854775807"),
    ("long", "9223372036854775808"),
    ("long", "-9223372036854775808"),
    ("long", "-9223372036854775809"),
    ("long", "-0"),
    ("long", "00"),
    ("long", "1.0"),
    ("long", '"1"'),
    ("double", "1e400"),
    ("double", "1"),
    ("double", "-0.0"),
    ("double", "1E5"),
    ("double", "01"),
    ("double", "1" * 500),
    ("double", "."),
    ("double", "1e-400"),
    ("boolean", "1"),
    ("boolean", '"true"'),
    ("boolean", "null"),
    ("string", '"\\u0041\\n"'),
    ("string", '"\\ud83d\\ude00"'),
    ("string", '"\\ud83d"'),
    ("string", '"\\x"'),
    ("string", '"\t"'),
    ("string", '"\\/"'),
    ("string", "1"),
    ("string", '"\\"'),
    ("string", '"\x7f"'),
    ("bytes", '"AA=="'),
    ("bytes", '"AB=="'),
    ("bytes", '"AA="'),
    ("bytes", '"AA"'),
    ("bytes", '"A A="'),
    ("bytes", '"AA\\u003d="'),
    ("bytes", '"A-A="'),
    ("bytes", '""'),
    ("bytes", '"=" '),
    ("bytes", '"AAA="'),
    ("date", "1e3"),
    ("date", "1590315269000"),
    ("date", "5"),
    ("date", "-5"),
    ("date", "0"),
)
BASE = encode(
    BlobMessage(
        "INSERT", 1, "5", COLUMNS, Source("db", "MySQL", None, None, "t"), None, None,
        (*((c.name, None) for c in COLUMNS),),
    )
)  # fmt: skip


@pytest.mark.parametrize("date_digits", [0, 1, 13])
@pytest.mark.parametrize(("column", "text"), TEXTS)
def test_value_is_read_as_the_plain_decoder_reads_it(
    column: str, text: str, date_digits: int
) -> None:
    options = Settings(date_digits=date_digits)
    decoder = RowDecoder(settings=options)
    read(decoder, BASE)
    assert isinstance(read(decoder, BASE)[0], Row)
    value = BASE.decode().replace(f'"{column}é":null', f'"{column}é":{text}').encode()
    assert value != BASE or text == "null"
    assert outcome(decoder.decode_events, value) == plain(value, options)


def compact(name: str) -> bytes:
    found = json.loads((DATA / f"{name}.json").read_bytes())
    return json.dumps(found, separators=(",", ":")).encode()


@pytest.mark.parametrize("name", ["insert", "update-before", "update-after", "delete"])
def test_sample_without_spaces_is_read_fast_the_second_time(name: str) -> None:
    decoder = RowDecoder()
    assert not isinstance(read(decoder, compact(name))[0], Row)
    (found,) = read(decoder, compact(name))
    assert isinstance(found, Row)
    assert found.to_event() == to_event(decode(compact(name)))


@pytest.mark.parametrize("name", ["heartbeat", "alter", "insert"])
def test_other_messages_are_read_by_the_plain_decoder(name: str) -> None:
    decoder = RowDecoder()
    value = (DATA / f"{name}.json").read_bytes()
    for _ in range(2):
        assert outcome(decoder.decode_events, value) == plain(value)


@pytest.mark.parametrize(
    "selection",
    [
        Selection(frozenset({("yunshi_db", "t_shiyu_pk")})),
        Selection(frozenset({("yunshi_db", "other")})),
        Selection(None, frozenset({"name"})),
    ],
)
def test_selection_is_that_of_the_plain_decoder(selection: Selection) -> None:
    decoder = RowDecoder(Context(selection=selection))
    for _ in range(3):
        value = compact("insert")
        assert outcome(decoder.decode_events, value) == plain(value, selection=selection)


def test_memory_is_bounded() -> None:
    decoder = RowDecoder()
    for index in range(600):
        read(decoder, BASE.replace(b'"db"', f'"db{index}"'.encode()))
    assert decoder._plans.weight <= 1 << 20
    assert read(decoder, BASE.replace(b'"db"', b'"db599"'))
