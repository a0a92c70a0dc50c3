"""Patterns of rows: one regular expression for the columns of one layout, values left open.

A producer writes the rows of a table with the same names, types and flags, in the same order and
without white space. All of this is literal text in the pattern, so that a match *is* the check of
it. No member is missing, unknown or repeated. The rest is checked by the groups of the pattern and
by the code that reads them. No code is generated here, as the fast Craft decoder does: it would
gain a tenth.

A text that does not match may be good or bad: the plain decoder knows.
"""

from __future__ import annotations

import codecs
import re
from binascii import a2b_base64
from collections.abc import Callable
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in the stubs
from typing import Any, TypeAlias

from cdcwire.core.caches import Memo
from cdcwire.core.compiled import Irregular
from cdcwire.formats.open_protocol.members import write_name
from cdcwire.formats.open_protocol.message import Columns
from cdcwire.golang import unquote
from cdcwire.model.floats import read_float32
from cdcwire.mysql import types
from cdcwire.mysql.values import is_vector_text, read_text

# Forms of a value.
SIGNED = 1
UNSIGNED = 2
FLOAT = 3
DOUBLE = 4
TEXT = 5
QUOTED = 6  # bytes in Go's quoting
BASE64 = 7
VECTOR = 8
NOTHING = 9  # types that are always null
BASE64_TEXT = 10

Groups: TypeAlias = "tuple[bytes | None, ...]"
RowFunction: TypeAlias = Callable[[Groups], "tuple[Any, ...]"]

# A group that does not take part in a match is NULL.
_INTEGER = rb"(?:null|(-?(?:0|[1-9][0-9]{0,19})))"
_NUMBER = rb"(?:null|(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?))"
_STRING = rb'(?:null|"([^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*)")'
# Bits after the last byte are not set; that the length is a multiple of 4 is checked later.
_BASE64 = rb'(?:null|"([A-Za-z0-9+/]*(?:[AQgw]==|[AEIMQUYcgkosw048]=)?)")'
_NULL = rb"(?:null|((?!)))"  # (?!) never matches
_OPEN = {
    SIGNED: _INTEGER,
    UNSIGNED: _INTEGER,
    FLOAT: _NUMBER,
    DOUBLE: _NUMBER,
    TEXT: _STRING,
    QUOTED: _STRING,
    BASE64: _BASE64,
    BASE64_TEXT: _BASE64,
    VECTOR: _STRING,
    NOTHING: _NULL,
}

_MAX_KNOWN_INTEGERS = 1 << 14
_BACKSLASH = ord("\\")

# What Go's quoting and Python's escapes write alike; octal numbers end at 377.
_ALIKE = re.compile(rb'[^\\"\n]*(?:\\(?:[abfnrtv\\"]|x[0-9a-fA-F]{2}|[0-3][0-7]{2})[^\\"\n]*)*')


def form_of(code: int, flags: int) -> int:
    """Return the form of the values of a type code and flags."""
    if code in types.INTEGER_TYPES:
        return UNSIGNED if flags & types.FLAG_UNSIGNED else SIGNED
    if code in types.TEXT_TYPES:
        return TEXT
    if code in types.LARGE_STRING_TYPES:
        return BASE64 if flags & types.FLAG_BINARY else BASE64_TEXT
    if code in types.STRING_TYPES:
        return QUOTED if flags & types.FLAG_BINARY else TEXT
    if code in types.UNSIGNED_TYPES:
        return UNSIGNED
    plain = {
        types.TYPE_YEAR: SIGNED,
        types.TYPE_FLOAT: FLOAT,
        types.TYPE_DOUBLE: DOUBLE,
        types.TYPE_VECTOR: VECTOR,
    }
    return plain.get(code, NOTHING)


Integers: TypeAlias = "Memo[bytes, int]"
"""The integers met so far, by their digits."""


def known_integers(low: int, end: int) -> Integers:
    """Return an empty memo of integers from ``low`` up to ``end``."""

    def read(digits: bytes) -> int:
        number = int(digits)  # of 20 digits at most, says the pattern
        if not low <= number < end:
            raise Irregular
        return number

    return Memo(read, _MAX_KNOWN_INTEGERS)


def pattern_of(columns: Columns) -> re.Pattern[bytes]:
    """Return the pattern of a group of these columns, from its first name to its last brace."""
    parts = []
    for column in columns:
        handle = '"h":true,' if column.h else ""
        members = f'"t":{column.type},{handle}"f":{column.flag},"v":'
        known = f"{write_name(column.name, 'tiflow')}:{{{members}"
        parts.append(re.escape(known.encode()) + _OPEN[form_of(column.type, column.flag)] + rb"\}")
    return re.compile(b",".join(parts) + rb"\}")


def make_row_function(
    forms: bytes, wanted: tuple[int, ...], signed: Integers, unsigned: Integers
) -> RowFunction:
    """Return what makes a row of the groups of a pattern. It raises one of IRREGULARITIES.

    The row has the ``wanted`` columns; all are checked.
    """
    of_form: dict[int, Callable[[bytes], Any]] = {
        SIGNED: signed.__getitem__,
        UNSIGNED: unsigned.__getitem__,
        **_READERS,
    }
    readers = [of_form[form] for form in forms]

    def read_row(groups: Groups) -> tuple[Any, ...]:
        return tuple(
            [
                None if group is None else read(group)
                for read, group in zip(readers, groups, strict=True)
            ]
        )

    def read_wanted(groups: Groups) -> tuple[Any, ...]:
        row = read_row(groups)
        return tuple([row[index] for index in wanted])

    return read_row if len(wanted) == len(forms) else read_wanted


def _read_float(group: bytes) -> float:
    number = read_float32(group.decode())
    if number - number:  # an infinity less itself is not a number
        raise Irregular
    return number


def _read_double(group: bytes) -> float:
    number = float(group)
    if number - number:
        raise Irregular
    return number


def _read_text(group: bytes) -> str:
    return unescaped(group) if _BACKSLASH in group else group.decode()


def _read_quoted(group: bytes) -> bytes:
    if _BACKSLASH in group:
        return unquoted(group)
    group.decode()  # JSON is UTF-8
    return group


def _read_base64(group: bytes) -> bytes:
    if len(group) & 3:
        raise Irregular
    return a2b_base64(group)


def _read_base64_text(group: bytes) -> str | bytes:
    return read_text(_read_base64(group))


def _read_vector(group: bytes) -> str:
    text = _read_text(group)
    if not is_vector_text(text):
        raise Irregular
    return text


def _read_nothing(group: bytes) -> None:
    raise Irregular


_READERS: dict[int, Callable[[bytes], Any]] = {
    FLOAT: _read_float,
    DOUBLE: _read_double,
    TEXT: _read_text,
    QUOTED: _read_quoted,
    BASE64: _read_base64,
    BASE64_TEXT: _read_base64_text,
    VECTOR: _read_vector,
    NOTHING: _read_nothing,
}


def unescaped(raw: bytes) -> str:
    """Return the text of the inside of a JSON string. Raises: ValueError."""
    text: str = scanstring(raw.decode() + '"', 0)[0]
    if b"\\u" in raw:
        text.encode()  # no lone surrogates
    return text


def unquoted(raw: bytes) -> bytes:
    """Return the bytes that Go's quoting inside a JSON string stands for. Raises: ValueError."""
    text = unescaped(raw)
    quoted = text.encode()
    if _ALIKE.fullmatch(quoted):
        return codecs.escape_decode(quoted)[0]
    return unquote(text)
