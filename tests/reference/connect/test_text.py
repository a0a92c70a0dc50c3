"""Strings, numbers and schemas as JsonConverter writes them."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire import connect
from cdcwire.connect import Envelope, Field, Schema
from cdcwire.connect.scalars import decimal_of, java_float_text, quoted, unscaled_bytes
from cdcwire.core.errors import DecodeError, EncodeError

STRINGS = {
    'a"b\\c': '"a\\"b\\\\c"',
    "\b\t\n\f\r": '"\\b\\t\\n\\f\\r"',
    "\x00\x1f\x7f/": '"\\u0000\\u001F\x7f/"',
    "\u2028\U0001f389": '"\u2028\\uD83C\\uDF89"',
}

DOUBLES = {
    1.0: "1.0",
    0.001: "0.001",
    0.00025: "2.5E-4",
    2.5e-7: "2.5E-7",
    9999999.0: "9999999.0",
    1e7: "1.0E7",
    1e20: "1.0E20",
    2e-3: "0.002",
    5e-324: "4.9E-324",
    1e-323: "9.9E-324",
    1.7976931348623157e308: "1.7976931348623157E308",
    -123456.789: "-123456.789",
    2e23: "2.0E23",
}

FLOATS = {
    1.401298464324817e-45: "1.4E-45",
    3.4028234663852886e38: "3.4028235E38",
    0.10000000149011612: "0.1",
    16777216.0: "1.6777216E7",
    1.1754943508222875e-38: "1.1754944E-38",
}


@pytest.mark.parametrize("text", STRINGS)
def test_string_is_escaped_as_the_converter_does(text: str) -> None:
    assert quoted(text) == STRINGS[text]


def test_string_with_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(EncodeError):
        quoted("\ud800")


@pytest.mark.parametrize("value", DOUBLES, ids=str)
def test_double_has_java_text(value: float) -> None:
    assert java_float_text(value, 64) == DOUBLES[value]


def test_double_zero_has_its_sign() -> None:
    assert [java_float_text(zero, 64) for zero in (0.0, -0.0)] == ["0.0", "-0.0"]


@pytest.mark.parametrize("value", FLOATS, ids=str)
def test_float_has_java_text(value: float) -> None:
    assert java_float_text(value, 32) == FLOATS[value]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_double_text_reads_back(value: float) -> None:
    """float(text(x)) == x, sign of zero included."""
    assert repr(float(java_float_text(value, 64))) == repr(value)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_float_text_reads_back(value: float) -> None:
    """A float's text gives the same 32 bits."""
    schema = Schema("float")
    data = connect.encode(Envelope(schema, value))
    assert repr(connect.decode(data).payload) == repr(value)


@given(st.integers(-(10**60), 10**60), st.integers(-20, 40))
def test_decimal_bytes_read_back(unscaled: int, scale: int) -> None:
    """decimal_of(unscaled_bytes(d)) == d with the same scale, and the bytes are the shortest."""
    value = Decimal(unscaled).scaleb(-scale)
    exact = decimal_of(unscaled.to_bytes(32, "big", signed=True), scale)
    data = unscaled_bytes(exact, scale, "c")
    assert decimal_of(data, scale) == exact
    assert len(data) == (unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1
    assert abs(value - exact) <= abs(value) * Decimal("1e-20")


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1E+999999999", "0.001"])
def test_decimal_that_does_not_fit_is_refused(text: str) -> None:
    with pytest.raises(EncodeError):
        unscaled_bytes(Decimal(text), 2, "c")


def schemas() -> st.SearchStrategy[Schema]:
    names = st.none() | st.sampled_from(["io.debezium.data.Json", "x.Y"])
    types = st.sampled_from(["int8", "int64", "double", "boolean", "string", "bytes"])
    leaves = st.builds(Schema, types, st.booleans(), names, st.none() | st.integers(1, 9))
    return st.recursive(leaves, _containers, max_leaves=6)


def _containers(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    names = st.lists(st.text(max_size=4), max_size=4, unique=True)
    return st.one_of(
        st.builds(lambda items, o: Schema("array", o, items=items), inner, st.booleans()),
        st.builds(
            lambda v, o: Schema("map", o, keys=Schema("string"), values=v), inner, st.booleans()
        ),
        names.flatmap(
            lambda known: st.tuples(*(inner for _ in known)).map(
                lambda parts: Schema(
                    "struct", fields=tuple(map(Field, known, parts)), name="s", version=2
                )
            )
        ),
    )


def values(schema: Schema) -> st.SearchStrategy[object]:
    base: st.SearchStrategy[object]
    match schema.type:
        case "int8":
            base = st.integers(-128, 127)
        case "int64":
            base = st.integers(-(2**63), 2**63 - 1)
        case "double":
            base = st.floats(allow_nan=False)
        case "boolean":
            base = st.booleans()
        case "string":
            base = st.text(max_size=6)
        case "bytes":
            base = st.binary(max_size=6)
        case "array":
            assert schema.items is not None
            base = st.lists(values(schema.items), max_size=3).map(tuple)
        case "map":
            assert schema.values is not None
            base = st.dictionaries(st.text(max_size=3), values(schema.values), max_size=3).map(
                lambda found: tuple(found.items())
            )
        case _:
            base = st.tuples(*(values(field.schema) for field in schema.fields))
    return st.none() | base if schema.optional else base


@given(schemas().flatmap(lambda s: st.tuples(st.just(s), values(s))))
def test_message_reads_back_as_written(pair: tuple[Schema, object]) -> None:
    """decode(encode(x)) == x and encode(decode(b)) == b; the bytes are JSON for other readers."""
    envelope = Envelope(*pair)
    data = connect.encode(envelope)
    assert json.loads(data).keys() == {"schema", "payload"}
    found = connect.decode(data)
    assert found == envelope
    assert connect.encode(found) == data


def test_message_every_truncation_is_rejected_at_its_end() -> None:
    schema = Schema("struct", fields=(Field("é", Schema("string")), Field("b", Schema("int8"))))
    data = connect.encode(Envelope(schema, ("x\n\U0001f389", -3)))
    for cut in range(len(data)):
        with pytest.raises(DecodeError) as caught:
            connect.decode(data[:cut])
        assert caught.value.offset == cut


def test_schema_too_deep_is_refused_both_ways() -> None:
    schema = Schema("int8")
    for _ in range(40):
        schema = Schema("array", items=schema)
    with pytest.raises(EncodeError) as caught:
        connect.encode(Envelope(schema, ()))
    assert caught.value.clause == "connect: limits"
    text = '{"type":"array","items":' * 28 + '{"type":"int8"}' + "}" * 28
    with pytest.raises(DecodeError) as refused:
        connect.decode(f'{{"schema":{text},"payload":[]}}'.encode())
    assert refused.value.clause == "connect: limits"


def test_error_has_byte_path_and_clause() -> None:
    data = (
        b'{"schema":{"type":"struct","fields":[{"type":"array","items":{"type":"int8"},'
        b'"field":"a"}]},"payload":{"a":[1,300]}}'
    )
    with pytest.raises(DecodeError) as caught:
        connect.decode(data)
    assert caught.value.offset == data.index(b"300")
    assert caught.value.path == ("payload", "a", 1)
