"""Maxwell JSON's bytes as values, worked out by hand from docs/formats/maxwell-json.md."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cdcwire.core.errors import DecodeError, EncodeError, TruncatedError
from cdcwire.core.strict_json import Number
from cdcwire.formats.maxwell_json import (
    Cell,
    ColumnDefinition,
    Inline,
    Key,
    RowMessage,
    SchemaMessage,
    Tombstone,
    decode,
    encode,
)
from cdcwire.model.events import path_text

UPDATE = (
    b'{"database":"shop","table":"e","type":"update","ts":1795366389,"xid":2148,"commit":true,'
    b'"data":{"id":1,"m":5.444,"c":"a \\"b\\""},"old":{"m":4.2341}}'
)
INSERT = b'{"database":"shop","table":"t","type":"insert","ts":1,"data":{"id":1}}'
CREATE = (
    b'{"type":"table-create","database":"shop","table":"t","def":{"database":"shop",'
    b'"charset":"utf8mb4","table":"t","columns":[{"type":"int","name":"id","signed":false},'
    b'{"type":"enum","name":"e","charset":"utf8mb4","enum-values":["a","b"]},'
    b'{"type":"datetime","name":"d","column-length":3}],"primary-key":["id"]},'
    b'"ts":1795366389000,"sql":"create table t"}'
)


def changed(old: bytes, new: bytes, value: bytes = INSERT) -> bytes:
    assert value.count(old) == 1
    return value.replace(old, new)


def row(value: bytes, key: bytes | None = None) -> RowMessage:
    found = decode(value, key=key)
    assert isinstance(found, RowMessage)
    return found


# ---- rows ------------------------------------------------------------------------------------


def test_update_has_the_values_of_its_members() -> None:
    found = row(UPDATE)
    assert found == RowMessage(
        database="shop",
        table="e",
        type="update",
        ts=1795366389,
        data=(Cell("id", Number("1")), Cell("m", Number("5.444")), Cell("c", 'a "b"')),
        old=(Cell("m", Number("4.2341")),),
        xid=2148,
        commit=True,
    )
    assert encode(found) == (None, UPDATE)


def test_members_in_any_order_are_written_in_the_order_of_the_producer() -> None:
    mixed = b' {"data":{"id":1}, "ts":1,"type":"insert","table":"t","database":"shop"}\n'
    assert encode(decode(mixed)) == (None, INSERT)


def test_every_member_comes_back() -> None:
    value = (
        b'{"database":"d","table":"t","query":"delete","type":"delete","ts":-1,"xid":7,"xoffset":0,'
        b'"position":"b.000002:4","gtid":null,"server_id":1,"thread_id":-2,"schema_id":3,'
        b'"push_ts":1.250000,"comment":"c","mine":[1, 2],"primary_key":[1,null],'
        b'"primary_key_columns":["a","b"],"data":{"a":1,"b":null}}'
    )
    found = row(value)
    assert (found.xoffset, found.gtid_is_null, found.push_ts) == (0, True, Number("1.250000"))
    assert found.primary_key == (Number("1"), None)
    assert found.unknown == (("mine", "[1, 2]"),)
    assert encode(found) == (None, value)


@pytest.mark.parametrize("text", [b"true", b'["a","b"]', b'{"a": [null,1.0]}'])
def test_value_that_is_not_a_scalar_keeps_its_text(text: bytes) -> None:
    assert row(changed(b'"id":1', b'"id":' + text)).data[0].value == Inline(text.decode())


def test_strings_are_escaped_as_the_producer_does() -> None:
    sent = '"\\"\\\\\\n\\u0001\\uD83D\\uDE00é"'.encode()
    value = changed(b'"id":1', b'"id":' + sent)
    assert row(value).data[0].value == '"\\\n\x01😀é'
    assert encode(decode(value)) == (None, value)


def test_border_of_a_bootstrap_has_no_columns() -> None:
    value = b'{"database":"d","table":"t","type":"bootstrap-start","ts":1,"data":{}}'
    assert encode(row(value)) == (None, value)
    with pytest.raises(DecodeError, match="bootstrap-start has columns"):
        decode(changed(b"{}", b'{"id":1}', value))


# ---- keys ------------------------------------------------------------------------------------

HASH = b'{"database":"shop","table":"t","pk.id":1,"pk.x":"a"}'
ARRAY = b'["shop","t",[{"id":1},{"x":"a"}]]'
KEY_CELLS = (Cell("id", Number("1")), Cell("x", "a"))


@pytest.mark.parametrize(("sent", "form"), [(HASH, "hash"), (ARRAY, "array")])
def test_key_comes_with_the_row(sent: bytes, form: str) -> None:
    found = row(INSERT, sent)
    assert found.key is not None
    assert (found.key.form, found.key.columns) == (form, KEY_CELLS)
    assert encode(found) == (sent, INSERT)


def test_uuid_replaces_the_columns() -> None:
    sent = b'{"database":"shop","table":"t","_uuid":"x-1"}'
    assert row(INSERT, sent).key == Key("hash", "shop", "t", (), "x-1")


def test_message_without_value_is_a_tombstone_of_its_checked_key() -> None:
    assert decode(None, key=HASH) == Tombstone(HASH)
    assert encode(Tombstone(HASH)) == (HASH, None)
    with pytest.raises(DecodeError):
        decode(None, key=b"[]")


@pytest.mark.parametrize(
    ("sent", "at", "path", "problem"),
    [
        (b"7", b"7", "key", "instead of an object"),
        (b'["a","b"]', b"[", "key", "2 items instead of 3"),
        (b'["a",7,[]]', b"7", "key[1]", "a number instead of a string"),
        (b'["a","b",{}]', b"{", "key[2]", "instead of an array"),
        (b'["a","b",[{"c":1,"d":2}]]', b'{"c', "key[2][0]", "2 columns instead of one"),
        (b'{"table":"t"}', b"}", "key.database", "member 'database' is missing"),
        (b'{"database":"d","id":1}', b'"id"', "key.id", "does not begin with 'pk.'"),
    ],
)
def test_wrong_key_names_its_byte(sent: bytes, at: bytes, path: str, problem: str) -> None:
    with pytest.raises(DecodeError, match=problem) as caught:
        decode(INSERT, key=sent)
    assert (caught.value.offset, path_text(caught.value.path)) == (sent.index(at), path)
    assert caught.value.clause == "maxwell-json: kafka keys"


# ---- schema changes --------------------------------------------------------------------------


def test_schema_change_has_its_definition() -> None:
    found = decode(CREATE)
    assert isinstance(found, SchemaMessage)
    assert (found.type, found.ts, found.sql) == ("table-create", 1795366389000, "create table t")
    definition = found.definition
    assert definition is not None
    assert definition.primary_key == ("id",)
    assert definition.columns == (
        ColumnDefinition(type="int", name="id", signed=False),
        ColumnDefinition(type="enum", name="e", charset="utf8mb4", enum_values=("a", "b")),
        ColumnDefinition(type="datetime", name="d", column_length=3),
    )
    assert encode(found) == (None, CREATE)


@pytest.mark.parametrize(
    ("old", "new", "at", "path", "clause"),
    [
        (b'"def":', b'"x":', b"}", "def", "schema changes"),
        (b'"table":"t","def"', b'"def"', b"}", "table", "schema changes"),
        (
            b'"primary-key":["id"]',
            b'"primary-key":"id"',
            b'"id"}',
            "def.primary-key",
            "definitions",
        ),
        (b'"name":"e"', b'"name":"id"', b"[{", "def.columns", "definitions"),
        (b'"signed":false', b'"signed":0', b"0}", "def.columns[0].signed", "definitions"),
        (b'"column-length":3', b'"column-length":-1', b"-1", "def.columns[2].column-length", ""),
        (b"1795366389000", b"1.5", b"1.5", "ts", "timestamp"),
    ],
)
def test_wrong_schema_change_names_its_byte(
    old: bytes, new: bytes, at: bytes, path: str, clause: str
) -> None:
    value = changed(old, new, CREATE)
    with pytest.raises(DecodeError) as caught:
        decode(value)
    place = len(value) - 1 if at == b"}" else value.index(at)
    assert (caught.value.offset, path_text(caught.value.path)) == (place, path)
    assert caught.value.clause == f"maxwell-json: {clause or 'definitions'}"


# ---- bad input -------------------------------------------------------------------------------

WRONG = [
    (b'"ts":1,', b"", b"}", "ts", "timestamp", "member 'ts' is missing"),
    (b'"database":"shop",', b"", b"}", "database", "fields", "member 'database' is missing"),
    (b'"data":{"id":1}', b'"old":{}', b"}", "data", "data", "member 'data' is missing"),
    (b'"insert"', b'"upsert"', b'"upsert"', "type", "event types", "'upsert' is not one of"),
    (b'"ts":1', b'"ts":1.0', b"1.0", "ts", "timestamp", "has a fraction or an exponent"),
    (b'"ts":1', b'"ts":"1"', b'"1"', "ts", "timestamp", "instead of a number"),
    (b'"ts":1', b'"ts":9223372036854776', b"922", "ts", "timestamp", "is outside"),
    (b'"ts":1', b'"ts":1,"xid":9223372036854775808', b"922", "xid", "transactions", "is outside"),
    (b'"ts":1', b'"ts":1,"commit":1', b'1,"data', "commit", "transactions", "true or false"),
    (b'"table":"t"', b'"table":null', b"null", "table", "fields", "instead of a string"),
    (b'"ts":1', b'"ts":1,"encrypted":{}', b"{}", "encrypted", "encryption", "decrypt it first"),
    (b'{"id":1}', b"{}", b"{}", "data", "data", "insert has no columns"),
    (b'{"id":1}', b"[1]", b"[1]", "data", "data", "instead of an object"),
    (b'"data"', b'"old":{},"data"', b'{},"data', "old", "old", "insert has old values"),
    (b'"ts":1', b'"ts":1,"ts":2', b'"ts":2', "ts", "json text", "twice"),
]


@pytest.mark.parametrize(
    ("old", "new", "at", "path", "clause", "problem"), WRONG, ids=[str(each[5]) for each in WRONG]
)
def test_wrong_row_names_byte_path_and_clause(
    old: bytes, new: bytes, at: bytes, path: str, clause: str, problem: str
) -> None:
    value = changed(old, new)
    with pytest.raises(DecodeError, match=problem) as caught:
        decode(value)
    place = len(value) - 1 if at == b"}" else value.index(at)
    assert (caught.value.offset, path_text(caught.value.path)) == (place, path)
    assert caught.value.clause == "maxwell-json: " + clause


def test_key_column_that_is_named_twice_is_rejected() -> None:
    value = changed(b'"ts":1', b'"ts":1,"primary_key_columns":["a","a"]')
    with pytest.raises(DecodeError, match="a column is duplicated") as caught:
        decode(value)
    assert (caught.value.offset, caught.value.clause) == (
        value.index(b'["a"'),
        "maxwell-json: primary key",
    )


def test_number_that_is_too_long_is_rejected() -> None:
    with pytest.raises(DecodeError) as caught:
        decode(changed(b'"ts":1', b'"ts":' + b"1" * 401))
    assert caught.value.clause == "maxwell-json: limits"


@pytest.mark.parametrize("value", [UPDATE, CREATE])
def test_every_cut_is_an_error_at_its_end(value: bytes) -> None:
    for size in range(len(value)):
        with pytest.raises(TruncatedError) as caught:
            decode(value[:size])
        assert caught.value.offset == size


@pytest.mark.parametrize(
    ("message", "path"),
    [
        (replace(row(INSERT), type="upsert"), ("type",)),
        (replace(row(INSERT), data=()), ("data",)),
        (replace(row(INSERT), old=()), ("old",)),
        (replace(row(INSERT), data=(Cell("a", None), Cell("a", None))), ("data", "a")),
        (replace(row(INSERT), ts=1 << 62), ("ts",)),
        (SchemaMessage(type="table-create", database="d", ts=1, sql="s", table="t"), ("def",)),
        (SchemaMessage(type="table-drop", database="d", ts=1, sql="s"), ("table",)),
    ],
)
def test_message_without_form_is_not_encoded(
    message: RowMessage | SchemaMessage, path: tuple[str, ...]
) -> None:
    with pytest.raises(EncodeError) as caught:
        encode(message)
    assert caught.value.path == path


@pytest.mark.parametrize("key", [b"3f2504e0-4f89-41d3-9a0c-0305e82c3301", b"\xff", None])
def test_key_of_a_schema_change_is_kept_whatever_it_is(key: bytes | None) -> None:
    value = b'{"type":"table-drop","database":"d","table":"t","ts":1,"sql":"drop table t"}'
    assert encode(decode(value, key=key)) == (key, value)


def test_null_charset_of_a_schema_change_is_kept() -> None:
    value = b'{"type":"database-alter","database":"d","charset":null,"ts":1,"sql":""}'
    assert encode(decode(value)) == (None, value)
