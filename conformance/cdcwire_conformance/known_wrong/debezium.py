"""Known-wrong decoders of what Debezium and CDL say of rows and around them.

A reader meets deletes with made-up columns, updates without old row, messages without value, rows
of a snapshot, and in CDL a transaction's properties by name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace

from cdcwire.core.errors import DecodeError
from cdcwire.core.format import Context, Format, OptionValue
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.model.events import Event, RowChange
from cdcwire_conformance.known_wrong.decoder import (
    CONNECT,
    Decode,
    KnownWrong,
    changing_events,
    changing_rows,
    right,
)
from cdcwire_conformance.known_wrong.structure import mended

_CDL = ("cdl-json",)
_DEBEZIUM = ("debezium-json",)


def _with_options(**options: OptionValue) -> Decode:
    """Return the reference under settings that nobody asked for."""
    told = {name.replace("_", "-"): value for name, value in options.items()}

    def decode(format_: Format, message: Message, context: Context) -> list[Event]:
        known = {option.name for option in format_.options}
        more = {name: value for name, value in told.items() if name in known}
        return right(format_, message, replace(context, options={**context.options, **more}))

    return decode


def _refusing(is_odd: Callable[[Message, list[Event]], bool]) -> Decode:
    """Return a decoder that breaks down where a message is not as it was thought to be."""

    def decode(format_: Format, message: Message, context: Context) -> list[Event]:
        events = right(format_, message, context)
        if is_odd(message, events):
            raise DecodeError("an odd message", 0, "")
        return events

    return decode


def _has_no_value(message: Message, events: list[Event]) -> bool:
    return message.value is None


def _lacks_before(message: Message, events: list[Event]) -> bool:
    return any(
        isinstance(event, RowChange) and event.op == "update" and event.before is None
        for event in events
    )


_LISTED = ("true", "last", "false", "incremental", None)  # by the schema of 2.7


def _has_unlisted_snapshot(message: Message, events: list[Event]) -> bool:
    return any(event.extra.get("snapshot") not in _LISTED for event in events)


def _begins_with_payload(message: Message, events: list[Event]) -> bool:
    return (message.value or b"").lstrip().startswith(b'{"payload"')


def _read_as_insert(row: RowChange) -> Event:
    return replace(row, op="insert") if row.op == "read" else row


def _snapshot_rows_lost(row: RowChange) -> Event | None:
    return None if row.op == "read" else row


def _table_with_schema(row: RowChange) -> Event:
    name = f"{row.table.schema}.{row.table.name}"
    return replace(row, table=replace(row.table, name=name))


def _lsn_through_double(event: Event) -> Event:
    lsn = event.position.lsn
    if lsn is None:
        return event
    return replace(event, position=replace(event.position, lsn=int(float(lsn))))


def _times_swapped(event: Event) -> Event:
    at = event.position
    return replace(event, position=replace(at, commit_ms=at.sent_ms, sent_ms=at.commit_ms))


def _identifier_as_heartbeat(row: RowChange) -> Event | None:
    return None if row.extra.get("heartbeat_identifier") else row


def _properties_by_place(format_: Format, message: Message, context: Context) -> list[Event]:
    """Take the first property for the lsn, the second for the transaction's id."""
    events = right(format_, message, context)
    try:
        document = json.loads(message.value or b"null")
        pairs = document.get("payload", document)["transaction"]["properties"]
        numbers = [pair["value"] for pair in pairs]
    except (ValueError, TypeError, KeyError, AttributeError):
        return events
    lsn, tx_id = ([*numbers, None, None])[:2]
    told = None if tx_id is None else str(tx_id)
    return [
        replace(event, position=replace(event.position, lsn=lsn, tx_id=told)) for event in events
    ]


def _with_own_version(message: Message) -> Iterable[Message]:
    for version in (b"1.0", b"2.0"):
        for other in (b"1.0", b"2.0", b"3.0"):
            member = b'"message_version":"%s"'
            changed = (message.value or b"").replace(member % other, member % version)
            if changed != message.value:
                yield replace(message, value=changed)


def _with_last_member(message: Message) -> Iterable[Message]:
    """Give a message with the last of members that stand twice, as most readers of JSON take it."""
    assert isinstance(message, KafkaMessage)
    try:
        once = json.dumps(json.loads(message.value or b""), ensure_ascii=False)
        yield replace(message, value=once.encode())
    except ValueError:
        return


DEBEZIUM_FAULTS: tuple[KnownWrong, ...] = (
    KnownWrong(
        "null-as-default",
        "NULL arrives as the column's default",
        _with_options(replace_null_with_default=True),
        _DEBEZIUM,
        ("50",),
    ),
    KnownWrong(
        "made-up-columns-trusted",
        "what a delete has beside its key is taken for the old row",
        _with_options(replica_identity="full"),
        _DEBEZIUM,
    ),
    KnownWrong(
        "warnings-as-errors",
        "members and values that a reader is to pass over are refused",
        _with_options(lint="strict"),
        _DEBEZIUM,
    ),
    KnownWrong(
        "tombstone-crash",
        "a message without value breaks it",
        _refusing(_has_no_value),
        _DEBEZIUM,
        ("66",),
    ),
    KnownWrong(
        "before-needed",
        "an update without its old row is refused",
        _refusing(_lacks_before),
        _DEBEZIUM,
        ("65",),
    ),
    KnownWrong(
        "snapshot-by-list",
        "states of a snapshot that the schema does not list are refused",
        _refusing(_has_unlisted_snapshot),
        _DEBEZIUM,
    ),
    KnownWrong(
        "schema-first",
        "a payload that stands before its schema is refused",
        _refusing(_begins_with_payload),
        _DEBEZIUM,
    ),
    KnownWrong(
        "read-as-insert",
        "rows of a snapshot are inserts, though nobody asked for it",
        changing_rows(_read_as_insert),
        _DEBEZIUM,
    ),
    KnownWrong(
        "snapshot-rows-lost",
        "rows of a snapshot are skipped",
        changing_rows(_snapshot_rows_lost),
        _DEBEZIUM,
    ),
    KnownWrong(
        "table-with-schema",
        "the schema's name is put in front of the table's",
        changing_rows(_table_with_schema),
        CONNECT,
    ),
    KnownWrong(
        "lsn-through-double",
        "an lsn above 2^53 loses its last digits",
        changing_events(_lsn_through_double),
        CONNECT,
        ("9",),
    ),
    KnownWrong(
        "handled-for-committed",
        "the connector's time is taken for the source's",
        changing_events(_times_swapped),
        _DEBEZIUM,
    ),
    KnownWrong(
        "identifier-as-heartbeat",
        "a change with HEARTBEAT_IDENTIFIER is dropped as a heartbeat",
        changing_rows(_identifier_as_heartbeat),
        _CDL,
    ),
    KnownWrong(
        "properties-by-place",
        "the properties of a transaction are read by their place, not by their names",
        _properties_by_place,
        _CDL,
    ),
    KnownWrong(
        "any-message-version",
        "a message of any message_version is read",
        mended(_with_own_version),
        _CDL,
    ),
    KnownWrong(
        "last-member-wins",
        "of members that stand twice the last one is taken",
        mended(_with_last_member),
        CONNECT,
    ),
)
