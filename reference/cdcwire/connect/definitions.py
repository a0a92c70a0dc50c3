"""Definitions of tables as Connect schemas, for rows of messages that have no schema.

A definition may leave open in which form a value is sent. Then the value shows it.
"""

from __future__ import annotations

import re
from dataclasses import replace

from cdcwire.connect import types
from cdcwire.connect.columns import plan_column
from cdcwire.connect.logical import named_kind
from cdcwire.connect.schema import Field, Schema
from cdcwire.connect.style import Style
from cdcwire.core.errors import step
from cdcwire.core.strict_json import JsonValue, Number
from cdcwire.model import kinds
from cdcwire.model.events import Column

_WITHOUT_OFFSET = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?", re.ASCII)
# Without version: the value shows the form. The parameter names that of numbers, if they have one.
_NUMBERS = "numbers"
_INSTANT = Schema("string", name=types.ZONED_TIMESTAMP)
_CDL_INSTANT = replace(_INSTANT, parameters=((_NUMBERS, types.CONNECT_TIMESTAMP),))


def defined_struct(columns: tuple[Column, ...], style: Style) -> Schema:
    """Return the struct of the rows of a table. Raises: EncodeError, for a column without form."""
    style = replace(style, with_defaults=False)
    fields = []
    for column in columns:
        with step(column.name):
            fields.append(Field(column.name, _defined(column, style)))
    return Schema("struct", True, fields=tuple(fields))


def _defined(column: Column, style: Style) -> Schema:
    named = named_kind(column.source)
    if type(named) is type(column.type):  # the source says how a date or time is sent
        column = replace(column, type=named)
    schema = plan_column(column, style).schema
    if isinstance(column.type, kinds.BitType) and schema.type == "boolean":
        return replace(schema, name=types.ONE_BIT)
    if isinstance(column.type, kinds.TimestampType) and schema.name is None:
        if style.way == "debezium":
            return replace(_INSTANT, optional=schema.optional)
        if style.way == "cdl-1.0":
            return replace(_CDL_INSTANT, optional=schema.optional)
    return schema


def doubtful_times(columns: tuple[Column, ...], style: Style) -> tuple[str, ...]:
    """Return the columns that PostgreSQL sends in milliseconds, but that are read in microseconds.

    MySQL's connector sends microseconds, and so does the encoder: a time may be more than a day.
    """
    if style.way != "debezium" or style.times != "adaptive":
        return ()
    return tuple(
        column.name
        for column in columns
        if isinstance(column.type, kinds.TimeType)
        and (column.type.form, column.type.zone) == ("text", None)
        and column.type.fraction in (0, 1, 2, 3)
        and named_kind(column.source) is None
    )


def sent_form(schema: Schema, value: JsonValue) -> Schema:
    """Return the schema of a value, where the definition leaves it open.

    An instant is a ZonedTimestamp. CDL 1.0 sends numbers: Connect's Timestamp. A text without
    offset stays text: the encoder writes it where the zone is not known.
    """
    if schema.name != types.ZONED_TIMESTAMP or schema.version is not None:
        return schema
    if isinstance(value, Number) and schema.parameter(_NUMBERS) is not None:
        return Schema("int64", schema.optional, types.CONNECT_TIMESTAMP, 1)
    if isinstance(value, str) and _WITHOUT_OFFSET.fullmatch(value) is not None:
        return Schema("string", schema.optional)
    return schema
