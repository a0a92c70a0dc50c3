"""Avro bytes explained: every byte with its field, its value and its clause.

Spans carry the names of the fields, which come from the schema; without it (an unknown id) nothing
behind the envelope can be explained.
"""

from __future__ import annotations

from dataclasses import replace

from cdcwire.core.errors import DecodeError
from cdcwire.core.format import Explanation
from cdcwire.core.message import KafkaMessage
from cdcwire.core.reader import RecordingReader, Span
from cdcwire.formats.avro.binary import LENGTHS, UNION
from cdcwire.formats.avro.checksum import verify_checksum
from cdcwire.formats.avro.message import Datums
from cdcwire.formats.avro.plans import (
    COMMIT_TS_FIELD,
    OP_FIELD,
    TIDB_TYPES,
    FieldPlan,
    Form,
    RecordPlan,
)
from cdcwire.formats.avro.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.avro.sources import SchemaSource
from cdcwire.formats.avro.values import model_value, unwrapped
from cdcwire.formats.avro.wire import read_message
from cdcwire.model.tso import ms_of_tso

UNKNOWN = "avro: unknown types"
_KINDS = {1: "DDL", 2: "checkpoint", 3: "delete with its timestamp"}
_OPS = {"'c'": "insert", "'u'": "update", "'d'": "delete"}


def explain(
    message: KafkaMessage, source: SchemaSource, settings: Settings = DEFAULT_SETTINGS
) -> Explanation:
    """Return the spans of every byte of key and value.

    On broken bytes: the spans up to the place of the error, and the error.
    """
    key = None if message.key is None else RecordingReader(message.key, part="key")
    value = None if message.value is None else RecordingReader(message.value, part="value")
    error: DecodeError | None = None
    plans: dict[str, RecordPlan] = {}
    warnings: tuple[str, ...] = ()
    try:
        found = read_message(key, value, source, settings)
    except DecodeError as caught:
        error = caught
    else:
        for part, side in (("key", found.key), ("value", found.value)):
            if isinstance(side, Datums):
                plans[part] = side.plan
        warnings = _warnings(plans, found.value, settings)
    spans: list[Span] = []
    for part, reader in (("key", key), ("value", value)):
        if reader is not None:
            fields = {field.name: field for field in plans[part].fields} if part in plans else {}
            spans += (_named(span, fields, settings) for span in reader.spans)
    if error is not None and error.path[:1] in (("key",), ("value",)):
        spans += _rest(spans, error)
    return Explanation(tuple(spans), error, warnings)


def _named(span: Span, fields: dict[str, FieldPlan], settings: Settings) -> Span:
    """Return the span with its part in front of its path, and what its value means."""
    text, note = span.text, span.note
    match span.path:
        case (*_, "branch") if span.clause == UNION:
            text = f"branch {text}"
        case (*_, "block") if span.clause == LENGTHS:
            text = f"{text} items"
        case ("kind",):
            text = f"{text} ({_KINDS[int(text)]})"
        case (str() as name, *rest) if name in fields:
            field = fields[name]
            if not rest and field.is_extension:
                text = _extension_text(name, text)
            elif field.source is not None and field.clause == UNKNOWN:
                note = f"tidb_type {field.source!r:.40} is not known: the Avro value is kept"
            elif not rest and span.clause == field.clause:
                text = _value_text(span, field, settings)
    return replace(span, path=(span.part, *span.path), text=text, note=note)


def _extension_text(name: str, text: str) -> str:
    if name == OP_FIELD and text in _OPS:
        return f"{text} ({_OPS[text]})"
    if name == COMMIT_TS_FIELD:
        return f"{text} ({ms_of_tso(int(text))} ms)"
    return text


def _value_text(span: Span, field: FieldPlan, settings: Settings) -> str:
    """Return the text of a value whose bytes are not the value itself."""
    if field.form is Form.UINT64_LONG:
        number = int(span.text)
        return str(unwrapped(number)) if settings.unsigned_wrap else span.text
    if field.form in (Form.DECIMAL_BYTES, Form.BIT):
        return f"{model_value(field, bytes.fromhex(span.text))} ({span.text})"
    return span.text


def _rest(spans: list[Span], error: DecodeError) -> list[Span]:
    """Return what was read of the field that the error is in."""
    part = str(error.path[0])
    end = max((span.end for span in spans if span.part == part), default=0)
    if end >= error.offset:
        return []
    return [Span(error.path, end, error.offset, "read up to the error", error.clause, part)]


def _warnings(plans: dict[str, RecordPlan], value: object, settings: Settings) -> tuple[str, ...]:
    found = []
    for part, plan in plans.items():
        for field in plan.fields:
            is_odd = field.form is Form.OTHER and field.source not in TIDB_TYPES
            if is_odd and field.clause == UNKNOWN:
                found.append(f"{part}.{field.name}: tidb_type {field.source!r:.40} is not known")
    if isinstance(value, Datums) and verify_checksum(value, settings.time_zone) is False:
        found.append("value: the checksum is not that of the row's values")
    return tuple(found)
