"""Bytes that break the format: each is refused at its place, and no other error gets out."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import DecodeError, TruncatedError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionValue
from cdcwire.formats.avro import FORMAT, MemorySource, explain, read_settings
from cdcwire.formats.avro.writing import messages_of
from cdcwire.model.events import Event, Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType, Role, TextType, UnknownType
from cdcwire.mysql.declared import parse_declared, type_of_declared


def column(name: str, source: str, nullable: bool = True, *roles: Role) -> Column:
    kind = type_of_declared(parse_declared(source))
    return Column(name, kind, source, nullable, roles=frozenset(roles))


COLUMNS = (
    column("id", "int", False, "primary", "handle"),
    column("name", "varchar(20)"),
    column("big", "bigint unsigned"),
    column("f", "float"),
    column("b", "bit(10)"),
    column("at", "timestamp"),
)
VALUES = (1, "ä", 2**64 - 1, 0.5, 5, "2024-01-02 03:04:05")
ROW = RowChange(
    Table("t", "shop", key=("id",)),
    "insert",
    None,
    Image(COLUMNS, VALUES),
    Position(commit_ts=450000000000000001),
)


def sent(**options: OptionValue) -> tuple[KafkaMessage, Context]:
    given = {name.replace("_", "-"): value for name, value in options.items()}
    settings = read_settings(given)
    source = MemorySource(registry=settings.registry)
    (message,) = messages_of([ROW], settings, (), source)
    return message, Context(options=given, schemas=source.texts)


def back(message: KafkaMessage, context: Context) -> Event:
    (event,) = FORMAT.to_events(message, context=context)
    return event


MESSAGE, CONTEXT = sent(enable_tidb_extension=True)
KEY, VALUE = MESSAGE.key or b"", MESSAGE.value or b""


def refused(key: bytes | None, value: bytes | None, context: Context = CONTEXT) -> DecodeError:
    with pytest.raises(DecodeError) as caught:
        list(FORMAT.to_events(KafkaMessage(key, value), context=context))
    return caught.value


def test_every_truncation_is_rejected_at_its_end() -> None:
    for part, data in (("key", KEY), ("value", VALUE)):
        for cut in range(len(data)):
            pair = (data[:cut], VALUE) if part == "key" else (KEY, data[:cut])
            error = refused(*pair)
            assert (error.offset, error.path[0]) == (cut, part)
            assert isinstance(error, TruncatedError)


def test_trailing_byte_is_rejected_where_it_stands() -> None:
    error = refused(KEY, VALUE + b"\0")
    assert (error.offset, error.clause) == (len(VALUE), "avro: trailing bytes")


DAMAGE: dict[str, tuple[bytes | None, bytes | None, int, str]] = {
    "nothing": (None, None, 0, "avro: messages"),
    "empty value": (KEY, b"", 0, "avro: envelope"),
    "magic": (KEY, b"\x01" + VALUE[1:], 0, "avro: envelope"),
    "unknown id": (KEY, b"\0\0\0\0\x63" + VALUE[5:], 1, "avro: registry"),
    "negative id": (KEY, b"\0\xff\xff\xff\xff" + VALUE[5:], 1, "avro: registry"),
    "no ddl": (None, b"\x01[]", 1, "avro: ddl"),
    "ddl without query": (None, b"\x01{}", 2, "avro: ddl"),
    "ddl of a large number": (
        None,
        b'\x01{"query":"","type":256,"schema":"","table":"","commitTs":1}',
        20,
        "avro: ddl",
    ),
    "short checkpoint": (None, b"\x02\0", 2, "avro: watermark"),
    "long checkpoint": (None, b"\x02" + b"\0" * 9, 9, "avro: trailing bytes"),
    "delete without key": (None, b"\x03" + b"\0" * 8, 0, "avro: envelope"),
}


@pytest.mark.parametrize(("key", "value", "offset", "clause"), DAMAGE.values(), ids=DAMAGE)
def test_damage_is_rejected(
    key: bytes | None, value: bytes | None, offset: int, clause: str
) -> None:
    error = refused(key, value)
    assert (error.offset, error.clause) == (offset, clause)
    explained = FORMAT.explain(KafkaMessage(key, value), context=CONTEXT)
    assert explained.error is not None
    assert explained.error.args[:2] == error.args[:2]


def test_glue_header_is_checked() -> None:
    message, context = sent(registry="glue")
    value = message.value or b""
    assert refused(message.key, b"\0" + value[1:], context).offset == 0
    assert refused(message.key, b"\x03\x01" + value[2:], context).offset == 1
    unknown = refused(message.key, value[:2] + b"\0" * 16 + value[18:], context)
    assert (unknown.offset, unknown.clause) == (2, "avro: registry")


def test_schema_that_is_none_is_reported_at_its_id() -> None:
    for text, clause in (("<html>", "avro: schema text"), ('"int"', "avro: schema text")):
        context = Context(schemas={**CONTEXT.schemas, "2": text})
        error = refused(KEY, VALUE, context)
        assert (error.offset, error.path, error.clause) == (1, ("value",), clause)


BAD_VALUES: dict[str, tuple[str, str, str, str]] = {
    "unsigned text": ("BIGINT UNSIGNED", '"string"', "043031", "avro: bigint unsigned"),
    "unsigned text beyond": (
        "BIGINT UNSIGNED",
        '"string"',
        "28" + b"18446744073709551616".hex(),
        "avro: bigint unsigned",
    ),
    "other digits": ("BIGINT UNSIGNED", '"string"', "04d9a3", "avro: bigint unsigned"),
    "no decimal": ("DECIMAL", '"string"', "02" + b"x".hex(), "avro: decimal text"),
    "decimal of no bytes": (
        "DECIMAL",
        '"bytes","logicalType":"decimal","precision":6,"scale":3',
        "00",
        "avro: decimal values",
    ),
    "bit of no bytes": ("BIT", '"bytes"', "00", "avro: bit values"),
    "bit of 9 bytes": ("BIT", '"bytes"', "12" + "00" * 9, "avro: bit values"),
    "no vector": ("TiDBVECTORFloat32", '"string"', "02" + b"x".hex(), "avro: vector values"),
    "negative unsigned": ("INT UNSIGNED", '"long"', "01", "avro: integer values"),
}


@pytest.mark.parametrize(
    ("tidb_type", "avro", "raw", "clause"), BAD_VALUES.values(), ids=BAD_VALUES
)
def test_value_that_the_column_can_not_have_is_rejected(
    tidb_type: str, avro: str, raw: str, clause: str
) -> None:
    parameters = f'"connect.parameters":{{"tidb_type":"{tidb_type}"}}'
    text = (
        '{"type":"record","name":"t","fields":[{"name":"c","type":'
        f'["null",{{"type":{avro},{parameters}}}]}}]}}'
    )
    error = refused(None, bytes.fromhex("0000000001" + "02" + raw), Context(schemas={"1": text}))
    assert (error.offset, error.path, error.clause) == (6, ("value", "c"), clause)


def test_ill_formed_string_that_is_not_text_is_rejected() -> None:
    text = (
        '{"type":"record","name":"t","fields":[{"name":"c","type":{"type":"string",'
        '"connect.parameters":{"tidb_type":"JSON"}}}]}'
    )
    error = refused(None, bytes.fromhex("0000000001" + "0461ff"), Context(schemas={"1": text}))
    assert (error.offset, error.clause) == (7, "avro: json values")


def test_unknown_operation_is_rejected_where_it_stands() -> None:
    place = VALUE.rindex(b"\x02c")
    error = refused(KEY, VALUE[:place] + b"\x02x" + VALUE[place + 2 :])
    assert (error.offset, error.path) == (place, ("value", "_tidb_op"))


def test_foreign_record_is_read() -> None:
    text = (
        '{"type":"record","name":"Foreign","fields":[{"name":"n","type":"long"},'
        '{"name":"s","type":["null","string"]},{"name":"list","type":{"type":"array","items":"int"}},'
        '{"name":"g","type":{"type":"bytes","connect.parameters":{"tidb_type":"GEOMETRY"}}}]}'
    )
    context = Context(schemas={"1": text})
    message = KafkaMessage(None, bytes.fromhex("0000000001" + "02" + "020261" + "020200" + "02ff"))
    found = back(message, context)
    assert isinstance(found, RowChange)
    assert found.after is not None
    assert found.after.values == (1, "a", "[1]", b"\xff")
    assert [each.type for each in found.after.columns] == [
        *(IntType(64), TextType(), UnknownType(), UnknownType()),
    ]
    explained = FORMAT.explain(message, context=context)
    assert explained.warnings == ("value.g: tidb_type 'GEOMETRY' is not known",)
    assert [span.start for span in explained.spans] == [0, 1, 5, 6, 7, 9, 10, 11, 12]


def test_selection_passes_over_other_tables_undecoded() -> None:
    other = replace(CONTEXT, selection=Selection(tables=frozenset({("shop", "other")})))
    assert list(FORMAT.to_events(KafkaMessage(KEY, VALUE[:9]), context=other)) == []
    some = replace(CONTEXT, selection=Selection(columns=frozenset({"name"})))
    found = back(MESSAGE, some)
    assert isinstance(found, RowChange)
    assert found.after is not None
    assert found.after.names == ("name",)


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(key: bytes, value: bytes) -> None:
    head = VALUE[:5]
    for pair in ((None, value), (key, value), (KEY, head + value), (KEY[:5] + key, VALUE)):
        with suppress(DecodeError):
            list(FORMAT.to_events(KafkaMessage(*pair), context=CONTEXT))
        explained = explain(KafkaMessage(*pair), context=CONTEXT)
        for part, data in zip(("key", "value"), pair, strict=True):
            spans = [span for span in explained.spans if span.part == part]
            ends = [0, *(span.end for span in spans)]
            assert [span.start for span in spans] == ends[: len(spans)]
            if explained.error is None:
                assert sum(span.end - span.start for span in spans) == len(data or b"")
