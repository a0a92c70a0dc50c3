"""Every rule for the JSON of keys and values: one broken rule a case, with place and clause."""

from __future__ import annotations

import pytest

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.formats.open_protocol import Column, Item, Key, Message, Row, decode, encode
from cdcwire.model.events import Path

ROW_KEY = '{"ts":1,"scm":"s","tbl":"t","t":1}'
DDL_KEY = '{"ts":1,"t":2}'
ROW_VALUE = '{"u":{"a":{"t":3,"v":1}}}'
KEY_START, VALUE_START = 16, 8  # of the first item


def message(key: str | bytes, value: str | bytes) -> tuple[bytes, bytes]:
    raw = [item.encode() if isinstance(item, str) else item for item in (key, value)]
    framed = [len(item).to_bytes(8, "big") + item for item in raw]
    return (1).to_bytes(8, "big") + framed[0], framed[1]


def decode_pair(pair: tuple[bytes, bytes]) -> Message:
    return decode(pair[1], key=pair[0])


@pytest.mark.parametrize(
    ("key", "offset", "path", "clause"),
    [
        pytest.param("[]", 0, (), "key members", id="no-object"),
        pytest.param('{"t":3}', 6, ("ts",), "key members", id="no-ts"),
        pytest.param('{"ts":1}', 7, ("t",), "event types", id="no-t"),
        pytest.param('{"ts":"1","t":3}', 6, ("ts",), "key members", id="ts-string"),
        pytest.param('{"ts":null,"t":3}', 6, ("ts",), "key members", id="ts-null"),
        pytest.param('{"ts":true,"t":3}', 6, ("ts",), "key members", id="ts-true"),
        pytest.param('{"ts":1.0,"t":3}', 6, ("ts",), "key members", id="ts-fraction"),
        pytest.param('{"ts":1e3,"t":3}', 6, ("ts",), "key members", id="ts-exponent"),
        pytest.param('{"ts":-1,"t":3}', 6, ("ts",), "key members", id="ts-negative"),
        pytest.param(
            '{"ts":18446744073709551616,"t":3}', 6, ("ts",), "key members", id="ts-above-64-bits"
        ),
        pytest.param(f'{{"ts":{"9" * 21},"t":3}}', 6, ("ts",), "limits", id="ts-of-21-digits"),
        pytest.param('{"ts":1,"t":0}', 12, ("t",), "event types", id="event-type-0"),
        pytest.param('{"ts":1,"t":4}', 12, ("t",), "event types", id="event-type-4"),
        pytest.param('{"ts":1,"t":"3"}', 12, ("t",), "event types", id="event-type-string"),
        pytest.param('{"ts":1,"tbl":"t","t":1}', 23, ("scm",), "key members", id="row-no-scm"),
        pytest.param('{"ts":1,"scm":"s","t":1}', 23, ("tbl",), "key members", id="row-no-tbl"),
        pytest.param(
            '{"ts":1,"scm":"","tbl":"t","t":1}', 14, ("scm",), "key members", id="row-empty-scm"
        ),
        pytest.param('{"ts":1,"scm":null,"t":2}', 14, ("scm",), "key members", id="scm-null"),
        pytest.param(
            f'{{"ts":1,"scm":"{"s" * 1025}","t":2}}', 14, ("scm",), "limits", id="long-scm"
        ),
        pytest.param('{"ts":1,"rid":1.5,"t":2}', 14, ("rid",), "row id", id="rid-fraction"),
        pytest.param('{"ts":1,"ptn":"1","t":2}', 14, ("ptn",), "partition", id="ptn-string"),
        pytest.param(
            '{"ts":1,"ptn":9223372036854775808,"t":2}',
            14,
            ("ptn",),
            "partition",
            id="ptn-above-64-bits",
        ),
        pytest.param('{"ts":1,"ohk":1,"t":2}', 14, ("ohk",), "handle key only", id="ohk-number"),
        pytest.param('{"ts":1,"ccl":true,"t":2}', 14, ("ccl",), "claim check", id="ccl-true"),
        pytest.param('{"ts":1,"ts":1,"t":3}', 8, ("ts",), "json text", id="ts-twice"),
        pytest.param('{"ts":1,"x":1,"x":1,"t":3}', 14, ("x",), "json text", id="unknown-twice"),
        pytest.param('{"ts":1,"t":3} x', 15, (), "json text", id="trailing-text"),
        pytest.param('\ufeff{"ts":1,"t":3}', 0, (), "json text", id="byte-order-mark"),
        pytest.param(b'{"ts":1,"t":2,"scm":"\xff"}', 21, ("scm",), "json strings", id="bad-utf-8"),
        pytest.param(
            '{"ts":1,"t":3,"x":[[[[[[[[1]]]]]]]]}',
            25,
            ("x", 0, 0, 0, 0, 0, 0, 0),
            "limits",
            id="too-deep",
        ),
        pytest.param(f'{{"ts":1,"t":3,"{"x" * 1025}":1}}', 14, (), "limits", id="long-name"),
    ],
)
def test_key_that_breaks_a_rule_is_rejected(
    key: str | bytes, offset: int, path: Path, clause: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_pair(message(key, ""))
    assert caught.value.offset == KEY_START + offset
    assert caught.value.path == ("key", 0, *path)
    assert caught.value.clause == f"open-protocol: {clause}"


@pytest.mark.parametrize(
    ("value", "offset", "path", "clause"),
    [
        pytest.param("[]", 0, (), "row value", id="no-object"),
        pytest.param("null", 0, (), "row value", id="null"),
        pytest.param("{}", 1, (), "row value", id="no-group"),
        pytest.param('{"u":{}}', 7, (), "row value", id="empty-group"),
        pytest.param('{"u":{},"p":{},"d":{}}', 21, (), "row value", id="empty-groups"),
        pytest.param('{"u":null}', 5, ("u",), "row value", id="u-null"),
        pytest.param('{"p":null,"u":{"a":{"t":3,"v":1}}}', 5, ("p",), "row value", id="p-null"),
        pytest.param('{"d":[]}', 5, ("d",), "row value", id="d-array"),
        pytest.param('{"p":{"a":{"t":3,"v":1}}}', 1, (), "row value", id="p-alone"),
        pytest.param(
            '{"u":{"a":{"t":3,"v":1}},"d":{"a":{"t":3,"v":1}}}', 25, (), "row value", id="u-and-d"
        ),
        pytest.param(
            '{"d":{"a":{"t":3,"v":1}},"p":{"a":{"t":3,"v":1}}}', 25, (), "row value", id="d-and-p"
        ),
        pytest.param(
            '{"u":{"a":{"t":3,"v":1}},"u":{"a":{"t":3,"v":1}}}',
            25,
            ("u",),
            "json text",
            id="group-twice",
        ),
        pytest.param(
            '{"u":{"a":{"t":3,"v":1},"a":{"t":3,"v":1}}}',
            24,
            ("u", "a"),
            "json text",
            id="column-twice",
        ),
        pytest.param(
            '{"u":{"ohk":{"t":3,"v":1},"ohk":{"t":3,"v":1}}}',
            26,
            ("u", "ohk"),
            "json text",
            id="column-ohk-twice",
        ),
        pytest.param('{"u":{"a":null}}', 10, ("u", "a"), "column members", id="column-null"),
        pytest.param('{"u":{"a":{"v":1}}}', 16, ("u", "a", "t"), "column members", id="no-type"),
        pytest.param('{"u":{"a":{"t":3}}}', 16, ("u", "a", "v"), "column members", id="no-value"),
        pytest.param(
            '{"u":{"a":{"t":256,"v":1}}}', 15, ("u", "a", "t"), "column members", id="type-256"
        ),
        pytest.param(
            '{"u":{"a":{"t":-1,"v":1}}}', 15, ("u", "a", "t"), "column members", id="type-negative"
        ),
        pytest.param(
            '{"u":{"a":{"t":3,"f":-1,"v":1}}}',
            21,
            ("u", "a", "f"),
            "column members",
            id="flag-negative",
        ),
        pytest.param(
            '{"u":{"a":{"t":3,"f":18446744073709551616,"v":1}}}',
            21,
            ("u", "a", "f"),
            "column members",
            id="flag-above-64-bits",
        ),
        pytest.param(
            '{"u":{"a":{"t":3,"h":1,"v":1}}}', 21, ("u", "a", "h"), "column members", id="h-number"
        ),
        pytest.param(
            f'{{"u":{{"{"a" * 1025}":{{"t":3,"v":1}}}}}}', 6, ("u",), "limits", id="long-name"
        ),
        pytest.param(ROW_VALUE + "{}", 25, (), "json text", id="trailing-object"),
        pytest.param(ROW_VALUE.encode("utf-16"), 0, (), "json text", id="utf-16"),
    ],
)
def test_row_that_breaks_a_rule_is_rejected(
    value: str | bytes, offset: int, path: Path, clause: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_pair(message(ROW_KEY, value))
    assert caught.value.offset == VALUE_START + offset
    assert caught.value.path == ("value", 0, *path)
    assert caught.value.clause == f"open-protocol: {clause}"


@pytest.mark.parametrize(
    ("value", "offset", "path"),
    [
        pytest.param('"q"', 0, (), id="no-object"),
        pytest.param('{"t":3}', 6, ("q",), id="no-query"),
        pytest.param('{"q":""}', 7, ("t",), id="no-type"),
        pytest.param('{"q":null,"t":3}', 5, ("q",), id="query-null"),
        pytest.param('{"q":"","t":"3"}', 12, ("t",), id="type-string"),
        pytest.param('{"q":"","t":256}', 12, ("t",), id="type-256"),
        pytest.param('{"q":"","t":-1}', 12, ("t",), id="type-negative"),
    ],
)
def test_ddl_that_breaks_a_rule_is_rejected(value: str, offset: int, path: Path) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_pair(message(DDL_KEY, value))
    assert caught.value.offset == VALUE_START + offset
    assert caught.value.path == ("value", 0, *path)
    assert caught.value.clause == "open-protocol: ddl value"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param(' {"t" : 1,"tbl":"t","scm":"s","ts":1}\n', ROW_VALUE, id="order-and-space"),
        pytest.param(
            '{"ts":1,"scm":"s","tbl":"t","t":1,"rid":0,"ptn":0,"ohk":false,"ccl":""}',
            ROW_VALUE,
            id="empty-members",
        ),
        pytest.param(
            '{"ts":1,"scm":"s","tbl":"t","t":1,"TS":[],"x":{"y":null}}',
            '{"x":1.5,"u":{"a":{"t":3,"v":1,"w":"","x":%s}}}' % ("9" * 5000),
            id="unknown-members",
        ),
        pytest.param(
            '{"ts":1,"scm":"s","tbl":"t","t":1,"ohk":true,"ohk":false}', ROW_VALUE, id="ohk-twice"
        ),
        pytest.param(ROW_KEY, '{"u":{"a":{"t":3,"v":1}},"p":{},"d":{}}', id="empty-groups"),
        pytest.param(ROW_KEY, '{"u":{"a":{"v":1,"f":0,"h":false,"t":3}}}', id="column-order"),
        pytest.param(
            '{"ts":1,"scm":"\\u0073","tbl":"t","t":1}',
            '{"\\u0075":{"\\u0061":{"t":3,"v":1}}}',
            id="escaped-names",
        ),
        pytest.param(
            ROW_KEY, '{"x":[[[[[[[1]]]]]]],"u":{"a":{"t":3,"v":1}}}', id="as-deep-as-allowed"
        ),
    ],
)
def test_form_that_producers_do_not_write_is_read(key: str, value: str) -> None:
    items = decode_pair(message(key, value)).items
    assert items[0].key == Key(1, 1, "s", "t")
    assert isinstance(items[0].value, Row)
    assert items[0].value.u == (Column("a", 3, False, 0, 1),)
    canonical = encode(Message(items))
    assert canonical == message(ROW_KEY, '{"u":{"a":{"t":3,"f":0,"v":1}}}')


A = Column("a", 3, False, 0, 1)


@pytest.mark.parametrize(
    ("row", "path", "clause"),
    [
        pytest.param(Row(), (), "row value", id="no-group"),
        pytest.param(Row(u=()), (), "row value", id="empty-group"),
        pytest.param(Row(p=(A,)), (), "row value", id="p-alone"),
        pytest.param(Row(u=(A,), d=(A,)), (), "row value", id="u-and-d"),
        pytest.param(Row(p=(A,), d=(A,)), (), "row value", id="p-and-d"),
        pytest.param(Row(u=(A, A)), ("u", "a"), "column members", id="column-twice"),
        pytest.param(
            Row(u=(Column("a" * 1025, 3, False, 0, 1),)),
            ("u", "a" * 1025),
            "limits",
            id="long-name",
        ),
        pytest.param(
            Row(d=(Column("\udcff", 3, False, 0, 1),)),
            ("d", "\udcff"),
            "json strings",
            id="bad-name",
        ),
        pytest.param(
            Row(u=(Column("a", 256, False, 0, 1),)), ("u", "a", "t"), "column members", id="type"
        ),
        pytest.param(
            Row(u=(A,), p=(Column("a", 3, False, -1, 1),)),
            ("p", "a", "f"),
            "column members",
            id="flag",
        ),
    ],
)
def test_row_that_has_no_form_is_not_encoded(row: Row, path: Path, clause: str) -> None:
    with pytest.raises(EncodeError) as caught:
        encode(Message((Item(Key(1, 1, "s", "t"), row),)))
    assert caught.value.path == ("value", 0, *path)
    assert caught.value.clause == f"open-protocol: {clause}"
