"""Payloads by their pattern: arrays, maps, structs, and texts that come again."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire import connect
from cdcwire.connect import Envelope, EnvelopeDecoder, Field, Schema, payload_reader
from cdcwire.core.compiled import IRREGULARITIES
from cdcwire.core.errors import DecodeError
from cdcwire.model.floats import read_float32

STRING, TEXT = Schema("string"), Schema("string", True)
DECIMAL = Schema("bytes", True, "org.apache.kafka.connect.data.Decimal", 1, None, (("scale", "2"),))
PAIR = Schema("struct", True, fields=(Field("n", STRING), Field("x", Schema("int8", True))))
ITEMS: dict[str, Schema] = {
    "int8": Schema("int8", True),
    "int64": Schema("int64", True),
    "required": Schema("int16"),
    "double": Schema("double", True),
    "float": Schema("float", True),
    "boolean": Schema("boolean", True),
    "text": TEXT,
    "bytes": Schema("bytes", True),
    "decimal": DECIMAL,
    "struct": PAIR,
    "array": Schema("array", True, items=Schema("boolean")),
    "map": Schema("map", True, keys=STRING, values=TEXT),
}
FIELDS = (
    *(Field(name, Schema("array", True, items=item)) for name, item in ITEMS.items()),
    Field("table", Schema("map", True, keys=STRING, values=Schema("int32", True))),
    Field("pairs", Schema("map", True, keys=Schema("int32"), values=TEXT)),
)
SOURCE = Schema("struct", fields=(Field("name", STRING), Field("kind", TEXT)))
TEXTS: dict[str, list[str]] = {
    "int8": [
        "[]",
        "[1,null,-128]",
        "[128]",
        "[01]",
        "[1.0]",
        "[1,]",
        "[,]",
        "[1,,2]",
        "[1]]",
        "null",
        "[[1]]",
        "1",
    ],
    "int64": ["[9223372036854775807]", "[9223372036854775808]", '["1"]', "[1, 2]"],
    "required": ["[1,2]", "[null]", "[32768]"],
    "double": ["[1.5,null]", '["NaN"]', "[1]", "[1.0E400]", "[-0.0]", "[NaN]"],
    "float": ["[0.1]", "[3.4028235E38]", "[1.0E39]", "[16777217.0]", "[1.0000000596046448]"],
    "boolean": ["[true,false,null]", '["true"]'],
    "text": ['["a","b,]",null]', '["\\"\\u00e9"]', '["\\ud800"]', '["\\ud83c\\udf89"]'],
    "bytes": ['["AAEC",""]', '["AA"]', '["A==="]', '["AAAA="]', '["_w=="]'],
    "decimal": ['["AeJA"]', '[""]', "[1.5]"],
    "struct": ['[{"n":"a","x":1}]', '[{"n":null,"x":1}]', '[{"x":1,"n":"a"}]', "[null,{}]"],
    "array": ["[[true],[]]", "[[null]]", "[null]"],
    "map": ['[{"a":"b"}]', '[{"a":"b","a":"c"}]', "[{}]"],
    "table": ['{"a":1,"b":null}', '{"a":1,"\\u0061":2}', "{}", "null", '{"a":2147483648}'],
}


def schema_of(*names: str) -> Schema:
    fields = [field for field in FIELDS if field.name in names]
    return Schema("struct", fields=(*fields, Field("source", SOURCE)))


def message_of(
    schema: Schema, texts: dict[str, str], source: str = '{"name":"s","kind":"k"}'
) -> bytes:
    payload = [f'"{field.name}":{texts.get(field.name, "null")}' for field in schema.fields[:-1]]
    payload.append(f'"source":{source}')
    empty = Envelope(schema, (*(None for _ in schema.fields[:-1]), ("s", None)))
    head = connect.encode(empty).partition(b',"payload":')[0]
    return head + b',"payload":{' + ",".join(payload).encode("utf-8", "surrogatepass") + b"}}"


def learned(schema: Schema) -> EnvelopeDecoder:
    found = EnvelopeDecoder()
    for _ in range(3):
        found.decode(message_of(schema, {}))
    return found


def outcome(decode: object, data: bytes) -> object:
    assert callable(decode)
    try:
        return repr(decode(data))
    except DecodeError as error:
        return type(error), error.args, error.path


@pytest.mark.parametrize(("name", "text"), [(n, t) for n, texts in TEXTS.items() for t in texts])
def test_items_are_those_of_the_plain_decoder(name: str, text: str) -> None:
    schema = schema_of(name)
    data = message_of(schema, {name: text})
    assert outcome(learned(schema).decode, data) == outcome(connect.decode, data)


@pytest.mark.parametrize("name", [name for name in TEXTS if name != "double"])
def test_items_are_read_by_the_pattern(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = schema_of(name)
    decoder = learned(schema)
    data = message_of(schema, {name: TEXTS[name][0]})
    expected = connect.decode(data)
    monkeypatch.setattr("cdcwire.connect.fast.decode", None)
    assert decoder.decode(data) == expected


SOURCES = (
    '{"name":"s","kind":null}',
    '{"name":"ss","kind":"k"}',
    '{"name":"","kind":"\\""}',
    '{"name":null,"kind":"k"}',
    '{"name":"\\u0073","kind":"k"}',
    '{"name":"s","kind":"k","x":1}',
)


@pytest.mark.parametrize("source", SOURCES)
def test_text_that_mostly_comes_again_may_be_another(source: str) -> None:
    schema = schema_of("int8")
    data = message_of(schema, {}, source)
    assert outcome(learned(schema).decode, data) == outcome(connect.decode, data)


def test_map_of_other_keys_has_no_pattern() -> None:
    assert payload_reader(schema_of("pairs")) is None


ROW = Schema(
    "struct",
    True,
    fields=tuple(
        Field(name, schema)
        for name, schema in (
            ("i", Schema("int64", True)),
            ("s", TEXT),
            ("d", DECIMAL),
            ("f", Schema("float", True)),
            ("p", Schema("struct", True, fields=(Field("x", Schema("int32")),))),
            ("a", Schema("array", True, items=Schema("int32", True))),
        )
    ),
)
ROWS = Schema("struct", fields=(Field("before", ROW), Field("after", ROW), Field("op", STRING)))
CELLS: dict[str, tuple[Any, ...]] = {
    "i": (None, 1, 2**63 - 1, 2**63),
    "s": (None, "a", 'a"', "\U0001f389", 1),
    "d": (None, "AeJA", "/w==", ""),
    "f": (None, 0.5, 0.1, "NaN"),
    "p": (None, {"x": 1}, {"x": 2}),
    "a": (None, [1], [2, None]),
}


@given(st.data())
def test_rows_before_and_after_are_those_of_the_plain_decoder(data: st.DataObject) -> None:
    """Values that are equal in both are read once: fast(b) is plain(b)."""
    rows = st.none() | st.fixed_dictionaries({n: st.sampled_from(v) for n, v in CELLS.items()})
    payload = {"before": data.draw(rows), "after": data.draw(rows), "op": "u"}
    head = connect.encode(Envelope(ROWS, (None, None, "u"))).partition(b',"payload":')[0]

    def message(value: object) -> bytes:
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=data.draw(st.booleans()))
        return head + b',"payload":' + text.encode() + b"}"

    decoder = EnvelopeDecoder()
    for _ in range(3):
        decoder.decode(message({"before": None, "after": None, "op": "u"}))
    value = message(payload)
    assert outcome(decoder.decode, value) == outcome(connect.decode, value)


def test_rows_that_differ_within_a_struct_differ() -> None:
    head = connect.encode(Envelope(ROWS, (None, None, "u"))).partition(b',"payload":')[0]
    row = b'{"i":1,"s":"a","d":null,"f":null,"p":{"x":%d},"a":[%d]}'
    rows = b'{"before":' + row % (1, 1) + b',"after":' + row % (2, 2) + b',"op":"u"}'
    data = head + b',"payload":' + rows + b"}"
    decoder = EnvelopeDecoder()
    found = [decoder.decode(data) for _ in range(4)][-1]
    before, after, _ = found.payload
    assert (before[4:], after[4:]) == (((1,), (1,)), ((2,), (2,)))


def test_struct_without_fields_before_a_text_is_not_a_row() -> None:
    fields = (Field("none", Schema("struct", True)), Field("text", TEXT))
    schema = Schema("struct", fields=fields)
    data = connect.encode(Envelope(schema, ((), "a")))
    decoder = EnvelopeDecoder()
    assert [decoder.decode(data).payload for _ in range(4)] == [((), "a")] * 4


@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.integers(-3, 3))
def test_float_is_rounded_once(value: float, steps: int) -> None:
    """Texts near the middle of two floats are rounded as they are, not by way of a double."""
    (bits,) = struct.unpack("<i", struct.pack("<f", value))
    (other,) = struct.unpack("<f", struct.pack("<i", bits ^ 1))
    middle = (value + other) / 2
    (place,) = struct.unpack("<q", struct.pack("<d", middle))
    (near,) = struct.unpack("<d", struct.pack("<q", max(place + steps, 0)))
    text = f"{near:.60f}"
    reader = payload_reader(Schema("struct", fields=(Field("f", Schema("float")),)))
    assert reader is not None
    try:
        (found,) = reader.read(f'{{"f":{text}}}'.encode())
    except IRREGULARITIES:
        return  # the plain decoder's business
    assert found == read_float32(text)


def test_schema_that_makes_a_pattern_too_long_has_none() -> None:
    """Nesting does not double the pattern, and its size is limited."""
    schema = Schema("struct", fields=tuple(Field(f"{n}", Schema("string")) for n in range(300)))
    for _ in range(5):
        schema = Schema("array", items=schema)
    assert payload_reader(Schema("struct", fields=(Field("a", schema),))) is not None
    wide = Schema("struct", fields=tuple(Field(f"{n}", schema) for n in range(60)))
    assert payload_reader(wide) is None
