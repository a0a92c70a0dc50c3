"""Rows of snapshots in topics that grow. No Kafka here."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("pyspark", reason="the extra spark is not installed")

from cdcwire.arrow.batches import MessagePlace
from cdcwire.model.events import Image, Op, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType
from cdcwire.registry import get_format
from cdcwire_conformance.compare.feed import ComparedFeed
from cdcwire_conformance.compare.meaning import Meaning
from cdcwire_conformance.compare.rules import DEFAULT_OPTIONS
from cdcwire_conformance.sources.source_urls import parse_source
from cdcwire_conformance.spark.follow.scanning import ScanJob, scan

ID = Column("id", IntType(64), nullable=False, roles=frozenset({"primary", "handle"}))
TABLE = Table("t", "s", columns=(ID,), key=("id",))


def change(op: Op, lsn: int) -> RowChange:
    return RowChange(TABLE, op, None, Image((ID,), (1,)), Position(lsn=lsn, commit_ms=1))


@pytest.mark.parametrize(("has_snapshots", "least"), [(True, 5), (False, 7)])
def test_rows_of_snapshots_that_are_left_out_belong_to_no_window(
    has_snapshots: bool, least: int
) -> None:
    format_ = get_format("debezium-json")
    written = format_.from_events([change("read", 5), change("insert", 7)])
    messages = [(MessagePlace("t", 0, number), each) for number, each in enumerate(written)]
    feed = ComparedFeed(parse_source("debezium-json:kafka://h:9/t"))
    options = replace(DEFAULT_OPTIONS, meaning=Meaning(has_snapshots=has_snapshots))
    (seen,) = scan(ScanJob(format_, feed.context_for(options), "lsn", "rows", "stop"), messages)
    assert (seen.least, seen.largest) == (least, 7)
