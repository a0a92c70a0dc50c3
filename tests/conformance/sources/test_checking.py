"""Each fault that the rules name, planted into a good prefix, is found, and nothing else is."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cdcwire.core.context import Context
from cdcwire.core.options import OptionValue
from cdcwire.files.stores import Listed, LocalStore
from cdcwire.storage import Fault
from cdcwire_conformance.sources.storage.checking import NO_COMMIT_TS, Checked, check_prefix

OPTIONS: dict[str, dict[str, OptionValue]] = {
    "csv": {"include-commit-ts": True, "output-old-value": True},
    "canal-json": {"enable-tidb-extension": True, "content-compatible": True},
}
LINE_END = b"\r\n"


@dataclass
class Spoilt:
    """A prefix in a directory, and what its files are."""

    root: Path
    format_name: str

    @property
    def extension(self) -> str:
        return {"csv": ".csv", "canal-json": ".json"}[self.format_name]

    def directory(self, table: str, version: int = 0, date: str | None = None) -> Path:
        """Return the data directory of a version (by its place) and a date, the first if None."""
        versions = sorted(d for d in (self.root / "shop" / table).iterdir() if d.name != "meta")
        below = sorted(d for d in versions[version].iterdir() if d.is_dir())
        return below[0] if date is None else versions[version] / date

    def files(self, directory: Path) -> list[Path]:
        return sorted(directory.glob("CDC*" + self.extension))

    def index(self, directory: Path) -> Path:
        return directory / "meta" / "CDC.index"

    def schema_file(self, table: str) -> Path:
        return sorted((self.root / "shop" / table / "meta").iterdir())[0]

    def name(self, file: Path) -> str:
        return file.relative_to(self.root).as_posix()

    def with_commit_ts(self, line: bytes, commit_ts: int) -> bytes:
        return re.sub(_COMMIT_TS[self.format_name], rb"\g<1>%d" % commit_ts, line, count=1)

    def moved(self, lines: list[bytes], commit_ts: int, to: int) -> list[bytes]:
        """Return the rows with those of one commit-ts at another one."""
        return [
            self.with_commit_ts(line, to) if self.commit_ts(line) == commit_ts else line
            for line in lines
        ]

    def with_other_id(self, line: bytes) -> bytes:
        return re.sub(_ID[self.format_name], rb"\g<1>1", line)

    def commit_ts(self, line: bytes) -> int:
        found = re.search(_COMMIT_TS[self.format_name], line)
        assert found is not None
        return int(found.group(2))


_COMMIT_TS = {
    "csv": rb'^("[IUD]","[a-z]+","shop",)(\d+)',
    "canal-json": rb'("commitTs":)(\d+)',
}
_ID = {"csv": rb"((?:true|false),\d+)", "canal-json": rb'("id":"\d+)'}
Plant = Callable[[Spoilt], str]


def lines_of(file: Path) -> list[bytes]:
    return file.read_bytes().removesuffix(LINE_END).split(LINE_END)


def write_lines(file: Path, lines: list[bytes]) -> None:
    file.write_bytes(b"".join(line + LINE_END for line in lines))


def hole(p: Spoilt) -> str:
    file = p.files(p.directory("orders"))[1]
    file.unlink()
    return p.name(file)


def hash_that_lies(p: Spoilt) -> str:
    file = p.schema_file("orders")
    other = file.with_name(re.sub(r"_\d{10}\.json", "_0000000042.json", file.name))
    file.rename(other)
    return p.name(other)


def half_written_file(p: Spoilt) -> str:
    file = p.files(p.directory("orders"))[1]
    file.write_bytes(file.read_bytes()[:-7])
    return p.name(file)


def index_ahead(p: Spoilt) -> str:
    directory = p.directory("orders")
    number = len(p.files(directory)) + 1
    name = f"CDC{number:020d}{p.extension}"
    p.index(directory).write_text(name + "\n")
    return p.name(directory / name)


def index_behind(p: Spoilt) -> str:
    directory = p.directory("orders")
    assert len(p.files(directory)) > 2
    p.index(directory).write_text(f"CDC{1:020d}{p.extension}\n")
    return p.name(p.index(directory))


def index_missing(p: Spoilt) -> str:
    index = p.index(p.directory("users"))
    index.unlink()
    return p.name(index)


def index_of_no_file(p: Spoilt) -> str:
    index = p.index(p.directory("users"))
    index.write_text("CDC1.csv\n")
    return p.name(index)


def row_of_another_table(p: Spoilt) -> str:
    file = p.files(p.directory("orders"))[1]
    file.write_bytes(file.read_bytes().replace(b'"orders"', b'"events"', 1))
    return p.name(file)


def commit_ts_falls_in_a_file(p: Spoilt) -> str:
    for file in p.files(p.directory("users")):
        lines = lines_of(file)
        if p.commit_ts(lines[0]) < p.commit_ts(lines[-1]):
            first = next(
                n for n, ts in enumerate(map(p.commit_ts, lines)) if ts > p.commit_ts(lines[0])
            )
            write_lines(file, lines[first:] + lines[:first])
            return p.name(file)
    raise AssertionError("there is no file of two transactions")


def dates_out_of_order(p: Spoilt) -> str:
    """All of the first day has a date after the last one."""
    directory = p.directory("customers")
    first = p.files(directory)[0]
    later = directory.with_name("2024-02-01")
    (later / "meta").mkdir(parents=True)
    copied = later / first.name
    lines = lines_of(first)
    # Not the same rows, or they would be repeats.
    write_lines(copied, [p.with_commit_ts(lines[0], p.commit_ts(lines[0]) + 1)])
    shutil.copy(p.index(directory), p.index(later))
    p.index(later).write_text(f"CDC{1:020d}{p.extension}\n")
    return p.name(copied)


def row_before_its_version(p: Spoilt) -> str:
    file = p.files(p.directory("users"))[0]
    lines = lines_of(file)
    first = p.commit_ts(lines[0])
    write_lines(file, p.moved(lines, first, 5))
    return p.name(file)


def row_after_the_ddl(p: Spoilt) -> str:
    versions = sorted(int(d.name) for d in (p.root / "shop/orders").iterdir() if d.name != "meta")
    dates = sorted((p.root / "shop/orders" / str(versions[0])).iterdir())
    file = p.files(dates[-1])[-1]
    lines = lines_of(file)
    last = p.commit_ts(lines[-1])
    ddl = versions[1]
    write_lines(file, p.moved(lines, last, ddl))
    return p.name(file)


def row_after_the_rename(p: Spoilt) -> str:
    (version,) = (int(d.name) for d in (p.root / "shop/users").iterdir() if d.name != "meta")
    (renamed,) = (int(d.name) for d in (p.root / "shop/customers").iterdir() if d.name != "meta")
    dates = sorted((p.root / "shop/users" / str(version)).iterdir())
    file = p.files(dates[-1])[-1]
    lines = lines_of(file)
    last = p.commit_ts(lines[-1])
    write_lines(file, p.moved(lines, last, renamed))
    return p.name(file)


def transaction_in_two_files(p: Spoilt) -> str:
    """One more row of the last transaction is in the next file."""
    directory = p.directory("orders")
    files = p.files(directory)
    added = directory / f"CDC{len(files) + 1:020d}{p.extension}"
    write_lines(added, [p.with_other_id(lines_of(files[-1])[-1])])
    p.index(directory).write_text(added.name + "\n")
    return p.name(added)


def directory_without_schema_file(p: Spoilt) -> str:
    p.schema_file("events").unlink()
    for partition in sorted((p.directory("events").parent).iterdir()):
        return p.name(p.files(sorted(partition.iterdir())[0])[0])
    raise AssertionError("there are no partitions")


def schema_file_cut_off(p: Spoilt) -> str:
    file = p.schema_file("users")
    file.write_bytes(file.read_bytes()[:-3])
    return p.name(file)


def schema_file_of_another_version(p: Spoilt) -> str:
    file = p.schema_file("users")
    file.write_text(re.sub(r'("TableVersion": )\d+', r"\g<1>77", file.read_text()))
    return p.name(file)


def schema_file_of_another_table(p: Spoilt) -> str:
    file = p.schema_file("users")
    other = file.with_name("other")
    shutil.move(file, other)
    mine = p.schema_file("events")
    moved = file.with_name(re.sub(r"_\d{10}\.json", mine.name[-16:], file.name))
    other.unlink()
    shutil.copy(mine, moved)
    version = re.sub(r"schema_(\d+)_.*", r"\1", moved.name)
    moved.write_text(re.sub(r'("TableVersion": )\d+', rf"\g<1>{version}", moved.read_text()))
    return p.name(moved)


def column_missing_in_a_row(p: Spoilt) -> str:
    file = p.files(p.directory("orders"))[0]
    lines = lines_of(file)
    if p.format_name == "csv":
        lines[0] = lines[0].rpartition(b",")[0]
    else:
        lines[0] = re.sub(rb'"data":\[\{"id":"\d+"', b'"data":[{"id":"x"', lines[0])
    write_lines(file, lines)
    return p.name(file)


def file_that_nobody_knows(p: Spoilt) -> str:
    file = p.root / "shop" / "orders" / "notes.txt"
    file.write_text("hello")
    return p.name(file)


def empty_data_file(p: Spoilt) -> str:
    file = p.files(p.directory("orders"))[-1]
    file.write_bytes(b"")
    return p.name(file)


def number_twice(p: Spoilt) -> str:
    file = p.files(p.directory("orders"))[0]
    shutil.copy(file, file.with_name(f"CDC000001{p.extension}"))
    return p.name(file.with_name(f"CDC000001{p.extension}"))


def number_of_other_width(p: Spoilt) -> str:
    file = p.files(p.directory("orders"))[0]
    file.rename(file.with_name(f"CDC000001{p.extension}"))
    return p.name(file.with_name(f"CDC000001{p.extension}"))


def metadata_broken(p: Spoilt) -> str:
    (p.root / "metadata").write_text('{"checkpoint-ts":"12"}')
    return "metadata"


PLANTS: list[tuple[Plant, str]] = [
    (hole, "hole"),
    (hash_that_lies, "schema-hash"),
    (half_written_file, "half-written"),
    (index_ahead, "index-missing-file"),
    (index_missing, "index-missing"),
    (index_of_no_file, "index-unreadable"),
    (row_of_another_table, "row-of-another-table"),
    (commit_ts_falls_in_a_file, "commit-ts-falls"),
    (dates_out_of_order, "commit-ts-falls"),
    (row_before_its_version, "row-before-version"),
    (row_after_the_ddl, "row-after-ddl"),
    (row_after_the_rename, "row-after-ddl"),
    (transaction_in_two_files, "transaction-split"),
    (directory_without_schema_file, "schema-missing"),
    (schema_file_cut_off, "schema-unreadable"),
    (schema_file_of_another_version, "schema-version"),
    (schema_file_of_another_table, "schema-names"),
    (column_missing_in_a_row, "data-unreadable"),
    (file_that_nobody_knows, "unknown-file"),
    (empty_data_file, "empty-file"),
    (number_twice, "number-twice"),
    (number_of_other_width, "number-width"),
    (metadata_broken, "metadata-unreadable"),
]


def checked(place: LocalStore, format_name: str) -> Checked:
    return check_prefix(place, format_name, Context(OPTIONS[format_name]), atomic_tables=True)


def test_check_says_nothing_about_a_good_prefix(good: dict[str, Path], format_name: str) -> None:
    found = checked(LocalStore(good[format_name]), format_name)
    assert (found.faults, found.notes, found.beyond) == ([], [], 0)
    assert found.rows >= 320


@pytest.mark.parametrize(("plant", "kind"), PLANTS, ids=[plant.__name__ for plant, _ in PLANTS])
def test_check_finds_a_planted_fault_and_nothing_else(
    prefix: Path, format_name: str, plant: Plant, kind: str
) -> None:
    name = plant(Spoilt(prefix, format_name))
    found = checked(LocalStore(prefix), format_name)
    assert [(fault.kind, fault.path) for fault in found.faults] == [(kind, name)]
    assert found.faults[0].clause.startswith(("storage: ", "csv: ", "canal-json: "))


def test_check_stale_index_is_a_note_where_a_checkpoint_says_what_is_complete(
    prefix: Path, format_name: str
) -> None:
    name = index_behind(Spoilt(prefix, format_name))
    found = checked(LocalStore(prefix), format_name)
    assert found.faults == []
    (note,) = found.notes
    assert note.startswith(f"{name}: the index names file 1, but ")


def test_check_stale_index_is_a_fault_without_a_checkpoint(prefix: Path, format_name: str) -> None:
    name = index_behind(Spoilt(prefix, format_name))
    (prefix / "metadata").unlink()
    found = checked(LocalStore(prefix), format_name)
    assert [(fault.kind, fault.path) for fault in found.faults] == [("index-behind", name)]


def test_check_half_written_file_names_the_byte_where_it_ends(
    prefix: Path, format_name: str
) -> None:
    spoilt = Spoilt(prefix, format_name)
    name = half_written_file(spoilt)
    (fault,) = checked(LocalStore(prefix), format_name).faults
    assert fault.offset == (prefix / name).stat().st_size


def test_check_two_faults_in_two_tables_are_both_found(prefix: Path, format_name: str) -> None:
    spoilt = Spoilt(prefix, format_name)
    expected = {hole(spoilt), schema_file_cut_off(spoilt)}
    assert {fault.path for fault in checked(LocalStore(prefix), format_name).faults} == expected


class ChangingPlace(LocalStore):
    """A directory in which someone puts a file again as soon as it is listed."""

    def __init__(self, root: Path, name: str, value: bytes | None) -> None:
        super().__init__(root)
        self._name = name
        self._value = value

    def list(self, under: str = "", *, recursive: bool = True) -> Iterator[Listed]:
        yield from list(super().list(under, recursive=recursive))
        if not under and self._value is None:
            (self.folder / self._name).unlink()
        elif not under and self._value is not None:
            (self.folder / self._name).write_bytes(self._value)


@pytest.mark.parametrize("how", ["other size", "same size", "gone"])
def test_check_file_rewritten_meanwhile_is_reported(
    prefix: Path, format_name: str, how: str
) -> None:
    spoilt = Spoilt(prefix, format_name)
    file = spoilt.files(spoilt.directory("orders"))[1]
    lines = lines_of(file)
    values = {
        "other size": lines[0] * 2 + LINE_END,
        "same size": file.read_bytes(),
        "gone": None,
    }
    place = ChangingPlace(prefix, spoilt.name(file), values[how])
    (fault,) = checked(place, format_name).faults
    assert (fault.kind, fault.path) == ("overwritten", spoilt.name(file))


class CutPlace(LocalStore):
    """A store that sends a part of one file, as a proxy may that kept a part."""

    def __init__(self, root: Path, name: str, size: int) -> None:
        super().__init__(root)
        self._name = name
        self._size = size

    def read(self, path: str, most: int | None = None) -> bytes:
        value = super().read(path, most)
        return value[: self._size] if path == self._name else value


def test_check_file_that_comes_in_part_is_reported(prefix: Path, format_name: str) -> None:
    spoilt = Spoilt(prefix, format_name)
    file = spoilt.files(spoilt.directory("orders"))[1]
    whole, first = file.stat().st_size, len(lines_of(file)[0] + LINE_END)
    assert first < whole
    (fault,) = checked(CutPlace(prefix, spoilt.name(file), first), format_name).faults
    assert (fault.kind, fault.path) == ("data-unreadable", spoilt.name(file))
    assert fault.problem == f"{first} of its {whole} bytes came; read it again"


class WildPlace(LocalStore):
    """A store, which can have names that no directory has."""

    def list(self, under: str = "", *, recursive: bool = True) -> Iterator[Listed]:
        yield from super().list(under, recursive=recursive)
        yield Listed("shop/../orders/1/2024-01-01/CDC000001.csv", 5)


def test_check_path_with_two_dots_is_reported_and_never_read(
    prefix: Path, format_name: str
) -> None:
    (fault,) = checked(WildPlace(prefix), format_name).faults
    assert (fault.kind, fault.clause) == ("unknown-file", "storage: names")
    assert "'..'" in fault.problem


def test_check_transaction_in_two_files_is_not_a_fault_without_atomicity(
    prefix: Path, format_name: str
) -> None:
    transaction_in_two_files(Spoilt(prefix, format_name))
    found = check_prefix(LocalStore(prefix), format_name, Context(OPTIONS[format_name]))
    assert found.faults == []


def test_check_rows_not_below_the_checkpoint_are_counted_and_no_fault(
    prefix: Path, format_name: str
) -> None:
    spoilt = Spoilt(prefix, format_name)
    versions = sorted((prefix / "shop/customers").glob("[0-9]*"))
    last = lines_of(spoilt.files(sorted(versions[0].iterdir())[-1])[-1])[-1]
    checkpoint = json.dumps({"checkpoint-ts": spoilt.commit_ts(last)})
    (prefix / "metadata").write_text(checkpoint)
    found = checked(LocalStore(prefix), format_name)
    assert found.faults == []
    assert found.beyond > 0


def test_check_file_beyond_the_index_is_not_a_fault(prefix: Path, format_name: str) -> None:
    """The newer producer puts a file and then its index: it may have ended in between."""
    spoilt = Spoilt(prefix, format_name)
    directory = spoilt.directory("orders")
    name = f"CDC{len(spoilt.files(directory)) - 1:020d}{spoilt.extension}\n"
    spoilt.index(directory).write_text(name)
    assert checked(LocalStore(prefix), format_name).faults == []


def test_check_index_one_ahead_is_not_a_fault_where_it_is_put_first(
    prefix: Path, format_name: str
) -> None:
    index_ahead(Spoilt(prefix, format_name))
    context = Context(OPTIONS[format_name])
    found = check_prefix(LocalStore(prefix), format_name, context, write_order="index-first")
    assert found.faults == []


def test_check_rows_without_commit_ts_are_noted_once(good: dict[str, Path], tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    shutil.copytree(good["csv"], prefix)
    for file in prefix.rglob("CDC*.csv"):
        write_lines(file, [re.sub(rb'("shop",)\d+,', rb"\1", line) for line in lines_of(file)])
    found = check_prefix(LocalStore(prefix), "csv", Context({"output-old-value": True}))
    assert (found.faults, found.notes) == ([], [NO_COMMIT_TS])


def test_fault_as_a_line_has_file_byte_path_and_clause() -> None:
    fault = Fault("data-unreadable", "a/b", "is odd", "csv: record", 7, ("records", 1))
    assert str(fault) == "a/b: byte 7: is odd (in records[1]; csv: record)"
    assert str(Fault("hole", "a/b", "is odd", "storage: names")) == "a/b: is odd (storage: names)"
