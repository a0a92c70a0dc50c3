"""The rows of a change as one struct, its values before and after, and those of its key."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cdcwire.connect.columns import plan_column, row_of, struct_of
from cdcwire.connect.schema import ConnectValue, Field, Schema
from cdcwire.connect.schemaless import SPECIAL_FLOATS
from cdcwire.connect.style import Style
from cdcwire.core.errors import EncodeError, step
from cdcwire.model.events import Image, RowChange, Table
from cdcwire.model.kinds import Column, FloatType, UnknownType, Value

_STRUCTS = "connect: struct values"
_NULLS = "connect: null values"


@dataclass(frozen=True, slots=True)
class WrittenRows:
    """``struct`` describes both images; ``key`` the key columns, which mostly have no NULL.

    ``key_before`` and ``key_after`` are the key's values in each image; None without image or key.
    """

    struct: Schema
    before: tuple[ConnectValue, ...] | None
    after: tuple[ConnectValue, ...] | None
    key: Schema
    key_before: tuple[ConnectValue, ...] | None
    key_after: tuple[ConnectValue, ...] | None


def check_images(event: RowChange, clause: str) -> None:
    """Raise EncodeError when a change has a row that its operation has not, or lacks one."""
    wanted = {"before": event.op == "delete", "after": event.op != "delete"}
    for name, is_wanted in wanted.items():
        has = getattr(event, name) is not None
        if has != is_wanted and not (event.op == "update" and name == "before"):
            which = "has" if has else "has no"
            raise EncodeError(f"a row of op {event.op} {which} image {name}", clause, (name,))


def written_rows(event: RowChange, style: Style, *, key_may_be_null: bool = False) -> WrittenRows:
    """Return the rows of a change in the way of a producer. Raises: EncodeError.

    ``key_may_be_null``: the columns of the key are as nullable as those of the row.
    """
    shown = event.after if event.after is not None else event.before
    if shown is None:
        raise EncodeError("a change has no row", _STRUCTS)
    columns = _columns_of(event, shown)
    before, after = (_row(name, event, columns, style) for name in ("before", "after"))
    struct, key, places = schemas_of(event.table, columns, style)
    if key_may_be_null:
        key = replace(key, fields=tuple(struct.fields[place] for place in places))
    key_before, key_after = (_key(row, places, key) for row in (before, after))
    return WrittenRows(struct, before, after, key, key_before, key_after)


def _columns_of(event: RowChange, shown: Image) -> tuple[Column, ...]:
    """Return the columns of both images.

    Without a schema NULL shows no type, and NaN is a text. Then the other image has the type.
    """
    if event.before is None or event.before.columns == shown.columns:
        return shown.columns
    others = {column.name: column for column in event.before.columns}
    return tuple(_shown(column, value, others) for column, value in shown.pairs)


def _shown(column: Column, value: Value, others: dict[str, Column]) -> Column:
    other = others.get(column.name, column)
    is_special = value in SPECIAL_FLOATS and isinstance(other.type, FloatType)
    return other if is_special or isinstance(column.type, UnknownType) else column


def _as_shown(column: Column, value: Value) -> Value:
    is_special = isinstance(column.type, FloatType) and value in SPECIAL_FLOATS
    return float(value) if is_special else value


def schemas_of(
    table: Table, columns: tuple[Column, ...], style: Style
) -> tuple[Schema, Schema, list[int]]:
    """Return the structs of rows and of their key, and the places of the key columns.

    Raises: EncodeError.
    """
    names = [column.name for column in columns]
    if len(set(names)) != len(names):
        raise EncodeError("two columns have the same name", _STRUCTS)
    places = []
    for name in table.key or ():
        if name not in names:
            raise EncodeError(f"key column {name!r} is not in the row", _STRUCTS, (name,))
        places.append(names.index(name))
    fields = tuple(
        Field(names[place], replace(plan_column(columns[place], style).schema, optional=False))
        for place in places
    )
    return struct_of(columns, style), Schema("struct", fields=fields), places


def _row(
    name: str, event: RowChange, columns: tuple[Column, ...], style: Style
) -> tuple[ConnectValue, ...] | None:
    image: Image | None = event.before if name == "before" else event.after
    if image is None:
        return None
    with step(name):
        if image.columns != columns:
            by_name = dict(zip(image.names, image.values, strict=True))
            if by_name.keys() != {column.name for column in columns}:
                problem = "the images before and after have other columns"
                raise EncodeError(problem, _STRUCTS)
            image = Image(columns, tuple(_as_shown(c, by_name[c.name]) for c in columns))
        return row_of(image, style)


def _key(
    row: tuple[ConnectValue, ...] | None, places: list[int], key: Schema
) -> tuple[ConnectValue, ...] | None:
    if row is None or not places:
        return None
    for place, field in zip(places, key.fields, strict=True):
        if row[place] is None and not field.schema.optional:
            raise EncodeError("a key column is NULL", _NULLS, (field.name,))
    return tuple(row[place] for place in places)
