"""The text form of events, tables and values."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

import pytest

from cdcwire.model.events import (
    Expression,
    Image,
    Marker,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.kinds import (
    UNAVAILABLE,
    ArrayType,
    BoolType,
    BytesType,
    Column,
    DateType,
    DecimalType,
    EnumType,
    FloatType,
    IntervalType,
    IntType,
    MapType,
    SetType,
    StructType,
    TextType,
    TimestampType,
    TimeType,
    Type,
    UnknownType,
    VectorType,
)
from cdcwire.model.text import (
    TextFormError,
    event_from_json,
    event_to_json,
    table_from_json,
    table_to_json,
    value_from_json,
    value_to_json,
)

VALUES: list[tuple[str, Type, Any, Any]] = [
    (
        "uint64-max",
        IntType(64, True),
        2**64 - 1,
        {"type": "int64 unsigned", "value": "18446744073709551615"},
    ),
    ("bool", BoolType(), True, {"type": "bool", "value": "true"}),
    ("float32-shortest", FloatType(32), 0.10000000149011612, {"type": "float32", "value": "0.1"}),
    ("float64-minus-zero", FloatType(64), -0.0, {"type": "float64", "value": "-0.0"}),
    ("float64-inf", FloatType(64), math.inf, {"type": "float64", "value": "inf"}),
    *(
        (name, DecimalType(), text, {"type": "decimal", "value": text})
        for name, text in (
            ("decimal-two-points", "1.2.3"),
            ("decimal-zero-first", "007"),
            ("decimal-empty", ""),
        )
    ),
    (
        "decimal-end-zeros",
        DecimalType(6, 3),
        Decimal("-0.500"),
        {"type": "decimal(6,3)", "value": "-0.500"},
    ),
    (
        "decimal-negative-scale",
        DecimalType(),
        Decimal("1E+3"),
        {"type": "decimal", "value": "1000", "scale": "-3"},
    ),
    (
        "decimal-zero-negative-scale",
        DecimalType(),
        Decimal("0E+2"),
        {"type": "decimal", "value": "0", "scale": "-2"},
    ),
    ("text-ill-formed", TextType(), b"\xff", {"type": "text", "bytes": "/w=="}),
    ("bytes-empty", BytesType(), b"", {"type": "bytes", "bytes": ""}),
    ("date-count", DateType("d"), -1, {"type": "date", "value": "-1", "unit": "d"}),
    ("date-zero", DateType(), "0000-00-00", {"type": "date", "value": "0000-00-00"}),
    (
        "time-far",
        TimeType(6),
        "-838:59:59.000001",
        {"type": "time(6)", "value": "-838:59:59.000001"},
    ),
    (
        "timestamp-zone",
        TimestampType(form="us", zone="+00:00"),
        5,
        {"type": "timestamp", "value": "5", "unit": "us", "zone": "+00:00"},
    ),
    ("interval-count", IntervalType("us"), 7, {"type": "interval", "value": "7", "unit": "us"}),
    ("enum-index", EnumType(), 3, {"type": "enum", "index": "3"}),
    (
        "enum-index-with-label",
        EnumType(("a", "b")),
        2,
        {"type": "enum(a,b)", "index": "2", "label": "b"},
    ),
    ("enum-label", EnumType(form="label"), "x", {"type": "enum", "label": "x"}),
    (
        "set-mask-with-labels",
        SetType(("a", "b", "c")),
        5,
        {"type": "set(a,b,c)", "index": "5", "label": "a,c"},
    ),
    ("vector", VectorType(), (1.0, -2.5), {"type": "vector", "value": "[1.0,-2.5]"}),
    (
        "array",
        ArrayType(IntType(8)),
        (1, None),
        {"type": "array<int8>", "items": [{"type": "int8", "value": "1"}, None]},
    ),
    (
        "map",
        MapType(TextType(), BoolType()),
        (("k", False),),
        {
            "type": "map<text,bool>",
            "entries": [[{"type": "text", "value": "k"}, {"type": "bool", "value": "false"}]],
        },
    ),
    (
        "array-of-counts",
        ArrayType(DateType("d")),
        (None, 19723),
        {"type": "array<date>", "items": [None, {"type": "date", "value": "19723", "unit": "d"}]},
    ),
    (
        "map-of-counts",
        MapType(TextType(), TimestampType(form="us", zone="+00:00")),
        (("k", 5),),
        {
            "type": "map<text,timestamp>",
            "entries": [
                [
                    {"type": "text", "value": "k"},
                    {"type": "timestamp", "value": "5", "unit": "us", "zone": "+00:00"},
                ]
            ],
        },
    ),
    (
        "struct",
        StructType((Column("a", IntType(8)),)),
        Image((Column("a", IntType(8)),), (1,)),
        {"type": "struct<a:int8>", "fields": {"a": {"type": "int8", "value": "1"}}},
    ),
]


@pytest.mark.parametrize(
    ("kind", "value", "document"), [row[1:] for row in VALUES], ids=[row[0] for row in VALUES]
)
def test_value_to_json_and_back_is_the_same(kind: Type, value: Any, document: Any) -> None:
    assert value_to_json(kind, value) == document
    read_kind, read_value = value_from_json(json.loads(json.dumps(document)), None)
    assert read_kind == kind or isinstance(kind, (EnumType, SetType))
    assert value_to_json(read_kind, read_value) == document
    assert type(read_value) is type(value)


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({"value": "1234", "scale": "-2"}, "it has digits below the scale -2"),
        ({"value": "0", "scale": "2"}, "a negative integer, as text"),
        ({"value": "nan", "scale": "-2"}, "only a number has a scale"),
    ],
    ids=str,
)
def test_scale_that_the_digits_contradict_is_refused(members: Any, problem: str) -> None:
    with pytest.raises(TextFormError, match=problem):
        value_from_json({"type": "decimal", **members}, None)


def test_value_not_a_number_is_kept() -> None:
    kind, value = value_from_json({"type": "float64", "value": "nan"}, None)
    assert math.isnan(value)
    assert value_to_json(kind, value) == {"type": "float64", "value": "nan"}


def test_value_unavailable_is_not_null() -> None:
    assert value_to_json(TextType(), UNAVAILABLE) == {"unavailable": True}
    assert value_from_json({"unavailable": True}, TextType())[1] is UNAVAILABLE
    assert value_from_json(None, TextType())[1] is None


def test_float32_text_is_rounded_once() -> None:
    assert value_from_json({"type": "float32", "value": "7.038531e-26"}, None)[1] == float.fromhex(
        "0x1.5c87fap-84"
    )


def test_value_short_form_takes_the_table_type() -> None:
    assert value_from_json("101", IntType(32)) == (IntType(32), 101)
    assert value_from_json("101", None) == (TextType(), "101")


def test_units_of_items_come_from_those_that_tell_one() -> None:
    count = {"type": "date", "value": "1", "unit": "d"}
    rows = [{"fields": {"a": None}}, {"fields": {"a": count}}]
    kind, _ = value_from_json({"type": "array<struct<a:date>>", "items": rows}, None)
    assert kind == ArrayType(StructType((Column("a", DateType("d")),)))
    nested: list[Any] = [{"items": []}, {"items": [count]}]
    kind, _ = value_from_json({"type": "array<array<date>>", "items": nested}, None)
    assert kind == ArrayType(ArrayType(DateType("d")))


@pytest.mark.parametrize(
    "document",
    [
        {"type": "int8", "value": 1},
        {"type": "int8", "value": "1.0"},
        {"type": "int8", "value": "٣"},
        {"type": "bool", "value": "1"},
        {"type": "float64", "value": "0x10"},
        {"type": "float64", "value": "1e400000"},
        {"type": "bytes", "value": "AA=="},
        {"type": "bytes", "bytes": "A A="},
        {"type": "enum", "value": 3},
        {"type": "date", "value": "1", "unit": "years"},
        {"type": "int7", "value": "1"},
        {"type": 5, "value": "1"},
        {"type": "array<int8>", "items": {}},
        {"type": "array<date>", "items": ["2024-01-01", {"value": "1", "unit": "d"}]},
        7,
        [],
    ],
    ids=repr,
)
def test_value_of_another_form_is_refused_with_its_place(document: Any) -> None:
    with pytest.raises(TextFormError) as caught:
        value_from_json(document, None, ("after", "c1"))
    assert caught.value.path[:2] == ("after", "c1")


TABLE = {
    "schema": "test",
    "table": "t1",
    "version": "441349361156227074",
    "key": ["id"],
    "columns": [
        {
            "name": "id",
            "type": "int64 unsigned",
            "source": "bigint(20) unsigned",
            "nullable": False,
            "roles": ["handle", "primary"],
            "default": "0",
            "id": "1",
        },
        {"name": "at", "type": "timestamp", "zone": "+00:00", "form": "us"},
        {"name": "c", "type": "enum(a,b)", "form": "label", "default": {"expression": "uuid()"}},
        {"name": "n", "type": "text", "default": None},
    ],
}


def test_table_from_json_and_back_is_the_same() -> None:
    table = table_from_json(TABLE)
    assert table.columns is not None
    assert table.columns[2].default == Expression("uuid()")
    assert table_to_json(table) == TABLE


def test_table_key_without_roles_gives_the_handle_role() -> None:
    table = table_from_json(
        {"table": "t", "key": ["a"], "columns": [{"name": "a", "type": "int8"}]}
    )
    assert table.columns == (Column("a", IntType(8), roles=frozenset({"handle"})),)


EVENTS: list[Any] = [
    {
        "kind": "row",
        "op": "update",
        "schema": "test",
        "table": "t1",
        "key": ["id"],
        "position": {"commit_ts": "433305438660591626", "partition": "82"},
        "half": "after",
        "sent": "changed",
        "before": None,
        "after": {"id": {"type": "int64 unsigned", "value": "18446744073709551615"}, "note": None},
        "extra": {"row_id": "7", "ddl_meta": {"bytes": "AAE="}, "gone": None},
    },
    {"kind": "row", "op": "delete", "table": "t", "before": {}, "after": None},
    {
        "kind": "ddl",
        "what": "alter",
        "code": "5",
        "schema": "test",
        "table": "t1",
        "columns": [{"name": "a", "type": "int8"}],
        "position": {"commit_ts": "1"},
        "query": "ALTER TABLE t1 ADD a tinyint",
    },
    {"kind": "ddl", "what": "create", "schema": "test", "query": "CREATE DATABASE test"},
    {"kind": "progress", "what": "resolved", "position": {"commit_ts": "0"}},
    {"kind": "marker", "what": "begin", "id": "5", "position": {"tx_id": "5", "lsn": "6"}},
]


@pytest.mark.parametrize("document", EVENTS, ids=lambda document: document["kind"])
def test_event_from_json_and_back_is_the_same(document: Any) -> None:
    assert event_to_json(event_from_json(json.loads(json.dumps(document)))) == document


def test_events_of_every_class_are_read() -> None:
    kinds = {type(event_from_json(document)) for document in EVENTS}
    assert kinds == {RowChange, SchemaChange, Progress, Marker}


def test_null_of_a_row_takes_the_type_that_the_other_image_tells() -> None:
    typed = {"type": "int8", "value": "1"}
    document: Any = {"kind": "row", "op": "update", "table": "t",
                     "before": {"a": typed, "b": None, "c": None},
                     "after": {"a": None, "b": typed, "c": None}}  # fmt: skip
    event = event_from_json(document)
    assert isinstance(event, RowChange)
    assert event.before is not None
    assert event.after is not None
    for image in (event.before, event.after):
        kinds = [column.type for column in image.columns]
        assert kinds == [IntType(8), IntType(8), UnknownType()]
    assert event_to_json(event) == document


def test_row_takes_columns_types_and_order_from_its_table() -> None:
    table = table_from_json(TABLE)
    event = event_from_json(
        {"kind": "row", "op": "insert", "schema": "test", "table": "t1",
         "after": {"n": "x", "c": {"index": "2"}, "id": "5", "more": "y"}},
        [table],
    )  # fmt: skip
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert event.after.names == ("id", "c", "n", "more")
    assert event.after.values == (5, 2, "x", "y")
    assert event.after.columns[0] == (table.columns or ())[0]
    assert event.after.columns[1].type == EnumType(("a", "b"), "index")
    assert event.table == Table("t1", "test", key=("id",))
    assert event.position == Position()


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({"kind": "rows"}, ("kind",)),
        ({"kind": "row", "op": "put"}, ("op",)),
        ({"kind": "row", "op": "insert", "table": 5}, ("table",)),
        ({"kind": "row", "op": "insert", "table": "t", "key": "id"}, ("key",)),
        ({"kind": "row", "op": "insert", "table": "t", "after": []}, ("after",)),
        ({"kind": "row", "op": "insert", "after": {"a": {"value": 1}}}, ("after", "a")),
        (
            {"kind": "row", "op": "insert", "position": {"commit_ts": "x"}},
            ("position", "commit_ts"),
        ),
        ({"kind": "progress", "what": "begin"}, ("what",)),
        ({"kind": "marker", "what": "begin", "extra": {"a": 1}}, ("extra", "a")),
        ([], ()),
    ],
    ids=str,
)
def test_event_of_another_form_is_refused_with_its_place(document: Any, path: tuple[str]) -> None:
    with pytest.raises(TextFormError) as caught:
        event_from_json(document)
    assert caught.value.path == path
