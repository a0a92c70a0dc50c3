"""Avro's binary encoding: every type both ways, and bytes that lie."""

from __future__ import annotations

import math
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.apache_avro.binary import DatumReader, read_int, read_long, write_datum
from cdcwire.apache_avro.schema import AvroType, Branch, parse_schema
from cdcwire.core.errors import DecodeError, EncodeError, TruncatedError
from cdcwire.core.reader import Reader

LINKED = '{"type":"record","name":"L","fields":[{"name":"next","type":["null","L"]}]}'
TYPES: dict[str, tuple[str, Any, str]] = {
    "null": ('"null"', None, ""),
    "boolean": ('"boolean"', True, "01"),
    "int": ('"int"', -(1 << 31), "ffffffff0f"),
    "long": ('"long"', (1 << 63) - 1, "feffffffffffffffff01"),
    "float": ('"float"', 1.5, "0000c03f"),
    "double": ('"double"', -0.0, "0000000000000080"),
    "bytes": ('"bytes"', b"\0\xff", "0400ff"),
    "string": ('"string"', "é", "04c3a9"),
    "nullable": ('["int","null"]', None, "02"),
    "not null": ('["int","null"]', 7, "000e"),
    "union": ('["int","string","null"]', Branch(1, "a"), "020261"),
    "array": ('{"type":"array","items":"int"}', (1, 2), "04020400"),
    "no items": ('{"type":"array","items":"int"}', (), "00"),
    "map": ('{"type":"map","values":"int"}', (("a", 1),), "0202610200"),
    "fixed": ('{"type":"fixed","name":"F","size":2}', b"ab", "6162"),
    "enum": ('{"type":"enum","name":"E","symbols":["a","b"]}', "b", "02"),
    "record": (
        '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}',
        (1,),
        "02",
    ),
    "recursive": (LINKED, ((None,),), "0200"),
}
each_type = pytest.mark.parametrize(("text", "value", "raw"), TYPES.values(), ids=TYPES)


def type_of(text: str) -> AvroType:
    record = parse_schema(f'{{"type":"record","name":"T","fields":[{{"name":"f","type":{text}}}]}}')
    return record.fields[0].type


def read(kind: AvroType, data: bytes) -> Any:
    reader = Reader(data)
    value = DatumReader(reader).read(kind, ())
    reader.expect_end("avro: trailing bytes")
    return value


@each_type
def test_value_is_written_and_read(text: str, value: Any, raw: str) -> None:
    kind, out = type_of(text), bytearray()
    write_datum(out, kind, value)
    assert out.hex() == raw
    assert read(kind, bytes(out)) == value


@each_type
def test_every_truncation_is_rejected_at_its_end(text: str, value: Any, raw: str) -> None:
    data = bytes.fromhex(raw)
    for cut in range(len(data)):
        with pytest.raises(TruncatedError) as caught:
            read(type_of(text), data[:cut])
        assert caught.value.offset == cut


@each_type
def test_value_of_another_type_is_not_written(text: str, value: Any, raw: str) -> None:
    with pytest.raises(EncodeError):
        write_datum(bytearray(), type_of(text), object())


def test_nan_and_infinity_are_carried() -> None:
    out = bytearray()
    write_datum(out, type_of('"float"'), math.inf)
    assert read(type_of('"float"'), bytes(out)) == math.inf


LIES: dict[str, tuple[str, str, int, str]] = {
    "int of 6 bytes": ('"int"', "808080808000", 0, "avro: varints"),
    "int beyond 32 bits": ('"int"', "ffffffff1f", 0, "avro: varints"),
    "long of 11 bytes": ('"long"', "80" * 10 + "00", 0, "avro: varints"),
    "long beyond 64 bits": ('"long"', "ff" * 9 + "02", 0, "avro: varints"),
    "negative length": ('"bytes"', "01", 0, "avro: lengths"),
    "length beyond": ('"string"', "fe" + "ff" * 8 + "01", 10, "avro: lengths"),
    "boolean of 2": ('"boolean"', "02", 0, "avro: binary encoding"),
    "ill-formed string": ('"string"', "04c328", 1, "avro: text values"),
    "branch beyond": ('["null","int"]', "04", 0, "avro: union index"),
    "negative branch": ('["null","int"]', "01", 0, "avro: union index"),
    "symbol beyond": (
        '{"type":"enum","name":"E","symbols":["a"]}',
        "02",
        0,
        "avro: binary encoding",
    ),
    "block of terabytes": (
        '{"type":"array","items":"null"}',
        "80808080808020",
        0,
        "avro: lengths",
    ),
    "block size beyond": ('{"type":"array","items":"int"}', "01e80700", 1, "avro: lengths"),
    "block size that lies": (
        '{"type":"array","items":"int"}',
        "0104020000",
        3,
        "avro: lengths",
    ),
    "trailing": ('"int"', "0200", 1, "avro: trailing bytes"),
    "nested without end": (LINKED, "02" * 200, 32, "avro: limits"),
}


@pytest.mark.parametrize(("text", "raw", "offset", "clause"), LIES.values(), ids=LIES)
def test_lie_is_rejected(text: str, raw: str, offset: int, clause: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read(type_of(text), bytes.fromhex(raw))
    assert (caught.value.offset, caught.value.clause) == (offset, clause)


def test_longer_varint_than_needed_is_read() -> None:
    assert read_int(Reader(bytes.fromhex("8280808000"))) == 1
    assert read_long(Reader(bytes.fromhex("82808080808080808000"))) == 1


def test_array_in_several_blocks_is_read() -> None:
    kind = type_of('{"type":"array","items":"int"}')
    assert read(kind, bytes.fromhex("0202" + "010204" + "00")) == (1, 2)


def test_records_without_bytes_do_not_exhaust_memory() -> None:
    """Each record has ten of the one before, and the last of them no field."""
    text = '{"type":"record","name":"R0","fields":[]}'
    for level in range(1, 20):
        first = f'{{"name":"f0","type":{text}}}'
        others = ",".join(f'{{"name":"f{n}","type":"R{level - 1}"}}' for n in range(1, 10))
        text = f'{{"type":"record","name":"R{level}","fields":[{first},{others}]}}'
    kind = parse_schema(text)
    tracemalloc.start()
    with pytest.raises(DecodeError) as caught:
        read(kind, b"")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.clause == "avro: limits"
    assert peak < 16 << 20


@given(st.binary(max_size=40), st.sampled_from(sorted(TYPES)))
def test_any_bytes_are_read_or_refused(data: bytes, name: str) -> None:
    kind = type_of(TYPES[name][0])
    try:
        value = read(kind, data)
    except DecodeError:
        return
    out = bytearray()
    write_datum(out, kind, value)
    again = read(kind, bytes(out))
    assert repr(again) == repr(value)
