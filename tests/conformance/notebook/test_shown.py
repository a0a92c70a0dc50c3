"""The result of a comparison as a notebook shows it, from values made by hand."""

from __future__ import annotations

import sys
from html.parser import HTMLParser

import pytest

from cdcwire.console.visible import visible_lines
from cdcwire.extras import MissingExtraError
from cdcwire_conformance.compare.page import html_text
from cdcwire_conformance.compare.report import text
from cdcwire_conformance.compare.result import (
    ColumnDifference,
    Comparison,
    Counts,
    Pattern,
    PatternExample,
    RowDifference,
    Shown,
    TableComparison,
)
from cdcwire_conformance.notebook.shown import (
    PATTERN_COLUMNS,
    TABLE_COLUMNS,
    NotebookComparison,
    pattern_rows,
    table_rows,
)

HOSTILE = "\"'></iframe></pre><script>alert(1)</script><img src=//evil.example>\x1b[31m\u202e&amp;"
KEY = (("id", Shown("7")),)


def comparison() -> Comparison:
    """Return a table with one difference, all of whose texts are hostile, and one not read."""
    value = ColumnDifference("after", HOSTILE, "text", Shown(HOSTILE), Shown(f"{HOSTILE} "))
    row = RowDifference("changed", "update", KEY, (("commit_ts", "1000"),), 1, 1, (value,))
    example = PatternExample(KEY, Shown(HOSTILE), Shown(f"{HOSTILE} "))
    pattern = Pattern(
        HOSTILE, "text", "trailing-space", "trailing spaces on the right", 1, (example,), None
    )
    counts = Counts(9, 9, 9, 9, same=8, changed=1)
    table = TableComparison(
        f"shop.{HOSTILE}", counts, (row,), notes=(HOSTILE, "n"), patterns=(pattern,)
    )
    other = TableComparison("shop.other", None, schema_differences=(HOSTILE,))
    return Comparison(f"craft:file:{HOSTILE}", "craft:file:b", (table, other), engine="embedded")


class Elements(HTMLParser):
    """The elements of a page, with the attributes of each, and its text outside of elements."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.data = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.data += data


def test_the_page_is_alone_in_a_frame_that_runs_nothing() -> None:
    pytest.importorskip("jinja2", reason="needs the extra html")
    found = comparison()
    elements = Elements(NotebookComparison(found, None)._repr_html_())
    ((tag, attributes),) = elements.found
    assert tag == "iframe"
    assert attributes["sandbox"] == ""
    assert attributes["srcdoc"] == html_text(found)
    inner = {name for name, _ in Elements(html_text(found)).found}
    assert not inner & {"script", "img", "iframe"}


def test_without_jinja_the_text_is_shown_with_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    found = comparison()
    elements = Elements(NotebookComparison(found, None)._repr_html_())
    assert [tag for tag, _ in elements.found] == ["pre", "p"]
    shown, missing, packages = elements.data.partition(
        "An HTML page needs the package jinja2 (extra html): "
    )
    assert shown == visible_lines(text(found))
    assert (bool(missing), packages[:19]) == (True, "pip install 'jinja2")


def test_the_text_is_that_of_the_command_line() -> None:
    found = comparison()
    shown = NotebookComparison(found, None)
    assert repr(shown) == visible_lines(text(found))
    assert "\x1b" in text(found)
    assert "\x1b" not in repr(shown)
    assert not shown.is_equal
    assert shown.document["equal"] is False


def test_tables_are_rows_with_their_counts() -> None:
    one, other = (dict(zip(TABLE_COLUMNS, row, strict=True)) for row in table_rows(comparison()))
    assert (one["table"], one["equal"], one["differing"]) == (f"shop.{HOSTILE}", False, 1)
    assert (one["same"], one["changed"], one["only_left"], one["left_rows"]) == (8, 1, 0, 9)
    assert (one["schema_differences"], one["notes"]) == ("", f"{HOSTILE}\nn")
    assert (other["same"], other["differing"], other["schema_differences"]) == (None, None, HOSTILE)


def test_patterns_are_rows_with_an_example() -> None:
    (row,) = pattern_rows(comparison())
    assert dict(zip(PATTERN_COLUMNS, row, strict=True)) == {
        "table": f"shop.{HOSTILE}",
        "column": HOSTILE,
        "type": "text",
        "cause": "trailing-space",
        "text": "trailing spaces on the right",
        "count": 1,
        "option": None,
        "example": "id=7",
    }


def test_differences_that_were_not_written_are_an_error() -> None:
    with pytest.raises(LookupError, match="pass differences=DIR"):
        NotebookComparison(comparison(), None).differences  # noqa: B018


def test_without_pandas_an_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    shown = NotebookComparison(comparison(), "folder")
    for name in ("tables", "patterns", "differences"):
        with pytest.raises(MissingExtraError, match="pip install pandas"):
            getattr(shown, name)
