"""The fast decoder gives what the plain one gives, and refuses the same in the same words."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from decimal import Decimal

import pytest

from cdcwire.core.compiled import IRREGULARITIES
from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.rows import Row
from cdcwire.formats.maxwell_json.fast import RowDecoder
from cdcwire.formats.maxwell_json.format import FORMAT
from cdcwire.model import kinds
from cdcwire.model.events import Event, RowChange, Table
from cdcwire.model.kinds import Column
from cdcwire_generators.workloads import WORKLOAD_NAMES, workload, workload_tables

COLUMNS = (
    Column("id", kinds.IntType(64, True), "bigint unsigned"),
    Column("small", kinds.IntType(8)),
    Column("long", kinds.IntType(64)),
    Column("flag", kinds.BoolType()),
    Column("bits", kinds.BitType(3)),
    Column("year", kinds.YearType()),
    Column("price", kinds.DecimalType(10, 2)),
    Column("ratio", kinds.FloatType(32)),
    Column("weight", kinds.FloatType(64)),
    Column("note", kinds.TextType()),
    Column("raw", kinds.BytesType()),
    Column("day", kinds.DateType()),
    Column("clock", kinds.TimeType(3)),
    Column("at", kinds.DatetimeType(6)),
    Column("seen", kinds.TimestampType(3)),
    Column("color", kinds.EnumType(("red", "blue"), "label")),
    Column("tags", kinds.SetType(("x", "y"), "label")),
    Column("doc", kinds.JsonType()),
    Column("open", kinds.UnknownType()),
)
TABLE = Table("t", "s", columns=COLUMNS, key=("id",))
VALUES = {
    "id": ("18446744073709551615", "0", "18446744073709551616", "-1", "1e2"),
    "small": ("-128", "127", "128", "-0", "1.0", "01"),
    "long": ("9223372036854775807", "-9223372036854775808", "9223372036854775808", '"1"'),
    "flag": ("1", "-128", "true"),
    "bits": ("7", "8"),
    "year": ("0", "2155", "2156", "9999", '"2024"'),
    "price": ("1.50", "-0.00", "0E-10", "1e400", "0." + "0" * 64 + "1", "1" * 66, '"1.5"'),
    "ratio": ("1.5", "16777217", "1.00000017881393432617187499", "3.5e38", "-0.0", "-0"),
    "weight": ("1.0E21", "0.1", "-0.0", "1e999", "0." + "1" * 400, "NaN", "[1]"),
    "note": ('"a\\n\\u00e9\\uD83D\\uDE00"', '"é"', '"\\ud800"', '"a\tb"', "7", "[]"),
    "raw": ('"AAE="', '""', '"AAF="', '"A"', '"AA=="', '"A\\/A="', '"A\\u0041=="'),
    "day": ('"2024-02-31"', '"2024-13-01"', '"0000-00-00"', '"2024-1-01"'),
    "clock": ('"838:59:59"', '"-00:00:01.5"', '"838:59:59.1"'),
    "at": ('"2024-01-01 00:00:00"', '"2024-01-01 00:00:00.1234567"', '"2024-01-01T00:00:00"'),
    "seen": ('"2024-01-01 00:00:00.123"', '"2024-01-01 24:00:00"'),
    "color": ('"red"', '"none\\""', "1"),
    "tags": ('["x","y"]', "[]", '["\\ud800"]', '["x",1]', '"x"', "[[]]", '["x" ,"y"]', '["x",]'),
    "doc": (
        *('{"a": [1, {"b": null}]}', '{"a":1,"a":2}', '[[{"a":1,"a":1}]]', "[[[[[1]]]]]", '"text"'),
        *("true", "1e5", "[]", "{}", '{"a":"\\u0041"}', "[1,]", "[01]", '{"a":NaN}', '[" "," "]'),
    ),
    "open": (
        "1",
        "18446744073709551615",
        "18446744073709551616",
        "7.0",
        "1E4",
        "-0",
        "0.0",
        "true",
    ),
}
PARTS = {
    "members": ',"xid":5,"commit":true,"position":"b.1:4","gtid":null,"server_id":1,"thread_id":-2,'
    '"schema_id":3,"push_ts":1.5,"comment":"a\\"b","primary_key":[1,"a",null]',
    "xoffset": ',"xid":5,"xoffset":3,"gtid":"a:1"',
    "key columns": ',"primary_key_columns":["note","id"]',
    "key columns twice": ',"primary_key_columns":["id","id"]',
    "half a pair": ',"primary_key_columns":["\\ud800"]',
    "no commit": ',"commit":false',
    "other order": ',"position":"b.1:4","xid":5',
    "xid twice": ',"xid":5,"xid":5',
    "long xid": ',"xid":9223372036854775808',
    "filter": ',"mine":1',
    "position": ',"position":"\\ud800"',
}
PIECES = (b"", b"0", b'"', b"\\", b"}", b"e", b"null")
GOOD = {name: values[0] for name, values in VALUES.items()}
SELECTIONS = {
    "columns": Selection(columns=frozenset({"id", "note", "open"})),
    "another table": Selection(tables=frozenset({("s", "u")})),
}
CONTEXTS = {
    "defined": Context(tables=(TABLE,)),
    "not defined": Context(),
    "without nulls": Context({"output_nulls": False}, (TABLE,)),
    **{name: Context(tables=(TABLE,), selection=each) for name, each in SELECTIONS.items()},
}


def row(
    values: dict[str, str], kind: str = "insert", members: str = "", old: str | None = None
) -> bytes:
    data = ",".join(f'"{name}":{value}' for name, value in values.items())
    before = "" if old is None else f',"old":{{{old}}}'
    text = (
        f'{{"database":"s","table":"t","type":"{kind}","ts":7{members},"data":{{{data}}}{before}}}'
    )
    return text.encode("utf-8", "surrogatepass")


def outcome(decode: Callable[[], Iterable[Event]]) -> object:
    try:
        events = list(decode())
    except DecodeError as error:
        return (type(error), error.problem, error.offset, error.path, error.clause)
    images = [(each.before, each.after) for each in events if isinstance(each, RowChange)]
    return events, repr(images)


def assert_same(decoder: RowDecoder, message: KafkaMessage, context: Context) -> None:
    expected = outcome(lambda: FORMAT.to_events(message, context=context))
    assert outcome(lambda: decoder.decode_events(message)) == expected


def is_fast(decoder: RowDecoder, message: KafkaMessage) -> bool:
    try:
        decoder._usual(message)
    except IRREGULARITIES:
        return False
    return True


@pytest.mark.parametrize("context", CONTEXTS.values(), ids=CONTEXTS)
def test_each_value_gives_the_same(context: Context) -> None:
    decoder = RowDecoder(context)
    for name, values in VALUES.items():
        for value in (*values, "null"):
            changed = {**GOOD, name: value}
            for message in (
                row(changed),
                row(changed, "delete"),
                row(GOOD, "update", old=f'"{name}":{value}'),
                row(changed, "update", old=""),
                row(changed, "update"),
            ):
                assert_same(decoder, KafkaMessage(None, message), context)


@pytest.mark.parametrize("context", CONTEXTS.values(), ids=CONTEXTS)
def test_each_form_of_members_gives_the_same(context: Context) -> None:
    decoder = RowDecoder(context)
    olds = ("", '"id":1', '"id":null,"note":"a"', '"note":"a","id":1', '"id":1,"id":1', '"x":1')
    for members in ("", *PARTS.values()):
        for kind in ("insert", "bootstrap-insert", "delete", "update", "INSERT"):
            for old in (None, *olds, '"id":1,'):
                message = KafkaMessage(None, row(GOOD, kind, members, old))
                assert_same(decoder, message, context)


@pytest.mark.parametrize(
    "key",
    [
        b'{"database":"s","table":"t","pk.id":7,"pk.NOTE":"a"}',
        b'{"database":"s","table":"t","pk.id":[]}',
        b'{"database":"s","table":"t","_uuid":"x"}',
        b'["s","t",[{"id":7},{"Note":null}]]',
        b'["s","t",[]]',
        b'{"database":"s","table":"t","id":7}',
        b"",
    ],
)
def test_kafka_key_gives_the_same(key: bytes) -> None:
    for context in (Context(), Context(tables=(TABLE,))):
        decoder = RowDecoder(context)
        for _ in range(2):
            for changed in (key, key.replace(b"7", b'"7"'), key.replace(b"7", b"07")):
                assert_same(decoder, KafkaMessage(changed, row(GOOD)), context)


@pytest.mark.parametrize("name", WORKLOAD_NAMES)
@pytest.mark.parametrize("is_defined", [True, False])
def test_workload_gives_the_same_and_damaged_too(name: str, is_defined: bool) -> None:
    tables = tuple(workload_tables(name))
    events = workload(name, 40, 3, inserts_only=False)
    messages = list(FORMAT.from_events(events, context=Context(tables=tables)))
    context = Context(tables=tables if is_defined else ())
    decoder, chance = RowDecoder(context), random.Random(5)
    for message in messages:
        assert isinstance(message, KafkaMessage)
        assert message.value is not None
        assert_same(decoder, message, context)
        for _ in range(5):
            value = bytearray(message.value)
            at = chance.randrange(len(value))
            value[at : at + chance.randrange(3)] = chance.choice(
                (b"", b"0", b'"', b"\\", b"}", b"e")
            )
            assert_same(decoder, KafkaMessage(None, bytes(value)), context)


@pytest.mark.parametrize("tables", [(TABLE,), ()], ids=["defined", "not defined"])
def test_usual_rows_are_read_in_the_fast_way(tables: tuple[Table, ...]) -> None:
    decoder = RowDecoder(Context(tables=tables))
    decoder._credit.earn(1 << 20)
    good = {**GOOD, "weight": "0.5"}
    for message in (
        row(good),
        row(good, "delete"),
        row(good, "update", old='"small":1,"note":"a"'),
        row(good, members=PARTS["members"]),
        row({**good, "note": "null"}, "bootstrap-insert", PARTS["key columns"]),
    ):
        assert is_fast(decoder, KafkaMessage(None, message)), message
    key = b'{"database":"s","table":"t","pk.id":7}'
    assert is_fast(decoder, KafkaMessage(key, row(good)))


def test_row_without_transaction_is_a_typed_row() -> None:
    (found,) = RowDecoder(Context(tables=(TABLE,))).decode(KafkaMessage(None, row(GOOD)))
    assert isinstance(found, Row)
    assert found.new is not None
    assert found.new[:8] == (2**64 - 1, -128, 2**63 - 1, 1, 7, 0, "1.50", 1.5)
    after = found.to_event().after
    assert after is not None
    assert after.values[6] == Decimal("1.50")


def test_readers_of_a_table_are_bounded() -> None:
    decoder = RowDecoder()
    for index in range(2000):
        decoder.decode(KafkaMessage(None, row({f"c{index}": "1"})))
    (subject,) = decoder._subjects.values()
    assert len(subject.rows) <= 8
