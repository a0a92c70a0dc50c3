"""Messages of Open Protocol as bytes: both directions, both dialects, every truncation."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import pytest

from cdcwire.compressions import known_compressions
from cdcwire.core import limits
from cdcwire.core.context import Compression, Context, Selection
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.open_protocol import (
    Column,
    Ddl,
    Dialect,
    Item,
    Key,
    Message,
    Row,
    decode,
    encode,
    fast,
)
from cdcwire.formats.open_protocol.wire import read_message, write_message
from cdcwire.model.events import Path
from cdcwire.registry import get_format

FORMAT = get_format("open-protocol")
VERSION = bytes.fromhex("0000000000000001")
TS = 424316594097225729


def frame(*items: str | bytes) -> bytes:
    """Return items with their lengths before them."""
    raw = [item.encode() if isinstance(item, str) else item for item in items]
    return b"".join(len(item).to_bytes(8, "big") + item for item in raw)


def key_of(*items: str | bytes) -> bytes:
    return VERSION + frame(*items)


ROW_KEY = '{"ts":1,"scm":"s","tbl":"t","t":1}'
ROW_VALUE = '{"u":{"a":{"t":3,"f":0,"v":1}}}'
ROW = Item(Key(1, 1, "s", "t"), Row(u=(Column("a", 3, False, 0, 1),)))

# RESOLVED, DDL and FLOATS are what pingcap/tiflow@c7b2588 wrote.
RESOLVED = (
    bytes.fromhex(
        "0000000000000001000000000000001f"
        "7b227473223a3432343331363539343039373232353732392c2274223a337d"
    ),
    bytes(8),
)
DDL = (
    bytes.fromhex(
        "00000000000000010000000000000037"
        "7b227473223a3432343331363539343039373232353732392c2273636d223a2274657374222c"
        "2274626c223a227431222c2274223a327d"
    ),
    bytes.fromhex(
        "0000000000000047"
        "7b2271223a22435245415445205441424c4520746573742e743128696420696e74207072696d617279206b65"
        "792c2076616c20766172636861722831362929222c2274223a337d"
    ),
)
FLOATS = (
    key_of(f'{{"ts":{TS},"scm":"test","tbl":"f","t":1}}'),
    frame(
        '{"u":{"d1":{"t":5,"f":65,"v":-0},"d2":{"t":5,"f":65,"v":1e+21},'
        '"d3":{"t":5,"f":65,"v":100000000000000000000},"d4":{"t":5,"f":65,"v":0.000001},'
        '"d5":{"t":5,"f":65,"v":9.9e-7},"d6":{"t":5,"f":65,"v":5e-324},'
        '"f1":{"t":4,"f":65,"v":0.1},"id":{"t":3,"h":true,"f":11,"v":1},'
        '"t":{"t":252,"f":64,"v":"eA=="}}}'
    ),
)
UNICODE = (
    key_of(f'{{"ts":{TS},"scm":"数据库","tbl":"表\\u003c\\u0026\\u003e\\u2028\'\\"\\\\","t":1}}'),
    frame(
        '{"u":{"\\u003cb\\u0026":{"t":15,"f":64,"v":"\\u003ca href=\'x\'\\u003e\\u0026amp;"},'
        '"bin":{"t":15,"f":65,"v":"héllo 😀\\\\u2028\\\\u00ad\\\\\\"\\\\\\\\"},'
        '"ñ😀":{"t":15,"f":64,"v":"héllo 😀 \\u2028\x7f"},'
        '"主键":{"t":3,"h":true,"f":11,"v":1}}}'
    ),
)
UPDATE = (
    key_of('{"ts":5,"scm":"s","tbl":"t","rid":-7,"ptn":82,"t":1,"ohk":true,"ccl":"file:///x"}'),
    frame('{"u":{"a":{"t":3,"f":0,"v":1}},"p":{"a":{"t":3,"f":0,"v":null}}}'),
)
BATCH = (
    key_of(ROW_KEY, '{"ts":2,"scm":"s","tbl":"t","t":1}', '{"ts":3,"t":3}'),
    frame(ROW_VALUE, '{"d":{"a":{"t":3,"f":256,"v":1}}}', ""),
)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        pytest.param(RESOLVED, Message((Item(Key(TS, 3), None),)), id="resolved"),
        pytest.param(
            DDL,
            Message(
                (
                    Item(
                        Key(TS, 2, "test", "t1"),
                        Ddl("CREATE TABLE test.t1(id int primary key, val varchar(16))", 3),
                    ),
                )
            ),
            id="ddl",
        ),
        pytest.param(
            FLOATS,
            Message(
                (
                    Item(
                        Key(TS, 1, "test", "f"),
                        Row(
                            u=(
                                Column("d1", 5, False, 65, -0.0),
                                Column("d2", 5, False, 65, 1e21),
                                Column("d3", 5, False, 65, 1e20),
                                Column("d4", 5, False, 65, 1e-6),
                                Column("d5", 5, False, 65, 9.9e-7),
                                Column("d6", 5, False, 65, 5e-324),
                                Column("f1", 4, False, 65, 0.10000000149011612),
                                Column("id", 3, True, 11, 1),
                                Column("t", 252, False, 64, b"x"),
                            )
                        ),
                    ),
                )
            ),
            id="floats",
        ),
        pytest.param(
            UNICODE,
            Message(
                (
                    Item(
                        Key(TS, 1, "数据库", "表<&>\u2028'\"\\"),
                        Row(
                            u=(
                                Column("<b&", 15, False, 64, b"<a href='x'>&amp;"),
                                Column("bin", 15, False, 65, 'héllo 😀\u2028\u00ad"\\'.encode()),
                                Column("ñ😀", 15, False, 64, "héllo 😀 \u2028\x7f".encode()),
                                Column("主键", 3, True, 11, 1),
                            )
                        ),
                    ),
                )
            ),
            id="unicode",
        ),
        pytest.param(
            UPDATE,
            Message(
                (
                    Item(
                        Key(5, 1, "s", "t", -7, 82, True, "file:///x"),
                        Row(
                            u=(Column("a", 3, False, 0, 1),),
                            p=(Column("a", 3, False, 0, None),),
                        ),
                    ),
                )
            ),
            id="update-with-every-key-member",
        ),
        pytest.param(
            BATCH,
            Message(
                (
                    ROW,
                    Item(Key(2, 1, "s", "t"), Row(d=(Column("a", 3, False, 256, 1),))),
                    Item(Key(3, 3), None),
                )
            ),
            id="batch-of-mixed-kinds",
        ),
    ],
)
def test_message_both_ways(raw: tuple[bytes, bytes], message: Message) -> None:
    assert decode(raw[1], key=raw[0]) == message
    assert encode(message) == raw


def test_negative_zero_keeps_its_sign() -> None:
    value = decode(FLOATS[1], key=FLOATS[0]).items[0].value
    assert isinstance(value, Row)
    assert str((value.u or ())[0].value) == "-0.0"


@pytest.mark.parametrize(
    ("key", "value", "item"),
    [
        pytest.param(
            '{"ts":1,"scm":"s","tbl":"t","t":1,"ohk":true,"ptn":9}',
            '{"u":{"b":{"t":15,"f":64,"v":"<&>\u2028"},"a":{"t":3,"f":0,"v":1}},"p":{}}',
            Item(
                Key(1, 1, "s", "t", ptn=9, ohk=True),
                Row(
                    u=(
                        Column("b", 15, False, 64, "<&>\u2028".encode()),
                        Column("a", 3, False, 0, 1),
                    ),
                    p=(),
                ),
            ),
            id="table-order-and-empty-p",
        ),
        pytest.param(
            '{"ts":1,"scm":"s","tbl":"t","t":1,"ohk":true,"ohk":false,"ccl":"<x>","ptn":9}',
            ROW_VALUE,
            Item(Key(1, 1, "s", "t", ptn=9, ccl="<x>"), ROW.value),
            id="claim-check-with-ohk-twice",
        ),
        pytest.param(
            '{"ts":1,"scm":"s","tbl":"","t":2}',
            '{"q":"DROP DATABASE s","t":2}',
            Item(Key(1, 2, "s"), Ddl("DROP DATABASE s", 2)),
            id="empty-table",
        ),
        pytest.param('{"ts":1,"t":3}', "", Item(Key(1, 3), None), id="resolved"),
    ],
)
def test_ticdc_message_both_ways(key: str, value: str, item: Item) -> None:
    raw = (key_of(key), frame(value))
    assert decode(raw[1], key=raw[0]) == Message((item,))
    assert write_message(Message((item,)), "ticdc") == raw


@pytest.mark.parametrize(
    ("key", "path", "clause"),
    [
        (Key(1, 1, "s", "t", rid=1), ("key", 0, "rid"), "row id"),
        (Key(1, 1, "s", "t", ohk=True, ccl="x"), ("key", 0, "ohk"), "dialects"),
    ],
    ids=["row-id", "ohk-with-claim-check"],
)
def test_ticdc_key_that_has_no_form_is_not_encoded(key: Key, path: Path, clause: str) -> None:
    with pytest.raises(EncodeError) as caught:
        write_message(Message((Item(key, ROW.value),)), "ticdc")
    assert (caught.value.path, caught.value.clause) == (path, f"open-protocol: {clause}")


def test_tiflow_sorts_columns_by_their_bytes() -> None:
    names = ["c2", "c10", "C", "é", "c1", "\U00010000", "\uffff"]
    row = Row(u=tuple(Column(name, 3, False, 0, 1) for name in names))
    key, value = encode(Message((Item(ROW.key, row),)))
    found = decode(value, key=key).items[0].value
    assert isinstance(found, Row)
    assert [c.name for c in found.u or ()] == ["C", "c1", "c10", "c2", "é", "\uffff", "\U00010000"]


@pytest.mark.parametrize("value", [b"", None], ids=["empty", "null"])
def test_resolved_events_may_have_no_kafka_value(value: bytes | None) -> None:
    assert decode(value, key=key_of('{"ts":1,"t":3}', '{"ts":2,"t":3}')) == Message(
        (Item(Key(1, 3), None), Item(Key(2, 3), None))
    )


def test_selection_leaves_rows_of_other_tables_unread() -> None:
    key = key_of(ROW_KEY, '{"ts":1,"scm":"s","tbl":"x","t":1}', '{"ts":2,"t":3}')
    message = read_message(key, frame(ROW_VALUE, "no JSON", ""), Selection(frozenset({("s", "t")})))
    assert message == Message((ROW, Item(Key(2, 3), None)))


KEY_BYTES, VALUE_BYTES = BATCH


@pytest.mark.parametrize("cut", range(len(KEY_BYTES)))
def test_key_every_truncation_is_rejected(cut: int) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(VALUE_BYTES, key=KEY_BYTES[:cut])
    assert caught.value.offset == (cut if caught.value.path[0] == "key" else caught.value.offset)
    assert caught.value.clause in (
        "open-protocol: batch version",
        "open-protocol: item lengths",
        "open-protocol: item counts",
    )


@pytest.mark.parametrize("cut", range(len(VALUE_BYTES)))
def test_value_every_truncation_is_rejected_at_its_end(cut: int) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(VALUE_BYTES[:cut], key=KEY_BYTES)
    assert (caught.value.offset, caught.value.path[0]) == (cut, "value")
    assert caught.value.clause in ("open-protocol: item lengths", "open-protocol: item counts")


@pytest.mark.parametrize(
    ("key", "value", "offset", "path", "clause"),
    [
        pytest.param(None, b"", 0, ("key",), "framing", id="no-key"),
        pytest.param(b"", b"", 0, ("key",), "batch version", id="empty-key"),
        pytest.param(VERSION[:7], b"", 7, ("key",), "batch version", id="short-version"),
        pytest.param(bytes(8) + frame(ROW_KEY), b"", 0, ("key",), "batch version", id="version-0"),
        pytest.param(
            (2).to_bytes(8, "big") + frame(ROW_KEY),
            frame(ROW_VALUE),
            0,
            ("key",),
            "batch version",
            id="version-2",
        ),
        pytest.param(VERSION, b"", 8, ("key",), "item counts", id="no-item"),
        pytest.param(
            VERSION + (2**64 - 8).to_bytes(8, "big") + ROW_KEY.encode(),
            frame(ROW_VALUE),
            50,
            ("key", 0),
            "item lengths",
            id="length-that-wraps",
        ),
        pytest.param(
            VERSION + (2**63).to_bytes(8, "big") + ROW_KEY.encode(),
            frame(ROW_VALUE),
            50,
            ("key", 0),
            "item lengths",
            id="length-with-sign-bit",
        ),
        pytest.param(
            key_of(ROW_KEY),
            (32).to_bytes(8, "big") + ROW_VALUE.encode(),
            39,
            ("value", 0),
            "item lengths",
            id="length-one-too-long",
        ),
        pytest.param(
            key_of(ROW_KEY),
            (30).to_bytes(8, "big") + ROW_VALUE.encode(),
            39,
            ("value", 1),
            "item lengths",
            id="length-one-too-short",
        ),
        pytest.param(key_of(ROW_KEY), b"", 0, ("value", 0), "item counts", id="row-without-value"),
        pytest.param(
            key_of(ROW_KEY), None, 0, ("value", 0), "item counts", id="row-with-null-value"
        ),
        pytest.param(
            key_of(ROW_KEY, ROW_KEY),
            frame(ROW_VALUE),
            39,
            ("value", 1),
            "item counts",
            id="fewer-values",
        ),
        pytest.param(
            key_of(ROW_KEY),
            frame(ROW_VALUE, ROW_VALUE),
            39,
            ("value", 1),
            "item counts",
            id="more-values",
        ),
        pytest.param(
            key_of('{"ts":1,"t":3}'),
            frame("{}"),
            8,
            ("value", 0),
            "resolved value",
            id="resolved-with-a-value",
        ),
        pytest.param(
            key_of(ROW_KEY), frame(""), 8, ("value", 0), "json text", id="row-of-no-bytes"
        ),
        pytest.param(key_of(""), frame(""), 16, ("key", 0), "json text", id="key-of-no-bytes"),
    ],
)
def test_frame_that_breaks_a_rule_is_rejected(
    key: bytes | None, value: bytes | None, offset: int, path: Path, clause: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(value, key=key)
    assert (caught.value.offset, caught.value.path) == (offset, path)
    assert caught.value.clause == f"open-protocol: {clause}"


@pytest.mark.parametrize(
    ("item", "path", "clause"),
    [
        (Item(Key(-1, 3), None), ("key", 0, "ts"), "key members"),
        (Item(Key(2**64, 3), None), ("key", 0, "ts"), "key members"),
        (Item(Key(1, 4), None), ("key", 0, "t"), "event types"),
        (Item(Key(1, 3), Ddl("", 1)), ("value", 0), "event types"),
        (Item(Key(1, 1, "s", "t"), None), ("value", 0), "event types"),
        (Item(Key(1, 1, "", "t"), ROW.value), ("key", 0, "scm"), "key members"),
        (Item(Key(1, 1, "s", ""), ROW.value), ("key", 0, "tbl"), "key members"),
        (Item(Key(1, 1, "s", "x" * 1025), ROW.value), ("key", 0, "tbl"), "limits"),
        (Item(Key(1, 1, "\ud800", "t"), ROW.value), ("key", 0, "scm"), "json strings"),
        (Item(Key(1, 1, "s", "t", ptn=2**63), ROW.value), ("key", 0, "ptn"), "partition"),
        (Item(Key(1, 1, "s", "t", rid=-(2**63) - 1), ROW.value), ("key", 0, "rid"), "row id"),
        (Item(Key(1, 2), Ddl("\ud800", 1)), ("value", 0, "q"), "json strings"),
        (Item(Key(1, 2), Ddl("", 256)), ("value", 0, "t"), "ddl value"),
    ],
)
@pytest.mark.parametrize("dialect", ["tiflow", "ticdc"])
def test_item_that_has_no_form_is_not_encoded(
    item: Item, path: Path, clause: str, dialect: Dialect
) -> None:
    with pytest.raises(EncodeError) as caught:
        write_message(Message((item,)), dialect)
    assert (caught.value.path, caught.value.clause) == (path, f"open-protocol: {clause}")


def test_message_without_items_is_not_encoded() -> None:
    with pytest.raises(EncodeError) as caught:
        encode(Message(()))
    assert caught.value.clause == "open-protocol: item counts"


def _inflate(data: bytes) -> bytes:
    try:
        return zlib.decompress(data)
    except zlib.error as error:
        raise ValueError(str(error)) from error


ZLIB = Compression(zlib.compress, _inflate)
DDL_ITEM = Item(Key(1, 2, "s"), Ddl("q", 1))


def test_compression_holds_values_of_rows_and_ddl_only() -> None:
    message = Message((ROW, DDL_ITEM, Item(Key(2, 3), None)))
    key, value = write_message(message, "tiflow", ZLIB)
    assert key == encode(message)[0]
    assert value == frame(zlib.compress(ROW_VALUE.encode()), zlib.compress(b'{"q":"q","t":1}'), "")
    assert read_message(key, value, compression=ZLIB) == message


@pytest.mark.parametrize(
    ("item", "path", "clause"),
    [
        (b"not compressed", ("value", 0), "compression"),
        (
            zlib.compress(b'{"u":{"a":{"t":3,"v":1.0}}}'),
            ("value", 0, "u", "a", "v"),
            "integer values",
        ),
    ],
    ids=["not-compressed", "broken-inside"],
)
def test_compressed_item_is_reported_at_its_start(item: bytes, path: Path, clause: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_message(key_of(ROW_KEY), frame(item), compression=ZLIB)
    assert (caught.value.offset, caught.value.path) == (8, path)
    assert caught.value.clause == f"open-protocol: {clause}"


def items_with_values(
    item_count: int,
    value_count: int,
    compression: Compression | None = None,
    each: bytes = b"1",
) -> KafkaMessage:
    """Return a message of equal rows, each with a member that the reader ignores."""
    values = b",".join([each] * value_count)
    row = b'{"u":{"a":{"t":3,"f":0,"v":1}},"x":[' + values + b"]}"
    value = row if compression is None else compression.compress(row)
    return KafkaMessage(key_of(*item_count * [ROW_KEY]), frame(*item_count * [value]))


def problem_of(
    message: KafkaMessage, way: str, compressions: Mapping[str, Compression]
) -> DecodeError | None:
    """Return the error that a message gives in one way of reading."""
    options = {"large-message-handle-compression": "lz4"} if compressions else {}
    context = Context(options, compressions=compressions)
    if way == "explain":
        return FORMAT.explain(message).error
    try:
        if way == "fast":
            list(FORMAT.decoder(context)(message))
        else:
            list(FORMAT.to_events(message, context=context))
    except DecodeError as error:
        return error
    return None


WAYS = ["plain", "fast", "explain", "compressed"]


@pytest.fixture
def few_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a message have 20,000 values, since a million take seconds in each way."""
    assert limits.MAX_FAST_JSON_BYTES == 2 * limits.MAX_JSON_VALUES - 2
    for module in (limits, fast):
        monkeypatch.setattr(module, "MAX_FAST_JSON_BYTES", 2 * 20_000 - 2)
    monkeypatch.setattr(limits, "MAX_JSON_VALUES", 20_000)


@pytest.mark.usefixtures("few_values")
@pytest.mark.parametrize("way", WAYS)
def test_limit_of_values_holds_for_all_items_of_a_message(way: str) -> None:
    """Three items of 6,000 values are within 20,000, and the fourth one is not."""
    compressions = known_compressions() if way == "compressed" else {}
    lz4 = compressions.get("lz4")
    assert problem_of(items_with_values(3, 6_000, lz4), way, compressions) is None
    error = problem_of(items_with_values(4, 6_000, lz4), way, compressions)
    assert error is not None
    assert error.clause == "open-protocol: limits"
    assert error.path == ("value", 3)


@pytest.mark.usefixtures("few_values")
@pytest.mark.parametrize("way", WAYS)
def test_message_of_many_rows_may_have_a_value_for_each_four_bytes(way: str) -> None:
    """Rows as TiCDC writes them take six bytes and more for each value. Compressed bytes count."""
    compressions = known_compressions() if way == "compressed" else {}
    lz4 = compressions.get("lz4")
    error = problem_of(items_with_values(4, 6_000, lz4, b'"of"'), way, compressions)
    assert (error is not None) == (way == "compressed")
    error = problem_of(items_with_values(4, 6_000, lz4, b'""'), way, compressions)
    assert error is not None
    assert error.problem.startswith("more than 20000 values")


@pytest.mark.usefixtures("few_values")
@pytest.mark.parametrize("way", WAYS)
def test_item_has_limited_values_in_a_message_of_any_size(way: str) -> None:
    compressions = known_compressions() if way == "compressed" else {}
    lz4 = compressions.get("lz4")
    error = problem_of(items_with_values(1, 20_001, lz4, b'"often"'), way, compressions)
    assert error is not None
    assert error.problem.startswith("more than 20000 values")
    assert error.path == ("value", 0)


def test_limit_of_values_is_a_million() -> None:
    error = problem_of(items_with_values(1, 1_000_001), "plain", {})
    assert error is not None
    assert error.problem.startswith("more than 1000000 values")
