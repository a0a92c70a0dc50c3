"""Craft as a format: what the registry offers to the runner, the command line and Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from cdcwire.core.format import Context, Format
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.formats.craft.carries import CARRIES
from cdcwire.formats.craft.events import from_events, to_events
from cdcwire.formats.craft.explain import explain
from cdcwire.formats.craft.fast import RowDecoder
from cdcwire.formats.craft.settings import OPTIONS, read_settings
from cdcwire.formats.craft.wire import decode, encode
from cdcwire.model.events import Event

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "unsigned": "integers with the unsigned flag, up to 2**64-1",
        "float": "FLOAT and DOUBLE",
        "decimal": "DECIMAL",
        "text": "CHAR, VARCHAR and the TEXT types",
        "bytes": "BINARY, VARBINARY and the BLOB types",
        "date": "DATE",
        "time": "TIME",
        "datetime": "DATETIME",
        "timestamp": "TIMESTAMP",
        "year": "YEAR",
        "bit": "BIT",
        "enum": "ENUM",
        "set": "SET",
        "json": "JSON",
        "vector": "VECTOR",
        "position": "commit timestamps and partitions of events",
        "key": "the handle key columns of a row",
        "ddl": "schema changes",
        "resolved": "resolved timestamps",
        "partition": "rows of partitioned tables, with their partition",
        "delete-only-output-handle-key-columns": "the setting of this name",
    }
)


def _decode(message: Message, context: Context) -> Iterator[Event]:
    decoded = decode(message.value, context=context)
    yield from to_events(decoded, read_settings(context))


def _encode(events: Iterable[Event], context: Context) -> Iterator[Message]:
    for message in from_events(events, read_settings(context), context.tables):
        yield KafkaMessage(None, encode(message))


FORMAT = Format(
    name="craft",
    title="TiCDC Craft, as shipped",
    page="docs/formats/craft.md",
    decode=_decode,
    encode=_encode,
    explain=explain,
    options=OPTIONS,
    carries=CARRIES,
    features=FEATURES,
    fast_decoder=RowDecoder,
    skips_columns=True,
)
