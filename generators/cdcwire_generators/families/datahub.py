"""The types in DataHub topics: their own, and those of the database that they are made from.

The ten types of Tuple topics and the six of Blob messages, under their own names, then MySQL's as
they are declared. The form of a column after a round trip depends on the kind of the topic, so this
family describes columns as they are.
"""

from __future__ import annotations

from cdcwire.model import kinds
from cdcwire.model.kinds import Column
from cdcwire_generators.families.declared import DECLARED
from cdcwire_generators.families.family import ColumnType, Family

# Simplest first: a failing example shrinks towards the front.
_OWN: tuple[tuple[str, kinds.Type], ...] = (
    ("BIGINT", kinds.IntType(64)),
    ("STRING", kinds.TextType()),
    ("LONG", kinds.IntType(64)),
    ("TINYINT", kinds.IntType(8)),
    ("SMALLINT", kinds.IntType(16)),
    ("INTEGER", kinds.IntType(32)),
    ("FLOAT", kinds.FloatType(32)),
    ("DOUBLE", kinds.FloatType(64)),
    ("BOOLEAN", kinds.BoolType()),
    ("DECIMAL", kinds.DecimalType()),
    ("BYTES", kinds.BytesType()),
    ("TIMESTAMP", kinds.TimestampType(form="us", zone="+00:00")),
    ("DATE", kinds.TimestampType(form="ms", zone="+00:00")),
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
