"""The suite's facts about cdl-json.

Derived cases of CDL JSON: those of Connect's JSON, at the members that a change has. A message
without value is a tombstone; such a case has nothing to change.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from cdcwire.core.context import Context
from cdcwire.core.message import Message
from cdcwire.core.reader import Span
from cdcwire.format import Format
from cdcwire.model.events import Event, RowChange
from cdcwire_conformance.families.connect import (
    CONNECT_FAULTS,
    CONNECT_SCALARS,
    CONNECT_UNCHECKED,
    LONG_PART,
    changes_of,
    legal_sizes,
)
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    mending,
    right,
    wrong_decoder,
    wrong_rows,
)
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_json
from cdcwire_conformance.mutations import FormatRules
from cdcwire_conformance.suite import FormatSuite, SizeFacts


@wrong_rows("a change with HEARTBEAT_IDENTIFIER is dropped as a heartbeat")
def identifier_as_heartbeat(row: RowChange) -> Event | None:
    """Drop a row change that has a heartbeat identifier."""
    return None if row.extra.get("heartbeat_identifier") else row


@wrong_decoder("the properties of a transaction are read by their place, not by their names")
def properties_by_place(format_: Format, message: Message, context: Context) -> list[Event]:
    """Take the first property for the lsn, the second for the transaction's id."""
    events = right(format_, message, context)
    try:
        document = json.loads(message.value or b"null")
        pairs = document.get("payload", document)["transaction"]["properties"]
        numbers = [pair["value"] for pair in pairs]
    except (ValueError, TypeError, KeyError, AttributeError):
        return events
    lsn, tx_id = ([*numbers, None, None])[:2]
    tx = None if tx_id is None else str(tx_id)
    return [replace(event, position=replace(event.position, lsn=lsn, tx_id=tx)) for event in events]


@mending("a message of any message_version is read")
def any_message_version(message: Message) -> Iterable[Message]:
    """Yield the message with another ``message_version``."""
    for version in (b"1.0", b"2.0"):
        for other in (b"1.0", b"2.0", b"3.0"):
            member = b'"message_version":"%s"'
            changed = (message.value or b"").replace(member % other, member % version)
            if changed != message.value:
                yield replace(message, value=changed)


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *CONNECT_FAULTS,
    identifier_as_heartbeat,
    properties_by_place,
    any_message_version,
)


_NEEDED = ("SEG_OWNER", "TABLE_NAME", "TIMESTAMP", "OPERATION")


def is_read(spans: Sequence[Span]) -> bool:
    """Return whether readers look into the key: one that is not an object may be any bytes."""
    return not any(span.part == "key" and span.clause == "cdl-json: kafka keys" for span in spans)


RULES = FormatRules(
    parts=("key", "value"),
    legal_sizes=legal_sizes,
    changes=changes_of(
        frozenset((name,) for name in _NEEDED),
        {"OPERATION": "UPSERT"},
        frozenset({("TIMESTAMP",)}),
    ),
    long_part=LONG_PART,
    is_read=is_read,
)


LIBERTIES = Liberties(
    unchecked=CONNECT_UNCHECKED | {"cdl-json: message version"},
    scalars=CONNECT_SCALARS,
    mend=mend_json,
)

SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#3f9a9c",
        note=(
            "`cdl-json` has one row per message, with the schema of its table unless the "
            "option schemas-enable is false. It keeps milliseconds: rows with more digits of "
            "a second are left out."
        ),
        has_one_row_per_message=True,
    ),
)
