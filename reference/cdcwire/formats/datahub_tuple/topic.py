"""The schema of a Tuple topic, from the definition of its table.

A definition may list the data columns alone; then the six metadata columns come first. Or it lists
all columns as the topic has them. Source: datahub-tuple, "topic schema", "metadata columns".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cdcwire.core.context import Context
from cdcwire.core.options import OptionError
from cdcwire.datahub.fields import Field, FieldType, field_type, kind_of
from cdcwire.datahub.tuple_topic import Topic
from cdcwire.formats.datahub_tuple.settings import (
    DEFAULT_SETTINGS,
    EXECUTE_TIMES,
    Settings,
    read_settings,
)
from cdcwire.model import kinds
from cdcwire.model.events import Table
from cdcwire.model.kinds import Column

SEQUENCE_ID = "_sequence_id_"
OPERATION_TYPE = "_operation_type_"
SOURCE_TABLE = "_source_table_"
BEFORE_IMAGE = "_before_image_"
AFTER_IMAGE = "_after_image_"
_STRINGS = (SEQUENCE_ID, OPERATION_TYPE, SOURCE_TABLE, BEFORE_IMAGE, AFTER_IMAGE)
METADATA: frozenset[str] = frozenset((*_STRINGS, *EXECUTE_TIMES))

_SIGNED: dict[int, FieldType] = {
    8: "TINYINT",
    16: "SMALLINT",
    24: "INTEGER",
    32: "INTEGER",
    64: "BIGINT",
}
_UNSIGNED: dict[int, FieldType] = {
    8: "SMALLINT",
    16: "INTEGER",
    24: "INTEGER",
    32: "BIGINT",
    64: "STRING",
}


def find_table(tables: Sequence[Table], settings: Settings = DEFAULT_SETTINGS) -> Table:
    """Return the definition of the topic's table. Raises: OptionError unless there is just one."""
    wanted = settings.table
    if wanted:
        schema, _, name = wanted.rpartition(".")
        found = [
            table
            for table in tables
            if table.name in (wanted, name) and schema in ("", table.schema)
        ]
    else:
        found = list(tables)
    if len(found) != 1:
        if not tables:
            raise OptionError(
                "a Tuple message does not name its columns' types; define the topic's table"
            )
        what = f"named {wanted!r}" if wanted else "defined"
        raise OptionError(
            f"a Tuple topic has one table; {len(found)} are {what} (option table chooses)"
        )
    return found[0]


def topic_of(table: Table, settings: Settings = DEFAULT_SETTINGS) -> Topic:
    """Return the topic of a table. Raises: OptionError for a definition that makes none."""
    listed = table.columns or ()
    names = [column.name for column in listed]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise OptionError(f"table {table.name!r}: column {twice!r} is duplicated")
    fields = [_field(column) for column in listed]
    if not METADATA.intersection(names):
        # The service lets them be NULL; the decoder does not.
        front = (SEQUENCE_ID, OPERATION_TYPE, "", SOURCE_TABLE, BEFORE_IMAGE, AFTER_IMAGE)
        fields = [
            Field(name, "STRING") if name else Field(settings.execute_time_column, "BIGINT")
            for name in front
        ] + fields
    places = {field.name: index for index, field in enumerate(fields)}
    times = [name for name in EXECUTE_TIMES if name in places]
    missing = [name for name in _STRINGS if name not in places and name != SOURCE_TABLE]
    if missing or len(times) != 1:
        what = ", ".join(missing) or f"one of {' and '.join(EXECUTE_TIMES)}, just one"
        raise OptionError(f"table {table.name!r}: the topic needs the metadata column {what}")
    for name in (*_STRINGS, times[0]):
        wanted = "STRING" if name in _STRINGS else "BIGINT"
        if name in places and fields[places[name]].type != wanted:
            raise OptionError(f"table {table.name!r}: {name} is a {wanted}")
    data = tuple(index for index, field in enumerate(fields) if field.name not in METADATA)
    if not data:
        raise OptionError(f"table {table.name!r} has no data column")
    # Fields are appended at the end. A row keeps its metadata and one data column at least.
    least = max(data[0], *set(range(len(fields))).difference(data))
    is_absent = settings.short_records == "absent"
    fields[least + 1 :] = [
        replace(field, may_be_absent=is_absent, is_at_end=True) for field in fields[least + 1 :]
    ]
    known = {column.name: column for column in listed}
    return Topic(
        table,
        tuple(fields),
        places[SEQUENCE_ID],
        places[OPERATION_TYPE],
        places[times[0]],
        places.get(SOURCE_TABLE),
        places[BEFORE_IMAGE],
        places[AFTER_IMAGE],
        data,
        tuple(_column(known[fields[index].name], fields[index]) for index in data),
    )


def _column(column: Column, field: Field) -> Column:
    """Return the column that decoded rows have. BYTES travel as STRING; the definition knows."""
    kind = column.type if isinstance(column.type, kinds.BytesType) else kind_of(field.type)
    return Column(field.name, kind, field.type, column.nullable, roles=column.roles)


def _field(column: Column) -> Field:
    if not column.name:
        raise OptionError("a column of the definition has no name")
    return Field(column.name, field_type_of(column), column.nullable is not False)


def field_type_of(column: Column) -> FieldType:
    """Return the type of a column's field: its source's, if that fits its kind, else by kind.

    MySQL has a ``timestamp``, too, whose zone is not known. So where the kind does not give the
    zone, only ``TIMESTAMP`` in capitals is taken for the field type.
    """
    declared = None if column.source is None else field_type(column.source)
    if isinstance(column.type, kinds.TimestampType) and column.type.zone is None:
        declared = "TIMESTAMP" if column.source == "TIMESTAMP" else "STRING"
    if declared is not None and (
        declared == "STRING"
        or (isinstance(column.type, type(kind_of(declared))) and declared != "BOOLEAN")
    ):
        return declared
    match column.type:
        case kinds.IntType(bits, unsigned):
            return (_UNSIGNED if unsigned else _SIGNED)[bits]
        case kinds.YearType():
            return "INTEGER"
        case kinds.BitType(length) if length is not None and length < 64:
            return "BIGINT"
        case kinds.BoolType():
            return "BOOLEAN"
        case kinds.FloatType(bits):
            return "FLOAT" if bits == 32 else "DOUBLE"
        case kinds.DecimalType():
            return "DECIMAL"
        case kinds.TimestampType(zone=zone) if zone is not None:
            return "TIMESTAMP"
        case _:
            return "STRING"


def topic_in(context: Context) -> tuple[Settings, Topic]:
    """Return the settings and the one topic of a context. Raises: OptionError."""
    settings = read_settings(context)
    return settings, topic_of(find_table(context.tables, settings), settings)
