"""Changes of bytes, and changes of JSON that know its structure: values, names, nesting.

They work on the bytes between two tokens, so everything else stays as the producer wrote it. JSON
inside a frame is changed as well, though its lengths may then be wrong.
"""

from __future__ import annotations

import base64
import re
from binascii import Error as Base64Error
from collections.abc import Callable, Sequence
from functools import lru_cache
from random import Random

_MOST_COPIES = 64
_LONGEST = 1 << 14
_INTERESTING = (
    *(b"\x00", b"\x01", b"\x7f", b"\x80", b"\xff", b"\xff\xff\xff\xff", b"\x80" * 9 + b"\x01"),
    *(b"\xff" * 9 + b"\x01", b"\x80\x80\x80\x80\x10", b"\x00" * 8, b"\x7f" + b"\xff" * 7),
    *(b'"', b"\\", b"\\u0000", b"\\ud800", b"\xed\xa0\x80", b"\xc3\x28", b"\xf4\x90\x80\x80"),
    *(b"\r\n", b"\n", b"\r", b",", b"\\N", b"'", b"`", b"\xef\xbb\xbf", b"\xe2\x80\xae", b" "),
    *(b"NaN", b"Infinity", b"1e999999", b"-0", b"0.0", b"9" * 400, b"null", b"{}", b"[]"),
)

Edit = Callable[[bytes, bytes, Random], bytes]


def edit_bytes(raw: bytes, other: bytes, chance: Random) -> bytes:
    """Return changed bytes: one to four small changes; ``other`` is spliced in."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        raw = chance.choice(_EDITS)(raw, other, chance)
    return raw[:_LONGEST]


def _place(raw: bytes, chance: Random) -> int:
    return chance.randrange(len(raw) + 1)


def _range(raw: bytes, chance: Random) -> tuple[int, int]:
    start = _place(raw, chance)
    return start, min(len(raw), start + chance.choice((1, 1, 2, 4, 8, 16, 64)))


def _flip(raw: bytes, other: bytes, chance: Random) -> bytes:
    if not raw:
        return b"\0"
    at = chance.randrange(len(raw))
    return raw[:at] + bytes((raw[at] ^ 1 << chance.randrange(8),)) + raw[at + 1 :]


def _set(raw: bytes, other: bytes, chance: Random) -> bytes:
    if not raw:
        return b"\1"
    at = chance.randrange(len(raw))
    return raw[:at] + bytes((chance.randrange(256),)) + raw[at + 1 :]


def _add(raw: bytes, other: bytes, chance: Random) -> bytes:
    """Make one byte a little larger or smaller: lengths and counts."""
    if not raw:
        return raw
    at = chance.randrange(len(raw))
    step = chance.choice((-2, -1, 1, 2, 16))
    return raw[:at] + bytes(((raw[at] + step) % 256,)) + raw[at + 1 :]


def _insert(raw: bytes, other: bytes, chance: Random) -> bytes:
    at = _place(raw, chance)
    return raw[:at] + chance.choice(_INTERESTING) + raw[at:]


def _replace(raw: bytes, other: bytes, chance: Random) -> bytes:
    start, end = _range(raw, chance)
    return raw[:start] + chance.choice(_INTERESTING) + raw[end:]


def _delete(raw: bytes, other: bytes, chance: Random) -> bytes:
    start, end = _range(raw, chance)
    return raw[:start] + raw[end:]


def _cut(raw: bytes, other: bytes, chance: Random) -> bytes:
    return raw[: _place(raw, chance)]


def _copy(raw: bytes, other: bytes, chance: Random) -> bytes:
    start, end = _range(raw, chance)
    return raw[:end] + raw[start:end] * chance.choice((1, 1, 2, 8, _MOST_COPIES)) + raw[end:]


def _move(raw: bytes, other: bytes, chance: Random) -> bytes:
    start, end = _range(raw, chance)
    left = raw[:start] + raw[end:]
    at = _place(left, chance)
    return left[:at] + raw[start:end] + left[at:]


def _splice(raw: bytes, other: bytes, chance: Random) -> bytes:
    start, end = _range(other, chance)
    at, until = _range(raw, chance)
    return raw[:at] + other[start:end] + raw[chance.choice((at, until)) :]


def _cross(raw: bytes, other: bytes, chance: Random) -> bytes:
    return raw[: _place(raw, chance)] + other[_place(other, chance) :]


_EDITS: Sequence[Edit] = (
    *(_flip, _set, _add, _add, _insert, _replace, _delete),
    *(_cut, _copy, _move, _splice, _cross),
)

_TOKEN = re.compile(
    rb'"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null|[\[\]{}:,]'
)
_OPENING = {b"{": b"}", b"[": b"]"}
_BASE64 = re.compile(rb"[A-Za-z0-9+/]{8,}={0,2}")
_LEAST_TOKENS = 3
_VALUES = (
    *(b"null", b"true", b"false", b"0", b"1", b"-1", b"-0", b"1.0", b"1e2", b"1E400", b'""'),
    *(b"18446744073709551616", b"9223372036854775808", b"9" * 5000, b"0." + b"3" * 60, b"1e-400"),
    *(b'"0"', b'"-0"', b'"1.50"', b'"NaN"', b'"Infinity"', b'"\\u0000"', b'"\\ud83d\\ude00"'),
    *(b'"2024-02-30"', b'"0000-00-00 00:00:00"', b'"24:00:00"', b'"-838:59:59.999999"', b"{}"),
    *(b"[]", b"[[]]", b'{"a":1}', b'{"a":1,"a":2}', b'"\xc3\xa9"', b'"' + b"x" * 5000 + b'"'),
    *(b"1451606400000", b'"1e20000"', b'"MA=="', b'"AAAA"', b'"\\u001b[31m"'),
)
_DEPTHS = (1, 1, 2, 8, 70, 500)

Place = tuple[int, int]


@lru_cache(maxsize=256)
def places(raw: bytes) -> tuple[tuple[Place, ...], tuple[tuple[Place, Place], ...]]:
    """Return the places of the values, and the members as places of name and value."""
    values: list[Place] = []
    members: list[tuple[Place, Place]] = []
    open_at: list[tuple[int, bytes, Place | None]] = []
    name: Place | None = None
    last: Place | None = None
    for found in _TOKEN.finditer(raw):
        token, place = found.group(), found.span()
        ended: Place | None = None
        if token in _OPENING:
            open_at.append((place[0], _OPENING[token], name))
            name = None
        elif token in (b"}", b"]"):
            if open_at and open_at[-1][1] == token:
                start, _, name = open_at.pop()
                ended = (start, place[1])
        elif token == b":":
            name = last
        elif token != b",":
            ended = place
        if ended is not None:
            values.append(ended)
            if name is not None and name != ended:
                members.append((name, ended))
                name = None
        last = ended
    return tuple(values), tuple(members)


def is_json(raw: bytes) -> bool:
    """Return whether bytes hold JSON that can be changed by its structure."""
    return b"{" in raw and len(places(raw)[0]) >= _LEAST_TOKENS


def edit_json(raw: bytes, other: bytes, chance: Random) -> bytes:
    """Return JSON with one change of its structure."""
    values, members = places(raw)
    if not values:
        return edit_bytes(raw, other, chance)
    kind = chance.randrange(12)
    if kind <= 2 or not members:
        return _at(raw, chance.choice(values), chance.choice(_VALUES))
    if kind <= 4:
        return _at(raw, chance.choice(values), _any_value(raw, other, chance))
    if kind == 5:
        return _within(raw, chance.choice(values), other, chance)
    name, value = chance.choice(members)
    whole = raw[name[0] : value[1]]
    if kind == 6:  # twice, once with another value
        again = raw[name[0] : value[0]] + chance.choice((raw[value[0] : value[1]], *_VALUES[:4]))
        return _at(raw, (name[0], value[1]), chance.choice((whole + b"," + again,) * 2))
    if kind == 7:  # left out, with a comma
        return _without(raw, (name[0], value[1]))
    if kind == 8:
        inner, depth = raw[value[0] : value[1]], chance.choice(_DEPTHS)
        begin, end = chance.choice(((b"[", b"]"), (b'{"a":', b"}")))
        return _at(raw, value, begin * depth + inner + end * depth)
    if kind == 9:  # another name
        others = [*members, *places(other)[1]]
        source = chance.choice(others)[0]
        text = raw if source in (each[0] for each in members) else other
        return _at(raw, name, text[source[0] : source[1]])
    if kind == 10:  # a new member
        added = chance.choice((b'"a":', raw[name[0] : value[0]])) + chance.choice(_VALUES)
        return _at(raw, (name[0], name[0]), added + b",")
    first, second = sorted((value, chance.choice(values)))
    if first[1] > second[0]:
        return _at(raw, value, chance.choice(_VALUES))
    swapped = raw[second[0] : second[1]] + raw[first[1] : second[0]] + raw[first[0] : first[1]]
    return raw[: first[0]] + swapped + raw[second[1] :]


def _any_value(raw: bytes, other: bytes, chance: Random) -> bytes:
    text = other if chance.random() < 0.5 and is_json(other) else raw
    start, end = chance.choice(places(text)[0])
    return text[start:end]


def _within(raw: bytes, place: Place, other: bytes, chance: Random) -> bytes:
    """Change the characters of a value, or the bytes that its Base64 holds."""
    start, end = place
    text = raw[start:end]
    if text.startswith(b'"'):
        return _at(raw, (start + 1, end - 1), _string(text[1:-1], other, chance))
    return _at(raw, place, edit_bytes(text, b"0123456789.eE+-", chance))


def _string(text: bytes, other: bytes, chance: Random) -> bytes:
    if _BASE64.fullmatch(text) and chance.random() < 0.7:
        try:
            inner = base64.b64decode(text, validate=True)
        except Base64Error:
            return edit_bytes(text, other, chance)
        change: Callable[[bytes, bytes, Random], bytes] = (
            edit_json if is_json(inner) else edit_bytes
        )
        return base64.b64encode(change(inner, other, chance))
    return edit_bytes(text, other, chance)


def _at(raw: bytes, place: Place, text: bytes) -> bytes:
    return raw[: place[0]] + text + raw[place[1] :]


def _without(raw: bytes, place: Place) -> bytes:
    start, end = place
    if raw[end : end + 1] == b",":
        end += 1
    elif raw[start - 1 : start] == b",":
        start -= 1
    return raw[:start] + raw[end:]
