"""The context of a codec: options, definitions (also those that a feed sends), schemas, files.

``SchemaUse`` says how messages name a schema by an id, which is found in files or in a registry.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from cdcwire.core.limits import MAX_DECOMPRESSED_BYTES, SizeLimitError
from cdcwire.core.message import Message
from cdcwire.core.options import OptionValue
from cdcwire.model.events import Table, TableName, full_schema

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Selection:
    """The tables and columns that are wanted; None means all. The rest is skipped, undecoded.

    A table that is named without a database is wanted in every database. ``reads``: rows of
    snapshots are wanted; decoders of a whole feed (``Format.decoder``) leave them out otherwise.

    Examples:
        >>> selection = Selection(tables=frozenset({("shop", "orders")}))
        >>> selection.wants("shop", "customers")
        False

    """

    tables: frozenset[TableName] | None = None
    columns: frozenset[str] | None = None
    reads: bool = True

    def wants(self, schema: str | None, table: str, database: str | None = None) -> bool:
        """Return whether the rows of a table are wanted."""
        if self.tables is None or (schema, table) in self.tables:
            return True
        return database is not None and (full_schema(database, schema), table) in self.tables

    def wants_rows_of(self, table: Table) -> bool:
        """Return whether the rows of a table are wanted."""
        return self.wants(table.schema, table.name or "", table.database)


EVERYTHING = Selection()


@dataclass(frozen=True, slots=True)
class Compression:
    """The two functions of one compression, which the standard library lacks.

    ``decompress`` raises ValueError for bytes that are not compressed so. ``decompress_within``
    does the same within a size: it raises SizeLimitError before it allocates more.
    ``limit``: the largest size of a result, in bytes.
    """

    compress: Callable[[bytes], bytes]
    decompress: Callable[[bytes], bytes]
    decompress_within: Callable[[bytes, int], bytes] | None = None
    limit: int = MAX_DECOMPRESSED_BYTES

    def open(self, data: bytes) -> bytes:
        """Return decompressed bytes. Raises: SizeLimitError beyond the limit, ValueError."""
        if self.decompress_within is not None:
            return self.decompress_within(data, self.limit)
        raw = self.decompress(data)
        if len(raw) > self.limit:
            raise SizeLimitError(self.limit)
        return raw


@dataclass(frozen=True, slots=True)
class Context:
    """Everything that a codec needs in addition to the bytes.

    ``options``: the producer's settings. ``tables``: definitions, where the bytes need one.
    ``schemas``: Avro schema texts by id. ``blobs``: claim-check files by location.
    ``compressions``: functions by the names of the option ``large-message-handle-compression``.

    Examples:
        >>> context = Context(options={"max-batch-size": 2})
        >>> context.options["max-batch-size"]
        2

    """

    options: Mapping[str, OptionValue] = field(default_factory=lambda: MappingProxyType({}))
    tables: tuple[Table, ...] = ()
    schemas: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    blobs: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))
    selection: Selection = EVERYTHING
    compressions: Mapping[str, Compression] = field(default_factory=lambda: MappingProxyType({}))

    def __repr__(self) -> str:
        """Return the members that are given: ``Context()`` in the signatures of functions."""
        given = ((each, getattr(self, each), getattr(NO_CONTEXT, each)) for each in self.__slots__)
        named = ", ".join(f"{each}={value!r}" for each, value, none in given if value != none)
        return f"Context({named})"


NO_CONTEXT = Context()


def with_sent_tables(context: Context, tables: Iterable[Table]) -> Context:
    """Return the context with definitions of the feed.

    They replace other definitions of the same table and version. A definition that is sent again
    counts where it is last.
    """
    new = {table: None for table in reversed(tuple(tables)) if table.columns}
    if not new:
        return context
    sent = {(table.schema, table.name, table.version) for table in new}
    others = (
        each
        for each in context.tables
        if (each.schema, each.name, each.version or None) not in sent
    )
    return replace(context, tables=(*others, *reversed(tuple(new))))


SchemaId: TypeAlias = "int | str"


class RemoteSchemas(Mapping[str, str]):
    """Schemas that a registry gives: looking one up may wait for an answer."""

    @abstractmethod
    async def call(self, function: Callable[[], Result], /) -> Result:
        """Return the result of a function that looks schemas up, without stopping the event loop.

        A look-up that has to wait stops the function, which is called again after the answer.
        """


@dataclass(frozen=True, slots=True)
class SchemaUse:
    """How the messages of a format name the schemas that decode them.

    ``file_suffix``: ends the path of a schema file. ``schema_file``: the id and the text of a
    schema file; None for any other message. ``head_bytes``: how many of the first bytes of a key or
    value name its schema. ``schema_id``: the id that these bytes name (raises DecodeError).
    ``find``: the text of an id in ``Context.schemas``; None if there is no such id.
    """

    file_suffix: str
    schema_file: Callable[[Message], tuple[str, str] | None]
    head_bytes: Callable[[Context], int]
    schema_id: Callable[[bytes, Context], SchemaId]
    find: Callable[[Mapping[str, str], SchemaId], str | None]
