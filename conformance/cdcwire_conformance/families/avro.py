"""Changes of Avro's bytes: what is before a datum, and the numbers, lengths and branches in it.

Known-wrong decoders of formats whose schemas are in a registry are here too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.reader import Span
from cdcwire.format import Format
from cdcwire.model.events import Event
from cdcwire_conformance.known_wrong.decoder import Decode, KnownWrong, decorator, mending, right
from cdcwire_conformance.mutations import BOMB_COUNT, Change

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


def _by_other_schemas(
    change: Callable[[Mapping[str, str], Message], Mapping[str, str]],
) -> Decode:
    """Return a decoder that takes other texts for the ids of schemas."""

    def decode(format_: Format, message: Message, context: Context) -> list[Event]:
        schemas = change(context.schemas, message)
        return right(format_, message, replace(context, schemas=schemas))

    return decode


wrong_by_schemas = decorator(_by_other_schemas)


@wrong_by_schemas("rows are read by the newest schema, not by the one of their id")
def newest_schema(schemas: Mapping[str, str], message: Message) -> Mapping[str, str]:
    """Give the newest text for that of a value, but not the key's."""
    assert isinstance(message, KafkaMessage)
    key = id_of(message.key)
    others = [name for name in schemas if name != key and name.isdigit()]
    if not others or id_of(message.value) not in others:
        return schemas
    newest = schemas[max(others, key=int)]
    return {name: newest if name in others else text for name, text in schemas.items()}


def id_of(raw: bytes | None) -> str:
    """Return the id of a schema in Confluent's framing."""
    return str(int.from_bytes((raw or b"")[1:5], "big"))


@mending("whatever the first bytes are, they are taken for a header", "avro/magic-and-id")
def header_ignored(message: Message) -> Iterable[Message]:
    """Give a message whose headers have the bytes that they should have, of either registry."""
    assert isinstance(message, KafkaMessage)
    for head in (b"\0", b"\3\0"):
        parts = [raw and head + raw[len(head) :] for raw in (message.key, message.value)]
        yield replace(message, key=parts[0], value=parts[1])
        yield replace(message, key=parts[0])
        yield replace(message, value=parts[1])


@mending("a value of no bytes is taken for null")
def empty_value_as_delete(message: Message) -> Iterable[Message]:
    """Yield the message with null in place of an empty value."""
    if isinstance(message, KafkaMessage) and message.value == b"":
        yield replace(message, value=None)


@mending("what follows a key is ignored")
def end_of_key_ignored(message: Message) -> Iterable[Message]:
    """Yield the message with its key shortened by 1 to 15 bytes."""
    assert isinstance(message, KafkaMessage)
    key = message.key or b""
    for surplus in range(1, min(len(key), 16)):
        yield replace(message, key=key[:-surplus])


SCHEMA_FAULTS: tuple[KnownWrong, ...] = (
    header_ignored,
    empty_value_as_delete,
    end_of_key_ignored,
    newest_schema,
)
