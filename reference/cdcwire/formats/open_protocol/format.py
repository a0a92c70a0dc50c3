"""Open Protocol as a format: what the registry offers to the runner, the command line and Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from cdcwire.core.claim_check import with_claim_checks
from cdcwire.core.comparing import Comparing
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.guess import Guess, OptionValues, json_object
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.core.options import OptionValue
from cdcwire.core.orders import COMMIT_TS
from cdcwire.format import Format, checks
from cdcwire.formats.open_protocol.batching import messages_of
from cdcwire.formats.open_protocol.events import events_of
from cdcwire.formats.open_protocol.fast import RowDecoder
from cdcwire.formats.open_protocol.fast_encoder import RowEncoder
from cdcwire.formats.open_protocol.message import DDL, KEY
from cdcwire.formats.open_protocol.settings import OPTIONS, read_settings
from cdcwire.formats.open_protocol.spans import spans
from cdcwire.formats.open_protocol.wire import ItemBounds, decode, read_key_frame, read_value_frame
from cdcwire.model.carries import EXACT, NO, Carries, CarryVerdict, as_form, lossy, option
from cdcwire.model.events import Event
from cdcwire.mysql.carries import LABELS_AS_INDEXES, MYSQL_FEATURES, mysql_kinds
from cdcwire.mysql.settings import compressions_of

_VALUE_MEMBERS = ({"u"}, {"d"}, {"u", "p"}, DDL.required)
_SEEN = 8  # items that are looked into


def identify(message: Message) -> Guess | None:
    """Return what shows that a message is Open Protocol: its key, or the frame of its value."""
    if not isinstance(message, KafkaMessage):
        return None
    return _of_value(message.value or b"") if message.key is None else _of_key(message)


def _of_key(message: KafkaMessage) -> Guess | None:
    key, value = message.key or b"", message.value or b""
    try:
        places = read_key_frame(key)
    except DecodeError:
        return None
    first = json_object(_item(key, places[0]))
    if first is None or not KEY.required <= first.keys():
        return None
    values = _places(value)
    alternatives = _compressions(value, values) if values else ()
    return Guess(
        "the key has batch version 1, and an item with the members ts and t",
        "key",
        0,
        alone="sure",
        options=_options(key, places, value, values),
        alternatives=({}, *alternatives, {"dialect": "ticdc"}),
        facts={"version": "1", "batch": "one item" if len(places) == 1 else "several items"},
    )


def _of_value(value: bytes) -> Guess | None:
    """Return what a value alone shows: its key is missing, so it cannot be decoded."""
    places = _places(value)
    first = json_object(_item(value, places[0])) if places else None
    if first is None or set(first) not in _VALUE_MEMBERS:
        return None
    members = ", ".join(sorted(first))
    evidence = (
        f"a length of 8 bytes, then JSON with the members {members}; the Kafka key is missing"
    )
    return Guess(evidence, alone="likely", facts={"batch version": "unknown: no key"})


def _places(value: bytes) -> list[ItemBounds]:
    try:
        return read_value_frame(value)
    except DecodeError:
        return []


def _item(data: bytes, place: ItemBounds) -> bytes:
    return data[place[0] : place[1]]


def _compressions(value: bytes, places: list[ItemBounds]) -> tuple[OptionValues, ...]:
    for place in places[:_SEEN]:
        item = _item(value, place)
        if item and not item.startswith(b"{"):
            return compressions_of(item)
    return ()


def _options(
    key: bytes, keys: list[ItemBounds], value: bytes, values: list[ItemBounds]
) -> OptionValues:
    """Return the settings that items show."""
    found: dict[str, OptionValue] = {}
    for place in keys[:_SEEN]:
        item = _item(key, place)
        members = json_object(item) or {}
        if item.count(b'"ohk":') > 1:  # as the newer producer has it with a claim check
            found["dialect"] = "ticdc"
        if members.get("ccl"):
            found["large-message-handle-option"] = "claim-check"
        elif members.get("ohk") is True:
            found["large-message-handle-option"] = "handle-key-only"
    for place in values[:_SEEN]:
        row = json_object(_item(value, place)) or {}
        new, old = row.get("u"), row.get("p")
        if isinstance(new, dict) and isinstance(old, dict) and old and old.keys() < new.keys():
            found["only-output-updated-columns"] = True
    return found


FEATURES: Mapping[str, str] = MappingProxyType(
    {
        **MYSQL_FEATURES,
        "vector": "VECTOR",
        "position": "commit timestamps and partitions of events",
        "key": "the handle key columns of a row",
        "ddl": "schema changes",
        "resolved": "resolved timestamps",
        "partition": "rows of partitioned tables, with their partition",
        "delete-only-output-handle-key-columns": "the setting of this name",
        "only-output-updated-columns": "the setting of this name",
        "output-old-value": "the setting of this name, when it is off",
        "handle-key-only": "large messages cut to the handle key",
        "claim-check": "large messages stored outside the queue",
        "compression": "value items compressed with lz4 or snappy",
        "dialect ticdc": "the way of writing of the newer producer",
        **checks(
            "integer ranges",
            "text shapes",
            "json types",
            "well-formed utf-8",
            "lone surrogates",
            "unique names",
            "strict json",
            "strict base64",
            "undefined types",
            "limits",
        ),
    }
)

CHOICES: Mapping[str, str] = MappingProxyType(
    {
        "claim-check-file-missing": "give the handle key and the location",
        "duplicate-ohk": "last one wins",
        "empty-row": "reject",
        "handle-key": "h or flag bit 1",
        "missing-value": "reject",
        "old-column-without-name": "reject",
        "ptn-zero": "read as none",
        "raw-utf8": "read as U+FFFD",
        "resolved-null-value": "accept",
        "rid-zero": "read as none",
        "unknown-version": "reject",
    }
)


def plain_events(message: Message, *, context: Context = NO_CONTEXT) -> Iterator[Event]:
    """Yield the neutral events of a message. Raises: DecodeError, OptionError."""
    settings = read_settings(context)
    if isinstance(message, StoredFile):
        return  # a claim-check file: the message that names it has its row
    decoded = decode(message.value, key=message.key, context=context)
    yield from events_of(decoded, settings, context.blobs, context.selection)


def from_events(events: Iterable[Event], *, context: Context = NO_CONTEXT) -> Iterator[Message]:
    """Yield messages, batched as the producer does. Raises: EncodeError, OptionError."""
    settings = read_settings(context)
    yield from messages_of(events, settings, context.tables)


_KINDS: dict[str, CarryVerdict] = {
    **LABELS_AS_INDEXES,
    "bool": as_form("int8"),
    "float not finite": NO,
    "text ill-formed": lossy(
        "ill-formed bytes of CHAR and VARCHAR, each becomes U+FFFD", replaced="in CHAR and VARCHAR"
    ),
}
CARRIES = Carries(
    fields={
        "op": EXACT,
        "before of update": option("output-old-value"),
        "before of delete": EXACT,
        "key": EXACT,
        "commit_ts": EXACT,
        "sequence_id": NO,
        "lsn": NO,
        "tx_id": NO,
        "commit_ms": NO,
        "sent_ms": NO,
        "partition": EXACT,
        "types": EXACT,
        "schema change": EXACT,
        "progress": EXACT,
        "markers": NO,
    },
    kinds=mysql_kinds(_KINDS),
)
"""The event fields and kinds that Open Protocol carries under the default options."""

FORMAT = Format(
    name="open-protocol",
    protocols=("open-protocol", "default"),
    title="TiCDC Open Protocol",
    page="docs/formats/open-protocol.md",
    to_events=plain_events,
    from_events=from_events,
    spans=spans,
    identify=identify,
    options=OPTIONS,
    carries=CARRIES,
    comparing=Comparing(
        orders=(COMMIT_TS,),
        sends_operation=False,
        not_compared=("row ids", "claim checks"),
        sends_changed_columns=lambda options: bool(options["only-output-updated-columns"]),
    ),
    features=FEATURES,
    choices=CHOICES,
    prepared=with_claim_checks,
    has_claim_checks=True,
    fast_decoder=RowDecoder,
    fast_encoder=RowEncoder,
    skips_columns=True,
)
to_events = FORMAT.events
explain = FORMAT.explain
