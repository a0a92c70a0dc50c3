"""The producer's options that the bytes do not show, as values; and those that are refused.

The producer allows settings whose files nobody can read back. Two fields cannot be separated, or a
text cannot be distinguished from NULL in any way. Such settings are refused here, each with its
reason. NULL must also differ from everything that is not text: numbers, and the delimiter. Where a
text looks like NULL the values say so (``values``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
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
from cdcwire.formats.csv.escapes import escape, unescape
from cdcwire.mysql.settings import FILE_SIZE, TERMINATOR, ZoneSettings
from cdcwire.storage.paths import PathLayout
from cdcwire.storage.sent_columns import ColumnSelector, column_selectors

BinaryEncoding: TypeAlias = Literal["base64", "hex"]

# All that numbers, true and false are made of.
_BARE = frozenset(b"0123456789+-.etruefals")
_NUMBER_LIKE = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MAX_DELIMITER = 3
_MAX_TEXT = 64  # of null and terminator


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


@lru_cache(maxsize=16)  # each message of a feed asks again
def problem_of(delimiter: bytes, quote: bytes, null: bytes, terminator: bytes) -> str | None:
    """Return why these settings are refused; None if they are not.

    Source: csv, "refused settings".
    """
    return (
        _of_delimiter(delimiter, quote)
        or _of_quote(quote)
        or _of_terminator(terminator, delimiter, quote)
        or _of_null(null, delimiter, quote, terminator)
    )


def _of_delimiter(delimiter: bytes, quote: bytes) -> str | None:
    shown = f"delimiter {delimiter!r}"
    if not 1 <= len(delimiter) <= _MAX_DELIMITER:
        return f"{shown} has {len(delimiter)} bytes; 1 to {_MAX_DELIMITER} are allowed"
    if not delimiter.isascii():
        return f"{shown} is not ASCII: the producer garbles it"
    if b"\r" in delimiter or b"\n" in delimiter:
        return f"{shown} has CR or LF"
    if set(delimiter) & set(quote):
        return f"{shown} shares a character with the quote {quote!r}"
    if set(delimiter) <= _BARE:
        return f"{shown} looks like part of a number, of true or of false"
    if not quote and set(delimiter) & set(b"nr\\"):
        return f"{shown} has n, r or a backslash, which escapes are made of"
    return None


def _of_quote(quote: bytes) -> str | None:
    shown = f"quote {quote!r}"
    if len(quote) > 1 or not quote.isascii():
        return f"{shown} is not one ASCII character"
    if quote in (b"\r", b"\n"):
        return f"{shown} is CR or LF"
    if set(quote) & _BARE:
        return f"{shown} looks like part of a number, of true or of false"
    return None


def _of_terminator(terminator: bytes, delimiter: bytes, quote: bytes) -> str | None:
    shown = f"terminator {terminator!r:.80}"
    if not terminator:
        return "an empty terminator ends nothing"
    if len(terminator) > _MAX_TEXT:
        return f"{shown} has {len(terminator)} bytes; up to {_MAX_TEXT} are allowed"
    if terminator.startswith(delimiter):
        return f"{shown} starts with the delimiter"
    if quote and quote in terminator:
        return f"{shown} has the quote"
    if not quote and set(terminator) - set(b"\r\n"):
        return f"{shown} is not made of CR and LF only: without quote nothing else is escaped"
    if set(terminator) <= _BARE:
        return f"{shown} looks like part of a number, of true or of false"
    for outer, inner in ((terminator, delimiter), (delimiter, terminator)):
        head, found, _ = outer.partition(inner)
        if found and head and set(head) <= _BARE:
            return f"after a number, {shown} and delimiter {delimiter!r} look the same"
    return None


def _of_null(null: bytes, delimiter: bytes, quote: bytes, terminator: bytes) -> str | None:
    shown = f"null {null!r:.80}"
    if len(null) > _MAX_TEXT:
        return f"{shown} has {len(null)} bytes; up to {_MAX_TEXT} are allowed"
    if _NUMBER_LIKE.fullmatch(null):
        return f"{shown} looks like a number"
    if quote and null.startswith(quote):
        return f"{shown} starts with the quote"
    for part, what in (
        (delimiter, "the delimiter"),
        (b"\r", "CR"),
        (b"\n", "LF"),
        (terminator, "the terminator"),
    ):
        if part in null:
            return f"{shown} has {what}"
    if not quote and not _is_complete(null):
        return f"{shown} ends in a lone backslash, which swallows what follows"
    if not quote and b"\\" in null and escape(unescape(null), delimiter) == null:
        return f"{shown} is what a text is written as"
    either = re.compile(re.escape(delimiter) + b"|" + re.escape(terminator))
    for after in (delimiter, terminator):
        found = either.search(null + after)
        if found is None or found.span() != (len(null), len(null) + len(after)):
            return f"{shown} can't be separated from what follows"
    return None


def _is_complete(null: bytes) -> bool:
    try:
        unescape(null)
    except ValueError:
        return False
    return True


DEFAULT_SETTINGS = Settings()
OPTIONS = options_of(Settings)
read_settings = settings_reader(Settings)
