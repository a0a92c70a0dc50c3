"""The decoder for consumers: made once and kept, from any Kafka client's records to typed rows.

``Decoder`` uses the fast decoder of the format, which gives the same events and errors as the plain
one. It does no input or output. Between records it keeps only the table definitions that the feed
itself sends.
"""

from __future__ import annotations

import gc
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager, nullcontext
from functools import partial
from threading import Lock, local
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, overload

from cdcwire.arguments import (
    PathLike,
    Tables,
    check_on_error,
    definitions_of,
    expect_mappings,
    selection_of,
    tables_of,
)
from cdcwire.changes import Bad, Change, OnError, feed_rows, typed_change
from cdcwire.core.client_records import each_record, message_of, place_of
from cdcwire.core.context import Compression, Context, RemoteSchemas, with_sent_tables
from cdcwire.core.errors import DecodeError
from cdcwire.core.explanation import Explanation
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionValue
from cdcwire.core.rows import Row, event_of
from cdcwire.core.typed_rows import TypedRows
from cdcwire.format import MessageDecoder
from cdcwire.model.events import (
    Marker,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.registry import get_format

if TYPE_CHECKING:
    from cdcwire.arrow.feed import ArrowBatch, ArrowTable, FeedRows

R = TypeVar("R")
ChangeT = TypeVar("ChangeT")

_NOTHING: Mapping[str, Any] = MappingProxyType({})


Engine: TypeAlias = Literal["auto", "plain"]


class Decoder(Generic[ChangeT]):
    """Decodes the records of one feed. Make it once and keep it; threads may share it.

    ``rows``: the type of row states. Without it, changes are neutral ``RowChange`` events. With
    dict, tuple, a TypedDict, a dataclass, a NamedTuple or a ``msgspec.Struct``, they are
    ``Change`` objects. ``tables``, ``schemas``, ``options``, ``blobs``, ``compressions``: as in
    ``Context``; ``tables`` may be the text of CREATE TABLE statements with ``SCHEMA.TABLE``, or a
    file of SQL or of definitions. ``only``: names of the wanted tables, ``"shop.orders"``;
    ``"orders"`` if the format has no schema. ``on_error``: "raise", "skip" the record, or a
    function that gets ``Bad``; a record is decoded whole or not at all. ``engine``: "plain"
    decodes by the plain decoder, which reads like the format's page.

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
        tables: Tables = (),
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
        tables: Tables = (),
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
        tables: Tables = (),
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
        check_on_error(on_error)
        self._defined = definitions_of(self._format, tables)
        self._context = Context(
            options=dict(options),
            tables=self._defined,
            schemas=schemas,
            blobs=blobs,
            compressions=compressions,
            selection=selection_of(only),
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
        return [typed_change(change, self._rows) for change in changes]

    def iter(
        self, records: Iterable[object], /
    ) -> Iterator[ChangeT | SchemaChange | Progress | Marker]:
        """Yield the changes and other events of records, as ``decode`` returns them."""
        for record in each_record(records):
            yield from self.decode(record)

    async def adecode(self, record: object, /) -> list[ChangeT | SchemaChange | Progress | Marker]:
        """Return what ``decode`` returns. Other tasks go on while a schema registry is asked.

        Raises: as ``decode``.
        """
        schemas = self._context.schemas
        if isinstance(schemas, RemoteSchemas):
            return await schemas.call(partial(self.decode, record))
        return self.decode(record)

    async def aiter(
        self, records: AsyncIterable[object], /
    ) -> AsyncIterator[ChangeT | SchemaChange | Progress | Marker]:
        """Yield the changes and other events of records, as ``adecode`` returns them."""
        async for record in records:
            for change in await self.adecode(record):
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
        gathered = feed_rows("batches", self._defined)
        for record in each_record(records):
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


def decode(
    format: str,
    record: object,
    /,
    *,
    tables: Tables = (),
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
    return _kept(format, tables, schemas, options).decode(record)


_MAX_KEPT = 64
_KEPT: dict[object, Decoder[RowChange]] = {}


def _kept(
    format: str,
    tables: Tables,
    schemas: Mapping[str, str],
    options: Mapping[str, OptionValue],
) -> Decoder[RowChange]:
    """Return a decoder that knows nothing but its settings and layouts; make it if it is new."""
    expect_mappings(schemas=schemas, options=options)
    named: object = tables
    if not isinstance(tables, (str, PathLike)):
        tables = tables_of(tables)
        named = tuple(map(id, tables))
    # A kept decoder keeps its tables and schemas, so that no other object gets their identity.
    # Options of equal values and other types differ: 1 is no boolean.
    key = (
        format,
        named,
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
    tables: Tables = (),
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
    gathered = feed_rows("to_arrow", decoder._defined)
    with _without_collections() if isinstance(records, Sequence) else nullcontext():
        for record in each_record(records):
            decoder._gather(gathered, record)
        return gathered.tables()


@contextmanager
def _without_collections() -> Iterator[None]:
    """Pause the garbage collector, which would take a third of the time: all rows stay to the end.

    Use it only for records in memory, so that the pause is short.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
