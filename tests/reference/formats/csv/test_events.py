"""Records to events and back, files of a prefix, and which definition they are read by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire.core.options import OptionValue
from cdcwire.formats.csv import FORMAT, Field, decode, explain, from_event
from cdcwire.formats.csv.batching import messages_of
from cdcwire.formats.csv.events import events_of
from cdcwire.formats.csv.settings import Settings, read_settings
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
from cdcwire.model.kind_text import parse_kind
from cdcwire.model.kinds import Column
from cdcwire.model.steps import join_halves

ID = Column(
    "id",
    parse_kind("int64 unsigned"),
    "bigint unsigned",
    False,
    roles=frozenset({"primary", "handle"}),
)
NAME = Column("name", parse_kind("text(9)"), "varchar(9)", True)
TWICE = Column("twice", parse_kind("int32"), "int", True, roles=frozenset({"generated", "virtual"}))
TABLE = Table("t", "s", None, (ID, NAME), ("id",), 100)
WITH_VIRTUAL = Table("t", "s", None, (ID, TWICE, NAME), ("id",), 100)
PLAIN: dict[str, OptionValue] = {"date-separator": "none"}


def image(*values: object) -> Image:
    return Image((ID, NAME), values)


def change(op: str, before: Image | None, after: Image | None, **more: object) -> RowChange:
    return RowChange(TABLE, op, before, after, **more)  # type: ignore[arg-type]  # for short


def read(value: bytes, *tables: Table, path: str = "x.csv", **options: OptionValue) -> list[Event]:
    given = {**PLAIN, **{name.replace("_", "-"): each for name, each in options.items()}}
    return list(
        FORMAT.to_events(StoredFile(path, value), context=Context(options=given, tables=tables))
    )


def written(events: list[Event], *tables: Table, **options: OptionValue) -> list[StoredFile]:
    given = {**PLAIN, **{name.replace("_", "-"): each for name, each in options.items()}}
    found = []
    for file in FORMAT.from_events(events, context=Context(options=given, tables=tables)):
        assert isinstance(file, StoredFile)
        found.append(file)
    return found


def row(found: list[Event], index: int = 0) -> RowChange:
    event = found[index]
    assert isinstance(event, RowChange)
    return event


def test_operations_without_old_values() -> None:
    found = read(b'"I","t","s",1,"a"\r\n"U","t","s",1,"b"\r\n"D","t","s",1,"b"\r\n', TABLE)
    assert [row(found, i).op for i in range(3)] == ["insert", "update", "delete"]
    assert row(found).after == image(1, "a")
    assert (row(found, 1).before, row(found, 1).after) == (None, image(1, "b"))
    assert (row(found, 2).before, row(found, 2).after) == (image(1, "b"), None)
    assert row(found).table == Table("t", "s", None, None, ("id",))


def test_update_with_old_value_is_two_halves_that_join() -> None:
    value = b'"D","t","s",7,true,1,"a"\r\n"I","t","s",7,true,1,"b"\r\n"I","t","s",8,false,2,\\N\r\n'
    found = read(value, TABLE, output_old_value=True, include_commit_ts=True)
    assert [(row(found, i).op, row(found, i).half) for i in range(3)] == [
        ("update", "before"),
        ("update", "after"),
        ("insert", None),
    ]
    assert (written(found, TABLE, output_old_value=True, include_commit_ts=True)[0].value) == value
    joined = list(join_halves(found))
    assert (row(joined).before, row(joined).after) == (image(1, "a"), image(1, "b"))
    assert row(joined).position == Position(commit_ts=7)
    assert (written(joined, TABLE, output_old_value=True, include_commit_ts=True)[0].value) == value


def test_handle_key_is_written_next_to_the_row() -> None:
    value = b'"I","t","s","-1",18446744073709551615,"a"\r\n'
    found = read(value, TABLE, output_handle_key=True)
    assert dict(row(found).extra) == {"handle_key": "-1"}
    assert written(found, TABLE, output_handle_key=True)[0].value == value
    event = change("insert", None, image(2**64 - 1, "a"))  # it follows from the primary key
    assert written([event], TABLE, output_handle_key=True)[0].value == value


@pytest.mark.parametrize("handle", ["x", "01", "9223372036854775808", b"1", ""])
def test_handle_key_that_is_not_a_signed_integer_is_refused(handle: object) -> None:
    event = change("insert", None, image(1, "a"), extra={"handle_key": handle})
    with pytest.raises(EncodeError) as caught:
        written([event], TABLE, output_handle_key=True)
    assert (caught.value.clause, caught.value.path[-1]) == ("csv: handle key", "handle_key")


def test_handle_key_is_needed_without_an_integer_key() -> None:
    table = replace(TABLE, key=("name",))
    event = RowChange(table, "insert", None, image(1, "a"))
    with pytest.raises(EncodeError):
        written([event], table, output_handle_key=True)


def test_virtual_columns_are_left_out() -> None:
    event = RowChange(TABLE, "insert", None, Image((ID, TWICE, NAME), (1, 2, "a")))
    (file,) = written([event], WITH_VIRTUAL)
    assert file.value == b'"I","t","s",1,"a"\r\n'
    assert row(read(file.value, WITH_VIRTUAL)).after == image(1, "a")


def test_virtual_columns_that_nobody_tells_are_refused_with_both_counts() -> None:
    columns = (ID, replace(TWICE, roles=frozenset()), NAME)
    with pytest.raises(DecodeError) as caught:
        read(b'"I","t","s",1,"a"\r\n', replace(TABLE, columns=columns))
    assert "2 columns, where 3" in caught.value.problem
    header = b"ticdc-meta$operation,ticdc-meta$table,ticdc-meta$schema,id,name\r\n"
    found = read(
        header + b'"I","t","s",1,"a"\r\n', replace(TABLE, columns=columns), output_field_header=True
    )
    assert row(found).after == image(1, "a")


@pytest.mark.parametrize(
    ("columns", "values"),
    [((ID,), (1,)), ((ID, NAME, TWICE), (1, "a", 2)), ((ID, replace(NAME, name="x")), (1, "a"))],
    ids=["one is missing", "one too many", "another name"],
)
def test_columns_must_be_those_of_the_definition(
    columns: tuple[Column, ...], values: tuple[object, ...]
) -> None:
    event = RowChange(TABLE, "insert", None, Image(columns, values))
    with pytest.raises(EncodeError) as caught:
        written([event], TABLE)
    assert caught.value.path[:3] == ("events", 0, "after")


def test_columns_are_written_in_the_order_of_the_definition() -> None:
    event = RowChange(TABLE, "insert", None, Image((NAME, ID), ("a", 1)))
    assert written([event], TABLE)[0].value == b'"I","t","s",1,"a"\r\n'


@pytest.mark.parametrize(
    ("event", "clause"),
    [
        (change("upsert", None, image(1, "a")), "csv: operations"),
        (change("read", None, image(1, "a")), "csv: operations"),
        (change("insert", None, None), "csv: operations"),
        (change("insert", image(1, "a"), image(1, "a")), "csv: operations"),
        (change("delete", None, None), "csv: operations"),
        (change("update", image(1, "a"), None), "csv: old value"),
        (change("update", image(1, "a"), None, half="before"), "csv: old value"),
        (change("insert", None, image(1, "a"), half="after"), "csv: operations"),
        (replace(change("insert", None, image(1, "a")), table=Table("t")), "csv: record"),
        (replace(change("insert", None, image(1, "\ud800"))), "csv: text values"),
        (Marker("tombstone"), "csv: files"),
        (Progress("resolved", Position(1)), "csv: files"),
        (Progress("checkpoint"), "csv: files"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_event_without_record_is_refused(event: Event, clause: str) -> None:
    with pytest.raises(EncodeError) as caught:
        written([event])
    assert caught.value.clause == clause
    assert caught.value.path[:2] == ("events", 0)


def test_settings_need_what_they_write() -> None:
    insert, update = change("insert", None, image(1, "a")), change("update", None, image(1, "a"))
    with pytest.raises(EncodeError) as caught:
        from_event(insert, Settings(include_commit_ts=True))
    assert caught.value.clause == "csv: commit-ts"
    with pytest.raises(EncodeError) as caught:
        from_event(update, Settings(output_old_value=True))
    assert caught.value.clause == "csv: old value"
    with pytest.raises(EncodeError) as caught:
        from_event(replace(insert, sent="key"))
    assert caught.value.clause == "csv: record"


def test_fault_in_a_value_has_its_place_and_path() -> None:
    value = b'"I","t","s",1,"a"\r\n"I","t","s",-1,"a"\r\n'
    file = decode(value)
    given: list[Callable[[], list[Event]]] = [
        lambda: events_of(file, TABLE),
        lambda: read(value, TABLE),
    ]
    for each in given:
        with pytest.raises(DecodeError) as caught:
            each()
        assert caught.value.path == ("records", 1, "columns", "id")
        assert (caught.value.offset, caught.value.clause) == (31, "csv: integer values")


def test_names_of_the_record_must_be_those_of_the_file() -> None:
    for value, name in ((b'"I","u","s",1,"a"\r\n', "table"), (b'"I","t","x",1,"a"\r\n', "schema")):
        with pytest.raises(DecodeError) as caught:
            read(value, TABLE, path="s/t/100/CDC000001.csv")
        assert caught.value.path == ("records", 0, name)


def test_definition_is_that_of_the_version_in_the_path() -> None:
    newer = replace(TABLE, columns=(ID,), version=200)
    for version, fields in ((100, b'1,"a"'), (200, b"1")):
        path = f"s/t/{version}/CDC000001.csv"
        assert read(b'"I","t","s",' + fields + b"\r\n", TABLE, newer, path=path)
    with pytest.raises(DecodeError, match=r"100, 200") as caught:
        read(b'"I","t","s",1\r\n', TABLE, newer, path="s/t/300/CDC000001.csv")
    assert (caught.value.clause, caught.value.offset) == ("csv: schema", 0)
    with pytest.raises(DecodeError, match=r"does not have a"):
        read(b'"I","t","s",1\r\n')
    assert read(b'"I","t","s",1,"a"\r\n', TABLE, path="s/t/300/CDC000001.csv")


def test_file_outside_of_a_layout_names_its_table_itself() -> None:
    other = Table("u", "s", None, (ID,))
    assert row(read(b'"I","u","s",1\r\n', TABLE, other)).after == Image((ID,), (1,))
    header = b"ticdc-meta$operation,ticdc-meta$table,ticdc-meta$schema,"
    value = header + b'id\r\n"I","u","s",1\r\n'
    assert row(read(value, TABLE, other, output_field_header=True)).table.name == "u"
    with pytest.raises(DecodeError):
        read(header + b'id\r\n"I","v","s",1\r\n', TABLE, other, output_field_header=True)


def test_partition_is_that_of_the_path() -> None:
    value = b'"I","t","s",1,"a"\r\n'
    found = read(value, TABLE, path="s/t/100/13/CDC000001.csv")
    assert row(found).position == Position(partition=13)
    assert written(found, TABLE)[0].path == "s/t/100/13/CDC00000000000000000001.csv"
    off = written(found, TABLE, enable_partition_separator=False)
    assert off[0].path == "s/t/100/CDC00000000000000000001.csv"


def test_files_of_other_tables_are_not_looked_into() -> None:
    context = Context(PLAIN, (), selection=Selection(tables=frozenset({("s", "u")})))
    file = StoredFile("s/t/100/CDC000001.csv", b"broken")
    assert list(FORMAT.to_events(file, context=context)) == []


def test_columns_that_are_not_wanted_are_left_out() -> None:
    selection = Selection(columns=frozenset({"name"}))
    context = Context(PLAIN, (TABLE,), selection=selection)
    file = StoredFile("x.csv", b'"I","t","s",no number,"a"\r\n')
    assert row(list(FORMAT.to_events(file, context=context))).after == Image((NAME,), ("a",))


def test_time_zone_is_that_of_the_option() -> None:
    kind = parse_kind("timestamp")
    table = Table("t", "s", None, (Column("ts", kind),))
    found = read(b'"I","t","s","2022-01-02 03:04:05"\r\n', table, time_zone="+01:00")
    image = row(found).after
    assert image is not None
    assert getattr(image.columns[0].type, "zone", None) == "+01:00"
    assert written(found, table, time_zone="+00:00")[0].value.endswith(b'"2022-01-02 02:04:05"\r\n')


CREATE = SchemaChange("create", "CREATE TABLE t ...", 3, TABLE, Position(100))


def test_prefix_goes_through_and_comes_back() -> None:
    rows: list[Event] = [
        change("insert", None, image(n, "a"), position=Position(commit_ts=101 + n)) for n in (1, 2)
    ]
    events = [CREATE, *rows, Progress("checkpoint", Position(200))]
    files = written(events, include_commit_ts=True)
    assert [file.path.split("/")[-2:] for file in files][1:] == [
        ["100", "CDC00000000000000000001.csv"],
        ["metadata"],
    ]
    assert files[0].path.startswith("s/t/meta/schema_100_")
    context = Context({**PLAIN, "include-commit-ts": True})
    prepared = FORMAT.prepared(files, context)
    assert [(table.name, table.version) for table in prepared.tables] == [("t", 100)]
    found = [event for file in files for event in FORMAT.to_events(file, context=prepared)]
    assert [type(event) for event in found] == [type(event) for event in events]
    assert row(found, 1).after is not None
    assert [row(found, i).position for i in (1, 2)] == [row(rows, i).position for i in (0, 1)]


def test_schema_file_must_fit_its_path() -> None:
    (file,) = written([CREATE])
    context = Context(PLAIN)
    version, checksum = file.path.rpartition("schema_")[2].removesuffix(".json").split("_")
    for path in (
        f"s/u/meta/schema_{version}_{checksum}.json",
        f"s/t/meta/schema_101_{checksum}.json",
        f"s/t/meta/schema_{version}_0000000001.json",
    ):
        odd = StoredFile(path, file.value)
        with pytest.raises(DecodeError):
            list(FORMAT.to_events(odd, context=context))
        assert FORMAT.prepared([odd], context) == context


def test_schema_files_of_other_tables_are_left_out() -> None:
    (file,) = written([CREATE])
    for name, count in (("t", 1), ("u", 0)):
        context = Context(PLAIN, selection=Selection(tables=frozenset({("s", name)})))
        assert len(list(FORMAT.to_events(file, context=context))) == count


def test_given_definitions_complete_a_schema_file() -> None:
    state = Column("state", parse_kind("enum(a,b)"), "enum('a','b')")
    handle = Table("t", "s", None, (ID, TWICE, state), version=None)
    (file,) = written([replace(CREATE, table=replace(handle, version=100))])
    context = Context(PLAIN, (handle,))
    found = FORMAT.prepared([file], context).tables[-1]
    assert found.version == 100
    assert found.columns is not None
    assert "virtual" in found.columns[1].roles
    assert found.columns[2].type == state.type


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata", b'{"checkpoint-ts":1'),
        ("s/t/100/meta/CDC.index", b"nothing"),
        ("s/t/100/data.csv", b""),
        ("s/t/meta/schema_1_0000000001.json", b"{"),
        ("s/t/../CDC000001.csv", b""),
    ],
)
def test_broken_file_or_path_is_refused(path: str, value: bytes) -> None:
    with pytest.raises(DecodeError) as caught:
        read(value, TABLE, path=path)
    assert caught.value.clause.startswith("storage: ")
    found = explain(StoredFile(path, value), context=Context(PLAIN, (TABLE,)))
    assert str(found.error) == str(caught.value)


def test_index_file_says_nothing() -> None:
    assert read(b"CDC000001.csv\n", path="s/t/100/meta/CDC.index") == []


def test_kafka_message_is_not_a_file() -> None:
    with pytest.raises(DecodeError, match="is a"):
        list(FORMAT.to_events(KafkaMessage(None, b""), context=Context()))


def test_file_ends_at_its_size() -> None:
    events: list[Event] = [change("insert", None, image(n, "a")) for n in range(5)]
    files = written(events, TABLE, file_size=40)
    assert [file.value.count(b"\n") for file in files] == [3, 2]
    assert [file.path[-7:] for file in files] == ["001.csv", "002.csv"]


def test_tables_and_partitions_have_their_own_files() -> None:
    events: list[Event] = [
        RowChange(Table(name, "s"), "insert", None, image(1, "a"), Position(partition=partition))
        for name, partition in (("t", 1), ("u", None), ("t", 2), ("t", 1))
    ]
    assert [file.path for file in written(events)] == [
        "s/t/0/1/CDC00000000000000000001.csv",
        "s/u/0/CDC00000000000000000001.csv",
        "s/t/0/2/CDC00000000000000000001.csv",
    ]


def test_schema_change_ends_the_files_of_its_table() -> None:
    wider = replace(TABLE, columns=(ID, NAME, replace(TWICE, roles=frozenset())), version=None)
    alter = SchemaChange("alter", "ALTER TABLE t ...", 5, wider, Position(300))
    after = Image(wider.columns or (), (2, "b", 4))
    events: list[Event] = [
        change("insert", None, image(1, "a")),
        RowChange(Table("u", "s"), "insert", None, image(1, "a")),
        alter,
        RowChange(TABLE, "insert", None, after),
    ]
    paths = [file.path for file in written(events, TABLE)]
    assert paths[0] == "s/t/100/CDC00000000000000000001.csv"
    assert paths[1].startswith("s/t/meta/schema_300_")
    assert paths[2:] == ["s/u/0/CDC00000000000000000001.csv", "s/t/300/CDC00000000000000000001.csv"]


def test_date_is_that_of_the_last_row_and_numbers_count_by_directory() -> None:
    day = 86_400_000 << 18
    events: list[Event] = [
        change("insert", None, image(1, "a"), position=Position(n * day))
        for n in (19000, 19001, 19000)
    ]
    files = written(events, TABLE, file_size=1, date_separator="day")
    assert [file.path[8:] for file in files] == [
        "2022-01-08/CDC00000000000000000001.csv",
        "2022-01-09/CDC00000000000000000001.csv",
        "2022-01-08/CDC00000000000000000002.csv",
    ]
    (file,) = written([change("insert", None, image(1, "a"))], TABLE, date_separator="month")
    assert file.path == "s/t/100/1970-01/CDC00000000000000000001.csv"


def test_explain_marks_what_is_ambiguous_and_stops_at_an_error() -> None:
    options: dict[str, OptionValue] = {**PLAIN, "quote": "", "null": ""}
    found = explain(StoredFile("x.csv", b"I,t,s,1,\r\n"), context=Context(options, (TABLE,)))
    assert found.error is None
    assert (found.spans[-1].clause, found.spans[-1].text) == ("csv: ambiguous null", "NULL")
    found = explain(StoredFile("x.csv", b'"I","t","s",1,x\r\n'), context=Context(PLAIN, (TABLE,)))
    assert found.error is not None
    assert found.spans[-1].end == found.error.offset == 14
    without = explain(StoredFile("x.csv", b'"I","t","s",1\r\n'), context=Context(PLAIN))
    assert without.error is not None
    assert without.error.clause == "csv: schema"
    assert without.spans[-1].path == ("records", 0, "columns", 0)


def test_wire_values_are_what_the_event_says() -> None:
    (record,) = from_event(change("delete", image(5, None), None))
    assert (record.op, record.table, record.schema) == ("D", "t", "s")
    assert record.fields == (Field(b"5", False), Field(b"\\N", False))


def test_files_are_the_same_through_from_events() -> None:
    event = change("insert", None, image(1, "a"))
    (file,) = messages_of([event], read_settings(PLAIN), [TABLE])
    assert events_of(decode(file.value), TABLE) == [
        replace(event, table=Table("t", "s", key=("id",)))
    ]
