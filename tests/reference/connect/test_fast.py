"""The fast decoder says what the plain one says, of good messages and of broken ones."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire import connect
from cdcwire.connect import Envelope, EnvelopeDecoder, Field, Schema
from cdcwire.connect.payload_patterns import integer_pattern
from cdcwire.connect.schema import ConnectType
from cdcwire.core.errors import DecodeError

TYPES: tuple[ConnectType, ...] = (
    "int8",
    "int16",
    "int32",
    "int64",
    "float",
    "double",
    "boolean",
    "string",
    "bytes",
)
DECIMAL = Schema("bytes", True, "org.apache.kafka.connect.data.Decimal", 1, None, (("scale", "2"),))
TIME = Schema("int32", True, "org.apache.kafka.connect.data.Time", 1)
INNER = Schema("struct", True, fields=tuple(Field(kind, Schema(kind, True)) for kind in TYPES))
SCHEMA = Schema(
    "struct",
    fields=(
        Field("before", INNER),
        Field("decimal", DECIMAL),
        Field("time", TIME),
        Field('na"me é', Schema("string")),
    ),
)
ROW = {
    "int8": ["-128", "127", "99", "128", "01", "1.0", "-0"],
    "int16": ["-32768", "32767", "32768", "9999"],
    "int32": ["-2147483648", "2147483647", "1999999999", "2147483648"],
    "int64": ["-9223372036854775808", "9223372036854775807", "8999999999999999999", "9" * 19],
    "float": ["1.5", "-0.0", "3.4028235E38", "1e39", '"NaN"', "1"],
    "double": ["2.5E-7", "1e400", '"Infinity"', "1" * 5000, "-0.0"],
    "boolean": ["true", "false", '"true"', "1"],
    "string": [
        '"a"',
        '"\\n\\u00e9"',
        '"\\uD83C\\uDF89"',
        '"\\uD83C"',
        '"\u00e9\U0001f389"',
        '"\n"',
    ],
    "bytes": ['"AAEC"', '""', '"AA"', '"A A="', '"_w=="'],
    "decimal": ['"AeJA"', '"/w=="', '""', "1.5", "null"],
    "time": ["0", "86400000", "86400001", "-1"],
}


def usual(*changes: tuple[str, str]) -> bytes:
    members = dict(changes)
    inner = ",".join(f'"{kind}":{members.get(kind, "null")}' for kind in TYPES)
    payload = (
        f'{{"before":{{{inner}}},"decimal":{members.get("decimal", "null")},'
        f'"time":{members.get("time", "null")},"na\\"me é":"x"}}'
    )
    head = connect.encode(Envelope(SCHEMA, (None, None, None, "x"))).partition(b',"payload":')[0]
    return head + b',"payload":' + payload.encode() + b"}"


def decoder() -> EnvelopeDecoder:
    found = EnvelopeDecoder()
    for _ in range(3):
        found.decode(usual())
    return found


def outcome(decode: object, data: bytes) -> object:
    assert callable(decode)
    try:
        return repr(decode(data))  # the sign of zero counts
    except DecodeError as error:
        return type(error), error.args, error.path


@pytest.mark.parametrize(("name", "text"), [(n, t) for n, texts in ROW.items() for t in texts])
def test_value_is_that_of_the_plain_decoder(name: str, text: str) -> None:
    data = usual((name, text))
    assert outcome(decoder().decode, data) == outcome(connect.decode, data)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_integer_pattern_takes_what_is_in_range(bits: int) -> None:
    pattern = re.compile(integer_pattern(bits))
    limit = 1 << bits - 1
    near = {limit + step for step in range(-300, 300)} | {limit * n // 97 for n in range(400)}
    for value in near | {-value for value in near}:
        is_in_range = -limit <= value < limit
        assert (pattern.fullmatch(str(value)) is not None) == is_in_range
    assert pattern.fullmatch("01") is None


DAMAGES = {
    "space": lambda data: data.replace(b'"time":', b'"time": '),
    "member-twice": lambda data: data.replace(b'"time":null', b'"time":null,"time":1'),
    "member-missing": lambda data: data.replace(b',"time":null', b""),
    "member-unknown": lambda data: data.replace(b'"time":null', b'"time":null,"x":1'),
    "third-member": lambda data: data[:-1] + b',"x":1}',
    "tail": lambda data: data + b" ",
    "text-behind": lambda data: data + b"x",
    "cut": lambda data: data[:-1],
    "ill-formed": lambda data: data.replace(b'"x"', b'"\xff"'),
    "required-null": lambda data: data.replace(b'"x"', b"null"),
    "payload-twice": lambda data: data[:-1] + b',"payload":null}',
}


@pytest.mark.parametrize("case", DAMAGES)
def test_odd_message_is_that_of_the_plain_decoder(case: str) -> None:
    data = DAMAGES[case](usual())
    assert outcome(decoder().decode, data) == outcome(connect.decode, data)


@given(st.data())
def test_damaged_message_is_that_of_the_plain_decoder(data: st.DataObject) -> None:
    """fast(b) is plain(b), whatever b is."""
    names = data.draw(st.lists(st.sampled_from(sorted(ROW)), unique=True))
    value = bytearray(usual(*((n, data.draw(st.sampled_from(ROW[n]))) for n in names)))
    for _ in range(data.draw(st.integers(0, 2))):
        value[data.draw(st.integers(0, len(value) - 1))] = data.draw(st.sampled_from(b'"{},:0n\\e'))
    assert outcome(decoder().decode, bytes(value)) == outcome(connect.decode, bytes(value))


def test_usual_message_is_read_the_fast_way(monkeypatch: pytest.MonkeyPatch) -> None:
    found = decoder()
    monkeypatch.setattr("cdcwire.connect.fast.decode", None)
    envelope = found.decode(usual(("double", "1.5"), ("string", '"é\\n"')))
    assert envelope.payload[0][5] == 1.5
    assert envelope.payload[0][7] == "é\n"


def test_schemas_that_never_come_again_are_not_remembered() -> None:
    found = EnvelopeDecoder()
    for index in range(200):
        schema = Schema("struct", fields=(Field(f"f{index}", Schema("double")),))
        data = connect.encode(Envelope(schema, (math.pi,)))
        assert found.decode(data).payload == (math.pi,)
    assert not found.heads.made
    assert len(found.heads.seen) <= 64


def test_schemas_that_change_all_the_time_do_not_all_get_a_pattern() -> None:
    found = EnvelopeDecoder()
    found.heads.credit = 0
    for index in range(40):
        schema = Schema("struct", fields=(Field(f"f{index}", Schema("double")),))
        data = connect.encode(Envelope(schema, (math.pi,)))
        for _ in range(3):
            assert found.decode(data).payload == (math.pi,)
    assert 0 < len(found.heads.made) < 20
