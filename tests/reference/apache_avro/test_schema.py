"""Schema texts: what is read, what is refused and where, and the exact text."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.apache_avro.registries import MAX_SCHEMA_BYTES
from cdcwire.apache_avro.schema import (
    MAX_DEPTH,
    DecimalSize,
    Primitive,
    Union,
    parse_schema,
)
from cdcwire.apache_avro.schema_json import schema_text
from cdcwire.core.errors import DecodeError
from cdcwire.model.kinds import ABSENT


def record(*fields: str) -> str:
    return f'{{"type":"record","name":"t","namespace":"default.s","fields":[{",".join(fields)}]}}'


REFUSED: dict[str, tuple[str, str]] = {
    "no json": ("{", "avro: schema text"),
    "html": ("<html></html>", "avro: schema text"),
    "no record": ('"int"', "avro: schema text"),
    "a number": ("1", "avro: schema text"),
    "no fields": ('{"type":"record","name":"t"}', "avro: schema text"),
    "no name": ('{"type":"record","fields":[]}', "avro: schema text"),
    "empty name": ('{"type":"record","name":"","fields":[]}', "avro: schema text"),
    "field twice": (
        record('{"name":"a","type":"int"}', '{"name":"a","type":"int"}'),
        "avro: schema text",
    ),
    "unknown type": (record('{"name":"a","type":"integer"}'), "avro: schema text"),
    "union in union": (record('{"name":"a","type":["null",["int"]]}'), "avro: schema text"),
    "branch twice": (record('{"name":"a","type":["int","int"]}'), "avro: schema text"),
    "type twice": (
        record('{"name":"a","type":{"type":"record","name":"t","fields":[]}}'),
        "avro: schema text",
    ),
    "surrogate": ('"\ud800"', "avro: schema text"),
    "too long": (" " * (MAX_SCHEMA_BYTES + 1), "avro: schema limits"),
    "deep arrays": (
        record(
            '{"name":"a","type":'
            + '{"type":"array","items":' * (MAX_DEPTH + 1)
            + '"int"'
            + "}" * (MAX_DEPTH + 2)
        ),
        "avro: schema limits",
    ),
    "deep json": ("[" * 5000, "avro: schema limits"),
    "fixed without end": (
        record('{"name":"a","type":{"type":"fixed","name":"F","size":99999999999999999999999}}'),
        "avro: schema text",
    ),
}


@pytest.mark.parametrize(("text", "clause"), REFUSED.values(), ids=REFUSED)
def test_text_is_refused(text: str, clause: str) -> None:
    with pytest.raises(DecodeError) as caught:
        parse_schema(text)
    assert caught.value.clause == clause


@given(st.text(max_size=60) | st.sampled_from([text for text, _ in REFUSED.values()]))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(DecodeError):
        parse_schema(text)


TEXTS = {
    "bare": record('{"default":"","name":"_tidb_op","type":"string"}'),
    "nullable": record('{"default":null,"name":"a","type":["null","int"]}'),
    "with default": record('{"default":-1,"name":"a","type":["long","null"]}'),
    "float default": record('{"default":3.140000104904175,"name":"a","type":"float"}'),
    "whole float": record('{"default":1,"name":"a","type":"double"}'),
    "exponent": record('{"default":1e+21,"name":"a","type":"double"}'),
    "escaped": record('{"default":"\\u003c\\u2028é\\"","name":"a","type":"string"}'),
    "nested": record(
        '{"name":"a","type":{"type":"array","items":{"type":"map","values":"t"}}}'.replace(
            '"t"', '"default.s.t"'
        )
    ),
    "named": record(
        '{"name":"a","type":{"type":"fixed","name":"default.s.F","size":3}}',
        '{"name":"b","type":"default.s.F"}',
        '{"name":"e","type":{"type":"enum","name":"default.s.E","symbols":["x"]}}',
    ),
    "default that does not fit": record('{"default":"null","name":"a","type":["null","string"]}'),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_text_is_read_and_written_again(text: str) -> None:
    assert schema_text(parse_schema(text)) == text


def test_order_of_members_does_not_matter() -> None:
    text = (
        '{"fields":[{"type":["null",{"scale":3,"precision":6,"logicalType":"decimal",'
        '"type":"bytes"}],"name":"c20","default":null}],"name":"default.s.t","type":"record"}'
    )
    found = parse_schema(text)
    assert (found.name, found.namespace) == ("t", "default.s")
    union = found.fields[0].type
    assert isinstance(union, Union)
    assert isinstance(union.branches[1], Primitive)
    assert union.branches[1].decimal == DecimalSize(6, 3)


def test_field_without_default_is_not_one_with_null() -> None:
    found = parse_schema(record('{"name":"a","type":["null","int"]}'))
    assert found.fields[0].default is ABSENT
