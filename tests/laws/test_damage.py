"""Damaged bytes: a decoder says where and why, or reads another message; it never breaks.

Each error is a DecodeError with an offset within the bytes, a path, and a clause of the format.
``explain`` meets the same bytes with spans that lie within them, and the same error.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.datahub.fields import FIELD_TYPES
from cdcwire.datahub.fields import kind_of as datahub_kind_of
from cdcwire.format import Format
from cdcwire.formats import avro, craft, open_protocol
from cdcwire.formats.craft import proposal as craft_proposal
from cdcwire.model.events import (
    Event,
    Image,
    Marker,
    Op,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.kinds import BytesType, Column, DatetimeType, DecimalType, IntType, TextType
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_generators.domain import Domain, fullest_options, source_domain_of
from cdcwire_generators.families.declared import schema_file_column
from cdcwire_generators.formats import clauses_of
from cdcwire_generators.formats.craft.messages import craft_messages
from cdcwire_generators.formats.craft.proposal.messages import proposal_messages
from cdcwire_generators.formats.open_protocol.messages import open_messages
from cdcwire_generators.messages import encoded
from cdcwire_generators.round_trip import Options
from cdcwire_generators.strategies import (
    change_streams,
    damaged_bytes,
    option_settings,
    positions,
    progress_events,
    row_changes,
    schema_changes,
)


def _craft_messages() -> st.SearchStrategy[Message]:
    return craft_messages().map(lambda message: KafkaMessage(None, craft.encode(message)))


def _proposal_messages() -> st.SearchStrategy[Message]:
    return proposal_messages().map(
        lambda message: KafkaMessage(None, craft_proposal.encode(message))
    )


def _open_messages() -> st.SearchStrategy[Message]:
    return open_messages().map(lambda message: KafkaMessage(*open_protocol.encode(message)))


# What stands in the files of the damaged ones, and beside them.
TABLE = Table(
    "t",
    "test",
    columns=tuple(
        schema_file_column(column, "", None)
        for column in (
            Column("id", IntType(64), None, False, roles=frozenset({"primary"})),
            Column("note", TextType(20)),
            Column("data", BytesType(20)),
            Column("price", DecimalType(10, 4)),
            Column("at", DatetimeType(6)),
        )
    ),
    key=("id",),
    version=1,
)


@st.composite
def _files(draw: st.DrawFn, name: str) -> StoredFile:
    """Give files of every sort: rows, a schema file, an index, the checkpoint."""
    sort = draw(st.sampled_from(("rows", "rows", "rows", "schema", "index", "metadata")))
    if sort == "index":
        end = {"csv": "csv", "canal-json": "json"}[name]
        value = b"CDC00000000000000000005." + end.encode() + b"\n"
        return StoredFile("test/t/1/2024-01-01/meta/CDC.index", value)
    if sort == "metadata":
        (file,) = _encoded(name, [Progress("checkpoint", Position(commit_ts=5))])
    elif sort == "schema":
        change = SchemaChange("create", "CREATE …", 3, TABLE, Position(commit_ts=1))
        (file,) = _encoded(name, [change])
    else:
        rows = draw(st.lists(row_changes(TABLE), min_size=1, max_size=3))
        rows = [replace(row, position=Position(commit_ts=5)) for row in rows]
        (file,) = _encoded(name, rows)
    return file


def _encoded(name: str, events: Sequence[Event]) -> list[StoredFile]:
    options: Options = {} if name == "csv" else {"transport": "storage"}
    files = list(get_format(name).from_events(events, context=Context(options, (TABLE,))))
    return [file for file in files if isinstance(file, StoredFile)]


@st.composite
def _canal_messages(draw: st.DrawFn) -> Message:
    through = get_format("canal-json")
    events = draw(change_streams(domain=source_domain_of(through), max_events=3)).events
    messages = encoded(events or [_PROGRESS], through, fullest_options(through))
    return draw(st.sampled_from(messages))


_PROGRESS = Progress("watermark", Position(commit_ts=5))


AVRO_OPTIONS: Options = {
    "enable-tidb-extension": True,
    "avro-enable-watermark": True,
    "avro-bigint-unsigned-handling-mode": "string",
}


def _avro_context() -> Context:
    """Return the schemas of the table: 1 of its keys, 2 of its rows."""
    texts = avro.schemas_of(TABLE, avro.read_settings(AVRO_OPTIONS))
    schemas = {str(number): text for number, text in enumerate(texts, start=1) if text}
    return Context(AVRO_OPTIONS, schemas=schemas)


@st.composite
def _avro_messages(draw: st.DrawFn) -> Message:
    """Give messages of every sort: rows, deletes, DDL, checkpoints."""
    position = Position(commit_ts=5)
    ddl = SchemaChange("create", "CREATE …", 3, Table("t", "test"), position)
    events: Sequence[Event] = [ddl, Progress("checkpoint", position)]
    row = draw(row_changes(TABLE))
    event: Event = draw(st.sampled_from((replace(row, position=position), *events)))
    messages = list(get_format("avro").from_events([event], context=CONTEXTS["avro"]))
    return draw(st.sampled_from(messages))


def _debezium_avro_context() -> Context:
    """Return the schemas of the table's keys and envelopes."""
    values = (1, "x", b"x", Decimal("1.0000"), "2024-01-01 00:00:00")
    image = Image.of(zip(TABLE.columns or (), values, strict=True))
    event = RowChange(TABLE, "insert", None, image, Position(commit_ms=5))
    through = get_format("debezium-avro")
    return through.prepared(list(through.from_events([event])), Context())


@st.composite
def _debezium_avro_messages(draw: st.DrawFn) -> Message:
    """Give rows of the table, whose schemas are known."""
    through, context = get_format("debezium-avro"), CONTEXTS["debezium-avro"]
    row = draw(row_changes(TABLE, domain=source_domain_of(through), ops=_OF_CONNECT))
    try:
        messages = list(through.from_events([row], context=context))
    except EncodeError:  # a moment that has no count
        reject()
    return draw(st.sampled_from([each for each in messages if isinstance(each, KafkaMessage)]))


# The topic of the damaged bodies: every type, beside the six columns of metadata.
TOPIC = Table(
    "t",
    "test",
    columns=(
        Column("id", IntType(64), "BIGINT", False),
        *(
            Column(type_.lower(), datahub_kind_of(type_), type_)
            for type_ in FIELD_TYPES
            if type_ != "BIGINT"
        ),
        Column("data", BytesType()),
    ),
    key=("id",),
)
ENCODINGS = ("json", "protobuf", "batch")


@st.composite
def _bodies(draw: st.DrawFn, name: str) -> Message:
    """Give bodies of the service in all encodings, of one or two events."""
    through = get_format(name)
    options: Options = {"encoding": draw(st.sampled_from(ENCODINGS))}
    domain = source_domain_of(through)
    events: st.SearchStrategy[Event] = row_changes(TOPIC, domain=domain)
    if name == "datahub-blob":
        events = st.one_of(events, _others(domain))
    drawn = draw(st.lists(events, min_size=1, max_size=2))
    (message,) = through.from_events(drawn, context=Context(options, (TOPIC,)))
    return message


def _others(domain: Domain) -> st.SearchStrategy[Event]:
    """Give events other than rows."""
    markers = st.builds(
        lambda what, position: Marker(what, position.tx_id, position),
        st.sampled_from(domain.markers),
        positions(domain=domain),
    )
    return st.one_of(schema_changes(domain=domain), progress_events(domain=domain), markers)


@st.composite
def _records(draw: st.DrawFn) -> Message:
    """Give Blob records by themselves."""
    through = get_format("datahub-blob")
    domain = source_domain_of(through)
    event = draw(st.one_of(row_changes(TOPIC, domain=domain), _others(domain)))
    return draw(st.sampled_from(list(through.from_events([event], context=Context()))))


@st.composite
def _connect_messages(draw: st.DrawFn, name: str) -> Message:
    """Give messages of every sort, with their schema and without."""
    through = get_format(name)
    domain = source_domain_of(through)
    options: Options = {"schemas-enable": draw(st.sampled_from(("true", "true", "false")))}
    events: st.SearchStrategy[Event] = row_changes(domain=domain, ops=_OF_CONNECT)
    if name == "debezium-json":
        dialect = draw(st.sampled_from(("cdl", "debezium-1.4", "debezium-2.7")))
        options = {**options, "dialect": dialect}
        if dialect != "cdl":
            events = st.one_of(events, _others(domain))
    try:
        messages = list(through.from_events([draw(events)], context=Context(options)))
    except EncodeError:  # a moment before the year 1, which CDL has no text for
        reject()
    return draw(st.sampled_from(messages))


@st.composite
def _row_messages(draw: st.DrawFn, name: str) -> Message:
    """Give rows of any format whose messages travel in a queue."""
    through = get_format(name)
    options = draw(option_settings(through))
    event = draw(row_changes(TABLE, domain=source_domain_of(through)))
    return draw(st.sampled_from(encoded([event], through, options, tables=(TABLE,))))


@st.composite
def _simple_messages(draw: st.DrawFn) -> Message:
    """Give messages of every sort in JSON: rows, table schemas, schema changes, watermarks."""
    through = get_format("simple")
    domain = source_domain_of(through)
    rows = row_changes(TABLE, domain=domain)
    others = (schema_changes(domain=domain), progress_events(domain=domain))
    event = draw(st.one_of(rows, rows, *others))
    return draw(st.sampled_from(encoded([event], through, {}, tables=(TABLE,))))


def messages_of(name: str) -> st.SearchStrategy[Message]:
    """Return the messages to damage: every sort of them, or the rows of a format."""
    return MESSAGES[name]() if name in MESSAGES else _row_messages(name)


_OF_CONNECT: tuple[Op, ...] = ("insert", "update", "delete", "read")


MESSAGES: dict[str, Callable[[], st.SearchStrategy[Message]]] = {
    "craft": _craft_messages,
    "craft-proposal": _proposal_messages,
    "open-protocol": _open_messages,
    "csv": lambda: _files("csv"),
    "canal-json": lambda: st.one_of(_canal_messages(), _files("canal-json")),
    "avro": _avro_messages,
    "datahub-tuple": lambda: _bodies("datahub-tuple"),
    "datahub-blob": lambda: st.one_of(_records(), _bodies("datahub-blob")),
    "cdl-json": lambda: _connect_messages("cdl-json"),
    "debezium-json": lambda: _connect_messages("debezium-json"),
    "simple": _simple_messages,
    "debezium-avro": _debezium_avro_messages,
}
CONTEXTS = {
    "csv": Context(tables=(TABLE,)),
    "canal-json": Context(tables=(TABLE,)),
    "avro": _avro_context(),
    "debezium-avro": _debezium_avro_context(),
    "datahub-tuple": Context(tables=(TOPIC,)),
    "simple": Context(tables=(TABLE,)),
    "datahub-blob": Context({"encoding": "auto"}),
}
# Of these every byte is of a part. An index file has none, and a text may be no JSON at all.
ALL_IN_PARTS = (
    *("craft", "craft-proposal", "open-protocol", "avro"),
    *("cdl-json", "debezium-json", "debezium-avro"),
)
FIXED_COST = 1 << 17  # tables and caches that do not grow with a message
each_format = pytest.mark.parametrize("name", FORMAT_NAMES)


def damaged(data: st.DataObject, message: Message) -> Message:
    """Return a message with damage in its key, its value or both."""
    if isinstance(message, StoredFile):
        return replace(message, value=data.draw(damaged_bytes(message.value)))
    sides = ["value"] if message.key is None else ["value", "key", "both"]
    if message.value is None:
        sides = ["key"]
    side = data.draw(st.sampled_from(sides))
    if side != "value":
        assert message.key is not None
        message = replace(message, key=data.draw(damaged_bytes(message.key)))
    if side != "key":
        assert message.value is not None
        message = replace(message, value=data.draw(damaged_bytes(message.value)))
    return message


def key_of(message: Message) -> bytes:
    return (message.key or b"") if isinstance(message, KafkaMessage) else b""


def failure_of(through: Format, message: Message) -> DecodeError | None:
    try:
        list(through.to_events(message, context=CONTEXTS.get(through.name, NO_CONTEXT)))
    except DecodeError as error:
        return error
    return None


@each_format
@given(data=st.data())
def test_damaged_bytes_raise_decode_error_only(name: str, data: st.DataObject) -> None:
    message = damaged(data, data.draw(messages_of(name)))
    error = failure_of(get_format(name), message)
    if error is not None:
        longest = max(len(key_of(message)), len(message.value or b""))
        assert 0 <= error.offset <= longest
        assert error.path or name not in ALL_IN_PARTS
        assert error.clause.startswith(clauses_of(name))


@each_format
@given(data=st.data())
def test_any_bytes_raise_decode_error_only(name: str, data: st.DataObject) -> None:
    random_bytes = st.binary(max_size=60)
    key = data.draw(st.one_of(st.none(), random_bytes))
    message: Message = KafkaMessage(key, data.draw(st.one_of(random_bytes, st.none())))
    through = get_format(name)
    if "queue" not in through.carriers:
        file: StoredFile = data.draw(_files(name))
        message = replace(file, value=data.draw(random_bytes))
    error = failure_of(through, message)
    assert error is None or error.clause.startswith(clauses_of(name))


@each_format
@given(data=st.data())
def test_every_truncation_is_rejected(name: str, data: st.DataObject) -> None:
    """No message is the beginning of another one. A file is: of one with more rows."""
    message = data.draw(messages_of(name))
    through = get_format(name)
    size = len(_whole(message))
    # A message with its schema is long; its cuts are spread over the examples.
    step = size // 250 + 1
    for cut in range(data.draw(st.integers(0, step - 1)), size, step):
        error = failure_of(through, _cut(message, cut))
        if error is None and _is_whole(name, message, cut):
            continue
        assert error is not None
        assert error.offset <= cut


def _whole(message: Message) -> bytes:
    """Return the value; the key of a message that has no value."""
    return message.value if message.value is not None else key_of(message)


def _cut(message: Message, size: int) -> Message:
    if message.value is not None:
        return replace(message, value=message.value[:size])
    return replace(message, key=key_of(message)[:size])


def _is_whole(name: str, message: Message, cut: int) -> bool:
    """Return whether a cut message may be good: empty ones, whole rows, an index without LF."""
    value = message.value or b""
    if isinstance(message, StoredFile) and message.path.endswith(".index"):
        return cut == len(value) - 1
    if isinstance(message, StoredFile):
        return not cut or value[:cut].endswith(b"\r\n")
    return name in ("open-protocol", "canal-json") and cut == 0


@each_format
@given(data=st.data())
def test_explain_of_damaged_bytes_never_raises_and_finds_the_same_error(
    name: str, data: st.DataObject
) -> None:
    message = damaged(data, data.draw(messages_of(name)))
    through = get_format(name)
    error = failure_of(through, message)
    explanation = through.explain(message, context=CONTEXTS.get(name, NO_CONTEXT))
    sides = {"key": key_of(message), "value": message.value or b""}
    for span in explanation.spans:
        assert 0 <= span.start <= span.end <= len(sides[span.part])
        assert span.clause.startswith(clauses_of(name))
    if error is None:
        assert explanation.error is None
    else:
        assert explanation.error is not None
        assert explanation.error.offset == error.offset
        assert explanation.error.path == error.path
        assert explanation.error.clause == error.clause


@each_format
@given(data=st.data())
def test_explain_of_good_bytes_covers_every_byte(name: str, data: st.DataObject) -> None:
    """Each byte of a message belongs to exactly one span."""
    message = data.draw(messages_of(name))
    explanation = get_format(name).explain(message, context=CONTEXTS.get(name, NO_CONTEXT))
    for part, side in (("key", key_of(message)), ("value", message.value or b"")):
        spans = sorted((s.start, s.end) for s in explanation.spans if s.part == part)
        reached = 0
        for start, end in spans:
            assert start == reached
            reached = end
        assert reached == len(side)


@each_format
@given(data=st.data())
def test_damaged_bytes_need_memory_in_proportion_to_their_number(
    name: str, data: st.DataObject
) -> None:
    """A length that lies is found before anything is allocated: 128 bytes a byte are enough."""
    message = damaged(data, data.draw(messages_of(name)))
    through = get_format(name)
    tracemalloc.start()
    failure_of(through, message)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    size = len(key_of(message)) + len(message.value or b"")
    assert peak < 128 * size + FIXED_COST
