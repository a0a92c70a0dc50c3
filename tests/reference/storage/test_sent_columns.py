"""Columns that a schema file lists and that rows do not have."""

from __future__ import annotations

import pytest

from cdcwire.core.options import OptionError
from cdcwire.formats.csv.settings import read_settings
from cdcwire.model.events import Table
from cdcwire.model.kinds import Column, IntType
from cdcwire.storage.schema_columns import SchemaColumn, column_of, schema_column_of
from cdcwire.storage.sent_columns import column_selectors, with_sent_columns

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


@pytest.mark.parametrize(("name", "is_virtual"), [("_V$_k_0", True), ("_v$_k_0", False)])
def test_hidden_column_of_an_index_on_an_expression_is_virtual(name: str, is_virtual: bool) -> None:
    stored = SchemaColumn(name, "VARCHAR", precision="10")
    column = column_of(stored)
    assert ("virtual" in column.roles) is is_virtual
    assert schema_column_of(column) == stored
