"""The forms of values that the model does not have, in ``extra``: offsets and placeholders.

Each is one text of JSON: an object by column, for each of the two rows.

The model has instants in UTC. SQL Server and Oracle send instants with the offset that the row has.
Vitess sent the text of MySQL before 3.6, which is in UTC and has no offset: that is the offset
``""``.

The usual form of a placeholder is that of its column's type. Bytes that are sent as text have it in
hex or base64, and an hstore that is sent as JSON has it in an object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from cdcwire.connect import ConnectValue, Schema
from cdcwire.connect.cdl import Row
from cdcwire.connect.images import WrittenRows
from cdcwire.connect.schema import MadeOfSchemas
from cdcwire.connect.types import ZONED_TIMESTAMP
from cdcwire.connect.unavailable import unavailable_values
from cdcwire.core.errors import EncodeError
from cdcwire.debezium.connectors import SourceOf
from cdcwire.model.events import Extra
from cdcwire.model.instants import UTC, instant_of, local_text, offset_at_end
from cdcwire.model.kinds import TimestampType

OFFSETS, PLACEHOLDERS = "offsets", "placeholders"
_CLAUSES = {OFFSETS: "debezium-json: connectors", PLACEHOLDERS: "debezium-json: images"}


def sent_forms(
    before: Row | None, after: Row | None, placeholder: str, wanted: frozenset[str] | None
) -> dict[str, str]:
    """Return what ``extra`` has of the forms of values; nothing where all are as usual.

    ``placeholder``: of unavailable values; "" for none. ``wanted``: the columns that are read;
    None means all.
    """
    rows = {name: row for name, row in (("before", before), ("after", after)) if row is not None}
    found = {
        OFFSETS: {name: offsets_of(row, wanted) for name, row in rows.items()},
        PLACEHOLDERS: {
            name: placeholders_of(row, placeholder, wanted) for name, row in rows.items()
        },
    }
    return {
        what: json.dumps(
            {name: of_row for name, of_row in by_row.items() if of_row},
            ensure_ascii=False,
            separators=(",", ":"),
        )
        for what, by_row in found.items()
        if any(by_row.values())
    }


def with_sent_forms(rows: WrittenRows, extra: Extra, placeholder: str) -> WrittenRows:
    """Return rows whose values have the forms that they were sent in. Raises: EncodeError."""
    steps = ((OFFSETS, with_offsets), (PLACEHOLDERS, partial(with_placeholders, placeholder)))
    for what, with_forms in steps:
        text = extra.get(what)
        if text is None:
            continue
        clause, where = _CLAUSES[what], ("extra", what)
        try:
            found = json.loads(text)
            before, after = ({**found.get(name, {})} for name in ("before", "after"))
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            problem = f"{what} is not a JSON object of {what} by row and column"
            raise EncodeError(problem, clause, where) from error
        try:
            rows = with_forms(rows, before, after)
        except ValueError as error:
            raise EncodeError(str(error), clause, where) from error
    return rows


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


_FORMS = MadeOfSchemas(
    lambda struct, placeholder: tuple(
        (place, field.name, frozenset(forms[1:]))
        for place, field in enumerate(struct.fields)
        if len(forms := unavailable_values(field.schema, placeholder)) > 1
    )
)


def placeholders_of(row: Row, placeholder: str, wanted: frozenset[str] | None) -> dict[str, str]:
    """Return the placeholders of a row by column, except those in the usual form.

    ``wanted``: the columns that are read; None means all.
    """
    if row.values is None:
        return {}
    return {
        name: text
        for place, name, forms in _FORMS.get(row.schema, placeholder)
        if (text := row.values[place]) in forms and (wanted is None or name in wanted)
    }


def with_placeholders(
    placeholder: str, rows: WrittenRows, before: Mapping[str, str], after: Mapping[str, str]
) -> WrittenRows:
    """Return rows whose placeholders have the forms that they were sent in.

    Raises: ValueError, for what is not a placeholder.
    """
    return replace(
        rows,
        before=_in_forms(rows.struct, rows.before, placeholder, before),
        after=_in_forms(rows.struct, rows.after, placeholder, after),
    )


def _in_forms(
    struct: Schema, values: _Values | None, placeholder: str, sent: Mapping[str, str]
) -> _Values | None:
    if values is None or not sent:
        return values
    found = list(values)
    for place, name, forms in _FORMS.get(struct, placeholder):
        text = sent.get(name)
        if text is None or found[place] != placeholder:
            continue
        if text not in forms:
            raise ValueError(f"{text!r:.60} is not a form of the placeholder")
        found[place] = text
    return tuple(found)
