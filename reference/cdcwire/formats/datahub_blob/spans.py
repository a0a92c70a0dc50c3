"""Blob bytes explained: every byte of a record with its field, its value and its clause.

A body is explained as far as its records; each of those is one span, for it is separate JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from cdcwire.core.base64_text import read_base64
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message
from cdcwire.core.reader import Span, Subject
from cdcwire.core.spans import json_text, unread_key
from cdcwire.core.strict_json import JsonArray, JsonObject, JsonValue, read_json
from cdcwire.datahub.carrying import queued
from cdcwire.datahub.explain import (
    NOT_KNOWN,
    Describe,
    Described,
    body_spans,
    json_spans,
)
from cdcwire.datahub.ops import OPS
from cdcwire.datahub.records import CLAUSE_RECORDS
from cdcwire.datahub.streamx import CLAUSES, StreamXType, streamx_type
from cdcwire.formats.datahub_blob.batching import is_record
from cdcwire.formats.datahub_blob.members import CLAUSE_MEMBERS, RULES
from cdcwire.formats.datahub_blob.payload import (
    CLAUSE_DDL,
    CLAUSE_IMAGES,
    CLAUSE_META,
    CLAUSE_SEQUENCE,
    CLAUSE_TIMES,
)
from cdcwire.formats.datahub_blob.schema_part import (
    CLAUSE_COLUMNS,
    CLAUSE_KEY,
    CLAUSE_SOURCE,
    SOURCE_MEMBERS,
)
from cdcwire.formats.datahub_blob.settings import read_settings
from cdcwire.formats.datahub_blob.wire import CLAUSE_VERSION, read_record
from cdcwire.model.paths import Path

_CLAUSES: dict[str, str] = {
    "schema": CLAUSE_MEMBERS,
    "schema.dataColumn": CLAUSE_COLUMNS,
    "schema.dataColumn.*": CLAUSE_COLUMNS,
    "schema.dataColumn.*.name": CLAUSE_COLUMNS,
    "schema.dataColumn.*.type": CLAUSE_COLUMNS,
    "schema.primaryKey": CLAUSE_KEY,
    "schema.primaryKey.*": CLAUSE_KEY,
    "schema.source": CLAUSE_SOURCE,
    **{f"schema.source.{name}": CLAUSE_SOURCE for name, _ in SOURCE_MEMBERS},
    "payload": CLAUSE_MEMBERS,
    "payload.op": "datahub-blob: ops",
    "payload.before": CLAUSE_IMAGES,
    "payload.before.dataColumn": CLAUSE_IMAGES,
    "payload.after": CLAUSE_IMAGES,
    "payload.after.dataColumn": CLAUSE_IMAGES,
    "payload.sequenceId": CLAUSE_SEQUENCE,
    "payload.timestamp": CLAUSE_TIMES,
    "payload.timestamp.eventTime": CLAUSE_TIMES,
    "payload.timestamp.systemTime": CLAUSE_TIMES,
    "payload.timestamp.checkpointTime": CLAUSE_TIMES,
    "payload.ddl": CLAUSE_DDL,
    "payload.ddl.text": CLAUSE_DDL,
    "payload.ddl.ddlMeta": CLAUSE_META,
    "version": CLAUSE_VERSION,
}
_SUBJECTS: dict[Path, Subject] = {
    ("payload", "op"): Subject(0, ("kind", "op", "half", "what")),
    ("payload", "sequenceId"): Subject(0, ("sequence_id",)),
    ("payload", "timestamp", "eventTime"): Subject(0, ("commit_ms",)),
    ("payload", "timestamp", "systemTime"): Subject(0, ("sent_ms",)),
    ("payload", "timestamp", "checkpointTime"): Subject(0, ("extra",), "checkpoint_ms"),
    ("payload", "ddl", "text"): Subject(0, ("query",)),
    ("payload", "ddl", "ddlMeta"): Subject(0, ("extra",), "ddl_meta"),
    ("schema", "primaryKey"): Subject(0, ("key",)),
    ("schema", "source", "schemaName"): Subject(0, ("schema",)),
    ("schema", "source", "tableName"): Subject(0, ("table",)),
    ("schema", "source", "dbType"): Subject(0, ("extra",), "db_type"),
    ("schema", "source", "dbVersion"): Subject(0, ("extra",), "db_version"),
    ("version",): Subject(0, ("extra",), "version"),
}


def spans(message: Message, context: Context) -> Iterator[Span]:
    """Yield the spans of every byte of a message."""
    settings = read_settings(context)
    body = queued(message)
    yield from unread_key(body, CLAUSE_RECORDS)
    try:
        is_one = is_record(body, settings)
    except DecodeError:
        is_one = settings.encoding == "record"
    if not is_one:
        yield from body_spans(body, None, settings.body, lambda index, field: Subject(index))
        return
    value = body.value or b""
    has_schema_name = False
    with suppress(DecodeError):
        source = read_record(value, settings).source
        has_schema_name = source is not None and bool(source.schema_name)
    for span in json_spans(value, RULES, _describer(value)):
        yield replace(span, subject=_subject(span.path, has_schema_name))


def _subject(path: Path, has_schema_name: bool) -> Subject | None:
    match path:
        case ("payload", ("before" | "after") as side, "dataColumn", str(column)):
            return Subject(0, (side,), column)
        case ("payload", ("before" | "after") as side, *rest) if rest in ([], ["dataColumn"]):
            return Subject(0, (side,))
        case ("schema", "source", "dbName"):
            return Subject(0, ("database",) if has_schema_name else ("schema", "database"))
        case _:
            return _SUBJECTS.get(path)


def _describer(value: bytes) -> Describe:
    types = _types(value)

    def describe(path: Path, found: JsonValue) -> Described:
        if not path:
            return CLAUSE_MEMBERS, "message", ""
        name = ".".join("*" if isinstance(each, int) else each for each in path)
        match path:
            case ("payload", "before" | "after", "dataColumn", str(column)):
                return _cell(types.get(column), found)
            case ("payload", "op") if isinstance(found, str) and found in OPS:
                return _CLAUSES[name], f"{found} ({OPS[found].group})", ""
            case ("payload", "ddl", "ddlMeta") if isinstance(found, str):
                return CLAUSE_META, f"a Java stream, {len(found)} characters of base64", ""
            case _:
                pass
        clause = _CLAUSES.get(name)
        if clause is None:
            return "datahub-blob: unknown members", None, NOT_KNOWN
        return clause, None, ""

    return describe


def _cell(type_: StreamXType | None, found: JsonValue) -> Described:
    if type_ is None:
        return CLAUSE_IMAGES, None, "not declared"
    if found is None:
        return "datahub-blob: null values", None, ""
    text = json_text(found)
    if type_ == "BYTES" and isinstance(found, str):
        with suppress(DecodeError):  # shown as written; the decoder reports the error
            text = read_base64(found, 0, CLAUSES["BYTES"]).hex(" ") or "no bytes"
    return CLAUSES[type_], f"{text} ({type_})", ""


def _types(value: bytes) -> dict[str, StreamXType]:
    """Return the types of the declared columns, as far as they can be read."""
    types: dict[str, StreamXType] = {}
    try:
        found = read_json(value, RULES).value
    except DecodeError:
        return types
    for name in ("schema", "dataColumn"):
        member = found.get(name) if isinstance(found, JsonObject) else None
        found = None if member is None else member.value
    for item in found.items if isinstance(found, JsonArray) else ():
        members = item.by_name if isinstance(item, JsonObject) else {}
        column, written = (
            members[name].value if name in members else None for name in ("name", "type")
        )
        type_ = streamx_type(written) if isinstance(written, str) else None
        if isinstance(column, str) and type_ is not None:
            types[column] = type_
    return types
