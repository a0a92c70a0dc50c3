"""The parts of a change that ExtractNewRecordState adds to a row, as fields or as Kafka headers.

A name here is that of the change with ``_`` between struct and field: ``op``, ``source_ts_ms``,
``transaction_id``. The settings may give fields other names, and another prefix.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from cdcwire.connect.envelope import parse
from cdcwire.connect.fields import Fields
from cdcwire.connect.schema import RULES
from cdcwire.core.errors import DecodeError
from cdcwire.core.strict_json import Number, read_json
from cdcwire.debezium.connectors import GENERAL
from cdcwire.debezium.settings import Settings

SOURCE = "source_"
DELETED = "__deleted"  # it has this name whatever the prefix is
_OF_CHANGE = ("op", "ts_ms", "ts_us", "ts_ns")
_OF_SOURCE = (
    *("version", "connector", "name", "ts_ms", "ts_us", "ts_ns", "snapshot", "db", "sequence"),
    *dict.fromkeys(member.name for member in GENERAL.members),
)
_OF_TRANSACTION = ("id", "total_order", "data_collection_order")
KNOWN = frozenset(
    (
        *_OF_CHANGE,
        *_OF_SOURCE,
        *(f"{SOURCE}{name}" for name in _OF_SOURCE),
        *(f"transaction_{name}" for name in _OF_TRANSACTION),
    )
)
"""Fields that a row without a list of added fields may have after the prefix."""

Scalar: TypeAlias = "str | int | bool | None"
Headers: TypeAlias = "tuple[tuple[str, bytes], ...]"


@dataclass(frozen=True, slots=True)
class Added:
    """The added fields of a row, by their names in the change. ``headers``: those in headers."""

    fields: Fields
    names: Mapping[str, str]
    headers: Mapping[str, Scalar]

    def has_any(self, names: Iterable[str]) -> bool:
        """Return whether at least one of these members was added; it may be NULL."""
        return not (self.names.keys().isdisjoint(names) and self.headers.keys().isdisjoint(names))

    def value(self, *names: str) -> Scalar:
        """Return the first value that is not NULL. Raises: DecodeError for one of another type."""
        for name in names:
            field = self.names.get(name)
            found = self.headers.get(name) if field is None else self.fields.get(field)
            if found is None:
                continue
            if not isinstance(found, (str, int)):
                raise self.error(f"{field} is neither a string nor an integer", name)
            return found
        return None

    def text(self, *names: str) -> str | None:
        """Return the first text that is not NULL. Raises: DecodeError for another type."""
        found = self.value(*names)
        if found is not None and not isinstance(found, str):
            raise self.error(f"{names[0]} is not a string", names[0])
        return found

    def integer(self, *names: str) -> int | None:
        """Return the first integer that is not NULL. Raises: DecodeError for another type."""
        found = self.value(*names)
        if found is not None and (not isinstance(found, int) or isinstance(found, bool)):
            raise self.error(f"{names[0]} is not an integer", names[0])
        return found

    def error(self, problem: str, name: str) -> DecodeError:
        """Return the error of an added field."""
        return self.fields.error(problem, self.names.get(name, name))


def added_names(
    names: Iterable[str], settings: Settings, columns: frozenset[str]
) -> dict[str, str]:
    """Return the names of added fields by those in the change.

    A column of the definition is not an added field, unless the settings list it.
    """
    sent = frozenset(names)
    found = _names(sent - columns, settings.add_fields, settings.add_fields_prefix, sent)
    if DELETED in sent and (settings.add_fields or DELETED not in columns):
        found["deleted"] = DELETED
    return found


def _names(names: frozenset[str], listed: str, prefix: str, sent: frozenset[str]) -> dict[str, str]:
    if not listed:
        known = _known(prefix) if prefix else {}
        return {known[name]: name for name in names if name in known}
    found = {}
    for each in listed.split(","):
        member, _, own = each.strip().partition(":")
        name = own or member.replace(".", "_")
        full = f"{prefix}{name}"
        found[member.replace(".", "_")] = full if full in sent or not own else own
    return {known: name for known, name in found.items() if name in sent}


@lru_cache(maxsize=8)
def _known(prefix: str) -> dict[str, str]:
    return {f"{prefix}{name}": name for name in KNOWN}


def header_values(headers: Headers, settings: Settings) -> dict[str, Scalar]:
    """Return the added headers by their names in the change; others are left out."""
    if not headers:
        return {}
    values = {name: _header_value(value) for name, value in headers}
    sent = frozenset(values)
    names = _names(sent, settings.add_headers, settings.add_headers_prefix, sent)
    return {known: values[name] for known, name in names.items()}


def _header_value(value: bytes) -> Scalar:
    """Return what a converter wrote: JSON with or without schema, or a plain text."""
    try:
        found = parse(value).envelope.payload
    except DecodeError:
        try:
            found = read_json(value, RULES).value
        except DecodeError:
            found = value.decode(errors="replace")
    if isinstance(found, Number):
        return int(found.text) if found.is_integer else found.text
    return found if isinstance(found, (str, int)) else None
