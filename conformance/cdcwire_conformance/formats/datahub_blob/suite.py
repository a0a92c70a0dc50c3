"""The suite's facts about datahub-blob, and the rules of its derived cases.

A record is one JSON object, so it can't lose its last byte; white space after it may go. Other
changes:

* A member that its op needs is left out.
* The op is undefined.
* A value, a sequence id, the version: texts lose their quotes, and the rest is not JSON.

Base64 and frames are not changed: a record in a body is the same as by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Span
from cdcwire.datahub.frame import MAGIC
from cdcwire.datahub.ops import OPS, QUERY, Op
from cdcwire.format import Format
from cdcwire.model.events import Event, Marker, Path, Position
from cdcwire.model.kinds import Column, TimestampType, Value
from cdcwire_conformance.families import datahub as datahub_bodies
from cdcwire_conformance.families.datahub import (
    DATAHUB_FAULTS,
    FRAME_SIZE,
    HEADER_SIZE,
    RECORD_SIZE,
    moved,
    without_members,
    without_quotes,
)
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    mending,
    right,
    under_options,
    wrong_decoder,
    wrong_events,
    wrong_values,
)
from cdcwire_conformance.known_wrong.events import SCHEMA_CHANGES, STATEMENTS, one_table_a_message
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_json
from cdcwire_conformance.known_wrong.values import names_in_lower_case
from cdcwire_conformance.mutations import Change, FormatRules
from cdcwire_conformance.suite import FormatSuite, SizeFacts


@wrong_values("a DATE of ten digits or less counts seconds")
def short_date_in_seconds(column: Column, value: Value) -> Value:
    """Take a DATE of up to 10 digits for seconds."""
    is_date = isinstance(column.type, TimestampType) and column.type.form == "ms"
    return value * 1000 if is_date and abs(value) < 10**10 else value


@wrong_events("systemTime is taken for the time of the change")
def system_time_as_event_time(event: Event) -> Event:
    """Replace the commit time with the time of sending."""
    position: Position = event.position
    return event if position.sent_ms is None else moved(event, commit_ms=position.sent_ms)


@wrong_events("schemaName is ignored")
def database_as_schema(event: Event) -> Event:
    """Use the database's name as the schema's name."""
    table = event.table if not isinstance(event, Marker) and hasattr(event, "table") else None
    if table is None or table.database is None:
        return event
    found: Any = event
    return replace(found, table=replace(table, schema=table.database, database=None))  # type: ignore[no-any-return]


@wrong_events("markers are skipped")
def marker_lost(event: Event) -> Event | None:
    """Drop markers."""
    return None if isinstance(event, Marker) else event


@wrong_decoder("a record in a batch that says it has no fields is refused")
def field_count_believed(format_: Format, message: Message, context: Context) -> list[Event]:
    """Refuse a batch whose records say that they have no fields."""
    assert isinstance(message, KafkaMessage)
    events = right(format_, message, context)
    value = message.value or b""
    batch = value.find(MAGIC, FRAME_SIZE)
    is_plain = batch > 0 and value[batch + 20] & 3 == 0
    if is_plain and value[batch + HEADER_SIZE + RECORD_SIZE :][:4] == bytes(4):
        raise DecodeError("a record without fields", batch, "datahub: batch records")
    return events


@mending("the last of several members of one name counts")
def members_twice_accepted(message: Message) -> Iterable[Message]:
    """Give the text as a loose parser has it: the last member of each name."""
    assert isinstance(message, KafkaMessage)
    try:
        document = json.loads((message.value or b"").decode("utf-8-sig"))
    except ValueError:
        return
    yield replace(message, value=json.dumps(document, ensure_ascii=False).encode())


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. Raises: ValueError for a repeated name."""
    found = dict(members)
    if len(found) < len(members):
        raise ValueError("a repeated name")
    return found


@mending("times may be texts, and sequence ids numbers")
def numbers_as_texts_accepted(message: Message) -> Iterable[Message]:
    """Exchange numbers and their texts."""
    assert isinstance(message, KafkaMessage)
    try:
        document = json.loads(message.value or b"", object_pairs_hook=_once)
        payload = document["payload"]
        times = payload["timestamp"]
        payload["sequenceId"] = str(payload["sequenceId"])
        document["payload"]["timestamp"] = {name: int(time) for name, time in times.items()}
    except (ValueError, KeyError, TypeError):
        return
    yield replace(message, value=json.dumps(document, ensure_ascii=False).encode())


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *DATAHUB_FAULTS,
    names_in_lower_case,
    *SCHEMA_CHANGES,
    *STATEMENTS,
    one_table_a_message,
    short_date_in_seconds,
    system_time_as_event_time,
    database_as_schema,
    marker_lost,
    KnownWrong(
        "update-before-accepted",
        "UPDATE_BEFORE is taken for UPDATE_BEFOR",
        under_options(lenient_ops=True),
    ),
    members_twice_accepted,
    numbers_as_texts_accepted,
    field_count_believed,
)

_LONG_PART = 256  # every byte of a text is alike; its fields are what differs
_OP = ("payload", "op")
_IMAGE_PATH = 4  # payload, after, dataColumn, a name
_NAMES_OF_SOURCE = frozenset({"dbName", "tableName"})
_QUOTED = frozenset(
    {
        ("version",),
        ("payload", "sequenceId"),
    }
)
_TEXT = re.compile(rb'"[^"]*"$')


def changes(
    raw: bytes, spans: Sequence[Span], options: Mapping[str, OptionValue]
) -> Iterator[Change]:
    """Yield what can be made wrong at the members of a record, or in a body."""
    op = next((_op_of(raw, span) for span in spans if span.path == _OP), None)
    if op is None:
        yield from datahub_bodies.changes(raw, spans, options)
        return
    yield from without_members(raw, spans, partial(_is_needed, op))
    for span in spans:
        if span.path == _OP:
            yield _with_text(raw, span, "UPSERT")
        elif span.path in _QUOTED or _is_value(span):
            yield from without_quotes(raw, span)


def _op_of(raw: bytes, span: Span) -> Op | None:
    found = _TEXT.search(raw[span.start : span.end])
    return None if found is None else OPS.get(found[0][1:-1].decode("utf-8", "replace"))


def _is_needed(op: Op, path: Path) -> bool:
    """Return whether an op needs the member at a path."""
    is_row, is_ddl = op.group == "row", op.group == "ddl"
    match path:
        case _ if path in _ALWAYS:
            return True
        case ("payload", "sequenceId"):
            return op.group != "heartbeat"
        case ("payload", "before", *inside):
            return op.has_before and inside in ([], ["dataColumn"])
        case ("payload", "after", *inside):
            return op.has_after and inside in ([], ["dataColumn"])
        case ("payload", "ddl") | ("payload", "ddl", "text"):
            return is_ddl
        case ("schema", "source"):
            return is_row or is_ddl
        case ("schema", "source", name):
            return (is_row or is_ddl) and op.name != QUERY and name in _NAMES_OF_SOURCE
        case ("schema", "dataColumn"):
            return is_row
        case ("schema", "dataColumn", int(), "name" | "type"):
            return True
        case _:
            return False


_ALWAYS: frozenset[Path] = frozenset(
    {
        ("schema",),
        ("payload",),
        _OP,
        ("payload", "timestamp"),
        ("payload", "timestamp", "eventTime"),
    }
)


def _is_value(span: Span) -> bool:
    return len(span.path) == _IMAGE_PATH and span.path[2] == "dataColumn"


def _with_text(raw: bytes, span: Span, text: str) -> Change:
    own = _TEXT.sub(b'"' + text.encode() + b'"', raw[span.start : span.end])
    title = f"the member {span.path[-1]} at byte {span.start} is {text}"
    made = raw[: span.start] + own + raw[span.end :]
    return Change("tag", span.start, f"={text}", title, made)


RULES = FormatRules(
    parts=("value",),
    legal_sizes=datahub_bodies.legal_sizes,
    changes=changes,
    long_part=_LONG_PART,
    layers=datahub_bodies.layers,
)

LIBERTIES = Liberties(
    unchecked=frozenset(
        {
            *("datahub-blob: version", "datahub-blob: ddlMeta", "datahub-blob: primary key"),
            *("datahub: checksums", "datahub: limits", "datahub-blob: limits"),
        }
    ),
    scalars=frozenset(
        {
            *("datahub-blob: boolean values", "datahub-blob: long values"),
            *("datahub-blob: double values", "datahub-blob: date values"),
            *("datahub-blob: string values", "datahub-blob: sequence ids"),
            *("datahub-blob: timestamps", "datahub: attributes"),
        }
    ),
    mend=mend_json,
)

SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#e6d38c",
        note=(
            "`datahub-blob` has one record per row, so its figures are the same for every "
            "batch size. Each record has the columns and their types. An update is two records."
        ),
        has_one_row_per_message=True,
    ),
)
