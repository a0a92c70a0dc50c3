"""The producer's options, which the bytes don't say, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias, cast

from cdcwire.core.format import Compression, Option, OptionError, OptionValue, parse_options
from cdcwire.formats.canal_json.message import Dialect
from cdcwire.storage.paths import DateSeparator, Layout

LargeMessage: TypeAlias = Literal["none", "handle-key-only", "claim-check"]
Transport: TypeAlias = Literal["queue", "storage"]

EXTENSION = ".json"
DEFAULT_LAYOUT = Layout(extension=EXTENSION)

OPTIONS: tuple[Option, ...] = (
    Option("enable-tidb-extension", False, "messages have _tidb, and there are watermarks"),
    Option(
        "only-output-updated-columns",
        False,
        "an update tells the old value of changed columns only",
    ),
    Option(
        "content-compatible",
        False,
        "the same, and mysqlType with its parameters",
    ),
    Option(
        "delete-only-output-handle-key-columns", False, "a delete has its handle-key columns only"
    ),
    Option("max-message-bytes", 10485760, "size from which on a message is too large"),
    Option(
        "large-message-handle-option",
        "none",
        "what becomes of a row that is too large",
        ("none", "handle-key-only", "claim-check"),
    ),
    Option(
        "large-message-handle-compression",
        "none",
        "compression of each message; lz4 and snappy need functions that the caller gives",
        ("none", "lz4", "snappy"),
    ),
    Option("claim-check-storage-uri", "", "where claim-check files are stored"),
    Option("dialect", "ticdc", "which producer's way of writing", ("ticdc", "canal")),
    Option("transport", "queue", "what is written: messages or files", ("queue", "storage")),
    Option("terminator", "\r\n", "what follows each row in a file"),
    Option(
        "date-separator",
        "day",
        "the part of a date in the path of a file",
        ("none", "year", "month", "day"),
    ),
    Option("enable-partition-separator", True, "paths have the partition"),
    Option("file-index-digit", 20, "digits of the file number in a path"),
    Option("file-size", 67108864, "size from which on a file is full"),
    Option("sent-time", "", "ts of what has no own time, in milliseconds; empty: the same as es"),
    Option("time-zone", "", "zone of TIMESTAMP texts; empty: unknown"),
)

NO_COMPRESSIONS: Mapping[str, Compression] = MappingProxyType({})
_MAX_TIME_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Settings:
    """The options, one field each. ``time_zone`` None: unknown. Sizes are in bytes.

    ``only_updated_columns``: what ``content-compatible`` and the official Canal bring too.
    """

    tidb_extension: bool = False
    only_updated_columns: bool = False
    content_compatible: bool = False
    delete_only_handle_key: bool = False
    max_message_bytes: int = 10485760
    large_message: LargeMessage = "none"
    compression: Compression | None = None
    claim_check_storage_uri: str = ""
    dialect: Dialect = "ticdc"
    transport: Transport = "queue"
    terminator: bytes = b"\r\n"
    layout: Layout = DEFAULT_LAYOUT
    file_size: int = 67108864
    sent_ms: int | None = None
    time_zone: str | None = None

    @property
    def tells_changed_columns(self) -> bool:
        """Whether ``old`` has the changed columns only."""
        return self.only_updated_columns or self.content_compatible or self.dialect == "canal"

    @property
    def has_full_types(self) -> bool:
        """Whether ``mysqlType`` has parameters."""
        return self.content_compatible or self.dialect == "canal"


DEFAULT_SETTINGS = Settings()


def read_settings(
    given: Mapping[str, OptionValue], compressions: Mapping[str, Compression] = NO_COMPRESSIONS
) -> Settings:
    """Return settings from options by name.

    ``compressions``: the functions for ``lz4`` and ``snappy``, which the standard library lacks.
    Raises: OptionError for an unknown option, a value that it does not allow, large messages
    without the extension that says so, or a compression without functions.
    """
    values = parse_options(OPTIONS, given)
    name = str(values["large-message-handle-compression"])
    if name != "none" and name not in compressions:
        raise OptionError(
            f"option large-message-handle-compression={name!r} needs a pair of functions to "
            "compress and decompress, and none was given"
        )
    large = cast(LargeMessage, values["large-message-handle-option"])
    has_extension = bool(values["enable-tidb-extension"])
    if large != "none" and not has_extension:
        raise OptionError(
            f"option large-message-handle-option={large!r} needs enable-tidb-extension, which "
            "tells a reader of it"
        )
    return Settings(
        tidb_extension=has_extension,
        only_updated_columns=bool(values["only-output-updated-columns"]),
        content_compatible=bool(values["content-compatible"]),
        delete_only_handle_key=bool(values["delete-only-output-handle-key-columns"]),
        max_message_bytes=int(values["max-message-bytes"]),
        large_message=large,
        compression=compressions.get(name),
        claim_check_storage_uri=str(values["claim-check-storage-uri"]),
        dialect=cast(Dialect, values["dialect"]),
        transport=cast(Transport, values["transport"]),
        terminator=_terminator(str(values["terminator"])),
        layout=Layout(
            cast(DateSeparator, values["date-separator"]),
            bool(values["enable-partition-separator"]),
            int(values["file-index-digit"]),
            EXTENSION,
        ),
        file_size=int(values["file-size"]),
        sent_ms=_sent_ms(str(values["sent-time"])),
        time_zone=str(values["time-zone"]) or None,
    )


def _terminator(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise OptionError(f"option terminator={text!r} is no text in UTF-8") from None


def _sent_ms(text: str) -> int | None:
    if not text:
        return None
    if text.isascii() and text.isdigit() and len(text) <= _MAX_TIME_DIGITS:
        return int(text)
    raise OptionError(f"option sent-time={text!r} is no number of milliseconds")
