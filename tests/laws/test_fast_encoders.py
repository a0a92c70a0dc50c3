"""A fast encoder gives the messages and the errors of the plain encoder, whatever it has learned.

The laws try all settings, rows of every kind and size, events that no format can carry, and rows
that the fast decoder gave.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.compiled import FastEncoder
from cdcwire.core.context import Compression, Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import Message
from cdcwire.core.rows import event_of
from cdcwire.format import Format
from cdcwire.model.events import Event, RowChange, Table
from cdcwire.model.kinds import (
    BytesType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    TextType,
    Type,
    Value,
)
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_generators.domain import source_domain_of
from cdcwire_generators.formats import get_generators
from cdcwire_generators.messages import definitions_for, topics_of
from cdcwire_generators.strategies import change_streams, odd_events, option_settings
from cdcwire_generators.workloads import WORKLOAD_NAMES, workload, workload_tables

WITH_FAST_ENCODER = [name for name in FORMAT_NAMES if get_format(name).fast_encoder is not None]
each_format = pytest.mark.parametrize("name", WITH_FAST_ENCODER)


def outcome(messages: Iterator[Message]) -> tuple[list[Message], object]:
    """Return messages up to an error, and the error by all that it says."""
    found = []
    try:
        for message in messages:
            found.append(message)
    except (EncodeError, ValueError) as error:
        return found, (type(error), error.args, getattr(error, "path", None))
    return found, None


def assert_as_plain(
    through: Format, encoder: FastEncoder[object], events: Iterable[Event], context: Context
) -> None:
    """Compare a fast encoder with the plain one."""
    events = list(events)
    plain = outcome(through.from_events(events, context=context))
    assert outcome(encoder.encode(events)) == plain


def fast_encoder(through: Format, context: Context) -> FastEncoder[object]:
    assert through.fast_encoder is not None
    return through.fast_encoder(context)


@each_format
@given(data=st.data())
def test_streams_are_encoded_as_the_plain_encoder_does(name: str, data: st.DataObject) -> None:
    """The second time, the encoder knows all tables; parts of a stream give other batches."""
    through = get_format(name)
    stream = data.draw(change_streams(domain=source_domain_of(through), with_key_changes=True))
    options = data.draw(option_settings(through))
    for events in topics_of(stream.events, through):
        context = Context(options, definitions_for(events, through, options, stream.tables))
        encoder = fast_encoder(through, context)
        half = len(events) // 2
        for some in (events, events, events[half:], events[:half]):
            assert_as_plain(through, encoder, some, context)


@each_format
@given(data=st.data())
def test_small_limits_cut_batches_as_the_plain_encoder_does(name: str, data: st.DataObject) -> None:
    through = get_format(name)
    known = {option.name for option in through.options}
    if "max-message-bytes" not in known:
        return
    stream = data.draw(change_streams(domain=source_domain_of(through)))
    drawn = data.draw(option_settings(through))
    options = {**drawn, "max-message-bytes": data.draw(st.integers(1, 1500))}
    for events in topics_of(stream.events, through):
        context = Context(options, definitions_for(events, through, options, stream.tables))
        assert_as_plain(through, fast_encoder(through, context), events, context)


@each_format
@given(data=st.data())
def test_odd_events_are_refused_as_the_plain_encoder_does(name: str, data: st.DataObject) -> None:
    """An odd event among others: what was made before it comes first, then the same error."""
    through = get_format(name)
    domain = source_domain_of(through)
    stream = data.draw(change_streams(domain=domain))
    events = list(stream.events)
    events.insert(data.draw(st.integers(0, len(events))), data.draw(odd_events(domain=domain)))
    options = data.draw(option_settings(through))
    for some in topics_of(events, through):
        context = Context(options, definitions_for(some, through, options, stream.tables))
        encoder = fast_encoder(through, context)
        assert_as_plain(through, encoder, some, context)
        assert_as_plain(through, encoder, some, context)


@each_format
@given(data=st.data())
def test_equal_columns_with_other_defaults_are_not_confused(name: str, data: st.DataObject) -> None:
    """Columns whose defaults are equal but not the same, in tuples that are made anew."""
    through = get_format(name)
    if get_generators(name).feed.has_one_table:
        return
    stream = data.draw(change_streams(domain=source_domain_of(through), with_schema_changes=False))
    context = Context({}, definitions_for(stream.events, through, {}, stream.tables))
    events = [_with_default(event, default) for event in stream.events for default in (1, True)]
    encoder = fast_encoder(through, context)
    assert_as_plain(through, encoder, events, context)


def _with_default(event: Event, default: object) -> Event:
    if not isinstance(event, RowChange):
        return event
    before, after = (
        image
        and replace(image, columns=tuple(replace(each, default=default) for each in image.columns))
        for image in (event.before, event.after)
    )
    return replace(event, before=before, after=after)


@each_format
@pytest.mark.parametrize("workload_name", WORKLOAD_NAMES)
def test_rows_of_workloads_take_the_fast_way(name: str, workload_name: str) -> None:
    """Otherwise all other tests would compare the plain encoder with itself."""
    through = get_format(name)
    fields = ("commit_ts", *get_generators(name).feed.position_fields)
    changes = list(workload(workload_name, 40, 5, position_fields=fields))
    tables = workload_tables(workload_name)
    for events in topics_of(changes, through):
        names = {
            (each.table.schema, each.table.name) for each in events if isinstance(each, RowChange)
        }
        known = tuple(table for table in tables if (table.schema, table.name) in names)
        context = Context({}, definitions_for(events, through, {}, known))
        encoder = fast_encoder(through, context)
        assert_as_plain(through, encoder, events, context)
        for event in events:
            _, error = outcome(through.from_events([event], context=context))
            assert (encoder.piece(event) is None) == (error is not None)


@each_format
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (FloatType, 0.1),
        (DecimalType, Decimal("1.5")),
        (DecimalType, Decimal("-7")),
        (IntType, 1 << 64),
        (IntType, True),
        (DateType, "2007-13-01"),
        (BytesType, "text"),
        (TextType, b"\xff"),
        (TextType, 'a "quoted" \\ \b\f\x1f <&> \u2028 \U0001f600'),
    ],
    ids=[
        "float not exact in 32 bits",
        "decimal with one digit",
        "decimal without point",
        "integer beyond 64 bits",
        "boolean as integer",
        "thirteenth month",
        "text as bytes",
        "text that is not UTF-8",
        "text with escapes",
    ],
)
def test_values_in_another_form_are_written_as_the_plain_encoder_does(
    name: str, kind: type[Type], value: Value
) -> None:
    through = get_format(name)
    fields = ("commit_ts", *get_generators(name).feed.position_fields)
    changes = workload("proposal-29", 3, 5, position_fields=fields, inserts_only=True)
    events = [_with_value(change, kind, value) for change in changes]
    assert all(event.after is not None and value in event.after.values for event in events)
    tables = workload_tables("proposal-29")
    context = Context({}, definitions_for(events, through, {}, tables))
    assert_as_plain(through, fast_encoder(through, context), events, context)


def _with_value(event: Event, kind: type[Type], value: Value) -> RowChange:
    """Return a change with this value in the columns of a kind, except DOUBLE."""
    assert isinstance(event, RowChange)
    assert event.after is not None
    values = tuple(
        value if isinstance(column.type, kind) and column.type != FloatType(64) else own
        for column, own in event.after.pairs
    )
    return replace(event, after=replace(event.after, values=values))


@each_format
@given(data=st.data())
def test_decoded_rows_are_encoded_as_their_events(name: str, data: st.DataObject) -> None:
    """Rows of the fast decoder and the events that they stand for give the same messages."""
    through = get_format(name)
    stream = data.draw(change_streams(domain=source_domain_of(through)))
    options = data.draw(option_settings(through))
    for events in topics_of(stream.events, through):
        context = Context(options, definitions_for(events, through, options, stream.tables))
        messages, _ = outcome(through.from_events(events, context=context))
        context = through.prepared(messages, context)
        decode = through.decoder(context)
        try:
            rows = [row for message in messages for row in decode(message)]
        except DecodeError:
            return  # what a format writes but does not read
        encode = through.encoder(context)
        plain = outcome(through.from_events(list(map(event_of, rows)), context=context))
        assert outcome(encode(rows)) == plain


@given(data=st.data(), name=st.sampled_from(("lz4", "snappy")))
def test_open_protocol_compresses_as_the_plain_encoder_does(data: st.DataObject, name: str) -> None:
    """The compressions come from outside; here another one stands for both."""
    through = get_format("open-protocol")
    options = {"large-message-handle-compression": name}
    context = Context(options, compressions={name: Compression(zlib.compress, zlib.decompress)})
    events = data.draw(change_streams()).events
    assert_as_plain(through, fast_encoder(through, context), events, context)


def test_formats_without_fast_encoder_encode_rows_too() -> None:
    through = get_format("open-protocol")
    plain = replace(through, fast_encoder=None, fast_decoder=None)
    events = list(workload("orders-10", 20, 5))
    messages = list(through.from_events(events, context=Context()))
    decode = through.decoder(Context())
    rows = [row for message in messages for row in decode(message)]
    assert list(plain.encoder(Context())(rows)) == messages


@pytest.mark.long
def test_memory_is_bounded() -> None:
    """Tables that come once each do not fill the memory."""
    through = get_format("open-protocol")
    encoder = fast_encoder(through, Context())
    (change,) = workload("orders-10", 1, 5)
    assert isinstance(change, RowChange)
    for number in range(9000):
        table = Table(f"t{number}", "test", key=("id",))
        for _ in encoder.encode([replace(change, table=table)]):
            pass
    plans = vars(encoder)["_plans"]
    assert len(vars(plans)["_by_id"]) < 9000
