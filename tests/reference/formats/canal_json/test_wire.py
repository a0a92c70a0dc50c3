"""One object to the wire's values and back: order, tolerance, and what is refused at which byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.context import Selection
from cdcwire.core.errors import DecodeError, EncodeError, TruncatedError
from cdcwire.formats.canal_json import Dialect, Extension, Message, decode
from cdcwire.formats.canal_json.wire import read_object, write_object

INSERT = (
    b'{"id":0,"database":"test","table":"nopk","pkNames":[],"isDdl":false,"type":"INSERT",'
    b'"es":1683614201188,"ts":1795247425015,"sql":"","sqlType":{"a":4,"b":12},'
    b'"mysqlType":{"b":"varchar","a":"int"},"old":null,"data":[{"a":"1","b":"x"}],'
    b'"_tidb":{"commitTs":441349361156227075}}'
)
UPDATE = (
    b'{"id":0,"database":"test","table":"t","pkNames":["a"],"isDdl":false,"type":"UPDATE",'
    b'"es":1,"ts":2,"sql":"","sqlType":{"a":4},"mysqlType":{"a":"int(11)"},'
    b'"old":[{"a":null}],"data":[{"a":"-7"}],'
    b'"_tidb":{"commitTs":7,"onlyHandleKey":true,"claimCheckLocation":"file:///x","rowkey":"AAE="}}'
)
DDL = (
    b'{"id":0,"database":"test","table":"","pkNames":null,"isDdl":true,"type":"QUERY",'
    b'"es":1683614201188,"ts":1795247425016,'
    b'"sql":"CREATE DATABASE `test` /* \\u003c\\u0026\\u003e \\u2028 \\u0008\\u000c */",'
    b'"sqlType":null,"mysqlType":null,"data":null,"old":null,"_tidb":{"commitTs":9}}'
)
WATERMARK = (
    b'{"id":0,"database":"","table":"","pkNames":null,"isDdl":false,"type":"TIDB_WATERMARK",'
    b'"es":1683614201188,"ts":1795247425016,"sql":"","sqlType":null,"mysqlType":null,'
    b'"data":null,"old":null,"_tidb":{"watermarkTs":441349361156227074}}'
)
EMPTY_DELETE = (
    b'{"id":0,"database":"test","table":"t","pkNames":[],"isDdl":false,"type":"DELETE","es":1,'
    b'"ts":2,"sql":"","sqlType":null,"mysqlType":{},"old":null,"data":[{}]}'
)
CANAL = (
    b'{"data":[{"a":"1"},{"a":"2"}],"database":"test","es":1,"gtid":"","id":12,"isDdl":false,'
    b'"mysqlType":{"a":"int(11)"},"old":[{},{"a":"<3"}],"pkNames":["a"],"sql":"",'
    b'"sqlType":{"a":4},"table":"t","ts":2,"type":"UPDATE"}'
).replace(b'"<3"', b'"3"')
MESSAGES = {
    "insert": INSERT,
    "update": UPDATE,
    "ddl": DDL,
    "watermark": WATERMARK,
    "delete without columns": EMPTY_DELETE,
}
each_message = pytest.mark.parametrize("value", MESSAGES.values(), ids=MESSAGES)


def changed(**members: object) -> bytes:
    """Return the insert with other members; ``...`` takes one away."""
    found = {**json.loads(INSERT), **members}
    return json.dumps({k: v for k, v in found.items() if v is not ...}).encode()


def read(value: bytes) -> Message:
    message = decode(value)
    assert message is not None
    return message


@each_message
def test_message_comes_back_byte_for_byte(value: bytes) -> None:
    assert write_object(read(value)) == value


def test_message_of_the_official_canal_comes_back_byte_for_byte() -> None:
    assert write_object(read(CANAL), "canal") == CANAL


@each_message
def test_every_truncation_is_rejected_at_its_end(value: bytes) -> None:
    for cut in range(len(value)):
        with pytest.raises(TruncatedError) as caught:
            read_object(value[:cut])
        assert caught.value.offset == cut


def test_members_are_read_in_any_order_and_with_white_space() -> None:
    found = json.loads(UPDATE)
    turned = json.dumps(dict(reversed(found.items())), indent=1).encode()
    assert write_object(read(turned + b"\r\n")) == UPDATE


def test_unknown_members_are_kept_as_they_stand() -> None:
    value = INSERT[:-2] + b',"x": [1.50]},"more":{"a" :null}}'
    message = read(value)
    assert message.unknown == (("more", '{"a" :null}'),)
    assert message.tidb == Extension(441349361156227075, unknown=(("x", "[1.50]"),))
    assert write_object(message) == value.replace(b'"x": ', b'"x":')


@pytest.mark.parametrize("name", ["id", "pkNames", "sql", "sqlType", "old", "_tidb", "gtid"])
def test_member_that_may_be_missing_is_read_as_null(name: str) -> None:
    default = 0 if name == "id" else None
    without, with_null = read(changed(**{name: ...})), read(changed(**{name: default}))
    assert without == with_null


@pytest.mark.parametrize(
    ("name", "clause"),
    [
        *((name, "canal-json: members") for name in ("database", "table", "isDdl", "es", "ts")),
        ("type", "canal-json: event types"),
    ],
)
def test_missing_member_is_rejected_at_the_closing_brace(name: str, clause: str) -> None:
    value = changed(**{name: ...})
    with pytest.raises(DecodeError) as caught:
        decode(value)
    assert (caught.value.offset, caught.value.clause) == (len(value) - 1, clause)


FAULTS: dict[str, tuple[dict[str, object], tuple[object, ...], str]] = {
    "number as id": ({"id": "0"}, ("id",), "canal-json: members"),
    "database is null": ({"database": None}, ("database",), "canal-json: members"),
    "table is empty": ({"table": ""}, ("table",), "canal-json: members"),
    "isDdl is text": ({"isDdl": "false"}, ("isDdl",), "canal-json: members"),
    "type is not known": ({"type": "UPSERT"}, ("type",), "canal-json: event types"),
    "row type in a DDL": ({"isDdl": True}, ("type",), "canal-json: event types"),
    "es is text": ({"es": "1"}, ("es",), "canal-json: members"),
    "es has a fraction": ({"es": 1.5}, ("es",), "canal-json: members"),
    "es is beyond": ({"es": 1 << 63}, ("es",), "canal-json: members"),
    "es is long": ({"es": 10**30}, ("es",), "canal-json: limits"),
    "pkNames is text": ({"pkNames": "a"}, ("pkNames",), "canal-json: primary key names"),
    "pkNames of numbers": ({"pkNames": [1]}, ("pkNames", 0), "canal-json: primary key names"),
    "pkNames twice": ({"pkNames": ["a", "a"]}, ("pkNames",), "canal-json: primary key names"),
    "sqlType of text": ({"sqlType": {"a": "4"}}, ("sqlType", "a"), "canal-json: sqlType"),
    "mysqlType of numbers": ({"mysqlType": {"a": 4}}, ("mysqlType", "a"), "canal-json: mysqlType"),
    "mysqlType is none": (
        {"mysqlType": {"a": "integral", "b": "varchar"}},
        ("mysqlType", "a"),
        "canal-json: mysqlType",
    ),
    "column without type": ({"mysqlType": {"a": "int"}}, ("data", 0, "b"), "canal-json: mysqlType"),
    "no types": ({"mysqlType": None}, ("data", 0, "a"), "canal-json: mysqlType"),
    "data is null": ({"data": None}, ("data",), "canal-json: row events"),
    "data is missing": ({"data": ...}, ("data",), "canal-json: row events"),
    "data is an object": ({"data": {"a": "1"}}, ("data",), "canal-json: row events"),
    "row is null": ({"data": [None]}, ("data",), "canal-json: row events"),
    "row is text": ({"data": ["a"]}, ("data", 0), "canal-json: row events"),
    "number for text": ({"data": [{"a": 1}]}, ("data", 0, "a"), "canal-json: integer values"),
    "text for number": ({"data": [{"a": "x"}]}, ("data", 0, "a"), "canal-json: integer values"),
    "object as value": ({"data": [{"b": {}}]}, ("data", 0, "b"), "canal-json: text values"),
    "second row is bad": (
        {"data": [{"a": "1"}, {"a": "2147483648"}]},
        ("data", 1, "a"),
        "canal-json: integer values",
    ),
    "old of an insert": ({"old": [{"a": "1"}]}, ("old",), "canal-json: old"),
    "fewer old rows": (
        {"type": "UPDATE", "old": []},
        ("old",),
        "canal-json: old",
    ),
    "delete without row": (
        {"type": "DELETE", "data": None},
        ("data",),
        "canal-json: row events",
    ),
    "delete with two rows": (
        {"type": "DELETE", "old": [{"a": "1"}]},
        ("old",),
        "canal-json: old",
    ),
    "commitTs is text": ({"_tidb": {"commitTs": "1"}}, ("_tidb", "commitTs"), "tidb extension"),
    "commitTs is negative": ({"_tidb": {"commitTs": -1}}, ("_tidb", "commitTs"), "tidb extension"),
    "onlyHandleKey is 1": (
        {"_tidb": {"commitTs": 1, "onlyHandleKey": 1}},
        ("_tidb", "onlyHandleKey"),
        "canal-json: handle key only",
    ),
    "location is null": (
        {"_tidb": {"claimCheckLocation": None}},
        ("_tidb", "claimCheckLocation"),
        "canal-json: claim check",
    ),
    "rowkey is no base64": (
        {"_tidb": {"rowkey": "A"}},
        ("_tidb", "rowkey"),
        "canal-json: tidb extension",
    ),
    "watermark without extension": (
        {"type": "TIDB_WATERMARK", "_tidb": None},
        ("_tidb",),
        "canal-json: watermarks",
    ),
    "DDL without sql": (
        {"isDdl": True, "type": "QUERY", "sql": ...},
        ("sql",),
        "canal-json: ddl events",
    ),
}


@pytest.mark.parametrize(("members", "path", "clause"), FAULTS.values(), ids=FAULTS)
def test_fault_is_rejected_with_path_and_clause(
    members: dict[str, object], path: tuple[object, ...], clause: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(changed(**members))
    assert caught.value.path == path
    assert caught.value.clause.endswith(clause)


VALUE_AT = INSERT.index(b'"x"')  # the opening quote
TEXTS = {
    "byte order mark": (b"\xef\xbb\xbf" + INSERT, 0, "canal-json: json text"),
    "something behind": (INSERT + b"{}", len(INSERT), "canal-json: json text"),
    "an array": (b"[]", 0, "canal-json: members"),
    "not UTF-8": (INSERT.replace(b'"x"', b'"\xff"'), VALUE_AT + 1, "canal-json: json strings"),
    "raw newline": (INSERT.replace(b'"x"', b'"\n"'), VALUE_AT + 1, "canal-json: json strings"),
    "lone surrogate": (
        INSERT.replace(b'"x"', b'"\\ud800"'),
        VALUE_AT + 1,
        "canal-json: json strings",
    ),
    "column twice": (
        INSERT.replace(b'"b":"x"', b'"a":"2"'),
        VALUE_AT - len(b'"b":'),
        "canal-json: json text",
    ),
    "member twice": (b'{"id":0,"id":0}', 8, "canal-json: json text"),
    "deep nesting": (b'{"x":' + b"[" * 100000, 12, "canal-json: limits"),
    "long name": (b'{"' + b"n" * 1025 + b'":1}', 1, "canal-json: limits"),
}


@pytest.mark.parametrize(("value", "offset", "clause"), TEXTS.values(), ids=TEXTS)
def test_broken_json_is_rejected_at_its_byte(value: bytes, offset: int, clause: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(value)
    assert (caught.value.offset, caught.value.clause) == (offset, clause)


def test_table_that_is_not_wanted_is_passed_over_whatever_its_columns_are() -> None:
    other = changed(mysqlType={"a": "integral"})
    assert read_object(other, Selection(tables=frozenset({("test", "t")}))) is None


def test_null_and_the_text_null_are_kept_apart() -> None:
    message = read(changed(data=[{"a": None, "b": "null"}]))
    assert message.data == ((("a", None), ("b", "null")),)


def made(kind: str, **members: Any) -> Message:
    """Return a message in which only some members matter."""
    empty = {"database": "", "table": "", "is_ddl": False, "es": 0, "ts": 0}
    return Message(type=kind, **{**empty, **members})


@pytest.mark.parametrize(
    ("message", "clause"),
    [
        (made("UPSERT"), "canal-json: event types"),
        (made("INSERT", is_ddl=True), "canal-json: event types"),
        (made("INSERT", database="\ud800"), "canal-json: json strings"),
        (made("INSERT", table="t" * 1025), "canal-json: limits"),
        (made("INSERT", data=((("a", "1"), ("a", "2")),)), "canal-json: row events"),
        (made("INSERT", data=((("a", "\ud800"),),)), "canal-json: json strings"),
        (made("INSERT", unknown=(("id", "1"),)), "canal-json: unknown members"),
        (made("INSERT", sql_type=(("a", 1 << 31),)), "canal-json: sqlType"),
        (made("INSERT", tidb=Extension(1 << 64)), "canal-json: tidb extension"),
        (made("INSERT", es=1 << 63), "canal-json: members"),
        (made("INSERT", data=((),)), "canal-json: members"),
        (made("INSERT", table="t"), "canal-json: row events"),
        (made("DELETE", table="t", old=(None,)), "canal-json: row events"),
        (made("UPDATE", table="t", data=((), None)), "canal-json: row events"),
        (made("UPDATE", table="t", data=((),), old=()), "canal-json: old"),
        (made("INSERT", table="t", data=((),), old=((),)), "canal-json: old"),
        (made("TIDB_WATERMARK", tidb=Extension(5)), "canal-json: watermarks"),
    ],
)
def test_message_that_can_not_be_written_is_refused(message: Message, clause: str) -> None:
    with pytest.raises(EncodeError) as caught:
        write_object(message)
    assert caught.value.clause == clause


NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
VALUES: st.SearchStrategy[str | None] = st.none() | st.text(
    st.characters(codec="utf-8"), max_size=8
)
ROWS = st.dictionaries(NAMES, VALUES, max_size=4).map(lambda row: tuple(row.items()))


@st.composite
def row_messages(draw: st.DrawFn) -> Message:
    """Messages of a row of texts, with names and values of any characters."""
    kind = draw(st.sampled_from(["INSERT", "UPDATE", "DELETE"]))
    row = draw(ROWS)
    old = draw(ROWS) if kind == "UPDATE" else None
    names = dict(row) | dict(old or ())
    return made(
        kind,
        database=draw(NAMES),
        table=draw(NAMES),
        es=draw(st.integers(-(1 << 63), (1 << 63) - 1)),
        ts=draw(st.integers(0, 1 << 41)),
        pk_names=draw(st.none() | st.just(tuple(names)[:1])),
        sql_type=tuple((name, 12) for name in names),
        mysql_type=draw(st.permutations([(name, "text") for name in names]).map(tuple)),
        data=(row,),
        old=None if old is None else (old,),
        tidb=draw(st.none() | st.builds(Extension, st.integers(0, (1 << 64) - 1))),
        gtid=draw(st.none() | st.text(st.characters(codec="utf-8"), max_size=4)),
    )


@pytest.mark.parametrize("dialect", ["ticdc", "canal"])
@given(message=row_messages())
def test_message_comes_back_from_its_bytes(message: Message, dialect: Dialect) -> None:
    """decode(encode(x)) == x, and encode(decode(b)) == b for the bytes that we write."""
    value = write_object(message, dialect)
    assert read(value) == message
    assert write_object(read(value), dialect) == value
