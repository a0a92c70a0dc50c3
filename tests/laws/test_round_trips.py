"""Events through a format and back: what comes back is what the format says it carries.

Events are compared by their text form, so that -0.0, NaN and the types of values count, and the
columns (source names, roles, nullable) by themselves.
"""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.errors import EncodeError
from cdcwire.format import Compression, Context, Format
from cdcwire.formats import FORMAT_NAMES, get_format
from cdcwire.model.events import Event, RowChange
from cdcwire_generators.carried import NotCarriedError, Options
from cdcwire_generators.domain import domain_of
from cdcwire_generators.passage import encoded, predicted, sent_through, texts_of
from cdcwire_generators.strategies import (
    ChangeStream,
    change_streams,
    odd_events,
    option_settings,
    row_changes,
)
from cdcwire_generators.workloads import WORKLOAD_NAMES, workload

each_format = pytest.mark.parametrize("format_name", FORMAT_NAMES)


def assert_comes_back(events: list[Event], through: Format, options: Options) -> None:
    expected = predicted(events, through, options)
    found = sent_through(events, through, options)
    assert texts_of(found) == texts_of(expected)
    for here, there in zip(found, expected, strict=True):
        if isinstance(here, RowChange) and isinstance(there, RowChange):
            for ours, theirs in ((here.before, there.before), (here.after, there.after)):
                assert (ours and ours.columns) == (theirs and theirs.columns)


def refusal_of(event: Event, through: Format, options: Options) -> EncodeError | None:
    try:
        encoded([event], through, options)
    except EncodeError as error:
        return error
    return None


@each_format
@given(data=st.data())
def test_round_trip_of_a_stream_gives_what_the_format_carries(
    format_name: str, data: st.DataObject
) -> None:
    """decode(encode(x)) == carried(x) for streams of changes as a database makes them."""
    through = get_format(format_name)
    stream = data.draw(change_streams())
    assert_comes_back(list(stream.events), through, {})


@each_format
@given(data=st.data())
def test_round_trip_of_exact_kinds_changes_nothing(format_name: str, data: st.DataObject) -> None:
    """decode(encode(x)) == x for all that the format carries exactly, plausible or not."""
    through = get_format(format_name)
    stream: ChangeStream = data.draw(change_streams(domain=domain_of(through)))
    events = list(stream.events)
    assert_comes_back(events, through, {})
    found = sent_through(events, through)
    assert texts_of(map(_by_name, found)) == texts_of(map(_by_name, events))


def _by_name(event: Event) -> Event:
    """Return an event whose key names are sorted: a format may give columns in another order."""
    if isinstance(event, RowChange):
        table = event.table
        key = tuple(sorted(table.key or ()))
        return RowChange(
            type(table)(table.name, table.schema, key=key),
            event.op,
            event.before,
            event.after,
            event.position,
        )
    return event


@each_format
@given(data=st.data())
def test_round_trip_under_any_options_gives_what_they_leave(
    format_name: str, data: st.DataObject
) -> None:
    """decode(encode(x)) == carried(x, options) for every combination of the producer's options.

    Where nothing is left to send (a delete cut to a handle key that the table lacks), encoding
    raises EncodeError.
    """
    through = get_format(format_name)
    options = data.draw(option_settings(through))
    change = data.draw(row_changes(with_absent=True))
    try:
        predicted([change], through, options)
    except NotCarriedError:
        with pytest.raises(EncodeError):
            encoded([change], through, options)
    else:
        assert_comes_back([change], through, options)


@each_format
@given(data=st.data())
def test_encoding_of_odd_events_raises_encode_error_or_loses_nothing_in_silence(
    format_name: str, data: st.DataObject
) -> None:
    """encode(x) raises EncodeError with a clause of the format, or x comes back as predicted."""
    through = get_format(format_name)
    options = data.draw(option_settings(through))
    event = data.draw(odd_events(domain=domain_of()))
    error = refusal_of(event, through, options)
    if error is None:
        assert_comes_back([event], through, options)
    else:
        assert error.clause.startswith(f"{format_name}: ")
        assert error.path


@each_format
@pytest.mark.parametrize("name", WORKLOAD_NAMES)
def test_round_trip_of_a_workload_gives_what_the_format_carries(
    name: str, format_name: str
) -> None:
    rows = 20 if name == "large-values" else 200
    events = list(workload(name, rows, 7, ddl=True, resolved_every=30))
    assert_comes_back(events, get_format(format_name), {})


def _decompress(raw: bytes) -> bytes:
    try:
        return zlib.decompress(raw)
    except zlib.error as error:
        raise ValueError(str(error)) from error


@given(stream=change_streams(), name=st.sampled_from(("lz4", "snappy")))
def test_open_protocol_round_trip_with_compression_changes_nothing(
    stream: ChangeStream, name: str
) -> None:
    """The compressions come from outside; here another one stands for both."""
    compression = Compression(zlib.compress, _decompress)
    options: Options = {"large-message-handle-compression": name}
    context = Context(options, compressions={name: compression})
    through = get_format("open-protocol")
    messages = through.encode(stream.events, context)
    found = [event for message in messages for event in through.decode(message, context)]
    assert texts_of(found) == texts_of(predicted(stream.events, through, options))
