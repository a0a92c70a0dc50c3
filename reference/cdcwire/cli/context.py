"""The arguments that give a codec the facts missing from the bytes, with claim-check files.

Also the warnings about inputs: names that nothing in them has, and files that are not read.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from cdcwire.cli.arguments import Arguments, repeated, with_value
from cdcwire.cli.options import OptionArgument
from cdcwire.compressions import known_compressions
from cdcwire.console.problems import (
    DEFAULT_SCHEMA,
    UsageError,
    column_names,
    meant_or_met,
    parse_option_arguments,
    positive_argument,
)
from cdcwire.console.visible import print_error
from cdcwire.core.claim_check import ClaimChecks
from cdcwire.core.context import Context, Selection
from cdcwire.ddl import read_ddl_file
from cdcwire.files.feed_file import read_tables
from cdcwire.files.messages_io import unread_beside
from cdcwire.files.stores import LocalStore
from cdcwire.model.events import Event, RowChange, SchemaChange, TableName
from cdcwire.schema_registry import MAX_ANSWER_BYTES, open_schemas

__all__ = [
    "DEFAULT_SCHEMA",
    "CodecArguments",
    "ContextArguments",
    "SchemaArguments",
    "UsageError",
    "WholeContextArguments",
    "context_from",
    "parse_option_arguments",
    "read_tables",
    "schemas_at",
    "schemas_from",
]


def read_claim_checks(folder: str | None) -> Mapping[str, bytes]:
    """Return the files of a directory; none without one. Raises: UsageError."""
    if folder is None:
        return {}
    root = Path(folder)
    if not root.is_dir():
        raise UsageError(f"--blobs {folder}: there is no such directory")
    store = LocalStore(root)
    return ClaimChecks({each.path: store.read(each.path) for each in store.list()})


class RecordedClaimChecks(Mapping[str, bytes]):
    """Claim-check files that remember which locations were asked for in vain."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files
        self._missing: dict[str, None] = {}

    def __getitem__(self, location: str) -> bytes:
        try:
            return self._files[location]
        except KeyError:
            self._missing[location] = None
            raise

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def problems(self) -> list[str]:
        """Return a line for each location that had no file since the last call."""
        problems = [
            f"the claim-check file {location} is missing, so its row has the handle key only; "
            "give its directory with --blobs"
            for location in self._missing
        ]
        self._missing.clear()
        return problems


class OptionArguments(Arguments):
    """--option and --tables."""

    option: list[str] = repeated(
        "NAME=VALUE",
        "a setting of the producer, spelled as in its configuration: max-batch-size=16; "
        '"--option help" or "cdcwire options FORMAT" lists them',
        action=OptionArgument,
    )
    tables: str | None = with_value("FILE", "table definitions, a JSON list or one per line")


class DdlArguments(Arguments):
    """--ddl."""

    context_ddl: str | None = with_value(
        "FILE", "table definitions, as CREATE TABLE statements", name="ddl"
    )


class SchemaArguments(Arguments):
    """--schema, --ca-file and --max-answer-bytes."""

    schema: str | None = with_value(
        "PLACE",
        "Avro schemas: a directory of files ID.avsc, or the URL of a registry, such as "
        'https://user:password@host (extra "registry")',
    )
    ca_file: str | None = with_value(
        "FILE", "PEM file of certificates that sign the registry's certificate"
    )
    max_answer_bytes: int = with_value(
        "N",
        f"refuse an answer of the registry of more than N bytes (default: {MAX_ANSWER_BYTES})",
        type=positive_argument,
        default=MAX_ANSWER_BYTES,
    )


class BlobArguments(Arguments):
    """--blobs."""

    blobs: str | None = with_value(
        "DIR", "directory of claim-check files: the claim-check-storage-uri, or a parent directory"
    )


class SelectionArguments(Arguments):
    """--include and --columns."""

    include: list[str] = repeated(
        "SCHEMA.TABLE", "read only this table, such as shop.orders (may be given again)"
    )
    columns: str | None = with_value("A,B,…", "read only these columns, such as id,total")


class CodecArguments(OptionArguments, SchemaArguments, BlobArguments):
    """The arguments of a verb whose --ddl is another, and that takes all tables and columns."""


class WholeContextArguments(OptionArguments, DdlArguments, SchemaArguments, BlobArguments):
    """The arguments of a verb that takes all tables and columns."""


class ContextArguments(WholeContextArguments, SelectionArguments):
    """All arguments of a context."""


def schemas_from(arguments: argparse.Namespace) -> Mapping[str, str]:
    """Return the schemas that the arguments specify. Raises: RegistryError; MissingExtraError."""
    place = getattr(arguments, "schema", None)
    return schemas_at(place, arguments) if place else {}


def schemas_at(place: str, arguments: argparse.Namespace) -> Mapping[str, str]:
    """Return the schemas at a place. Raises: RegistryError; MissingExtraError."""
    return open_schemas(place, arguments.ca_file, arguments.max_answer_bytes)


def context_from(
    arguments: argparse.Namespace, default_schema: str | None = DEFAULT_SCHEMA
) -> Context:
    """Return the context that the arguments specify. Raises: UsageError.

    ``default_schema``: of tables whose DDL names none; None where the feed gives it.
    """
    tables = read_tables(arguments.tables) if arguments.tables else ()
    if getattr(arguments, "context_ddl", None):
        tables += read_ddl_file(arguments.context_ddl, default_schema)
    return Context(
        options=parse_option_arguments(arguments.option),
        tables=tables,
        schemas=schemas_from(arguments),
        blobs=read_claim_checks(arguments.blobs),
        selection=_selection(
            getattr(arguments, "include", []), getattr(arguments, "columns", None)
        ),
        compressions=known_compressions(),
    )


def _selection(include: list[str], columns: str | None) -> Selection:
    tables: set[TableName] = set()
    for name in include:
        schema, dot, table = name.partition(".")
        if not dot or not table:
            raise UsageError(f"--include {name!r:.80} is not SCHEMA.TABLE")
        tables.add((schema or None, table))
        if "." in table:  # DATABASE.SCHEMA.TABLE
            schema, _, table = name.rpartition(".")
            tables.add((schema, table))
    names = None if columns is None else column_names("--columns", [columns], "id,total")
    return Selection(frozenset(tables) if include else None, names)


class SeenNames:
    """The tables and columns that events have, of those that are wanted."""

    def __init__(self, selection: Selection) -> None:
        self._unseen_tables = set(selection.tables or ())
        self._unseen_columns = set(selection.columns or ())

    def of(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield the events, and remember their names."""
        for event in events:
            table = event.table if isinstance(event, RowChange | SchemaChange) else None
            if table is not None and table.name is not None:
                self._unseen_tables.discard((table.schema, table.name))
            if self._unseen_columns and isinstance(event, RowChange):
                for image in (event.before, event.after):
                    if image is not None:
                        self._unseen_columns.difference_update(c.name for c in image.columns)
            yield event

    def unseen(self, met: Callable[[], Iterable[TableName]]) -> Iterator[str]:
        """Yield a line for each name that no event had. ``met``: gives all tables of the input."""
        tables = {table_text(name) for name in met()} if self._unseen_tables else set()
        for name in sorted(map(table_text, self._unseen_tables)):
            yield f"--include: no event belongs to the table {name}{meant_or_met(name, tables)}"
        for name in sorted(self._unseen_columns):
            yield f"--columns: no row has a column {name}"


def table_text(name: TableName) -> str:
    """Return the name of a table as a user gives it."""
    return ".".join(filter(None, name))


def warn_of_unread(verb: str, source: str) -> None:
    """Print a line for files in a directory that may have rows and are not read with it."""
    unread = unread_beside(source)
    if unread:
        print_error(f"cdcwire {verb}: warning: {source}: not read: {unread}")
