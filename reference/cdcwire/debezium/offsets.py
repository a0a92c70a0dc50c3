"""Offsets of instants. The model has instants in UTC, so events keep other offsets in ``extra``.

SQL Server and Oracle send instants with the offset that the row has. Vitess sent the text of MySQL
before 3.6, which is in UTC and has no offset: that is the offset ``""``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from cdcwire.connect import ConnectValue, Schema
from cdcwire.connect.cdl import Row
from cdcwire.connect.images import WrittenRows
from cdcwire.connect.schema import MadeOfSchemas
from cdcwire.connect.types import ZONED_TIMESTAMP
from cdcwire.debezium.connectors import SourceOf
from cdcwire.model.instants import UTC, instant_of, local_text, offset_at_end
from cdcwire.model.kinds import TimestampType

_INSTANT = TimestampType(zone=UTC)
_MYSQL_TEXT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?", re.ASCII)
_INSTANTS = MadeOfSchemas(
    lambda struct, _text: tuple(
        (place, field.name)
        for place, field in enumerate(struct.fields)
        if field.schema.name == ZONED_TIMESTAMP
    )
)
_Values = tuple[ConnectValue, ...]


def offsets_of(row: Row, wanted: frozenset[str] | None) -> dict[str, str]:
    """Return the offsets of the instants of a row by column, except those in UTC.

    ``wanted``: the columns that are read; None means all.
    """
    if row.values is None:
        return {}
    texts = ((name, row.values[place]) for place, name in _INSTANTS.get(row.schema))
    return {
        name: offset
        for name, text in texts
        if isinstance(text, str)
        and (wanted is None or name in wanted)
        and (offset := _offset(text)) is not None
    }


def _offset(text: str) -> str | None:
    return "" if _MYSQL_TEXT.fullmatch(text) else offset_at_end(text)


def in_iso_form(row: Row, source: SourceOf) -> Row:
    """Return a row of a connector whose instants may be in MySQL's text, as those of others are."""
    if not source.has_mysql_instants or row.values is None:
        return row
    values = list(row.values)
    for place, _ in _INSTANTS.get(row.schema):
        text = values[place]
        if isinstance(text, str) and _MYSQL_TEXT.fullmatch(text):
            values[place] = f"{text.replace(' ', 'T', 1)}Z"
    return replace(row, values=tuple(values))


def with_offsets(
    rows: WrittenRows, before: Mapping[str, str], after: Mapping[str, str]
) -> WrittenRows:
    """Return rows whose instants have the offsets that they were sent with.

    Raises: ValueError, for what is not an offset, or an instant that leaves the calendar.
    """
    return replace(
        rows,
        before=_moved(rows.struct, rows.before, before),
        after=_moved(rows.struct, rows.after, after),
        key_before=_moved(rows.key, rows.key_before, before),
        key_after=_moved(rows.key, rows.key_after, after),
    )


def _moved(struct: Schema, values: _Values | None, offsets: Mapping[str, str]) -> _Values | None:
    """Return values whose instants are as the clocks of their offsets show them."""
    if values is None or not offsets:
        return values
    moved = list(values)
    for place, name in _INSTANTS.get(struct):
        offset, text = offsets.get(name), values[place]
        instant = instant_of(_INSTANT, text) if offset is not None else None
        if instant is not None:
            local = local_text(instant, f"{offset}" or UTC)
            moved[place] = f"{local.replace(' ', 'T', 1)}{offset}" if offset else local
    return tuple(moved)
