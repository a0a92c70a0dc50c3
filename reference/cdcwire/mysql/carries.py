"""Declarations that the formats of MySQL's changes share: verdicts on kinds, and features."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from cdcwire.model.carries import EXACT, KINDS, NO, CarryVerdict, as_form, option

LABELS_AS_INDEXES: Mapping[str, CarryVerdict] = {
    "enum by label": as_form("enum by index"),
    "set by label": as_form("set by index"),
}
INDEXES_AS_LABELS: Mapping[str, CarryVerdict] = {
    "enum by index": as_form("enum by label"),
    "set by index": as_form("set by label"),
}
_SHARED: Mapping[str, CarryVerdict] = {
    "decimal not finite": NO,
    "date as count": as_form("date"),
    "time as count": as_form("time"),
    "datetime as count": as_form("datetime"),
    "timestamp as count": as_form("timestamp"),
    "timestamp with zone": option("time-zone"),
    **dict.fromkeys(("interval", "array", "map", "struct", "unknown", "unavailable"), NO),
}


def mysql_kinds(special: Mapping[str, CarryVerdict]) -> dict[str, CarryVerdict]:
    """Return the verdict of every kind. ``special``: those that the formats do not share."""
    known = {**_SHARED, **special}
    return {kind: known.get(kind, EXACT) for kind in KINDS}


MYSQL_FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "unsigned": "unsigned integers, up to 2**64-1",
        "float": "FLOAT and DOUBLE",
        "decimal": "DECIMAL",
        "text": "CHAR, VARCHAR and the TEXT types",
        "bytes": "BINARY, VARBINARY and the BLOB types",
        "date": "DATE",
        "time": "TIME",
        "datetime": "DATETIME",
        "timestamp": "TIMESTAMP",
        "year": "YEAR",
        "bit": "BIT",
        "enum": "ENUM",
        "set": "SET",
        "json": "JSON",
    }
)
