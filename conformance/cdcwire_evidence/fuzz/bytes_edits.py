"""Changes of bytes, whatever the bytes mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
