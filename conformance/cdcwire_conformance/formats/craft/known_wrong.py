"""Known-wrong decoders of both Craft formats, and those of the shipped one.

Some read a message with a cursor that has the fault: ``Reader`` is what all decoders of the wire
take. Others replace what reads the names of a group's columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message
from cdcwire.core.reader import Reader, read_varint
from cdcwire.format import Format
from cdcwire.formats.craft.arrays import ArrayPath
from cdcwire.formats.craft.columns import NameReader
from cdcwire.formats.craft.events import events_of
from cdcwire.formats.craft.headers import name_reader
from cdcwire.formats.craft.profile import CRAFT, PROPOSAL, Profile, present
from cdcwire.formats.craft.settings import Settings, read_settings
from cdcwire.formats.craft.wire import decode, read_message
from cdcwire.model.events import Event
from cdcwire.model.kinds import Column, Value, YearType
from cdcwire_conformance.families import mysql
from cdcwire_conformance.known_wrong.decoder import (
    Decode,
    KnownWrong,
    mending,
    wrong_values,
)
from cdcwire_conformance.known_wrong.events import one_table_a_message, partition_lost


@wrong_values("YEAR is read as unsigned, so that 2024 becomes 4048", "C10")
def year_without_zigzag(column: Column, value: Value) -> Value:
    """Return the zigzag number of a YEAR without decoding it."""
    if not isinstance(column.type, YearType):
        return value
    return value << 1 if value >= 0 else (~value << 1) | 1


@mending("any version is read as version 1")
def version_ignored(message: Message) -> Iterable[Message]:
    """Yield the message with version 1 written over its first byte, then over its first two."""
    value = message.value
    if value is not None:
        yield replace(message, value=b"\1" + value[1:])
        yield replace(message, value=b"\0\1" + value[2:])


class _ZeroAtEnd(Reader):
    """A cursor that reads 0 where its bytes have ended."""

    __slots__ = ()

    def byte(self, clause: str) -> int:
        return super().byte(clause) if self.left else 0


class _ShortValues(Reader):
    """A cursor that reads an integer value as 0 where it is cut off."""

    __slots__ = ()

    def region(self, size: int, clause: str) -> Reader:
        part = super().region(size, clause)
        is_value = clause in (CRAFT.nullable_bytes_arrays, PROPOSAL.nullable_bytes_arrays)
        kind = _ZeroAtEnd if is_value else _ShortValues
        return kind(part.data, part.offset, part.end)


class _ShortestIntegers(Reader):
    """A cursor that refuses a varint that is longer than it needs to be."""

    __slots__ = ("is_inside",)

    def __init__(self, data: bytes, offset: int = 0, end: int | None = None) -> None:
        super().__init__(data, offset, end)
        self.is_inside = False

    def byte(self, clause: str) -> int:
        value = super().byte(clause)
        if clause in (CRAFT.integers, PROPOSAL.integers):
            if self.is_inside and value == 0:
                problem = "a varint that is longer than it needs to be"
                raise DecodeError(problem, self.offset - 1, clause)
            self.is_inside = value >= 0x80
        return value

    def region(self, size: int, clause: str) -> Reader:
        part = super().region(size, clause)
        return _ShortestIntegers(part.data, part.offset, part.end)


class _UncheckedNames(Reader):
    """A cursor that replaces what is not UTF-8 in names and queries."""

    __slots__ = ()

    def take(self, size: int, clause: str) -> bytes:
        raw = super().take(size, clause)
        is_name = clause in (
            *(CRAFT.strings, CRAFT.string_arrays),
            *(PROPOSAL.strings, PROPOSAL.string_arrays),
        )
        return raw.decode("utf-8", "replace").encode() if is_name else raw

    def region(self, size: int, clause: str) -> Reader:
        part = super().region(size, clause)
        return _UncheckedNames(part.data, part.offset, part.end)


def wire_faults(
    events_of: Callable[[Reader, Context], list[Event]], profile: Profile
) -> tuple[KnownWrong, ...]:
    """Return the decoders whose cursor has a fault. ``events_of`` decodes what a cursor reads."""

    def reading_by(cursor: type[Reader]) -> Decode:
        def decode_by(format_: Format, message: Message, context: Context) -> list[Event]:
            return events_of(cursor(present(message.value, profile)), context)

        return decode_by

    return (
        KnownWrong(
            "short-integer-is-zero",
            "an integer that is cut off is 0",
            reading_by(_ShortValues),
            ("C8",),
        ),
        KnownWrong(
            "padded-integers-refused",
            "varints that are longer than they need to be are refused",
            reading_by(_ShortestIntegers),
        ),
        KnownWrong(
            "names-not-checked",
            "names and queries that are not UTF-8 are accepted",
            reading_by(_UncheckedNames),
        ),
    )


def groups_by_position(
    decode: Callable[..., Any], events_of: Callable[[Any, Settings], Iterable[Event]]
) -> KnownWrong:
    """Return the decoder that takes the first column group for the new row, the second for the old.

    ``decode`` and ``events_of``: those of the right decoder.
    """

    def decode_by(format_: Format, message: Message, context: Context) -> list[Event]:
        decoded = decode(message.value, context=context)
        swapped = replace(decoded, events=_by_position(decoded.events))
        return list(events_of(swapped, read_settings(context)))

    fault = "the first column group is taken for the new row, the second for the old"
    return KnownWrong("groups-by-position", fault, decode_by, ("C11",))


def _by_position(events: Iterable[Any]) -> tuple[Any, ...]:
    found = []
    for event in events:
        groups: Sequence[Any] = getattr(event, "groups", ())
        if len(groups) == 2:
            typed = tuple(replace(group, type=kind) for kind, group in enumerate(groups, start=1))
            event = replace(event, groups=typed)
        found.append(event)
    return tuple(found)


def _events_of(reader: Reader, context: Context) -> list[Event]:
    decoded = read_message(reader, context.selection)
    return list(events_of(decoded, read_settings(context)))


def _terms_in_order(terms: list[str]) -> NameReader:
    """Read column names as if the terms after schema and table were those of every group."""

    def read_names(reader: Reader, count: int, place: ArrayPath) -> list[str]:
        for _ in range(count):
            read_varint(reader, place.clause)
        return terms[2 : 2 + count]

    return read_names


def _naming_by(read_names: Callable[[list[str]], NameReader]) -> Decode:
    def decode_by(format_: Format, message: Message, context: Context) -> list[Event]:
        reader = Reader(present(message.value, CRAFT))
        decoded = read_message(reader, context.selection, read_names)
        return list(events_of(decoded, read_settings(context)))

    return decode_by


CRAFT_FAULTS: tuple[KnownWrong, ...] = (
    *mysql.BATCHED_MYSQL_FAULTS,
    mysql.ill_formed_text_replaced,
    mysql.vector_as_null,
    partition_lost,
    one_table_a_message,
    year_without_zigzag,
    version_ignored,
)


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *CRAFT_FAULTS,
    *wire_faults(_events_of, CRAFT),
    groups_by_position(decode, events_of),
    KnownWrong(
        "terms-in-order",
        "column names are taken from the dictionary one after the other",
        _naming_by(_terms_in_order),
    ),
    KnownWrong(
        "repeated-columns-accepted",
        "a group may have a column twice",
        _naming_by(partial(name_reader, may_repeat=True)),
    ),
)
