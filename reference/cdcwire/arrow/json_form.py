"""JSON texts in one form, so that equal documents are equal texts.

Members are sorted by name (by code point), there are no spaces, and strings have only the escapes
that they need. A number is written by its exact value: 1, 1.0 and 10e-1 are all ``1``. None goes
through a float. A name that occurs twice keeps both members, in their order. A text that is not
JSON, or is nested too deeply to be read, stays as it is.

Documents of a column are read in one go, as one array: a call for each costs more than its reading.
The C parser and writer are not exact for fractions, exponents, long integers and lone surrogates;
such documents are converted one by one.
"""

from __future__ import annotations

import json
import re
import secrets
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

_PLAIN_EXPONENTS = range(-7, 21)  # of the first digit, where a number is written without exponent

# Numbers that are not plain integers of a usual length, and escapes of surrogates.
_NEEDS_CARE = r"[0-9][.eE]|[0-9]{21}|\\u[dD]"

_NULL = "null"


class _Irregular(Exception):
    """The documents can't be read in one go."""


class _Members(list[tuple[str, Any]]):
    """The members of an object, with those of the same name."""


class _Number(str):
    """A number in its one form."""

    __slots__ = ()


_Parsed: TypeAlias = "_Members | list[Any] | str | _Number | bool | None"


def normal_json_array(texts: pa.Array) -> pa.Array:
    """Return each text in the one form of its document; NULL stays NULL."""
    needs_care = pc.match_substring_regex(texts, _NEEDS_CARE)
    is_plain = pc.invert(needs_care).fill_null(False)
    plain = texts.filter(is_plain).to_pylist()
    try:
        normal = pa.array(_normal_together(plain), pa.string())
    except (_Irregular, ValueError, RecursionError):
        normal = pa.array(list(map(normal_json_text, plain)), pa.string())
    if len(plain) == len(texts):
        return normal
    found = pc.replace_with_mask(texts, is_plain, normal)
    careful = texts.filter(needs_care).to_pylist()  # NULL in the mask takes nothing
    if not careful:
        return found
    normal = pa.array(list(map(normal_json_text, careful)), pa.string())
    return pc.replace_with_mask(found, needs_care.fill_null(False), normal)


def normal_json_text(text: str) -> str:
    """Return a text in the canonical form of its document, or as it is if it is not JSON."""
    try:
        parsed: _Parsed = json.loads(
            text,
            parse_int=_number,
            parse_float=_number,
            parse_constant=no_constant,
            object_pairs_hook=_Members,
        )
        return _write(parsed)
    except (ValueError, RecursionError):
        return text


def _normal_together(texts: list[str]) -> list[str]:
    """Return the normal form of each text by parsing all texts as one array.

    Raises: _Irregular, ValueError, RecursionError.
    """
    if not texts:
        return []
    # A text that begins or ends in the middle of a document would shift or swallow a border.
    border = secrets.token_hex(8)
    joined = f"""[{f',"{border}",'.join(texts)}]"""
    parsed = json.loads(joined, parse_constant=no_constant)
    if parsed[1::2] != [border] * (len(texts) - 1) or len(parsed) != 2 * len(texts) - 1:
        raise _Irregular
    encoded = _encode(parsed)
    # Sorting moves characters; only a repeated name, of which the parser keeps one, makes them
    # fewer, or an escape that was not needed.
    if _size(encoded) != _size(joined):
        encoded = _encode(json.loads(joined, object_pairs_hook=_object))
    normal = encoded[1:-1].split(f',"{border}",')
    if len(normal) != len(texts):
        raise _Irregular
    return normal


def _size(text: str) -> int:
    """Return the number of characters other than white space."""
    return len(text) - sum(map(text.count, " \n\t\r"))


_encode = json.JSONEncoder(
    sort_keys=True,
    separators=(",", ":"),
    ensure_ascii=False,
    check_circular=False,
    allow_nan=False,
).encode
_encode_string = json.JSONEncoder(ensure_ascii=False).encode


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) != len(members):
        raise _Irregular
    return found


def no_constant(name: str) -> NoReturn:
    """Refuse NaN and infinities, which Python's parser takes. Raises: ValueError."""
    raise ValueError(f"{name} is not JSON")


def _number(text: str) -> _Number:
    """Return a number by its exact value."""
    try:
        sign, digits, exponent = Decimal(text).as_tuple()
    except InvalidOperation:
        return _Number(text)  # beyond what Decimal holds
    assert isinstance(exponent, int)  # JSON has no NaN
    plain = "".join(map(str, digits)).lstrip("0")
    kept = plain.rstrip("0")
    if not kept:
        return _Number("0")
    exponent += len(plain) - len(kept)
    first = exponent + len(kept) - 1
    minus = "-" if sign else ""
    if first not in _PLAIN_EXPONENTS:
        fraction = f".{kept[1:]}" if len(kept) > 1 else ""
        return _Number(f"{minus}{kept[0]}{fraction}e{first}")
    if exponent >= 0:
        return _Number(f"{minus}{kept}{'0' * exponent}")
    padded = kept.rjust(1 - exponent, "0")
    return _Number(f"{minus}{padded[:exponent]}.{padded[exponent:]}")


def _write(value: _Parsed) -> str:
    match value:
        case None:
            return _NULL
        case bool():
            return "true" if value else "false"
        case _Number():
            return value[:]
        case str():
            return _string(value)
        case _Members():
            members = sorted(value, key=lambda member: member[0])
            written = (f"{_string(name)}:{_write(item)}" for name, item in members)
            return f"{{{','.join(written)}}}"
        case _:
            return f"[{','.join(map(_write, value))}]"


def _string(text: str) -> str:
    """Return a JSON string; lone surrogates, which are not characters, stay escapes."""
    written = _encode_string(text)
    if written.isascii():
        return written
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found.group()):04x}", written)
