"""Avro bytes explained: every byte with its field, its value and its clause.

Spans carry the names of the fields, which come from the schema; without it (an unknown id) nothing
after the envelope can be explained.
"""

from __future__ import annotations

from dataclasses import replace

from cdcwire.core.errors import DecodeError, Path, Step
from cdcwire.core.format import NO_CONTEXT, Context, Explanation
from cdcwire.core.message import KafkaMessage, StoredFile, expect_kafka
from cdcwire.core.reader import EventPart, RecordingReader, Span, Subject
from cdcwire.formats.avro.binary import LENGTHS, UNION
from cdcwire.formats.avro.checksum import verify_checksum
from cdcwire.formats.avro.extension import read_extension
from cdcwire.formats.avro.message import Datums, Message
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
from cdcwire.formats.avro.sources import KnownSchemas
from cdcwire.formats.avro.values import model_value, unwrapped
from cdcwire.formats.avro.wire import read_message
from cdcwire.model.tso import ms_of_tso

UNKNOWN = "avro: unknown types"
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


def explain(message: KafkaMessage | StoredFile, *, context: Context = NO_CONTEXT) -> Explanation:
    """Return the spans of every byte of key and value.

    On broken bytes: the spans up to the place of the error, and the error.
    """
    settings = read_settings(context)
    try:
        kafka = expect_kafka(message, "avro: messages")
    except DecodeError as caught:
        return Explanation((), caught)
    source = KnownSchemas(context.schemas)
    key = None if kafka.key is None else RecordingReader(kafka.key, part="key")
    value = None if kafka.value is None else RecordingReader(kafka.value, part="value")
    error: DecodeError | None = None
    plans: dict[str, RecordPlan] = {}
    sides: dict[str, EventPart] = {}
    warnings: tuple[str, ...] = ()
    try:
        found = read_message(key, value, source, settings)
    except DecodeError as caught:
        error = caught
    else:
        for part, side in (("key", found.key), ("value", found.value)):
            if isinstance(side, Datums):
                plans[part] = side.plan
        sides = _sides(found)
        warnings = _warnings(plans, found.value, settings)
    spans: list[Span] = []
    for part, reader in (("key", key), ("value", value)):
        if reader is not None:
            fields = {field.name: field for field in plans[part].fields} if part in plans else {}
            has_names = key is None or part == "key"
            paths = {span.path for span in reader.spans}
            for span in reader.spans:
                subject = _subject(span, fields, paths, sides.get(part), has_names)
                spans.append(_named(replace(span, subject=subject), fields, settings))
    if error is not None and error.path[:1] in (("key",), ("value",)):
        spans += _rest(spans, error)
    return Explanation(tuple(spans), error, warnings)


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
