"""The decoder for consumers: made once and kept, from any Kafka client's records to typed rows.

``Decoder`` uses the fast decoder of the format, which gives the same events and errors as the plain
one. It does no input or output. Between records it keeps only the table definitions that the feed
itself sends.
"""

from __future__ import annotations

from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from threading import Lock, local
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, overload

from cdcwire.core.client_records import message_of, place_of
from cdcwire.core.context import EVERYTHING, Compression, Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.explanation import Explanation
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionValue
from cdcwire.core.rows import Row, event_of
from cdcwire.core.sent_tables import with_sent_tables
from cdcwire.core.typed_rows import TypedRows
from cdcwire.format import MessageDecoder
from cdcwire.model.events import (
    NO_EXTRA,
    Extra,
    Half,
    Marker,
    Op,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Sent,
    Table,
)
from cdcwire.model.paths import Path, path_text
from cdcwire.model.slotted import slotted
from cdcwire.registry import get_format

if TYPE_CHECKING:
    from cdcwire.arrow.feed import ArrowBatch, ArrowTable, FeedRows

R = TypeVar("R")
ChangeT = TypeVar("ChangeT")

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@slotted(frozen=True, slots=True)
class Change(Generic[R]):
    """One changed row: a ``RowChange`` whose states before and after are of the user's type.

    ``before`` and ``after``: None for a state that the record does not have.
    """

    op: Op
    table: Table
    before: R | None
    after: R | None
    position: Position
    half: Half | None = None
    sent: Sent | None = None
    extra: Extra = field(default_factory=lambda: NO_EXTRA)


@dataclass(frozen=True, slots=True)
class Bad:
    """A record whose bytes break the format, as ``on_error`` gets it."""

    record: object
    error: DecodeError

    @property
    def offset(self) -> int:
        """The byte where reading stopped, counted from 0 in the key, value or file."""
        return self.error.offset

    @property
    def path(self) -> Path:
        """The path to the value that is wrong, outermost step first."""
        return self.error.path

    @property
    def clause(self) -> str:
        """The clause of the format's page that the bytes break."""
        return self.error.clause

    def headers(self) -> list[tuple[str, bytes]]:
        """Return headers for a dead-letter topic: ``cdcwire.error``, offset, path and clause."""
        texts = {
            "error": str(self.error),
            "offset": str(self.offset),
            "path": path_text(self.path),
            "clause": self.clause,
        }
        return [(f"cdcwire.{name}", text.encode()) for name, text in texts.items()]


OnError: TypeAlias = "Literal['raise', 'skip'] | Callable[[Bad], None]"
Engine: TypeAlias = Literal["auto", "plain"]


class Decoder(Generic[ChangeT]):
    """Decodes the records of one feed. Make it once and keep it; threads may share it.

    ``rows``: the type of row states. Without it, changes are neutral ``RowChange`` events. With
    dict, tuple, a TypedDict, a dataclass, a NamedTuple or a ``msgspec.Struct``, they are
    ``Change`` objects. ``tables``, ``schemas``, ``options``, ``blobs``, ``compressions``: as in
    ``Context``. ``only``: names of the wanted tables, ``"shop.orders"``; ``"orders"`` if the
    format has no schema. ``on_error``: "raise", "skip" the record, or a function that gets
    ``Bad``; a record is decoded whole or not at all. ``engine``: "plain" decodes by the plain
    decoder, which reads like the format's page.

    Definitions of tables that a record sends count for it and for later records.

    Raises: ValueError for an unknown format, OptionError for an unknown option or value,
    TypeError for ``rows`` of another type.

    Examples:
        >>> from cdcwire import Decoder
        >>> decoder = Decoder("maxwell-json", rows=dict)
        >>> record = b'{"database":"shop","table":"t","type":"insert","ts":1,"data":{"id":7}}'
        >>> [change] = decoder.decode(record)
        >>> change.op, change.table.name, change.after
        ('insert', 't', {'id': 7})

    """

    @overload
    def __init__(
        self: Decoder[RowChange],
        format: str,
        /,
        *,
        rows: None = None,
        tables: Iterable[Table] = (),
        schemas: Mapping[str, str] = _NOTHING,
        options: Mapping[str, OptionValue] = _NOTHING,
        blobs: Mapping[str, bytes] = _NOTHING,
        compressions: Mapping[str, Compression] = _NOTHING,
        only: Iterable[str] | None = None,
        on_error: OnError = "raise",
        engine: Engine = "auto",
    ) -> None: ...

    @overload
    def __init__(
        self: Decoder[Change[R]],
        format: str,
        /,
        *,
        rows: type[R],
        tables: Iterable[Table] = (),
        schemas: Mapping[str, str] = _NOTHING,
        options: Mapping[str, OptionValue] = _NOTHING,
        blobs: Mapping[str, bytes] = _NOTHING,
        compressions: Mapping[str, Compression] = _NOTHING,
        only: Iterable[str] | None = None,
        on_error: OnError = "raise",
        engine: Engine = "auto",
    ) -> None: ...

    def __init__(
        self,
        format: str,
        /,
        *,
        rows: type[Any] | None = None,
        tables: Iterable[Table] = (),
        schemas: Mapping[str, str] = _NOTHING,
        options: Mapping[str, OptionValue] = _NOTHING,
        blobs: Mapping[str, bytes] = _NOTHING,
        compressions: Mapping[str, Compression] = _NOTHING,
        only: Iterable[str] | None = None,
        on_error: OnError = "raise",
        engine: Engine = "auto",
    ) -> None:
        self._format = get_format(format)
        expect_mappings(schemas=schemas, options=options, blobs=blobs, compressions=compressions)
        if engine not in ("auto", "plain"):
            raise ValueError(f"engine is {engine!r:.80}; it must be 'auto' or 'plain'")
        if not callable(on_error) and on_error not in ("raise", "skip"):
            raise ValueError(
                f"on_error is {on_error!r:.80}; it must be 'raise', 'skip' or a function"
            )
        self._defined = tables_of(tables)
        self._context = Context(
            options=dict(options),
            tables=self._defined,
            schemas=schemas,
            blobs=blobs,
            compressions=compressions,
            selection=EVERYTHING if only is None else _selection_of(only),
        )
        self._format.decoder(self._context)  # reports wrong settings at once
        self._rows: TypedRows[Any] | None = None if rows is None else TypedRows(rows)
        self._on_error = on_error
        self._engine = engine
        self._of_thread = local()  # fast decoders are not thread-safe
        self._learning = Lock()

    def __repr__(self) -> str:
        return f"Decoder({self._format.name!r})"

    def decode(self, record: object, /) -> list[ChangeT | SchemaChange | Progress | Marker]:
        """Return the changes and other events of a record, in order.

        ``record``: a ``KafkaMessage``, a ``StoredFile``, the value's bytes, or a record of
        confluent-kafka, kafka-python or aiokafka. With bytes alone, the key is unknown.
        Raises: DecodeError, unless ``on_error`` says otherwise. TypeError for another record, and
        for a row that does not fit its type. ValueError for an error of confluent-kafka.
        """
        changes = self._changes(record)
        if self._rows is None:
            return list(map(event_of, changes))  # type: ignore[arg-type]  # ChangeT is RowChange
        return [self._typed(change, self._rows) for change in changes]

    def iter(
        self, records: Iterable[object], /
    ) -> Iterator[ChangeT | SchemaChange | Progress | Marker]:
        """Yield the changes and other events of records, as ``decode`` returns them."""
        for record in records:
            yield from self.decode(record)

    async def aiter(
        self, records: AsyncIterable[object], /
    ) -> AsyncIterator[ChangeT | SchemaChange | Progress | Marker]:
        """Yield the changes and other events of the records of an asyncio client, as ``iter``."""
        async for record in records:
            for change in self.decode(record):
                yield change

    def rows(self, records: Iterable[object], /) -> Iterator[ChangeT]:
        """Yield the changed rows of records, without the other events. Raises: as ``decode``."""
        for change in self.iter(records):
            if not isinstance(change, (SchemaChange, Progress, Marker)):
                yield change

    def batches(self, records: Iterable[object], /, size: int = 65_536) -> Iterator[ArrowBatch]:
        """Yield the changed rows of records as ``pyarrow.RecordBatch``, each of one table.

        ``size``: the rows that are collected before their batches are made. ``rows`` has no effect.
        A batch has the columns that rows of its table had so far, as ``to_arrow`` has them. With
        ``tables``, the definitions give the types. Needs the extra ``arrow``.
        Raises: as ``decode``; ValueError for a value that does not fit the type of its column.
        """
        if size < 1:
            raise ValueError(f"size is {size!r:.80}; it must be a number from 1")
        gathered = _feed_rows("batches", self._defined)
        for record in records:
            self._gather(gathered, record)
            if gathered.count >= size:
                yield from gathered.batches()
        yield from gathered.batches()

    def explain(self, record: object, /) -> Explanation:
        """Return what each byte of a record means, up to its first error."""
        return self._format.explain(message_of(record), context=self._context)

    def _changes(self, record: object) -> Sequence[Any]:
        """Return the rows and events of a record, or none if it is bad and ``on_error`` says so."""
        message = message_of(record)
        tables_in = self._format.tables_in
        if tables_in is not None and isinstance(message, KafkaMessage):
            self._learn(tables_in(message, self._context))
        try:
            return list(self._decoder()(message))
        except DecodeError as error:
            if callable(self._on_error):
                self._on_error(Bad(record, error))
            elif self._on_error == "raise":
                raise
            return ()

    def _gather(self, gathered: FeedRows, record: object) -> None:
        changes = self._changes(record)
        rows = [change for change in changes if isinstance(change, (Row, RowChange))]
        if rows:
            gathered.add(rows, place_of(record))

    def _learn(self, tables: tuple[Table, ...]) -> None:
        if not tables:
            return
        with self._learning:
            if not set(tables) <= set(self._context.tables):
                self._context = with_sent_tables(self._context, (*self._context.tables, *tables))
                self._of_thread = local()

    def _decoder(self) -> MessageDecoder:
        found: MessageDecoder | None = getattr(self._of_thread, "decode", None)
        if found is None:
            is_plain = self._engine == "plain"
            found = self._plain if is_plain else self._format.decoder(self._context)
            self._of_thread.decode = found
        return found

    def _plain(self, message: Message) -> Iterable[Any]:
        return self._format.to_events(message, context=self._context)

    def _typed(self, change: Any, rows: TypedRows[Any]) -> Any:
        if isinstance(change, Row):
            table = change.table
            old, new = change.old_layout, change.new_layout
            return Change(
                change.op,
                table,
                None if old is None else rows.of_layout(old, change.old or (), table),
                None if new is None else rows.of_layout(new, change.new or (), table),
                change.position,
                change.half,
                change.sent,
                change.extra or NO_EXTRA,
            )
        if isinstance(change, RowChange):
            before, after = (
                None if image is None else rows.of_image(image, change.table)
                for image in (change.before, change.after)
            )
            return Change(
                change.op,
                change.table,
                before,
                after,
                change.position,
                change.half,
                change.sent,
                change.extra,
            )
        return change


def tables_of(tables: Iterable[Table]) -> tuple[Table, ...]:
    """Return the argument ``tables``. Raises: TypeError that names what it holds instead."""
    found: tuple[object, ...] = (tables,) if isinstance(tables, (str, Table)) else tuple(tables)
    for table in found:
        if not isinstance(table, Table):
            raise TypeError(f"tables holds {table!r:.60}; it must be a sequence of cdcwire.Table")
    return tuple(table for table in found if isinstance(table, Table))


def expect_mappings(**arguments: object) -> None:
    """Raise TypeError for an argument that is not a mapping."""
    for name, value in arguments.items():
        if not isinstance(value, Mapping):
            raise TypeError(f"{name} is {value!r:.60}; it must be a mapping, such as a dict")


def _selection_of(only: Iterable[str]) -> Selection:
    if isinstance(only, str):
        raise TypeError(f"only is the text {only!r:.60}; it must be a set of names of tables")
    parts = [name.rpartition(".") for name in only]
    return Selection(frozenset((schema or None, table) for schema, _, table in parts))


def decode(
    format: str,
    record: object,
    /,
    *,
    tables: Iterable[Table] = (),
    schemas: Mapping[str, str] = _NOTHING,
    options: Mapping[str, OptionValue] = _NOTHING,
) -> list[RowChange | SchemaChange | Progress | Marker]:
    """Return the events of one record, whatever was decoded before.

    The decoders of the last formats and settings are kept, so that later calls are fast. A record
    that needs the table schema in another record needs a ``Decoder``.
    Raises: as ``Decoder`` and ``Decoder.decode``.

    Examples:
        >>> import cdcwire
        >>> [event] = cdcwire.decode("craft", bytes.fromhex("010003010101020a09010005"))
        >>> event.what
        'resolved'

    """
    return _kept(format, tables_of(tables), schemas, options).decode(record)


_MAX_KEPT = 64
_KEPT: dict[object, Decoder[RowChange]] = {}


def _kept(
    format: str,
    tables: tuple[Table, ...],
    schemas: Mapping[str, str],
    options: Mapping[str, OptionValue],
) -> Decoder[RowChange]:
    """Return a decoder that knows nothing but its settings and layouts; make it if it is new."""
    expect_mappings(schemas=schemas, options=options)
    # A kept decoder keeps its tables and schemas, so that no other object gets their identity.
    # Options of equal values and other types differ: 1 is no boolean.
    key = (
        format,
        tuple(map(id, tables)),
        tuple(schemas.items()) if type(schemas) is dict else id(schemas),
        tuple([(name, type(value), value) for name, value in options.items()]),
    )
    try:
        found = _KEPT.get(key)
    except TypeError:  # an option of another type: Decoder says so
        return Decoder(format, tables=tables, schemas=schemas, options=options)
    if found is None:
        schemas = dict(schemas) if type(schemas) is dict else schemas
        found = Decoder(format, tables=tables, schemas=schemas, options=options)
        if get_format(format).tables_in is None:
            if len(_KEPT) >= _MAX_KEPT:
                _KEPT.clear()
            _KEPT[key] = found
    return found


def to_arrow(
    format: str,
    records: Iterable[object],
    /,
    *,
    tables: Iterable[Table] = (),
    schemas: Mapping[str, str] = _NOTHING,
    options: Mapping[str, OptionValue] = _NOTHING,
    only: Iterable[str] | None = None,
    on_error: OnError = "raise",
) -> dict[str, ArrowTable]:
    """Return the changed rows of records as one ``pyarrow.Table`` for each table, by its name.

    The name has the schema, and the database where the records have one: ``"shop.orders"``. All
    rows are kept in memory; ``Decoder.batches`` gives them in parts.
    A table has ``op``, the position, ``before`` and ``after``, and the bits ``before_has`` and
    ``after_has`` of the columns that the record has. Needs the extra ``arrow``.
    Raises: as ``Decoder`` and ``Decoder.batches``.

    Examples:
        >>> import cdcwire
        >>> record = b'{"database":"shop","table":"t","type":"insert","ts":1,"data":{"id":7}}'
        >>> orders = cdcwire.to_arrow("maxwell-json", [record])["shop.t"]
        >>> orders["after"].to_pylist()
        [{'id': 7}]

    """
    decoder = Decoder(
        format, tables=tables, schemas=schemas, options=options, only=only, on_error=on_error
    )
    gathered = _feed_rows("to_arrow", decoder._defined)
    for record in records:
        decoder._gather(gathered, record)
    return gathered.tables()


def _feed_rows(name: str, definitions: Iterable[Table]) -> FeedRows:
    """Return a place for rows that become batches. Raises: ModuleNotFoundError."""
    try:
        from cdcwire.arrow.feed import FeedRows
    except ModuleNotFoundError as error:
        if error.name not in ("numpy", "pyarrow"):
            raise
        missing = f"{name} needs the package {error.name}: install cdcwire with the extra arrow"
        raise ModuleNotFoundError(missing, name=error.name) from error
    return FeedRows(definitions)
