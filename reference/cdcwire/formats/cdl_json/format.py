"""CDL JSON as a format: what the registry offers to the runner, the command line and Spark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from cdcwire.connect.carries import CDL_KINDS, KIND_FEATURES
from cdcwire.connect.explain import Subjects, message_spans
from cdcwire.connect.fields import image_of_key, read_part
from cdcwire.connect.identify import lacks_schema, part_of, tombstone_guess
from cdcwire.connect.settings import JSON_SINKS
from cdcwire.core.comparing import Comparing, KeyContent, KeyReader
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.guess import Guess, OptionValues, offset_of
from cdcwire.core.message import KafkaMessage, Message, expect_kafka
from cdcwire.core.orders import LSN
from cdcwire.core.reader import Span, Subject
from cdcwire.format import Format, checks
from cdcwire.formats.cdl_json.events import events_of, messages_of
from cdcwire.formats.cdl_json.fast import RowDecoder, RowEncoder
from cdcwire.formats.cdl_json.message import FIELDS, MEMBERS, Tombstone, is_object
from cdcwire.formats.cdl_json.settings import OPTIONS, read_settings
from cdcwire.formats.cdl_json.wire import decode
from cdcwire.model.carries import EXACT, NO, Carries, lossy
from cdcwire.model.events import Event

_CLAUSES = {each.name: each.clause for each in MEMBERS}
_SUBJECTS = {each.name: each.subject for each in MEMBERS if each.subject is not None}
_ROWS = frozenset(each.name for each in MEMBERS if each.schema is None)
_VALUE = Subjects(
    rows={name: subject for name, subject in _SUBJECTS.items() if name in _ROWS},
    members={
        **{(name,): subject for name, subject in _SUBJECTS.items() if name not in _ROWS},
        ("transaction", "properties"): _SUBJECTS["transaction"],
    },
)
_TOMBSTONE = Subjects(payload=Subject(0, ("kind", "what", "extra"), "message_key"))


def spans(message: Message, context: Context) -> Iterator[Span]:
    """Yield the spans of every byte of key and value."""
    kafka = expect_kafka(message, FIELDS)
    key_subjects = _TOMBSTONE if kafka.value is None else Subjects()
    is_other_key = kafka.key is not None and not is_object(kafka.key)
    text_key = "cdl-json: kafka keys" if is_other_key else None
    yield from message_spans(kafka, _CLAUSES, _VALUE, key_subjects, text_key)


_SIGNS = {"DATA_STORE", "OPERATION", "TABLE_NAME"}
_PREFIX = re.compile(rb'"name":"([A-Za-z0-9_.]{1,200})\.cdc\.data\.')
_USUAL_PREFIX = "com.xxx"

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        **KIND_FEATURES,
        "position": "lsn, transaction id and time of the commit",
        "key": "the key columns of a row",
        "tombstone": "messages without value",
        "schemas off": "messages without schema",
        "definitions": "definitions of tables for messages without schema",
        **checks(
            "integer ranges",
            "json types",
            "letter case",
            "unique names",
            "not null",
            "unneeded members",
        ),
    }
)

CHOICES: Mapping[str, str] = MappingProxyType(
    {
        "cdl-tombstone": "accept",
        "cdl-message-type": "kept, with a warning",
        "connect-null-with-default": "stays null",
        "connect-unknown-member": "dropped, with a warning",
        "connect-unknown-column": "kept with the type that its value shows, and a warning",
        "connect-other-definition": "not used, with a warning",
        "unknown-version": "reject",
    }
)


def identify(message: Message) -> Guess | None:
    """Return what shows that a message is CDL's: the members of its payload."""
    if not isinstance(message, KafkaMessage):
        return None
    part = part_of(message.value)
    if part is None or message.value is None:
        return tombstone_guess(message)
    if not part.payload.keys() >= _SIGNS:
        return None
    facts = {"envelope": part.envelope}
    version = part.payload.get("message_version")
    if isinstance(version, str):
        facts["version"] = version
    return Guess(
        "the members DATA_STORE, OPERATION and TABLE_NAME",
        "value",
        offset_of(message.value, "DATA_STORE"),
        alone="sure",
        options=_options(message.value),
        facts=facts,
    )


def _options(value: bytes) -> OptionValues:
    found = _PREFIX.search(value)
    if found is None or found[1].decode() == _USUAL_PREFIX:
        return {}
    return {"name-prefix": found[1].decode()}


def plain_events(message: Message, *, context: Context = NO_CONTEXT) -> Iterator[Event]:
    """Yield the neutral events of a message. Raises: DecodeError, OptionError."""
    kafka = expect_kafka(message, "cdl-json: fields")
    decoded = decode(kafka.value, key=kafka.key, context=context)
    yield from events_of(decoded, context.selection)


def from_events(events: Iterable[Event], *, context: Context = NO_CONTEXT) -> Iterator[Message]:
    """Yield messages, batched as the producer does. Raises: EncodeError, OptionError."""
    yield from messages_of(events, read_settings(context))


def _warnings(message: Message, context: Context) -> tuple[str, ...]:
    kafka = expect_kafka(message, "cdl-json: fields")
    found = decode(kafka.value, key=kafka.key, context=context)
    return () if isinstance(found, Tombstone) else found.warnings


def _key_reader(context: Context) -> KeyReader:
    settings = read_settings(context)

    def content(message: KafkaMessage) -> KeyContent | None:
        if message.key is None or not is_object(message.key):
            return None
        columns = image_of_key(read_part(message.key, "key", settings))
        return None if columns is None else KeyContent(columns)

    return content


CARRIES = Carries(
    fields={
        "op": lossy("a read comes back as an insert"),
        "before of update": EXACT,
        "before of delete": EXACT,
        "key": EXACT,
        "commit_ts": NO,
        "sequence_id": NO,
        "lsn": EXACT,
        "tx_id": EXACT,
        "commit_ms": EXACT,
        "sent_ms": NO,
        "partition": NO,
        "types": EXACT,
        "schema change": NO,
        "progress": NO,
        "markers": NO,
    },
    kinds=CDL_KINDS,
)
"""The event fields and kinds that CDL JSON carries under the default options."""

FORMAT = Format(
    name="cdl-json",
    connectors=(JSON_SINKS,),
    title="CDL JSON 1.0",
    page="docs/formats/cdl-json.md",
    shared_pages=("connect",),
    to_events=plain_events,
    from_events=from_events,
    spans=spans,
    identify=identify,
    options=OPTIONS,
    carries=CARRIES,
    comparing=Comparing(
        orders=(LSN,),
        not_compared=(
            *("DATA_STORE", "HEARTBEAT_IDENTIFIER", "LOB_COLUMNS", "message_type", "unique"),
            "properties of transactions but lsn and txId",
        ),
        infers_types=lacks_schema,
        key_reader=_key_reader,
        snapshot_rows_are_inserts=True,
    ),
    features=FEATURES,
    choices=CHOICES,
    warnings=_warnings,
    fast_decoder=RowDecoder,
    fast_encoder=RowEncoder,
)
to_events = FORMAT.events
explain = FORMAT.explain
