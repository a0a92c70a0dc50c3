"""The structs that Debezium's connectors make of spatial columns."""

from __future__ import annotations

from collections.abc import Iterable

from cdcwire.connect.schema import Field, Schema
from cdcwire.connect.types import DOCS, GEOMETRY, POINT

_OPTIONAL_BYTES = Schema("bytes", optional=True)
_SRID = Field("srid", Schema("int32", optional=True))
_FIELDS = {
    GEOMETRY: (Field("wkb", Schema("bytes")), _SRID),
    POINT: (
        Field("x", Schema("double")),
        Field("y", Schema("double")),
        Field("wkb", _OPTIONAL_BYTES),
        _SRID,
    ),
}
SPATIAL = {
    name: Schema("struct", True, name, 1, doc=DOCS[name], fields=fields)
    for name, fields in _FIELDS.items()
}
"""The schemas of spatial columns that may be NULL, by their names."""
_BY_MEMBERS = {
    frozenset(field.name for field in schema.fields): schema for schema in SPATIAL.values()
}
_BY_TYPE = {
    "point": SPATIAL[POINT],
    **dict.fromkeys(
        (
            *("geometry", "linestring", "polygon", "geometrycollection", "geomcollection"),
            *("multipoint", "multilinestring", "multipolygon"),
        ),
        SPATIAL[GEOMETRY],
    ),
}


def declared_spatial(type_name: str | None) -> Schema | None:
    """Return the schema of a column by its type in the database; None for other types."""
    return _BY_TYPE.get((type_name or "").lower())


def sent_spatial(members: Iterable[str]) -> Schema | None:
    """Return the schema of an object by the names of its members; None for other objects."""
    return _BY_MEMBERS.get(frozenset(members))
