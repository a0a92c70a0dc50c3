"""The rules of Avro: keys and values after their envelopes, and the producer's test messages.

A record ends where its bytes end, and no record begins another, so that neither a cut nor a byte
more is ever legal. Other changes, in key and value alike:

* The first bytes of the envelope, and the id to one that no registry gives.
* The branch of a union to one that it does not have.
* A length to one that is negative, asks for all memory, or is one off. One off in the middle of a
  record shifts the bytes after it, which may be legal by chance.
* The bytes of a BIT or of a DECIMAL to none.
* A number, a length or a branch to a varint of eleven bytes.
* The operation and the flag of damaged rows to undefined values.
* A member of a DDL is left out.

Three things are not changed: white space after a DDL's JSON, which may be cut; a value of Glue cut
to nine bytes; columns of unknown types. The cut value of Glue is a delete with its timestamp under
the test options. The bytes of columns of unknown types do not say what they are.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Span
from cdcwire_conformance.corpus.mutations.rules import BOMB_COUNT, Change, FormatRules

_WHITE_SPACE = b" \t\r\n"
_OVERLONG = b"\x80" * 10 + b"\x00"
_HUGE_LENGTH = 1 << 62
_DELETE_BYTE = b"\x03"
_DELETE_BYTES = 9
_TAGS: Mapping[str, tuple[int, ...]] = {
    "magic": (4, 255),
    "version": (0, 4),
    "compression": (1, 5),
    "kind": (4, 255),
}
_NO_BRANCHES = (2, -1)
_NUMBERS = frozenset({"avro: integer values", "avro: year values"})
# Strings and bytes; a BIGINT UNSIGNED is a string by mode, which its bytes show.
_WITH_LENGTH = frozenset(
    {
        *("avro: bigint unsigned", "avro: decimal values", "avro: decimal text"),
        *("avro: text values", "avro: binary values", "avro: bit values"),
        *("avro: enum and set values", "avro: temporal values", "avro: json values"),
        "avro: vector values",
    }
)
_NEVER_EMPTY = frozenset({"avro: decimal values", "avro: bit values"})
_TEXTS_OF_EXTENSION = frozenset({"_tidb_op", "_tidb_row_level_checksum"})
_DDL_MEMBERS = frozenset({"query", "type", "schema", "table", "commitTs"})


def legal_sizes(raw: bytes, spans: Sequence[Span]) -> Container[int]:
    """Return where a part may end: a DDL before the white space after its JSON."""
    if any(span.clause == "avro: ddl" for span in spans):
        return range(len(raw.rstrip(_WHITE_SPACE)), len(raw))
    return ()


def legal_cut(message: Message, part: str, size: int) -> bool:
    """Return whether this is a value of Glue cut to the size of a delete with its timestamp."""
    if part != "value" or size != _DELETE_BYTES or not isinstance(message, KafkaMessage):
        return False
    return message.key is not None and (message.value or b"").startswith(_DELETE_BYTE)


def changes(
    raw: bytes, spans: Sequence[Span], options: Mapping[str, OptionValue]
) -> Iterator[Change]:
    """Yield what can be made wrong at the fields of a key or of a value."""
    for span in spans:
        name = str(span.path[-1])
        if span.clause in ("avro: envelope", "avro: glue envelope") or name == "kind":
            yield from _of_envelope(raw, span, name)
        elif span.clause == "avro: ddl":
            if name in _DDL_MEMBERS:
                title = f"the member {name} is left out"
                made = raw[: span.start] + raw[span.end :]
                yield Change("member", span.start, "-1", title, made)
        elif span.clause in ("avro: union index", "avro: null and defaults"):
            yield from _of_number(raw, span)
            for branch in _NO_BRANCHES:
                title = f"branch {branch} of a union of two"
                yield Change(
                    "tag", span.start, f"={branch}", title, _replaced(raw, span, zigzag(branch))
                )
        elif span.clause in _NUMBERS:
            yield from _of_number(raw, span)
        elif span.clause in ("avro: extension fields", "avro: row checksum"):
            yield from _of_extension(raw, span, name)
        elif span.clause in _WITH_LENGTH:
            yield from _of_length(raw, span)


def zigzag(number: int) -> bytes:
    """Return a varint of the Avro encoding."""
    left = number << 1 if number >= 0 else (-number << 1) - 1
    out = bytearray()
    while left > 0x7F:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    out.append(left)
    return bytes(out)


def _of_envelope(raw: bytes, span: Span, name: str) -> Iterator[Change]:
    for tag in _TAGS.get(name, ()):
        title = f"the byte {tag} as {name}"
        yield Change("tag", span.start, f"={tag}", title, _replaced(raw, span, bytes((tag,))))
    if name == "schema_id":
        title = "an id that no registry gives"
        made = _replaced(raw, span, b"\xff" * (span.end - span.start))
        yield Change("tag", span.start, "=-1", title, made)


def _of_number(raw: bytes, span: Span) -> Iterator[Change]:
    title = f"a varint of eleven bytes at byte {span.start}"
    yield Change("varint", span.start, "", title, _replaced(raw, span, _OVERLONG))


def _of_extension(raw: bytes, span: Span, name: str) -> Iterator[Change]:
    if name in _TEXTS_OF_EXTENSION:
        yield from _of_length(raw, span)
    elif name != "_tidb_corrupted":
        yield from _of_number(raw, span)
    if name == "_tidb_op":
        title = "the operation is X"
        made = _replaced(raw, span, zigzag(1) + b"X")
        yield Change("tag", span.start, "=X", title, made, feature="op")


def _of_length(raw: bytes, span: Span) -> Iterator[Change]:
    """Yield the changes of the length that a string or bytes begin with."""
    place = span.start
    end, length = _varint_at(raw, place)
    if end == span.end and span.clause == "avro: bigint unsigned":
        yield from _of_number(raw, span)  # a long
        return
    is_last = span.end == len(raw)

    def changed(kind: str, detail: str, number: int, is_certain: bool = True) -> Change:
        title = f"the length at byte {place} is {number} in place of {length}"
        made = raw[:place] + zigzag(number) + raw[end:]
        return Change(kind, place, detail, title, made, is_certain)

    yield changed("length", "=-1", -1)
    yield changed("length", "+1", length + 1, is_last)
    if length:
        yield changed("length", "-1", length - 1, is_last)
    if span.clause in _NEVER_EMPTY:
        title = f"no bytes at byte {place}"
        yield Change("length", place, "=0", title, _replaced(raw, span, b"\x00"))
    yield changed("length", f"={BOMB_COUNT}", BOMB_COUNT)
    yield changed("bomb", "", _HUGE_LENGTH)
    title = f"a length of eleven bytes at byte {place}"
    yield Change("varint", place, "", title, raw[:place] + _OVERLONG + raw[end:])


def _varint_at(raw: bytes, start: int) -> tuple[int, int]:
    """Return where the varint at ``start`` ends, and its number."""
    value = 0
    for index, byte in enumerate(raw[start:]):
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return start + index + 1, (value >> 1) ^ -(value & 1)
    raise AssertionError("the explanation of legal bytes has whole numbers")


def _replaced(raw: bytes, span: Span, content: bytes) -> bytes:
    return raw[: span.start] + content + raw[span.end :]


RULES = FormatRules(
    parts=("key", "value"), legal_cut=legal_cut, legal_sizes=legal_sizes, changes=changes
)
