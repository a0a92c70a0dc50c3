"""A comparison as text and as JSON, from values made by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, cast, get_args

import pytest

pytest.importorskip("jsonschema", reason="needs the extra check")

import jsonschema

from cdcwire_conformance.compare.document import json_text, schema
from cdcwire_conformance.compare.report import share_text, text
from cdcwire_conformance.compare.result import (
    ABSENT,
    NULL,
    ColumnDifference,
    Comparison,
    Counts,
    Pattern,
    RowDifference,
    RowPlace,
    Shown,
    TableComparison,
    UnreadableMessage,
)
from cdcwire_conformance.compare.value_causes import CauseKind

KEY = (("id", Shown("7")),)
POSITION = (("commit_ts", "1000"),)


def changed(*columns: ColumnDifference) -> RowDifference:
    return RowDifference("changed", "insert", KEY, POSITION, 1, 1, columns)


def comparison(*differences: RowDifference, **counts: int) -> Comparison:
    known = Counts(left_rows=9, right_rows=9, left=9, right=9, same=8)
    table = TableComparison("shop.orders", replace(known, **counts), differences)
    return Comparison("craft:file:a", "open-protocol:file:b", (table,))


def shown(column: ColumnDifference) -> list[str]:
    lines = text(comparison(changed(column), changed=1)).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("  changed: "))
    return [line.strip() for line in lines[start + 1 : start + 5] if line.startswith("    ")]


@pytest.mark.parametrize(
    ("column", "lines"),
    [
        (
            ColumnDifference("after", "n", "int32", Shown("1"), NULL),
            ["after.n (int32)", "left   1", "right  NULL"],
        ),
        (
            ColumnDifference("before", "s", "text", NULL, ABSENT),
            ["before.s (text)", "left   NULL", "right  absent"],
        ),
        (
            ColumnDifference("after", "s", "text", Shown("a\tb"), Shown("")),
            ["after.s (text)", 'left   "a\\u0009b"', 'right  ""'],
        ),
        (
            ColumnDifference("after", "b", "bytes(20)", Shown("00ff"), Shown("")),
            ["after.b (bytes(20))", "left   0x00ff (2 bytes)", "right  0x (0 bytes)"],
        ),
        (
            ColumnDifference("before", None, "image", Shown("sent"), ABSENT),
            ["before image", "left   sent", "right  absent"],
        ),
        (
            ColumnDifference(None, "op", "field", Shown("insert"), Shown("update")),
            ["op", "left   insert", "right  update"],
        ),
    ],
    ids=["null", "absent", "hidden-sign", "bytes", "image", "op"],
)
def test_column_is_shown_with_both_values(column: ColumnDifference, lines: list[str]) -> None:
    assert shown(column) == lines


def test_long_texts_are_cut_around_their_first_difference() -> None:
    long = "x" * 5000
    _, left, right = shown(
        ColumnDifference("after", "s", "text", Shown(f"{long}left{long}"), Shown(f"{long}Right"))
    )
    assert "xleftx" in left
    assert "xRight" in right
    assert left.endswith('…" (10,004 characters)')
    assert len(left) < 150


def test_difference_beyond_what_was_fetched_is_said() -> None:
    same = "x" * 100
    lines = shown(
        ColumnDifference("after", "s", "text", Shown(same, length=101), Shown(same, length=102))
    )
    assert lines[-1] == "they differ after the first 100 characters"


def test_repeated_and_single_rows_tell_where_they_are() -> None:
    place = RowPlace(file="a/messages.jsonl", line=3)
    topic = RowPlace(topic="feed", partition=1, offset=17, row=2)
    found = text(
        comparison(
            RowDifference("repeated", "insert", KEY, POSITION, 1, 2, (), place, topic),
            RowDifference("only left", "delete", KEY, POSITION, 1, 0, (), place),
            repeated_right=1,
            only_left=1,
        )
    )
    assert (
        "  repeated: insert id=7 at commit_ts 1000\n    left   once, a/messages.jsonl:3\n" in found
    )
    assert "    right  2 times, feed[1]@17, rows[2]\n" in found
    assert "  only left: delete id=7 at commit_ts 1000\n    left   a/messages.jsonl:3\n" in found
    assert "  8 same, 1 only left, 1 repeated right\n" in found
    assert found.endswith("DIFFERENT: 1 of 1 table differs (2 differences)\n")


def test_row_without_key_is_shown_by_its_columns() -> None:
    columns = [ColumnDifference("after", f"c{n}", "int8", ABSENT, Shown(str(n))) for n in range(14)]
    columns[1] = replace(columns[1], right=NULL)
    found = text(
        comparison(
            RowDifference("only right", "insert", (), (), 0, 1, tuple(columns)), only_right=1
        )
    )
    assert "  only right: insert\n    after.c0 (int8)  0\n    after.c2 (int8)  2\n" in found
    assert "    and 1 more column (--json and --html have all)\n" in found


def test_changed_row_shows_twelve_columns_and_counts_the_others() -> None:
    columns = [ColumnDifference("after", f"c{n}", "int8", NULL, Shown(str(n))) for n in range(14)]
    found = text(
        comparison(
            RowDifference("changed", "insert", KEY, POSITION, 1, 1, tuple(columns)), changed=1
        )
    )
    assert "    after.c11 (int8)\n      left   NULL\n      right  11\n" in found
    assert "c12" not in found
    assert "    and 2 more columns (--json and --html have all)\n" in found


def test_schema_differences_come_first_and_are_never_equal() -> None:
    table = TableComparison("shop.orders", None, schema_differences=("column n: only on the left",))
    found = Comparison("a", "b", (table,), ("table x: only on the right",))
    assert not found.is_equal
    assert text(found).splitlines()[3:7] == [
        "The schemas differ:",
        "  table x: only on the right",
        "  shop.orders: column n: only on the left",
        "No row was compared. --common compares what both sides have.",
    ]
    assert text(found).endswith("DIFFERENT: the schemas differ\n")


def test_unreadable_messages_are_never_equal() -> None:
    line = UnreadableMessage("a:1: byte 3: can't be read", "a:1: byte 3: broken")
    found = replace(comparison(unreadable_left=2, same=9), errors_left=2, unreadable=(line,))
    assert not found.is_equal
    assert "shop.orders: equal, as far as it can be read\n" in text(found)
    assert "unreadable: a:1: byte 3: broken\nunreadable: and 1 more\n" in text(found)
    assert text(found).endswith("DIFFERENT: 2 unreadable\n")


@pytest.mark.parametrize(
    ("paired_by", "said"),
    [
        (("commit_ts", "id", "part"), "paired by commit_ts and id, part"),
        (("ordinal", "id"), "paired by id and the order of its changes"),
        (("commit_ts",), "paired by commit_ts and all their values (there is no key)"),
        ((), "paired by all their values (there is no key)"),
    ],
    ids=["position", "ordinal", "keyless", "keyless-without-position"],
)
def test_equal_table_takes_one_line_that_says_how_rows_pair(
    paired_by: tuple[str, ...], said: str
) -> None:
    table = replace(comparison(same=9).tables[0], paired_by=paired_by)
    found = replace(comparison(), tables=(table, table), compared=("op", "half", "after"))
    line = f"shop.orders: equal, 9 changes, {said}"
    assert text(found).splitlines()[3:] == [
        *(line, line, ""),
        "compared: op, after",
        "EQUAL: 18 changes of 2 tables, by 128 bits of hash per row",
    ]


def test_differences_beyond_the_limit_are_counted() -> None:
    column = ColumnDifference("after", "n", "int8", Shown("1"), Shown("2"))
    found = text(comparison(changed(column), changed=5))
    assert "  and 4 more differences (--limit shows more)\n" in found


def test_schema_has_each_cause() -> None:
    parts = cast("dict[str, Any]", schema())["$defs"]
    causes = parts["pattern"]["properties"]["cause"]["enum"]
    assert sorted(causes) == sorted(get_args(CauseKind))


def test_document_follows_its_schema() -> None:
    place = RowPlace(file="a", line=3, offset=20, row=0)
    columns = (
        ColumnDifference("after", "n", "int32", Shown("1", length=9), ABSENT),
        ColumnDifference("before", None, "image", Shown("sent"), ABSENT),
        ColumnDifference(None, "op", "field", Shown("insert"), NULL),
    )
    found = comparison(
        replace(changed(*columns), left_place=place),
        RowDifference("repeated", "insert", KEY, POSITION, 1, 2),
        changed=1,
    )
    found = replace(
        found,
        left_out=(("tx_id", "craft has none"),),
        tables=(*found.tables, TableComparison("x", None, schema_differences=("differs",))),
    )
    document = json.loads(json_text(found))
    jsonschema.validate(document, schema())
    assert document["tables"][0]["differences"][0]["columns"][0] == {
        "image": "after",
        "column": "n",
        "type": "int32",
        "left": {"value": "1", "length": 9},
        "right": {"absent": True},
        "release": None,
    }
    places = document["tables"][0]["differences"][0]["places"]
    assert places == {"left": {"file": "a", "line": 3, "offset": 20, "row": 0}, "right": None}
    assert document["tables"][1]["counts"] is None


@pytest.mark.parametrize(
    ("count", "share"),
    [(609, "over 99 %"), (612, "100 %"), (600, "98 %"), (6, "under 1 %"), (306, "50 %")],
)
def test_share_of_a_pattern_is_whole_only_if_it_has_all_differences(count: int, share: str) -> None:
    pattern = Pattern("paid", "datetime", "precision", "cut to milliseconds", count)
    assert share_text(pattern, Counts(changed=609, only_left=3)) == share
