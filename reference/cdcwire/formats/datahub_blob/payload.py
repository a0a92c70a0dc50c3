"""The member ``payload``: op, images, sequence id, statement and times.

The statement's text in ``ddlMeta``, a serialised Java object of the parsed statement, is read
within bounds. Nothing is executed, and no class is made. The tree after the text stays bytes.
Source: datahub-blob, "row images", "sequence ids", "timestamps", "ddl", "ddlMeta".
"""

from __future__ import annotations

import re

from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.json_strings import read_base64, write_base64
from cdcwire.core.reader import Reader
from cdcwire.core.strict_json import JsonObject, Member, json_kind
from cdcwire.datahub.fields import is_unicode
from cdcwire.datahub.ops import Op
from cdcwire.datahub.streamx import (
    BlobColumn,
    BlobMessage,
    BlobValue,
    Cells,
    Ddl,
    StreamXType,
    check_value,
    read_value,
)
from cdcwire.formats.datahub_blob.members import Members, inner, integer_of, text_of
from cdcwire.model.events import Path

CLAUSE_META = "datahub-blob: ddlMeta"
CLASS_NAME = "com.alibaba.di.plugin.center.meta.DDLMeta"
TEXT_MEMBER = "ddlText"
JAVA_STREAM = b"\xac\xed\x00\x05"  # magic and version of a Java Object Serialization stream
_TC_NULL, _TC_CLASSDESC, _TC_OBJECT, _TC_STRING = 0x70, 0x72, 0x73, 0x74
_TC_END, _TC_LONGSTRING = 0x78, 0x7C
_OF_OBJECTS = bytes((_TC_OBJECT, _TC_CLASSDESC))
_SERIALIZABLE = 0x02
_PRIMITIVES = frozenset(b"BCDFIJSZ")
CLAUSE_IMAGES = "datahub-blob: row images"
CLAUSE_SEQUENCE = "datahub-blob: sequence ids"
CLAUSE_TIMES = "datahub-blob: timestamps"
CLAUSE_DDL = "datahub-blob: ddl"
MAX_TIME = 9999999999999  # 13 digits
MAX_SEQUENCE_DIGITS = 38
_SEQUENCE_ID = re.compile(r"[0-9]+")


class DdlTextMismatchError(DecodeError):
    """The text in the object is not the text of the message."""

    def __init__(self, text: str, meta_text: str, offset: int = 0, path: Path = ()) -> None:
        problem = f"the statement in ddlMeta is {meta_text!r:.80}, but text is {text!r:.80}"
        super().__init__(problem, offset, CLAUSE_META, path)
        self.text = text
        self.meta_text = meta_text

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.text, self.meta_text, self.offset, self.path)


def check_ddl_text(text: str, meta: bytes) -> None:
    """Check the statement in a Java stream; an object of another class stays bytes.

    Raises: DecodeError, with an offset in ``meta``; DdlTextMismatchError.
    """
    found = ddl_text_of(meta)
    if found not in (None, text):
        raise DdlTextMismatchError(text, found or "")


def ddl_text_of(meta: bytes) -> str | None:
    """Return the statement in a Java stream; None if its class is not DDLMeta.

    Raises: DecodeError.
    """
    reader = Reader(meta)
    if reader.take(len(JAVA_STREAM), CLAUSE_META) != JAVA_STREAM:
        raise DecodeError("not a Java stream, which begins with AC ED 00 05", 0, CLAUSE_META)
    if reader.take(min(len(_OF_OBJECTS), reader.left), CLAUSE_META) != _OF_OBJECTS:
        return None
    if _text(reader, 2) != CLASS_NAME:
        return None
    reader.take(8, CLAUSE_META)  # serialVersionUID
    _expect(reader, _SERIALIZABLE, "the flag of a serializable class")
    members = _members(reader)
    _expect(reader, _TC_END, "the end of the description")
    _expect(reader, _TC_NULL, "no superclass")
    return _value_of(reader, members, TEXT_MEMBER)


def _expect(reader: Reader, wanted: int, what: str) -> None:
    at = reader.offset
    found = reader.byte(CLAUSE_META)
    if found != wanted:
        raise DecodeError(f"byte {found:#04x} was found where {what} is expected", at, CLAUSE_META)


def _members(reader: Reader) -> list[tuple[int, str]]:
    """Return the type codes and names of a class's members, in the order of their values."""
    count = int.from_bytes(reader.take(2, CLAUSE_META), "big")
    members = []
    for _ in range(count):
        at = reader.offset
        code = reader.byte(CLAUSE_META)
        name = _text(reader, 2)
        if code in b"L[":
            if reader.byte(CLAUSE_META) == _TC_STRING:
                _text(reader, 2)
            else:
                raise DecodeError("a member's class is not text", at, CLAUSE_META, (name,))
        elif code not in _PRIMITIVES:
            raise DecodeError(f"{code:#04x} is not a type of a member", at, CLAUSE_META, (name,))
        members.append((code, name))
    return members


def _value_of(reader: Reader, members: list[tuple[int, str]], wanted: str) -> str:
    sizes = {
        ord(code): size for code, size in zip("BCDFIJSZ", (1, 2, 8, 4, 4, 8, 2, 1), strict=True)
    }
    for code, name in members:
        if name == wanted and code == ord("L"):
            at = reader.offset
            kind = reader.byte(CLAUSE_META)
            if kind in (_TC_STRING, _TC_LONGSTRING):
                return _text(reader, 2 if kind == _TC_STRING else 8)
            raise DecodeError(f"{wanted} is not text", at, CLAUSE_META, (wanted,))
        if code not in sizes:
            break  # an object in front of the text would have to be read whole
        reader.take(sizes[code], CLAUSE_META)
    raise DecodeError(f"{wanted} is missing before the first object", reader.offset, CLAUSE_META)


def _text(reader: Reader, size_bytes: int) -> str:
    size = int.from_bytes(reader.take(size_bytes, CLAUSE_META), "big")
    at = reader.offset
    return modified_utf8(reader.take(size, CLAUSE_META), at)


def modified_utf8(raw: bytes, offset: int = 0) -> str:
    """Return Java's text: NUL is C0 80, a character beyond the BMP a pair of surrogates.

    Raises: DecodeError.
    """
    if any(byte >= 0xF0 or byte == 0 for byte in raw):
        raise DecodeError("not modified UTF-8: a byte is 0 or at least 0xf0", offset, CLAUSE_META)
    try:
        units = raw.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
        return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError as error:
        raise DecodeError("not modified UTF-8", offset, CLAUSE_META) from error


def read_image(
    payload: Members,
    name: str,
    op: Op,
    columns: tuple[BlobColumn, ...] | None,
    date_digits: int,
) -> Cells | None:
    """Return the image ``before`` or ``after``, as the op has one. Raises: DecodeError."""
    if not (op.has_before if name == "before" else op.has_after):
        payload.refuse(name, CLAUSE_IMAGES, f"{op.name} has no {name}")
        return None
    member = payload.need(name, CLAUSE_IMAGES)
    members = inner(member, CLAUSE_IMAGES)
    types: dict[str, StreamXType] = {column.name: column.type for column in columns or ()}
    with step(name):
        cells = members.need("dataColumn", CLAUSE_IMAGES)
        with step("dataColumn"):
            if not isinstance(cells.value, JsonObject):
                problem = f"an object is expected, not {json_kind(cells.value)}"
                raise DecodeError(problem, cells.start, CLAUSE_IMAGES)
            if not cells.value.members:
                raise DecodeError("an image without a column", cells.start, CLAUSE_IMAGES)
            return tuple(
                (each.name, _read_cell(each, types, date_digits)) for each in cells.value.members
            )


def _read_cell(cell: Member, types: dict[str, StreamXType], date_digits: int) -> BlobValue:
    type_ = types.get(cell.name)
    try:
        if type_ is None:
            raise DecodeError("the column is not declared", cell.name_start, CLAUSE_IMAGES)
        return read_value(type_, cell.value, cell.start, date_digits)
    except DecodeError as error:
        error.path = (cell.name, *error.path)
        raise


def read_sequence_id(payload: Members, op: Op) -> str | None:
    """Return the digits, None for a heartbeat without them. Raises: DecodeError."""
    member = payload.get("sequenceId")
    if member is None:
        if op.group != "heartbeat":
            payload.need("sequenceId", CLAUSE_SEQUENCE)
        return None
    digits = text_of(member, CLAUSE_SEQUENCE)
    problem = sequence_problem(digits)
    if problem:
        raise DecodeError(problem, member.start, CLAUSE_SEQUENCE, ("sequenceId",))
    return digits


def sequence_problem(digits: str) -> str:
    """Return what is wrong with a sequence id, "" if nothing is."""
    if len(digits) > MAX_SEQUENCE_DIGITS:
        return f"a sequence id of {len(digits)} characters; {MAX_SEQUENCE_DIGITS} digits are read"
    return "" if _SEQUENCE_ID.fullmatch(digits) else f"{digits!r} is not a sequence id: digits only"


def read_times(payload: Members) -> tuple[int, int | None, int | None]:
    """Return event, system and checkpoint time. Raises: DecodeError."""
    times = inner(payload.need("timestamp", CLAUSE_TIMES), CLAUSE_TIMES)
    with step("timestamp"):
        event = integer_of(times.need("eventTime", CLAUSE_TIMES), 0, MAX_TIME, CLAUSE_TIMES)
        return event, _time(times, "systemTime"), _time(times, "checkpointTime")


def _time(times: Members, name: str) -> int | None:
    member = times.get(name)
    return None if member is None else integer_of(member, 0, MAX_TIME, CLAUSE_TIMES)


def read_ddl(payload: Members, op: Op) -> Ddl | None:
    """Return the statement of a DDL. Raises: DecodeError."""
    if op.group != "ddl":
        payload.refuse("ddl", CLAUSE_DDL, f"{op.name} has no ddl")
        return None
    members = inner(payload.need("ddl", CLAUSE_DDL), CLAUSE_DDL)
    with step("ddl"):
        member = members.need("text", CLAUSE_DDL)
        text = text_of(member, CLAUSE_DDL)
        if not text:
            raise DecodeError("the statement is empty", member.start, CLAUSE_DDL, ("text",))
        found = members.get("ddlMeta")
        if found is None:
            return Ddl(text)
        with step("ddlMeta"):
            if not isinstance(found.value, str):
                problem = f"text is expected, not {json_kind(found.value)}"
                raise DecodeError(problem, found.start, CLAUSE_META)
            meta = read_base64(found.value, found.start, CLAUSE_META)
            try:
                check_ddl_text(text, meta)
            except DecodeError as error:
                error.offset = found.start
                raise
    return Ddl(text, meta)


def payload_of(message: BlobMessage, op: Op) -> dict[str, object]:
    """Return the member as it is written. Raises: EncodeError."""
    found: dict[str, object] = {"op": op.name}
    for name, cells, is_needed in (
        ("before", message.before, op.has_before),
        ("after", message.after, op.has_after),
    ):
        if (cells is not None) != is_needed:
            problem = f"{op.name} {'needs' if is_needed else 'has no'} {name}"
            raise EncodeError(problem, CLAUSE_IMAGES, (name,))
        if cells is not None:
            found[name] = {"dataColumn": _image(cells, message, name)}
    if message.sequence_id is not None:
        problem = sequence_problem(message.sequence_id)
        if problem:
            raise EncodeError(problem, CLAUSE_SEQUENCE, ("sequenceId",))
        found["sequenceId"] = message.sequence_id
    elif op.group != "heartbeat":
        raise EncodeError(f"{op.name} needs a sequence id", CLAUSE_SEQUENCE, ("sequenceId",))
    if message.ddl is not None or op.group == "ddl":
        found["ddl"] = _ddl(message.ddl, op)
    found["timestamp"] = _times(message)
    return found


def _image(cells: Cells, message: BlobMessage, name: str) -> dict[str, object]:
    path: Path = (name, "dataColumn")
    types: dict[str, StreamXType] = {c.name: c.type for c in message.columns or ()}
    if not cells:
        raise EncodeError("an image without a column", CLAUSE_IMAGES, path)
    found: dict[str, object] = {}
    for column, value in cells:
        with step(*path, column):
            if column not in types:
                raise EncodeError("the column is not declared", CLAUSE_IMAGES)
            if column in found:
                raise EncodeError("the column is duplicated", CLAUSE_IMAGES)
            check_value(types[column], value)
        found[column] = write_base64(value) if isinstance(value, bytes) else value
    return found


def _ddl(ddl: Ddl | None, op: Op) -> dict[str, object]:
    if op.group != "ddl":
        raise EncodeError(f"{op.name} has no ddl", CLAUSE_DDL, ("ddl",))
    if ddl is None or not ddl.text or not is_unicode(ddl.text):
        raise EncodeError(f"{op.name} needs its statement", CLAUSE_DDL, ("ddl", "text"))
    found: dict[str, object] = {"text": ddl.text}
    if ddl.meta is not None:
        try:
            check_ddl_text(ddl.text, ddl.meta)
        except DecodeError as error:
            raise EncodeError(error.problem, CLAUSE_META, ("ddl", "ddlMeta")) from None
        found["ddlMeta"] = write_base64(ddl.meta)
    return found


def _times(message: BlobMessage) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in (
        ("eventTime", message.event_time),
        ("systemTime", message.system_time),
        ("checkpointTime", message.checkpoint_time),
    ):
        if value is not None:
            if isinstance(value, bool) or not 0 <= value <= MAX_TIME:
                problem = f"{value} is not a time of 13 digits"
                raise EncodeError(problem, CLAUSE_TIMES, ("timestamp", name))
            found[name] = value
    return found
