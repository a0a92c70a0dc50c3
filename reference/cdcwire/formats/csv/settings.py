"""The producer's options, which the bytes don't say, as values; and those that are refused.

The producer allows settings whose files nobody can read back: two fields that can't be told apart,
or a text that can't be told from NULL in any way. They are refused here, each with its reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from cdcwire.core.format import Option, OptionError, OptionValue, parse_options
from cdcwire.formats.csv.refusals import problem_of
from cdcwire.storage.paths import DateSeparator, Layout

BinaryEncoding: TypeAlias = Literal["base64", "hex"]

OPTIONS: tuple[Option, ...] = (
    Option("delimiter", ",", "what stands between fields: 1 to 3 ASCII characters"),
    Option("quote", '"', "what stands around strings: one ASCII character, or nothing"),
    Option("null", "\\N", "the bare text of NULL"),
    Option("include-commit-ts", False, "records have the commit timestamp"),
    Option(
        "binary-encoding-method",
        "base64",
        "how binary strings are written",
        ("base64", "hex"),
    ),
    Option("output-old-value", False, "an update is two records, and records have is-update"),
    Option("output-handle-key", False, "records have the integer handle of the row"),
    Option("output-field-header", False, "the first line of a file has the names of the fields"),
    Option("terminator", "\r\n", "what stands behind each record"),
    Option(
        "date-separator",
        "day",
        "the part of a date that paths have",
        ("none", "year", "month", "day"),
    ),
    Option("enable-partition-separator", True, "paths have the partition of partitioned tables"),
    Option("file-index-digit", 20, "digits of the file number in paths: 6 to 20, else 20"),
    Option("file-size", 67108864, "bytes from which on a file is complete"),
    Option("time-zone", "", "zone of TIMESTAMP texts; empty: unknown"),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """The options, one field each; texts of the file as bytes. ``time_zone`` None: unknown.

    Raises: OptionError for settings whose files can't be read back.
    """

    delimiter: bytes = b","
    quote: bytes = b'"'
    null: bytes = b"\\N"
    include_commit_ts: bool = False
    binary_encoding: BinaryEncoding = "base64"
    output_old_value: bool = False
    output_handle_key: bool = False
    output_field_header: bool = False
    terminator: bytes = b"\r\n"
    layout: Layout = Layout()  # noqa: RUF009  (frozen)
    file_size: int = 67108864
    time_zone: str | None = None

    def __post_init__(self) -> None:
        problem = problem_of(self.delimiter, self.quote, self.null, self.terminator)
        if problem is not None:
            raise OptionError(f"{problem} (csv: refused settings)")


DEFAULT_SETTINGS = Settings()


def read_settings(given: Mapping[str, OptionValue]) -> Settings:
    """Return settings from options by name.

    Raises: OptionError for an unknown option, a value that it does not allow, and for settings
    whose files can't be read back.
    """
    values = parse_options(OPTIONS, given)
    return Settings(
        _bytes(values, "delimiter"),
        _bytes(values, "quote"),
        _bytes(values, "null"),
        bool(values["include-commit-ts"]),
        cast(BinaryEncoding, values["binary-encoding-method"]),
        bool(values["output-old-value"]),
        bool(values["output-handle-key"]),
        bool(values["output-field-header"]),
        _bytes(values, "terminator"),
        Layout(
            cast(DateSeparator, values["date-separator"]),
            bool(values["enable-partition-separator"]),
            int(values["file-index-digit"]),
            ".csv",
        ),
        int(values["file-size"]),
        str(values["time-zone"]) or None,
    )


def _bytes(values: Mapping[str, OptionValue], name: str) -> bytes:
    try:
        return str(values[name]).encode()
    except UnicodeEncodeError:
        raise OptionError(f"option {name} is not text") from None
