"""Placeholders of unavailable values in another form than the usual one of their type.

Bytes that are sent as text have it in hex or base64, and an hstore that is sent as JSON has it in
an object. The columns are text or JSON like others, so events keep the form in ``extra``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cdcwire.connect import ConnectValue, Schema
from cdcwire.connect.cdl import Row
from cdcwire.connect.images import WrittenRows
from cdcwire.connect.schema import MadeOfSchemas
from cdcwire.connect.unavailable import unavailable_values

_FORMS = MadeOfSchemas(
    lambda struct, placeholder: tuple(
        (place, field.name, frozenset(forms[1:]))
        for place, field in enumerate(struct.fields)
        if len(forms := unavailable_values(field.schema, placeholder)) > 1
    )
)
_Values = tuple[ConnectValue, ...]


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
