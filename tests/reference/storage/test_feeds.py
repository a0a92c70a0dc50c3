"""Files of a prefix as messages: what a path says, files without rows, tables in schema files."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.model.events import Position, Progress, SchemaChange, Table
from cdcwire.model.kinds import Column, EnumType, IntType, SetType, TextType
from cdcwire.storage.feeds import completed, other_events, path_of, read_schema, with_definitions
from cdcwire.storage.paths import IndexPath, MetadataPath, PathLayout, SchemaPath
from cdcwire.storage.schema_files import schema_file_of
from cdcwire.storage.writing import schema_put

LAYOUT = PathLayout("none", extension=".json")
COLUMNS = (
    Column("id", IntType(32), "int(11)", nullable=False, roles=frozenset({"primary", "handle"})),
    Column("v", TextType(20), "varchar(20)"),
    Column("e", EnumType(), "enum"),
    Column("s", SetType(), "set"),
)
TABLE = Table("t", "s", columns=COLUMNS, key=("id",))


def schema_file(version: int = 5, table: Table = TABLE, query: str = "CREATE") -> StoredFile:
    position = Position(commit_ts=version)
    change = SchemaChange("create", query, 3, table, position) if query else None
    put = schema_put(schema_file_of(table, change, version), LAYOUT)
    return StoredFile(put.path, put.value)


def schema_place(file: StoredFile) -> SchemaPath:
    place = path_of(file, LAYOUT)
    assert isinstance(place, SchemaPath)
    return place


@pytest.mark.parametrize("path", ["data.json", "data.csv", "x", "CDC000001.json", ""])
def test_path_without_directories_is_outside_of_any_layout(path: str) -> None:
    assert path_of(StoredFile(path, b""), LAYOUT) is None


@pytest.mark.parametrize(
    ("path", "kind"),
    [("metadata", MetadataPath), ("s/t/5/meta/CDC.index", IndexPath)],
)
def test_path_says_what_a_file_is(path: str, kind: type[object]) -> None:
    assert isinstance(path_of(StoredFile(path, b""), LAYOUT), kind)


@pytest.mark.parametrize("path", ["s/t/5/data.json", "s/t", "s/../5/CDC000001.json", "/metadata"])
def test_path_that_is_none_of_the_layout_is_rejected(path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        path_of(StoredFile(path, b""), LAYOUT)
    assert caught.value.offset == 0


def test_metadata_is_a_checkpoint() -> None:
    file = StoredFile("metadata", b'{"checkpoint-ts":7}')
    (event,) = other_events(file, MetadataPath(), LAYOUT, None)
    assert event == Progress("checkpoint", Position(commit_ts=7))


def test_index_file_is_checked_and_has_no_event() -> None:
    file = StoredFile("s/t/5/meta/CDC.index", b"CDC000001.json\n")
    place = path_of(file, LAYOUT)
    assert isinstance(place, IndexPath)
    assert list(other_events(file, place, LAYOUT, None)) == []
    with pytest.raises(DecodeError) as caught:
        list(other_events(replace(file, value=b"CDC000001.csv\n"), place, LAYOUT, None))
    assert caught.value.clause == "storage: index files"


def test_schema_file_is_a_schema_change_with_its_table() -> None:
    file = schema_file()
    (event,) = other_events(file, schema_place(file), LAYOUT, None)
    assert isinstance(event, SchemaChange)
    assert (event.what, event.query, event.code) == ("create", "CREATE", 3)
    assert event.position == Position(commit_ts=5)
    assert event.table is not None
    assert (event.table.key, event.table.version) == (("id",), 5)


def test_schema_file_that_only_describes_has_no_event() -> None:
    file = schema_file(query="")
    assert list(other_events(file, schema_place(file), LAYOUT, None)) == []


@pytest.mark.parametrize(("name", "count"), [("t", 1), ("u", 0)])
def test_schema_change_of_a_table_that_is_not_wanted_is_left_out(name: str, count: int) -> None:
    file = schema_file()
    selection = Selection(tables=frozenset({("s", name)}))
    assert len(list(other_events(file, schema_place(file), LAYOUT, None, selection))) == count


def test_schema_change_of_a_database_is_always_wanted() -> None:
    file = schema_file(table=Table(None, "s"))
    selection = Selection(tables=frozenset({("z", "z")}))
    assert len(list(other_events(file, schema_place(file), LAYOUT, None, selection))) == 1


BROKEN = {
    "hash": ((b'"v"', b'"w"'), "storage: schema hash"),
    "table": ((b'"Table": "t"', b'"Table": "u"'), None),
    "version": ((b'"TableVersion": 5', b'"TableVersion": 6'), "storage: schema files"),
    "text": ((b"{", b"["), None),
}


@pytest.mark.parametrize(("change", "clause"), BROKEN.values(), ids=BROKEN)
def test_schema_file_that_is_not_what_its_name_says_is_rejected(
    change: tuple[bytes, bytes], clause: str | None
) -> None:
    file = schema_file()
    broken = replace(file, value=file.value.replace(*change))
    assert broken.value != file.value
    with pytest.raises(DecodeError) as caught:
        read_schema(broken, schema_place(file))
    assert clause is None or caught.value.clause == clause
    assert with_definitions([broken], Context(), LAYOUT, None) == Context()


def test_definitions_of_all_versions_are_added_in_their_order() -> None:
    files: list[Message] = [schema_file(7), KafkaMessage(None, b"x"), StoredFile("a", b"x")]
    files.append(schema_file(5))
    files.append(schema_file(9, Table(None, "s")))
    context = with_definitions(files, Context(), LAYOUT, "UTC")
    assert [(table.name, table.version) for table in context.tables] == [("t", 7), ("t", 5)]


def test_definition_of_the_caller_stays_and_no_version_is_added_twice() -> None:
    defined = replace(TABLE, version=5, key=("v",))
    context = with_definitions([schema_file()], Context(tables=(defined,)), LAYOUT, None)
    assert context.tables == (defined,)


def test_context_is_the_same_where_nothing_is_found() -> None:
    context = Context(tables=(TABLE,))
    assert with_definitions([], context, LAYOUT, None) is context


def test_path_that_is_wrong_is_passed_over() -> None:
    wrong = StoredFile("s/t/meta/schema_5_0.json", b"")
    assert with_definitions([wrong], Context(), LAYOUT, None).tables == ()


def test_schema_file_is_completed_by_what_the_caller_knows() -> None:
    defined = Table(
        "t",
        "s",
        columns=(
            replace(COLUMNS[0], type=TextType()),  # of another type: it says nothing
            replace(COLUMNS[1], roles=frozenset({"virtual", "unique"})),
            replace(COLUMNS[2], type=EnumType(("a", "b"))),
            replace(COLUMNS[3], type=SetType(("x",))),
        ),
    )
    (table,) = with_definitions([schema_file()], Context(tables=(defined,)), LAYOUT, None).tables[
        1:
    ]
    assert table.columns is not None
    number, text, enum, flags = table.columns
    assert number.type == IntType(32)
    assert text.roles == {"virtual"}
    assert getattr(enum.type, "labels", None) == ("a", "b")
    assert getattr(flags.type, "labels", None) == ("x",)


@pytest.mark.parametrize(("version", "is_completed"), [(None, True), (5, True), (6, False)])
def test_definition_of_another_version_completes_nothing(
    version: int | None, is_completed: bool
) -> None:
    table = replace(TABLE, version=5)
    labels = replace(COLUMNS[2], type=EnumType(("a",)))
    found = completed(table, [replace(TABLE, version=version, columns=(labels,))])
    assert found.columns is not None
    assert getattr(found.columns[2].type, "labels", None) == (("a",) if is_completed else None)
