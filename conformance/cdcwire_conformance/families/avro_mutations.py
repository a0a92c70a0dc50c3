"""Changes of Avro's bytes: what is before a datum, and the numbers, lengths and branches in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cdcwire.core.reader import Span
from cdcwire_conformance.corpus.mutations.rules import BOMB_COUNT, Change

_OVERLONG = b"\x80" * 10 + b"\x00"
_HUGE_LENGTH = 1 << 62
_TAGS: Mapping[str, tuple[int, ...]] = {
    "magic": (4, 255),
    "version": (0, 4),
    "compression": (1, 5),
    "kind": (4, 255),
}


def zigzag(number: int) -> bytes:
    """Return a varint of the Avro encoding."""
    left = number << 1 if number >= 0 else (-number << 1) - 1
    out = bytearray()
    while left > 0x7F:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    out.append(left)
    return bytes(out)


def of_envelope(raw: bytes, span: Span, name: str) -> Iterator[Change]:
    """Yield the changes of a byte or an id before a datum."""
    for tag in _TAGS.get(name, ()):
        title = f"the byte {tag} as {name}"
        yield Change("tag", span.start, f"={tag}", title, replaced(raw, span, bytes((tag,))))
    if name == "schema_id":
        title = "an id that no registry gives"
        made = replaced(raw, span, b"\xff" * (span.end - span.start))
        yield Change("tag", span.start, "=-1", title, made)


def of_number(raw: bytes, span: Span) -> Iterator[Change]:
    """Yield a number in more bytes than any number has."""
    title = f"a varint of eleven bytes at byte {span.start}"
    yield Change("varint", span.start, "", title, replaced(raw, span, _OVERLONG))


def of_branch(raw: bytes, span: Span, beyond: int = 2) -> Iterator[Change]:
    """Yield the changes of the branch of a union; ``beyond``: a branch that it does not have."""
    yield from of_number(raw, span)
    for branch in (beyond, -1):
        title = f"branch {branch}, which the union does not have"
        made = replaced(raw, span, zigzag(branch))
        yield Change("tag", span.start, f"={branch}", title, made)


def of_length(raw: bytes, span: Span, *, is_never_empty: bool = False) -> Iterator[Change]:
    """Yield the changes of the length that a string or bytes begin with."""
    place = span.start
    end, length = varint_at(raw, place)
    is_last = span.end == len(raw)

    def changed(kind: str, detail: str, number: int, is_certain: bool = True) -> Change:
        title = f"the length at byte {place} is {number} in place of {length}"
        made = raw[:place] + zigzag(number) + raw[end:]
        return Change(kind, place, detail, title, made, is_certain)

    yield changed("length", "=-1", -1)
    yield changed("length", "+1", length + 1, is_last)
    if length:
        yield changed("length", "-1", length - 1, is_last)
    if is_never_empty:
        title = f"no bytes at byte {place}"
        yield Change("length", place, "=0", title, replaced(raw, span, b"\x00"))
    yield changed("length", f"={BOMB_COUNT}", BOMB_COUNT)
    yield changed("bomb", "", _HUGE_LENGTH)
    title = f"a length of eleven bytes at byte {place}"
    yield Change("varint", place, "", title, raw[:place] + _OVERLONG + raw[end:])


def varint_at(raw: bytes, start: int) -> tuple[int, int]:
    """Return where the varint at ``start`` ends, and its number."""
    value = 0
    for index, byte in enumerate(raw[start:]):
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return start + index + 1, (value >> 1) ^ -(value & 1)
    raise AssertionError("the explanation of legal bytes has whole numbers")


def replaced(raw: bytes, span: Span, content: bytes) -> bytes:
    """Return the bytes with others in place of a span."""
    return raw[: span.start] + content + raw[span.end :]
