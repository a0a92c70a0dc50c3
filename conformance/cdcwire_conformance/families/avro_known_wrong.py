"""Known-wrong decoders of formats whose Avro schemas are in a registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.format import Format
from cdcwire.model.events import Event
from cdcwire_conformance.known_wrong.decoder import Decode, KnownWrong, decorator, mending, right


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
