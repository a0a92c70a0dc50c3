"""A feed that a program opens by its name: files in a directory, or a storage prefix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar, overload

from cdcwire.arguments import (
    Tables,
    check_on_error,
    expect_mappings,
    selection_of,
    tables_of,
)
from cdcwire.changes import Bad, Change, OnError, feed_rows, typed_change
from cdcwire.core.context import Compression, Context
from cdcwire.core.options import OptionValue
from cdcwire.core.rows import Row, event_of
from cdcwire.core.typed_rows import TypedRows
from cdcwire.extras import extension
from cdcwire.model.events import Event, Marker, Progress, RowChange, SchemaChange, Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cdcwire.arrow.feed import ArrowBatch, ArrowTable

R = TypeVar("R")
ChangeT = TypeVar("ChangeT")

_NOTHING: Mapping[str, Any] = MappingProxyType({})

MessageEvents: TypeAlias = "tuple[Sequence[Row | Event], Mapping[str, Any]]"
"""The events of a message, and its topic, partition, offset, file and line as far as known."""


class FeedError(ValueError):
    """A message of a feed, or a row, can't be had. The text is one line: where and why."""


class FeedSource(Protocol):
    """The source of a feed, which another package has."""

    @property
    def format(self) -> str:
        """The id of the format."""
        ...

    def events(self) -> Iterator[MessageEvents | Bad]:
        """Yield the events of each message, in order; ``Bad`` for one that can't be read."""
        ...

    def tables(self) -> tuple[Table, ...]:
        """Return the tables that have rows, as the messages and definitions describe them."""
        ...


class Feed(Generic[ChangeT]):
    """A feed, whose events are read anew each time that they are asked for.

    Iterate over it for all events. All methods raise FeedError for a message that can't be read,
    unless ``on_error`` says otherwise, and OSError.
    """

    def __init__(
        self, source: FeedSource, name: str, rows: TypedRows[Any] | None, on_error: OnError
    ) -> None:
        self._source = source
        self._name = name
        self._rows = rows
        self._on_error = on_error
        self._defined: tuple[Table, ...] | None = None

    def __repr__(self) -> str:
        return f"Feed({self._name!r})"

    @property
    def format(self) -> str:
        """The id of the format."""
        return self._source.format

    def __iter__(self) -> Iterator[ChangeT | SchemaChange | Progress | Marker]:
        """Yield the changes and the other events."""
        for events, _ in self._messages():
            for event in events:
                yield self._made(event)

    def rows(self) -> Iterator[ChangeT]:
        """Yield the changed rows, without the other events."""
        for change in self:
            if not isinstance(change, (SchemaChange, Progress, Marker)):
                yield change

    def tables(self) -> tuple[Table, ...]:
        """Return the tables that have rows. The whole feed is read for it, once."""
        if self._defined is None:
            self._defined = self._source.tables()
        return self._defined

    def batches(self, size: int = 65_536) -> Iterator[ArrowBatch]:
        """Yield the changed rows as ``pyarrow.RecordBatch``, each of one table.

        ``size``: the rows that are collected before their batches are made. The columns have the
        types of ``tables``. Needs the extra ``arrow``.
        Raises: ValueError for a value that does not fit the type of its column.
        """
        if size < 1:
            raise ValueError(f"size is {size!r:.80}; it must be a number from 1")
        gathered = feed_rows("batches", self.tables(), are_whole=True)
        for rows, place in self._rows_of_messages():
            gathered.add(rows, place)
            if gathered.count >= size:
                yield from gathered.batches()
        yield from gathered.batches()

    def to_arrow(self) -> dict[str, ArrowTable]:
        """Return the changed rows as one ``pyarrow.Table`` for each table, as ``to_arrow`` does."""
        gathered = feed_rows("to_arrow", self.tables(), are_whole=True)
        for rows, place in self._rows_of_messages():
            gathered.add(rows, place)
        return gathered.tables()

    def to_pandas(self) -> dict[str, Any]:
        """Return the changed rows as one ``pandas.DataFrame`` for each table. Needs pandas."""
        return {name: table.to_pandas() for name, table in self.to_arrow().items()}

    def to_polars(self) -> dict[str, Any]:
        """Return the changed rows as one ``polars.DataFrame`` for each table. Needs polars.

        Raises: ModuleNotFoundError without it.
        """
        from_arrow = import_module("polars").from_arrow
        return {name: from_arrow(table) for name, table in self.to_arrow().items()}

    def _rows_of_messages(self) -> Iterator[tuple[list[Row | RowChange], Mapping[str, Any]]]:
        for events, place in self._messages():
            yield [each for each in events if isinstance(each, (Row, RowChange))], place

    def _messages(self) -> Iterator[MessageEvents]:
        for found in self._source.events():
            if not isinstance(found, Bad):
                yield found
            elif callable(self._on_error):
                self._on_error(found)
            elif self._on_error == "raise":
                raise FeedError(f"{found.where}: {found.error}") from found.error

    def _made(self, event: Row | Event) -> Any:
        return event_of(event) if self._rows is None else typed_change(event, self._rows)


@overload
def open(
    source: str,
    /,
    *,
    rows: None = None,
    tables: Tables = (),
    schemas: Mapping[str, str] = _NOTHING,
    options: Mapping[str, OptionValue] = _NOTHING,
    blobs: Mapping[str, bytes] = _NOTHING,
    compressions: Mapping[str, Compression] = _NOTHING,
    only: Iterable[str] | None = None,
    on_error: OnError = "raise",
) -> Feed[RowChange]: ...


@overload
def open(
    source: str,
    /,
    *,
    rows: type[R],
    tables: Tables = (),
    schemas: Mapping[str, str] = _NOTHING,
    options: Mapping[str, OptionValue] = _NOTHING,
    blobs: Mapping[str, bytes] = _NOTHING,
    compressions: Mapping[str, Compression] = _NOTHING,
    only: Iterable[str] | None = None,
    on_error: OnError = "raise",
) -> Feed[Change[R]]: ...


def open(
    source: str,
    /,
    *,
    rows: type[Any] | None = None,
    tables: Tables = (),
    schemas: Mapping[str, str] = _NOTHING,
    options: Mapping[str, OptionValue] = _NOTHING,
    blobs: Mapping[str, bytes] = _NOTHING,
    compressions: Mapping[str, Compression] = _NOTHING,
    only: Iterable[str] | None = None,
    on_error: OnError = "raise",
) -> Feed[Any]:
    """Return a feed in files: ``"canal-json:file:DIR"``, a directory of messages, or one file.

    For formats of a storage sink it may be the sink's prefix, also at a URL, ``"csv:s3://…"``
    (extra ``storage``). The arguments are those of ``Decoder``. A directory's ``feed.json``, which
    ``cdcwire generate`` writes, has the options that are not given, and its folder ``schemas`` the
    Avro schemas. Definitions without a schema take that of the feed. ``auto`` in place of the
    format stands for the one that ``feed.json`` or the messages show.
    A topic is read by a client of Kafka, whose records ``Decoder`` takes.

    Raises: ValueError for a source or an option that is not known. TypeError for an argument of
    another type. OSError. ModuleNotFoundError without the package cdcwire-conformance, which
    opens feeds.
    """
    expect_mappings(schemas=schemas, options=options, blobs=blobs, compressions=compressions)
    check_on_error(on_error)
    context = Context(
        options=dict(options),
        tables=tables_of(tables),
        schemas=schemas,
        blobs=blobs,
        compressions=compressions,
        selection=selection_of(only),
    )
    typed = None if rows is None else TypedRows(rows)
    return Feed(extension("open-feed", "cdcwire.open")(source, context), source, typed, on_error)
