"""Columns that a schema file lists and that rows do not have."""

from __future__ import annotations

import json

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import StoredFile
from cdcwire.core.options import OptionError
from cdcwire.formats.csv.format import FORMAT
from cdcwire.formats.csv.settings import read_settings
from cdcwire.model.events import RowChange, Table
from cdcwire.model.kinds import Column, IntType
from cdcwire.storage import PathLayout, schema_file_of, schema_put
from cdcwire.storage.schema_columns import SchemaColumn, column_of, schema_column_of
from cdcwire.storage.sent_columns import column_selectors, with_defined_columns, with_sent_columns

TABLE = Table("T1", "shop", columns=tuple(Column(name, IntType(32)) for name in ("a", "B", "c")))


def sent(text: str, table: Table = TABLE) -> str:
    columns = with_sent_columns(table, column_selectors(text)).columns or ()
    return "".join(each.name for each in columns if "virtual" not in each.roles)


@pytest.mark.parametrize(
    ("matcher", "columns", "expected"),
    [
        (["shop.*"], ["a", "c"], "ac"),
        (["SHOP.t?"], ["b"], "B"),
        (["other.*"], ["a"], "aBc"),
        (["shop.*", "!shop.t1"], ["a"], "aBc"),
        (["shop.t[12]"], ["*", "!b"], "ac"),
        (["shop.*"], ["!b"], ""),
        (["shop.*"], ["!a", "*"], "aBc"),
    ],
)
def test_selector_leaves_columns_out(matcher: list[str], columns: list[str], expected: str) -> None:
    text = f'[{{"matcher": {matcher}, "columns": {columns}}}]'.replace("'", '"')
    assert sent(text) == expected


def test_first_selector_that_matches_counts() -> None:
    text = (
        '[{"matcher":["x.*"],"columns":["c"]},{"matcher":["shop.*"],"columns":["a"]},'
        '{"matcher":["*.*"],"columns":["*"]}]'
    )
    assert sent(text) == "a"
    assert sent("") == "aBc"


@pytest.mark.parametrize("text", ["x", "{}", "[1]", '[{"matcher":"a","columns":[]}]', "[" * 9999])
def test_invalid_selectors_are_one_line(text: str) -> None:
    with pytest.raises(OptionError, match=r"option column-selectors=.* is not a JSON list of"):
        read_settings({"column-selectors": text})


@pytest.mark.parametrize("pattern", ["/^t[0-9]/.*", "'a.b'.*", '"a".*', "`a`.*", r"a\*.b", "@file"])
@pytest.mark.parametrize("member", ["matcher", "columns"])
def test_pattern_that_is_not_read_is_refused(pattern: str, member: str) -> None:
    selector = {"matcher": ["*.*"], "columns": ["*"]} | {member: ["*.*", f"!{pattern}"]}
    with pytest.raises(OptionError, match=r"has the pattern .!.*regular expressions are not read"):
        read_settings({"column-selectors": json.dumps([selector])})


@pytest.mark.parametrize(("name", "is_virtual"), [("_V$_k_0", True), ("_v$_k_0", False)])
def test_hidden_column_of_an_index_on_an_expression_is_virtual(name: str, is_virtual: bool) -> None:
    stored = SchemaColumn(name, "VARCHAR", precision="10")
    column = column_of(stored)
    assert ("virtual" in column.roles) is is_virtual
    assert schema_column_of(column) == stored


def test_definition_with_as_many_columns_as_the_rows_names_them() -> None:
    full = table_with("a", "b", "c")
    assert names_of(with_defined_columns(full, [table_with("a", "c")], lambda _: 2)) == "ac"


@pytest.mark.parametrize(
    ("definitions", "count"),
    [
        ([("a", "c")], 3),  # the definition is older than the rows
        ([("a", "c")], None),  # no row
        ([("c", "a")], 2),
        ([("a", "x")], 2),
        ([("a", "c"), ("a", "b")], 2),  # two that differ
        ([("a", "b", "c")], 2),
        ([()], 0),
    ],
)
def test_definition_that_does_not_decide_is_not_used(
    definitions: list[tuple[str, ...]], count: int | None
) -> None:
    full = table_with("a", "b", "c")
    given = [table_with(*names) for names in definitions]
    assert with_defined_columns(full, given, lambda _: count) == full


def test_rows_are_not_read_without_a_shorter_definition() -> None:
    def count_of(table: Table) -> int:
        raise AssertionError(table.name)

    full = table_with("a", "b")
    assert with_defined_columns(full, [full, Table("other", "shop")], count_of) == full


def test_files_given_as_messages_are_read_by_their_definition() -> None:
    version = 441349361156227074
    put = schema_put(schema_file_of(table_with("a", "b", "c"), None, version), PathLayout())
    data = f"shop/T1/{version}/2026-05-09/CDC{1:020d}.csv"
    files = [StoredFile(put.path, put.value), StoredFile(data, b'"I","T1","shop",1,3\n')]
    context = Context(tables=(table_with("a", "c"),), options={"terminator": "\n"})
    context = FORMAT.prepared(files, context)
    (event,) = FORMAT.to_events(files[1], context=context)
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert (event.after.names, event.after.values) == (("a", "c"), (1, 3))


def table_with(*names: str) -> Table:
    columns = tuple(Column(name, IntType(32), "int(11)", True) for name in names)
    return Table("T1", "shop", columns=columns)


def names_of(table: Table) -> str:
    return "".join(each.name for each in table.columns or () if "virtual" not in each.roles)
