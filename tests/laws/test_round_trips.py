"""Events through a format and back: what comes back is what the format says it carries.

Events are compared by their text form, so that -0.0, NaN and the types of values count, and the
columns (source names, roles, nullable) by themselves.
"""

from __future__ import annotations

import zlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.context import Compression, Context
from cdcwire.core.errors import EncodeError
from cdcwire.format import Format
from cdcwire.model.events import Event, Image, Marker, Position, Progress, RowChange, Table
from cdcwire.model.kinds import Column, IntType
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_generators.comparing import common_part, plainly, texts_of
from cdcwire_generators.domain import (
    domain_of,
    fullest_options,
    shared_fields,
    source_domain_of,
    with_position_fields,
)
from cdcwire_generators.formats import clauses_of, get_generators
from cdcwire_generators.messages import encoded, expected_feed, round_trip, topics_of
from cdcwire_generators.round_trip import NotCarriedError, Options
from cdcwire_generators.strategies import (
    KEY_SHAPES,
    ChangeStream,
    change_streams,
    odd_events,
    option_settings,
    row_changes,
)
from cdcwire_generators.workloads import WORKLOAD_NAMES, workload, workload_tables

each_format = pytest.mark.parametrize("format_name", FORMAT_NAMES)


PLAIN_ROW = RowChange(
    Table("t", "test"),
    "insert",
    None,
    Image((Column("c", IntType(32)),), (1,)),
    Position(commit_ts=1),
)
CHECKSUMS: Options = {
    "enable-tidb-extension": True,
    "avro-enable-watermark": True,
    "avro-decimal-handling-mode": "string",
    "avro-bigint-unsigned-handling-mode": "string",
    "integrity": True,
}
STORED: Options = {"transport": "storage", "enable-tidb-extension": True}


def assert_comes_back(
    events: list[Event], through: Format, options: Options, tables: tuple[Table, ...] = ()
) -> list[Event]:
    """Send events and see that what comes back is as expected. Returns: what came back."""
    expected = expected_feed(events, through, options, tables=tables)
    found = round_trip(events, through, options, tables=tables)
    assert texts_of(map(_without_bytes, found)) == texts_of(map(_without_bytes, expected))
    for here, there in zip(found, expected, strict=True):
        if isinstance(here, RowChange) and isinstance(there, RowChange):
            for ours, theirs in ((here.before, there.before), (here.after, there.after)):
                assert (ours and ours.columns) == (theirs and theirs.columns)
    return found


def _without_bytes(event: Event) -> Event:
    """Return a tombstone without the key of its message, whose bytes are the codec's."""
    if isinstance(event, Marker) and event.extra.get("message_key"):
        return replace(event, extra={**event.extra, "message_key": None})
    return event


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
    """decode(encode(x)) == expected(x) for streams of changes as a database makes them."""
    through = get_format(format_name)
    stream = data.draw(change_streams(domain=source_domain_of(through)))
    assert_comes_back(list(stream.events), through, fullest_options(through), stream.tables)


@each_format
@given(data=st.data())
def test_round_trip_of_rows_under_no_options_gives_what_the_format_carries(
    format_name: str, data: st.DataObject
) -> None:
    """The same under the producer's defaults, without progress, which may need an option."""
    through = get_format(format_name)
    domain = source_domain_of(through)
    stream = data.draw(change_streams(domain=domain, with_progress=False))
    assert_comes_back(list(stream.events), through, {}, stream.tables)


@given(data=st.data())
def test_round_trip_of_canal_json_files_gives_what_they_carry(data: st.DataObject) -> None:
    """Canal-JSON in files has partitions, schema files and checkpoints, as CSV has."""
    through = get_format("canal-json")
    domain = replace(source_domain_of(through), progress="checkpoint")
    stream = data.draw(change_streams(domain=domain))
    assert_comes_back(list(stream.events), through, STORED, stream.tables)


@each_format
@given(data=st.data())
def test_round_trip_of_exact_kinds_changes_nothing(format_name: str, data: st.DataObject) -> None:
    """decode(encode(x)) == x for all that the format carries exactly, plausible or not."""
    through = get_format(format_name)
    fields = shared_fields(through)
    domain = with_position_fields(domain_of(through), fields)
    stream: ChangeStream = data.draw(change_streams(domain=domain))
    events, options = list(stream.events), fullest_options(through)
    found = assert_comes_back(events, through, options, stream.tables)
    left = common_part(events, through)
    assert texts_of(plainly(found, fields)) == texts_of(plainly(left, fields))


@each_format
@given(data=st.data())
def test_round_trip_under_any_options_gives_what_they_leave(
    format_name: str, data: st.DataObject
) -> None:
    """decode(encode(x)) == expected(x, options) for every combination of the producer's options.

    Tables have any names and keys. Where nothing is left to send (a delete cut to a
    handle key that the table lacks), encoding raises EncodeError.
    """
    through = get_format(format_name)
    options = data.draw(option_settings(through))
    domain = replace(source_domain_of(through), key_shapes=KEY_SHAPES, has_field_names=False)
    change = data.draw(row_changes(with_absent=True, domain=domain))
    try:
        expected_feed([change], through, options)
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
    """encode(x) raises EncodeError with a clause of the format, or x comes back as expected."""
    through = get_format(format_name)
    options = data.draw(option_settings(through))
    event = data.draw(odd_events(domain=domain_of()))
    error = refusal_of(event, through, options)
    if error is None:
        assert_comes_back([event], through, options)
    else:
        assert error.clause.startswith(clauses_of(format_name))
        assert error.path


@pytest.mark.parametrize(("format_name", "options"), [("csv", {}), ("canal-json", STORED)])
@pytest.mark.parametrize(
    "event",
    [
        Progress("checkpoint", Position(commit_ts=-1)),
        replace(PLAIN_ROW, table=Table("a/b", "test")),
        replace(PLAIN_ROW, table=Table("t", "..")),
    ],
    ids=["checkpoint", "table", "schema"],
)
def test_refusal_of_what_no_file_has_names_its_event(
    format_name: str, options: Options, event: Event
) -> None:
    """A path is made when its file ends; what it can't have is refused with the event before."""
    with pytest.raises(EncodeError) as caught:
        encoded([PLAIN_ROW, event, PLAIN_ROW], get_format(format_name), options)
    assert caught.value.path[:2] == ("events", 1)


@each_format
@pytest.mark.parametrize("name", WORKLOAD_NAMES)
def test_round_trip_of_a_workload_gives_what_the_format_carries(
    name: str, format_name: str
) -> None:
    """Rows of each kind of change, in several batches; the values are the strategies' business."""
    rows = 10 if name == "large-values" else 80
    through = get_format(format_name)
    made = workload(name, rows, 7, ddl=True, resolved_every=30, position_fields=WORKLOAD_FIELDS)
    known = {(table.schema, table.name): table for table in workload_tables(name)}
    events = [found for event in made if (found := _taken(event, through)) is not None]
    for topic in topics_of(events, through):
        tables = tuple(known.values())
        if get_generators(format_name).feed.has_one_table:
            assert isinstance(topic[0], RowChange)
            tables = (known[topic[0].table.schema, topic[0].table.name],)
        assert_comes_back(topic, through, fullest_options(through), tables)


# A checkpoint has the time of its commit alone.
WORKLOAD_FIELDS = ("commit_ts", "sequence_id", "commit_ms")


def _taken(event: Event, through: Format) -> Event | None:
    """Return an event as a feed has it; None where it has none: no rows without key in Avro."""
    feed = get_generators(through.name).feed
    match event:
        case Progress(position=position) if feed.progress is not None:
            ms = (position.commit_ts or 0) >> 18
            return Progress(feed.progress, replace(position, commit_ms=ms, sent_ms=ms))
        case Progress():
            return None
        case RowChange():
            has_form = through.name != "cdl-json" or _has_form(event, through)
            return event if has_form and (event.table.key or not feed.needs_key) else None
        case _:
            is_carried = through.carries.fields["schema change"].verdict != "no"
            return event if is_carried and feed.has_statements else None


def _has_form(event: RowChange, through: Format) -> bool:
    """Return whether a row has nothing that CDL lacks: microseconds."""
    try:
        return bool(expected_feed([event], through))
    except NotCarriedError:
        return False


def _decompress(raw: bytes) -> bytes:
    try:
        return zlib.decompress(raw)
    except zlib.error as error:
        raise ValueError(str(error)) from error


@given(data=st.data())
def test_round_trip_of_avro_with_checksums_tells_those_of_the_rows(data: st.DataObject) -> None:
    """The checksum is that of the values, whatever the zone of TIMESTAMP texts is."""
    through = get_format("avro")
    options: Options = {**CHECKSUMS, "time-zone": data.draw(st.sampled_from(("", "+08:00")))}
    stream = data.draw(change_streams(domain=source_domain_of(through)))
    assert_comes_back(list(stream.events), through, options, stream.tables)


@pytest.mark.parametrize("format_name", ["avro", "debezium-json", "cdl-json"])
@given(data=st.data())
def test_round_trip_with_new_keys_gives_what_the_format_makes_of_them(
    format_name: str, data: st.DataObject
) -> None:
    """An update that changes a key comes back as the delete of the old row and an insert.

    CDL leaves it an update.
    """
    through = get_format(format_name)
    domain = source_domain_of(through)
    stream = data.draw(change_streams(domain=domain, with_key_changes=True))
    assert_comes_back(list(stream.events), through, fullest_options(through), stream.tables)


@given(stream=change_streams(), name=st.sampled_from(("lz4", "snappy")))
def test_open_protocol_round_trip_with_compression_changes_nothing(
    stream: ChangeStream, name: str
) -> None:
    """The compressions come from outside; here another one stands for both."""
    compression = Compression(zlib.compress, _decompress)
    options: Options = {"large-message-handle-compression": name}
    context = Context(options, compressions={name: compression})
    through = get_format("open-protocol")
    messages = through.from_events(stream.events, context=context)
    found = [event for message in messages for event in through.to_events(message, context=context)]
    assert texts_of(found) == texts_of(expected_feed(stream.events, through, options))
