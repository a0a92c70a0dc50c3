"""Open Protocol as a format: what the registry offers to the runner, the command line and Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from cdcwire.core.checks import checks
from cdcwire.core.claim_check import with_claim_checks
from cdcwire.core.comparing import Comparing
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.message import Message, StoredFile
from cdcwire.core.orders import COMMIT_TS
from cdcwire.format import Format
from cdcwire.formats.open_protocol.batching import messages_of
from cdcwire.formats.open_protocol.carries import CARRIES
from cdcwire.formats.open_protocol.events import events_of
from cdcwire.formats.open_protocol.fast import RowDecoder
from cdcwire.formats.open_protocol.fast_encoder import RowEncoder
from cdcwire.formats.open_protocol.identify import identify
from cdcwire.formats.open_protocol.settings import OPTIONS, read_settings
from cdcwire.formats.open_protocol.spans import spans
from cdcwire.formats.open_protocol.wire import decode
from cdcwire.model.events import Event
from cdcwire.mysql.carries import MYSQL_FEATURES

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
