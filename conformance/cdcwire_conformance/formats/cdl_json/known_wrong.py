"""Known-wrong decoders of cdl-json."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

from cdcwire.core.context import Context
from cdcwire.core.message import Message
from cdcwire.format import Format
from cdcwire.model.events import Event, RowChange
from cdcwire_conformance.families.connect_known_wrong import CONNECT_FAULTS
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    mending,
    right,
    wrong_decoder,
    wrong_rows,
)


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
