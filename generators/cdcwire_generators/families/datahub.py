"""What DataHub topics hold: their own types, and those of the database that they are made from.

The ten types of Tuple topics and the six of Blob messages, under their own names, then MySQL's as
they are declared. What a column is when it comes back depends on the kind of the topic, so that
this family describes columns as they are.
"""

from __future__ import annotations

from cdcwire.model.events import Column
from cdcwire.model.kinds import (
    BoolType,
    BytesType,
    DecimalType,
    FloatType,
    IntType,
    TextType,
    TimestampType,
    Type,
)
from cdcwire_generators.families.declared import DECLARED
from cdcwire_generators.families.family import ColumnType, Family

# Simplest first: a failing example shrinks towards the front.
_OWN: tuple[tuple[str, Type], ...] = (
    ("BIGINT", IntType(64)),
    ("STRING", TextType()),
    ("LONG", IntType(64)),
    ("TINYINT", IntType(8)),
    ("SMALLINT", IntType(16)),
    ("INTEGER", IntType(32)),
    ("FLOAT", FloatType(32)),
    ("DOUBLE", FloatType(64)),
    ("BOOLEAN", BoolType()),
    ("DECIMAL", DecimalType()),
    ("BYTES", BytesType()),
    ("TIMESTAMP", TimestampType(form="us", zone="+00:00")),
    ("DATE", TimestampType(form="ms", zone="+00:00")),
)
_NO_KEY = ("FLOAT", "DOUBLE")


def _as_it_is(column: Column, clause: str, time_zone: str | None) -> Column:
    return column


DATAHUB = Family(
    name="datahub",
    column_types=(
        *(ColumnType(source, kind, source not in _NO_KEY) for source, kind in _OWN),
        *DECLARED.column_types,
    ),
    # A statement is never empty.
    schema_changes=tuple(change for change in DECLARED.schema_changes if change.statement),
    as_read=_as_it_is,
)
