"""A comparison as an HTML page and as JUnit XML, from values made by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from cdcwire_conformance.compare.document import junit_text
from cdcwire_conformance.compare.patterns import patterns_of
from cdcwire_conformance.compare.result import (
    ABSENT,
    ColumnDifference,
    Comparison,
    Counts,
    DdlDifference,
    RowDifference,
    RowPlace,
    RowVerdict,
    Shown,
    TableComparison,
)

HOSTILE = "</td><script>alert(1)</script><img src=//evil.example>\x1b[31m\u202e{{ 7 * 7 }}&amp;"
TIMES = ("10:00:00.123456", "10:00:00.123")


def comparison() -> Comparison:
    """Return two tables: one with a column cut to milliseconds and padded, one equal."""
    rows = [
        RowDifference(
            "changed",
            "update",
            (("id", Shown(HOSTILE if number else "1")),),
            (("commit_ts", str(1000 + number)),),
            1,
            1,
            (
                ColumnDifference(
                    "after", "at", "time(6)", Shown("10:00:00.123456"), Shown("10:00:00.123")
                ),
                ColumnDifference("after", HOSTILE, "text", Shown(HOSTILE), Shown(f"{HOSTILE} ")),
            ),
            RowPlace(topic=HOSTILE, partition=1, offset=number),
        )
        for number in range(2)
    ]
    gone = ColumnDifference("before", "n", "text", Shown("x"), ABSENT)
    rows.append(RowDifference("only left", "delete", (("id", Shown("9")),), (), 1, 0, (gone,)))
    counts = Counts(9, 9, 9, 8, same=6, changed=2, only_left=1)
    different = TableComparison(
        "shop.orders",
        counts,
        tuple(rows),
        left_out=((HOSTILE, "only the left side has it"),),
        notes=(HOSTILE,),
        paired_by=("commit_ts", "id"),
        patterns=patterns_of(rows),
    )
    equal = TableComparison("shop.items", Counts(7, 7, 7, 7, same=7), paired_by=("commit_ts", "id"))
    return Comparison(HOSTILE, "craft:file:b", (different, equal), compared=("op", "after"))


@pytest.fixture
def page() -> str:
    pytest.importorskip("jinja2", reason="needs the extra html")
    from cdcwire_conformance.compare.page import html_text

    return html_text(comparison())


def test_page_says_the_verdict_and_the_counts(page: str) -> None:
    assert "DIFFERENT: 1 of 2 tables differs (3 differences)" in page
    assert re.search(r"shop\.orders</a></th><td>different</td>.*>6<.*>2<.*>1<", page)
    assert re.search(r"shop\.items</th><td>equal</td>.*>7<.*>0<.*>0<", page)
    assert "cut to milliseconds on the right" in page
    assert page.index("Patterns") < page.index("First differing rows")


def test_page_marks_the_part_that_differs(page: str) -> None:
    assert "10:00:00.123<mark>456</mark>" in page
    assert "<mark> </mark>" in page


def test_page_marks_the_bytes_that_differ_and_not_their_number() -> None:
    pytest.importorskip("jinja2", reason="needs the extra html")
    from cdcwire_conformance.compare.page import html_text

    bytes_ = ColumnDifference("after", "b", "bytes", Shown(""), Shown("00000000"))
    row = RowDifference("changed", "update", (("id", Shown("1")),), (), 1, 1, (bytes_,))
    table = TableComparison("t", Counts(1, 1, 1, 1, changed=1), (row,))
    text = html_text(replace(comparison(), tables=(table,)))
    assert "0x (0 bytes)" in text
    assert "0x<mark>00000000</mark> (4 bytes)" in text


def test_hostile_text_of_a_page_stays_text(page: str) -> None:
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script" not in page
    assert "<img" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "{{ 7 * 7 }}" in page


def test_page_needs_no_network(page: str) -> None:
    assert "default-src 'none'" in page
    assert not re.findall(r"""(?:src|href)=["'](?!#)""", page)


def headings(page: str) -> list[list[str]]:
    """Return the headings of each table below the first, which is the list of tables."""
    heads = re.findall("<thead>(.*?)</thead>", page)[1:]
    return [re.findall("<th[^>]*>(.*?)</th>", head) for head in heads]


def test_page_has_no_columns_that_stay_empty(page: str) -> None:
    assert headings(page) == [
        ["Column", "Cause", "Rows", "Share", "Example", "Left", "Right"],
        ["Column", "Left", "Right"],
        ["Column", "Left", "Right"],
        ["Column", "Left"],  # of the delete that only the left side has
    ]


def test_page_of_rows_of_one_side_has_their_values_and_no_column_of_values() -> None:
    pytest.importorskip("jinja2", reason="needs the extra html")
    from cdcwire_conformance.compare.page import html_text

    value = ColumnDifference("after", "n", "text", ABSENT, Shown("x"))
    rows = (RowDifference("only right", "insert", (), (), 0, 2, (value,)),)
    table = TableComparison("t", Counts(0, 2, 0, 2, only_right=2), rows, patterns=patterns_of(rows))
    text = html_text(replace(comparison(), tables=(table,)))
    assert headings(text) == [["Cause", "Rows", "Share", "Example"], ["Column", "Right"]]
    assert '<td class="value">&#34;x&#34;</td></tr>' in text


def test_page_is_titled_by_its_verdict_and_sides(page: str) -> None:
    title = re.search("<title>(.*)</title>", page)
    assert title is not None
    assert title[1].startswith("DIFFERENT: &lt;/td&gt;&lt;script&gt;")
    assert title[1].endswith(" and craft:file:b")


STALE, MISSING, LEFT_OVER, ALL = ("3", "4", "5"), ("10", "11"), ("20",), 40
CUT = ColumnDifference(
    "after", "made", "datetime(6)", Shown("10:00:00.123456"), Shown("10:00:00.123")
)


def against_table() -> Comparison:
    """Return a table with stale, missing and left over rows, and a column cut to milliseconds."""

    def row(
        verdict: RowVerdict, key: str, *columns: ColumnDifference, due: str | None = None
    ) -> Any:
        sides = (verdict != "left over", verdict != "missing")
        place = RowPlace("a/messages.jsonl", 1)
        return RowDifference(
            verdict, "row", (("id", Shown(key)),), (), *sides, columns, place, due=due
        )

    name = ColumnDifference("after", "name", "text", Shown("new"), Shown("old"))
    rows = [
        *(
            row("missing", key, ColumnDifference("after", "id", "int64", Shown(key), ABSENT))
            for key in MISSING
        ),
        *(row("left over", key, due="1080") for key in LEFT_OVER),
        *(row("stale", key, name, CUT, due=f"104{key}") for key in STALE),
    ]
    known = {*STALE, *MISSING, *LEFT_OVER}
    cut = [row("changed", str(key), CUT) for key in range(ALL) if str(key) not in known]
    counts = Counts(
        80, 38, ALL - 1, 38, changed=len(cut) + len(STALE), only_left=2, only_right=1, stale=3
    )
    table = TableComparison(
        "shop.orders",
        counts,
        (*rows, *cut[:20]),
        paired_by=("id",),
        is_final=True,
        against_table=True,
        patterns=patterns_of([*rows, *cut]),
    )
    return Comparison("craft:file:a", "parquet:file:orders", (table,), compared=("last rows",))


def test_page_of_a_table_has_its_wrong_rows_by_kind_with_the_change() -> None:
    pytest.importorskip("jinja2", reason="needs the extra html")
    from cdcwire_conformance.compare.page import html_text

    page = html_text(against_table())
    groups = re.split("<h3>", page)[2:]
    titles = [group.partition("</h3>")[0] for group in groups]
    assert titles == [
        "Missing in the table: 2",
        "Left over in the table: 1",
        "Stale in the table: 3",
        "Different: 34, the first 20 of them",
    ]
    keys = [re.findall(r"<strong>[a-z ]+: row id=(\d+)", group) for group in groups]
    assert keys[:3] == [list(MISSING), list(LEFT_OVER), list(STALE)]
    assert len(keys[3]) == 20
    assert not {*keys[3]} & {*STALE, *MISSING, *LEFT_OVER}
    assert re.findall(r"the table lacks the change at (\d+)", groups[2]) == ["1043", "1044", "1045"]
    assert re.findall(r"the table lacks the change at (\d+)", groups[1]) == ["1080"]
    assert groups[3].count("10:00:00.123<mark>456</mark>") == 20
    assert "<th>Feed</th><th>Table</th>" in page
    assert "<dt>Feed</dt><dd>craft:file:a</dd>" in page
    assert "Right" not in page
    assert "and 14 more differences (" in page


def test_junit_has_a_case_per_table_and_one_for_the_rest() -> None:
    root = ElementTree.fromstring(junit_text(comparison()))
    assert (root.get("tests"), root.get("failures")) == ("3", "2")
    names = {case.get("name"): case.find("failure") for case in root.iter("testcase")}
    assert names["shop.items"] is None
    failure = names["shop.orders"]
    assert failure is not None
    assert "pattern: 2 rows (67 %), at: cut to milliseconds" in str(failure.text)


def test_junit_of_equal_feeds_passes() -> None:
    equal = replace(comparison(), tables=comparison().tables[1:])
    root = ElementTree.fromstring(junit_text(equal))
    assert (root.get("tests"), root.get("failures")) == ("2", "0")


def explained() -> Comparison:
    statement = Shown("ALTER TABLE shop.orders ADD n INT")
    return replace(
        comparison(),
        ddl=(1, 0),
        ddl_differences=(DdlDifference("left", "shop.orders at commit_ts 7", statement),),
        compared=("op", "after", "DDL"),
        hints=("feeds of two clusters are compared with --pair-by key",),
    )


def test_page_has_hints_and_ddl_events_and_breaks_no_option() -> None:
    pytest.importorskip("jinja2", reason="needs the extra html")
    from cdcwire_conformance.compare.page import html_text

    page = html_text(explained())
    option = '<span class="option">--pair-by</span>'
    assert f"<dt>Hint</dt><dd>feeds of two clusters are compared with {option} key</dd>" in page
    assert "<dd>DDL events (1 on the left, 0 on the right)</dd>" in page
    line = "only left: shop.orders at commit_ts 7: ALTER TABLE shop.orders ADD n INT"
    assert f"<li>{line}</li>" in page
    assert ".option { white-space: nowrap; }" in page


def test_junit_has_hints_and_ddl_events() -> None:
    rest = ElementTree.fromstring(junit_text(explained())).find(".//testcase[@name='all tables']")
    assert rest is not None
    lines = (rest.findtext("failure") or "").splitlines()
    assert "only left: shop.orders at commit_ts 7: ALTER TABLE shop.orders ADD n INT" in lines
    assert "hint: feeds of two clusters are compared with --pair-by key" in lines
