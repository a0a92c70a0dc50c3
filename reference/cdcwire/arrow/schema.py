"""One canonical table for a feed's rows, the Arrow schema of its events, and how two tables differ.

A canonical table is what both sides of a comparison are converted to. Its columns have the order of
the definition or of their first appearance. Bit ``i`` of ``before_has`` and ``after_has`` belongs
to column ``i``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import pyarrow as pa

from cdcwire.arrow.common_type import (
    NoCommonType,
    common_type,
    describe_kind,
    kind_by_definition,
    types_differ,
)
from cdcwire.arrow.types import (
    Profile,
    SchemaError,
    Temporal,
    canonical_column,
    struct_type,
)
from cdcwire.connect.types import OPEN_DOUBLE
from cdcwire.core.orders import Order
from cdcwire.model import kinds
from cdcwire.model.events import Table, TableName
from cdcwire.model.kinds import Column, Value
from cdcwire.model.temporal import DAYS_OF_MONTH

Rewrite: TypeAlias = Callable[[str], str]
"""Gives the name that a format writes for a table or column."""

POSITION_FIELDS: tuple[pa.Field, ...] = (
    pa.field("commit_ts", pa.decimal128(20, 0)),
    pa.field("sequence_id", pa.decimal128(38, 0)),
    pa.field("lsn", pa.int64()),
    pa.field("commit_ms", pa.int64()),
    pa.field("sent_ms", pa.int64()),
    pa.field("partition", pa.int64()),
    pa.field("tx_id", pa.string()),
)
SOURCE_TYPE = pa.struct(
    [
        pa.field("topic", pa.string()),
        pa.field("partition", pa.int32()),
        pa.field("offset", pa.int64()),
        pa.field("file", pa.string()),
        pa.field("line", pa.int64()),
    ]
)
NUMBERED_SOURCE_TYPE = pa.struct([*SOURCE_TYPE, pa.field("row", pa.int32())])
"""With the number of a row among those of its table in the message, from 0; NULL if it is alone."""
ERROR_TYPE = pa.struct(
    [
        pa.field("offset", pa.int64()),
        pa.field("path", pa.string()),
        pa.field("clause", pa.string()),
        pa.field("problem", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class Fill:
    """The value of a column in rows that do not have it. ``kind``: of the value.

    ``source``: the column whose value it is, for one that was renamed.
    """

    column: str
    kind: kinds.Type
    value: Value
    source: str | None = None

    def renamed(self, names: Mapping[str, str]) -> Fill:
        """Return the value with other names of columns."""
        source = names.get(self.source or "", self.source)
        return replace(self, column=names.get(self.column, self.column), source=source)


@dataclass(frozen=True, slots=True)
class CanonicalTable:
    """A table whose columns all have their canonical kind. ``key`` as in ``model.Table``."""

    schema: str | None
    table: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] | None = None
    fills: tuple[Fill, ...] = ()

    def __str__(self) -> str:
        return self.table if self.schema is None else f"{self.schema}.{self.table}"

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns, in their order."""
        return tuple(column.name for column in self.columns)

    @property
    def sent_names(self) -> frozenset[str]:
        """The names of the columns in messages, before a column was renamed too."""
        return frozenset({*self.column_names, *(f.source for f in self.fills if f.source)})

    def column(self, name: str) -> Column:
        """Return a column by its name. Raises: KeyError."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    def with_columns(self, names: Iterable[str]) -> CanonicalTable:
        """Return the table with these columns only, in its own order. Raises: SchemaError."""
        wanted = set(names)
        missing = sorted(wanted - set(self.column_names))
        if missing:
            raise SchemaError(f"table {self} has no column {', '.join(missing)}")
        return replace(self, columns=tuple(c for c in self.columns if c.name in wanted))

    def with_binary_text(self, names: Iterable[str]) -> CanonicalTable:
        """Return the table with these text columns as bytes, for text that is not valid UTF-8.

        Raises: SchemaError for a name that is not a text column.
        """
        wanted = set(names)
        known = {
            c.name for c in self.columns if isinstance(c.type, (kinds.TextType, kinds.BytesType))
        }
        if not wanted <= known:
            raise SchemaError(
                f"table {self} has no text column {', '.join(sorted(wanted - known))}"
            )
        columns = tuple(
            replace(c, type=kinds.BytesType(c.type.length))
            if c.name in wanted and isinstance(c.type, kinds.TextType)
            else c
            for c in self.columns
        )
        return replace(self, columns=columns)


def canonical_table(table: Table) -> CanonicalTable:
    """Return the canonical form of a definition.

    Raises: SchemaError if it defines no table.
    """
    if table.name is None or table.columns is None:
        raise SchemaError(
            f"{table.name or table.schema or 'a table'} is defined without its columns"
        )
    names = [column.name for column in table.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SchemaError(f"table {table.name} has column {', '.join(twice)} twice")
    columns = tuple(map(canonical_column, table.columns))
    return CanonicalTable(table.schema, table.name, columns, table.key)


def image_type(
    table: CanonicalTable, temporal: Temporal = "text", profile: Profile | None = None
) -> pa.DataType:
    """Return the struct of ``before`` and ``after``. Raises: SchemaError."""
    try:
        return struct_type(table.columns, temporal, profile)
    except SchemaError as error:
        raise SchemaError(f"table {table}: {error}") from None


def event_schema(
    table: CanonicalTable,
    temporal: Temporal = "text",
    profile: Profile | None = None,
    *,
    numbers_rows: bool = False,
    order: Order | None = None,
) -> pa.Schema:
    """Return the Arrow schema of a table's row changes. Raises: SchemaError.

    ``numbers_rows``: ``source`` also has the number of each row in its message. ``order``: a column
    of its name has the place of each row, if that is not one of the other columns.

    ``error`` is NULL in rows. A row with an ``error`` represents a message or a row that could not
    be read, and has values only where they are known: ``source`` always.
    """
    image = image_type(table, temporal, profile)
    return pa.schema(
        [
            pa.field("op", pa.string()),
            pa.field("half", pa.string()),
            pa.field("schema", pa.string()),
            pa.field("table", pa.string()),
            *POSITION_FIELDS,
            *([] if order is None or order.number else [pa.field(order.name, pa.string())]),
            pa.field("before", image),
            pa.field("after", image),
            pa.field("before_has", pa.binary()),
            pa.field("after_has", pa.binary()),
            pa.field("source", NUMBERED_SOURCE_TYPE if numbers_rows else SOURCE_TYPE),
            pa.field("error", ERROR_TYPE),
        ]
    )


@dataclass(frozen=True, slots=True)
class Merged:
    """A table that two sides are converted to.

    ``left_out``: columns that can't be compared, with the reason. ``notes``: what was taken for
    granted, to be printed. ``differences``: what the two schemas say differently. ``met``: columns
    whose types differ and have a type in common, a line each. ``unzoned``: columns of instants
    whose zone a side does not say, with that side.
    """

    table: CanonicalTable
    differences: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    met: tuple[str, ...] = ()
    unzoned: tuple[tuple[str, Literal["left", "right"]], ...] = ()


def merge_tables(
    left: CanonicalTable,
    right: CanonicalTable,
    defined: CanonicalTable | None = None,
    time_zone: str = "UTC",
) -> Merged:
    """Return the table in which two sides meet, column by column.

    ``defined``: the user's definition; its kinds win over both sides. ``time_zone``: where texts of
    an unknown zone are read, when the other side knows its own.
    """
    columns: list[Column] = []
    left_out: list[tuple[str, str]] = []
    notes: list[str] = []
    met: list[str] = []
    unzoned: list[tuple[str, Literal["left", "right"]]] = []
    theirs = {column.name: column for column in right.columns}
    declared = {column.name: column for column in defined.columns} if defined else {}
    for ours in left.columns:
        other = theirs.get(ours.name)
        if other is None:
            left_out.append((ours.name, "only the left side has it"))
            continue
        try:
            columns.append(_merge_columns(ours, other, declared.get(ours.name)))
        except NoCommonType as error:
            left_out.append((ours.name, str(error)))
            continue
        for side in _unzoned(ours, other, columns[-1]):
            unzoned.append((ours.name, side))
            notes.append(
                f"column {ours.name}: the {side} side does not state its zone; it is read in "
                f"{time_zone}"
            )
        if _are_period_and_count(ours.type, other.type):
            notes.append(
                f"column {ours.name}: periods are compared as microseconds, as one side has only "
                f"these; a month is {DAYS_OF_MONTH} days"
            )
        if _are_rounded(ours, other):
            notes.append(
                f"column {ours.name}: compared as numbers of 64 bits, since the producer of one "
                "side rounds each DECIMAL to these"
            )
        if types_differ(ours.type, other.type):
            kinds_of = (describe_kind(each.type) for each in (ours, other, columns[-1]))
            met.append("{} {} and {} as {}".format(ours.name, *kinds_of))
    names = set(left.column_names)
    left_out += [(n, "only the right side has it") for n in right.column_names if n not in names]
    key = left.key if left.key is not None else right.key
    if defined is not None and defined.key is not None:
        key = defined.key
    table = CanonicalTable(left.schema, left.table, tuple(columns), key)
    differences = tuple(schema_difference(left, right))
    return Merged(table, differences, tuple(left_out), tuple(notes), tuple(met), tuple(unzoned))


def _are_period_and_count(left: kinds.Type, right: kinds.Type) -> bool:
    match left, right:
        case kinds.IntervalType(ours), kinds.IntervalType(theirs):
            return ours != theirs
        case _:
            return False


def union_tables(first: CanonicalTable, second: CanonicalTable) -> CanonicalTable:
    """Return one table for two descriptions of it in one feed: all columns, kinds that hold both.

    Labels that were added at the end of an ENUM or SET do not contradict the old ones. Raises:
    SchemaError where two kinds of a column have none in common.
    """
    columns = {column.name: column for column in first.columns}
    for column in second.columns:
        known = columns.get(column.name)
        if known is None:
            columns[column.name] = column
        elif known != column:
            found = _with_more_labels(known, column) or _as_numbers(known, column)
            try:
                columns[column.name] = found or _merge_columns(known, column, None)
            except NoCommonType as error:
                raise SchemaError(f"table {first}: column {column.name}: {error}") from None
    key = first.key if first.key == second.key or not second.key else second.key
    return replace(first, columns=tuple(columns.values()), key=key)


def _with_more_labels(first: Column, second: Column) -> Column | None:
    """Return the one of two whose labels begin with those of the other, as if some were added."""
    ours, theirs = first.type, second.type
    if not isinstance(ours, (kinds.EnumType, kinds.SetType)) or type(ours) is not type(theirs):
        return None
    assert isinstance(theirs, (kinds.EnumType, kinds.SetType))
    if ours.labels is None or theirs.labels is None:
        return None
    size = min(len(ours.labels), len(theirs.labels))
    if ours.labels[:size] != theirs.labels[:size]:
        return None
    return first if len(ours.labels) > size else second


def _as_numbers(first: Column, second: Column) -> Column | None:
    """Return the column of decimals that holds whole numbers and others of one untyped column.

    JSON without schema shows 1 as an integer and 1.5 as a float; producers in Go write both.
    """
    ours, theirs = first.type, second.type
    if isinstance(theirs, kinds.FloatType):
        ours, theirs = theirs, ours
    is_untyped = theirs in (kinds.IntType(64), kinds.DecimalType(None, 0), kinds.DecimalType())
    if ours != kinds.FloatType(64) or not is_untyped:
        return None
    return replace(first, type=kinds.DecimalType())


def apply_definition(table: CanonicalTable, defined: CanonicalTable) -> CanonicalTable:
    """Return a feed's table with the kinds, the roles and the key of a definition.

    Columns stay those of the feed, in the order of the definition; columns that it lacks come last.
    A message decides what a definition leaves open: see ``kind_by_definition``. A key with columns
    that the feed lacks does not count.
    Raises: SchemaError where a kind of the feed can't meet the one of the definition.
    """
    declared = {column.name: column for column in defined.columns}
    columns = []
    for column in table.columns:
        own = declared.get(column.name)
        if own is None:
            columns.append(column)
            continue
        try:
            kind = kind_by_definition(column.type, own.type)
            source = column.source if isinstance(kind, kinds.FloatType) else own.source
            columns.append(replace(own, type=kind, source=source))
        except NoCommonType:
            raise SchemaError(
                f"table {table}: column {column.name}: the definition (--ddl or --tables) has "
                f"{describe_kind(own.type)}, the feed has {describe_kind(column.type)}"
            ) from None
    place = {name: number for number, name in enumerate(declared)}
    columns.sort(key=lambda column: place.get(column.name, len(place)))
    has_key = defined.key is not None and set(defined.key) <= set(table.column_names)
    return replace(table, columns=tuple(columns), key=defined.key if has_key else table.key)


def schema_difference(left: CanonicalTable, right: CanonicalTable) -> list[str]:
    """Return what keeps two tables from being the same rows, a line each; nothing if they may be.

    Kinds that are compatible (a decimal with and without its precision) do not differ.
    """
    lines = []
    if left.table != right.table or left.schema != right.schema:
        lines.append(f"table: {left} on the left, {right} on the right")
    theirs = {column.name: column for column in right.columns}
    for column in left.columns:
        other = theirs.pop(column.name, None)
        if other is None:
            lines.append(f"column {column.name}: only on the left ({describe_kind(column.type)})")
            continue
        try:
            common_type_of(column, other)
        except NoCommonType as error:
            lines.append(
                f"column {column.name}: {describe_kind(column.type)} on the left, "
                f"{describe_kind(other.type)} on the right: {error}"
            )
    lines += [
        f"column {column.name}: only on the right ({describe_kind(column.type)})"
        for column in theirs.values()
    ]
    if left.key is not None and right.key is not None and set(left.key) != set(right.key):
        lines.append(f"key: {_key_text(left.key)} on the left, {_key_text(right.key)} on the right")
    return lines


def common_type_of(left: Column, right: Column) -> kinds.Type:
    """Return what the values of two columns have in common. Raises: NoCommonType."""
    if _are_rounded(left, right):
        return kinds.FloatType(64)
    return kinds.FloatType(32) if _are_floats(left, right) else common_type(left.type, right.type)


def _are_floats(left: Column, right: Column) -> bool:
    """Return whether two columns are floats of 32 bits, one or both of them sent as a double.

    A producer that does so has it in the column's source, as what the double is or may be.
    """
    sources = []
    for each in (left, right):
        is_short = each.type == kinds.FloatType(32)
        is_double = each.type == kinds.FloatType(64)
        sources.append("float" if is_short else each.source if is_double else None)
    return "float" in sources and set(sources) <= {"float", OPEN_DOUBLE}


def _are_rounded(left: Column, right: Column) -> bool:
    """Return whether one of two columns is a DECIMAL, which the other has as a float.

    A producer that rounds each DECIMAL has it in the column's source.
    """
    if isinstance(left.type, kinds.DecimalType):
        left, right = right, left
    is_float = left.type == kinds.FloatType(64) and left.source in ("decimal", OPEN_DOUBLE)
    return is_float and isinstance(right.type, kinds.DecimalType)


def _merge_columns(left: Column, right: Column, declared: Column | None) -> Column:
    kind = common_type_of(left, right)
    if declared is not None and _are_rounded(left, right):
        return replace(declared, type=kind)
    if declared is not None:
        common_type(kind, declared.type)
        return replace(declared, type=_declared_kind(declared.type, kind))
    nullable = None if left.nullable is None and right.nullable is None else True
    if left.nullable is False and right.nullable is False:
        nullable = False
    return replace(
        left,
        type=kind,
        source=left.source if left.source is not None else right.source,
        nullable=nullable,
        roles=left.roles | right.roles,
    )


def _declared_kind(declared: kinds.Type, met: kinds.Type) -> kinds.Type:
    """Return the kind from a definition; only the sides may know the zone of an instant."""
    if (
        isinstance(declared, kinds.TimestampType)
        and isinstance(met, kinds.TimestampType)
        and declared.zone is None
    ):
        return replace(declared, zone=met.zone)
    return declared


def _unzoned(left: Column, right: Column, merged: Column) -> Iterator[Literal["left", "right"]]:
    """Yield the sides whose zone is not known, where the merged column is an instant in UTC."""
    if not isinstance(merged.type, kinds.TimestampType) or merged.type.zone is None:
        return
    sides: tuple[tuple[Literal["left", "right"], Column], ...] = (("left", left), ("right", right))
    for side, column in sides:
        if isinstance(column.type, (kinds.DatetimeType, kinds.TextType)) or (
            isinstance(column.type, kinds.TimestampType) and column.type.zone is None
        ):
            yield side


def _key_text(key: tuple[str, ...]) -> str:
    return f"({', '.join(key)})" if key else "none"


def name_text(name: TableName) -> str:
    """Return the name of a table as it is shown."""
    return ".".join(part for part in name if part is not None)


def rewritten_name(name: TableName, rewrite: Rewrite) -> TableName:
    """Return the name that a table's rows have."""
    schema, table = name
    return None if schema is None else rewrite(schema), rewrite(table)


def rewritten_table(table: Table, rewrite: Rewrite) -> Table:
    """Return a definition with the names that its rows have."""
    columns = None
    if table.columns is not None:
        columns = tuple(replace(each, name=rewrite(each.name)) for each in table.columns)
    key = None if table.key is None else tuple(map(rewrite, table.key))
    schema, name = rewritten_name((table.schema, table.name or ""), rewrite)
    return replace(table, schema=schema, name=name, columns=columns, key=key)
