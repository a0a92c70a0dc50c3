"""Names as Debezium adjusts them for Avro, and the original names of columns again.

The adjustment modes are Debezium's. ``avro``: each character that Avro does not allow becomes an
underscore, and a digit at the start gets one before it. ``avro_unicode``: each becomes ``_u`` and
its number; so does an underscore. A character is one of UTF-16. The number has four hexadecimal
digits; the producer writes three for those from U+0100 to U+0FFF, and for those below U+0010.

A name of a schema is adjusted as a whole, and keeps its dots. The fields of rows and of keys are
adjusted. The members of envelopes are not.

Source: debezium-json, "names".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from cdcwire.connect import Field, Schema
from cdcwire.connect.images import WrittenRows
from cdcwire.connect.types import SOURCE_NAME
from cdcwire.core.context import Selection
from cdcwire.core.errors import EncodeError
from cdcwire.debezium.connectors import source_of
from cdcwire.debezium.message import Change, Message, Names, Tombstone, Unwrapped
from cdcwire.debezium.source import table_named
from cdcwire.model.events import Image, RowChange, SchemaChange, Table
from cdcwire.model.kinds import Column

NAMES = "debezium-json: names"
_BAD = re.compile(r"[^A-Za-z0-9_]")
_BAD_OR_ESCAPE = re.compile(r"[^A-Za-z0-9]")  # of avro_unicode
_ESCAPE = re.compile(r"_u([0-9a-f]{4}|[0-9a-f]{3})")
_DIGITS = "0123456789"


def adjusted_name(name: str, mode: str) -> str:
    """Return the name of a column as the mode has it; an empty name stays empty."""
    if mode == "none" or not name:
        return name
    bad = _BAD_OR_ESCAPE if mode == "avro_unicode" else _BAD
    made = bad.sub(lambda found: _replacement(found.group(), mode), name)
    if name[0] not in _DIGITS:
        return made
    return _escape(ord(name[0])) + made[1:] if mode == "avro_unicode" else f"_{made}"


def _replacement(character: str, mode: str) -> str:
    raw = character.encode("utf-16-be", "surrogatepass")
    units = [int.from_bytes(raw[at : at + 2], "big") for at in range(0, len(raw), 2)]
    return "".join(_escape(unit) if mode == "avro_unicode" else "_" for unit in units)


def _escape(unit: int) -> str:
    return f"_u00{unit:x}" if unit < 0x100 else f"_u{unit:x}"  # as the producer pads it


def original_name(name: str, mode: str) -> str:
    """Return the name that ``avro_unicode`` adjusted; the same for names that it does not make.

    Three digits before a letter from a to f, or before a digit, are read as four.
    """
    if mode != "avro_unicode":
        return name
    if "_" in _ESCAPE.sub("", name):
        return name
    original = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), name)
    return original.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")


@lru_cache(maxsize=256)
def with_adjusted_names(schema: Schema, mode: str, *, each_part: bool = False) -> Schema:
    """Return a schema whose structs have adjusted names; see ``adjusted_schema_name``."""
    if mode == "none":
        return schema
    name = schema.name
    if schema.type == "struct" and name is not None:
        name = adjusted_schema_name(name, mode, each_part=each_part)
    fields = tuple(
        Field(f.name, with_adjusted_names(f.schema, mode, each_part=each_part))
        for f in schema.fields
    )
    items, keys, values = (
        None if inner is None else with_adjusted_names(inner, mode, each_part=each_part)
        for inner in (schema.items, schema.keys, schema.values)
    )
    return replace(schema, name=name, fields=fields, items=items, keys=keys, values=values)


def adjusted_schema_name(name: str, mode: str, *, each_part: bool = False) -> str:
    """Return the name of a schema as the mode has it.

    The mode looks at the first character of a whole name. ``each_part``: at that of each part
    between dots, as Avro itself demands.
    """
    first, *rest = name.split(".")
    more = (adjusted_name(p, mode) if each_part else _later_part(p, mode) for p in rest)
    return ".".join((adjusted_name(first, mode), *more))


def _later_part(part: str, mode: str) -> str:
    """Return a part of a name after a dot, whose first character is like the others."""
    return adjusted_name(f"x{part}", mode)[1:]


def with_adjusted_columns(rows: WrittenRows, mode: str) -> WrittenRows:
    """Return rows whose columns have adjusted names. Raises: EncodeError, if two become one."""
    if mode == "none":
        return rows
    struct, key = (adjusted_columns(each, mode) for each in (rows.struct, rows.key))
    return replace(rows, struct=struct, key=key)


def adjusted_columns(struct: Schema, mode: str) -> Schema:
    """Return a struct of columns with adjusted names. Raises: EncodeError, if two become one."""
    if mode == "none":
        return struct
    fields = tuple(Field(adjusted_name(f.name, mode), f.schema) for f in struct.fields)
    for name, count in Counter(field.name for field in fields).items():
        if count > 1:
            original = next(f.name for f in struct.fields if adjusted_name(f.name, mode) == name)
            raise EncodeError(f"{count} columns become {name!r:.80}", NAMES, (original,))
    return replace(struct, fields=fields)


@lru_cache(maxsize=64)
def sent_tables(tables: tuple[Table, ...], mode: str) -> tuple[Table, ...]:
    """Return definitions with the names that messages have for their columns."""
    return tables if mode == "none" else tuple(_sent_table(table, mode) for table in tables)


def _sent_table(table: Table, mode: str) -> Table:
    columns, key = table.columns, table.key
    if columns is not None:
        columns = tuple(replace(each, name=adjusted_name(each.name, mode)) for each in columns)
    if key is not None:
        key = tuple(adjusted_name(name, mode) for name in key)
    return replace(table, columns=columns, key=key)


def with_names(message: Message, mode: str, tables: tuple[Table, ...]) -> Message:
    """Return a message that knows the original names of its columns, as far as they are known.

    The parameter of a column has it, else the definition of the table, else the mode undoes it.
    """
    if mode == "none":
        return message
    structs: tuple[Schema, ...]
    match message:
        case Change():
            if source_of(message.source.connector).has_undeclared:
                return message  # TiCDC has no such setting
            structs = (message.before.schema, message.after.schema)
            table = table_named(message.source)
        case Tombstone(row=Unwrapped() as row):
            named = with_names(row, mode, tables)
            return replace(message, row=named) if isinstance(named, Unwrapped) else message
        case Unwrapped():
            structs, table = (message.row.schema,), message.table
        case _:
            return message
    known = next((t for t in tables if (t.schema, t.name) == (table.schema, table.name)), None)
    defined = () if known is None else known.columns or ()
    fields = {field.name: field.schema for struct in structs for field in struct.fields}
    names = _original_names(fields, mode, [column.name for column in defined])
    return replace(message, names=names)


def _original_names(
    fields: Mapping[str, Schema], mode: str, defined: Iterable[str]
) -> Names | None:
    by_sent = Counter(adjusted_name(name, mode) for name in defined)
    of_definition = {adjusted_name(name, mode): name for name in defined}
    found: dict[str, str] = {}
    for name, schema in fields.items():
        original = schema.parameter(SOURCE_NAME)
        if original is None and by_sent[name] == 1:
            original = of_definition[name]
        found[name] = original_name(name, mode) if original is None else original
    return found if len(set(found.values())) == len(found) else None


def sent_selection(selection: Selection, names: Names | None) -> Selection:
    """Return a selection whose columns have the names that the message has for them."""
    if selection.columns is None or not names:
        return selection
    wanted = selection.columns
    return replace(
        selection,
        columns=frozenset(sent for sent, original in names.items() if original in wanted),
    )


def renamed(event: RowChange | SchemaChange, names: Names | None) -> RowChange | SchemaChange:
    """Return the event of a message with the original names of its columns."""
    if not names:
        return event
    if isinstance(event, SchemaChange):
        cleared = event.table
        if cleared is None or cleared.columns is None:
            return event
        cleared = replace(cleared, columns=_original(cleared.columns, names))
        return replace(event, table=cleared)
    table = event.table
    if table.key is not None:
        table = replace(table, key=tuple(names.get(name, name) for name in table.key))
    before, after = (renamed_image(image, names) for image in (event.before, event.after))
    return replace(event, table=table, before=before, after=after)


def original_image(image: Image, mode: str) -> Image:
    """Return the image of a key with the original names of its columns, where the mode keeps them.

    A key does not name its table, so no definition has them.
    """
    if mode != "avro_unicode":
        return image
    columns = (replace(c, name=original_name(c.name, mode)) for c in image.columns)
    return replace(image, columns=tuple(columns))


def renamed_image(image: Image | None, names: Names) -> Image | None:
    """Return an image with the original names of its columns."""
    if image is None:
        return None
    return replace(image, columns=_original(image.columns, names))


def _original(columns: tuple[Column, ...], names: Names) -> tuple[Column, ...]:
    return tuple(replace(each, name=names.get(each.name, each.name)) for each in columns)
