"""How a known-wrong decoder is described: a name, the fault, and a decoder that has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from cdcwire.core.format import Context, Format
from cdcwire.core.message import Message
from cdcwire.model.events import Column, Event, Image, RowChange, Value

Decode: TypeAlias = Callable[[Format, Message, Context], list[Event]]


CRAFTS = ("craft", "craft-proposal")
MESSAGES = (*CRAFTS, "open-protocol")
FILES = ("csv", "canal-json")
MYSQL = (*MESSAGES, *FILES, "avro")
DATAHUB = ("datahub-tuple", "datahub-blob")
CONNECT = ("cdl-json", "debezium-json")
EVERYWHERE = (*MYSQL, *DATAHUB, *CONNECT)
# Of CDL's own format the document shows one insert: other operations are guessed, values Connect's.
ALL_BUT_CDL = (*MYSQL, *DATAHUB, "debezium-json")
IN_BATCHES = (*MESSAGES, *FILES, *DATAHUB)  # Avro has one row a message, and no old one
OF_DDL = (*MYSQL, "datahub-blob")  # what is no row: a Tuple topic has nothing else
BY_INDEX = (*MESSAGES, *FILES)  # whose ENUMs and SETs are numbers, or may be


@dataclass(frozen=True, slots=True)
class KnownWrong:
    """A decoder with one fault that real decoders had.

    ``seen``: the ids of the reported faults that it repeats, as the golden cases name them.
    ``formats``: where the fault can show at all.
    """

    name: str
    fault: str
    decode: Decode
    formats: tuple[str, ...] = EVERYWHERE
    seen: tuple[str, ...] = ()


def right(format_: Format, message: Message, context: Context) -> list[Event]:
    """Decode as the reference does."""
    return list(format_.decode(message, context))


def changing_events(change: Callable[[Event], Event | None]) -> Decode:
    """Return a decoder that changes each event, or loses it where ``change`` gives None."""

    def decode(format_: Format, message: Message, context: Context) -> list[Event]:
        changed = map(change, right(format_, message, context))
        return [event for event in changed if event is not None]

    return decode


def changing_rows(change: Callable[[RowChange], Event | None]) -> Decode:
    """Return a decoder that changes each row event and leaves the others."""
    return changing_events(lambda event: change(event) if isinstance(event, RowChange) else event)


def changing_columns(change: Callable[[Column, Value], tuple[Column, Value] | None]) -> Decode:
    """Return a decoder that changes each column of each row, or loses it where it gives None."""

    def changed_image(image: Image | None) -> Image | None:
        if image is None:
            return None
        pairs: Iterator[tuple[Column, Value] | None] = (
            change(column, value) for column, value in zip(image.columns, image.values, strict=True)
        )
        kept = [pair for pair in pairs if pair is not None]
        return Image(tuple(column for column, _ in kept), tuple(value for _, value in kept))

    return changing_rows(
        lambda row: replace(row, before=changed_image(row.before), after=changed_image(row.after))
    )


def changing_values(change: Callable[[Column, Value], Value]) -> Decode:
    """Return a decoder that changes each value that is not NULL."""
    return changing_columns(
        lambda column, value: (column, None if value is None else change(column, value))
    )
