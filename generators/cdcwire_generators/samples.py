"""A sample: messages of a format with their meaning, and what a decoder needs to read them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from cdcwire.core.message import Message
from cdcwire.core.options import OptionValue
from cdcwire.model.events import Event, Marker, Progress, RowChange, SchemaChange, Table
from cdcwire.model.kinds import ArrayType, Column, MapType, StructType, Type, Value
from cdcwire_generators.round_trip import kind_name, ordinary_kind_name


@dataclass(frozen=True)
class Sample:
    """The messages of a change stream under some options.

    ``sent``: the events that were encoded. ``tables``: the definitions that encoding them takes.
    ``read``: the events that the reference reads in the messages.
    """

    options: Mapping[str, OptionValue]
    tables: tuple[Table, ...]
    sent: tuple[Event, ...]
    messages: tuple[Message, ...]
    read: tuple[Event, ...]

    def rows(self) -> Iterator[RowChange]:
        """Yield the row changes that are read."""
        return (event for event in self.read if isinstance(event, RowChange))

    def pairs(self) -> Iterator[tuple[Column, Value]]:
        """Yield the columns of all rows with their values."""
        for row in self.rows():
            for image in (row.before, row.after):
                if image is not None:
                    yield from image.pairs

    def types(self) -> Iterator[Type]:
        """Yield the types of the columns of all rows, and the types inside them."""
        for column, _ in self.pairs():
            yield from _with_inner(column.type)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The names of ``cdcwire.model.carries.KINDS`` that types and values are of."""
        values = ((column, value) for column, value in self.pairs() if value is not None)
        found = {kind_name(column.type, value) for column, value in values}
        return frozenset(found.union(map(ordinary_kind_name, self.types())))


Need: TypeAlias = Callable[[Sample], bool]


def _with_inner(kind: Type) -> Iterator[Type]:
    yield kind
    match kind:
        case ArrayType(item):
            yield from _with_inner(item)
        case MapType(key, value):
            yield from _with_inner(key)
            yield from _with_inner(value)
        case StructType(columns):
            for column in columns:
                yield from _with_inner(column.type)
        case _:
            pass


def never(sample: Sample) -> bool:
    """Return False: the encoder of the reference never writes it."""
    return False


def has_kinds(*names: str) -> Need:
    """Return whether a sample has values of one of these kinds."""
    return lambda sample: not sample.kinds.isdisjoint(names)


def has_options(name: str, values: Collection[OptionValue | None]) -> Need:
    """Return whether an option has one of these values; None: it is not given."""
    return lambda sample: sample.options.get(name) in values


def has_schema_changes(sample: Sample) -> bool:
    """Return whether a sample has a schema change."""
    return any(isinstance(event, SchemaChange) for event in sample.read)


def has_progress(sample: Sample) -> bool:
    """Return whether a sample says how far a feed has come."""
    return any(isinstance(event, Progress) for event in sample.read)


def has_markers(*names: str) -> Need:
    """Return whether a sample has markers of these kinds."""
    return lambda sample: any(
        isinstance(event, Marker) and event.what in names for event in sample.read
    )


def has_partitions(sample: Sample) -> bool:
    """Return whether a row is one of a partition."""
    return any(row.position.partition is not None for row in sample.rows())
