"""Types that a message shows without its schema, and a type of Debezium's that no mode changes."""

from __future__ import annotations

import math

import pytest

from cdcwire.connect import Schema, logical
from cdcwire.connect.columns import plan_column
from cdcwire.connect.definitions import defined_struct
from cdcwire.connect.logical import image_of, kind_of
from cdcwire.connect.schema import RULES
from cdcwire.connect.schemaless import inferred_schema, read_schemaless
from cdcwire.connect.style import Style
from cdcwire.core.errors import DecodeError
from cdcwire.core.strict_json import read_json
from cdcwire.model.kinds import (
    UNAVAILABLE,
    ArrayType,
    BytesType,
    Column,
    FloatType,
    IntType,
    StructType,
    TextType,
    UnknownType,
)

ITEMS = {
    "[]": "string",
    "[null]": "string",
    "[1,2]": "int64",
    "[1,2.5]": "double",
    '[1.5,"NaN",null]': "double",
    '["Infinity",-0.0]': "double",
    '["NaN","Infinity"]': "string",
    '["NaN","x"]': "string",
    "[99999999999999999999,1]": "bytes",
    "[true,null]": "boolean",
}


@pytest.mark.parametrize("text", list(ITEMS))
def test_array_has_the_type_that_fits_all_items(text: str) -> None:
    schema = inferred_schema(read_json(text.encode(), RULES).value)
    assert schema.items is not None
    assert schema.items.type == ITEMS[text]


@pytest.mark.parametrize("text", ["[]", "[null]", "[null,null]"])
def test_array_without_a_value_has_items_of_no_type(text: str) -> None:
    schema = inferred_schema(read_json(text.encode(), RULES).value)
    assert kind_of(schema) == ArrayType(UnknownType())


def test_null_has_no_type() -> None:
    schema, value = read_schemaless(None, 0, 4)
    assert (kind_of(schema), value) == (UnknownType(), None)


def test_array_of_doubles_keeps_what_json_has_no_number_for() -> None:
    document = read_json(b'[1.5,"NaN",-0.0,"-Infinity",null]', RULES)
    _, value = read_schemaless(document.value, document.start, document.end)
    assert isinstance(value, tuple)
    first, nan, zero, infinity, null = value
    assert (first, infinity, null) == (1.5, -math.inf, None)
    assert math.isnan(nan)
    assert math.copysign(1, zero) == -1


def test_array_of_objects_has_the_members_of_all() -> None:
    document = read_json(b'[{"a":1},{"a":null,"b":[1]},{"b":[2.5]}]', RULES)
    schema, value = read_schemaless(document.value, document.start, document.end)
    assert schema.items is not None
    assert [(field.name, field.schema.type) for field in schema.items.fields] == [
        ("a", "int64"),
        ("b", "array"),
    ]
    assert value == ((1, None), (None, (1.0,)), (None, (2.5,)))


@pytest.mark.parametrize("text", ['[1,"x"]', "[true,1]", "[[1],1]"])
def test_array_of_no_common_type_is_rejected(text: str) -> None:
    document = read_json(text.encode(), RULES)
    with pytest.raises(DecodeError):
        read_schemaless(document.value, document.start, document.end)


@pytest.mark.parametrize("mode", ["bytes", "base64", "hex"])
def test_bytes_of_a_point_are_bytes_in_every_mode(mode: str) -> None:
    """As Debezium 2.7.4 and 3.2.0 send them."""
    kind = StructType((Column("x", FloatType(64)), Column("wkb", BytesType())))
    column = Column("p", kind, "io.debezium.data.geometry.Point")
    style = Style("debezium", binary=mode)  # type: ignore[arg-type]  # one of its modes
    fields = plan_column(column, style).schema.fields
    assert [field.schema for field in fields] == [Schema("double"), Schema("bytes", True)]


def test_rows_of_inferred_types_share_the_converters_of_their_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A new converter for each column of each row takes longer than to read the row."""
    made: list[str] = []

    def unavailable(schema: Schema, placeholder: str) -> tuple[str, ...]:
        made.append(schema.type)
        return (placeholder,) if schema.type == "string" else ()

    monkeypatch.setattr(logical, "unavailable_values", unavailable)
    rows = [read_json(text, RULES).value for text in (b'{"n":1,"v":"a"}', b'{"n":2,"v":"?!"}')]
    first, second = (image_of(inferred_schema(row), (5, "?!"), "?!") for row in rows)
    assert first == second
    assert first.values == (5, UNAVAILABLE)
    assert made == ["int64", "string"]


def test_a_definition_has_one_struct() -> None:
    """The facts of a struct are kept by its identity."""
    columns = (Column("id", IntType(32)), Column("v", TextType()))
    style = Style("debezium")
    assert defined_struct(columns, style) is defined_struct((columns[0], columns[1]), style)
    assert defined_struct(columns, style) is not defined_struct(columns[:1], style)
