"""Laws of CDL and Debezium alone: Connect's layer, settings of the producer, CDL's two versions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from cdcwire import connect
from cdcwire.connect import Envelope
from cdcwire.core.context import Context
from cdcwire.core.errors import EncodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.format import Format
from cdcwire.formats import cdl_json, debezium_json
from cdcwire.formats.cdl_json import Invented, to_version_2
from cdcwire.formats.debezium_json import to_version_1
from cdcwire.model.events import Event, Image, Marker, Op, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType, TextType, Value
from cdcwire.model.text import event_from_json
from cdcwire.registry import get_format
from cdcwire_generators.comparing import plainly, texts_of
from cdcwire_generators.connect.messages import connect_envelopes, connect_renderings
from cdcwire_generators.domain import Domain, domain_of, fullest_options, source_domain_of
from cdcwire_generators.messages import decoded, encoded, expected_feed
from cdcwire_generators.round_trip import NotCarriedError, Options
from cdcwire_generators.strategies import (
    ChangeStream,
    change_streams,
    option_settings,
    positions,
    row_changes,
    values,
)

CDL, DEBEZIUM = get_format("cdl-json"), get_format("debezium-json")
OPS: tuple[Op, ...] = ("insert", "update", "delete", "read")
DIALECTS = ("cdl", "debezium-1.4", "debezium-2.7", "debezium-3.2")
FIELDS = ("lsn", "tx_id", "commit_ms")
each_format = pytest.mark.parametrize("name", ["cdl-json", "debezium-json"])


def value_of(message: Message) -> bytes:
    assert isinstance(message, KafkaMessage)
    assert message.value is not None
    return message.value


def some_messages(data: st.DataObject, through: Format, options: Options) -> list[Message]:
    """Return the messages of a row, or of what else the format has, under these options."""
    domain = source_domain_of(through)
    events: st.SearchStrategy[Event] = row_changes(domain=domain, ops=OPS)
    if domain.markers and options.get("dialect") != "cdl":
        events = st.one_of(events, markers(domain))
    try:
        return encoded([data.draw(events)], through, options)
    except EncodeError:
        return []  # a value that a mode has no form for


def markers(domain: Domain) -> st.SearchStrategy[Event]:
    return st.builds(
        lambda what, position: Marker(what, position.tx_id, position),
        st.sampled_from(domain.markers),
        positions(domain=domain),
    )


@given(envelope=connect_envelopes())
def test_envelope_comes_back_byte_for_byte(envelope: Envelope) -> None:
    """encode(decode(b)) == b, and so it is when the schema is known by its bytes."""
    canonical = connect.encode(envelope)
    for _ in range(2):
        assert connect.encode(connect.decode(canonical)) == canonical


@given(data=st.data(), envelope=connect_envelopes())
def test_envelope_every_rendering_means_the_same(data: st.DataObject, envelope: Envelope) -> None:
    """decode(r) == decode(encode(e)) for every text r that a reader takes."""
    rendering = data.draw(connect_renderings(connect.encode(envelope)))
    assert connect.encode(connect.decode(rendering)) == connect.encode(envelope)


@given(data=st.data(), envelope=connect_envelopes())
def test_fast_decoder_reads_every_rendering_as_the_plain_one(
    data: st.DataObject, envelope: Envelope
) -> None:
    canonical = connect.encode(envelope)
    fast = connect.EnvelopeDecoder()
    for raw in (canonical, canonical, canonical, data.draw(connect_renderings(canonical))):
        assert connect.encode(fast.decode(raw)) == canonical


@each_format
@given(data=st.data())
def test_messages_come_back_byte_for_byte(name: str, data: st.DataObject) -> None:
    """encode(decode(b)) == b under every setting, with schema and without."""
    through = get_format(name)
    options = data.draw(option_settings(through))
    if data.draw(st.booleans()):
        options = {**options, "schemas-enable": "false"}
    package = cdl_json if name == "cdl-json" else debezium_json
    for message in some_messages(data, through, options):
        assert isinstance(message, KafkaMessage)
        found = package.decode(message.value, key=message.key, context=Context(options))
        if name == "cdl-json":
            assert isinstance(found, cdl_json.Change)
            assert connect.encode(found.envelope) == message.value
        else:
            assert debezium_json.encode(found) == (message.key, message.value)


@each_format
@given(data=st.data())
def test_rows_of_any_source_come_back_as_predicted_under_any_options(
    name: str, data: st.DataObject
) -> None:
    """MySQL's types and those of the other producer, in every mode of this one."""
    through = get_format(name)
    family = data.draw(st.sampled_from(FAMILIES))
    fields = source_domain_of(through).position_fields
    domain = replace(domain_of(family=family, is_plausible=True), position_fields=fields)
    change = data.draw(row_changes(domain=domain, ops=OPS))
    options = data.draw(option_settings(through))
    try:
        expected = expected_feed([change], through, options)
    except NotCarriedError:
        with pytest.raises(EncodeError):
            encoded([change], through, options)
        return
    found = decoded(encoded([change], through, options), through, options)
    rows = [[e for e in events if isinstance(e, RowChange)] for events in (found, expected)]
    assert texts_of(rows[0]) == texts_of(rows[1])
    for here, there in zip(*rows, strict=True):
        assert [c and c.columns for c in (here.before, here.after)] == [
            c and c.columns for c in (there.before, there.after)
        ]


FAMILIES = ("mysql declared", "mysql", "postgresql", "postgresql by cdl")


@each_format
@given(data=st.data())
def test_every_rendering_of_a_message_means_the_same(name: str, data: st.DataObject) -> None:
    """decode(r) == decode(b) for members in any order, unknown ones, other escapes."""
    through = get_format(name)
    options = data.draw(option_settings(through, names=_WRITTEN.get(name)))
    for message in some_messages(data, through, options):
        assert isinstance(message, KafkaMessage)
        value = message.value and data.draw(connect_renderings(message.value))
        other = replace(message, value=value)
        assert texts_of(decoded([other], through)) == texts_of(decoded([message], through))


# Settings under which a message may look different.
_WRITTEN = {"debezium-json": ("dialect", "decimal-handling-mode", "binary-handling-mode")}


@each_format
@given(data=st.data())
def test_without_schemas_a_definition_tells_the_same(name: str, data: st.DataObject) -> None:
    """A payload alone, read with the definition of its table, gives the rows of the whole one."""
    through = get_format(name)
    change = data.draw(row_changes(domain=source_domain_of(through), ops=OPS))
    image = change.after or change.before
    assert image is not None
    tables = (replace(change.table, columns=image.columns),)
    full = fullest_options(through)
    found = []
    for switch in ("true", "false"):
        options: Options = {**full, "schemas-enable": switch}
        messages = encoded([change], through, options)
        found.append([decoded([m], through, options, tables=tables) for m in messages if m.value])
    assert list(map(texts_of, found[1])) == list(map(texts_of, found[0]))


@each_format
@given(data=st.data())
def test_payload_alone_tells_numbers_and_texts_but_not_their_widths(
    name: str, data: st.DataObject
) -> None:
    through = get_format(name)
    kinds = frozenset({"bool", "int16", "int32", "int64", "float64", "text"})
    domain = replace(_of_rows(source_domain_of(CDL, DEBEZIUM)), kinds=kinds)
    change = data.draw(row_changes(domain=domain, ops=("insert",)))
    assert change.after is not None
    (found,) = decoded(encoded([change], through, {"schemas-enable": "false"}), through)
    columns = tuple(map(_as_json_shows, change.after.columns, change.after.values))
    expected = replace(change, after=replace(change.after, columns=columns))
    assert texts_of(plainly([found], FIELDS)) == texts_of(plainly([expected], FIELDS))


def _as_json_shows(column: Column, value: Value) -> Column:
    if value is None:
        return replace(column, type=TextType())
    return replace(column, type=IntType(64)) if isinstance(column.type, IntType) else column


@given(data=st.data(), dialect=st.sampled_from(DIALECTS))
def test_every_dialect_tells_the_same_rows(data: st.DataObject, dialect: str) -> None:
    """Versions of the producer differ in what they say beside the rows."""
    stream: ChangeStream = data.draw(
        change_streams(domain=_of_rows(domain_of(CDL, DEBEZIUM)), with_progress=False)
    )
    options = fullest_options(DEBEZIUM)
    plain = decoded(encoded(stream.events, DEBEZIUM, options), DEBEZIUM, options)
    written: Options = {**options, "dialect": dialect}
    found = decoded(encoded(stream.events, DEBEZIUM, written), DEBEZIUM, options)
    assert texts_of(plainly(found, FIELDS)) == texts_of(plainly(plain, FIELDS))


def _of_rows(domain: Domain) -> Domain:
    return replace(domain, has_schema_changes=False, progress=None, markers=())


@given(data=st.data())
def test_new_key_is_a_delete_a_tombstone_and_an_insert(data: st.DataObject) -> None:
    """The tombstone has the key of the delete before it; the insert has the new one."""
    domain = replace(_of_rows(source_domain_of(DEBEZIUM)), key_shapes=("primary", "composite"))
    change = data.draw(row_changes(domain=domain, ops=("update",)))
    assert change.before is not None
    assert change.after is not None
    messages = encoded([change], DEBEZIUM)
    key = change.table.key or ()
    if [change.before[name] for name in key] == [change.after[name] for name in key]:
        assert len(messages) == 1
        return
    gone, tombstone, new = messages
    assert isinstance(gone, KafkaMessage)
    assert isinstance(new, KafkaMessage)
    assert tombstone == KafkaMessage(gone.key, None)
    assert gone.key != new.key
    ops = [event.op for event in decoded([gone, new], DEBEZIUM) if isinstance(event, RowChange)]
    assert ops == ["delete", "insert"]


@given(data=st.data(), dialect=st.sampled_from(DIALECTS))
def test_delete_with_its_key_only_comes_back_so_whatever_is_made_up(
    data: st.DataObject, dialect: str
) -> None:
    """The other columns, which a message has to have, are filled in by the table's definition."""
    domain = replace(_of_rows(source_domain_of(CDL, DEBEZIUM)), key_shapes=("primary", "composite"))
    change = data.draw(row_changes(domain=domain, ops=("delete",)))
    assert change.before is not None
    tables = (replace(change.table, columns=change.before.columns),)
    options: Options = {"dialect": dialect}
    try:
        sent = encoded([change], DEBEZIUM, options)
    except EncodeError:  # a moment before the year 1, which CDL has no text for
        reject()
    (cut,) = decoded(sent, DEBEZIUM, {**options, "replica-identity": "index"})
    assert isinstance(cut, RowChange)
    assert cut.before is not None
    assert set(cut.before.names) == set(change.table.key or ())
    messages = list(DEBEZIUM.from_events([cut], context=Context(options, tables)))
    assert texts_of(decoded(messages, DEBEZIUM, options)) == texts_of([cut])
    whole = decoded(messages, DEBEZIUM, {**options, "replica-identity": "full"})
    assert isinstance(whole[0], RowChange)
    assert whole[0].before is not None
    assert whole[0].before.names == change.before.names


@given(data=st.data(), dialect=st.sampled_from(("debezium-2.7", "debezium-3.2")))
def test_null_stays_null_next_to_a_default_by_default(data: st.DataObject, dialect: str) -> None:
    family = source_domain_of(DEBEZIUM).family
    column_type = data.draw(st.sampled_from(family.column_types))
    default = data.draw(values(column_type, domain=source_domain_of(DEBEZIUM)))
    column = Column("c", column_type.type, column_type.source, True, default)
    image = Image((column,), (None,))
    position = Position(commit_ms=1, sent_ms=2)
    change = RowChange(Table("t", "s", key=()), "insert", None, image, position)
    messages = encoded([change], DEBEZIUM, {"dialect": dialect})
    (plain,) = decoded(messages, DEBEZIUM)
    (filled,) = decoded(messages, DEBEZIUM, {"replace-null-with-default": True})
    assert isinstance(plain, RowChange)
    assert plain.after is not None
    assert plain.after.values == (None,)
    written = texts_of([replace(change, after=replace(image, values=(default,)))])
    assert texts_of(plainly([filled], ())) == texts_of(plainly(map(event_of, written), ()))
    after = replace(plain.after, values=(plain.after.columns[0].default,))
    assert texts_of([replace(plain, after=after)]) == texts_of([filled])


def event_of(text: str) -> Event:
    return event_from_json(json.loads(text))


@given(stream=change_streams(domain=_of_rows(source_domain_of(DEBEZIUM)), with_progress=False))
def test_transaction_metadata_counts_the_changes(stream: ChangeStream) -> None:
    """Begin and end stand around the changes of one id, which are numbered; no more is added."""
    options: Options = {**fullest_options(DEBEZIUM), "provide-transaction-metadata": True}
    found = decoded(encoded(stream.events, DEBEZIUM, options), DEBEZIUM, options)
    written = fullest_options(DEBEZIUM)
    plain = decoded(encoded(stream.events, DEBEZIUM, written), DEBEZIUM, written)
    rows = [event for event in found if not isinstance(event, Marker)]
    assert texts_of(map(_without_block, rows)) == texts_of(plain)
    for transaction in _transactions(found):
        begin, *changes, end = transaction
        assert isinstance(begin, Marker)
        assert isinstance(end, Marker)
        assert (begin.what, end.what, begin.id) == ("begin", "end", end.id)
        assert [change.position.tx_order for change in changes] == [*range(1, len(changes) + 1)]
        assert {change.position.tx_id for change in changes} == {begin.id}
        assert end.extra["event_count"] == str(len(changes))


def _without_block(event: Event) -> Event:
    left_out = ("transaction_id", "data_collection_order")
    extra = {name: value for name, value in event.extra.items() if name not in left_out}
    return replace(event, position=replace(event.position, tx_order=None), extra=extra)


def _transactions(events: Iterable[Event]) -> list[list[Event]]:
    found: list[list[Event]] = []
    for event in events:
        if isinstance(event, Marker) and event.what == "begin":
            found.append([])
        found[-1].append(event)
    return found


INVENTED = Invented("1.4.0.Final", "cdl", "shop", ts_ms=7)
VERSION_2: Options = {"dialect": "cdl", "topic-prefix": "cdl", "database": "shop"}


def envelope_of(change: RowChange, through: Format, options: Options) -> Envelope:
    (message,) = encoded([change], through, options)
    return connect.decode(value_of(message))


def cdl_changes(ops: Sequence[Op]) -> st.SearchStrategy[RowChange]:
    """Give changes as CDL has them in both versions; 2.0 says when they were sent."""
    changes = row_changes(domain=source_domain_of(CDL), ops=ops)
    return changes.map(lambda row: replace(row, position=replace(row.position, sent_ms=7)))


@given(change=cdl_changes(("insert", "update", "delete")))
def test_version_1_mapped_to_2_is_what_2_writes(change: RowChange) -> None:
    """to_version_2(encode_1(x)) == encode_2(x), once the same is invented."""
    first = envelope_of(change, CDL, {})
    try:
        written = envelope_of(change, DEBEZIUM, VERSION_2)
    except EncodeError:  # a count of milliseconds before the year 1 has no text
        with pytest.raises(EncodeError):
            to_version_2(first, INVENTED)
        return
    mapped = to_version_2(first, INVENTED)
    assert connect.encode(mapped.envelope) == connect.encode(written)
    assert {loss.what for loss in mapped.losses} == {"invented"}


@given(change=cdl_changes(("insert", "update", "delete")))
def test_version_2_mapped_to_1_is_what_1_writes(change: RowChange) -> None:
    """to_version_1(encode_2(x)) == encode_1(x), with a loss for each member that 1.0 lacks."""
    try:
        second = envelope_of(change, DEBEZIUM, VERSION_2)
    except EncodeError:
        return
    mapped = to_version_1(second)
    written = envelope_of(change, CDL, {})
    assert connect.encode(mapped.envelope) == connect.encode(written)
    assert {(loss.what, loss.member) for loss in mapped.losses} == {
        ("lost", name)
        for name in ("source.version", "source.name", "source.db", "source.snapshot", "ts_ms")
    }
