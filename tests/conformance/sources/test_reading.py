"""A prefix that is read: order, checkpoint, what is held back, tables by version."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cdcwire.core.context import Context, Selection
from cdcwire.core.options import OptionError, OptionValue
from cdcwire.files.prefix import list_prefix
from cdcwire.files.prefix_events import read_events
from cdcwire.files.stores import Listed, LocalStore, StoreError
from cdcwire.model.events import Event, Progress, RowChange, SchemaChange, Table
from cdcwire.model.kinds import Column, IntType
from cdcwire.registry import get_format
from cdcwire.storage import Fault, RowGate
from cdcwire_conformance.sources.storage.checking import check_prefix

OPTIONS: dict[str, dict[str, OptionValue]] = {
    "csv": {"include-commit-ts": True, "output-old-value": True},
    "canal-json": {"enable-tidb-extension": True, "content-compatible": True},
}


def read(
    folder: Path, format_name: str, selection: Selection | None = None, gate: RowGate | None = None
) -> tuple[list[Event], list[Fault]]:
    context = Context(OPTIONS[format_name], selection=selection or Selection())
    place = LocalStore(folder)
    faults: list[Fault] = []
    prefix = list_prefix(place, get_format(format_name), context)
    return list(read_events(place, prefix, context, faults.append, gate)), faults


def rows(events: list[Event], table: str) -> list[RowChange]:
    return [e for e in events if isinstance(e, RowChange) and e.table.name == table]


def test_prefix_tables_come_with_their_versions(good: dict[str, Path], format_name: str) -> None:
    prefix = list_prefix(
        LocalStore(good[format_name]), get_format(format_name), Context(OPTIONS[format_name])
    )
    orders = [table for table in prefix.tables if table.name == "orders"]
    assert sorted(len(table.columns or ()) for table in orders) == [9, 10]
    assert {table.version for table in orders} == {
        file.parsed.version for file in prefix.files if file.parsed.table == "orders"
    }


def test_prefix_files_come_with_what_a_reader_of_one_needs(
    good: dict[str, Path], format_name: str
) -> None:
    prefix = list_prefix(
        LocalStore(good[format_name]), get_format(format_name), Context(OPTIONS[format_name])
    )
    for file in prefix.files:
        assert Path(file.url).stat().st_size == file.size
        assert file.url.endswith(file.path)
    partitions = {file.parsed.partition for file in prefix.files if file.parsed.table == "events"}
    assert partitions == {100, 101, 102}


def test_read_schema_change_comes_before_the_rows_of_its_version(
    good: dict[str, Path], format_name: str
) -> None:
    events, _ = read(good[format_name], format_name)
    (altered,) = (e for e in events if isinstance(e, SchemaChange) and e.code == 5)
    place = events.index(altered)
    for event in rows(events[:place], "orders"):
        assert len((event.after or event.before or ()).columns) == 9  # type: ignore[union-attr]
    for event in rows(events[place:], "orders"):
        assert len((event.after or event.before or ()).columns) == 10  # type: ignore[union-attr]


def test_read_stops_at_the_checkpoint_and_says_so(prefix: Path, format_name: str) -> None:
    events, _ = read(prefix, format_name)
    limit = rows(events, "events")[-3].position.commit_ts
    (prefix / "metadata").write_text(f'{{"checkpoint-ts":{limit}}}')
    gate = RowGate(limit)
    again, faults = read(prefix, format_name, gate=gate)
    stamps = [e.position.commit_ts or 0 for e in again if isinstance(e, RowChange)]
    assert max(stamps) < (limit or 0)
    assert gate.beyond == len([e for e in events if isinstance(e, RowChange)]) - len(stamps)
    assert isinstance(again[-1], Progress)
    assert again[-1].position.commit_ts == limit
    assert faults == []


def test_read_takes_numbers_of_every_width(prefix: Path, format_name: str) -> None:
    before, _ = read(prefix, format_name)
    for file in prefix.rglob("CDC0*"):
        file.rename(file.with_name(f"CDC{int(file.stem[3:]):06d}{file.suffix}"))
    assert read(prefix, format_name) == (before, [])


def test_read_without_metadata_has_no_limit(prefix: Path, format_name: str) -> None:
    before, _ = read(prefix, format_name)
    (prefix / "metadata").unlink()
    events, faults = read(prefix, format_name)
    assert events == before[:-1]
    assert faults == []


class _Growing(LocalStore):
    """A directory whose producer goes on right after it was listed."""

    def __init__(self, root: Path, unlisted: set[str], checkpoint_then: bytes) -> None:
        super().__init__(root)
        self.unlisted = unlisted
        self.checkpoint_then = checkpoint_then
        self.is_listed = False

    def list(self, under: str = "", *, recursive: bool = True) -> Iterator[Listed]:
        hidden = set() if self.is_listed else self.unlisted
        found = [
            each for each in super().list(under, recursive=recursive) if each.path not in hidden
        ]
        self.is_listed = True
        yield from found

    def read(self, path: str, most: int | None = None) -> bytes:
        is_late = self.is_listed and path == "metadata"
        return self.checkpoint_then if is_late else super().read(path, most)


def test_list_of_a_growing_prefix_has_all_below_its_checkpoint(
    prefix: Path, format_name: str
) -> None:
    before, _ = read(prefix, format_name)
    day = sorted(prefix.glob("shop/users/[0-9]*/*/CDC*[2-9].*"))[-1].parent
    newer = {each.relative_to(prefix).as_posix() for each in day.glob("CDC*[2-9].*")}
    context = Context(OPTIONS[format_name])
    checkpoint = list_prefix(LocalStore(prefix), get_format(format_name), context).checkpoint
    assert checkpoint is not None
    later = (prefix / "metadata").read_bytes().replace(b"%d" % checkpoint, b"%d" % (checkpoint + 9))
    place, faults = _Growing(prefix, newer, later), list[Fault]()
    found = list_prefix(place, get_format(format_name), context)
    assert found.checkpoint == checkpoint
    assert newer <= found.listed.keys()
    assert list(read_events(place, found, context, faults.append)) == before
    assert faults == []


def test_read_fault_holds_back_its_table_and_no_other(prefix: Path, format_name: str) -> None:
    before, _ = read(prefix, format_name)
    first = sorted(prefix.glob("shop/orders/[0-9]*/*/CDC*"))[0]
    first.write_bytes(first.read_bytes()[:-5])
    events, faults = read(prefix, format_name)
    assert [fault.kind for fault in faults] == ["half-written"]
    assert rows(events, "orders") == []
    for table in ("events", "users", "customers"):
        assert rows(events, table) == rows(before, table)
    assert not any(isinstance(e, SchemaChange) and e.code == 5 for e in events)
    assert not isinstance(events[-1], Progress)


def test_read_broken_row_comes_after_the_rows_before_it(prefix: Path, format_name: str) -> None:
    file = next(
        file
        for file in sorted(prefix.glob("shop/users/[0-9]*/*/CDC*"))
        if file.read_bytes().count(b"\r\n") > 1
    )
    before, _ = read(prefix, format_name)
    lines = file.read_bytes().split(b"\r\n")
    file.write_bytes(b"\r\n".join([*lines[:-2], b'"?"' + lines[-2], b""]))
    events, (fault,) = read(prefix, format_name)
    assert fault.kind == "data-unreadable"
    assert fault.offset is not None
    assert fault.offset >= len(b"\r\n".join(lines[:-2]))
    found = rows(events, "users")
    assert found == rows(before, "users")[: len(found)]
    assert len(found) >= len(lines) - 2


def test_read_partition_goes_on_where_another_one_is_held_back(
    prefix: Path, format_name: str
) -> None:
    first = sorted(prefix.glob("shop/events/*/101/*/CDC*"))[0]
    first.unlink()
    events, faults = read(prefix, format_name)
    assert [fault.kind for fault in faults] == ["hole"]
    assert {event.position.partition for event in rows(events, "events")} == {100, 102}


def test_read_of_one_table_opens_no_other_file(prefix: Path, format_name: str) -> None:
    for file in prefix.glob("shop/events/*/*/*/CDC*"):
        file.write_bytes(b"this is not read\r\n")
    selection = Selection(frozenset({("shop", "orders")}))
    events, faults = read(prefix, format_name, selection)
    assert faults == []
    assert {e.table.name for e in events if isinstance(e, RowChange)} == {"orders"}
    changed = [e.table.name for e in events if isinstance(e, SchemaChange) and e.table]
    assert set(changed) == {None, "orders"}


def test_read_of_some_columns_has_only_those(good: dict[str, Path], format_name: str) -> None:
    events, _ = read(good[format_name], format_name, Selection(columns=frozenset({"id", "name"})))
    image = rows(events, "users")[0].after
    assert image is not None
    assert image.names == ("id", "name")


def test_read_and_check_of_paths_by_table_id(prefix: Path, format_name: str) -> None:
    """The newer producer may write ids in place of schema and table; a rename keeps the id."""
    before, _ = read(prefix, format_name)
    options = dict(OPTIONS[format_name])
    for name, number in (("orders", "104"), ("users", "106"), ("customers", "106")):
        for file in sorted((prefix / "shop" / name).rglob("*.*")):
            target = prefix / number / file.relative_to(prefix / "shop" / name)
            target.parent.mkdir(parents=True, exist_ok=True)
            file.rename(target)
    events, faults = read(prefix, format_name)
    assert faults == []
    for table in ("orders", "users", "customers", "events"):
        assert rows(events, table) == rows(before, table)
    assert check_prefix(LocalStore(prefix), format_name, Context(options)).faults == []


def test_read_and_check_of_files_of_two_dispatchers(prefix: Path, format_name: str) -> None:
    """Each dispatcher counts its own files. The rows of a table come in the order of commit-ts."""
    before, _ = read(prefix, format_name)
    for folder in sorted(prefix.glob("shop/users/[0-9]*/2*")):
        for owner, files in (("a", sorted(folder.glob("CDC0*"))[1::2]), ("b", [])):
            files = files or sorted(folder.glob("CDC0*"))
            for number, file in enumerate(files, start=1):
                file.rename(folder / f"CDC_{owner}_{number:020d}{file.suffix}")
            if files:
                name = f"CDC_{owner}_{len(files):020d}{files[0].suffix}\n"
                (folder / "meta" / f"CDC_{owner}.index").write_text(name)
        (folder / "meta" / "CDC.index").unlink()
    events, faults = read(prefix, format_name)
    assert faults == []
    assert rows(events, "users") == rows(before, "users")
    assert check_prefix(LocalStore(prefix), format_name, Context(OPTIONS[format_name])).faults == []


def test_read_of_canal_json_in_the_queue_s_options_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(OptionError):
        list_prefix(LocalStore(tmp_path), get_format("csv"), Context({"no-such-option": "1"}))
    with pytest.raises(ValueError, match="craft"):
        list_prefix(LocalStore(tmp_path), get_format("craft"), Context())


def test_list_prefix_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        list_prefix(LocalStore(tmp_path / "none"), get_format("csv"), Context())


class _Counting(LocalStore):
    """A directory that counts the bytes that are read at once."""

    longest = 0

    def read(self, path: str, most: int | None = None) -> bytes:
        value = super().read(path, most)
        self.longest = max(self.longest, len(value))
        return value


def test_metadata_and_index_files_are_not_read_beyond_their_limits(
    prefix: Path, format_name: str
) -> None:
    index = next(prefix.rglob("CDC*.index"))
    for file in (prefix / "metadata", index):
        file.write_bytes(b" " * 1_000_000)
    store = _Counting(prefix)
    found = list_prefix(store, get_format(format_name), Context(OPTIONS[format_name]))
    assert found.checkpoint is None
    assert {fault.kind for fault in found.faults} >= {"metadata-unreadable"}
    assert store.longest < 100_000


def test_rows_of_two_dispatchers_without_commit_ts_stay_in_the_order_of_files(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "test/t3/100/2026-05-09"
    (folder / "meta").mkdir(parents=True)
    for owner, values in (("a", (3, 4)), ("b", (1, 2))):
        for number, value in enumerate(values, start=1):
            name = f"CDC_{owner}_{number:020d}.csv"
            (folder / name).write_bytes(b'"I","t3","test",%d\r\n' % value)
            (folder / "meta" / f"CDC_{owner}.index").write_text(f"{name}\n")
    table = Table("t3", "test", columns=(Column("id", IntType(32)),), key=("id",))
    context = Context({"include-commit-ts": False}, (table,))
    place = LocalStore(tmp_path)
    found = list_prefix(place, get_format("csv"), context)
    faults: list[Fault] = []
    events = rows(list(read_events(place, found, context, faults.append)), "t3")
    assert [event.after and event.after.values[0] for event in events] == [3, 4, 1, 2]
