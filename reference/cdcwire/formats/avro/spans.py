"""Avro bytes explained: every byte with its field, its value and its clause.

Spans carry the names of the fields, which come from the schema; without it (an unknown id) nothing
after the envelope can be explained.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cdcwire.apache_avro.binary import LENGTHS, UNION
from cdcwire.apache_avro.sources import KnownSchemas
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message as AnyMessage
from cdcwire.core.message import StoredFile, expect_kafka
from cdcwire.core.reader import EventPart, RecordingReader, Span, Subject
from cdcwire.formats.avro.checksum import verify_checksum
from cdcwire.formats.avro.extension import read_extension
from cdcwire.formats.avro.message import Datums, DeletedAt, Message
from cdcwire.formats.avro.plans import (
    CHECKSUM_FIELD,
    CHECKSUM_VERSION_FIELD,
    COMMIT_TS_FIELD,
    CORRUPTED_FIELD,
    OP_FIELD,
    PHYSICAL_TIME_FIELD,
    TIDB_TYPES,
    FieldPlan,
    Form,
    RecordPlan,
)
from cdcwire.formats.avro.settings import Settings, read_settings
from cdcwire.formats.avro.values import model_value, unwrapped
from cdcwire.formats.avro.wire import read_bytes, read_message
from cdcwire.model.events import Path, Step
from cdcwire.model.instants import ms_of_tso

UNKNOWN = "avro: unknown types"
_KEYS = "avro: key record"
_KINDS = {1: "DDL", 2: "checkpoint", 3: "delete with its timestamp"}
_OPS = {"c": "insert", "u": "update", "d": "delete"}
_PARTS: dict[str, tuple[EventPart, ...]] = {
    "commit_ts": ("commit_ts",),
    "query": ("query",),
    "type": ("what", "code"),
    "schema": ("schema",),
    "table": ("table",),
    "commitTs": ("commit_ts",),
}
_KIND_PARTS: dict[object, tuple[EventPart, ...]] = {2: ("kind", "what"), 3: ("kind", "op")}
_EXTENSION: dict[str, Subject] = {
    OP_FIELD: Subject(0, ("op",)),
    COMMIT_TS_FIELD: Subject(0, ("commit_ts",)),
    PHYSICAL_TIME_FIELD: Subject(0, ("commit_ms",)),
    CHECKSUM_FIELD: Subject(0, ("extra",), "checksum"),
    CORRUPTED_FIELD: Subject(0, ("extra",), "corrupted"),
    CHECKSUM_VERSION_FIELD: Subject(0, ("extra",), "checksum_version"),
}


def spans(message: AnyMessage, context: Context) -> Iterator[Span]:
    """Yield the spans of every byte of key and value."""
    settings = read_settings(context)
    kafka = expect_kafka(message, "avro: messages")
    key = None if kafka.key is None else RecordingReader(kafka.key, part="key")
    value = None if kafka.value is None else RecordingReader(kafka.value, part="value")
    fields: dict[str, dict[str, FieldPlan]] = {}
    sides: dict[str, EventPart] = {}
    broken: DecodeError | None = None
    try:
        found = read_message(key, value, KnownSchemas(context.schemas), settings)
    except DecodeError as error:
        broken = error
    else:
        for part, plan in _plans(found):
            fields[part] = {field.name: field for field in plan.fields}
        sides = _sides(found)
        del found
    for part, reader in (("key", key), ("value", value)):
        if reader is not None:
            known = fields.get(part, {})
            has_names = key is None or part == "key"
            paths = {span.path for span in reader.spans}
            for span in reader.spans:
                subject = _subject(span, known, paths, sides.get(part), has_names)
                yield _named(replace(span, subject=subject), known, settings)
            if broken is not None and broken.path[:1] == (part,):
                yield from _rest(reader, broken)


def warnings(message: AnyMessage, context: Context) -> tuple[str, ...]:
    """Return what decoding a message ignores. Raises: DecodeError."""
    if isinstance(message, StoredFile):
        return ()
    settings = read_settings(context)
    found = read_bytes(message.key, message.value, KnownSchemas(context.schemas), settings)
    if found.key is None and (found.value is None or isinstance(found.value, DeletedAt)):
        return (f"a delete in a table without primary key, of an unknown row ({_KEYS})",)
    return _warnings(dict(_plans(found)), found.value, settings)


def _plans(found: Message) -> list[tuple[str, RecordPlan]]:
    sides = (("key", found.key), ("value", found.value))
    return [(part, side.plan) for part, side in sides if isinstance(side, Datums)]


def _sides(message: Message) -> dict[str, EventPart]:
    """Return which side of the row the record of a part is: of a delete the row before."""
    row = message.value
    if not isinstance(row, Datums):
        return {"key": "before"}
    is_delete = read_extension(row.plan, row.values).op == "delete"
    return {"value": "before" if is_delete else "after"}


def _subject(
    span: Span,
    fields: dict[str, FieldPlan],
    paths: set[Path],
    side: EventPart | None,
    has_key_names: bool,
) -> Subject | None:
    """Return what a span shows. ``side``: of the row that its part is; None: it is not the row."""
    match span.path:
        case ("schema_id",):
            names: tuple[EventPart, ...] = ("schema", "table") if side is not None else ()
            return Subject(0, (*names, "key") if has_key_names else names)
        case (str(name), *_) if name in fields and fields[name].is_extension:
            return _EXTENSION.get(name)
        case (str(name), *rest) if name in fields and fields[name].inner is not None:
            return _column(("before",), (name,), rest, paths)
        case (str(name), *rest) if name in fields:
            return None if side is None else _column((side,), (), [name, *rest], paths)
        case ("kind",):
            return Subject(0, _KIND_PARTS.get(span.value, ("kind",)))
        case (str(name),) if not fields and name in _PARTS:
            return Subject(0, _PARTS[name])
        case _:
            return None


def _column(
    parts: tuple[EventPart, ...], record: Path, steps: list[Step], paths: set[Path]
) -> Subject | None:
    """Return the subject of a column's value; of a list or map each of its spans shows it."""
    if not steps or steps == ["branch"]:
        return Subject(0, parts)
    is_whole = len(steps) == 1 or (*record, steps[0]) not in paths
    return Subject(0, parts, str(steps[0])) if is_whole else None


def _named(span: Span, fields: dict[str, FieldPlan], settings: Settings) -> Span:
    """Return the span with its part prepended to its path, and what its value means."""
    text, note = span.text, span.note
    match span.path:
        case (*_, "branch") if span.clause == UNION:
            text = f"branch {text}"
        case (*_, "block") if span.clause == LENGTHS:
            text = f"{text} items"
        case ("kind",) if isinstance(span.value, int):
            text = f"{text} ({_KINDS[span.value]})"
        case (str() as name, *rest) if name in fields:
            field = fields[name]
            if field.inner is not None and rest:
                inner = {each.name: each for each in field.inner.fields}
                field, rest = inner.get(str(rest[0]), field), rest[1:]
            if not rest and field.is_extension:
                text = _extension_text(name, span)
            elif field.source is not None and field.clause == UNKNOWN:
                note = f"tidb_type {field.source!r:.40} is not known: the Avro value is kept"
            elif not rest and span.clause == field.clause:
                text = _value_text(span, field, settings)
    return replace(span, path=(span.part, *span.path), text=text, note=note)


def _extension_text(name: str, span: Span) -> str:
    if name == OP_FIELD and span.value in _OPS:
        return f"{span.text} ({_OPS[str(span.value)]})"
    if name == COMMIT_TS_FIELD and isinstance(span.value, int):
        return f"{span.text} ({ms_of_tso(span.value)} ms)"
    return span.text


def _value_text(span: Span, field: FieldPlan, settings: Settings) -> str:
    """Return the text of a value whose bytes are not the value itself."""
    if field.form is Form.UINT64_LONG and isinstance(span.value, int):
        return str(unwrapped(span.value)) if settings.unsigned_wrap else span.text
    if field.form in (Form.DECIMAL_BYTES, Form.BIT) and isinstance(span.value, bytes):
        return f"{model_value(field, span.value)} ({span.text})"
    return span.text


def _rest(reader: RecordingReader, error: DecodeError) -> Iterator[Span]:
    """Yield what was read of the field that the error is in."""
    start = max((span.end for span in reader.spans), default=0)
    if start < error.offset:
        text = "read up to the error"
        yield Span(error.path, start, error.offset, text, error.clause, reader.part)


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
