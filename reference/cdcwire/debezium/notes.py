"""Notes on columns: what a schema says of them beyond their types.

They are comments and the parameters of ``column.propagate.source.type``. The model does not have
them, so events keep them as one text. The encoder writes them.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache

from cdcwire.connect import Field, Schema
from cdcwire.connect.schema import MadeOfSchemas
from cdcwire.core.errors import EncodeError

_CLAUSE = "debezium-json: members"
_PREFIX = "__debezium."


def _notes(struct: Schema, _text: str) -> str | None:
    notes: dict[str, dict[str, str | dict[str, str]]] = {}
    for field in struct.fields:
        note: dict[str, str | dict[str, str]] = {}
        if field.schema.doc is not None and field.schema.type != "struct":  # types have such docs
            note["doc"] = field.schema.doc
        pairs = field.schema.parameters or ()
        told = {name: text for name, text in pairs if name.startswith(_PREFIX)}
        if told:
            note["parameters"] = told
        if note:
            notes[field.name] = note
    return json.dumps(notes, ensure_ascii=False, separators=(",", ":")) if notes else None


_NOTES = MadeOfSchemas(_notes)


def notes_of(struct: Schema) -> str | None:
    """Return the notes on the columns of a row as JSON; None if there are none."""
    return _NOTES.get(struct)


def with_notes(struct: Schema, notes: str | None) -> Schema:
    """Return a struct with the notes on its columns. Raises: EncodeError."""
    return struct if notes is None else _with_notes(struct, notes)


@lru_cache(maxsize=256)
def _with_notes(struct: Schema, text: str) -> Schema:
    try:
        notes = json.loads(text)
        fields = tuple(_noted(field, notes.get(field.name, {})) for field in struct.fields)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        problem = "column_notes is not a JSON object of notes by column"
        raise EncodeError(problem, _CLAUSE, ("extra", "column_notes")) from error
    return replace(struct, fields=fields)


def _noted(field: Field, note: dict[str, str | dict[str, str]]) -> Field:
    schema, doc, told = field.schema, note.get("doc"), note.get("parameters", {})
    if doc is not None and isinstance(doc, str):
        schema = replace(schema, doc=doc)
    if isinstance(told, dict) and told:
        pairs = tuple((f"{name}", f"{value}") for name, value in told.items())
        schema = replace(schema, parameters=(*(schema.parameters or ()), *pairs))
    return Field(field.name, schema)
