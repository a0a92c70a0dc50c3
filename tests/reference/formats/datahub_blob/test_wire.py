"""Blob records as bytes: every op both ways, every rule broken once, every truncation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.datahub.ops import OPS, UnknownOpError
from cdcwire.formats.datahub_blob import (
    BlobColumn,
    BlobMessage,
    Ddl,
    Settings,
    Source,
    decode,
    encode,
)
from cdcwire.formats.datahub_blob.wire import read_record
from cdcwire.model.events import Path

TYPES = ("LONG", "DOUBLE", "BOOLEAN", "STRING", "BYTES", "DATE")
COLUMNS = tuple(BlobColumn(name.lower(), name) for name in TYPES)  # type: ignore[arg-type]
SOURCE = Source("db", "MySQL", "8.0", "s", "t")
CELLS = (
    ("long", (1 << 63) - 1),
    ("double", 0.1),
    ("boolean", False),
    ("string", "é\n😀"),
    ("bytes", b"\x00\xff"),
    ("date", 1590315269000),
)
DDL = Ddl("alter table t", b"\xac\xed\x00\x05\x70")


def message_of(name: str) -> BlobMessage:
    op = OPS[name]
    is_row, is_ddl = op.group == "row", op.group == "ddl"
    return BlobMessage(
        name,
        1605339932000,
        "007",
        COLUMNS if is_row else None,
        SOURCE if is_row or is_ddl else None,
        ("long",) if is_row else None,
        CELLS if op.has_before else None,
        CELLS if op.has_after else None,
        DDL if is_ddl else None,
        1,
        2,
        "1.0.0",
    )


@pytest.mark.parametrize("name", OPS)
def test_message_of_every_op_comes_back(name: str) -> None:
    message = message_of(name)
    raw = encode(message)
    assert decode(raw) == message
    assert encode(decode(raw)) == raw


@pytest.mark.parametrize("name", OPS)
def test_message_of_every_op_is_rejected_when_cut(name: str) -> None:
    raw = encode(message_of(name))
    for end in range(len(raw)):
        with pytest.raises(DecodeError) as caught:
            decode(raw[:end])
        assert caught.value.offset == end


def test_written_is_without_spaces_and_in_one_order() -> None:
    raw = encode(BlobMessage("INSERT", 1, "5", COLUMNS[3:4], Source("d", "x", None, None, "t"),
                             ("string",), None, (("string", "é"),)))  # fmt: skip
    assert raw.decode() == (
        '{"schema":{"dataColumn":[{"name":"string","type":"STRING"}],'
        '"source":{"dbName":"d","dbType":"x","tableName":"t"},"primaryKey":["string"]},'
        '"payload":{"op":"INSERT","after":{"dataColumn":{"string":"é"}},"sequenceId":"5",'
        '"timestamp":{"eventTime":1}},"version":"0.0.1"}'
    )


BASE: dict[str, Any] = json.loads(encode(message_of("UPDATE")))


def changed(path: str, value: object, base: dict[str, Any] = BASE) -> bytes:
    """Return a message with one member set; ``...`` removes it."""
    found: Any = json.loads(json.dumps(base))
    at = found
    *steps, last = [int(each) if each.isdigit() else each for each in path.split(".")]
    for each in steps:
        at = at[each]
    if value is ...:
        del at[last]
    else:
        at[last] = value
    return json.dumps(found, ensure_ascii=False).encode()


ALTER: dict[str, Any] = json.loads(encode(message_of("ALTER")))
BEGIN: dict[str, Any] = json.loads(encode(message_of("TRANSACTION_BEGIN")))
HEARTBEAT: dict[str, Any] = json.loads(encode(message_of("MHEARTBEAT")))
_B = "datahub-blob: "
BROKEN: tuple[tuple[str, object, dict[str, Any], str, Path | None], ...] = (
    ("schema", ..., BASE, "members", ("schema",)),
    ("schema", None, BASE, "members", ("schema",)),
    ("schema", [], BASE, "members", ("schema",)),
    ("payload", ..., BASE, "members", ("payload",)),
    ("payload", 1, BASE, "members", ("payload",)),
    ("version", ..., BASE, "version", ("version",)),
    ("version", 1, BASE, "version", ("version",)),
    ("version", "1.0", BASE, "version", ("version",)),
    ("version", "1.0.0 ", BASE, "version", ("version",)),
    ("payload.op", ..., BASE, "ops", ("payload", "op")),
    ("payload.op", "insert", BASE, "ops", ("payload", "op")),
    ("payload.op", "UPDATE_BEFORE", BASE, "ops", ("payload", "op")),
    ("payload.op", "", BASE, "ops", ("payload", "op")),
    ("payload.op", 1, BASE, "ops", ("payload", "op")),
    ("schema.dataColumn", ..., BASE, "columns", ("schema", "dataColumn")),
    ("schema.dataColumn", [], BASE, "columns", ("schema", "dataColumn")),
    ("schema.dataColumn", {}, BASE, "columns", ("schema", "dataColumn")),
    ("schema.dataColumn.0", 1, BASE, "columns", ("schema", "dataColumn", 0)),
    ("schema.dataColumn.0.name", ..., BASE, "columns", ("schema", "dataColumn", 0, "name")),
    ("schema.dataColumn.0.name", "", BASE, "columns", ("schema", "dataColumn", 0, "name")),
    ("schema.dataColumn.1.name", "long", BASE, "columns", ("schema", "dataColumn", 1)),
    ("schema.dataColumn.0.type", "long", BASE, "columns", ("schema", "dataColumn", 0, "type")),
    ("schema.dataColumn.0.type", "INT", BASE, "columns", ("schema", "dataColumn", 0, "type")),
    ("schema.dataColumn.0.type", None, BASE, "columns", ("schema", "dataColumn", 0, "type")),
    ("schema.primaryKey", "long", BASE, "primary key", ("schema", "primaryKey")),
    ("schema.primaryKey.0", "x", BASE, "primary key", ("schema", "primaryKey", 0)),
    ("schema.primaryKey.0", "", BASE, "primary key", ("schema", "primaryKey", 0)),
    ("schema.primaryKey.0", 1, BASE, "primary key", ("schema", "primaryKey", 0)),
    ("schema.primaryKey", ["long"] * 2, BASE, "primary key", ("schema", "primaryKey", 1)),
    ("schema.source", ..., BASE, "source", ("schema", "source")),
    ("schema.source.dbType", ..., BASE, "source", ("schema", "source", "dbType")),
    ("schema.source.dbName", None, BASE, "source", ("schema", "source", "dbName")),
    ("schema.source.tableName", 1, BASE, "source", ("schema", "source", "tableName")),
    ("schema.source.dbVersion", 1, BASE, "source", ("schema", "source", "dbVersion")),
    ("payload.before", ..., BASE, "row images", ("payload", "before")),
    ("payload.after", None, BASE, "row images", ("payload", "after")),
    ("payload.after", [], BASE, "row images", ("payload", "after")),
    ("payload.after.dataColumn", ..., BASE, "row images", ("payload", "after", "dataColumn")),
    ("payload.after.dataColumn", {}, BASE, "row images", ("payload", "after", "dataColumn")),
    ("payload.after.dataColumn", 1, BASE, "row images", ("payload", "after", "dataColumn")),
    (
        "payload.after.dataColumn.other",
        1,
        BASE,
        "row images",
        ("payload", "after", "dataColumn", "other"),
    ),
    ("payload.sequenceId", ..., BASE, "sequence ids", ("payload", "sequenceId")),
    ("payload.sequenceId", 1, BASE, "sequence ids", ("payload", "sequenceId")),
    ("payload.sequenceId", "", BASE, "sequence ids", ("payload", "sequenceId")),
    ("payload.sequenceId", "1a", BASE, "sequence ids", ("payload", "sequenceId")),
    ("payload.sequenceId", "-1", BASE, "sequence ids", ("payload", "sequenceId")),
    ("payload.sequenceId", "1" * 39, BASE, "sequence ids", ("payload", "sequenceId")),
    ("payload.timestamp", ..., BASE, "timestamps", ("payload", "timestamp")),
    ("payload.timestamp.eventTime", ..., BASE, "timestamps", ("payload", "timestamp", "eventTime")),
    ("payload.timestamp.eventTime", "1", BASE, "timestamps", ("payload", "timestamp", "eventTime")),
    ("payload.timestamp.eventTime", 1.5, BASE, "timestamps", ("payload", "timestamp", "eventTime")),
    ("payload.timestamp.eventTime", -1, BASE, "timestamps", ("payload", "timestamp", "eventTime")),
    (
        "payload.timestamp.systemTime",
        10**13,
        BASE,
        "timestamps",
        ("payload", "timestamp", "systemTime"),
    ),
    ("payload.ddl", {"text": "x"}, BASE, "ddl", ("payload", "ddl")),
    ("payload.ddl", ..., ALTER, "ddl", ("payload", "ddl")),
    ("payload.ddl", "x", ALTER, "ddl", ("payload", "ddl")),
    ("payload.ddl.text", ..., ALTER, "ddl", ("payload", "ddl", "text")),
    ("payload.ddl.text", "", ALTER, "ddl", ("payload", "ddl", "text")),
    ("payload.ddl.ddlMeta", 1, ALTER, "ddlMeta", ("payload", "ddl", "ddlMeta")),
    ("payload.ddl.ddlMeta", "rO0ABQ", ALTER, "ddlMeta", ("payload", "ddl", "ddlMeta")),
    ("payload.ddl.ddlMeta", "AAAA", ALTER, "ddlMeta", ("payload", "ddl", "ddlMeta")),
    ("payload.after", {"dataColumn": {"a": 1}}, ALTER, "row images", ("payload", "after")),
    ("schema.source.dbName", ..., ALTER, "source", ("schema", "source", "dbName")),
    ("payload.sequenceId", ..., BEGIN, "sequence ids", ("payload", "sequenceId")),
    ("payload.ddl", {"text": "x"}, BEGIN, "ddl", ("payload", "ddl")),
    ("payload.before", {"dataColumn": {}}, BEGIN, "row images", ("payload", "before")),
    ("schema.dataColumn", [{"name": "a", "type": "LONG"}], BEGIN, "columns", None),
    ("schema.primaryKey", ["a"], BEGIN, "primary key", None),
    ("payload.timestamp", ..., HEARTBEAT, "timestamps", ("payload", "timestamp")),
)


@pytest.mark.parametrize(("where", "value", "base", "clause", "path"), BROKEN)
def test_message_with_one_rule_broken_is_rejected(
    where: str, value: object, base: dict[str, Any], clause: str, path: Path | None
) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(changed(where, value, base))
    assert caught.value.clause == _B + clause
    if path is not None:
        assert caught.value.path == path


VALUES: tuple[tuple[str, str, str], ...] = (
    ("boolean", "1", "boolean values"),
    ("boolean", '"true"', "boolean values"),
    ("long", "1.0", "long values"),
    ("long", "1e3", "long values"),
    ("long", '"1"', "long values"),
    ("long", "true", "long values"),
    ("long", "9223372036854775808", "long values"),
    ("long", "-9223372036854775809", "long values"),
    ("long", "1" * 5000, "long values"),
    ("double", '"1"', "double values"),
    ("double", "1e400", "double values"),
    ("double", "-1e400", "double values"),
    ("double", "true", "double values"),
    ("double", "1" * 1025, "limits"),
    ("date", "1.5", "date values"),
    ("date", '"2020-01-01"', "date values"),
    ("date", "9223372036854775808", "date values"),
    ("bytes", "1", "bytes values"),
    ("bytes", '"AP8"', "bytes values"),
    ("bytes", '"AP8=\\n"', "bytes values"),
    ("bytes", '"AP_-"', "bytes values"),
    ("bytes", '"AP9="', "bytes values"),
    ("string", "1", "string values"),
    ("string", "{}", "string values"),
    ("string", '"\\ud800"', "json strings"),
)


def with_value(column: str, text: str) -> bytes:
    raw = changed(f"payload.after.dataColumn.{column}", "MARK").decode()
    return raw.replace('"MARK"', text).encode()


@pytest.mark.parametrize(("column", "text", "clause"), VALUES)
def test_value_that_is_not_of_its_type_is_rejected_at_its_byte(
    column: str, text: str, clause: str
) -> None:
    raw = with_value(column, text)
    with pytest.raises(DecodeError) as caught:
        decode(raw)
    assert caught.value.clause == _B + clause
    assert caught.value.path == ("payload", "after", "dataColumn", column)
    start = raw.index(b'"after"')
    assert caught.value.offset >= raw.index(text.encode(), start)


@pytest.mark.parametrize(
    ("column", "text", "value"),
    [
        ("boolean", "true", True),
        ("long", "-9223372036854775808", -(1 << 63)),
        ("long", "9007199254740993", 9007199254740993),
        ("double", "1", 1.0),
        ("double", "-0.0", -0.0),
        ("double", "1E300", 1e300),
        ("double", "1e-400", 0.0),
        ("date", "0", 0),
        ("date", "-1", -1),
        ("date", "15903152690001", 15903152690001),
        ("bytes", '""', b""),
        ("bytes", '"YQ\\u003d="', b"a"),
        ("string", '"\\u0000\\ud83d\\ude00"', "\0😀"),
        *((name.lower(), "null", None) for name in TYPES),
    ],
)
def test_value_is_read(column: str, text: str, value: object) -> None:
    found = dict(decode(with_value(column, text)).after or ())[column]
    assert (type(found), repr(found)) == (type(value), repr(value))


def test_column_that_is_missing_is_not_null() -> None:
    found = decode(changed("payload.after.dataColumn.string", ...))
    assert "string" not in dict(found.after or ())
    assert encode(found) == encode(decode(encode(found)))


@pytest.mark.parametrize(("text", "is_read"), [("1590315269000", True), ("1", False),
                                               ("-590315269000", False)])  # fmt: skip
def test_date_digits_are_checked_if_specified(text: str, is_read: bool) -> None:
    raw = with_value("date", text)
    decode(raw)
    raw = raw.replace(b"-5", b"5") if is_read else raw
    if is_read:
        read_record(raw, Settings(date_digits=13))
        return
    with pytest.raises(DecodeError) as caught:
        read_record(raw, Settings(date_digits=13))
    assert caught.value.clause == _B + "date values"


def test_other_spelling_is_read_if_specified() -> None:
    raw = encode(message_of("UPDATE_BEFOR")).replace(b"UPDATE_BEFOR", b"UPDATE_BEFORE")
    with pytest.raises(UnknownOpError) as caught:
        decode(raw)
    assert caught.value.op == "UPDATE_BEFORE"
    assert read_record(raw, Settings(lenient_ops=True)) == message_of("UPDATE_BEFOR")


@pytest.mark.parametrize("name", ["before", "ddl", "other"])
def test_null_and_unknown_members_are_passed_over(name: str) -> None:
    base = json.loads(encode(message_of("INSERT")))
    raw = changed(f"payload.{name}", None if name != "other" else {"deep": [1]}, base)
    assert decode(raw) == message_of("INSERT")


def test_query_may_have_an_empty_source() -> None:
    found = decode(changed("schema.source", {}, json.loads(encode(message_of("QUERY")))))
    assert found.source == Source()
    assert decode(encode(found)) == found


@pytest.mark.parametrize(
    "raw",
    [b"", b"\xef\xbb\xbf{}", b"[]", b"{} {}", b"{", b"null", b"\xff", b"[" * 100, b"1" * 9999],
)
def test_invalid_bytes_are_rejected(raw: bytes) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(raw)
    assert caught.value.clause.startswith(_B)


def test_body_in_place_of_a_record_is_named() -> None:
    with pytest.raises(DecodeError, match="option encoding") as caught:
        decode(b'{"Action":"pub","Records":[]}')
    assert (caught.value.offset, caught.value.clause) == (0, _B + "records")


def test_duplicate_member_is_rejected() -> None:
    raw = encode(message_of("INSERT")).replace(b'{"long":', b'{"long":1,"long":', 1)
    with pytest.raises(DecodeError) as caught:
        decode(raw)
    assert (caught.value.clause, caught.value.path) == (
        _B + "json text",
        ("payload", "after", "dataColumn", "long"),
    )


@given(st.integers(0, 10**4), st.integers(0, 255))
def test_message_with_a_changed_byte_is_read_or_rejected(place: int, byte: int) -> None:
    raw = bytearray(encode(message_of("UPDATE")))
    raw[place % len(raw)] = byte
    try:
        found = decode(bytes(raw))
    except DecodeError as error:
        clause = error.clause
    else:
        clause = _B
        assert decode(encode(found)) == found
    assert clause.startswith(_B)


UNWRITABLE: tuple[dict[str, Any], ...] = (
    {"op": "insert"},
    {"event_time": -1},
    {"event_time": 10**13},
    {"system_time": 10**13},
    {"sequence_id": None},
    {"sequence_id": "x"},
    {"sequence_id": "1" * 39},
    {"columns": None},
    {"columns": ()},
    {"columns": (COLUMNS[0], COLUMNS[0])},
    {"columns": (BlobColumn("\ud800", "LONG"),)},
    {"source": None},
    {"source": Source("d", None, None, None, "t")},
    {"source": Source("d", "\ud800", None, None, "t")},
    {"primary_key": ("x",)},
    {"primary_key": ("long", "long")},
    {"before": None},
    {"after": ()},
    {"after": (("x", 1),)},
    {"after": (("long", 1), ("long", 2))},
    {"after": (("long", 1.0),)},
    {"after": (("long", 1 << 63),)},
    {"after": (("long", True),)},
    {"after": (("double", float("nan")),)},
    {"after": (("double", 1),)},
    {"after": (("string", "\ud800"),)},
    {"after": (("bytes", "text"),)},
    {"ddl": DDL},
    {"version": "1"},
)


@pytest.mark.parametrize("fields", UNWRITABLE, ids=str)
def test_message_that_breaks_a_rule_is_refused(fields: dict[str, Any]) -> None:
    base = message_of("UPDATE")
    values = {name: getattr(base, name) for name in BlobMessage.__slots__}
    with pytest.raises(EncodeError):
        encode(BlobMessage(**{**values, **fields}))


@pytest.mark.parametrize(
    "ddl", [None, Ddl(""), Ddl("\ud800"), Ddl("x", b""), Ddl("x", b"\xac\xed\x00\x04")]
)
def test_ddl_that_breaks_a_rule_is_refused(ddl: Ddl | None) -> None:
    base = message_of("ALTER")
    with pytest.raises(EncodeError):
        encode(BlobMessage("ALTER", 1, "1", None, base.source, None, None, None, ddl))
