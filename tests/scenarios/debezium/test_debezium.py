"""Messages of a real Debezium decode to what the SQL says, and come back byte for byte."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

import pytest

from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.formats import debezium_json
from cdcwire.formats.debezium_json.format import FORMAT
from cdcwire.model.events import Event, Image, Marker, Progress, RowChange, SchemaChange, Table
from cdcwire.model.kinds import UNAVAILABLE, DecimalType, Type, Value
from cdcwire_evidence.debezium.columns import COLUMNS, ROWS
from cdcwire_evidence.debezium.engine import Sent
from cdcwire_evidence.debezium.expected import Modes, expected_kind, expected_value, same_value
from cdcwire_evidence.debezium.faults import FAULTS, SCALE, known_fault
from cdcwire_evidence.debezium.recording import KINDS, PREFIX, SETTINGS, Recording, Setting
from cdcwire_evidence.debezium.script import EVENTS, FULL, ExpectedEvent

FULL_CONTEXT = Context(options={"replica-identity": "full"})
TRANSACTIONS = f"{PREFIX}.transaction"


def topic_of(table: str) -> str:
    """Return the topic of a table; what topics can't have in a name is ``_``."""
    return f"{PREFIX}.{table.replace(' ', '_')}"


def events_of(sent: Sequence[Sent], table: str, context: Context = NO_CONTEXT) -> Iterator[Event]:
    for found in sent:
        if found.topic == topic_of(table):
            yield from FORMAT.to_events(found.message, context=context)


# ---- bytes -----------------------------------------------------------------------------------


def test_every_message_comes_back_byte_for_byte(sent: Sequence[Sent]) -> None:
    """encode(decode(b)) == b, with schemas and without."""
    for message in (each for found in sent for each in (found.message, found.bare)):
        decoded = debezium_json.decode(message.value, key=message.key)
        assert debezium_json.encode(decoded) == (message.key, message.value)


def test_messages_without_schema_are_the_payloads_alone(sent: Sequence[Sent]) -> None:
    for found in sent:
        pairs = (
            (found.message.key, found.bare.key),
            (found.message.value, found.bare.value),
        )
        for whole, bare in pairs:
            assert (whole is None) == (bare is None)
            if whole is not None and bare is not None:
                assert whole.endswith(b',"payload":' + bare + b"}")


def test_events_give_the_bytes_of_the_producer(sent: Sequence[Sent], setting: Setting) -> None:
    """from_events(to_events(m)) == m; for a truncate with the table's definition."""
    tables: dict[str, Table] = {}
    differ = Counter[str]()
    for found in sent:
        (event,) = FORMAT.to_events(found.message, context=FULL_CONTEXT)
        if isinstance(event, RowChange):
            tables[found.topic] = definition_of(event)
        defined = (tables[found.topic],) if found.topic in tables else ()
        context = Context(options={**setting.options, **FULL_CONTEXT.options}, tables=defined)
        if list(FORMAT.from_events([event], context=context)) != [found.message]:
            differ[found.topic] += 1
    assert not differ


def definition_of(event: RowChange) -> Table:
    """Return the table of a change with the columns of its row."""
    image = event.after if event.after is not None else event.before
    assert image is not None
    table = event.table
    columns = tuple(replace(column, type=with_room(column.type)) for column in image.columns)
    return Table(table.name, table.schema, table.database, columns, table.key)


def with_room(kind: Type) -> Type:
    """Return a decimal with a place before the point: scale 2046 of ``faults`` leaves none."""
    if isinstance(kind, DecimalType) and kind.scale == SCALE:
        return replace(kind, precision=SCALE + 10)
    return kind


def test_messages_without_schema_have_the_events_of_a_table_definition(
    sent: Sequence[Sent],
) -> None:
    """With the columns known, a message says the same without its schema."""
    for found in sent:
        (event,) = FORMAT.to_events(found.message, context=FULL_CONTEXT)
        tables = (definition_of(event),) if isinstance(event, RowChange) else ()
        options = {**FULL_CONTEXT.options, "schemas-enable": "false"}
        (bare,) = FORMAT.to_events(found.bare, context=Context(options=options, tables=tables))
        assert type(bare) is type(event)
        assert bare.position == event.position
        if isinstance(event, RowChange) and isinstance(bare, RowChange):
            assert bare.op == event.op
            assert cells(bare.before) == cells(event.before)
            assert cells(bare.after) == cells(event.after)


def cells(image: Image | None) -> list[str] | None:
    """Return name, kind and value of each column."""
    if image is None:
        return None
    pairs = zip(image.columns, image.values, strict=True)
    return [f"{column.name} {with_room(column.type)} {value!r}" for column, value in pairs]


# ---- values ----------------------------------------------------------------------------------


def rows_of_all_kinds(
    recording: Recording, name: str
) -> Iterator[tuple[Image, dict[str, str | None], bool]]:
    """Yield each row that was sent, PostgreSQL's own texts of it, and whether it was read."""
    for event in events_of(recording.sent[name], f"public.{KINDS}", FULL_CONTEXT):
        if not isinstance(event, RowChange):
            continue
        for image, is_old in ((event.before, True), (event.after, False)):
            if image is None:
                continue
            is_changed = event.op == "delete" or (event.op == "update" and not is_old)
            texts = recording.changed if is_changed else recording.put_in
            yield image, dict(texts[image["id"]]), event.op == "read"


def test_every_value_is_what_postgresql_says(
    recording: Recording, name: str, setting: Setting
) -> None:
    wrong = []
    for image, texts, is_read in rows_of_all_kinds(recording, name):
        for column in COLUMNS:
            text, found = texts[column.name], image[column.name]
            fault = known_fault(column.name, text, is_read, setting.modes, setting.version)
            if fault is not None:
                is_right = repr(found) == repr(fault.value(setting.modes))
            else:
                wanted = expected_value(column.type, text, setting.modes)
                is_right = same_value(column.type, wanted, found, setting.modes)
            if not is_right:
                wrong.append(f"{column.name} {text!r:.60}: {found!r:.60} (read: {is_read})")
    assert wrong == []


def test_every_kind_of_change_was_sent(sent: Sequence[Sent]) -> None:
    events = events_of(sent, f"public.{KINDS}", FULL_CONTEXT)
    ops = Counter(e.op if isinstance(e, RowChange) else "tombstone" for e in events)
    kinds = ("read", "insert", "update", "delete", "tombstone")
    assert ops == dict.fromkeys(kinds, ROWS)


def test_every_column_has_its_kind(recording: Recording, name: str, setting: Setting) -> None:
    image, _, _ = next(rows_of_all_kinds(recording, name))
    found = {column.name: column.type for column in image.columns if column.name != "id"}
    assert found == {c.name: expected_kind(c.type, setting.modes) for c in COLUMNS}


def test_every_fault_of_debezium_is_still_there(recording: Recording) -> None:
    """Remove a fault from the list when it is gone: it would hide a fault of cdcwire."""
    seen = {
        id(fault)
        for name, setting in SETTINGS.items()
        for _, texts, is_read in rows_of_all_kinds(recording, name)
        for column in COLUMNS
        if (
            fault := known_fault(
                column.name, texts[column.name], is_read, setting.modes, setting.version
            )
        )
        and not same_value(
            column.type,
            expected_value(column.type, texts[column.name], setting.modes),
            fault.value(setting.modes),
            setting.modes,
        )
    }
    assert [fault for fault in FAULTS if id(fault) not in seen] == []


SPECIAL: dict[str, list[dict[str, Value]]] = {
    # The first is what precise has no form for, and is sent as NULL.
    "precise": [{"id": 1, "a": None, "b": None}, {"id": 2, "a": None, "b": "0.00"}],
    "string": [
        {"id": 1, "a": "NAN", "b": "NAN"},
        {"id": 2, "a": "POSITIVE_INFINITY", "b": "0.00"},
    ],
    "double": [{"id": 1, "a": "nan", "b": "nan"}, {"id": 2, "a": "inf", "b": "0.0"}],
}


def test_numbers_that_are_none(sent: Sequence[Sent], setting: Setting) -> None:
    events = [e for e in events_of(sent, "public.d_special") if isinstance(e, RowChange)]
    assert [plain(event.after) for event in events] == SPECIAL[setting.modes.decimals]


# ---- changes ---------------------------------------------------------------------------------


def plain(image: Image | None) -> dict[str, Value] | None:
    """Return a row with decimals and floats as text."""
    if image is None:
        return None
    return {
        name: str(value) if isinstance(value, (Decimal, float)) else value
        for name, value in zip(image.names, image.values, strict=True)
    }


def in_mode(row: dict[str, Value] | None, setting: Setting) -> dict[str, Value] | None:
    """Return a row as the modes of an engine have it."""
    if row is None:
        return None
    found = dict(row)
    modes = setting.modes
    for name, value in row.items():
        if name == "raw" and value is UNAVAILABLE and modes.binary.startswith("base64"):
            found[name] = None  # Debezium loses that it did not have the value
        elif name == "days":
            found[name] = in_time_mode(value, modes)
        elif name == "pairs" and isinstance(value, tuple) and modes.hstore == "json":
            found[name] = json.dumps(dict(value), separators=(",", ":"))
        elif isinstance(value, bytes):
            found[name] = expected_value("bytea", f"\\x{value.hex()}", modes)
        elif name in ("n", "k3", "extra") and isinstance(value, str) and modes.decimals == "double":
            found[name] = str(float(value))
    return found


def in_time_mode(days: Value, modes: Modes) -> Value:
    """Return an array of 1970-01-02, or what stands for one that was not at hand."""
    if days is UNAVAILABLE:
        return None if modes.times in ("connect", "isostring") else UNAVAILABLE
    return ("1970-01-02Z",) * len(days) if modes.times == "isostring" else days


@pytest.mark.parametrize("table", list(EVENTS))
def test_changes_of_a_table_are_those_of_its_statements(
    sent: Sequence[Sent], setting: Setting, table: str
) -> None:
    decoded: list[ExpectedEvent] = []
    for event in events_of(sent, table, FULL_CONTEXT if table in FULL else NO_CONTEXT):
        if isinstance(event, RowChange):
            decoded.append((event.op, plain(event.before), plain(event.after)))
            assert f"{event.table.schema}.{event.table.name}" == table
        else:
            assert isinstance(event, (Marker, SchemaChange))
            decoded.append((event.what, None, None))
    wanted: list[ExpectedEvent] = [
        (op, in_mode(before, setting), in_mode(after, setting))
        for op, before, after in EVENTS[table]
    ]
    if table == "public.d_changed" and setting.modes.decimals == "double":
        wanted[-2] = ("delete", {"id": 2, "extra": "1.125"}, None)  # it is text by then
    if table == "public.d_names" and setting.version.startswith("3.6."):
        wanted = [("insert", None, {"id": 1, "ä名": "ä名"})]  # it reads the name as UTF-8
    assert decoded == wanted


KEYS = {
    "public.d_default": {"id"},
    "public.d_index": {"a", "b"},
    "public.d_composite": {"k1", "k2", "k3"},
    "public.d_no_key": set(),
    "public.Weird Name-1": {"Id Col"},
}


@pytest.mark.parametrize("table", list(KEYS))
def test_key_is_that_of_the_table(sent: Sequence[Sent], table: str) -> None:
    events = [event for event in events_of(sent, table) if isinstance(event, RowChange)]
    assert {frozenset(event.table.key or ()) for event in events} == {frozenset(KEYS[table])}


def test_tombstone_has_the_key_of_its_delete(sent: Sequence[Sent]) -> None:
    tombstones = 0
    for first, second in itertools.pairwise(s for s in sent if s.topic.startswith(PREFIX)):
        if second.message.value is None:
            tombstones += 1
            (event,) = FORMAT.to_events(first.message, context=NO_CONTEXT)
            assert isinstance(event, RowChange)
            assert event.op == "delete"
            assert first.message.key == second.message.key
    assert tombstones > ROWS


# ---- positions, transactions, and messages that are about no row -------------------------------


def test_positions_tell_time_and_order(recording: Recording, sent: Sequence[Sent]) -> None:
    lsns = []
    for found in sent:
        for event in FORMAT.to_events(found.message, context=NO_CONTEXT):
            if not isinstance(event, RowChange):
                continue
            position = event.position
            assert position.commit_ms is not None
            assert recording.started <= position.commit_ms <= recording.ended
            assert position.sent_ms is not None
            assert recording.started <= position.sent_ms <= recording.ended
            assert position.lsn is not None
            assert position.tx_id is not None
            if event.op != "read":
                lsns.append(position.lsn)
    assert lsns == sorted(lsns)


def test_rows_of_the_snapshot_say_so(sent: Sequence[Sent]) -> None:
    marks = Counter[object]()
    for found in sent:
        for event in FORMAT.to_events(found.message, context=NO_CONTEXT):
            if isinstance(event, RowChange):
                assert (event.op == "read") == (event.extra["snapshot"] != "false")
                marks[event.extra["snapshot"]] += 1
    assert marks["last"] == 1
    # The first and the last row of a table have a mark of their own.
    assert marks["true"] == ROWS - 2
    assert not marks.keys() - {
        *("true", "first_in_data_collection", "last_in_data_collection", "last", "false")
    }


def test_transaction_is_known_from_its_begin_to_its_end(sent: Sequence[Sent]) -> None:
    rows = [
        event
        for table in ("public.d_default", "public.d_index")
        for event in events_of(sent, table)
        if isinstance(event, RowChange) and event.after is not None and 101 in event.after.values
    ]
    rows.sort(key=lambda event: event.position.tx_order or 0)
    assert [(event.op, event.table.name) for event in rows] == [
        ("insert", "d_default"),
        ("insert", "d_index"),
        ("update", "d_default"),
    ]
    assert [event.position.tx_order for event in rows] == [1, 2, 3]
    assert [event.extra["data_collection_order"] for event in rows] == ["1", "1", "2"]
    (tx_id,) = {event.position.tx_id for event in rows}
    borders = [
        event
        for found in sent
        if found.topic == TRANSACTIONS
        for event in FORMAT.to_events(found.message, context=NO_CONTEXT)
        if isinstance(event, Marker) and (event.id or "").partition(":")[0] == tx_id
    ]
    assert [event.what for event in borders] == ["begin", "end"]
    counts = json.loads(str(borders[1].extra["data_collections"]))
    # 3.2 counts the logical message under the name of a Java object.
    decoded = {name: count for name, count in counts if "LogicalDecodingMessageId@" not in name}
    assert decoded == {"public.d_default": 2, "public.d_index": 1}


def test_logical_messages_have_prefix_and_content(sent: Sequence[Sent], setting: Setting) -> None:
    decoded = [
        (event.id, event.extra["content"])
        for found in sent
        if found.topic == f"{PREFIX}.message"
        for event in FORMAT.to_events(found.message, context=NO_CONTEXT)
        if isinstance(event, Marker)
    ]
    contents = {"within": "text ä".encode(), "without": b"\xff\x00", "alone": b""}
    assert dict(decoded) == {
        prefix: expected_value("bytea", f"\\x{content.hex()}", setting.modes)
        for prefix, content in contents.items()
    }


def test_heartbeats_are_reported(recording: Recording, sent: Sequence[Sent]) -> None:
    events = [
        event
        for found in sent
        if found.topic == f"__debezium-heartbeat.{PREFIX}"
        for event in FORMAT.to_events(found.message, context=NO_CONTEXT)
    ]
    assert events
    for event in events:
        assert isinstance(event, Progress)
        assert event.what == "heartbeat"
        assert event.position.sent_ms is not None
        assert recording.started <= event.position.sent_ms <= recording.ended


def test_explain_covers_every_byte_of_one_message_of_each_topic(sent: Sequence[Sent]) -> None:
    for message in {found.topic: found.message for found in sent}.values():
        spans = FORMAT.explain(message, context=NO_CONTEXT).spans
        whole = sum(len(part) for part in (message.key, message.value) if part is not None)
        assert sum(span.end - span.start for span in spans) == whole
