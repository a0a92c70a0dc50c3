"""The producer's options that the bytes do not show, as values; and those that are refused.

The producer allows settings whose files nobody can read back. Two fields cannot be separated, or a
text cannot be distinguished from NULL in any way. Such settings are refused here, each with its
reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.core.options import (
    OptionError,
    Setting,
    changefeed,
    line_end,
    option,
    option_group,
    options_of,
    settings_reader,
    utf8,
)
from cdcwire.formats.csv.refusals import problem_of
from cdcwire.mysql.settings import FILE_SIZE, TERMINATOR, ZoneSettings
from cdcwire.storage.paths import PathLayout
from cdcwire.storage.sent_columns import ColumnSelector, column_selectors

BinaryEncoding: TypeAlias = Literal["base64", "hex"]


@dataclass(frozen=True, slots=True)
class Settings(ZoneSettings):
    """The options as values; texts of the file as bytes.

    Raises: OptionError for settings whose files cannot be read back.
    """

    delimiter: bytes = option(
        "delimiter",
        ",",
        "Text between fields: 1 to 3 ASCII characters.",
        convert=utf8,
        settings=changefeed("sink.csv.delimiter"),
    )
    quote: bytes = option(
        "quote",
        '"',
        "Text around strings: one ASCII character, or nothing.",
        convert=utf8,
        settings=changefeed("sink.csv.quote"),
    )
    null: bytes = option(
        "null",
        "\\N",
        "Text of NULL, without quotes.",
        convert=utf8,
        settings=changefeed("sink.csv.null"),
    )
    include_commit_ts: bool = option(
        "include-commit-ts",
        False,
        "Write the commit timestamp in each record.",
        settings=changefeed("sink.csv.include-commit-ts"),
    )
    binary_encoding: BinaryEncoding = option(
        "binary-encoding-method",
        "base64",
        "Encoding of binary strings.",
        settings=changefeed("sink.csv.binary-encoding-method"),
    )
    output_old_value: bool = option(
        "output-old-value",
        False,
        "Write an update as two records, and is-update in each record.",
        settings=changefeed("sink.csv.output-old-value"),
    )
    output_handle_key: bool = option(
        "output-handle-key",
        False,
        "Write the integer handle of the row in each record.",
        settings=changefeed("sink.csv.output-handle-key"),
    )
    output_field_header: bool = option(
        "output-field-header",
        False,
        "Write the names of the fields as first line of a file.",
        settings=changefeed("sink.csv.output-field-header"),
    )
    terminator: bytes = option(
        "terminator",
        "\r\n",
        "Text after each record.",
        convert=line_end,
        settings=TERMINATOR,
    )
    column_selectors: tuple[ColumnSelector, ...] = option(
        "column-selectors",
        "",
        "Columns that rows have, as a JSON list of the configuration's tables.",
        convert=column_selectors,
        settings=(Setting("changefeed", "sink.column-selectors", is_list=True),),
    )
    layout: PathLayout = option_group(PathLayout)
    file_size: int = option(
        "file-size", 67108864, "Size of a complete file, in bytes.", settings=FILE_SIZE
    )

    def __post_init__(self) -> None:
        problem = problem_of(self.delimiter, self.quote, self.null, self.terminator)
        if problem is not None:
            raise OptionError(f"{problem} (csv: refused settings)")


DEFAULT_SETTINGS = Settings()
OPTIONS = options_of(Settings)
read_settings = settings_reader(Settings)
