r"""Schema files: their values, their exact text, and the hash in their name.

The text is what Go's JSON encoder gives with an indent of four spaces. The hash is taken over a
shorter text of the same kind. Strings are written with the escapes of today's Go. Go 1.21 and
earlier wrote U+0008 and U+000C as ``\u0008`` and ``\u000c``; such texts have other hashes.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from cdcwire.core.errors import EncodeError
from cdcwire.core.strict_json import Number
from cdcwire.golang import json_string
from cdcwire.storage.paths import MAX_U64, check_name
from cdcwire.storage.schema_columns import SchemaColumn, readable_text

FILES_CLAUSE = "storage: schema files"
TEXT_CLAUSE = "storage: schema text"
MAX_TYPE = 255  # a code is one byte
INDENT = "    "
FILE_VERSION = 1
HASH_VERSION = 0  # the producer forgets to set it before it hashes

ChecksumState: TypeAlias = Literal["equal", "differs", "not checkable"]
Write: TypeAlias = Callable[[str], str]
# Name and raw JSON text of each member.
RawMembers: TypeAlias = "tuple[tuple[str, str], ...]"


@dataclass(frozen=True, slots=True)
class RawColumn:
    """A column by the JSON texts of its members, in the order that the hash has them."""

    name: str
    members: RawMembers


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """A schema file. ``table`` is "" and ``columns`` None in the file of a database.

    A text may hold U+DCFF: there the producer had a byte that was not UTF-8 (``readable_text``).
    ``checksum_as_read`` is the hash over the texts as they were in the file that was read.
    ``tolerated`` names the forms in that file that the producer does not write. Neither is
    compared.
    """

    table: str
    schema: str
    version: int
    table_version: int
    query: str
    type: int
    columns: tuple[SchemaColumn, ...] | None
    total: int
    checksum_as_read: int | None = field(default=None, compare=False)
    tolerated: tuple[str, ...] = field(default=(), compare=False)

    @property
    def is_database(self) -> bool:
        """True if the file describes a database, not a table."""
        return self.table == ""


def write_schema_file(file: SchemaFile) -> bytes:
    """Return the bytes of a schema file as the producer writes them.

    Raises: EncodeError for what it could not write: another version, a wrong total.
    Source: storage, "schema text".
    """
    check_file(file)
    columns = None if file.columns is None else [raw_column(column) for column in file.columns]
    text = object_text(
        (
            ("Table", go_string(file.table)),
            ("Schema", go_string(file.schema)),
            ("Version", str(file.version)),
            ("TableVersion", str(file.table_version)),
            ("Query", go_string(file.query)),
            ("Type", str(file.type)),
            ("TableColumns", "null" if columns is None else columns_text(columns, 1)),
            ("TableColumnsTotal", str(file.total)),
        )
    )
    return text.encode("utf-8")


def schema_checksum(file: SchemaFile) -> int:
    """Return the hash: of the columns by name, without query, type and version of the table.

    Source: storage, "schema hash".
    """
    return _checksum(file, go_string)


def shipped_checksum(file: SchemaFile) -> int:
    """Return the hash that a reader finds if it rewrites the file it has read, as tiflow's does.

    It differs where a text had bytes that were not UTF-8.
    """
    return _checksum(file, shipped_string)


def check_checksum(file: SchemaFile, expected: int) -> ChecksumState:
    """Return whether the hash of a name is that of the file.

    The original escapes count, those of today's Go, and those of Go before 1.22. A file with
    anything that the producer does not write, and another hash, is "not checkable".
    """
    if expected in (file.checksum_as_read, schema_checksum(file), _checksum(file, old_go_string)):
        return "equal"
    return "not checkable" if file.tolerated else "differs"


def check_file(file: SchemaFile) -> None:
    """Raise EncodeError for a file that the producer could not write."""
    check_name(file.schema)
    if file.table:
        check_name(file.table)
    if file.version != FILE_VERSION:
        raise EncodeError(f"version {file.version}; it is always 1", FILES_CLAUSE, ("version",))
    if not 0 <= file.table_version <= MAX_U64:
        raise EncodeError(f"table version {file.table_version}", FILES_CLAUSE, ("table_version",))
    if not 0 <= file.type <= MAX_TYPE:
        raise EncodeError(f"the DDL code {file.type}", "storage: ddl types", ("type",))
    if file.is_database and file.columns is not None:
        raise EncodeError("a database has no columns", FILES_CLAUSE, ("columns",))
    if not file.is_database and file.columns is None:
        raise EncodeError("a table has columns", FILES_CLAUSE, ("columns",))
    if file.total != len(file.columns or ()):
        problem = f"total {file.total} of {len(file.columns or ())} columns"
        raise EncodeError(problem, FILES_CLAUSE, ("total",))


def go_string(text: str) -> str:
    """Return a JSON string as today's producer writes it.

    A lone surrogate of U+DC80 to U+DCFF stands for a byte that was not UTF-8.
    """
    if any("\ud800" <= char <= "\udc7f" or "\udd00" <= char <= "\udfff" for char in text):
        raise EncodeError(f"{text!r:.80} is not Unicode text", TEXT_CLAUSE)
    return json_string(text)


def old_go_string(text: str) -> str:
    """Return a JSON string as Go before 1.22 wrote it."""
    parts = text.replace("\b", "\0b").replace("\f", "\0f").split("\0")
    if len(parts) == 1 or "\0" in text:
        return go_string(text)
    inner = go_string(parts[0])[1:-1]
    for part in parts[1:]:
        inner += (r"\u0008" if part[0] == "b" else r"\u000c") + go_string(part[1:])[1:-1]
    return f'"{inner}"'


def shipped_string(text: str) -> str:
    """Return a JSON string as a reader writes it that read it before: U+FFFD, no escape."""
    return go_string(readable_text(text))


def raw_column(column: SchemaColumn, write: Write = go_string) -> RawColumn:
    """Return the members of a column, those that are empty left out."""
    return RawColumn(column.name, tuple(_members(column, write)))


def columns_text(columns: Iterable[RawColumn], depth: int) -> str:
    """Return the array of columns; ``depth`` is the indent of the line that it begins on."""
    outer, inner = INDENT * (depth + 1), INDENT * (depth + 2)
    objects = []
    for column in columns:
        lines = (f'{inner}"{name}": {_indented(text, inner)}' for name, text in column.members)
        objects.append(outer + "{\n" + ",\n".join(lines) + "\n" + outer + "}")
    return "[\n" + ",\n".join(objects) + f"\n{INDENT * depth}]" if objects else "[]"


def object_text(members: Iterable[tuple[str, str]]) -> str:
    """Return the outermost object: one member per line, no line end after it."""
    return "{\n" + ",\n".join(f'{INDENT}"{name}": {text}' for name, text in members) + "\n}"


def checksum_of(table: str, schema: str, columns: Iterable[RawColumn], total: int) -> int:
    """Return the hash over names that are JSON texts already, and over the columns by name.

    Source: storage, "schema hash".
    """
    ordered = sorted(columns, key=lambda column: column.name.encode("utf-8", "surrogateescape"))
    text = object_text(
        (
            ("Table", table),
            ("Schema", schema),
            ("Version", str(HASH_VERSION)),
            ("TableColumns", columns_text(ordered, 1)),
            ("TableColumnsTotal", str(total)),
        )
    )
    return zlib.crc32(text.encode("utf-8"))


def _checksum(file: SchemaFile, write: Write) -> int:
    columns = [raw_column(column, write) for column in file.columns or ()]
    return checksum_of(write(file.table), write(file.schema), columns, file.total)


def _members(column: SchemaColumn, write: Write) -> Iterator[tuple[str, str]]:
    if column.id:
        yield "ColumnId", write(column.id)
    yield "ColumnName", write(column.name)
    yield "ColumnType", write(column.type)
    default = column.default
    if isinstance(default, str):
        yield "ColumnDefault", write(default)
    elif isinstance(default, bool):
        yield "ColumnDefault", "true" if default else "false"
    elif isinstance(default, Number):
        yield "ColumnDefault", default.text
    if column.precision:
        yield "ColumnPrecision", write(column.precision)
    if column.scale:
        yield "ColumnScale", write(column.scale)
    if not column.is_nullable:
        yield "ColumnNullable", write("false")
    if column.is_primary_key:
        yield "ColumnIsPk", write("true")
    if column.elements:
        yield "ColumnElems", elements_text([write(element) for element in column.elements])


def elements_text(elements: Iterable[str]) -> str:
    """Return the array of elements with a line for each; ``_indented`` moves it in place."""
    return "[\n" + ",\n".join(f"{INDENT}{element}" for element in elements) + "\n]"


def _indented(text: str, indent: str) -> str:
    # Only an array of elements has line ends: those in strings are escapes.
    return text.replace("\n", f"\n{indent}")
