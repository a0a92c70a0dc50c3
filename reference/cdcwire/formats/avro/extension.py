"""The fields after the columns: operation, commit timestamp, row checksum.

Their types are bare, which distinguishes them from columns of these names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cdcwire.apache_avro.schema import Datum, Field, Primitive, PrimitiveName
from cdcwire.core.errors import EncodeError
from cdcwire.core.limits import INT64_END
from cdcwire.formats.avro.plans import (
    CHECKSUM_FIELD,
    CHECKSUM_VERSION_FIELD,
    COMMIT_TS_FIELD,
    CORRUPTED_FIELD,
    EXTENSION_TYPES,
    OP_FIELD,
    PHYSICAL_TIME_FIELD,
    RecordPlan,
)
from cdcwire.formats.avro.settings import Settings
from cdcwire.model.events import NO_EXTRA, Extra, Op, Position
from cdcwire.model.instants import ms_of_tso

CLAUSE = "avro: extension fields"
CHECKSUM_CLAUSE = "avro: row checksum"
_CHECKSUM_TEXT = re.compile(r"0|[1-9][0-9]{0,9}", re.ASCII)
_UINT32_END = 1 << 32
OPS: dict[str, Op] = {"c": "insert", "u": "update", "d": "delete", "": "upsert"}
_LETTERS: dict[Op, str] = {"insert": "c", "update": "u", "delete": "d"}
_DEFAULTS: dict[PrimitiveName, str | int | bool] = {
    "string": "",
    "long": 0,
    "boolean": False,
    "int": 0,
}
_EXTENSION = (OP_FIELD, COMMIT_TS_FIELD, PHYSICAL_TIME_FIELD)
_CHECKSUM = (CHECKSUM_FIELD, CORRUPTED_FIELD, CHECKSUM_VERSION_FIELD)
_TYPES: dict[str, PrimitiveName] = {
    OP_FIELD: "string",
    COMMIT_TS_FIELD: "long",
    PHYSICAL_TIME_FIELD: "long",
    CHECKSUM_FIELD: "string",
    CORRUPTED_FIELD: "boolean",
    CHECKSUM_VERSION_FIELD: "int",
}
assert EXTENSION_TYPES == _TYPES
CHECKSUM_VERSION = 1


def check_extension_value(name: str, value: Datum) -> None:
    """Raise ValueError for a value that an extension field can't have."""
    if name == OP_FIELD and value not in OPS:
        raise ValueError(f"the operation is {value!r:.40}, not 'c', 'u' or 'd'")
    if name == COMMIT_TS_FIELD and value < 0:
        raise ValueError(f"the commit timestamp is {value}")
    if name == CHECKSUM_FIELD and value and not is_checksum(value):
        raise ValueError(_not_a_checksum(value))


def is_checksum(text: str) -> bool:
    """Return whether a text that is not empty is a checksum: a number of 32 bits."""
    return _CHECKSUM_TEXT.fullmatch(text) is not None and int(text) < _UINT32_END


def _not_a_checksum(text: str) -> str:
    return f"the checksum is {text!r:.40}, not a number of 32 bits"


def extension_fields(settings: Settings) -> tuple[Field, ...]:
    """Return the fields that the options add to a value."""
    names: tuple[str, ...] = ()
    if settings.enable_tidb_extension:
        names = _EXTENSION
    elif settings.include_before_value:
        names = (OP_FIELD,)
    if settings.integrity:
        names += _CHECKSUM
    return tuple(Field(name, Primitive(_TYPES[name]), _DEFAULTS[_TYPES[name]]) for name in names)


def extension_values(
    op: Op, position: Position, extra: Extra, checksum: int | None, settings: Settings
) -> tuple[Datum, ...]:
    """Return the values of these fields. Raises: EncodeError where one is missing or odd."""
    if not (settings.enable_tidb_extension or settings.include_before_value):
        return ()
    if op not in _LETTERS:
        raise EncodeError(f"{op!r} has no letter in {OP_FIELD}", CLAUSE, ("op",))
    if not settings.enable_tidb_extension:
        return (_LETTERS[op],)
    commit_ts = position.commit_ts
    if commit_ts is None or not 0 <= commit_ts < INT64_END:
        problem = f"the row needs a commit_ts from 0 to 2**63-1, not {commit_ts}"
        raise EncodeError(problem, CLAUSE, ("position", "commit_ts"))
    physical = position.commit_ms
    if physical is None:
        physical = ms_of_tso(commit_ts)
    values: tuple[Datum, ...] = (_LETTERS[op], commit_ts, physical)
    if settings.integrity:
        values += _checksum_values(extra, checksum)
    return values


def _checksum_values(extra: Extra, checksum: int | None) -> tuple[Datum, ...]:
    """Return what the event says of its checksum; without a word of it, the one of the row."""
    stated = extra.get("checksum", None if checksum is None else str(checksum))
    if stated is None:
        return "", False, 0
    corrupted = extra.get("corrupted", "false")
    version = extra.get("checksum_version", str(CHECKSUM_VERSION if stated else 0))
    is_number = isinstance(version, str) and version.isascii() and version.isdigit()
    if not isinstance(stated, str) or corrupted not in ("true", "false") or not is_number:
        problem = "checksum is text, corrupted is true or false, checksum_version a number"
        raise EncodeError(problem, CHECKSUM_CLAUSE, ("extra",))
    assert isinstance(version, str)
    if stated and not is_checksum(stated):
        raise EncodeError(_not_a_checksum(stated), CHECKSUM_CLAUSE, ("extra", "checksum"))
    if len(version) > 9:
        raise EncodeError("the version has too many digits", CHECKSUM_CLAUSE, ("extra",))
    return stated, corrupted == "true", int(version)


@dataclass(frozen=True, slots=True)
class ExtensionValues:
    """The values of a row's extension fields."""

    op: Op
    position: Position
    extra: Extra


def read_extension(plan: RecordPlan, values: tuple[Datum, ...]) -> ExtensionValues:
    """Return what the extension fields say. Their values were checked when they were read."""
    places = plan.extension
    op: Op = OPS[values[places[OP_FIELD]]] if OP_FIELD in places else "upsert"
    position = Position(
        commit_ts=_at(places.get(COMMIT_TS_FIELD), values),
        commit_ms=_at(places.get(PHYSICAL_TIME_FIELD), values),
    )
    extra: dict[str, str | bytes | None] = {}
    for name, field in (
        ("checksum", CHECKSUM_FIELD),
        ("corrupted", CORRUPTED_FIELD),
        ("checksum_version", CHECKSUM_VERSION_FIELD),
    ):
        value = _at(places.get(field), values)
        if value is not None:
            extra[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return ExtensionValues(op, position, extra or NO_EXTRA)


def _at(place: int | None, values: tuple[Datum, ...]) -> Datum:
    return None if place is None else values[place]
