"""The producer's options that the bytes do not show, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.core.options import (
    OptionError,
    line_end,
    option,
    option_group,
    options_of,
    settings_reader,
)
from cdcwire.formats.canal_json.members import Dialect
from cdcwire.mysql.settings import (
    CLAIM_CHECK_RAW_VALUE,
    CONTENT_COMPATIBLE,
    FILE_SIZE,
    TERMINATOR,
    TIDB_EXTENSION,
    LargeMessageSettings,
)
from cdcwire.storage.paths import PathLayout

Transport: TypeAlias = Literal["queue", "storage"]

EXTENSION = ".json"
_MAX_TIME_DIGITS = 18


def _milliseconds(text: str) -> int | None:
    if not text:
        return None
    if text.isascii() and text.isdigit() and len(text) <= _MAX_TIME_DIGITS:
        return int(text)
    raise ValueError("is not a number of milliseconds")


@dataclass(frozen=True, slots=True)
class Settings(LargeMessageSettings):
    """The options as values.

    Raises: OptionError for large messages without the extension that identifies them.
    """

    tidb_extension: bool = option(
        "enable-tidb-extension",
        False,
        "Write _tidb in each message, and watermarks.",
        settings=TIDB_EXTENSION,
    )
    claim_check_raw_value: bool = option(
        "claim-check-raw-value",
        False,
        "Store the bare message in a claim-check file, not an object with key and value.",
        settings=CLAIM_CHECK_RAW_VALUE,
    )
    content_compatible: bool = option(
        "content-compatible",
        False,
        "Write changed columns only, and mysqlType with its parameters.",
        settings=CONTENT_COMPATIBLE,
    )
    dialect: Dialect = option("dialect", "ticdc", "Producer whose messages are written.")
    transport: Transport = option("transport", "queue", "Write messages, or files.")
    terminator: bytes = option(
        "terminator",
        "\r\n",
        "Text after each row of a file.",
        convert=line_end,
        settings=TERMINATOR,
    )
    layout: PathLayout = option_group(PathLayout, extension=EXTENSION)
    file_size: int = option(
        "file-size", 67108864, "Size of a complete file, in bytes.", settings=FILE_SIZE
    )
    sent_ms: int | None = option(
        "sent-time",
        "",
        "Value of ts for events without their own time, in milliseconds. Empty: the same as es.",
        convert=_milliseconds,
    )

    def __post_init__(self) -> None:
        LargeMessageSettings.__post_init__(self)
        if self.large_message != "none" and not self.tidb_extension:
            raise OptionError(
                f"option large-message-handle-option={self.large_message!r} needs "
                "enable-tidb-extension, which names it for readers"
            )

    @property
    def tells_changed_columns(self) -> bool:
        """True if ``old`` has the changed columns only."""
        return self.only_updated_columns or self.content_compatible or self.dialect == "canal"

    @property
    def has_full_types(self) -> bool:
        """True if ``mysqlType`` has parameters."""
        return self.content_compatible or self.dialect == "canal"


DEFAULT_SETTINGS = Settings()
OPTIONS = options_of(Settings)
read_settings = settings_reader(Settings)
