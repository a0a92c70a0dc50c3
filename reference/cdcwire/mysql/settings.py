"""Options that several formats of TiCDC share, and the signs of compressed values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from cdcwire.core.context import Compression
from cdcwire.core.guess import OptionValues
from cdcwire.core.limits import decompressed_bytes
from cdcwire.core.options import OptionError, changefeed, from_context, option
from cdcwire.model.instants import is_zone

LargeMessage: TypeAlias = Literal["none", "handle-key-only", "claim-check"]

_KAFKA = "sink.kafka-config"
_LARGE_MESSAGE = f"{_KAFKA}.large-message-handle"

# The settings of options that formats declare differently.
MAX_MESSAGE_BYTES = changefeed(f"{_KAFKA}.max-message-bytes", is_parameter=True)
MAX_BATCH_SIZE = changefeed(f"{_KAFKA}.codec-config.max-batch-size", is_parameter=True)
TIDB_EXTENSION = changefeed(f"{_KAFKA}.codec-config.enable-tidb-extension", is_parameter=True)
CLAIM_CHECK_RAW_VALUE = changefeed(f"{_LARGE_MESSAGE}.claim-check-raw-value")
CONTENT_COMPATIBLE = changefeed("sink.content-compatible", is_parameter=True)
TERMINATOR = changefeed("sink.terminator", {"": "\r\n"})
FILE_SIZE = changefeed("sink.cloud-storage-config.file-size", is_parameter=True)

COMPRESSION = "large-message-handle-compression"
LZ4_FRAME = b"\x04\x22\x4d\x18"
_MOST_COMPRESSED = 1 << 20  # one byte of lz4 may stand for 255: larger values are not tried


def zone_option(text: str) -> str | None:
    """Return the name of a zone; None for the empty text. Raises: ValueError for another text."""
    if text and not is_zone(text):
        raise ValueError("is not a known time zone, such as Asia/Shanghai or +08:00")
    return text or None


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneSettings:
    """The option of every format. ``time_zone`` None: unknown."""

    time_zone: str | None = option(
        "time-zone",
        "",
        "Time zone of TIMESTAMP texts. Empty: unknown.",
        convert=zone_option,
    )


def _max_message_bytes() -> int:
    return option(
        "max-message-bytes",
        10485760,
        "Largest size of a message, in bytes.",
        settings=MAX_MESSAGE_BYTES,
    )


def compression_name() -> Literal["none", "lz4", "snappy"]:
    """Return the field of the option ``large-message-handle-compression``."""
    return option(
        COMPRESSION,
        "none",
        "Compression of each value; the caller passes the functions for lz4 and snappy.",
        settings=changefeed(f"{_LARGE_MESSAGE}.large-message-handle-compression"),
    )


def check_compression(name: str, known: Mapping[str, Compression]) -> None:
    """Raise OptionError for a compression without functions."""
    if name != "none" and name not in known:
        raise OptionError(
            f"option large-message-handle-compression={name!r} needs a pair "
            "of functions to compress and decompress, and none was given"
        )


def limited(compression: Compression, max_bytes: int) -> Compression:
    """Return the functions of a compression with their limit."""
    return compression if compression.limit == max_bytes else replace(compression, limit=max_bytes)


def _delete_only_handle_key() -> bool:
    return option(
        "delete-only-output-handle-key-columns",
        False,
        "Write only the handle key columns of a delete.",
        settings=changefeed("sink.delete-only-output-handle-key-columns"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSettings(ZoneSettings):
    """The options of row messages in a queue."""

    max_message_bytes: int = _max_message_bytes()
    delete_only_handle_key: bool = _delete_only_handle_key()


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeRowSettings(ZoneSettings):
    """The options of rows that do not fit into a message.

    Raises: OptionError for a compression without functions.
    """

    max_message_bytes: int = _max_message_bytes()
    large_message: LargeMessage = option(
        "large-message-handle-option",
        "none",
        "Treatment of a row over max-message-bytes: refuse it, write its handle key only, or "
        "store it in a claim-check file.",
        settings=changefeed(f"{_LARGE_MESSAGE}.large-message-handle-option"),
    )
    compression_name: Literal["none", "lz4", "snappy"] = compression_name()
    compressions: Mapping[str, Compression] = from_context()
    max_decompressed_bytes: int = decompressed_bytes()
    claim_check_storage_uri: str = option(
        "claim-check-storage-uri",
        "",
        "URI of the directory of claim-check files.",
        settings=changefeed(f"{_LARGE_MESSAGE}.claim-check-storage-uri"),
    )

    def __post_init__(self) -> None:
        check_compression(self.compression_name, self.compressions)

    @property
    def compression(self) -> Compression | None:
        """The functions of the compression with their limit, or None without compression."""
        found = self.compressions.get(self.compression_name)
        return None if found is None else limited(found, self.max_decompressed_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeMessageSettings(LargeRowSettings):
    """The options of large rows, and of columns that are left out."""

    delete_only_handle_key: bool = _delete_only_handle_key()
    only_updated_columns: bool = option(
        "only-output-updated-columns",
        False,
        "Write the old values of changed columns only.",
        settings=changefeed("sink.only-output-updated-columns", is_parameter=True),
    )


def compressions_of(value: bytes) -> tuple[OptionValues, ...]:
    """Return the compressions that a value that is not JSON may have; none for a large one."""
    if len(value) > _MOST_COMPRESSED:
        return ()
    if value.startswith(LZ4_FRAME):
        return ({COMPRESSION: "lz4"},)
    return ({COMPRESSION: "snappy"},) if _has_snappy_size(value) else ()


def _has_snappy_size(value: bytes) -> bool:
    """Return whether a block begins with a size that its bytes can have, and then a literal."""
    size = shift = 0
    for index, byte in enumerate(value[:5]):
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            tags = value[index + 1 : index + 2]
            return 0 < size <= 64 * len(value) and tags != b"" and tags[0] & 3 == 0
    return False
