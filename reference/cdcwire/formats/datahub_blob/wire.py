"""A Blob message as bytes, both ways, without loss: JSON in UTF-8, one object per record.

Order of checks: the text, then op, schema and payload, then version. Unknown members are ignored.
The writer uses no spaces, keeps non-ASCII as it is, and leaves out unset members.
Source: datahub-blob, "members", "canonical form".
"""

from __future__ import annotations

import json
import re

from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.strict_json import Document, read_json
from cdcwire.datahub.ops import CLAUSE as CLAUSE_OPS
from cdcwire.datahub.ops import OPS, find_op
from cdcwire.datahub.streamx import BlobMessage
from cdcwire.formats.datahub_blob.members import (
    CLAUSE_MEMBERS,
    RULES,
    inner,
    members_of,
    text_of,
)
from cdcwire.formats.datahub_blob.payload import (
    payload_of,
    read_ddl,
    read_image,
    read_sequence_id,
    read_times,
)
from cdcwire.formats.datahub_blob.schema_part import (
    read_columns,
    read_primary_key,
    read_source,
    schema_of,
)
from cdcwire.formats.datahub_blob.settings import Settings, read_settings

CLAUSE_RECORDS = "datahub-blob: records"
CLAUSE_VERSION = "datahub-blob: version"
_VERSION = re.compile(r"[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}")


def decode(
    value: bytes | None, *, key: bytes | None = None, context: Context = NO_CONTEXT
) -> BlobMessage:
    """Return the message of a record. ``key`` is ignored. Raises: DecodeError, OptionError."""
    return read_record(value or b"", read_settings(context))


def read_record(value: bytes, settings: Settings) -> BlobMessage:
    """Return the message of a record. Raises: DecodeError."""
    return message_of(read_json(value, RULES), settings)


def message_of(document: Document, settings: Settings) -> BlobMessage:
    """Return the message that a text holds. Raises: DecodeError."""
    top = members_of(document.value, document.start, document.end, CLAUSE_MEMBERS)
    if "Records" in top.found and top.get("payload") is None:
        problem = "a body with records where one record is expected: the option encoding says which"
        raise DecodeError(problem, document.start, CLAUSE_RECORDS)
    payload = inner(top.need("payload", CLAUSE_MEMBERS), CLAUSE_MEMBERS)
    with step("payload"):
        member = payload.need("op", CLAUSE_OPS)
        name = text_of(member, CLAUSE_OPS)
        with step("op"):
            op = find_op(name, member.start, is_lenient=settings.lenient_ops)
    schema = inner(top.need("schema", CLAUSE_MEMBERS), CLAUSE_MEMBERS)
    with step("schema"):
        columns = read_columns(schema, op)
        source = read_source(schema, op)
        primary_key = read_primary_key(schema, columns)
        if primary_key and op.group in ("marker", "heartbeat"):
            at = schema.found["primaryKey"].start
            problem = f"{op.name} has no primary key"
            raise DecodeError(problem, at, "datahub-blob: primary key", ("primaryKey",))
    with step("payload"):
        before = read_image(payload, "before", op, columns, settings.date_digits)
        after = read_image(payload, "after", op, columns, settings.date_digits)
        sequence_id = read_sequence_id(payload, op)
        ddl = read_ddl(payload, op)
        event_time, system_time, checkpoint_time = read_times(payload)
    member = top.need("version", CLAUSE_VERSION)
    version = text_of(member, CLAUSE_VERSION)
    if not _VERSION.fullmatch(version):
        problem = f"{version!r:.40} is not a version: three numbers with points between"
        raise DecodeError(problem, member.start, CLAUSE_VERSION, ("version",))
    return BlobMessage(
        op.name,
        event_time,
        sequence_id,
        columns,
        source,
        primary_key,
        before,
        after,
        ddl,
        system_time,
        checkpoint_time,
        version,
    )


def encode(message: BlobMessage, *, context: Context = NO_CONTEXT) -> bytes:
    """Return the message as the reference writer has it. Raises: EncodeError.

    ``context`` is ignored: the values say all that the bytes depend on.
    """
    op = OPS.get(message.op)
    if op is None:
        raise EncodeError(f"the op {message.op!r:.60} is not defined", CLAUSE_OPS, ("op",))
    with step("schema"):
        schema = schema_of(message, op)
    with step("payload"):
        payload = payload_of(message, op)
    if not _VERSION.fullmatch(message.version):
        problem = f"{message.version!r:.40} is not a version: three numbers with points between"
        raise EncodeError(problem, CLAUSE_VERSION, ("version",))
    document = {"schema": schema, "payload": payload, "version": message.version}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
