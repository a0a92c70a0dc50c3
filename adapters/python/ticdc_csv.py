"""The parts that every reader of TiCDC's CSV needs: settings, the fields of a record, events.

A reader is a function ``read(value, settings, fields)`` that gives the rows of a file, each a
sequence of cells: None for NULL, or what the reader made of the text. Nothing here looks at the
bytes of the file. This module does the rest for all readers alike, as their users have to:

- the fields of a record and their types come from the settings and the table's definition;
- base64 and hex become bytes, numbers are converted where the reader left them as text;
- two records of one update become its halves.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from testee import Message

Cell: TypeAlias = Any
Row: TypeAlias = Sequence[Cell]
JsonObject: TypeAlias = Mapping[str, Any]

# What the files beside the data say, and the path of a file: no reader here knows any of it.
WITHOUT_LAYOUT = ("partition", "ddl", "checkpoint")


@dataclass(frozen=True)
class Settings:
    """The settings of TiCDC's CSV. ``quote`` is empty when nothing is quoted."""

    delimiter: str
    quote: str
    null: str
    terminator: str
    has_commit_ts: bool
    has_old_value: bool
    has_handle_key: bool
    has_header: bool
    binary: str

    @property
    def escape(self) -> str | None:
        """The backslash, if texts are escaped by it and it can't be mistaken for NULL's."""
        return None if self.quote or "\\" in self.null else "\\"


@dataclass(frozen=True)
class Field:
    """One field of a record: a column, or a field before the columns.

    ``kind`` is without parameters: ``int64 unsigned``, ``decimal``.
    """

    name: str
    kind: str
    parameters: tuple[int, ...] = ()
    nullable: bool = False
    in_front: bool = False

    @property
    def is_integer(self) -> bool:
        return self.kind.startswith("int") or self.kind in ("year", "bit")

    @property
    def is_float(self) -> bool:
        return self.kind.startswith("float")


Read: TypeAlias = Callable[[bytes, Settings, "Sequence[Field]"], "Iterable[Row]"]


def settings_of(options: JsonObject) -> Settings:
    """Return the settings of a request, with TiCDC's defaults for missing ones."""
    named = {name.rpartition(".")[2]: value for name, value in options.items()}

    def is_on(name: str) -> bool:
        return str(named.get(name, False)).lower() == "true"

    return Settings(
        delimiter=named.get("delimiter", ","),
        quote=named.get("quote", '"'),
        null=named.get("null", "\\N"),
        terminator=named.get("terminator", "\r\n"),
        has_commit_ts=is_on("include-commit-ts"),
        has_old_value=is_on("output-old-value"),
        has_handle_key=is_on("output-handle-key"),
        has_header=is_on("output-field-header"),
        binary=named.get("binary-encoding-method", "base64"),
    )


def fields_of(settings: Settings, table: JsonObject) -> list[Field]:
    """Return the fields of a record: those before the columns, then the columns that are stored."""
    front = [Field(name, "name", in_front=True) for name in ("operation", "table", "schema")]
    if settings.has_commit_ts:
        front.append(Field("commit-ts", "int64 unsigned", in_front=True))
    if settings.has_old_value:
        front.append(Field("is-update", "name", in_front=True))
    if settings.has_handle_key:
        front.append(Field("handle-key", "int64", in_front=True))
    return front + [
        _field_of(column) for column in table["columns"] if "virtual" not in column.get("roles", [])
    ]


def _field_of(column: JsonObject) -> Field:
    kind, _, parameters = column["type"].partition("(")
    numbers = re.findall(r"\d+", parameters) if kind == "decimal" else []
    return Field(
        column["name"], kind, tuple(map(int, numbers)), nullable=column.get("nullable", True)
    )


def table_of(path: str, tables: Sequence[JsonObject]) -> JsonObject:
    """Return the definition for a file: of the table and version that its path names.

    Raises: ValueError when there is none at all.
    """
    if not tables:
        raise ValueError("the columns of a file are not known without a definition")
    names = path.split("/")
    if len(names) < 4:
        return tables[0]
    fitting = [t for t in tables if [t.get("schema"), t["table"]] == names[:2]] or tables
    return next((t for t in fitting if str(t.get("version")) == names[2]), fitting[0])


def decoder(read: Read) -> Callable[[Message, JsonObject], Iterator[JsonObject]]:
    """Return the function that ``testee.serve`` wants, made of a reader."""

    def decode(file: Message, request: JsonObject) -> Iterator[JsonObject]:
        if not file.path.endswith(".csv"):
            return  # as in any program that reads *.csv of a folder
        settings = settings_of(request.get("options", {}))
        table = table_of(file.path, request.get("tables", ()))
        fields = fields_of(settings, table)
        for row in read(file.value or b"", settings, fields):
            if len(row) != len(fields):
                raise ValueError(f"{len(row)} fields, {len(fields)} are expected")
            yield event_of(row, fields, table, settings.binary)

    return decode


OPERATIONS = {"I": "insert", "U": "update", "D": "delete"}


def event_of(row: Row, fields: Sequence[Field], table: JsonObject, binary: str) -> JsonObject:
    """Return the event of one record. Raises: ValueError."""
    cells = list(zip(fields, row, strict=True))
    front = {field.name: cell for field, cell in cells if field.in_front}
    missing = [name for name, cell in front.items() if cell is None]
    if missing or front["operation"] not in OPERATIONS:
        raise ValueError(f"invalid fields before the columns: {front}")
    event: dict[str, Any] = {
        "kind": "row",
        "op": OPERATIONS[front["operation"]],
        "schema": front["schema"],
        "table": front["table"],
        "key": [c["name"] for c in table["columns"] if "primary" in c.get("roles", [])],
        "before": None,
        "after": None,
    }
    side = "before" if event["op"] == "delete" else "after"
    if "commit-ts" in front:
        event["position"] = {"commit_ts": str(int(front["commit-ts"]))}
    if front.get("is-update", "false") not in ("true", "false"):
        raise ValueError(f"is-update is true or false, not {front['is-update']!r}")
    if front.get("is-update") == "true":
        event.update(op="update", half=side)
    if "handle-key" in front:
        event["extra"] = {"handle_key": str(int(front["handle-key"]))}
    event[side] = {
        field.name: value_of(field, cell, binary) for field, cell in cells if not field.in_front
    }
    return event


def value_of(field: Field, cell: Cell, binary: str) -> Any:
    """Return a cell as a column of the testee protocol. Raises: ValueError."""
    if cell is None:
        return None
    if field.is_integer:
        return str(int(cell))
    if field.is_float:
        return repr(float(cell))
    if field.kind == "decimal":
        return format(Decimal(cell), "f")
    if field.kind == "bytes":
        data = bytes.fromhex(cell) if binary == "hex" else base64.b64decode(cell, validate=True)
        return {"bytes": base64.b64encode(data).decode("ascii")}
    # A str may hold ill-formed bytes as lone surrogates, as the handler "surrogateescape" does.
    data = cell if isinstance(cell, bytes) else cell.encode("utf-8", "surrogateescape")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"bytes": base64.b64encode(data).decode("ascii")}
