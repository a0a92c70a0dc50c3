"""The fast decoder of Debezium's messages says what the plain one says, good or broken."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionValue
from cdcwire.formats.debezium_json.fast import RowDecoder
from cdcwire.formats.debezium_json.format import FORMAT
from cdcwire.model.events import Event, Image, Position, RowChange, Table
from cdcwire.model.kinds import BytesType, Column, DecimalType, IntType, JsonType, TextType

FEEDS = ("debezium-1.4-default.jsonl", "debezium-modes.jsonl")
OPTIONS: dict[str, dict[str, OptionValue]] = {
    "default": {},
    "full": {"replica-identity": "full"},
    "strict": {"lint": "strict"},
    "defaults": {"replace-null-with-default": True},
    "alone": {"schemas-enable": "false"},
    "reads": {"read-r-as-c": True},
}
SELECTIONS = {
    "all": Selection(),
    "table": Selection(tables=frozenset({("public", "ct_pg2hudi")})),
    "columns": Selection(columns=frozenset({"id", "c_text"})),
}


@lru_cache(maxsize=1)
def messages() -> tuple[KafkaMessage, ...]:
    """Return messages that are short enough to be damaged one by one."""
    found = []
    for name in FEEDS:
        for line in Path(__file__).with_name(name).read_text().splitlines():
            entry = json.loads(line)
            key, value = (None if entry[n] is None else entry[n].encode() for n in ("key", "value"))
            if value is None or len(value) < 4000:
                found.append(KafkaMessage(key, value))
    return tuple(found)


def outcome(decode: object, message: KafkaMessage) -> object:
    assert callable(decode)
    try:
        return repr(list(decode(message)))
    except DecodeError as error:
        return type(error), error.args, error.path


@pytest.mark.parametrize(
    ("options", "selection"),
    [*((name, "all") for name in OPTIONS), ("default", "table"), ("default", "columns")],
)
def test_feed_is_that_of_the_plain_decoder(options: str, selection: str) -> None:
    context = Context(options=OPTIONS[options], selection=SELECTIONS[selection])
    decoder = RowDecoder(context)
    for message in messages() * 2:
        plain = outcome(lambda one: FORMAT.to_events(one, context=context), message)
        assert outcome(decoder.decode, message) == plain


CHANGES = (b"", b"0", b"null", b'"', b"}", b",", b'"d"', b"\\ud800", b" ", b"-", b"1e5", b'"=="')


@given(st.data())
def test_damaged_message_is_that_of_the_plain_decoder(data: st.DataObject) -> None:
    """fast(b) is plain(b), whatever b is."""
    message = data.draw(st.sampled_from([one for one in messages() if one.value is not None]))
    assert message.value is not None
    decoder = RowDecoder()
    for _ in range(3):
        decoder.decode(message)
    start = message.value.find(b'},"payload":') + 1
    parts = {"value": (message.value, start), "key": (message.key or b"{}", 0)}
    name = data.draw(st.sampled_from(sorted(parts)))
    part, first = parts[name]
    at = data.draw(st.integers(first, len(part)))
    end = data.draw(st.integers(at, min(at + 8, len(part))))
    part = part[:at] + data.draw(st.sampled_from(CHANGES)) + part[end:]
    key, value = (message.key, part) if name == "value" else (part, message.value)
    damaged = KafkaMessage(key, value)
    plain = outcome(lambda one: FORMAT.to_events(one, context=Context()), damaged)
    assert outcome(decoder.decode, damaged) == plain


def test_known_schema_is_read_the_fast_way(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [one for one in messages() if b'"op":"c"' in (one.value or b"")][:4]
    decoder = RowDecoder()
    for message in rows * 3:
        decoder.decode(message)
    monkeypatch.setattr("cdcwire.formats.debezium_json.fast.read_message", None)
    assert all(len(decoder.decode_events(message)) == 1 for message in rows)


COLUMNS = (
    Column("id", IntType(32), nullable=False),
    Column("v", TextType(), nullable=True),
    Column("d", DecimalType(8, 2), nullable=True),
    Column("b", BytesType(), nullable=True),
)
TABLES = (
    Table("t", "public", columns=COLUMNS, key=("id",)),
    Table("u", "public", columns=(*COLUMNS[:3], Column("b", TextType())), key=("id",)),
)


def alone(dialect: str) -> list[KafkaMessage]:
    """Return changes of two tables whose columns differ in their types only, without schema."""
    position = Position(lsn=2**60, tx_id="7", commit_ms=5, sent_ms=6)
    events: list[Event] = []
    for number in range(4):
        for table in TABLES:
            columns = table.columns or ()
            last = b"ab" if table.name == "t" else "YWI="
            values = (number, f'"{number}', Decimal(number).scaleb(-2), last)
            new = Image(columns, values if number % 2 else (number, None, None, None))
            old = Image(columns, (number, "x", None, last))
            events.append(RowChange(table, "insert", None, new, position))
            events.append(RowChange(table, "update", old, new, position))
            events.append(RowChange(table, "delete", old, None, position))
    options: dict[str, OptionValue] = {"dialect": dialect, "schemas-enable": "false"}
    found = FORMAT.from_events(events, context=Context(options=options))
    return [one for one in found if isinstance(one, KafkaMessage)]


DIALECTS = ("cdl", "debezium-1.4", "debezium-2.7", "debezium-3.2")


@pytest.mark.parametrize("enable", ["auto", "false", "true"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_payload_alone_is_that_of_the_plain_decoder(dialect: str, enable: str) -> None:
    context = Context(options={"schemas-enable": enable}, tables=TABLES)
    decoder = RowDecoder(context)
    for message in alone(dialect) * 2:
        plain = outcome(lambda one: FORMAT.to_events(one, context=context), message)
        assert outcome(decoder.decode, message) == plain


def test_definition_with_a_column_twice_makes_no_pattern_with_a_member_twice() -> None:
    table = replace(TABLES[0], columns=(*COLUMNS, COLUMNS[-1]))
    context = Context(tables=(table,))
    decoder = RowDecoder(context)
    message = alone("debezium-2.7")[0]
    assert list(decoder.decode(message)) == list(decoder.decode(message))
    twice = (message.value or b"").replace(b'"b":null', b'"b":null,"b":null')
    assert twice != message.value
    with pytest.raises(DecodeError, match="member 'b' appears twice"):
        decoder.decode(KafkaMessage(message.key, twice))


@given(st.data())
def test_damaged_payload_alone_is_that_of_the_plain_decoder(data: st.DataObject) -> None:
    """fast(b) is plain(b), whatever b is."""
    context = Context(tables=TABLES)
    decoder = RowDecoder(Context(tables=TABLES))
    feed = alone("debezium-2.7")
    for message in feed[:8]:
        decoder.decode(message)
    message = data.draw(st.sampled_from(feed))
    value = message.value or b""
    at = data.draw(st.integers(0, len(value)))
    end = data.draw(st.integers(at, min(at + 8, len(value))))
    damaged = value[:at] + data.draw(st.sampled_from(CHANGES)) + value[end:]
    message = KafkaMessage(message.key, damaged)
    plain = outcome(lambda one: FORMAT.to_events(one, context=context), message)
    assert outcome(decoder.decode, message) == plain


def test_payload_of_a_known_table_is_read_the_fast_way(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder = RowDecoder(Context(tables=TABLES))
    feed = [one for one in alone("debezium-3.2") if one.value is not None]
    for message in feed[:6]:
        decoder.decode(message)
    monkeypatch.setattr("cdcwire.formats.debezium_json.fast.read_message", None)
    assert all(len(decoder.decode_events(message)) == 1 for message in feed)


@pytest.mark.parametrize("schema", ['""', "null"])
def test_tables_of_two_databases_without_schema_keep_their_definitions(schema: str) -> None:
    columns = COLUMNS[0], Column("v", TextType(), nullable=True)
    tables = (
        Table("t", "a", columns=columns, key=("id",)),
        Table("t", "b", columns=(columns[0], Column("v", JsonType())), key=("id",)),
    )
    context = Context(tables=tables)
    decoder = RowDecoder(context)
    value = (
        '{"before":null,"after":{"id":1,"v":"5"},"source":{"version":"2.7.4.Final",'
        '"connector":"mysql","name":"n","ts_ms":1,"snapshot":"false","db":"%s","schema":%s,'
        '"table":"t"},"op":"c","ts_ms":3}'
    )
    kinds = []
    for name in ("a", "a", "b", "b", "a"):
        message = KafkaMessage(b'{"id":1}', (value % (name, schema)).encode())
        plain = outcome(lambda one: FORMAT.to_events(one, context=context), message)
        assert outcome(decoder.decode, message) == plain
        [event] = decoder.decode_events(message)
        assert isinstance(event, RowChange)
        assert event.after is not None
        kinds.append(event.after.columns[1].type)
    text, json_kind = TextType(), JsonType()
    assert kinds == [text, text, json_kind, json_kind, text]


MYSQL = (
    b'{"before":null,"after":{"id":1,"v":"x","d":"AQ==","b":null},"source":{"version":"2.7.4.Final",'
    b'"connector":"mysql","name":"n","ts_ms":1,"snapshot":"false","db":"public","sequence":null,'
    b'"ts_us":1000,"ts_ns":1000000,"table":"t","server_id":5,"gtid":"3e:7","file":"b.1","pos":4,'
    b'"row":0,"thread":6,"query":null},"transaction":null,"op":"c","ts_ms":3,"ts_us":3,"ts_ns":3}'
)
TRANSACTION = b'"transaction":{"id":"tx","total_order":2,"data_collection_order":1}'
NUMBERS = MYSQL.replace(b'"d":"AQ=="', b'"d":"%d.50"')
LIKE_MYSQL: dict[str, tuple[bytes, bytes | None, tuple[Table, ...]]] = {
    "definition": (MYSQL, b'{"id":1}', TABLES),
    "no definition": (MYSQL, b'{"id":1}', ()),
    "key unknown": (MYSQL, None, TABLES),
    "transaction": (MYSQL.replace(b'"transaction":null', TRANSACTION), b'{"id":1}', TABLES),
    "decimals as text": (NUMBERS % 7, b'{"id":1}', TABLES),
    "no key": (MYSQL, b"", TABLES),
    "text key": (MYSQL, b'{"id":"a","w":null}', TABLES),
}


@pytest.mark.parametrize("case", LIKE_MYSQL)
def test_payload_of_mysql_is_read_the_fast_way(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    value, key, tables = LIKE_MYSQL[case]
    context = Context(tables=tables)
    message = KafkaMessage(key or None, value, has_key=key is not None)
    decoder = RowDecoder(context)
    plain = outcome(lambda one: FORMAT.to_events(one, context=context), message)
    assert outcome(decoder.decode, message) == plain
    monkeypatch.setattr("cdcwire.formats.debezium_json.fast.read_message", None)
    assert outcome(decoder.decode, message) == plain


@pytest.mark.parametrize("tables", [TABLES, ()])
@given(data=st.data())
def test_damaged_payload_of_mysql_is_that_of_the_plain_decoder(
    tables: tuple[Table, ...], data: st.DataObject
) -> None:
    """fast(b) is plain(b) for any b."""
    context = Context(tables=tables)
    decoder = RowDecoder(context)
    for value in (MYSQL, NUMBERS % 7):
        decoder.decode(KafkaMessage(b'{"id":1}', value))
    at = data.draw(st.integers(0, len(MYSQL)))
    end = data.draw(st.integers(at, min(at + 8, len(MYSQL))))
    damaged = MYSQL[:at] + data.draw(st.sampled_from(CHANGES)) + MYSQL[end:]
    message = KafkaMessage(b'{"id":1}', damaged)
    plain = outcome(lambda one: FORMAT.to_events(one, context=context), message)
    assert outcome(decoder.decode, message) == plain


def test_null_of_a_column_without_definition_has_no_type() -> None:
    decoder = RowDecoder()
    decoder.decode(KafkaMessage(b'{"id":1}', MYSQL))
    message = KafkaMessage(b'{"id":1}', MYSQL.replace(b'"v":"x"', b'"v":null'))
    plain = list(FORMAT.to_events(message, context=Context()))
    assert list(decoder.decode(message)) == plain


@pytest.mark.parametrize("text", ["1234", "12.5", "-1234", "-123", "12"])
def test_decimal_is_read_in_the_form_that_its_text_shows(text: str) -> None:
    context = Context(tables=TABLES)
    decoder = RowDecoder(context)
    for value in (MYSQL, NUMBERS % 7):
        decoder.decode(KafkaMessage(b'{"id":1}', value))
    message = KafkaMessage(b'{"id":1}', MYSQL.replace(b"AQ==", text.encode()))
    plain = outcome(lambda one: FORMAT.to_events(one, context=context), message)
    assert outcome(decoder.decode, message) == plain


BOUNDED = Table(
    "t",
    "public",
    columns=(
        Column("id", IntType(8, unsigned=True), nullable=False),
        Column("v", IntType(64, unsigned=True)),
        Column("d", DecimalType(3, 2)),
        Column("b", BytesType(2)),
    ),
)
AT_LIMITS = {
    "id": (b'"id":1,', (b"0", b"255", b"256", b"-1")),
    "v": (b'"v":"AQ=="', (b"1", b"-1", b"9223372036854775807", b"9223372036854775808")),
    "v as bytes": (b'"v":"AQ=="', (b'"AA=="', b'"AP//////////"', b'"AQAAAAAAAAAA"', b'"/w=="')),
    "d": (b'"d":"AQ=="', (b'"A+c="', b'"A+g="', b'"/Bk="', b'"/Bg="', b'"1234"', b'"9.99"')),
    "b": (b'"b":null', (b'"YWI="', b'"YWJj"', b'""')),
}


@pytest.mark.parametrize("case", AT_LIMITS)
def test_value_at_the_limit_of_its_definition_is_that_of_the_plain_decoder(case: str) -> None:
    context = Context(tables=(BOUNDED,))
    decoder = RowDecoder(context)
    sent, texts = AT_LIMITS[case]
    value = MYSQL.replace(b'"v":"x"', b'"v":"AQ=="')
    for text in (sent.partition(b":")[2].strip(b","), *texts) * 2:
        name = sent.partition(b":")[0]
        changed = value.replace(sent.strip(b","), b"%b:%b" % (name, text))
        message = KafkaMessage(b'{"id":1}', changed)
        plain = outcome(lambda one: FORMAT.to_events(one, context=context), message)
        assert outcome(decoder.decode, message) == plain


def test_broken_source_of_a_table_that_is_not_wanted_is_refused() -> None:
    decoder = RowDecoder(Context(selection=Selection(tables=frozenset({("a", "b")}))))
    assert list(decoder.decode(KafkaMessage(b'{"id":1}', MYSQL))) == []
    broken = MYSQL.replace(b'"file":"b.1"', b'"file":1')
    with pytest.raises(DecodeError, match="file is not a string"):
        decoder.decode(KafkaMessage(b'{"id":1}', broken))


def test_null_in_place_of_the_key_of_cdl_has_no_columns() -> None:
    value = next(each.value for each in alone("cdl") if each.value is not None)
    decoder = RowDecoder()
    for changed in (value, value.replace(b'"unique":{"id":0}', b'"unique":null')):
        message = KafkaMessage(None, changed)
        plain = outcome(lambda one: FORMAT.to_events(one, context=Context()), message)
        assert outcome(decoder.decode, message) == plain
    assert changed != value


@pytest.mark.parametrize("name", ["v", "connector"])
def test_column_that_says_ticdc_is_that_of_the_plain_decoder(name: str) -> None:
    columns = (COLUMNS[0], replace(COLUMNS[1], name=name), *COLUMNS[2:])
    context = Context(tables=(replace(TABLES[0], columns=columns),))
    decoder = RowDecoder(context)
    for text in ("mysql", "TiCDC", "mysql"):
        value = MYSQL.replace(b'"v":"x"', f'"{name}":"{text}"'.encode())
        message = KafkaMessage(b'{"id":1}', value)
        plain = outcome(lambda one: FORMAT.to_events(one, context=context), message)
        assert outcome(decoder.decode, message) == plain


def test_key_of_ticdc_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    value = b'{"payload":%b}' % MYSQL.replace(b'"mysql"', b'"TiCDC"')
    message = KafkaMessage(b'{"payload":{"id":1}}', value)
    decoder = RowDecoder()
    monkeypatch.setattr(decoder, "keys", None)
    assert list(decoder._plain(message)) == list(decoder.decode(message))


SCHEMA_OF_KEY = (
    b'{"schema":{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"},'
    b'{"type":"string","optional":true,"field":"n"}],"optional":false,"name":"k"},"payload":%b}'
)


@pytest.mark.parametrize(
    "payload",
    [
        *(b'{"id":1,"n":null}', b'{"id":-7,"n":"a"}', b'{"id":2147483648,"n":null}'),
        *(b'{"id":1,"n":"\\ud800"}', b'{"id":1,"n":"\\u0061"}', b'{"id":1,"n":"\xff"}'),
        *(
            b'{"id":null,"n":"a"}',
            b'{"id":1}',
            b'{"id":1,"n":null} ',
            b'{"id":01,"n":null}',
            b"null",
        ),
    ],
)
def test_key_with_schema_is_that_of_the_plain_decoder(payload: bytes) -> None:
    decoder = RowDecoder()
    for each in (b'{"id":5,"n":"b"}', b'{"id":6,"n":"c"}', b'{"id":7,"n":"d"}', payload):
        message = KafkaMessage(SCHEMA_OF_KEY % each, MYSQL)
        plain = outcome(lambda one: FORMAT.to_events(one, context=Context()), message)
        assert outcome(decoder.decode, message) == plain


def test_learned_plans_are_bounded() -> None:
    decoder = RowDecoder()
    for number in range(300):
        value = MYSQL.replace(b'"v"', b'"v%d"' % number)
        key = b'{"id%d":1}' % number
        assert len(decoder.decode_events(KafkaMessage(key, value))) == 1
    assert decoder.alone.tables.weight <= decoder.alone.tables.limit
    assert 0 < sum(len(table.plans) for table in decoder.alone.tables.values()) < 30
    assert 0 < len(decoder.keys.forms) <= 16
