"""The producer's settings that the bytes don't say, shared by both Craft formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cdcwire.core.format import Option, OptionValue, parse_options

OPTIONS: tuple[Option, ...] = (
    Option(
        "max-message-bytes",
        10 * 1024 * 1024,
        "a batch is sent once its estimated size is beyond this",
    ),
    Option("max-batch-size", 16, "a batch is sent once it has this many rows"),
    Option(
        "delete-only-output-handle-key-columns",
        False,
        "deletes hold the handle key columns only",
    ),
    Option("time-zone", "", "the zone of TIMESTAMP texts; empty: not known"),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """The options as values. ``time_zone`` is None where it is not known."""

    max_message_bytes: int = 10 * 1024 * 1024
    max_batch_size: int = 16
    delete_only_output_handle_key_columns: bool = False
    time_zone: str | None = None


DEFAULT_SETTINGS = Settings()


def settings_of(options: Mapping[str, OptionValue]) -> Settings:
    """Return the settings that options give. Raises: ValueError for what is no option."""
    if not options:
        return DEFAULT_SETTINGS
    values = parse_options(OPTIONS, options)
    return Settings(
        int(values["max-message-bytes"]),
        int(values["max-batch-size"]),
        bool(values["delete-only-output-handle-key-columns"]),
        str(values["time-zone"]) or None,
    )
