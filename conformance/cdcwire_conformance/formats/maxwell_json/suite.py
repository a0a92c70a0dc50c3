"""The suite's facts about maxwell-json, and the rules of its derived cases.

A message is one JSON object, so it cannot lose its last byte; only white space after it can be cut.
These changes are made in rows:

* A member that a row needs is left out.
* The type is unknown.
* The name of the database or of the table loses its quotes.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Span
from cdcwire.formats.maxwell_json.message import SCHEMA_CHANGES
from cdcwire.model.events import Event, Image, Marker, RowChange, SchemaChange
from cdcwire.model.kinds import BytesType, Column, DecimalType, TimestampType, Value
from cdcwire_conformance.families import mysql
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    mending,
    refusing,
    wrong_columns,
    wrong_events,
    wrong_rows,
    wrong_values,
)
from cdcwire_conformance.known_wrong.events import (
    EVENTS,
    OLD_ROWS,
    OPERATIONS,
    STATEMENTS,
    old_null_as_absent,
    schema_change_lost,
)
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_json
from cdcwire_conformance.known_wrong.values import (
    BINARY_AND_JSON,
    NUMBERS_AND_TEXTS,
    VALUES,
    names_in_lower_case,
    null_as_word,
    surrogates_replaced,
)
from cdcwire_conformance.mutations import (
    Change,
    FormatRules,
    reads_as_json,
)
from cdcwire_conformance.suite import FormatSuite, SizeFacts


@wrong_rows("ts of a row is taken for milliseconds")
def seconds_as_milliseconds(row: RowChange) -> Event:
    """Divide the commit time of a row by 1000."""
    ms = row.position.commit_ms or 0
    return replace(row, position=replace(row.position, commit_ms=ms // 1000))


@wrong_events("ts of a schema change is taken for seconds")
def milliseconds_as_seconds(event: Event) -> Event:
    """Multiply the commit time of a schema change by 1000."""
    if not isinstance(event, SchemaChange):
        return event
    ms = event.position.commit_ms or 0
    return replace(event, position=replace(event.position, commit_ms=ms * 1000))


@wrong_rows("columns that old lacks are NULL in the row before")
def unchanged_as_null(row: RowChange) -> Event:
    """Fill the old row of an update with NULL where ``old`` has no member."""
    if row.sent != "changed" or row.before is None or row.after is None:
        return row
    old = dict(zip(row.before.names, row.before.values, strict=True))
    before = Image(row.after.columns, tuple(map(old.get, row.after.names)))
    return replace(row, before=before, sent=None)


@wrong_rows("old is not read")
def old_ignored(row: RowChange) -> Event:
    """Drop the old row of an update."""
    return replace(row, before=None, sent=None) if row.op == "update" else row


@wrong_events("the start and the end of a bootstrap are dropped")
def bootstrap_borders_dropped(event: Event) -> Event | None:
    """Drop the start and the end of a bootstrap."""
    return None if isinstance(event, Marker) else event


@wrong_rows("rows of a bootstrap are dropped")
def bootstrap_rows_dropped(row: RowChange) -> Event | None:
    """Drop rows of a bootstrap."""
    return None if row.op == "read" else row


@wrong_values("decimals are rounded to doubles")
def decimals_through_double(column: Column, value: Value) -> Value:
    """Round a decimal to the nearest double."""
    is_decimal = isinstance(column.type, DecimalType) and isinstance(value, Decimal)
    return Decimal(repr(float(value))) if is_decimal else value


@wrong_values("1.00 becomes 1")
def scale_lost(column: Column, value: Value) -> Value:
    """Drop the trailing zeros of a decimal."""
    is_decimal = isinstance(column.type, DecimalType) and isinstance(value, Decimal)
    return Decimal(f"{value.normalize():f}") if is_decimal else value


@wrong_values("base64 is not decoded")
def base64_as_bytes(column: Column, value: Value) -> Value:
    """Return the base64 text of a binary string as its bytes."""
    return base64.b64encode(value) if isinstance(column.type, BytesType) else value


@wrong_columns("a TIMESTAMP is read in the zone of the reader", "25")
def timestamp_in_local_time(column: Column, value: Value) -> tuple[Column, Value]:
    """Declare a TIMESTAMP to be in the zone +08:00."""
    if not isinstance(column.type, TimestampType):
        return column, value
    return replace(column, type=replace(column.type, zone="+08:00")), value


@wrong_rows("the key columns have the lower-case names of the Kafka key")
def key_in_lower_case(row: RowChange) -> Event:
    """Write the names of the key columns in lower case."""
    key = row.table.key
    lower = None if key is None else tuple(name.lower() for name in key)
    return replace(row, table=replace(row.table, key=lower))


@wrong_events("a rename is an alter")
def rename_as_alter(event: Event) -> Event:
    """Turn a rename into an alter."""
    if isinstance(event, SchemaChange) and event.what == "rename":
        return replace(event, what="alter")
    return event


@wrong_rows("xid is not read")
def xid_ignored(row: RowChange) -> Event:
    """Drop the transaction id."""
    return replace(row, position=replace(row.position, tx_id=None))


@mending("a row of an unknown type, or without type, is read as an insert")
def any_type(message: Message) -> Iterable[Message]:
    """Yield the message as an insert."""
    try:
        document = json.loads(message.value or b"null")
    except ValueError:
        return
    if isinstance(document, dict):
        yield replace(message, value=json.dumps({**document, "type": "insert"}).encode())


@refusing("an unknown member is an error")
def unknown_member_refused(message: Message, events: list[Event]) -> bool:
    """Return whether the message has the member ``extra``."""
    return b'"extra":' in (message.value or b"")


@refusing("Kafka keys have to be objects")
def array_key_refused(message: Message, events: list[Event]) -> bool:
    """Return whether the Kafka key is a JSON array."""
    return isinstance(message, KafkaMessage) and (message.key or b"").startswith(b"[")


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *VALUES,
    *NUMBERS_AND_TEXTS,
    *BINARY_AND_JSON,
    *EVENTS,
    *OPERATIONS,
    *OLD_ROWS,
    schema_change_lost,
    *STATEMENTS,
    names_in_lower_case,
    mysql.signed_for_unsigned,
    mysql.zero_date_as_null,
    seconds_as_milliseconds,
    milliseconds_as_seconds,
    unchanged_as_null,
    old_null_as_absent,
    old_ignored,
    bootstrap_borders_dropped,
    bootstrap_rows_dropped,
    decimals_through_double,
    scale_lost,
    base64_as_bytes,
    mysql.set_cut_at_comma,
    null_as_word,
    timestamp_in_local_time,
    key_in_lower_case,
    surrogates_replaced,
    rename_as_alter,
    xid_ignored,
    any_type,
    unknown_member_refused,
    array_key_refused,
)

_WHITE_SPACE = b" \t\r\n"
_LONG_PART = 512
_NEEDED = frozenset({"database", "table", "type", "ts", "data"})
_ROW_TYPES = frozenset({"insert", "update", "delete", "bootstrap-insert"})
_TYPE = re.compile(rb'(,?\s*"type"\s*:\s*)"[a-z-]+"')
_NAMES = frozenset({"database", "table"})
_NAME = re.compile(rb'([,{]?\s*"(?:database|table)"\s*:\s*)"([^"\\\s]+)"')


def legal_sizes(raw: bytes, spans: Sequence[Span]) -> Container[int]:
    """Return where a message may end."""
    return set(range(len(raw.rstrip(_WHITE_SPACE)), len(raw)))


def changes(
    raw: bytes, spans: Sequence[Span], options: Mapping[str, OptionValue]
) -> Iterator[Change]:
    """Yield what can be made wrong at the members of a row."""
    own = [span for span in spans if span.part == "value"]
    if not any(span.path == ("type",) and span.value in _ROW_TYPES for span in own):
        return
    members: dict[str, tuple[int, int]] = {}
    for span in own:
        if span.path:
            name = str(span.path[0])
            begin, end = members.get(name, (span.start, span.end))
            members[name] = (min(begin, span.start), max(end, span.end))
    for name, (start, end) in members.items():
        if name in _NEEDED:
            title = f"the member {name} at byte {start} is left out"
            feature = "position" if name == "ts" else None
            made = raw[:start] + raw[end:]
            yield Change("member", start, "-1", title, made, feature=feature)
        member = raw[start:end]
        if name == "type" and (found := _TYPE.fullmatch(member)):
            title = f"the type at byte {start} is upsert"
            made = raw[:start] + found[1] + b'"upsert"' + raw[end:]
            yield Change("tag", start, "=upsert", title, made)
        found = _NAME.fullmatch(member) if name in _NAMES else None
        if found is not None and not reads_as_json(found[2]):
            title = f"the value at byte {start} has no quotes"
            made = raw[:start] + found[1] + found[2] + raw[end:]
            yield Change("quote", start, "", title, made)


def is_read(spans: Sequence[Span]) -> bool:
    """Return whether readers look into the key: that of a schema change is a random UUID."""
    is_schema_change = any(
        span.path == ("type",) and span.value in SCHEMA_CHANGES for span in spans
    )
    return not (is_schema_change and any(span.part == "key" for span in spans))


RULES = FormatRules(
    parts=("key", "value"),
    legal_sizes=legal_sizes,
    changes=changes,
    long_part=_LONG_PART,
    is_read=is_read,
)

LIBERTIES = Liberties(
    unchecked=frozenset({"maxwell-json: definitions", "maxwell-json: limits"}),
    scalars=frozenset(
        {
            *("maxwell-json: timestamp", "maxwell-json: transactions", "maxwell-json: position"),
            *("maxwell-json: query", "maxwell-json: primary key", "maxwell-json: numbers"),
            *("maxwell-json: texts", "maxwell-json: temporal values"),
            *("maxwell-json: enum and set values",),
        }
    ),
    mend=mend_json,
)

SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#7d8f3a",
        note=(
            "`maxwell-json` has one row per message without types, so its figures are the same "
            "for every batch size."
        ),
        has_one_row_per_message=True,
    ),
)
