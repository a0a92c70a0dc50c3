"""Events against events: fields, what a format does not carry, halves and tombstones."""

from __future__ import annotations

import pytest

from cdcwire.format import Format
from cdcwire.model.text import Json
from cdcwire.registry import get_format
from cdcwire_conformance.judge.events import EventRules, compare_events, rules_of

ROW: dict[str, Json] = {
    "kind": "row",
    "op": "insert",
    "schema": "s",
    "table": "t",
    "key": ["a", "b"],
    "position": {"commit_ts": "433305438660591626"},
    "before": None,
    "after": {"a": {"type": "int32", "value": "1"}},
}
UPDATE = {**ROW, "op": "update", "before": {"a": "0"}}
CHANGED = {**UPDATE, "after": {"a": "1", "b": "7"}, "sent": "changed"}
DDL: dict[str, Json] = {
    "kind": "ddl",
    "what": "alter",
    "code": "5",
    "schema": "s",
    "table": "t",
    "query": "ALTER TABLE t",
}
RESOLVED: dict[str, Json] = {"kind": "progress", "what": "resolved", "position": {"commit_ts": "1"}}
TOMBSTONE: dict[str, Json] = {"kind": "marker", "what": "tombstone"}


@pytest.fixture
def rules(toy: Format) -> EventRules:
    return rules_of(toy)


def half(which: str, **members: Json) -> Json:
    sides = {"before": None, "after": None, which: ROW["after"]}
    return {**ROW, "op": "update", "half": which, **sides, **members}


EQUAL: list[tuple[str, list[Json], list[Json]]] = [
    ("same", [ROW, DDL, RESOLVED], [ROW, DDL, RESOLVED]),
    ("key-order", [ROW], [{**ROW, "key": ["b", "a"]}]),
    ("before-left-out", [ROW], [{name: v for name, v in ROW.items() if name != "before"}]),
    ("null-name", [RESOLVED], [{**RESOLVED, "extra": None}]),
    ("key-not-expected", [{**ROW, "key": None}], [{**ROW, "key": ["a"]}]),
    ("uncarried", [{**ROW, "position": {"commit_ts": "433305438660591626", "lsn": "5"}}], [ROW]),
    ("uncarried-given", [ROW],
     [{**ROW, "position": {"commit_ts": "433305438660591626", "commit_ms": "7"}}]),
    ("sent-not-given", [{**ROW, "sent": "key"}], [ROW]),
    ("sent-not-expected", [ROW], [{**ROW, "sent": "all"}]),
    ("no-database", [ROW], [{**ROW, "database": ""}]),
    ("no-schema", [{**ROW, "schema": ""}], [{**ROW, "schema": None}]),
    ("unchanged-filled-in", [CHANGED], [{**CHANGED, "before": {"a": "0", "b": "7"}}]),
    ("unchanged-filled-in-and-sent-all", [CHANGED],
     [{**CHANGED, "before": {"a": "0", "b": "7"}, "sent": "all"}]),
    ("extra-not-given", [{**ROW, "extra": {"row_id": "5"}}], [ROW]),
    ("extra-not-expected", [ROW], [{**ROW, "extra": {"mine": "x"}}]),
    ("ddl-code-only", [DDL], [{name: v for name, v in DDL.items() if name != "what"}]),
    ("ddl-what-only", [DDL], [{name: v for name, v in DDL.items() if name != "code"}]),
    ("halves-joined-by-the-testee", [half("before"), half("after")],
     [{**ROW, "op": "update", "before": ROW["after"]}]),
    ("halves-joined-by-us", [{**ROW, "op": "update", "before": ROW["after"]}],
     [half("before"), half("after")]),
    ("half-alone", [half("before")], [half("before")]),
    ("tombstone-left-out", [ROW, TOMBSTONE], [ROW]),
    ("tombstone-given", [ROW, TOMBSTONE], [ROW, TOMBSTONE]),
    ("nothing", [], []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "given"), [row[1:] for row in EQUAL], ids=[row[0] for row in EQUAL]
)
def test_events_equal_have_no_difference(
    expected: list[Json], given: list[Json], rules: EventRules
) -> None:
    assert compare_events(expected, given, rules) == []


DIFFERENT: list[tuple[str, list[Json], list[Json], str]] = [
    ("missing", [ROW, RESOLVED], [ROW], "events"),
    ("too-many", [ROW], [ROW, ROW], "events"),
    ("none", [ROW], [], "events"),
    ("tombstone-made-up", [ROW], [ROW, TOMBSTONE], "events"),
    ("kind", [ROW], [DDL], "events[0]"),
    ("no-kind", [ROW], [{}], "events[0]"),
    ("op", [ROW], [{**ROW, "op": "upsert"}], "events[0].op"),
    ("table", [ROW], [{**ROW, "table": "T"}], "events[0].table"),
    ("schema-left-out", [ROW], [{**ROW, "schema": None}], "events[0].schema"),
    ("key", [ROW], [{**ROW, "key": ["a"]}], "events[0].key"),
    ("key-left-out", [{**ROW, "key": []}], [{**ROW, "key": None}], "events[0].key"),
    ("commit-ts", [ROW], [{**ROW, "position": {}}], "events[0].position.commit_ts"),
    ("commit-ts-number", [ROW], [{**ROW, "position": {"commit_ts": 433305438660591626}}],
     "events[0].position.commit_ts"),
    ("partition-made-up", [ROW],
     [{**ROW, "position": {"commit_ts": "433305438660591626", "partition": "0"}}],
     "events[0].position.partition"),
    ("position-no-object", [ROW], [{**ROW, "position": "1"}], "events[0].position"),
    ("before-missing", [UPDATE], [{**UPDATE, "before": None}], "events[0].before"),
    ("before-made-up", [ROW], [{**ROW, "before": {}}], "events[0].before"),
    ("after-no-object", [ROW], [{**ROW, "after": []}], "events[0].after"),
    ("value", [ROW], [{**ROW, "after": {"a": "2"}}], "events[0].after.a"),
    ("sent", [{**ROW, "sent": "key"}], [{**ROW, "sent": "all"}], "events[0].sent"),
    ("unchanged-filled-wrongly", [CHANGED], [{**CHANGED, "before": {"a": "0", "b": None}}],
     "events[0].before.b"),
    ("changed-filled-wrongly", [CHANGED], [{**CHANGED, "before": {"a": "1", "b": "7"}}],
     "events[0].before.a"),
    ("filled-in-though-not-unchanged", [{**CHANGED, "sent": "key"}],
     [{**CHANGED, "before": {"a": "0", "b": "7"}, "sent": "key"}], "events[0].before.b"),
    ("extra", [{**ROW, "extra": {"row_id": "5"}}], [{**ROW, "extra": {"row_id": "6"}}],
     "events[0].extra.row_id"),
    ("query", [DDL], [{**DDL, "query": "ALTER TABLE t "}], "events[0].query"),
    ("ddl-code", [DDL], [{**DDL, "code": "6"}], "events[0].code"),
    ("ddl-neither", [DDL], [{"kind": "ddl", "schema": "s", "table": "t", "query": DDL["query"]}],
     "events[0].what"),
    ("ddl-columns", [{**DDL, "columns": [{"name": "a"}]}], [{**DDL, "columns": [{"name": "b"}]}],
     "events[0].columns"),
    ("what", [RESOLVED], [{**RESOLVED, "what": "watermark"}], "events[0].what"),
    ("half-left-out", [half("before")], [{**half("before"), "half": None}], "events[0].half"),
    ("halves-of-two-rows", [{**ROW, "op": "update", "before": ROW["after"]}],
     [half("before"), half("after", table="other")], "events"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "given", "where"),
    [row[1:] for row in DIFFERENT],
    ids=[row[0] for row in DIFFERENT],
)
def test_events_different_names_the_place(
    expected: list[Json], given: list[Json], where: str, rules: EventRules
) -> None:
    differences = compare_events(expected, given, rules)
    assert differences[0].where == where
    assert str(differences[0])


def test_position_that_javascript_rounded_says_so(rules: EventRules) -> None:
    given = [{**ROW, "position": {"commit_ts": "433305438660591600"}}]
    (found,) = compare_events([ROW], given, rules)
    assert found.hint == "it went through a 64-bit float"


def test_events_number_for_text_gives_a_hint(rules: EventRules) -> None:
    given = [{**RESOLVED, "position": {"commit_ts": 1}}]
    assert "readers of JSON" in compare_events([RESOLVED], given, rules)[0].hint


@pytest.mark.parametrize("declined", ["position", "commit_ts"])
def test_events_field_that_was_declined_is_not_compared(toy: Format, declined: str) -> None:
    rules = rules_of(toy, frozenset({declined}))
    assert compare_events([RESOLVED], [{**RESOLVED, "position": {}}], rules) == []


def test_events_key_that_was_declined_is_not_compared(toy: Format) -> None:
    rules = rules_of(toy, frozenset({"key"}))
    assert compare_events([ROW], [{**ROW, "key": None}], rules) == []


def test_events_operation_that_was_declined_still_tells_deletes(toy: Format) -> None:
    rules = rules_of(toy, frozenset({"op"}))
    assert compare_events([ROW], [{**ROW, "op": "upsert"}], rules) == []
    deleted = [{**ROW, "op": "delete", "before": ROW["after"], "after": None}]
    differences = compare_events(deleted, [{**deleted[0], "op": "upsert"}], rules)
    assert [difference.where for difference in differences] == ["events[0].op"]


def test_events_kind_of_a_ddl_that_was_declined_is_not_compared(toy: Format) -> None:
    answer = {name: value for name, value in DDL.items() if name not in ("what", "code")}
    assert compare_events([DDL], [answer], rules_of(toy, frozenset({"what"}))) == []


def test_events_scale_that_was_declined_is_not_compared(toy: Format) -> None:
    row = {**ROW, "after": {"a": {"type": "decimal", "value": "12.10"}}}
    rules = rules_of(toy, frozenset({"scale"}))
    assert compare_events([row], [{**row, "after": {"a": "12.1"}}], rules) == []
    assert compare_events([row], [{**row, "after": {"a": "12.11"}}], rules) != []


def test_events_after_a_missing_one_are_not_compared_one_by_one(rules: EventRules) -> None:
    rows = [{**ROW, "after": {"a": str(number)}} for number in range(9)]
    differences = compare_events(rows, rows[1:], rules)
    assert [difference.where for difference in differences] == ["events", "events[0].after.a"]


@pytest.mark.parametrize(
    ("name", "is_needed"), [("debezium-json", True), ("datahub-tuple", True), ("craft", False)]
)
def test_zone_of_an_instant_is_needed_where_the_bytes_tell_it(name: str, is_needed: bool) -> None:
    assert rules_of(get_format(name)).values.zone_needed is is_needed
