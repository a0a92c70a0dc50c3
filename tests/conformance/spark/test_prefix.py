"""What a driver and a worker make of a prefix, without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cdcwire.core.context import Context, Selection
from cdcwire.core.message import StoredFile
from cdcwire.core.rows import Row
from cdcwire.model.events import RowChange
from cdcwire.model.kinds import EnumType, SetType, Type
from cdcwire.registry import get_format
from cdcwire.storage.paths import DataPath
from cdcwire.storage.replay import RowGate
from cdcwire.storage.schema_files import SchemaColumn, SchemaFile

pytest.importorskip("pyarrow", reason="needs the extra spark")
pytest.importorskip("sqlglot", reason="needs the extra ddl")
pytest.importorskip("pyspark", reason="needs the extra spark")

import numpy as np

from cdcwire.arrow.schema import canonical_table
from cdcwire.files.stores import Listed, LocalStore
from cdcwire_conformance.decode.decoders import message_decoder
from cdcwire_conformance.decode.prefix import PrefixPlan, read_prefix
from cdcwire_conformance.decode.reading import Job
from cdcwire_conformance.decode.stored_rows import (
    FileCounts,
    FileGate,
    StoredData,
    count_files,
    decode_files,
)
from cdcwire_conformance.decode.workers import shares_of_files
from cdcwire_conformance.formats.csv import arrow_blocks as csv_blocks
from cdcwire_conformance.sources.pieces import lines_of_rows
from cdcwire_conformance.sources.source_urls import SourceError, parse_source, source_of_folder
from cdcwire_conformance.sources.storage.query_labels import tables_of_queries

OPTIONS: dict[str, str | bool] = {"include-commit-ts": True, "output-old-value": True}
OF_FILES = Context(options=OPTIONS)
PATH = DataPath("shop", "orders", 1, None, "", 1)


@pytest.fixture
def prefix(storage_stream: Any, tmp_path: Path) -> Path:
    storage_stream.write("csv", tmp_path / "csv", is_restarted=True)
    return tmp_path / "csv"


def opened(folder: Path, context: Context = OF_FILES) -> PrefixPlan:
    return read_prefix(source_of_folder("csv", folder), context, LocalStore(folder))


def marks_of(prefix: PrefixPlan, files: tuple[StoredData, ...] | None = None) -> list[FileCounts]:
    chosen = prefix.files if files is None else files
    csv, folder = get_format("csv"), prefix.folder
    return list(count_files(csv, prefix.context, "stop", folder, prefix.checkpoint, chosen))


# Sources


def test_prefix_is_a_source_of_its_files(prefix: Path) -> None:
    (prefix / ".hidden").write_text("")
    source = parse_source(f"csv:file:{prefix}")
    assert source.kind == "prefix"
    assert "metadata" in source.files
    assert all(not Path(name).is_absolute() for name in source.files)
    assert ".hidden" not in source.files


def test_empty_folder_is_not_a_prefix(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no file of a storage sink"):
        parse_source(f"csv:file:{tmp_path}")


def test_prefix_is_refused_for_other_formats(prefix: Path) -> None:
    with pytest.raises(SourceError, match=r"no \*.jsonl"):
        parse_source(f"craft:file:{prefix}")


@pytest.mark.parametrize("format_name", ["canal-json", "craft"])
def test_prefix_with_lines_is_refused(prefix: Path, format_name: str) -> None:
    (prefix / "messages.jsonl").write_text("")
    with pytest.raises(SourceError, match="is mixed"):
        parse_source(f"{format_name}:file:{prefix}")


# What is read


def test_files_are_in_the_order_of_replay(prefix: Path) -> None:
    found = opened(prefix)
    assert [file.order for file in found.files] == list(range(len(found.files)))
    places = [file.path for file in found.files]
    assert places == sorted(
        places, key=lambda p: (p.version, p.partition or 0, p.date, p.schema, p.table, p.number)
    )
    assert found.checkpoint is not None
    assert not found.problems


def test_labels_come_from_the_queries_and_follow_alter_and_rename(prefix: Path) -> None:
    tables = opened(prefix).context.tables
    labels = {
        (table.name, number): {
            column.name: column.type.labels
            for column in table.columns or ()
            if isinstance(column.type, (EnumType, SetType))
        }
        for number, table in enumerate(sorted(tables, key=lambda t: (t.name or "", t.version or 0)))
    }
    assert labels == {
        ("clients", 0): {"kind": ("k", "l")},
        ("customers", 1): {"kind": ("k", "l")},
        ("items", 2): {},
        ("orders", 3): {"status": ("new", "paid"), "tags": ("a", "b", "c")},
        ("orders", 4): {"extra": ("x", "y"), "status": ("new", "paid"), "tags": ("a", "b", "c")},
    }


def named_by_index(folder: Path, number: int) -> Path:
    """Make an index that names a file, and return that file, there or not."""
    file = folder / f"CDC{number:020}.csv"
    (folder / "meta").mkdir()
    (folder / "meta" / "CDC.index").write_text(f"{file.name}\n")
    return file


def damaged(folder: Path, what: str) -> Path:
    files = sorted(folder.glob("shop/items/*/101/2024-05-02/*.csv"))
    if what == "hole":
        files[0].unlink()
        return files[0]
    if what in ("last", "last two"):
        number = len(files) + (1 if what == "last" else 2)
        return named_by_index(files[-1].parent, number)
    if what == "index":
        named_by_index(files[-1].parent, 1)
        (index,) = files[-1].parent.glob("meta/CDC.index")
        index.write_text("notes.txt")
        return index
    if what == "empty":
        files[-1].write_bytes(b"")
        return files[-1]
    if what == "version":  # that of a schema which is not there
        other = folder / "shop/items/102/2024-05-02" / files[0].name
        other.parent.mkdir(parents=True)
        files[-1].rename(other)
        return other
    if what == "unknown":
        other = files[0].with_name("notes.txt")
        other.write_text("")
        return other
    file = next(iter(folder.glob("shop/items/meta/schema_*")))
    file.write_bytes(file.read_bytes().replace(b"INT", b"INX"))
    return file


@pytest.mark.parametrize(
    ("what", "clause"),
    [
        ("hole", "storage: replay order"),
        ("last", "storage: index files"),
        ("last two", "storage: index files"),
        ("index", "storage: index files"),
        ("unknown", "storage: file numbers"),
        ("schema", "storage: schema hash"),
        ("empty", "storage: index files"),
        ("version", "storage: versions"),
    ],
)
def test_reason_of_an_unread_file_is_reported_for_its_table(
    prefix: Path, what: str, clause: str
) -> None:
    file = damaged(prefix, what)
    found = opened(prefix)
    problems = found.problems_of([("shop", "items")])
    assert [place.file for place, _ in problems] == [str(file)]
    assert [problem.clause.partition(":")[0] for _, problem in problems] == ["storage"]
    if what != "unknown":  # no rule says whose file it is
        assert [problem.clause for _, problem in problems] == [clause]
        assert not found.problems_of([("shop", "orders")])
    if what == "version":  # its fields are read by no other version's columns
        assert str(file) not in {str(prefix / each.name) for each in found.files}


class Changing(LocalStore):
    """Files that were not there, or are not any more, when they are listed again."""

    def __init__(self, root: Path, first: Mapping[str, int]) -> None:
        super().__init__(str(root))
        self.lists = [dict(first)]

    def list(self, under: str = "", *, recursive: bool = True) -> Iterator[Listed]:
        if not self.lists:
            yield from super().list(under, recursive=recursive)
            return
        for name, size in self.lists.pop().items():
            yield Listed(name, size)


def sizes_in(prefix: Path) -> dict[str, int]:
    return {each.path: each.size for each in LocalStore(prefix).list()}


def test_file_that_appears_after_the_list_is_read_with_its_index(prefix: Path) -> None:
    (folder,) = prefix.glob("shop/items/*/101/2024-05-02")
    last = named_by_index(folder, 2)
    source = source_of_folder("csv", prefix)
    sizes = sizes_in(prefix)
    name = last.relative_to(prefix).as_posix()
    found = read_prefix(source, OF_FILES, Changing(prefix, without(sizes, name)))
    assert not found.problems
    assert found.files == opened(prefix).files
    assert name in {file.name for file in found.files}


def test_index_that_expires_after_its_files_names_nothing(prefix: Path) -> None:
    (folder,) = prefix.glob("shop/items/*/101/2024-05-01")
    last = named_by_index(folder, 1)
    last.unlink()
    files = Changing(prefix, sizes_in(prefix))
    index = folder / "meta" / "CDC.index"
    labelled, read = index.read_bytes(), files.read

    def read_and_remove(name: str, most: int | None = None) -> bytes:
        value = read(name, most)
        if value == labelled:
            index.unlink()
        return value

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "read", read_and_remove)
        found = read_prefix(source_of_folder("csv", prefix), OF_FILES, files)
    assert not index.exists()
    assert not found.problems


def without(sizes: Mapping[str, int], name: str) -> dict[str, int]:
    assert name in sizes
    return {each: size for each, size in sizes.items() if each != name}


def test_broken_metadata_is_a_problem_of_all_tables(prefix: Path) -> None:
    (prefix / "metadata").write_text("{}")
    found = opened(prefix)
    assert found.checkpoint is None
    assert [problem.clause for _, problem in found.problems_of([("a", "b")])] == [
        "storage: metadata"
    ]


# Repeats


def test_floors_drop_what_a_row_gate_drops(prefix: Path) -> None:
    found = opened(prefix)
    first = found.with_counts(marks_of(found))
    decode = message_decoder(get_format("csv"), first.context)
    gate = RowGate(first.checkpoint)
    for file in first.files:
        value = Path(first.folder, file.name).read_bytes()
        own = FileGate(first.checkpoint, file.floor)
        path = file.path
        for change in decode(StoredFile(file.name, value)):
            assert isinstance(change, (Row, RowChange))
            commit_ts = change.commit_ts if isinstance(change, Row) else change.position.commit_ts
            taken = gate.judge(path, commit_ts) == "take"
            assert (own.judge(commit_ts) == "take") is taken
    late = [
        f
        for f, m in zip(first.files, first.counts or (), strict=True)
        if f.floor > (m.smallest or 0)
    ]
    marks = {mark.name: mark for mark in first.counts or ()}
    marks |= {mark.name: mark for mark in marks_of(first, tuple(late))}
    assert sum(mark.repeats for mark in marks.values()) == gate.repeats > 0
    assert sum(mark.rows for mark in marks.values()) == gate.taken


def test_rows_from_the_checkpoint_on_are_counted_and_left_out(prefix: Path) -> None:
    found = opened(prefix)
    low = replace(found, checkpoint=found.files[-1].path.version)
    marks = marks_of(low)
    assert sum(mark.beyond for mark in marks) > 0
    assert low.with_counts(marks).drops_of(("shop", "clients"))[1] > 0


def test_gate_takes_all_rows_without_commit_ts() -> None:
    gate = FileGate(5, 3)
    assert all(gate.judge(None) == "take" for _ in range(3))
    assert gate.mark("x") == FileCounts("x", 3, 0, 0, None, None)


@pytest.mark.parametrize("checkpoint", [None, 0, 6, 100])
@pytest.mark.parametrize("floor", [0, 5, 9])
def test_gate_of_many_rows_is_the_gate_of_each(checkpoint: int | None, floor: int) -> None:
    commit_ts = [3, 4, 4, 7, 5, 7, 9, 1]
    one, many = FileGate(checkpoint, floor), FileGate(checkpoint, floor)
    for part in (commit_ts[:3], commit_ts[3:]):
        taken = many.takes_each(np.array(part, np.uint64), len(part))
        assert taken.tolist() == [one.judge(each) == "take" for each in part]
    assert many == one


def test_fault_after_blocks_leaves_their_rows(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = opened(prefix)
    (file,) = (f for f in found.files if "/orders/" in f.name and "05-04" in f.name)
    path = prefix / file.name
    lines = path.read_bytes().split(b"\r\n")
    lines[-4] = lines[-4].replace(b'"shop"', b'"shap"')
    path.write_bytes(b"\r\n".join(lines))
    (defined,) = (t for t in found.context.tables if t.version == file.path.version)
    selection = Selection(frozenset({("shop", "orders")}))
    context = replace(found.context, selection=selection)
    job = Job(get_format("csv"), context, canonical_table(defined), on_error="row")

    def rows() -> list[dict[str, Any]]:
        batches = decode_files(job, found.folder, found.checkpoint, [file])
        return [row for batch in batches for row in batch.to_pylist()]

    whole = rows()
    assert len(whole) > 3
    assert [row["error"] is not None for row in whole] == [False] * (len(whole) - 1) + [True]
    assert whole[-1]["source"]["line"] == len(lines) - 3
    monkeypatch.setattr(csv_blocks, "BLOCK_BYTES", 3000)
    assert rows() == whole
    monkeypatch.setattr(csv_blocks, "BLOCK_BYTES", 1)  # all by rows
    assert rows() == whole


# Shares and lines


def test_shares_are_even_and_keep_all_files() -> None:
    files = [StoredData(f"f{n}", PATH, n, size) for n, size in enumerate([5, 90, 40, 30, 20, 0])]
    shares = shares_of_files(files, 2)
    assert sorted(file for share in shares for file in share) == sorted(files)
    assert sorted(sum(file.size for file in share) for share in shares) == [90, 95]
    assert all(list(s) == sorted(s, key=lambda file: file.order) for s in shares)
    assert len(shares_of_files(files, 2, share_bytes=40)) == 5
    assert len(shares_of_files(files[:1], 8)) == 1


@pytest.mark.parametrize(
    ("format_name", "options", "data", "lines"),
    [
        ("csv", {}, b'"I",1\r\n"I","a\r\nb"\r\n"I",3\r\n', [1, 2, 4]),
        ("csv", {"output-field-header": True}, b"h\r\n1\r\n2\r\n", [2, 3]),
        ("csv", {"quote": "", "terminator": "\n"}, b'1"\n2\n', [1, 2]),
        ("csv", {"terminator": "|"}, b"1|2|", []),
        ("canal-json", {}, b"{}\r\n{}\r\n", [1, 2]),
        ("canal-json", {"dialect": "canal"}, b"{}\r\n", []),
    ],
)
def test_rows_are_found_at_their_lines(
    tmp_path: Path, format_name: str, options: dict[str, Any], data: bytes, lines: list[int]
) -> None:
    file = tmp_path / "x"
    file.write_bytes(data)
    stored = get_format(format_name).stored
    assert stored is not None
    found = lines_of_rows(stored.settings(Context(options=options)), str(file), range(10))
    assert found == dict(enumerate(lines))


# Queries


def schema_file(query: str, columns: str, version: int, table: str = "t") -> SchemaFile:
    made = tuple(SchemaColumn(name=name, type="ENUM") for name in columns.split())
    return SchemaFile(table, "s", 1, version, query, 3, made, len(made))


CREATE = "CREATE TABLE t (a enum('1'), b enum('2'), v int as (1) virtual)"
ALTERS: list[tuple[str, str, dict[str, tuple[str, ...]]]] = [
    (
        "ALTER TABLE t ADD c ENUM('x,)','y') FIRST",
        "a b c",
        {"a": ("1",), "b": ("2",), "c": ("x,)", "y")},
    ),
    (
        "ALTER TABLE `s`.`t` ADD (c ENUM('x'), d ENUM('y'))",
        "a b c d",
        {"a": ("1",), "b": ("2",), "c": ("x",), "d": ("y",)},
    ),
    (
        "ALTER TABLE t MODIFY COLUMN a ENUM('1','9') AFTER b, ADD KEY k (a)",
        "a b",
        {"a": ("1", "9"), "b": ("2",)},
    ),
    ("ALTER TABLE t CHANGE a z ENUM('3')", "b z", {"b": ("2",), "z": ("3",)}),
    ("ALTER TABLE t RENAME COLUMN a TO z", "b z", {"b": ("2",), "z": ("1",)}),
    ("ALTER TABLE t DROP COLUMN a", "b", {"b": ("2",)}),
    ("TRUNCATE TABLE t", "a b", {"a": ("1",), "b": ("2",)}),
    ("", "a b", {"a": ("1",), "b": ("2",)}),
    ("ALTER TABLE t MODIFY a ENUM('open", "a b", {"b": ("2",)}),
]


def labels_of(kinds: dict[str, Type]) -> dict[str, tuple[str, ...] | None]:
    return {name: kind.labels for name, kind in kinds.items() if isinstance(kind, EnumType)}


@pytest.mark.parametrize(("query", "columns", "expected"), ALTERS, ids=[q for q, _, _ in ALTERS])
def test_alter_changes_what_is_known_of_columns(
    query: str, columns: str, expected: dict[str, tuple[str, ...]]
) -> None:
    first, second = tables_of_queries(
        [schema_file(CREATE, "a b v", 1), schema_file(query, columns, 2)]
    )
    assert (first.version, second.version) == (1, 2)
    assert labels_of({c.name: c.type for c in first.columns or ()}) == {"a": ("1",), "b": ("2",)}
    assert labels_of({c.name: c.type for c in second.columns or ()}) == expected


def test_create_tells_virtual_columns() -> None:
    (labelled,) = tables_of_queries([schema_file(CREATE, "a b v", 1)])
    assert [c.name for c in labelled.columns or () if "virtual" in c.roles] == ["v"]


def test_rename_takes_what_is_known_along() -> None:
    files = [schema_file(CREATE, "a b v", 1), schema_file("RENAME TABLE t TO u", "a b v", 2, "u")]
    labelled = tables_of_queries(files)
    assert labels_of({c.name: c.type for c in labelled[1].columns or ()}) == {
        "a": ("1",),
        "b": ("2",),
    }


def test_statement_that_is_not_read_tells_nothing() -> None:
    assert tables_of_queries([schema_file("CREATE TABLE t LIKE u", "a", 1)]) == ()
