"""Blob bytes explained: every byte of a record with its field, its value and its clause.

A body is explained as far as its records; each of those is one span, for it is separate JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.explanation import json_text, unread_key
from cdcwire.core.json_record import extra, part
from cdcwire.core.json_strings import read_base64
from cdcwire.core.message import Message
from cdcwire.core.reader import Span, Subject
from cdcwire.core.strict_json import JsonArray, JsonObject, JsonValue, read_json
from cdcwire.datahub.carrying import queued
from cdcwire.datahub.explain import (
    NOT_KNOWN,
    Describe,
    Described,
    body_spans,
    json_spans,
)
from cdcwire.datahub.ops import CLAUSE as CLAUSE_OPS
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
)
from cdcwire.formats.datahub_blob.settings import read_settings
from cdcwire.formats.datahub_blob.wire import CLAUSE_VERSION, read_record
from cdcwire.model.events import Path

_UNKNOWN = "datahub-blob: unknown members"
# By the path of a member, * for each index: its clause, and the part of the event that it shows.
_MEMBERS: dict[Path, tuple[str, Subject | None]] = {
    ("schema",): (CLAUSE_MEMBERS, None),
    ("schema", "dataColumn"): (CLAUSE_COLUMNS, None),
    ("schema", "dataColumn", "*"): (CLAUSE_COLUMNS, None),
    ("schema", "dataColumn", "*", "name"): (CLAUSE_COLUMNS, None),
    ("schema", "dataColumn", "*", "type"): (CLAUSE_COLUMNS, None),
    ("schema", "primaryKey"): (CLAUSE_KEY, part("key")),
    ("schema", "primaryKey", "*"): (CLAUSE_KEY, None),
    ("schema", "source"): (CLAUSE_SOURCE, None),
    ("schema", "source", "dbName"): (CLAUSE_SOURCE, part("schema", "database")),
    ("schema", "source", "dbType"): (CLAUSE_SOURCE, extra("db_type")),
    ("schema", "source", "dbVersion"): (CLAUSE_SOURCE, extra("db_version")),
    ("schema", "source", "schemaName"): (CLAUSE_SOURCE, part("schema")),
    ("schema", "source", "tableName"): (CLAUSE_SOURCE, part("table")),
    ("payload",): (CLAUSE_MEMBERS, None),
    ("payload", "op"): (CLAUSE_OPS, part("kind", "op", "half", "what")),
    ("payload", "before"): (CLAUSE_IMAGES, part("before")),
    ("payload", "before", "dataColumn"): (CLAUSE_IMAGES, part("before")),
    ("payload", "after"): (CLAUSE_IMAGES, part("after")),
    ("payload", "after", "dataColumn"): (CLAUSE_IMAGES, part("after")),
    ("payload", "sequenceId"): (CLAUSE_SEQUENCE, part("sequence_id")),
    ("payload", "timestamp"): (CLAUSE_TIMES, None),
    ("payload", "timestamp", "eventTime"): (CLAUSE_TIMES, part("commit_ms")),
    ("payload", "timestamp", "systemTime"): (CLAUSE_TIMES, part("sent_ms")),
    ("payload", "timestamp", "checkpointTime"): (CLAUSE_TIMES, extra("checkpoint_ms")),
    ("payload", "ddl"): (CLAUSE_DDL, None),
    ("payload", "ddl", "text"): (CLAUSE_DDL, part("query")),
    ("payload", "ddl", "ddlMeta"): (CLAUSE_META, extra("ddl_meta")),
    ("version",): (CLAUSE_VERSION, extra("version")),
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
        case ("schema", "source", "dbName") if has_schema_name:
            return part("database")
        case _:
            return _MEMBERS.get(path, (_UNKNOWN, None))[1]


def _describer(value: bytes) -> Describe:
    types = _types(value)

    def describe(path: Path, found: JsonValue) -> Described:
        if not path:
            return CLAUSE_MEMBERS, "message", ""
        match path:
            case ("payload", "before" | "after", "dataColumn", str(column)):
                return _cell(types.get(column), found)
            case ("payload", "op") if isinstance(found, str) and found in OPS:
                return CLAUSE_OPS, f"{found} ({OPS[found].group})", ""
            case ("payload", "ddl", "ddlMeta") if isinstance(found, str):
                return CLAUSE_META, f"a Java stream, {len(found)} characters of base64", ""
            case _:
                known = _MEMBERS.get(tuple("*" if isinstance(each, int) else each for each in path))
                return (_UNKNOWN, None, NOT_KNOWN) if known is None else (known[0], None, "")

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
