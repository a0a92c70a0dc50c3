"""Avro compared with other formats: what both carry is equal; the rest is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.files.messages_io import write_messages
from cdcwire.formats.avro.names import sanitize
from cdcwire.model.events import Event, Image, Position, RowChange, Table
from cdcwire.model.kinds import BoolType, Column, IntType, TextType
from cdcwire.registry import get_format
from cdcwire_generators.workloads import workload

pytest.importorskip("pyspark", reason="needs the extra spark")

from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.aliases import named_like
from cdcwire_conformance.compare.result import Counts
from cdcwire_conformance.compare.rules import ComparisonRules, Side, terms_of
from cdcwire_conformance.spark import describe_feed, parse_source
from cdcwire_conformance.spark.compare.frames import compare_frames

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Compare: TypeAlias = "Callable[..., tuple[int, str, dict[str, Any]]]"

pytestmark = pytest.mark.usefixtures("spark")

EXTENSION = "enable-tidb-extension=true"
ROWS = 60


def messages_of(
    format_name: str, events: Iterable[Event], has_extension_fields: bool
) -> list[Message]:
    has_extension = has_extension_fields and format_name in ("avro", "canal-json")
    options = {"enable-tidb-extension": True} if has_extension else {}
    return list(get_format(format_name).from_events(events, context=Context(options=options)))


def write(
    folder: Path, format_name: str, events: Iterable[Event], *, has_extension_fields: bool = True
) -> str:
    """Write a feed and return its source. ``has_extension_fields``: with TiDB's extension."""
    folder.mkdir()
    write_messages(
        str(folder / "messages.jsonl"), messages_of(format_name, events, has_extension_fields)
    )
    return f"{format_name}:file:{folder}"


def stream(name: str, count: int = ROWS) -> list[RowChange]:
    found = list(workload(name, count, 7))
    assert {event.op for event in found} == {"insert", "update", "delete"}  # type: ignore[union-attr]
    return found  # type: ignore[return-value]  # there is no DDL in it


def with_value(event: RowChange, name: str, value: object) -> RowChange:
    """Return the event with another value in its after image."""
    assert event.after is not None
    values = list(event.after.values)
    values[event.after.names.index(name)] = value
    return replace(event, after=Image(event.after.columns, tuple(values)))


def left_out(document: dict[str, Any]) -> list[str]:
    """Return what these feeds lose, without the members that no feeds of their formats compare."""
    return [each["name"] for each in document["left_out"] if "no rule asks" not in each["reason"]]


@pytest.mark.spark_nightly
@pytest.mark.parametrize("has_extension_fields", [True, False])
@pytest.mark.parametrize("right", ["canal-json", "open-protocol"])
def test_feeds_of_one_stream_are_equal_and_losses_are_reported(
    compare: Compare, tmp_path: Path, right: str, has_extension_fields: bool
) -> None:
    events = stream("proposal-29")
    code, out, document = compare(
        write(tmp_path / "a", "avro", events, has_extension_fields=has_extension_fields),
        write(tmp_path / "b", right, events, has_extension_fields=has_extension_fields),
        *(["--option", EXTENSION] if has_extension_fields else []),
    )
    assert code == 0, out
    (table,) = document["tables"]
    assert table["counts"]["same"] == table["counts"]["left"] == ROWS
    assert table["paired_by"] == ["commit_ts" if has_extension_fields else "ordinal", "c1"]
    lost = {"before images of updates", "columns of deletes beyond the key", "Kafka keys"}
    lost |= {"DDL events"}
    if has_extension_fields:
        lost |= {
            "canal-json": {"commit_ts and commit_ms of deletes"},
            "open-protocol": {"commit_ts of deletes", "commit_ms", "partition"},
        }[right]
    else:
        lost |= {"insert against update"}
        lost |= {"canal-json": {"commit_ms"}, "open-protocol": {"commit_ts", "partition"}}[right]
    assert set(left_out(document)) == lost


@pytest.mark.long
def test_planted_differences_are_named_and_no_others(compare: Compare, tmp_path: Path) -> None:
    events = stream("orders-10", 120)
    deletes = [number for number, event in enumerate(events) if event.op == "delete"]
    inserts = [number for number, event in enumerate(events) if event.op == "insert"]
    updates = [number for number, event in enumerate(events) if event.op == "update"]
    planted = list(events)
    planted[inserts[5]] = with_value(events[inserts[5]], "note", "other")
    planted[updates[3]] = with_value(events[updates[3]], "customer", None)
    planted.pop(deletes[-1])
    code, out, document = compare(
        write(tmp_path / "a", "avro", events),
        write(tmp_path / "b", "craft", planted),
        "--left-option",
        EXTENSION,
    )
    assert code == 1
    (table,) = document["tables"]
    counts = table["counts"]
    assert (counts["changed"], counts["only_left"], counts["only_right"]) == (2, 1, 0), out
    found = {each["verdict"]: each for each in table["differences"]}
    lost = events[deletes[-1]].before
    assert lost is not None
    assert found["only left"]["op"] == "delete"
    assert found["only left"]["key"][0]["value"] == str(lost["id"])
    assert list(found["only left"]["position"]) == ["last commit_ts"]
    assert found["only left"]["places"]["left"]["line"] is not None
    changed = {
        difference["columns"][0]["column"]
        for difference in table["differences"]
        if difference["verdict"] == "changed"
    }
    assert changed == {"note", "customer"}


TABLE = CanonicalTable(
    "shop",
    "orders",
    (
        Column("id", IntType(64), roles=frozenset({"primary", "handle"})),
        Column("code", IntType(32), roles=frozenset({"unique"})),
    ),
    ("id",),
)
BARE = ComparisonRules(
    has_old_values=False, splits_unique_keys=False, deleted_columns="key", has_bare_deletes=True
)


def change(op: str, id: int, ts: int) -> dict[str, Any]:
    side = "before" if op == "delete" else "after"
    return {"op": op, side: {"id": id, "code": id}, "ts": ts}


def bare(changes: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return changes as Avro sends them: deletes without a position."""
    return [{**each, "ts": 0} if each["op"] == "delete" else each for each in changes]


def test_delete_without_a_position_pairs_by_what_came_before(
    frame_of: Callable[..., Any],
) -> None:
    changes = [
        change("insert", 1, 10),
        change("delete", 1, 11),
        change("insert", 1, 12),
        change("delete", 1, 13),
        change("delete", 2, 14),  # of a row from before the feed
        change("insert", 3, 15),
    ]
    # Another key's changes may come in between anywhere.
    left = frame_of(TABLE, bare([*changes[4:], *changes[:4]])).coalesce(1)
    right = frame_of(TABLE, changes).coalesce(1)
    assert compare_frames(left, right, TABLE, BARE).counts == Counts(6, 6, 6, 6, 6)
    late = frame_of(TABLE, [changes[0], *changes[2:], changes[1]]).coalesce(1)
    found = compare_frames(left, late, TABLE, BARE)
    assert found.counts == Counts(6, 6, 6, 6, 5, only_left=1, only_right=1)
    assert [dict(each.position) for each in found.differences] == [
        {"last commit_ts": "10"},
        {"last commit_ts": "12"},
    ]


def test_update_of_another_unique_key_is_one_change(frame_of: Callable[..., Any]) -> None:
    update = {"op": "update", "after": {"id": 1, "code": 6}, "ts": 10}
    with_old = {**update, "before": {"id": 1, "code": 5}}
    found = compare_frames(frame_of(TABLE, [update]), frame_of(TABLE, [with_old]), TABLE, BARE)
    assert found.counts == Counts(1, 1, 1, 1, 1)


def test_terms_of_two_avro_feeds_lose_nothing_more() -> None:
    side = Side(get_format("avro"), {"enable-tidb-extension": True})
    found = terms_of(side, side)
    assert found.rules.has_bare_deletes
    assert found.rules.position == "commit_ts"
    assert [name for name, _ in found.left_out] == ["columns of deletes beyond the key"]


def odd_events() -> list[RowChange]:
    columns = (
        Column("order id", IntType(64), nullable=False, roles=frozenset({"primary", "handle"})),
        Column("unit-price", IntType(32)),
        Column("9", TextType()),
        Column("plain", IntType(32)),
    )
    table = Table("order-lines", "shop", columns=columns, key=("order id",))
    rows = [Image(columns, (n, n * 2, f"note {n}", n)) for n in range(4)]
    found = [
        RowChange(table, "insert", None, row, Position(commit_ts=n + 1))
        for n, row in enumerate(rows)
    ]
    return [*found, RowChange(table, "delete", rows[2], None, Position(commit_ts=9))]


@pytest.mark.spark_nightly
def test_names_that_avro_rewrote_meet_those_of_the_other_side(
    compare: Compare, tmp_path: Path
) -> None:
    events = odd_events()
    avro = write(tmp_path / "a", "avro", events)
    code, out, document = compare(
        avro, write(tmp_path / "b", "canal-json", events), "--option", EXTENSION
    )
    assert code == 0, out
    (table,) = document["tables"]
    assert table["table"] == "shop.order-lines"
    assert table["counts"]["same"] == 5
    assert table["paired_by"] == ["commit_ts", "order id"]
    assert table["notes"] == [
        "avro: shop.order_lines is shop.order-lines",
        "avro: column _9 is 9",
        "avro: column order_id is order id",
        "avro: column unit_price is unit-price",
    ]
    events[1] = with_value(events[1], "unit-price", 7)
    code, out, document = compare(
        write(tmp_path / "c", "canal-json", events),
        avro,
        *("--option", EXTENSION, "--include", "shop.order-lines", "--columns", "unit-price"),
    )
    assert code == 1
    ((difference,),) = [each["differences"] for each in document["tables"]]
    assert [each["column"] for each in difference["columns"]] == ["unit-price"]


def test_definition_tells_of_columns_by_their_own_names(
    tmp_path: Path, spark: SparkSession
) -> None:
    events = odd_events()
    assert events[0].table.columns is not None
    columns = (replace(events[0].table.columns[1], type=BoolType()), *events[0].table.columns[2:])
    known = replace(events[0].table, columns=columns)
    source = parse_source(write(tmp_path / "a", "avro", events[:1]))
    context = Context(options={"enable-tidb-extension": True})
    (found,) = describe_feed(spark, source, context=context, definitions=[known])
    assert found.table.column_names == ("unit_price", "_9", "plain", "order_id")
    assert found.table.column("unit_price").type == BoolType()


def test_name_of_two_columns_is_nobodys() -> None:
    def table(*names: str) -> CanonicalTable:
        return CanonicalTable("s", "t", tuple(Column(name, IntType(32)) for name in names), ())

    name = ("s", "t")
    found, aliases = named_like(
        {name: table("a_b", "c_")}, {name: table("a-b", "a.b", "c!")}, "avro", sanitize
    )
    assert found[name].column_names == ("a_b", "c!")
    assert aliases[name].columns == {"c!": "c_"}
    same, none = named_like({name: table("a_b")}, {name: table("a_b", "a-b")}, "avro", sanitize)
    assert same[name].column_names == ("a_b",)
    assert none == {}


def test_schemas_of_one_side_are_at_a_separate_place(compare: Compare, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    events = odd_events()
    messages = messages_of("avro", events, has_extension_fields=True)
    texts = dict(get_format("avro").prepared(messages, Context()).schemas)
    records = [message for message in messages if isinstance(message, KafkaMessage)]
    for name in ("a", "ids"):
        (tmp_path / name).mkdir()
    columns = {
        "key": pa.array([record.key for record in records], pa.binary()),
        "value": pa.array([record.value for record in records], pa.binary()),
    }
    pq.write_table(pa.table(columns), tmp_path / "a" / "feed.parquet")
    for schema_id, text in texts.items():
        (tmp_path / "ids" / f"{schema_id}.avsc").write_text(text, "utf-8", newline="")
    sides = f"avro:file:{tmp_path / 'a'}", write(tmp_path / "b", "avro", events)
    known = ("--option", EXTENSION)
    code, said, _ = compare(*sides, *known)
    assert code == 2
    assert "needs its schemas" in said
    assert said.count("\n") == 1
    code, said, _ = compare(*sides, *known, "--left-schema", str(tmp_path / "ids"))
    assert code == 0, said
