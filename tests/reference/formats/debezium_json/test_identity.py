"""Deleted rows of PostgreSQL: which of them show that REPLICA IDENTITY FULL sent all columns."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cdcwire import debezium_json
from cdcwire.core.context import Context, Selection
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionValue
from cdcwire.formats.debezium_json.fast import RowDecoder
from cdcwire.model.events import RowChange

ID = {"type": "int32", "optional": False, "field": "id"}
SOURCE = {
    "version": "2.7.4.Final",
    "connector": "postgresql",
    "name": "srv",
    "ts_ms": 1,
    "snapshot": "false",
    "db": "d",
    "schema": "s",
    "table": "t",
    "txId": 1,
    "lsn": 4,
}
DECIMAL = "org.apache.kafka.connect.data.Decimal"
SCALE = {"scale": "2"}


def field(column: str, kind: str = "string", **more: Any) -> dict[str, Any]:
    return {"type": kind, "optional": True, "field": column, **more}


def required(column: str, kind: str = "string", **more: Any) -> dict[str, Any]:
    return field(column, kind, optional=False, **more)


def struct(fields: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"type": "struct", "fields": fields, "optional": True, **more}


def source_schema() -> dict[str, Any]:
    numbers = {"ts_ms", "txId", "lsn"}
    fields = [field(name, "int64" if name in numbers else "string") for name in SOURCE]
    return struct(fields, field="source")


def key_of(row: dict[str, Any]) -> bytes:
    schema = struct([ID], optional=False, name="srv.s.t.Key")
    return json.dumps({"schema": schema, "payload": {"id": row["id"]}}).encode()


def delete(columns: list[dict[str, Any]], row: dict[str, Any], **source: Any) -> KafkaMessage:
    of_row = struct([ID, *columns], name="srv.s.t.Value")
    fields = [
        *({**of_row, "field": name} for name in ("before", "after")),
        source_schema(),
        required("op"),
        field("ts_ms", "int64"),
    ]
    schema = struct(fields, optional=False, name="srv.s.t.Envelope")
    given = {**SOURCE, **source}
    payload = {"before": row, "after": None, "source": given, "op": "d", "ts_ms": 1}
    return KafkaMessage(key_of(row), json.dumps({"schema": schema, "payload": payload}).encode())


def read(message: KafkaMessage, context: Context | None = None) -> RowChange:
    """Decode a message in the plain way and in the fast one, which give the same."""
    context = context or Context()
    (found,) = debezium_json.FORMAT.to_events(message, context=context)
    decoder = RowDecoder(context)
    for _ in range(3):
        assert list(decoder.decode(message)) == [found]
    assert isinstance(found, RowChange)
    return found


def is_whole(message: KafkaMessage, **options: OptionValue) -> bool:
    given = {name.replace("_", "-"): value for name, value in options.items()}
    found = read(message, Context(options=given))
    assert found.before is not None
    assert found.sent == ("key" if found.before.names == ("id",) else None)
    return found.sent is None


N, NOT_NULL = field("n", "int32"), required("r", "int32")


@pytest.mark.parametrize(
    ("columns", "values"),
    [
        ([N], [7]),
        ([N], [0]),
        ([field("v"), NOT_NULL], ["a", 0]),
        ([NOT_NULL], [7]),
        ([required("v"), NOT_NULL], ["a", 7]),
        ([required("d", "bytes", name=DECIMAL, version=1, parameters=SCALE)], ["BQ=="]),
        ([field("n", "int32", default=5)], [4]),
        ([field("f", "double", default=0.5)], [0.0]),
    ],
    ids=str,
)
def test_values_that_only_a_whole_row_has(columns: list[dict[str, Any]], values: list[Any]) -> None:
    row = {"id": 1, **{column["field"]: v for column, v in zip(columns, values, strict=True)}}
    assert is_whole(delete(columns, row))


def test_one_real_value_that_may_be_of_an_index_shows_nothing() -> None:
    assert not is_whole(delete([field("v"), NOT_NULL], {"id": 1, "v": None, "r": 7}))
    assert not is_whole(delete([required("v"), NOT_NULL], {"id": 1, "v": "", "r": 7}))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (N, None),
        (field("n", "int32", default=5), 5),
        (field("v"), "****"),
        (field("v"), ""),
        (NOT_NULL, 0),
        (required("r", "int32", default=5), 5),
        (required("b", "boolean"), False),
        (required("v"), ""),
        (required("v"), "0.00"),
        (required("v", name="io.debezium.data.Json"), "{}"),
        (required("v", name="io.debezium.time.ZonedTimestamp"), "1970-01-01T00:00:00Z"),
        (required("v", name="io.debezium.time.Interval"), "P0Y0M0DT0H0M0S"),
        (required("y", "bytes"), ""),
        (required("d", "bytes", name=DECIMAL, version=1, parameters=SCALE), "AA=="),
        (required("a", "array", items={"type": "string", "optional": True}), []),
        (required("p", "struct", fields=[required("x", "double")]), {"x": 1.5}),
    ],
    ids=str,
)
def test_values_of_a_row_of_which_only_the_key_was_sent(column: dict[str, Any], value: Any) -> None:
    assert not is_whole(delete([column], {"id": 1, column["field"]: value}))


def test_a_key_of_zero_next_to_a_real_value_may_be_of_another_index() -> None:
    """The identity is a unique index on r: the key of the message is made up."""
    assert not is_whole(delete([NOT_NULL], {"id": 0, "r": 10}))
    assert is_whole(delete([NOT_NULL], {"id": 3, "r": 10}))


@pytest.mark.parametrize("identity", ["index", "nothing"])
def test_an_identity_that_is_told_decides(identity: str) -> None:
    message = delete([N], {"id": 1, "n": 7})
    assert not is_whole(message, replica_identity=identity)
    assert is_whole(message, replica_identity="full")


def test_unknown_connector_has_no_replica_identity() -> None:
    assert is_whole(delete([N], {"id": 1, "n": None}, connector="newdb"))


def test_rows_without_schema_show_nothing() -> None:
    payload = {"before": {"id": 1, "n": 7}, "after": None, "source": SOURCE, "op": "d", "ts_ms": 1}
    assert not is_whole(KafkaMessage(b'{"id":1}', json.dumps(payload).encode()))


def test_a_whole_row_has_the_columns_that_are_wanted() -> None:
    message = delete([N, field("v")], {"id": 1, "n": 7, "v": None})
    found = read(message, Context(selection=Selection(columns=frozenset({"id", "v"}))))
    assert found.before is not None
    assert (found.before.names, found.before.values, found.sent) == (("id", "v"), (1, None), None)


@pytest.mark.parametrize(("value", "expected"), [(7, None), (None, "key")])
def test_a_row_by_itself_shows_it_too(value: int | None, expected: str | None) -> None:
    row = {"id": 1, "n": value, "__deleted": "true"}
    schema = struct([ID, N, field("__deleted")], name="srv.s.t.Value", optional=False)
    text = json.dumps({"schema": schema, "payload": row}).encode()
    found = read(KafkaMessage(key_of(row), text), Context(options={"transforms": "unwrap"}))
    assert found.before is not None
    assert found.sent == expected
    assert found.before.names == (("id",) if expected else ("id", "n"))
