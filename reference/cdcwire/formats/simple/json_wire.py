"""Messages in JSON: bytes to the wire's values, and back.

Members may come in any order, and unknown ones are ignored. They are written in the order of the
producer.
"""

from __future__ import annotations

import json
import re

from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.strict_json import JsonValue, Member, json_kind, read_json
from cdcwire.formats.simple.members import (
    BOOTSTRAPS,
    CHECKSUM,
    CLAIM_CHECK,
    DDL,
    FIELDS,
    HANDLE_KEY_ONLY,
    MEMBERS,
    ROWS,
    RULES,
    SCHEMA_VERSIONS,
    TYPES,
    signed,
)
from cdcwire.formats.simple.message import (
    BOOTSTRAP,
    DDL_TYPES,
    DELETE,
    DML_TYPES,
    INSERT,
    VERSION,
    WATERMARK,
    Bootstrap,
    Cell,
    CellValue,
    Checksum,
    Ddl,
    Dml,
    Message,
    Row,
    Timestamp,
    Watermark,
)
from cdcwire.formats.simple.table_schemas import read_schema, text, written_schema
from cdcwire.golang.json_text import json_string
from cdcwire.mysql.json_members import (
    INT64_END,
    UINT64_END,
    Members,
    expect_object,
    write_integer,
)

TIMESTAMPS = "simple: timestamp values"
VALUES = "simple: values"
REPLACEMENT = "\ufffd"
BAD_BYTE = "\udcff"  # Go escapes what stands for a bad byte, and writes a real U+FFFD as it is
_BAD_ESCAPES = {r"\ufffd": r"\udcff"}
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)")
_UINT32_END = 1 << 32


def read_message(data: bytes) -> Message:
    """Return the message that is all of ``data``. Raises: TruncatedError, DecodeError."""
    document = read_json(data, RULES)
    known = expect_object(document.value, document.start, FIELDS).by_name
    end = document.end
    version = MEMBERS.integer_of(MEMBERS.required(known, "version", end), 0, INT64_END)
    if version != VERSION:
        problem = f"version {version} is unknown; it must be {VERSION}"
        raise DecodeError(problem, known["version"].start, FIELDS, ("version",))
    member = MEMBERS.required(known, "type", end, TYPES)
    kind = MEMBERS.text_of(member, TYPES)
    commit_ts = _unsigned(MEMBERS.required(known, "commitTs", end))
    build_ts = signed(MEMBERS.required(known, "buildTs", end))
    if kind in DML_TYPES:
        return _read_row(kind, known, end, (commit_ts, build_ts), data)
    if kind == WATERMARK:
        return Watermark(commit_ts, build_ts)
    if kind == BOOTSTRAP:
        if commit_ts:
            problem = f"a table schema has commitTs {commit_ts}, not 0"
            raise DecodeError(problem, known["commitTs"].start, BOOTSTRAPS, ("commitTs",))
        schema = read_schema(MEMBERS.required(known, "tableSchema", end, BOOTSTRAPS))
        return Bootstrap(build_ts, schema)
    if kind not in DDL_TYPES:
        allowed = ", ".join((*DML_TYPES, *DDL_TYPES, BOOTSTRAP, WATERMARK))
        problem = f"type {kind!r:.40} is not one of {allowed}"
        raise DecodeError(problem, member.start, TYPES, ("type",))
    after, before = (
        read_schema(known[name]) if name in known else None
        for name in ("tableSchema", "preTableSchema")
    )
    sql = MEMBERS.text_of(MEMBERS.required(known, "sql", end, DDL), DDL)
    return Ddl(kind, sql, commit_ts, build_ts, after, before)


def _read_row(kind: str, known: Members, end: int, times: tuple[int, int], data: bytes) -> Dml:
    for name, other in (("data", DELETE), ("old", INSERT)):
        if kind == other and name in known:
            problem = f"the type {kind} has no {name}"
            raise DecodeError(problem, known[name].start, ROWS, (name,))
    version, location = known.get("schemaVersion"), known.get("claimCheckLocation")
    only_key = known.get("handleKeyOnly")
    message = Dml(
        kind,
        *times,
        database=MEMBERS.name_of(known["database"]) if "database" in known else "",
        table=MEMBERS.name_of(known["table"]) if "table" in known else "",
        table_id=signed(known["tableID"]) if "tableID" in known else 0,
        schema_version=0 if version is None else _unsigned(version, SCHEMA_VERSIONS),
        claim_check_location=None if location is None else MEMBERS.text_of(location, CLAIM_CHECK),
        handle_key_only=None if only_key is None else MEMBERS.flag_of(only_key, HANDLE_KEY_ONLY),
        checksum=_read_checksum(known["checksum"]) if "checksum" in known else None,
        data=_read_cells(known["data"], data) if "data" in known else None,
        old=_read_cells(known["old"], data) if "old" in known else None,
        offset=end - 1 if version is None else version.start,
    )
    missing = missing_side(message, may_be_empty=True)
    if missing:
        raise DecodeError(f"member {missing!r} is missing", end - 1, ROWS)
    return message


def missing_side(message: Dml, *, may_be_empty: bool) -> str | None:
    """Return the side that a row lacks although it is whole; None if it has all.

    A row that was cut to its key has no columns without a key. ``may_be_empty``: a row without
    columns has no side, as in JSON, where an empty one is left out.
    """
    if message.handle_key_only or message.claim_check_location:
        return None
    if may_be_empty and message.data is None and message.old is None:
        return None
    if message.type != DELETE and message.data is None:
        return "data"
    return "old" if message.type != INSERT and message.old is None else None


def _unsigned(member: Member, clause: str = FIELDS) -> int:
    return MEMBERS.integer_of(member, 0, UINT64_END, clause)


def _read_checksum(member: Member) -> Checksum:
    with step("checksum"):
        known = expect_object(member.value, member.start, CHECKSUM).by_name
        numbers = [
            MEMBERS.integer_of(
                MEMBERS.required(known, name, member.end, CHECKSUM), 0, _UINT32_END, CHECKSUM
            )
            for name in ("version", "current", "previous")
        ]
        corrupted = MEMBERS.required(known, "corrupted", member.end, CHECKSUM)
        return Checksum(numbers[0], MEMBERS.flag_of(corrupted, CHECKSUM), numbers[1], numbers[2])


def _read_cells(member: Member, data: bytes) -> Row:
    found = expect_object(member.value, member.start, ROWS, (member.name,))
    with step(member.name):
        return tuple(
            Cell(each.name, _read_value(each.value, each, data), each.start)
            for each in found.members
        )


def _read_value(value: JsonValue, member: Member, data: bytes) -> CellValue:
    if value is None or isinstance(value, str):
        is_replaced = value is not None and REPLACEMENT in value
        return _with_bad_bytes(data[member.start : member.end]) if is_replaced else value
    with step(member.name):
        problem = f"it is {json_kind(value)}, not a string"
        if isinstance(value, (bool, int)):
            raise DecodeError(problem, member.start, VALUES)
        known = expect_object(value, member.start, VALUES).by_name
        texts = [
            MEMBERS.text_of(MEMBERS.required(known, name, member.end, TIMESTAMPS), TIMESTAMPS)
            for name in ("location", "value")
        ]
        return Timestamp(*texts)


def _with_bad_bytes(raw: bytes) -> str:
    r"""Return a string in which each escape ``\ufffd``, the sign of a bad byte, is BAD_BYTE."""
    text = _ESCAPE.sub(lambda found: _BAD_ESCAPES.get(found[0].lower(), found[0]), raw.decode())
    found: str = json.loads(text)
    return found


def write_message(message: Message) -> bytes:
    """Return the JSON of a message. Raises: EncodeError."""
    members = [f'"version":{write_integer(message.version, VERSION, VERSION + 1, FIELDS)}']
    match message:
        case Dml():
            members += _written_row(message)
        case Watermark():
            members += [f'"type":"{WATERMARK}"', *_times(message.commit_ts, message.build_ts)]
        case Bootstrap():
            members += [f'"type":"{BOOTSTRAP}"', *_times(0, message.build_ts)]
            with step("tableSchema"):
                members.append(f'"tableSchema":{written_schema(message.table_schema)}')
        case Ddl():
            if message.type not in DDL_TYPES:
                problem = f"type {message.type!r:.40} is not one of {', '.join(DDL_TYPES)}"
                raise EncodeError(problem, TYPES, ("type",))
            with step("sql"):
                sql = text(message.sql)
            members += [f'"type":"{message.type}"', f'"sql":{sql}']
            members += _times(message.commit_ts, message.build_ts)
            schemas = (message.table_schema, message.pre_table_schema)
            for name, schema in zip(("tableSchema", "preTableSchema"), schemas, strict=True):
                if schema is not None:
                    with step(name):
                        members.append(f'"{name}":{written_schema(schema)}')
    return f"{{{','.join(members)}}}".encode()


def _times(commit_ts: int, build_ts: int) -> list[str]:
    with step("commitTs"):
        commit = write_integer(commit_ts, 0, UINT64_END, FIELDS)
    with step("buildTs"):
        build = write_integer(build_ts, -INT64_END, INT64_END, FIELDS)
    return [f'"commitTs":{commit}', f'"buildTs":{build}']


def check_row(message: Dml, *, may_be_empty: bool) -> None:
    """Raise EncodeError unless the type of a row has the sides that it must have."""
    if message.type not in DML_TYPES:
        problem = f"type {message.type!r:.40} is not one of {', '.join(DML_TYPES)}"
        raise EncodeError(problem, TYPES, ("type",))
    for name, value, other in (("data", message.data, DELETE), ("old", message.old, INSERT)):
        if value is not None and message.type == other:
            raise EncodeError(f"the type {other} has no {name}", ROWS, (name,))
    missing = missing_side(message, may_be_empty=may_be_empty)
    if missing:
        raise EncodeError(f"the type {message.type} needs {missing}", ROWS, (missing,))


def _written_row(message: Dml) -> list[str]:
    check_row(message, may_be_empty=True)
    members = []
    for name, value in (("database", message.database), ("table", message.table)):
        with step(name):
            MEMBERS.check_name(value)
        if value:
            members.append(f'"{name}":{text(value)}')
    if message.table_id:
        table_id = write_integer(message.table_id, -INT64_END, INT64_END, FIELDS)
        members.append(f'"tableID":{table_id}')
    members += [f'"type":"{message.type}"', *_times(message.commit_ts, message.build_ts)]
    if message.schema_version:
        version = write_integer(message.schema_version, 0, UINT64_END, SCHEMA_VERSIONS)
        members.append(f'"schemaVersion":{version}')
    if message.claim_check_location:
        members.append(f'"claimCheckLocation":{text(message.claim_check_location)}')
    if message.handle_key_only:
        members.append('"handleKeyOnly":true')
    if message.checksum is not None:
        members.append(f'"checksum":{_written_checksum(message.checksum)}')
    for name, row in (("data", message.data), ("old", message.old)):
        if row is not None:
            with step(name):
                members.append(f'"{name}":{{{",".join(map(_written_cell, row))}}}')
    return members


def _written_checksum(checksum: Checksum) -> str:
    with step("checksum"):
        version, current, previous = (
            write_integer(number, 0, _UINT32_END, CHECKSUM)
            for number in (checksum.version, checksum.current, checksum.previous)
        )
    corrupted = "true" if checksum.corrupted else "false"
    return (
        f'{{"version":{version},"corrupted":{corrupted},"current":{current},"previous":{previous}}}'
    )


def _written_cell(cell: Cell) -> str:
    with step(cell.name):
        MEMBERS.check_name(cell.name)
        match cell.value:
            case None:
                value = "null"
            case str():  # lone surrogates are bytes that are not UTF-8
                value = json_string(cell.value)
            case Timestamp(location, local):
                value = f'{{"location":{text(location)},"value":{text(local)}}}'
            case other:
                raise EncodeError(f"{other!r:.40} is not a value of JSON", VALUES)
        return f"{json_string(cell.name)}:{value}"
