"""A row with a row id, which the other rows of its message do not have."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cdcwire.core.message import KafkaMessage
from cdcwire.formats.craft.proposal.fast_encoder import RowEncoder
from cdcwire.model import kinds
from cdcwire.model.events import Event, Image, Position, RowChange, Table
from cdcwire.model.kinds import Column
from cdcwire.registry import get_format

THROUGH = get_format("craft-proposal")
COLUMNS = (Column("id", kinds.IntType(32)),)
CHANGE = RowChange(
    Table("t", "d", key=("id",)), "insert", None, Image(COLUMNS, (1,)), Position(commit_ts=5)
)
NUMBERED = replace(CHANGE, extra={"row_id": "-7"})


@pytest.mark.parametrize("events", [[NUMBERED], [CHANGE, NUMBERED, CHANGE]])
def test_row_ids_are_written(events: list[Event]) -> None:
    (message,) = RowEncoder().encode(events)
    assert isinstance(message, KafkaMessage)
    read = list(THROUGH.to_events(message))
    assert [each.extra for each in read] == [each.extra for each in events]
