"""Files of a storage prefix: rows with their terminators, and events gathered in files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import DecodeError, EncodeError, TruncatedError
from cdcwire.core.message import StoredFile
from cdcwire.core.options import OptionValue
from cdcwire.formats.canal_json import FORMAT, Settings, read_file, read_messages, to_files
from cdcwire.formats.canal_json.settings import EXTENSION
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
from cdcwire.model.kinds import Column, IntType, TextType
from cdcwire.storage.paths import PathLayout

COMMIT_TS = 441349361156227075  # 2023-05-09
COLUMNS = (Column("id", IntType(32), "int"), Column("v", TextType(20), "varchar(20)"))
TABLE = Table("t", "s", columns=COLUMNS, key=("id",), version=5)
NO_DATE = PathLayout("none", extension=EXTENSION)
SETTINGS = Settings(tidb_extension=True, transport="storage", layout=NO_DATE)
TERMINATORS = (b"\r\n", b"\n", b"\r", b"|\n", b"}{", b"{", b"END", b" ", b"", "é".encode())
each_terminator = pytest.mark.parametrize("terminator", TERMINATORS, ids=repr)


def insert(
    number: int, text: str = "a\nb", table: str = "t", ts: int = 0, partition: int | None = None
) -> RowChange:
    position = Position(commit_ts=COMMIT_TS + ts, partition=partition)
    key = Table(table, "s", key=("id",))
    return RowChange(key, "insert", None, Image(COLUMNS, (number, text)), position)


def files_of(
    events: Iterable[Event], settings: Settings = SETTINGS, tables: tuple[Table, ...] = (TABLE,)
) -> dict[str, StoredFile]:
    found = list(to_files(events, settings, tables))
    assert len({file.path for file in found}) == len(found)
    return {file.path: file for file in found}


def ids_of(events: Iterable[Event]) -> list[int]:
    rows = [event for event in events if isinstance(event, RowChange)]
    return [row.after["id"] for row in rows if row.after is not None]


@each_terminator
def test_rows_come_back_whatever_the_terminator_is(terminator: bytes) -> None:
    settings = replace(SETTINGS, terminator=terminator)
    (file,) = files_of([insert(1), insert(2), insert(3)], settings).values()
    assert file.value.endswith(b"}" + terminator)
    assert file.value.count(b'"id":0') == 3
    assert ids_of(read_file(file, settings)) == [1, 2, 3]


@each_terminator
def test_every_truncation_gives_the_whole_rows_and_then_the_error(terminator: bytes) -> None:
    settings = replace(SETTINGS, terminator=terminator)
    (file,) = files_of([insert(1), insert(2)], settings).values()
    size = len(file.value) // 2
    for cut in range(len(file.value)):
        if cut % size == 0:  # between rows
            assert len(list(read_messages(file.value[:cut], terminator))) == cut // size
            continue
        found: list[object] = []
        with pytest.raises(TruncatedError) as caught:
            found.extend(read_messages(file.value[:cut], terminator))
        assert len(found) == cut // size
        assert caught.value.offset == cut
        assert caught.value.path[:2] == ("rows", cut // size)


def test_other_bytes_after_a_row_are_rejected() -> None:
    (file,) = files_of([insert(1), insert(2)]).values()
    for wrong in (b"\n", b" \r\n", b"\n\r", b"x", b"\r\r\n"):
        value = file.value.replace(b"\r\n", wrong, 1)
        with pytest.raises(DecodeError) as caught:
            list(read_messages(value, b"\r\n"))
        assert caught.value.offset == file.value.index(b"\r\n")
        assert (caught.value.path, caught.value.clause) == (("rows", 0), "canal-json: files")


def test_error_in_a_row_has_its_byte_in_the_file_and_its_number() -> None:
    (file,) = files_of([insert(1), insert(2)]).values()
    value = file.value.replace(b'"id":"2"', b'"id":"x"')
    with pytest.raises(DecodeError) as caught:
        list(read_messages(value, b"\r\n"))
    assert caught.value.path == ("rows", 1, "data", 0, "id")
    assert caught.value.offset == value.index(b'"x"')


def test_empty_file_has_no_rows() -> None:
    assert list(read_file(StoredFile("s/t/5/CDC000001.json", b""), SETTINGS)) == []


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (b'"table":"t"', "table"),
        (b'"database":"s"', "database"),
        (b'"type":"INSERT"', "type"),
    ],
)
def test_row_of_another_table_is_rejected(value: bytes, path: str) -> None:
    (file,) = files_of([insert(1)]).values()
    others = {
        "table": b'"table":"u"',
        "database": b'"database":"z"',
        "type": b'"type":"TIDB_WATERMARK"',
    }
    changed = file.value.replace(value, others[path])
    changed = changed.replace(b'"commitTs"', b'"watermarkTs"') if path == "type" else changed
    with pytest.raises(DecodeError) as caught:
        list(read_file(replace(file, value=changed), SETTINGS))
    assert (caught.value.path, caught.value.clause) == (("rows", 0, path), "canal-json: files")
    assert caught.value.offset == changed.index(others[path]) + len(path) + 3


@pytest.mark.parametrize("path", ["data.json", "x"])
def test_file_without_directories_belongs_to_no_table(path: str) -> None:
    (file,) = files_of([insert(1)]).values()
    assert ids_of(read_file(StoredFile(path, file.value), SETTINGS)) == [1]


@pytest.mark.parametrize(
    "path", ["s/t/CDC000001.json", "s/t/5/x.json", "../t/5/CDC000001.json", "/"]
)
def test_path_that_is_none_of_the_layout_is_rejected(path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        list(read_file(StoredFile(path, b""), SETTINGS))
    assert caught.value.offset == 0
    assert caught.value.clause.startswith("storage: ")


def test_partition_comes_from_the_path() -> None:
    events = [insert(1, partition=82), insert(2, partition=83), insert(3, partition=82)]
    files = files_of(events)
    assert sorted(files) == [f"s/t/5/{each}/CDC00000000000000000001.json" for each in (82, 83)]
    first = list(read_file(files[min(files)], SETTINGS))
    assert [event.position.partition for event in first] == [82, 82]


def test_partitions_share_a_file_where_they_are_not_separated() -> None:
    settings = replace(SETTINGS, layout=replace(NO_DATE, has_partitions=False))
    (file,) = files_of([insert(1, partition=82), insert(2, partition=83)], settings).values()
    assert file.path == "s/t/5/CDC00000000000000000001.json"


def test_tables_have_files_of_their_own_in_the_order_of_first_rows() -> None:
    files = files_of([insert(1, table="u"), insert(2), insert(3, table="u")])
    assert [path.split("/")[:3] for path in files] == [["s", "u", "0"], ["s", "t", "5"]]
    assert ids_of(read_file(next(iter(files.values())), SETTINGS)) == [1, 3]


def test_file_ends_with_the_row_that_fills_it() -> None:
    (whole,) = files_of([insert(1)]).values()
    size = len(whole.value)
    for limit, expected in ((size, [1, 1, 1]), (size + 1, [2, 1])):
        files = files_of([insert(1), insert(2), insert(3)], replace(SETTINGS, file_size=limit))
        assert [len(file.value) // size for file in files.values()] == expected
        assert [path[-6] for path in files] == ["1", "2", "3"][: len(expected)]


def test_schema_change_ends_the_file_of_its_table_and_gives_the_next_version() -> None:
    wide = (*COLUMNS, Column("n", IntType(8), "tinyint"))
    change = SchemaChange(
        "alter", "ALTER", 5, Table("t", "s", columns=wide), Position(commit_ts=COMMIT_TS + 1)
    )
    later = replace(insert(3, ts=2), after=Image(wide, (3, "x", 1)))
    files = list(to_files([insert(1), insert(2, table="u"), change, later], SETTINGS, (TABLE,)))
    assert [file.path.rpartition("/")[0] for file in files] == [
        "s/t/5",
        "s/t/meta",
        "s/u/0",
        f"s/t/{COMMIT_TS + 1}",
    ]
    (found,) = read_file(files[1], SETTINGS)
    assert isinstance(found, SchemaChange)
    assert (found.what, found.query, found.code) == ("alter", "ALTER", 5)
    assert found.table is not None
    assert found.table.columns is not None
    assert [column.name for column in found.table.columns] == ["id", "v", "n"]


def test_schema_change_of_a_database_ends_the_files_of_its_tables() -> None:
    drop = SchemaChange("query", "DROP", 2, Table(None, "s"), Position(commit_ts=COMMIT_TS))
    files = list(to_files([insert(1), insert(2, table="u"), drop], SETTINGS, (TABLE,)))
    assert [file.path.split("/")[1] for file in files] == ["t", "u", "meta"]


def test_schema_change_takes_the_columns_of_its_version() -> None:
    change = SchemaChange("truncate", "T", 11, Table("t", "s"), Position(commit_ts=5))
    (file,) = to_files([change], SETTINGS, (TABLE,))
    assert b'"ColumnName": "v"' in file.value


def test_checkpoint_comes_last() -> None:
    checkpoint = Progress("checkpoint", Position(commit_ts=COMMIT_TS + 9))
    files = list(to_files([checkpoint, insert(1)], SETTINGS))
    assert files[-1] == StoredFile("metadata", b'{"checkpoint-ts":441349361156227084}')
    assert list(read_file(files[-1], SETTINGS)) == [checkpoint]


@pytest.mark.parametrize(
    ("separator", "date"),
    [("none", ""), ("year", "2023/"), ("month", "2023-05/"), ("day", "2023-05-09/")],
)
def test_date_of_a_path_is_that_of_the_last_row(separator: str, date: str) -> None:
    context = Context({"transport": "storage", "date-separator": separator}, (TABLE,))
    (file,) = FORMAT.from_events([insert(1)], context=context)
    assert isinstance(file, StoredFile)
    assert file.path == f"s/t/5/{date}CDC00000000000000000001.json"


def test_rows_of_files_are_never_cut_nor_compressed() -> None:
    settings = replace(SETTINGS, max_message_bytes=10, large_message="claim-check")
    (file,) = files_of([insert(1, "x" * 100)], settings).values()
    assert b"claimCheck" not in file.value


@pytest.mark.parametrize(
    "event",
    [
        Progress("watermark", Position(commit_ts=1)),
        Progress("resolved", Position(commit_ts=1)),
        Progress("checkpoint"),
        Marker("begin", "1"),
        SchemaChange("alter", "q", 5, None, Position(commit_ts=1)),
        SchemaChange("alter", "q", 5, Table("t", "s"), Position()),
        SchemaChange("alter", "q", 5, Table("x", "s"), Position(commit_ts=1)),
        replace(insert(1), table=Table("a/b", "s", key=())),
        replace(insert(1), op="upsert"),
    ],
    ids=lambda event: type(event).__name__,
)
def test_event_that_has_no_place_in_files_is_refused(event: Event) -> None:
    with pytest.raises(EncodeError):
        list(to_files([event], SETTINGS, (TABLE,)))


def test_refused_event_is_reported_by_its_number() -> None:
    with pytest.raises(EncodeError) as caught:
        list(to_files([insert(1), Progress("watermark")], SETTINGS))
    assert caught.value.path == ("events", 1, "what")


def test_table_that_is_not_wanted_has_no_rows() -> None:
    (file,) = files_of([insert(1)]).values()
    selection = Selection(tables=frozenset({("s", "u")}))
    assert list(read_file(file, SETTINGS, (), selection)) == []


OPTIONS: dict[str, OptionValue] = {"transport": "storage", "date-separator": "none"}
CREATE = SchemaChange("create", "CREATE", 3, TABLE, Position(commit_ts=5))


def test_schema_files_among_the_messages_tell_what_mysqltype_leaves_open() -> None:
    files = list(FORMAT.from_events([CREATE, insert(1)], context=Context(OPTIONS)))
    context = FORMAT.prepared(files, Context(OPTIONS))
    assert [(table.name, table.version) for table in context.tables] == [("t", 5)]
    data = next(file for file in files if isinstance(file, StoredFile) and "/CDC" in file.path)
    kinds = []
    for each in (context, Context(OPTIONS)):
        (row,) = FORMAT.to_events(data, context=each)
        assert isinstance(row, RowChange)
        assert row.after is not None
        kinds.append(row.after.columns[1].type)
    assert kinds == [TextType(20), TextType()]


def test_broken_schema_file_is_passed_over_first_and_rejected_when_read() -> None:
    (schema,) = FORMAT.from_events([CREATE], context=Context(OPTIONS))
    assert isinstance(schema, StoredFile)
    broken = replace(schema, value=schema.value.replace(b'"v"', b'"w"'))
    assert FORMAT.prepared([broken], Context(OPTIONS)).tables == ()
    with pytest.raises(DecodeError) as caught:
        list(FORMAT.to_events(broken, context=Context(OPTIONS)))
    assert caught.value.clause == "storage: schema hash"
