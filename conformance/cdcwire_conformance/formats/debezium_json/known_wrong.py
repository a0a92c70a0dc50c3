"""Known-wrong decoders of debezium-json."""

from __future__ import annotations

from dataclasses import replace

from cdcwire.core.message import Message
from cdcwire.model.events import Event, RowChange
from cdcwire_conformance.families.connect_known_wrong import CONNECT_FAULTS
from cdcwire_conformance.formats.debezium_json.known_wrong_values import VALUE_FAULTS
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    changing_events,
    changing_rows,
    refusing,
    under_options,
)
from cdcwire_conformance.known_wrong.events import (
    OLD_ROWS,
    OPERATIONS,
    SCHEMA_CHANGES,
    times_swapped,
)
from cdcwire_conformance.known_wrong.values import BINARY_AND_JSON, CUT_VALUES, NUMBERS_AND_TEXTS


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


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *CONNECT_FAULTS,
    *CUT_VALUES,
    *NUMBERS_AND_TEXTS,
    *BINARY_AND_JSON,
    *OPERATIONS,
    *OLD_ROWS,
    *SCHEMA_CHANGES,
    *VALUE_FAULTS,
    KnownWrong(
        "null-as-default",
        "NULL arrives as the column's default",
        under_options(replace_null_with_default=True),
        ("50",),
    ),
    KnownWrong(
        "made-up-columns-trusted",
        "what a delete has beside its key is taken for the old row",
        under_options(replica_identity="full"),
    ),
    KnownWrong(
        "warnings-as-errors",
        "members and values that a reader is to pass over are refused",
        under_options(lint="strict"),
    ),
    KnownWrong(
        "tombstone-crash", "a message without value breaks it", refusing(_has_no_value), ("66",)
    ),
    KnownWrong(
        "before-needed",
        "an update without its old row is refused",
        refusing(_lacks_before),
        ("65",),
    ),
    KnownWrong(
        "snapshot-by-list",
        "states of a snapshot that the schema does not list are refused",
        refusing(_has_unlisted_snapshot),
    ),
    KnownWrong(
        "schema-first",
        "a payload that stands before its schema is refused",
        refusing(_begins_with_payload),
    ),
    KnownWrong(
        "read-as-insert",
        "rows of a snapshot are inserts, without the option",
        changing_rows(_read_as_insert),
    ),
    KnownWrong(
        "snapshot-rows-lost", "rows of a snapshot are skipped", changing_rows(_snapshot_rows_lost)
    ),
    KnownWrong(
        "handled-for-committed",
        "the connector's time is taken for the source's",
        changing_events(times_swapped),
    ),
)
