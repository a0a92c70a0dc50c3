"""Options by name, and the settings that are refused because their files can't be read back."""

from __future__ import annotations

import pytest

from cdcwire.core.options import OptionError, OptionValue
from cdcwire.formats.csv import Field, File, Record, Settings, read_settings
from cdcwire.formats.csv.escapes import double, escape, undouble, unescape
from cdcwire.formats.csv.records import field_of, text_of
from cdcwire.formats.csv.wire import read_file, write_file

NO_QUOTE: dict[str, OptionValue] = {"quote": ""}

REFUSED: dict[str, dict[str, OptionValue]] = {
    "no delimiter": {"delimiter": ""},
    "delimiter of 4 bytes": {"delimiter": "||||"},
    "delimiter with CR": {"delimiter": "|\r"},
    "delimiter with LF": {"delimiter": "\n"},
    "delimiter with the quote": {"delimiter": ',"'},
    "delimiter not ASCII": {"delimiter": "§"},
    "delimiter is a digit": {"delimiter": "1"},
    "delimiter is a point": {"delimiter": "."},
    "delimiter of letters of true": {"delimiter": "ue"},
    "delimiter with n, no quote": {"delimiter": "|n", **NO_QUOTE},
    "delimiter with r, no quote": {"delimiter": "|r", **NO_QUOTE},
    "delimiter with a backslash, no quote": {"delimiter": "\\", **NO_QUOTE},
    "quote of 2 bytes": {"quote": "''"},
    "quote not ASCII": {"quote": "é"},
    "quote is LF": {"quote": "\n"},
    "quote is a digit": {"quote": "0"},
    "quote is a minus": {"quote": "-"},
    "no terminator": {"terminator": ""},
    "terminator starts with the delimiter": {"terminator": ",\n"},
    "terminator with the quote": {"terminator": '"\n'},
    "terminator of digits": {"terminator": "00"},
    "terminator behind a number looks like it and the delimiter": {"terminator": "1,x"},
    "delimiter behind a number looks like it and the terminator": {
        "delimiter": "1;",
        "terminator": ";",
    },
    "terminator is not escaped, no quote": {"terminator": ";", **NO_QUOTE},
    "terminator too long": {"terminator": "\n" * 65},
    "null is a number": {"null": "0"},
    "null is a number with exponent": {"null": "-1.5e+20"},
    "null starts with the quote": {"null": '"N'},
    "null with the delimiter": {"null": "a,b"},
    "default null with the delimiter": {"delimiter": "\\"},
    "null with CR": {"null": "a\r"},
    "null with LF": {"null": "\n"},
    "null with the terminator": {"null": "xENDx", "terminator": "END"},
    "null runs into the delimiter": {"null": "x|+", "delimiter": "|+|"},
    "null runs into the terminator": {"null": "a;b", "terminator": ";b;"},
    "null and delimiter look like the terminator": {"null": "a", "terminator": "a,b"},
    "null ends in a backslash, no quote": {"null": "N\\", **NO_QUOTE},
    "null is an escaped LF": {"null": "\\n", **NO_QUOTE},
    "null is an escaped CR": {"null": "\\r", **NO_QUOTE},
    "null is an escaped backslash": {"null": "\\\\", **NO_QUOTE},
    "null is an escaped delimiter": {"null": "\\,", **NO_QUOTE},
    "null too long": {"null": "N" * 65},
    "encoding not known": {"binary-encoding-method": "base32"},
    "setting of another protocol": {"delete-only-output-handle-key-columns": True},
}
ALLOWED: dict[str, dict[str, OptionValue]] = {
    "defaults": {},
    "three characters": {"delimiter": "|+|"},
    "characters of numbers and another": {"delimiter": "1|"},
    "tab and single quote": {"delimiter": "\t", "quote": "'"},
    "no quote": NO_QUOTE,
    "no quote, backslash pair that is never written": {"null": "\\N", **NO_QUOTE},
    "no quote, null": {"null": "NULL", **NO_QUOTE},
    "no quote, empty null": {"null": "", **NO_QUOTE},
    "empty null": {"null": ""},
    "null as text is written, with quote": {"null": "\\n"},
    "terminator of letters": {"terminator": "END"},
    "terminator that begins the delimiter": {"delimiter": ";;", "terminator": ";"},
    "terminator with the delimiter in it": {"terminator": "\n,"},
    "stars": {"delimiter": "***", **NO_QUOTE},
}


@pytest.mark.parametrize("options", REFUSED.values(), ids=REFUSED)
def test_setting_is_refused(options: dict[str, OptionValue]) -> None:
    with pytest.raises(OptionError):
        read_settings(options)


@pytest.mark.parametrize("options", ALLOWED.values(), ids=ALLOWED)
def test_files_of_an_allowed_setting_are_read_back(options: dict[str, OptionValue]) -> None:
    settings = read_settings(options)
    texts = [b"", b"\\", b"\\N", b"\r\n\n", b"a,b;c|+|d", b'"', b'""', b"'", b"***", b"x|+", b"x*"]
    texts += [b"\0\xff", b"END", b";", b";;", b"1", b"NULL", b"|+|+", b"a****b", b"**", b"\t"]
    numbers = [Field(raw, False) for raw in (b"1", b"-1e-05", b"11", settings.null)]
    fields = [field_of(text, settings) for text in texts]
    records = []
    for number in numbers:
        for field in fields:
            for row in ((field, number), (number, field), (field, field), (number, number)):
                records.append(Record("I", "t", "s", None, None, None, row))
    file = File(tuple(records))
    value = write_file(file, settings)
    assert read_file(value, settings) == file
    assert [text_of(field, settings) for field in fields] == texts


def test_options_may_have_their_section() -> None:
    settings = read_settings({"csv.delimiter": "|", "sink.csv.output-old-value": "true"})
    assert (settings.delimiter, settings.output_old_value) == (b"|", True)


def test_settings_follow_the_options() -> None:
    settings = read_settings(
        {"date-separator": "month", "file-index-digit": 6, "file-size": 100, "time-zone": "UTC"}
    )
    assert (settings.layout.date_separator, settings.layout.width) == ("month", 6)
    assert (settings.file_size, settings.time_zone) == (100, "UTC")


def test_settings_made_by_hand_are_checked_too() -> None:
    with pytest.raises(OptionError, match=r"refused settings"):
        Settings(delimiter=b"")


@pytest.mark.parametrize(
    ("delimiter", "text", "escaped"),
    [
        (b",", b"a,b", b"a\\,b"),
        (b"***", b"***", b"\\*\\*\\*"),
        (b"***", b"a****b", b"a\\*\\*\\**b"),
        (b"**", b"***", b"\\*\\*\\*"),
        (b"**", b"a****b", b"a\\*\\*\\*\\*b"),
        (b"**", b"x*", b"x\\*"),
        (b"**", b"x*y", b"x*y"),
        (b"***", b"x**", b"x\\*\\*"),
        (b"|+|", b"x|+", b"x\\|\\+"),
        (b"|+|", b"x|", b"x|"),
        (b"|+|", b"x|+|+|y", b"x\\|\\+\\|+|y"),
        (b"|+|", b"|+|+", b"\\|\\+\\|+"),
        (b"ab", b"xa", b"xa"),
        (b",", b"\\\r\n\t\0\xff", b"\\\\\\r\\n\t\0\xff"),
        (b"\n\\r"[2:], b"", b""),
    ],
)
def test_escapes(delimiter: bytes, text: bytes, escaped: bytes) -> None:
    assert escape(text, delimiter) == escaped
    assert unescape(escaped) == text


def test_needless_escapes_are_undone() -> None:
    assert unescape(b"\\x\\,\\\\n\\\xff") == b"x,\\n\xff"


def test_lone_backslash_is_refused() -> None:
    with pytest.raises(ValueError, match=r"backslash"):
        unescape(b"a\\")


def test_quotes_are_doubled_and_nothing_else_is_touched() -> None:
    assert double(b'a"\\\r\n,"', b'"') == b'a""\\\r\n,""'
    assert undouble(b'a""\\\r\n,""', b'"') == b'a"\\\r\n,"'
