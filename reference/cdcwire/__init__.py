"""Reference codecs for change-data-capture wire formats: bytes in, values out.

Each documented format is a package (``from cdcwire import craft``), imported when it is first used.
All formats share the errors, the neutral model of events and types, and the registry of formats:
``Decoder("craft").decode(record)`` gives the changes of a record of any Kafka client.
The codecs open no file, socket or clock. This package needs only the standard library.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as in typing, which takes longer to import than all of this package
if TYPE_CHECKING:
    from typing import Any

    from cdcwire.changes import Bad, Change
    from cdcwire.core.context import Compression, Context
    from cdcwire.core.errors import DecodeError, EncodeError, TruncatedError
    from cdcwire.core.message import KafkaMessage, StoredFile
    from cdcwire.core.options import OptionError
    from cdcwire.decoder import Decoder, decode, to_arrow
    from cdcwire.encoder import Encoder
    from cdcwire.feed import Feed, FeedError, open
    from cdcwire.format import Format
    from cdcwire.model.events import Marker, Progress, RowChange, SchemaChange, Table
    from cdcwire.model.kinds import Column
    from cdcwire.registry import *  # noqa: F403 (the formats, for type checkers)
    from cdcwire.registry import FORMAT_NAMES, get_format

__all__ = [
    "FORMAT_NAMES",
    "Bad",
    "Change",
    "Column",
    "Compression",
    "Context",
    "DecodeError",
    "Decoder",
    "EncodeError",
    "Encoder",
    "Feed",
    "FeedError",
    "Format",
    "KafkaMessage",
    "Marker",
    "OptionError",
    "Progress",
    "RowChange",
    "SchemaChange",
    "StoredFile",
    "Table",
    "TruncatedError",
    "__version__",
    "decode",
    "get_format",
    "open",
    "to_arrow",
]

__version__ = "0.1.0"

_MODULES = {
    "DecodeError": "cdcwire.core.errors",
    "EncodeError": "cdcwire.core.errors",
    "TruncatedError": "cdcwire.core.errors",
    "Compression": "cdcwire.core.context",
    "Context": "cdcwire.core.context",
    "OptionError": "cdcwire.core.options",
    "Bad": "cdcwire.changes",
    "Change": "cdcwire.changes",
    "Decoder": "cdcwire.decoder",
    "decode": "cdcwire.decoder",
    "to_arrow": "cdcwire.decoder",
    "Marker": "cdcwire.model.events",
    "Progress": "cdcwire.model.events",
    "RowChange": "cdcwire.model.events",
    "SchemaChange": "cdcwire.model.events",
    "Table": "cdcwire.model.events",
    "Column": "cdcwire.model.kinds",
    "Encoder": "cdcwire.encoder",
    "Feed": "cdcwire.feed",
    "FeedError": "cdcwire.feed",
    "open": "cdcwire.feed",
    "Format": "cdcwire.format",
    "KafkaMessage": "cdcwire.core.message",
    "StoredFile": "cdcwire.core.message",
    "FORMAT_NAMES": "cdcwire.registry",
    "get_format": "cdcwire.registry",
}


def __getattr__(name: str) -> Any:
    """Import a public name, or a format by the name of its package, when it is first used."""
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    from cdcwire.registry import package_of

    try:
        package = package_of(name.replace("_", "-"))
    except ValueError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    return import_module(f"cdcwire.formats.{package}")


def __dir__() -> list[str]:
    """Return the public names and the formats, which are imported when they are first used."""
    from cdcwire.registry import FORMAT_NAMES

    return sorted({*__all__, *(name.replace("-", "_") for name in FORMAT_NAMES)})
