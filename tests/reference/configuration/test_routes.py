"""Selectors for the names that a changefeed's routes give its tables."""

from __future__ import annotations

import json

import pytest

from cdcwire.configuration.ticdc import routed_selectors
from cdcwire.model.events import Table
from cdcwire.model.kinds import Column, IntType
from cdcwire.storage.sent_columns import column_selectors, with_sent_columns


def route(matcher: str, schema: str = "", table: str = "") -> dict[str, object]:
    return {"matcher": [matcher], "target-schema": schema, "target-table": table}


def selector(matcher: str, column: str) -> dict[str, object]:
    return {"matcher": [matcher], "columns": [column]}


def sent(selectors: object, name: str) -> list[str]:
    """Return which of the columns a to d the rows of a table have."""
    schema, _, table = name.partition(".")
    columns = tuple(Column(each, IntType(32)) for each in "abcd")
    found = with_sent_columns(
        Table(table, schema, columns=columns), column_selectors(json.dumps(selectors))
    )
    return [each.name for each in found.columns or () if "virtual" not in each.roles]


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("archive.old_t", "a"),  # shop.t, by the first route
        ("new.orders", "b"),  # shop.orders: the second route, the first selector that matches
        ("new.lines", "c"),
        ("eu_2024.t", "d"),  # 2024.t
        ("other.t", "c"),  # without a route
        ("none.t", "abcd"),  # without a selector
    ],
)
def test_selectors_by_the_names_of_the_feed(name: str, columns: str) -> None:
    routes = [
        route("shop.t", "archive", "old_{table}"),
        {"matcher": ["shop.*"], "topic": "x"},  # a route of messages, not of names
        route("SHOP.*", "new"),
        route("20*.*", "eu_{schema}"),
    ]
    selectors = [
        selector("shop.t", "a"),
        selector("*.orders", "b"),
        selector("shop.*", "c"),
        selector("2024.*", "d"),
        selector("other.*", "c"),
    ]
    assert sent(routed_selectors(selectors, routes), name) == list(columns)


@pytest.mark.parametrize("dispatchers", [None, [], [{"matcher": ["*.*"], "partition": "ts"}]])
def test_selectors_without_routes_stay(dispatchers: object) -> None:
    selectors = [selector("shop.*", "a")]
    assert routed_selectors(selectors, dispatchers) is selectors


@pytest.mark.parametrize("pattern", ["!shop.*", "/sh.p/.t", "'shop'.t", "shop", r"sh\*p.t"])
def test_patterns_that_are_not_turned(pattern: str) -> None:
    selectors = [selector("shop.*", "a")]
    assert routed_selectors(selectors, [route(pattern, "x")]) is None
    assert routed_selectors([selector(pattern, "a")], [route("*.*", "x")]) is None
