"""CDL JSON and Debezium JSON compared: equal on what both carry; the rest is reported."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionValue
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, Image, Op, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType, JsonType, MapType, TextType
from cdcwire.model.text import table_to_json
from cdcwire.registry import get_format
from cdcwire_generators.workloads import workload, workload_tables

pytest.importorskip("pyarrow", reason="needs the extra compare")


Compare: TypeAlias = "Callable[..., tuple[int, str, dict[str, Any]]]"

POSITIONS = ("commit_ts", "lsn", "tx_id", "commit_ms", "sent_ms")
FULL = "replica-identity=full"


def changes_of(name: str, count: int) -> list[RowChange]:
    found = workload(name, count, 7, position_fields=POSITIONS)
    return [event for event in found if isinstance(event, RowChange)]


def write(
    folder: Path, format_name: str, events: Iterable[Event], name: str, **options: OptionValue
) -> str:
    folder.mkdir()
    given = {name.replace("_", "-"): value for name, value in options.items()}
    context = Context(options=given, tables=workload_tables(name))
    write_messages(
        str(folder / "messages.jsonl"), get_format(format_name).from_events(events, context=context)
    )
    return f"{format_name}:file:{folder}"


def definitions(folder: Path) -> str:
    file = folder / "tables.json"
    file.write_text(json.dumps(list(map(table_to_json, workload_tables("orders-10")))), "utf-8")
    return str(file)


@pytest.mark.parametrize("is_full", [False, True])
def test_feeds_of_one_stream_are_equal_and_losses_are_reported(
    compare: Compare, tmp_path: Path, is_full: bool
) -> None:
    events = changes_of("proposal-29", 200)
    given: dict[str, OptionValue] = {"replica_identity": "full"} if is_full else {}
    code, out, document = compare(
        write(tmp_path / "a", "cdl-json", events, "proposal-29"),
        write(tmp_path / "b", "debezium-json", events, "proposal-29", **given),
        *(["--right-option", FULL] if is_full else []),
    )
    assert code == 0, out
    (table,) = document["tables"]
    assert table["paired_by"] == ["lsn", "c1"]
    assert table["counts"]["left_rows"] == len(events)
    assert document["compared"] == ["op", "half", "tx_id", "commit_ms", "before", "after"]
    other = [each for each in document["left_out"] if "no rule asks" not in each["reason"]]
    assert [each["name"] for each in other] == ["Kafka keys"]
    assert table["left_out"] == []  # the deleted rows show that they are whole


SOURCE = {"version": "2.7.4.Final", "name": "srv1", "ts_ms": 1709210096000, "snapshot": "false"}
MYSQL = {"connector": "mysql", "db": "shop", "server_id": 1, "file": "binlog.000001", "pos": 4}
POSTGRESQL = {"connector": "postgresql", "db": "d", "schema": "shop", "lsn": 4, "txId": 1}


def deletes_by(folder: Path, source: dict[str, object], old: str | None) -> str:
    """Write an insert and the delete of its row; return the source."""
    folder.mkdir()
    messages = []
    for number, (op, before, after) in enumerate(
        (("c", None, {"id": 1, "v": "a"}), ("d", {"id": 1, "v": old}, None))
    ):
        given = {**SOURCE, **source, "table": "t"}
        if source is MYSQL:
            given["row"] = number
        payload = {"before": before, "after": after, "source": given, "op": op, "ts_ms": 1}
        messages.append(KafkaMessage(b'{"id":1}', json.dumps(payload).encode()))
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"debezium-json:file:{folder}"


def test_deletes_of_mysql_have_all_columns(compare: Compare, tmp_path: Path) -> None:
    left = deletes_by(tmp_path / "a", MYSQL, "a")
    right = deletes_by(tmp_path / "b", MYSQL, "WRONG")
    code, out, document = compare(left, right)
    assert code == 1, out
    (table,) = document["tables"]
    assert len(table["differences"]) == 1
    assert "before.v (text)" in out
    assert table["left_out"] == []


def test_deletes_of_mysql_differ_where_one_value_is_null(compare: Compare, tmp_path: Path) -> None:
    left = deletes_by(tmp_path / "a", MYSQL, "a")
    code, out, _ = compare(left, deletes_by(tmp_path / "b", MYSQL, None))
    assert code == 1, out


def test_deletes_of_postgresql_have_their_key_only(compare: Compare, tmp_path: Path) -> None:
    left = deletes_by(tmp_path / "a", POSTGRESQL, "a")
    code, out, document = compare(left, deletes_by(tmp_path / "b", POSTGRESQL, None))
    assert code == 0, out
    (table,) = document["tables"]
    (left_out,) = table["left_out"]
    assert left_out["name"] == "columns of deletes beyond the key"
    assert left_out["reason"].endswith("read only with option replica-identity=full")
    assert left_out["reason"] in out


ID = Column("id", IntType(32), "int32", nullable=False, roles=frozenset({"primary"}))
N = Column("n", IntType(32), "int32", nullable=False)
V = Column("v", TextType(), "string", nullable=True)


def deletes_with_schema(
    folder: Path, rows: Iterable[tuple[int, int, str | None]], connector: str = "postgresql"
) -> str:
    """Write the deletes of rows, with their schemas; return the source."""
    extra = {"connector": connector, "connector_version": "2.7.4.Final", "snapshot": "false"}
    events = [
        RowChange(
            Table("t", "shop", "d", key=("id",)),
            "delete",
            Image((ID, N, V), row),
            None,
            Position(lsn=number, file="f.1", pos=number, row=0, commit_ms=1, sent_ms=1),
            extra=extra,
        )
        for number, row in enumerate(rows)
    ]
    folder.mkdir()
    write_messages(str(folder / "messages.jsonl"), get_format("debezium-json").from_events(events))
    return f"debezium-json:file:{folder}"


WHOLE = (1, 5, "a")
BARE = (2, 0, None)  # as the row of a table whose identity is its key, and as a row of its own


def test_a_deleted_row_of_postgresql_that_shows_its_values_is_compared_whole(
    compare: Compare, tmp_path: Path
) -> None:
    left = deletes_with_schema(tmp_path / "a", [WHOLE])
    code, out, document = compare(left, deletes_with_schema(tmp_path / "b", [(1, 5, "b")]))
    assert code == 1, out
    assert "before.v (text)" in out
    assert document["tables"][0]["left_out"] == []


@pytest.mark.parametrize("other", [(2, 7, None), (2, 0, "x")], ids=["not-null", "nullable"])
def test_a_deleted_row_of_nulls_hides_and_accuses_no_other(
    compare: Compare, tmp_path: Path, other: tuple[int, int, str | None]
) -> None:
    """Other deletes of its table show that REPLICA IDENTITY is FULL."""
    left = deletes_with_schema(tmp_path / "a", [WHOLE, BARE])
    code, out, document = compare(left, deletes_with_schema(tmp_path / "b", [WHOLE, BARE]))
    assert code == 0, out
    assert document["tables"][0]["left_out"] == []
    code, out, document = compare(left, deletes_with_schema(tmp_path / "c", [WHOLE, other]))
    assert code == 1, out
    mysql = deletes_with_schema(tmp_path / "d", [WHOLE, BARE], "mysql")
    code, out, document = compare(left, mysql)
    assert code == 0, out
    assert document["tables"][0]["left_out"] == []


def test_deletes_of_the_key_alone_are_compared_by_it(compare: Compare, tmp_path: Path) -> None:
    """REPLICA IDENTITY is FULL on the left and DEFAULT on the right."""
    left = deletes_with_schema(tmp_path / "a", [WHOLE])
    right = deletes_with_schema(tmp_path / "b", [(1, 0, None)])
    for sides in ((left, right), (right, left)):
        code, out, document = compare(*sides)
        assert code == 0, out
        (left_out,) = document["tables"][0]["left_out"]
        assert left_out["name"] == "columns of deletes beyond the key"


def test_the_option_says_that_the_identity_is_not_full(compare: Compare, tmp_path: Path) -> None:
    left = deletes_with_schema(tmp_path / "a", [WHOLE, BARE])
    right = deletes_with_schema(tmp_path / "b", [WHOLE, (2, 7, "x")])
    given = "replica-identity=index"
    code, out, _ = compare(left, right, "--left-option", given, "--right-option", given)
    assert code == 0, out


def stream_with_schema(folder: Path, rows: Iterable[tuple[Op, Any, Any]]) -> str:
    """Write changes with their schemas, one after the other: operation, old row, new row."""
    extra = {"connector": "postgresql", "connector_version": "2.7.4.Final", "snapshot": "false"}
    events = []
    for number, (op, *images) in enumerate(rows):
        before, after = (each and Image((ID, N, V), each) for each in images)
        at = Position(lsn=100 + number, commit_ms=1, sent_ms=1, tx_id="1")
        table = Table("t", "shop", "d", key=("id",))
        events.append(RowChange(table, op, before, after, at, extra=extra))
    folder.mkdir()
    write_messages(str(folder / "messages.jsonl"), get_format("debezium-json").from_events(events))
    return f"debezium-json:file:{folder}"


def stream_of_updates(first: Any, last: Any, *, is_full: bool) -> list[tuple[Op, Any, Any]]:
    """Return a stream with a delete before and after lsn 103.

    ``is_full``: REPLICA IDENTITY was FULL before 103 too.
    """
    return [
        ("update", (1, 4, "a") if is_full else None, (1, 5, "a")),  # 100
        ("delete", first, None),
        ("update", (3, 4, "c") if is_full else None, (3, 5, "c")),  # 102
        ("update", (3, 5, "c"), (3, 6, "c")),
        ("delete", (3, 6, "c"), None),  # 104
        ("delete", last, None),
    ]


BEFORE = "columns of deletes beyond the key", "before images of updates"


def test_an_identity_that_alters_decides_message_by_message(
    compare: Compare, tmp_path: Path
) -> None:
    altered = stream_of_updates((2, 0, None), BARE, is_full=False)
    left = stream_with_schema(tmp_path / "a", altered)
    always = stream_of_updates((2, 7, "b"), BARE, is_full=True)
    right = stream_with_schema(tmp_path / "b", always)
    for sides, name in (((left, right), "left"), ((right, left), "right")):
        code, out, document = compare(*sides)
        assert code == 0, out
        assert [(each["name"], each["reason"]) for each in document["tables"][0]["left_out"]] == [
            (each, f"the {name} feed may lack them before lsn 103") for each in BEFORE
        ]
    for number, value in enumerate([(2, 0, "x"), (2, 7, None)]):
        other = stream_of_updates((2, 7, "b"), value, is_full=True)
        code, out, document = compare(left, stream_with_schema(tmp_path / f"c{number}", other))
        assert code == 1, out
        assert document["tables"][0]["counts"]["changed"] == 1


def test_old_rows_of_updates_are_compared_where_both_feeds_have_them(
    compare: Compare, tmp_path: Path
) -> None:
    """REPLICA IDENTITY alters, and no row is deleted."""
    first, _, third, *_ = stream_of_updates(None, None, is_full=True)
    left = stream_with_schema(tmp_path / "a", [("update", None, first[2]), third])
    code, out, document = compare(left, stream_with_schema(tmp_path / "b", [first, third]))
    assert code == 0, out
    (left_out,) = document["tables"][0]["left_out"]
    assert left_out["reason"] == "the left feed may lack them before lsn 101"
    other: tuple[Op, Any, Any] = ("update", (3, 9, "c"), third[2])
    code, out, _ = compare(left, stream_with_schema(tmp_path / "c", [first, other]))
    assert code == 1, out


def test_an_identity_that_alters_decides_nothing_without_its_positions(
    compare: Compare, tmp_path: Path
) -> None:
    left, right = (
        stream_with_schema(tmp_path / name, stream_of_updates((2, 0, None), last, is_full=False))
        for name, last in (("a", BARE), ("b", (2, 0, "x")))
    )
    code, out, document = compare(left, right, "--pair-by", "key")
    assert code == 0, out
    reasons = [each["reason"] for each in document["tables"][0]["left_out"]]
    assert reasons[0].endswith("and rows do not pair by lsn")


HSTORE = (("k", "v"), ("n", None), ("a b", 'c"d'))


def hstore_feed(folder: Path, value: object, mode: str, *, has_schema: bool) -> str:
    """Write an insert with an hstore; return the source. ``mode``: ``hstore.handling.mode``."""
    column = Column("h", MapType(TextType(), TextType()), "map", nullable=True)
    image = Image((ID, column), (1, value))
    at = Position(lsn=7, commit_ms=1, sent_ms=1, tx_id="1")
    extra = {"connector": "postgresql", "connector_version": "3.2.0.Final", "snapshot": "false"}
    event = RowChange(Table("t", "shop", "d", key=("id",)), "insert", None, image, at, extra=extra)
    schemas = str(has_schema).lower()
    options: dict[str, OptionValue] = {"hstore-handling-mode": mode, "schemas-enable": schemas}
    folder.mkdir()
    messages = get_format("debezium-json").from_events([event], context=Context(options))
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"debezium-json:file:{folder}"


@pytest.mark.parametrize("has_schema", [True, False])
def test_hstore_as_json_meets_hstore_as_map(
    compare: Compare, tmp_path: Path, has_schema: bool
) -> None:
    defined = Table("t", "shop", columns=(ID, Column("h", JsonType(), "hstore")), key=("id",))
    file = tmp_path / "tables.json"
    file.write_text(json.dumps([table_to_json(defined)]), "utf-8")
    more = [] if has_schema else ["--tables", str(file)]
    left = hstore_feed(tmp_path / "a", HSTORE, "map", has_schema=has_schema)
    same = hstore_feed(tmp_path / "b", HSTORE[::-1], "json", has_schema=has_schema)
    code, out, _ = compare(left, same, *more)
    assert code == 0, out
    other = hstore_feed(tmp_path / "c", (("k", "w"), *HSTORE[1:]), "json", has_schema=has_schema)
    for sides in ((left, other), (other, left)):
        code, out, document = compare(*sides, *more)
        assert code == 1, out
        assert document["tables"][0]["counts"]["changed"] == 1


def test_planted_differences_are_named_and_no_others(compare: Compare, tmp_path: Path) -> None:
    events = changes_of("orders-10", 100)
    inserts = [number for number, event in enumerate(events) if event.op == "insert"]
    deletes = [number for number, event in enumerate(events) if event.op == "delete"]
    planted = list(events)
    image = events[inserts[5]].after
    assert image is not None
    values = tuple(
        "other" if name == "note" else value
        for name, value in zip(image.names, image.values, strict=True)
    )
    planted[inserts[5]] = replace(events[inserts[5]], after=Image(image.columns, values))
    planted.pop(deletes[-1])
    code, out, document = compare(
        write(tmp_path / "a", "cdl-json", events, "orders-10"),
        write(tmp_path / "b", "debezium-json", planted, "orders-10", schemas_enable="false"),
        *("--include", "shop.orders", "--tables", definitions(tmp_path)),
    )
    assert code == 1, out
    (table,) = document["tables"]
    assert {each["verdict"]: each["position"]["lsn"] for each in table["differences"]} == {
        "changed": str(events[inserts[5]].position.lsn),
        "only left": str(events[deletes[-1]].position.lsn),
    }


@pytest.mark.parametrize("right", ["craft", "datahub-blob"])
def test_other_formats_pair_by_the_order_of_changes(
    compare: Compare, tmp_path: Path, right: str
) -> None:
    positions = (*POSITIONS, "sequence_id")
    found = workload("orders-10", 100, 7, position_fields=positions)
    events = [event for event in found if isinstance(event, RowChange)]
    code, out, document = compare(
        write(tmp_path / "a", "cdl-json", events, "orders-10"),
        write(tmp_path / "b", right, events, "orders-10"),
        *("--tables", definitions(tmp_path)),
    )
    assert code == 0, out
    (table,) = document["tables"]
    assert table["paired_by"] == ["ordinal", "id"]


def test_a_key_of_another_row_differs_on_both_engines(tmp_path: Path, compare: Compare) -> None:
    events = changes_of("orders-10", 30)
    left = write(tmp_path / "a", "debezium-json", events, "orders-10")
    right = write(tmp_path / "b", "debezium-json", events, "orders-10")
    lines = (tmp_path / "b" / "messages.jsonl").read_text().splitlines()
    first, second = map(json.loads, lines[:2])
    first["key"], second["key"] = second["key"], first["key"]
    lines[:2] = json.dumps(first), json.dumps(second)
    (tmp_path / "b" / "messages.jsonl").write_text("\n".join(lines) + "\n")
    code, text, document = compare(left, right)
    assert code == 1, text
    assert "DIFFERENT: the Kafka keys differ" in text
    assert document["kafka_keys"]["right"]["contradicting"] == 2
