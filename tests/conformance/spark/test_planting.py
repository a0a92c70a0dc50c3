"""The test of the comparison by planted differences, on Spark."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cdcwire.model.events import Event, Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType
from cdcwire.registry import get_format
from cdcwire_evidence.planting.__main__ import compare_of
from cdcwire_evidence.planting.judging import Judged, judged
from cdcwire_evidence.planting.pairs import FeedForm, Pair
from cdcwire_evidence.planting.plants import Plant
from cdcwire_generators.domain import fullest_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = (
    Column("id", IntType(64), nullable=False, roles=frozenset({"primary", "handle"})),
    Column("n", IntType(32), nullable=True),
)
TABLE = Table("t", "shop", columns=COLUMNS, key=("id",))
EVENTS: tuple[Event, ...] = tuple(
    RowChange(TABLE, "insert", None, Image(COLUMNS, (id_, 1)), Position(commit_ts=5 + id_))
    for id_ in range(3)
)


def test_queries_of_spark_find_what_is_planted(spark: SparkSession) -> None:
    left, right = map(get_format, ("craft", "open-protocol"))
    forms = FeedForm(left, fullest_options(left)), FeedForm(right, fullest_options(right))
    pair = Pair(*forms, (TABLE,), EVENTS, is_defined=False, mode="events")
    compare = compare_of("spark")
    assert judged(pair, compare=compare) == Judged("equal")
    lost = Plant("lost", "event 1 is lost", (EVENTS[0], EVENTS[2]))
    assert judged(pair, lost, compare).verdict == "found"
    final = replace(pair, mode="final")
    assert judged(final, lost, compare).verdict == "found"


def test_a_feed_that_cannot_be_compared_is_refused_and_not_a_failure_of_spark(
    spark: SparkSession,
) -> None:
    table = replace(TABLE, key=(), columns=COLUMNS[1:])
    event = RowChange(table, "insert", None, Image(COLUMNS[1:], (1,)), Position(commit_ts=5))
    form = FeedForm(get_format("craft"), {})
    pair = Pair(form, form, (table,), (event,), is_defined=False, mode="final")
    assert judged(pair, compare=compare_of("spark")).verdict == "refused"
