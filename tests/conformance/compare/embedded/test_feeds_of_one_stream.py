"""Feeds of one stream in two formats, whose producers write some changes in different ways."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from cdcwire.arrow.types import SchemaError
from cdcwire.core.context import Context
from cdcwire.core.options import OptionValue
from cdcwire.files.messages_io import write_messages
from cdcwire.files.stores import LocalStore
from cdcwire.model.events import Event, Image, Position, RowChange, SchemaChange, Table
from cdcwire.model.kinds import Column, IntType, TextType
from cdcwire.registry import get_format
from cdcwire_conformance.compare.embedded.differences import ChangedRows
from cdcwire_conformance.compare.embedded.engine import compare_feeds
from cdcwire_conformance.compare.feed import ComparedFeed
from cdcwire_conformance.compare.result import Comparison
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_conformance.sources.source_urls import parse_source
from cdcwire_conformance.sources.storage.writing import PrefixWriter, write_prefix

COLUMNS = (
    Column("id", IntType(64), nullable=False, roles=frozenset({"primary", "handle"})),
    Column("name", TextType(), nullable=True),
)
TABLE = Table("t", "shop", columns=COLUMNS, key=("id",))
OPTIONS: dict[str, dict[str, OptionValue]] = {
    "avro": {"enable-tidb-extension": True, "avro-enable-watermark": True},
    "canal-json": {"enable-tidb-extension": True},
    "csv": {"include-commit-ts": True, "output-old-value": True},
}


def at(number: int) -> Position:
    commit_ts = 446710992077062144 + (number << 18)
    return Position(commit_ts=commit_ts, lsn=number, commit_ms=1_700_000_000_000 + number)


def row(id_: int, name: str = "a") -> Image:
    return Image(COLUMNS, (id_, name))


def insert(number: int, id_: int, table: Table = TABLE) -> RowChange:
    return RowChange(table, "insert", None, row(id_), at(number))


def delete(number: int, id_: int) -> RowChange:
    return RowChange(TABLE, "delete", row(id_), None, at(number))


def feed(folder: Path, format_name: str, events: Sequence[Event]) -> ComparedFeed:
    """Write a stream as messages, or as a prefix if the format is one of storage sinks only."""
    form = get_format(format_name)
    events = [_as_written(event, format_name) for event in events]
    tables = {e.table for e in events if isinstance(e, RowChange)}
    context = Context(OPTIONS.get(format_name, {}), tuple(tables))
    folder.mkdir(parents=True)
    if format_name == "csv":
        write_prefix(PrefixWriter(LocalStore(folder), format_name, context), list(events))
        context = Context(context.options)
    else:
        messages = form.from_events(events, context=context)
        write_messages(str(folder / "messages.jsonl"), messages)
    return ComparedFeed(parse_source(f"{format_name}:file:{folder}"), context)


def _as_written(event: Event, format_name: str) -> Event:
    """Return an event as CDL has it: a row of a snapshot is an insert."""
    if format_name == "cdl-json" and isinstance(event, RowChange) and event.op == "read":
        return replace(event, op="insert")
    return event


def compared(
    folder: Path,
    formats: tuple[str, str],
    events: Sequence[Event],
    others: Sequence[Event] | None = None,
    options: CompareOptions | None = None,
) -> Comparison:
    """Compare two feeds. ``others``: the stream of the right one; None: the same."""
    left = feed(folder / "left", formats[0], events)
    right = feed(folder / "right", formats[1], events if others is None else others)
    return compare_feeds(left, right, options or CompareOptions())


def test_a_delete_of_avro_before_a_rename_is_before_it(tmp_path: Path) -> None:
    query = "RENAME TABLE shop.t TO shop.renamed"
    events: list[Event] = [
        *(insert(1, 1), insert(2, 2), delete(3, 1)),
        SchemaChange("rename", query, 14, TABLE, at(4)),
    ]
    options = CompareOptions(mode="final")
    assert compared(tmp_path, ("craft", "avro"), events, options=options).is_equal


def test_a_table_of_a_prefix_whose_name_begins_with_a_dot_is_read(tmp_path: Path) -> None:
    events = [insert(1, 1, Table(".t", ".shop", columns=COLUMNS, key=("id",)))]
    found = compared(tmp_path, ("csv", "canal-json"), events)
    assert found.is_equal, found.differences


def test_a_row_of_a_snapshot_equals_the_insert_of_a_producer_that_has_no_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(OPTIONS, "debezium-json", {"dialect": "cdl"})
    keyless = Table("t", "shop", columns=COLUMNS[1:], key=())
    read = RowChange(keyless, "read", None, Image(COLUMNS[1:], ("a",)), at(1))
    found = compared(tmp_path, ("debezium-json", "maxwell-json"), [read])
    assert found.is_equal, found.tables


@pytest.mark.parametrize(("has_ddl", "names"), [(True, False), (False, True)])
def test_ddl_events_that_a_producer_does_not_send_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_ddl: bool, names: bool
) -> None:
    avro = {"enable-tidb-extension": True, "avro-enable-watermark": has_ddl}
    monkeypatch.setitem(OPTIONS, "avro", avro)
    found = compared(tmp_path, ("avro", "craft"), [insert(1, 1)])
    assert found.is_equal
    assert ("DDL events" in dict(found.left_out)) is names


def test_positions_of_rows_of_snapshots_are_named_as_not_compared(tmp_path: Path) -> None:
    read = RowChange(TABLE, "read", None, row(1), at(1))
    events = [read, insert(3, 2)]
    others = [replace(read, position=at(2)), insert(3, 2)]
    found = compared(tmp_path, ("debezium-json", "debezium-json"), events, others)
    assert found.is_equal
    assert "lsn and commit_ms of rows of snapshots" in dict(found.left_out)


FINAL = CompareOptions(mode="final")


def update(number: int, name: str) -> RowChange:
    return RowChange(TABLE, "update", row(1), row(1, name), at(number))


def test_a_position_that_goes_back_leaves_last_rows_undecided(tmp_path: Path) -> None:
    events = [insert(1, 1), update(2, "b"), update(3, "c")]
    others = [events[0], events[2], events[1]]
    with pytest.raises(SchemaError, match=r"commit_ts goes back in a feed: shop\.t at commit_ts"):
        compared(tmp_path, ("craft", "craft"), events, others, FINAL)


@pytest.mark.parametrize("again", [[1], [1, 2], [0, 1, 2]])
def test_changes_that_are_sent_again_do_not_go_back(tmp_path: Path, again: list[int]) -> None:
    events = [insert(1, 1), update(2, "b"), update(3, "c")]
    others = [*events, *(events[number] for number in again)]
    assert compared(tmp_path, ("craft", "craft"), events, others, FINAL).is_equal


# A transaction that is open during a snapshot has positions below that of the snapshot.
BORDER = [RowChange(TABLE, "read", None, row(1), at(9)), update(5, "b"), update(6, "c")]
PAIRS = [("cdl-json", "debezium-json"), ("cdl-json", "cdl-json"), ("debezium-json",) * 2]


@pytest.mark.parametrize("options", [CompareOptions(), FINAL], ids=["events", "final"])
@pytest.mark.parametrize("formats", PAIRS, ids=" and ".join)
def test_changes_below_the_position_of_a_snapshot_are_compared(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    formats: tuple[str, str],
    options: CompareOptions,
) -> None:
    monkeypatch.setitem(OPTIONS, "debezium-json", {"replica-identity": "full"})
    assert compared(tmp_path / "equal", formats, BORDER, None, options).is_equal
    others = [*BORDER[:2], update(6, "d")]
    assert compared(tmp_path / "other", formats, BORDER, others, options).is_different


def test_order_of_repeats_is_named_as_not_compared_if_repeats_are_allowed(tmp_path: Path) -> None:
    events = [insert(1, 1), update(2, "b"), update(3, "c")]
    others = [*events, events[0], events[2], events[1]]
    options = CompareOptions(allow_repeats=True)
    found = compared(tmp_path, ("craft", "craft"), events, others, options)
    assert found.is_equal
    (table,) = found.tables
    assert "order of changes that were sent again" in dict(table.left_out)


def test_feeds_of_a_snapshot_alone_do_not_lack_a_position(tmp_path: Path) -> None:
    read = RowChange(TABLE, "read", None, row(1), at(1))
    found = compared(tmp_path, ("debezium-json", "debezium-json"), [read])
    (reason,) = (why for name, why in found.left_out if name.startswith("lsn"))
    assert reason == "all rows come from snapshots"


def test_positions_of_a_snapshot_alone_are_named_if_one_format_has_them(tmp_path: Path) -> None:
    read = RowChange(TABLE, "read", None, row(1), at(1))
    found = compared(tmp_path, ("maxwell-json", "debezium-json"), [read])
    assert dict(found.left_out)["lsn"] == "maxwell-json has none"


def test_a_gtid_of_a_snapshot_that_cannot_be_ordered_is_no_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(OPTIONS, "debezium-json", {"connector": "mysql"})
    place = Position(commit_ms=1, sent_ms=1, file="binlog.000001", pos=4, gtid="several")
    read = RowChange(TABLE, "read", None, row(1), place)
    other = replace(read, position=replace(place, pos=5))
    found = compared(tmp_path, ("debezium-json", "debezium-json"), [read], [other])
    assert found.is_equal
    (reason,) = (why for name, why in found.left_out if "binlog" in name.split(", "))
    assert reason == "all rows come from snapshots"


@pytest.mark.parametrize("formats", [("craft", "craft"), ("canal-json", "avro")], ids=" and ".join)
def test_differences_of_changed_rows_are_those_of_all_other_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, formats: tuple[str, str]
) -> None:
    events = [insert(1, 1), insert(2, 2), update(3, "b"), delete(4, 2)]
    others = [
        replace(events[0], after=row(1, "x")),
        replace(events[1], after=Image(COLUMNS, (2, None))),
        update(3, "c"),
        replace(events[3], before=row(2, "y")),
    ]
    directly = compared(tmp_path / "directly", formats, events, others)
    monkeypatch.setattr(ChangedRows, "of", lambda self, pair: None)
    shutil.rmtree(tmp_path / "directly")
    in_general = compared(tmp_path / "directly", formats, events, others)
    assert in_general.tables == directly.tables
    assert len(directly.tables[0].differences) == (4 if formats[0] == "craft" else 3)


@pytest.mark.parametrize("other", ["maxwell-json", "canal-json"])
def test_a_time_that_deletes_of_avro_lack_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    monkeypatch.setitem(OPTIONS, "avro", {**OPTIONS["avro"], "dialect": "shipped,ticdc"})
    events = [insert(1, 1), insert(2, 2), delete(3, 1)]
    found = compared(tmp_path, (other, "avro"), events)
    assert found.is_equal, found.tables
    assert dict(found.left_out)["commit_ms"] == "deletes of the right feed lack it"


def test_old_rows_that_a_setting_leaves_out_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole: dict[str, OptionValue] = {"dialect": "ticdc", "replica-identity": "full"}
    monkeypatch.setitem(OPTIONS, "debezium-json", {**whole, "output-old-value": False})
    monkeypatch.setitem(OPTIONS, "debezium-avro", whole)
    events = [insert(1, 1), update(2, "b")]
    found = compared(tmp_path, ("debezium-json", "debezium-avro"), events)
    assert found.is_equal, found.tables
    (table,) = found.tables
    assert dict(table.left_out)["before images of updates"] == "no update of the left feed has one"
