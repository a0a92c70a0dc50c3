"""The fast decoder of CDL's messages says what the plain one says, good or broken."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionValue
from cdcwire.formats.cdl_json.fast import RowDecoder
from cdcwire.formats.cdl_json.format import FORMAT
from cdcwire.model.events import Event, Image, Position, RowChange, Table
from cdcwire.model.kinds import ArrayType, Column, DatetimeType, DecimalType, IntType, TextType

COLUMNS = (
    Column("id", IntType(32), nullable=False),
    Column("v", TextType(), nullable=True),
    Column("d", DecimalType(10, 2), nullable=True),
    Column("t", DatetimeType(form="ms"), nullable=True),
    Column("a", ArrayType(IntType(64)), nullable=True),
)
TABLE = Table("t", "public", key=("id",))
OPTIONS: dict[str, dict[str, OptionValue]] = {
    "default": {},
    "strict": {"lint": "strict"},
    "defaults": {"replace-null-with-default": True},
    "alone": {"schemas-enable": "false"},
}


def row(number: int) -> Image:
    values = (number, f'"{number}"é', Decimal(number).scaleb(-2), number, (number, None))
    return Image(COLUMNS, values if number % 3 else (number, None, None, None, None))


def events() -> list[Event]:
    position = Position(lsn=2**60, tx_id="7", commit_ms=5)
    found: list[Event] = []
    for number in range(4):
        extra = {} if number else {"message_type": "9", "lob_columns": "v"}
        old, new = row(number), row(number + 1)
        found.append(RowChange(TABLE, "insert", None, new, position, extra=extra))
        found.append(RowChange(TABLE, "update", old, new, position))
        found.append(RowChange(TABLE, "update", None, new, position))
        found.append(RowChange(TABLE, "delete", new, None, position))
    return found


MESSAGES = [
    one for one in FORMAT.from_events(events(), context=Context()) if isinstance(one, KafkaMessage)
]


def outcome(decode: object, message: KafkaMessage) -> object:
    assert callable(decode)
    try:
        return repr(list(decode(message)))
    except DecodeError as error:
        return type(error), error.args, error.path


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("columns", [None, frozenset({"id", "a"})])
def test_feed_is_that_of_the_plain_decoder(options: str, columns: frozenset[str] | None) -> None:
    context = Context(options=OPTIONS[options], selection=Selection(columns=columns))
    decoder = RowDecoder(context)
    odd = [KafkaMessage(None, None), KafkaMessage(MESSAGES[0].value, MESSAGES[0].value)]
    for message in MESSAGES * 2 + odd:
        plain = outcome(lambda one: FORMAT.to_events(one, context=context), message)
        assert outcome(decoder.decode, message) == plain


CHANGES = (b"", b"0", b"null", b'"', b"}", b",", b"]", b'"DELETE"', b"\\ud800", b" ", b"-", b"1e5")


@given(st.data())
def test_damaged_message_is_that_of_the_plain_decoder(data: st.DataObject) -> None:
    """fast(b) is plain(b), whatever b is."""
    decoder = RowDecoder()
    for one in MESSAGES[:3]:
        decoder.decode(one)
    value = data.draw(st.sampled_from(MESSAGES)).value
    assert value is not None
    at = data.draw(st.integers(value.index(b'},"payload":') + 1, len(value)))
    end = data.draw(st.integers(at, min(at + 8, len(value))))
    damaged = KafkaMessage(None, value[:at] + data.draw(st.sampled_from(CHANGES)) + value[end:])
    plain = outcome(lambda one: FORMAT.to_events(one, context=Context()), damaged)
    assert outcome(decoder.decode, damaged) == plain


def test_known_schema_is_read_the_fast_way(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder = RowDecoder()
    for message in MESSAGES:
        decoder.decode(message)
    monkeypatch.setattr("cdcwire.formats.cdl_json.fast.read_message", None)
    assert all(len(decoder.decode_events(message)) == 1 for message in MESSAGES)
