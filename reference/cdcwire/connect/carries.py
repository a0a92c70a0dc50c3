"""The kinds that Connect's types can carry, as CDL and as Debezium write them, as features too."""

from __future__ import annotations

from collections.abc import Mapping

from cdcwire.model.carries import EXACT, KINDS, NO, CarryVerdict, as_form

_SHARED: dict[str, CarryVerdict] = {
    "int24": as_form("int32"),
    "int8 unsigned": as_form("int16"),
    "int16 unsigned": as_form("int32"),
    "int24 unsigned": as_form("int32"),
    "int32 unsigned": as_form("int64"),
    "int64 unsigned": as_form("decimal"),
    "text ill-formed": NO,
    "date": as_form("date as count"),
    "date as count": as_form("date as count"),
    "time": as_form("time as count"),
    "datetime": as_form("datetime as count"),
    "timestamp": as_form("text"),
    "timestamp as count": as_form("text"),
    "timestamp with zone": as_form("timestamp with zone"),
    "bit": as_form("bit", "bool"),  # one bit is a boolean
    "enum by index": as_form("enum by label"),
    "set by index": as_form("set by label"),
    "vector": as_form("text"),
    "unknown": NO,
}


def _kinds(own: dict[str, CarryVerdict]) -> Mapping[str, CarryVerdict]:
    verdicts = {**_SHARED, **own}
    return {kind: verdicts.get(kind, EXACT) for kind in KINDS}


# What comes back as its own kind does so in one form: days, milliseconds, a text with its zone.
CDL_KINDS = _kinds(
    {
        "decimal not finite": as_form("decimal"),
        "datetime as count": as_form("datetime as count"),
        "unavailable": NO,
    }
)
DEBEZIUM_KINDS = _kinds({"decimal not finite": NO})

KIND_FEATURES: Mapping[str, str] = {
    "unsigned": "unsigned integers, as wider ones or as decimals",
    "float": "float and double",
    "decimal": "decimals as text",
    "text": "text",
    "bytes": "bytes",
    "date": "dates",
    "time": "times",
    "datetime": "dates with times",
    "timestamp": "instants",
    "year": "years",
    "bit": "bit strings",
    "enum": "enums by label",
    "set": "sets by label",
    "json": "JSON",
    "array": "arrays",
    "map": "maps",
    "struct": "structs",
}
"""The features that are kinds of values."""
