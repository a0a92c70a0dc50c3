"""Definitions of tables as Connect schemas, for rows of messages that have no schema."""

from __future__ import annotations

from dataclasses import replace

from cdcwire.connect import types
from cdcwire.connect.columns import plan_column
from cdcwire.connect.schema import Field, Schema
from cdcwire.connect.style import Style
from cdcwire.core.errors import step
from cdcwire.model import kinds
from cdcwire.model.events import Column


def defined_struct(columns: tuple[Column, ...], style: Style) -> Schema:
    """Return the struct of the rows of a table. Raises: EncodeError, for a column without form."""
    style = replace(style, with_defaults=False)
    fields = []
    for column in columns:
        with step(column.name):
            fields.append(Field(column.name, _defined(column, style)))
    return Schema("struct", True, fields=tuple(fields))


def _defined(column: Column, style: Style) -> Schema:
    schema = plan_column(column, style).schema
    if isinstance(column.type, kinds.BitType) and schema.type == "boolean":
        return replace(schema, name=types.ONE_BIT)
    return schema
