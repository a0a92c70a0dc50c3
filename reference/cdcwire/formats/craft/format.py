"""Craft as a format: what the registry offers to the runner, the command line and Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from cdcwire.core.comparing import Comparing
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.guess import Guess
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.orders import COMMIT_TS
from cdcwire.core.reader import Reader, read_uvarint
from cdcwire.format import Format, checks
from cdcwire.formats.craft.events import event_of, messages_of
from cdcwire.formats.craft.fast import RowDecoder
from cdcwire.formats.craft.fast_encoder import RowEncoder
from cdcwire.formats.craft.profile import CRAFT, present
from cdcwire.formats.craft.settings import OPTIONS, read_settings
from cdcwire.formats.craft.spans import spans
from cdcwire.formats.craft.wire import VERSION, encode, read_bodies, read_head
from cdcwire.model.carries import EXACT, NO, Carries, CarryVerdict, as_form
from cdcwire.model.events import Event
from cdcwire.mysql.carries import LABELS_AS_INDEXES, MYSQL_FEATURES, mysql_kinds

_CLAUSE = "craft: version"
_MAX_VERSION_BYTES = 10

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
        **checks(
            "integer ranges",
            "text shapes",
            "well-formed utf-8",
            "unique names",
            "undefined types",
            "limits",
        ),
    }
)

CHOICES: Mapping[str, str] = MappingProxyType({"unknown-version": "reject"})


def identify(message: Message) -> Guess | None:
    """Return what shows that a message is Craft: the version, and tables that fit together."""
    if not isinstance(message, KafkaMessage) or not message.value:
        return None
    try:
        version = read_uvarint(Reader(message.value[:_MAX_VERSION_BYTES]), _CLAUSE)
    except DecodeError:
        return None
    if version != VERSION:
        return None
    return Guess("the version of Craft is 1", facts={"version": "1"})


def plain_events(message: Message, *, context: Context = NO_CONTEXT) -> Iterator[Event]:
    """Yield the neutral events of a message. Raises: DecodeError, OptionError.

    Examples:
        >>> from cdcwire import KafkaMessage, get_format
        >>> value = bytes.fromhex("010003010101020a09010005")
        >>> [event] = get_format("craft").to_events(KafkaMessage(None, value))
        >>> event.what, event.position.commit_ts
        ('resolved', 0)

    """
    settings = read_settings(context)
    head = read_head(Reader(present(message.value, CRAFT)))
    for event in read_bodies(head.bodies, head, context.selection):
        yield event_of(event, settings)


def from_events(events: Iterable[Event], *, context: Context = NO_CONTEXT) -> Iterator[Message]:
    """Yield messages, batched as the producer does. Raises: EncodeError, OptionError.

    Examples:
        >>> from cdcwire import craft
        >>> from cdcwire.model.events import Position, Progress
        >>> [message] = craft.from_events([Progress("resolved", Position(commit_ts=1))])
        >>> message.value.hex()
        '010103010101020a09010005'

    """
    for message in messages_of(events, read_settings(context), context.tables):
        yield KafkaMessage(None, encode(message))


_FIELDS: Mapping[str, CarryVerdict] = MappingProxyType(
    {
        "op": EXACT,
        "before of update": EXACT,
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
    }
)
_KINDS: dict[str, CarryVerdict] = {
    **LABELS_AS_INDEXES,
    "bool": as_form("int8"),
}

CARRIES = Carries(_FIELDS, mysql_kinds(_KINDS))
"""The two Craft formats carry the same: the proposal differs in bytes, not in meaning."""
"""The parts of the model that Craft can carry: the truth about ``to_events(from_events(...))``."""

FORMAT = Format(
    name="craft",
    protocols=("craft",),
    title="TiCDC Craft, as shipped",
    page="docs/formats/craft.md",
    to_events=plain_events,
    from_events=from_events,
    spans=spans,
    cuts_spans=lambda error: False,
    identify=identify,
    options=OPTIONS,
    carries=CARRIES,
    comparing=Comparing(
        orders=(COMMIT_TS,),
    ),
    features=FEATURES,
    choices=CHOICES,
    fast_decoder=RowDecoder,
    fast_encoder=RowEncoder,
    skips_columns=True,
)
to_events = FORMAT.events
explain = FORMAT.explain
