"""The producer's options, which the bytes don't say, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias, cast

from cdcwire.core.format import Compression, Option, OptionError, OptionValue, parse_options
from cdcwire.formats.open_protocol.message import Dialect

LargeMessage: TypeAlias = Literal["none", "handle-key-only", "claim-check"]

OPTIONS: tuple[Option, ...] = (
    Option("max-message-bytes", 10485760, "size from which on a message is too large"),
    Option("max-batch-size", 16, "rows in one message"),
    Option(
        "delete-only-output-handle-key-columns", False, "a delete has its handle-key columns only"
    ),
    Option(
        "only-output-updated-columns",
        False,
        "an update tells the old value of changed columns only",
    ),
    Option(
        "output-old-value", True, "an update tells old values; without, it looks like an insert"
    ),
    Option(
        "large-message-handle-option",
        "none",
        "what becomes of a row that is too large",
        ("none", "handle-key-only", "claim-check"),
    ),
    Option(
        "large-message-handle-compression",
        "none",
        "compression of each value item; lz4 and snappy need functions that the caller gives",
        ("none", "lz4", "snappy"),
    ),
    Option("claim-check-storage-uri", "", "where claim-check files are stored"),
    Option("dialect", "tiflow", "which producer's way of writing", ("tiflow", "ticdc")),
    Option("time-zone", "", "zone of TIMESTAMP texts; empty: unknown"),
)

NO_COMPRESSIONS: Mapping[str, Compression] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Settings:
    """The options, one field each. ``time_zone`` None: unknown. Sizes are in bytes."""

    max_message_bytes: int = 10485760
    max_batch_size: int = 16
    delete_only_handle_key: bool = False
    only_updated_columns: bool = False
    output_old_value: bool = True
    large_message: LargeMessage = "none"
    compression: Compression | None = None
    claim_check_storage_uri: str = ""
    dialect: Dialect = "tiflow"
    time_zone: str | None = None


DEFAULT_SETTINGS = Settings()


def read_settings(
    given: Mapping[str, OptionValue], compressions: Mapping[str, Compression] = NO_COMPRESSIONS
) -> Settings:
    """Return settings from options by name.

    ``compressions``: the functions for ``lz4`` and ``snappy``, which the standard library lacks.
    Raises: OptionError for an unknown option, a value that it does not allow, or a compression
    without functions.
    """
    values = parse_options(OPTIONS, given)
    name = str(values["large-message-handle-compression"])
    if name != "none" and name not in compressions:
        raise OptionError(
            f"option large-message-handle-compression={name!r} needs a pair of functions to "
            "compress and decompress, and none was given"
        )
    return Settings(
        int(values["max-message-bytes"]),
        int(values["max-batch-size"]),
        bool(values["delete-only-output-handle-key-columns"]),
        bool(values["only-output-updated-columns"]),
        bool(values["output-old-value"]),
        cast(LargeMessage, values["large-message-handle-option"]),
        compressions.get(name),
        str(values["claim-check-storage-uri"]),
        cast(Dialect, values["dialect"]),
        str(values["time-zone"]) or None,
    )
