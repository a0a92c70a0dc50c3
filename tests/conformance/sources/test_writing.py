"""The writer of a prefix: names, versions, numbers, dates, order of puts."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import BinaryIO

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import EncodeError
from cdcwire.core.options import OptionValue
from cdcwire.files.stores import Listed, LocalStore, StoreError, size_and_sum
from cdcwire.model.events import (
    Event,
    Image,
    Marker,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.kinds import Column, EnumType, IntType, TextType
from cdcwire.storage import PathLayout, check_puts, read_index, read_metadata, read_schema_file
from cdcwire.storage.writing import WriteOrder
from cdcwire_conformance.sources.storage.checking import check_prefix
from cdcwire_conformance.sources.storage.writing import (
    PrefixWriter,
    WriterSettings,
    restart_points,
    write_prefix,
)

COLUMNS = (
    Column("id", IntType(64), "bigint", False, roles=frozenset({"primary", "handle"})),
    Column("note", TextType(20), "varchar(20)", True),
)
MORE_COLUMNS = (*COLUMNS, Column("state", EnumType(("a", "b")), "enum('a','b')", True))
MINUTE = 60_000
OPTIONS: dict[str, OptionValue] = {"include-commit-ts": True}


def table(name: str = "t", columns: tuple[Column, ...] | None = COLUMNS) -> Table:
    return Table(name, "s", None, columns, ("id",))


def ts(ms: int) -> int:
    return ms << 18


def row(ms: int, key: int, name: str = "t", columns: tuple[Column, ...] = COLUMNS) -> RowChange:
    values = (key, "x", "a")[: len(columns)]
    after = Image(columns, values)
    return RowChange(table(name, None), "insert", None, after, Position(ts(ms)))


def change(ms: int, code: int, query: str, subject: Table) -> SchemaChange:
    return SchemaChange("alter", query, code, subject, Position(ts(ms)))


@dataclass
class Journal:
    """A store that remembers its puts, in order."""

    url: str = "journal"
    root: str = "journal"
    files: dict[str, bytes] = field(default_factory=dict)
    history: list[tuple[str, bytes]] = field(default_factory=list)
    refuses: Callable[[str], bool] = lambda path: False

    @property
    def puts(self) -> list[str]:
        return [path for path, _ in self.history]

    def list(self, under: str = "", *, recursive: bool = True) -> Iterator[Listed]:
        for path, value in list(self.files.items()):
            if not under or path.startswith(under + "/"):
                yield Listed(path, len(value))

    def look(self, path: str) -> Listed | None:
        return Listed(path, len(self.files[path])) if path in self.files else None

    def read(self, path: str, most: int | None = None) -> bytes:
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path][:most]

    def open(self, path: str) -> BinaryIO:
        return io.BytesIO(self.read(path))

    def sum_of(self, path: str) -> tuple[int, str]:
        return size_and_sum(self.open(path))

    def put(self, path: str, value: bytes) -> None:
        if self.refuses(path):
            raise StoreError(f"{path}: no")
        self.files[path] = value
        self.history.append((path, value))


def names(place: Journal) -> list[str]:
    """Return the data files, without schema and table."""
    found = (path for path in place.puts if path.endswith((".csv", ".json")))
    return [path.partition("/")[2] for path in found if "/meta/" not in path]


def written(
    events: list[Event],
    options: dict[str, OptionValue] | None = None,
    settings: WriterSettings = WriterSettings(),  # noqa: B008  (frozen)
    tables: tuple[Table, ...] = (),
) -> Journal:
    place = Journal()
    writer = PrefixWriter(place, "csv", Context(dict(OPTIONS, **(options or {})), tables), settings)
    for event in events:
        writer.write(event)
    writer.close()
    return place


def test_writer_starts_with_a_schema_file_of_the_first_commit_ts() -> None:
    place = written([row(1, 1)])
    (schema,) = (path for path in place.puts if "schema_" in path)
    file = read_schema_file(place.files[schema])
    assert (file.table_version, file.query, file.type) == (ts(1), "", 0)
    assert names(place) == [f"t/{ts(1)}/1970-01-01/CDC00000000000000000001.csv"]


def test_writer_cuts_a_file_when_the_interval_is_over() -> None:
    place = written([row(1, 1), row(4000, 2), row(6000, 3)])
    assert [name[-11:] for name in names(place)] == ["0000001.csv", "0000002.csv"]
    first, second = (place.files["s/" + name] for name in names(place))
    assert (first.count(b"\r\n"), second.count(b"\r\n")) == (2, 1)


def test_writer_cuts_a_file_when_it_is_full() -> None:
    place = written([row(1, 1), row(2, 2), row(3, 3)], {"file-size": 40})
    assert len(names(place)) == 2


def test_writer_atomic_transaction_is_never_cut() -> None:
    events: list[Event] = [row(1, key) for key in range(5)]
    options: dict[str, OptionValue] = {"file-size": 40}
    assert len(names(written(events, options))) == 3
    atomic = WriterSettings(transaction_atomicity="table")
    assert len(names(written(events, options, atomic))) == 1


def test_writer_header_line_is_in_every_file() -> None:
    place = written([row(1, 1), row(6000, 2)], {"output-field-header": True})
    values = [place.files["s/" + name] for name in names(place)]
    assert len(values) == 2
    assert all(value.startswith(b"ticdc-meta$operation,") for value in values)
    assert all(value.count(b"\r\n") == 2 for value in values)


@pytest.mark.parametrize(
    ("separator", "date"),
    [("none", ""), ("year", "1970/"), ("month", "1970-01/"), ("day", "1970-01-02/")],
)
def test_writer_directory_has_the_date_of_the_clock(separator: str, date: str) -> None:
    place = written([row(24 * 60 * MINUTE, 1)], {"date-separator": separator})
    assert names(place) == [f"t/{ts(24 * 60 * MINUTE)}/{date}CDC00000000000000000001.csv"]


def test_writer_number_begins_at_1_when_the_date_changes() -> None:
    day = 24 * 60 * MINUTE
    place = written([row(1, 1), row(10_000, 2), row(day + 1, 3), row(day + 10_000, 4)])
    assert [name.partition("/1970")[2] for name in names(place)] == [
        "-01-01/CDC00000000000000000001.csv",
        "-01-02/CDC00000000000000000001.csv",  # it waited until the next day came
        "-01-02/CDC00000000000000000002.csv",
        "-01-02/CDC00000000000000000003.csv",
    ]


def test_writer_date_is_that_of_its_zone_and_clock() -> None:
    place = Journal()
    zone = timezone(timedelta(hours=-5))
    now = datetime(2024, 3, 1, 2, 0, tzinfo=timezone.utc)
    clock = lambda: int(now.timestamp() * 1000)  # noqa: E731
    writer = PrefixWriter(place, "csv", Context(OPTIONS), clock=clock, zone=zone)
    writer.write(row(1, 1))
    writer.close()
    assert "/2024-02-29/" in names(place)[0]


def test_writer_date_that_goes_back_continues_after_its_files() -> None:
    place = Journal()
    hours = [1, 30, 1]
    clock = lambda: hours[0] * 60 * MINUTE  # noqa: E731
    writer = PrefixWriter(place, "csv", Context(OPTIONS), clock=clock)
    for key in (1, 2, 3):
        writer.write(row(key, key))
        writer.flush()
        hours.pop(0) if len(hours) > 1 else None
    assert [name.partition("/1970")[2] for name in names(place)] == [
        "-01-01/CDC00000000000000000001.csv",
        "-01-02/CDC00000000000000000001.csv",
        "-01-01/CDC00000000000000000002.csv",
    ]


def test_writer_schema_change_begins_a_version_after_all_earlier_rows() -> None:
    altered = table(columns=MORE_COLUMNS)
    place = written(
        [row(1, 1), change(5, 5, "ALTER TABLE t ADD state", altered), row(9, 2, "t", MORE_COLUMNS)]
    )
    schema = next(p for p in place.puts if f"schema_{ts(5)}_" in p)
    data = [f"s/{name}" for name in names(place)]
    assert [name.split("/")[2] for name in data] == [str(ts(1)), str(ts(5))]
    assert place.puts.index(data[0]) < place.puts.index(schema) < place.puts.index(data[1])
    assert read_schema_file(place.files[schema]).columns[2].elements == ("a", "b")  # type: ignore[index]


def test_writer_index_first_writes_no_elements() -> None:
    altered = table(columns=MORE_COLUMNS)
    events: list[Event] = [change(5, 5, "ALTER TABLE t ADD state", altered)]
    place = written(events, settings=WriterSettings("index-first"))
    (schema,) = (path for path in place.puts if "schema_" in path)
    assert read_schema_file(place.files[schema]).columns[2].elements is None  # type: ignore[index]


def test_writer_rename_goes_on_under_the_new_name() -> None:
    renamed = Table("u", "s")  # without its columns, which are those of the old name
    place = written(
        [
            row(1, 1),
            change(5, 14, "RENAME TABLE `s`.`t` TO `s`.`u`", renamed),
            row(9, 2, "u"),
        ]
    )
    assert [name.split("/")[:2] for name in names(place)] == [["t", str(ts(1))], ["u", str(ts(5))]]
    schema = next(path for path in place.puts if f"u/meta/schema_{ts(5)}_" in path)
    assert len(read_schema_file(place.files[schema]).columns or ()) == 2


def test_writer_change_of_a_database_has_a_separate_file() -> None:
    place = written([change(5, 1, "CREATE DATABASE s", Table(None, "s"))])
    assert any(path.startswith(f"s/meta/schema_{ts(5)}_") for path in place.puts)


@pytest.mark.parametrize(("code", "version"), [(1, 5), (2, 1), (26, 5)])
def test_writer_only_a_dropped_database_ends_its_tables(code: int, version: int) -> None:
    defined = replace(table(), version=ts(1))
    place = written(
        [
            row(2, 1),
            change(5, 7, "CREATE INDEX i ON t (note)", table()),
            row(6, 2),
            change(7, code, "a statement about the database", Table(None, "s")),
            row(9, 3),
        ],
        tables=(defined,),
    )
    versions = [name.split("/")[1] for name in names(place)]
    assert versions == [str(ts(1)), str(ts(5)), str(ts(version))]


@pytest.mark.parametrize("order", ["data-first", "index-first"])
def test_writer_puts_keep_the_rules_of_its_order(order: WriteOrder) -> None:
    events: list[Event] = [row(second * 1000, second) for second in range(30)]
    place = written(events, settings=WriterSettings(order))
    puts = [(path, number_in(path, value)) for path, value in place.history]
    other: WriteOrder = "index-first" if order == "data-first" else "data-first"
    assert list(check_puts(puts, PathLayout(), order)) == []
    assert list(check_puts(puts, PathLayout(), other)) != []


def number_in(path: str, value: bytes) -> int | None:
    """Return what a put tells, as ``check_puts`` takes it."""
    if path == "metadata":
        return read_metadata(value)
    return read_index(value, PathLayout()) if path.endswith(".index") else None


def test_writer_checkpoint_is_between_written_and_waiting_rows() -> None:
    place = Journal()
    writer = PrefixWriter(place, "csv", Context(OPTIONS))
    for ms in (1, 1000, 2500, 4000):
        writer.write(row(ms, ms))
    assert read_metadata(place.files["metadata"]) == ts(1)
    writer.write(Progress("checkpoint", Position(ts(4500))))
    assert read_metadata(place.files["metadata"]) == ts(4500)
    writer.write(row(5000, 9))
    writer.close()
    assert read_metadata(place.files["metadata"]) == ts(5000) + 1


def test_writer_closes_with_a_checkpoint_above_all_rows_in_any_order(tmp_path: Path) -> None:
    writer = PrefixWriter(LocalStore(tmp_path), "csv", Context(OPTIONS))
    assert write_prefix(writer, [row(9000, 1), row(4000, 2)]).checkpoint == ts(9000) + 1
    assert read_metadata((tmp_path / "metadata").read_bytes()) == ts(9000) + 1


def test_writer_restart_goes_on_in_the_old_directory_by_the_index() -> None:
    place = written([row(1, 1), row(6000, 2)])
    again = PrefixWriter(place, "csv", Context(OPTIONS))
    assert again.checkpoint == ts(6000) + 1
    again.write(row(7000, 3))
    again.close()
    assert {name.split("/")[1] for name in names(place)} == {str(ts(1))}
    assert [int(name[-11:-4]) for name in names(place)] == [1, 2, 3]
    index = place.files[f"s/t/{ts(1)}/1970-01-01/meta/CDC.index"]
    assert read_index(index, PathLayout()) == 3


def test_writer_restart_uses_a_number_again_whose_file_was_never_finished() -> None:
    place = written([row(1, 1), row(6000, 2)])
    last = "s/" + names(place)[-1]
    place.files[last] = b""
    again = PrefixWriter(place, "csv", Context(OPTIONS))
    again.write(row(6000, 2))
    again.close()
    assert place.files[last]
    assert len(set(names(place))) == 2


def test_writer_failed_index_is_passed_over_where_it_comes_first() -> None:
    def no_index(path: str) -> bool:
        return path.endswith(".index")

    for order, is_fatal in (("index-first", False), ("data-first", True)):
        place = Journal(refuses=no_index)
        settings = WriterSettings("index-first" if order == "index-first" else "data-first")
        writer = PrefixWriter(place, "csv", Context(OPTIONS), settings)
        writer.write(row(1, 1))
        if is_fatal:
            with pytest.raises(StoreError):
                writer.flush()
        else:
            writer.flush()
            assert writer.unwritten_indexes == 1


def test_writer_event_without_commit_ts_is_an_error_with_its_path() -> None:
    writer = PrefixWriter(Journal(), "csv", Context(OPTIONS))
    event = RowChange(table(columns=None), "insert", None, Image(COLUMNS, (1, "x")))
    with pytest.raises(EncodeError) as caught:
        writer.write(event)
    assert caught.value.path == ("position", "commit_ts")


def test_writer_marker_has_no_place() -> None:
    writer = PrefixWriter(Journal(), "csv", Context(OPTIONS))
    with pytest.raises(EncodeError) as caught:
        writer.write(Marker("begin", position=Position(ts(1))))
    assert caught.value.clause == "storage: names"


def test_restart_points_are_spread_and_never_at_the_end() -> None:
    assert restart_points(100, 4) == [20, 40, 60, 80]
    assert restart_points(2, 5) == [1]
    assert restart_points(0, 3) == []


def test_write_prefix_one_seed_gives_the_same_files(tmp_path: Path, changes: list[Event]) -> None:
    found = []
    for name in ("a", "b"):
        place = LocalStore(tmp_path / name)
        write_prefix(PrefixWriter(place, "csv", Context(OPTIONS)), changes, restart_points(320, 2))
        found.append({listed.path: place.read(listed.path) for listed in place.list()})
    assert found[0] == found[1]


def test_check_knows_rows_that_a_killed_writer_wrote_again(
    tmp_path: Path, changes: list[Event]
) -> None:
    place = LocalStore(tmp_path)
    settings = WriterSettings(flush_interval_ms=100, metadata_interval_ms=50)
    writer = PrefixWriter(place, "csv", Context(OPTIONS), settings)
    write_prefix(writer, changes, restart_points(320, 6))
    found = check_prefix(place, "csv", Context(OPTIONS))
    assert (found.faults, found.repeats > 0) == ([], True)
