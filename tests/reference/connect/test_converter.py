"""What JsonConverter does wrong or lets pass in silence, and what is done here."""

from __future__ import annotations

import math
from contextlib import suppress
from decimal import Decimal

import pytest

from cdcwire import connect
from cdcwire.connect.envelope import parse
from cdcwire.core.errors import DecodeError

DECIMAL = (
    '"bytes","name":"org.apache.kafka.connect.data.Decimal","version":1,"parameters":{"scale":"2"}'
)


def message(schema_type: str, payload: str, more: str = "") -> bytes:
    """Return a message of one field ``a``; ``schema_type`` may bring members with it."""
    kind = schema_type if schema_type.startswith('"') else f'"{schema_type}"'
    field = f'{{"type":{kind},"optional":true{more},"field":"a"}}'
    schema = f'{{"type":"struct","fields":[{field}],"optional":false}}'
    return f'{{"schema":{schema},"payload":{{"a":{payload}}}}}'.encode()


REFUSED = {
    "int8-300": (message("int8", "300"), "connect: integer values"),
    "int32-4294967296": (message("int32", "4294967296"), "connect: integer values"),
    "int64-with-fraction": (message("int64", "1.9"), "connect: integer values"),
    "int64-text": (message("int64", '"12"'), "connect: integer values"),
    "int64-1.0": (message("int64", "1.0"), "connect: integer values"),
    "int64-1e2": (message("int64", "1e2"), "connect: integer values"),
    "int64-huge": (message("int64", "9" * 5000), "connect: integer values"),
    "boolean-text": (message("boolean", '"true"'), "connect: boolean values"),
    "string-number": (message("string", "12"), "connect: string values"),
    "double-1e400": (message("double", "1e400"), "connect: float values"),
    "float-1e39": (message("float", "1e39"), "connect: float values"),
    "double-endless": (message("double", "1" * 5000), "connect: limits"),
    "bytes-no-padding": (message("bytes", '"QQ"'), "connect: bytes values"),
    "bytes-url-safe": (message("bytes", '"_-=="'), "connect: bytes values"),
    "bytes-space": (message("bytes", '"QQ ="'), "connect: bytes values"),
    "decimal-more-digits": (message(DECIMAL, "1.234"), "connect: decimal values"),
    "decimal-empty": (message(DECIMAL, '""'), "connect: decimal values"),
    "decimal-exponent": (message(DECIMAL, "1e999999999"), "connect: decimal values"),
    "decimal-no-scale": (
        message('"bytes","name":"org.apache.kafka.connect.data.Decimal"', "null"),
        "connect: logical types",
    ),
    "timestamp-on-string": (
        message('"string","name":"org.apache.kafka.connect.data.Timestamp"', "null"),
        "connect: logical types",
    ),
    "time-minus-1": (
        message('"int32","name":"org.apache.kafka.connect.data.Time"', "-1"),
        "connect: time values",
    ),
    "version-text": (message("int8", "1", ',"version":"1"'), "connect: schema members"),
    "version-large": (message("int8", "1", ',"version":4294967296'), "connect: schema members"),
    "type-unknown": (message("int128", "1"), "connect: schema types"),
    "optional-text": (
        message("int8", "1").replace(b'"optional":true', b'"optional":"yes"'),
        "connect: schema members",
    ),
    "member-twice": (message("int8", '1,"a":2'), "connect: json text"),
    "schema-member-twice": (message("int8", "1", ',"optional":true'), "connect: json text"),
    "field-twice": (
        b'{"schema":{"type":"struct","fields":[{"type":"int8","field":"a"},{"type":"int8",'
        b'"field":"a"}]},"payload":{"a":1}}',
        "connect: fields",
    ),
    "required-missing": (
        message("int8", "1").replace(b"true", b"false").replace(b'{"a":1}', b"{}"),
        "connect: struct values",
    ),
    "required-null-with-default": (
        message("int8", "null", ',"default":5').replace(b"true", b"false"),
        "connect: null values",
    ),
    "payload-alone": (b'{"payload":{"a":1}}', "connect: envelope"),
    "third-member": (b'{"schema":null,"payload":null,"x":1}', "connect: envelope"),
    "no-member": (b"{}", "connect: envelope"),
    "null": (b"null", "connect: envelope"),
    "empty": (b"", "connect: json text"),
    "text-behind": (message("int8", "1") + b" x", "connect: json text"),
    "byte-order-mark": (b"\xef\xbb\xbf" + message("int8", "1"), "connect: json text"),
    "lone-surrogate": (message("string", '"\\uD800"'), "connect: strings"),
    "map-entry": (
        message(
            '"map","keys":{"type":"int8","optional":false},"values":{"type":"int8"}', "[[1,2,3]]"
        ),
        "connect: map values",
    ),
    "array-null": (message('"array","items":{"type":"int8"}', "[null]"), "connect: null values"),
    "deep-payload": (message("string", "[" * 100000), "connect: limits"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_message_that_bends_a_value_is_refused(case: str) -> None:
    data, clause = REFUSED[case]
    with pytest.raises(DecodeError) as caught:
        connect.decode(data, "true")
    assert caught.value.clause == clause
    assert 0 <= caught.value.offset <= len(data)


@pytest.mark.parametrize("case", [c for c in REFUSED if b'{"a":' in REFUSED[c][0]])
def test_refusal_is_the_same_after_its_schema_was_read(case: str) -> None:
    data, _ = REFUSED[case]
    with pytest.raises(DecodeError) as first:
        connect.decode(data, "true")
    with suppress(DecodeError):  # where the schema itself is refused
        connect.decode(data[: data.index(b'{"a":')] + b'{"a":null}}')
    with pytest.raises(DecodeError) as second:
        connect.decode(data, "true")
    assert (second.value.offset, second.value.path) == (first.value.offset, first.value.path)


ACCEPTED = {
    "double-nan-infinity": (message("double", '"Infinity"'), math.inf),
    "double-minus-zero": (message("double", "-0.0"), -0.0),
    "double-integer": (message("double", "12"), 12.0),
    "float-narrowed": (message("float", "0.1"), 0.10000000149011612),
    "null-with-default": (message("int8", "null", ',"default":5'), None),
    "absent-with-default": (
        message("int8", "1", ',"default":5').replace(b'{"a":1}', b"{}"),
        5,
    ),
    "absent-optional": (message("int8", "1").replace(b'{"a":1}', b"{}"), None),
    "bytes-spare-bits": (message("bytes", '"AB=="'), b"\0"),
    "decimal-number": (message(DECIMAL, "1.5"), Decimal("1.50")),
    "decimal-padded": (message(DECIMAL, '"ABg="'), Decimal("0.24")),
    "time-24-hours": (
        message('"int32","name":"org.apache.kafka.connect.data.Time"', "86400000"),
        86400000,
    ),
    "map-object": (
        message('"map","keys":{"type":"string"},"values":{"type":"int8"}', '{"x":1}'),
        (("x", 1),),
    ),
    "map-pairs": (
        message('"map","keys":{"type":"int8"},"values":{"type":"int8"}', "[[1,2]]"),
        ((1, 2),),
    ),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_message_that_is_legal_gives_its_value(case: str) -> None:
    data, expected = ACCEPTED[case]
    (found,) = connect.decode(data, "true").payload
    assert repr(found) == repr(expected)  # the sign of zero counts


def test_double_nan_text_is_not_a_number() -> None:
    assert math.isnan(connect.decode(message("double", '"NaN"')).payload[0])


def test_null_with_default_is_the_default_if_specified() -> None:
    data = message("int8", "null", ',"default":5')
    assert parse(data, null_is_default=True).envelope.payload == (5,)


def test_missing_optional_in_a_schema_is_false() -> None:
    found = connect.decode(message("int8", "1").replace(b',"optional":true', b""))
    assert found.schema is not None
    assert not found.schema.fields[0].schema.optional


def test_unknown_members_are_dropped_with_warnings() -> None:
    data = message("int8", '1,"b":2', ',"extra":1')
    found = parse(data)
    assert found.envelope.payload == (1,)
    assert len(found.warnings) == 2


def test_null_schema_is_a_payload_without_schema() -> None:
    data = b'{"schema":null,"payload":{"a":1.50}}'
    found = connect.decode(data)
    assert found.schema is None
    assert connect.encode(found) == data


def test_payload_first_is_read() -> None:
    schema = b'{"type":"int8","optional":false}'
    found = connect.decode(b'{"payload":7,"schema":%s}' % schema)
    assert connect.encode(found) == b'{"schema":%s,"payload":7}' % schema


JAVA_17 = {
    "float-least-normal": ("float", "1.17549435E-38"),
    "float-odd": ("float", "3.3554432E7"),
    "double-odd": ("double", "2.0E-3"),
    "double-usual": ("double", "0.002"),
    "double-two-digits": ("double", "2.0E-300"),
    "float-long": ("float", "0.10000000149"),
}


@pytest.mark.parametrize("case", JAVA_17)
def test_float_in_other_digits_comes_back_in_them(case: str) -> None:
    """Java before 19 does not always write the shortest digits."""
    data = message(*JAVA_17[case])
    assert connect.encode(connect.decode(data)) == data


def test_digits_of_a_float_are_not_those_of_a_double() -> None:
    """The text of a value is kept only where it means the same value in the other type."""
    value = connect.decode(message("float", "1.17549435E-38")).payload[0]
    schema = connect.decode(message("double", "1.0")).schema
    assert schema is not None
    data = connect.encode(connect.Envelope(schema, (value,)))
    assert data == message("double", "1.1754943508222875E-38")
    assert value == 2.0**-126
