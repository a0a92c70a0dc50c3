"""Every cell of what both formats say they carry, proved: made, encoded, decoded, compared."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cdcwire.datahub_blob import FORMAT as BLOB
from cdcwire.datahub_tuple import FORMAT as TUPLE
from cdcwire.errors import EncodeError
from cdcwire.format import Context, Format
from cdcwire.model.carries import KINDS
from cdcwire.model.events import Column, Event, Image, Marker, Position, Progress, RowChange, Table
from cdcwire.model.kinds import IntType
from cdcwire.model.steps import join_halves
from cdcwire_generators.carried import carried_kind
from cdcwire_generators.strategies import columns_of_kind, values_of_kind

CELLS = [(through, kind) for through in (BLOB, TUPLE) for kind in KINDS]
AT = Position(sequence_id=7, commit_ms=1605339932000, sent_ms=5)
# Values that a kind has and text or a number has not: they are refused, never changed.
MAY_BE_REFUSED = {
    "timestamp with zone",
    "timestamp as count",
    "datetime as count",
    "date as count",
    "time as count",
    "enum by index",
    "set by index",
    "decimal",
}


def sent_through(through: Format, event: RowChange) -> list[Event]:
    image = event.after or event.before
    assert image is not None
    table = Table("t", "d", columns=image.columns, key=event.table.key)
    context = Context(tables=(table,))
    return list(
        join_halves(
            found
            for message in through.encode([event], context)
            for found in through.decode(message, context)
        )
    )


@pytest.mark.parametrize(
    ("through", "kind"), CELLS, ids=[f"{through.name}-{kind}" for through, kind in CELLS]
)
@given(data=st.data())
@settings(max_examples=15)
def test_kind_comes_through_as_its_verdict_says(
    through: Format, kind: str, data: st.DataObject
) -> None:
    column = data.draw(columns_of_kind(kind, name="c"))
    value = data.draw(values_of_kind(kind, column))
    verdict = through.carries.kinds[kind]
    image = Image((Column("c", column.type),), (value,))
    event = RowChange(Table("t", "d", key=()), "insert", None, image, AT)
    if verdict.verdict == "no":
        with pytest.raises(EncodeError):
            sent_through(through, event)
        return
    try:
        (found,) = sent_through(through, event)
    except EncodeError:
        assert kind in MAY_BE_REFUSED
        return
    assert isinstance(found, RowChange)
    assert found.after is not None
    (again,) = found.after.values
    told = kind if verdict.verdict == "exact" else verdict.detail
    assert carried_kind(found.after.columns[0].type, again) in told.split(" or ")
    if verdict.verdict == "exact":
        assert (type(again), repr(again)) == (type(value), repr(value))


@pytest.mark.parametrize("through", [BLOB, TUPLE], ids=lambda through: through.name)
@pytest.mark.parametrize("op", ["insert", "update", "delete"])
def test_event_fields_come_through_as_their_verdicts_say(through: Format, op: Any) -> None:
    column = Column("c", IntType(64))
    before, after = Image((column,), (1,)), Image((column,), (2,))
    event = RowChange(
        Table("t", "d", key=("c",)),
        op,
        None if op == "insert" else before,
        None if op == "delete" else after,
        AT,
    )
    (found,) = sent_through(through, event)
    assert isinstance(found, RowChange)
    fields = through.carries.fields
    assert (found.op, found.table.key) == (op, ("c",))
    assert (found.before and found.before.values) == (event.before and (1,))
    assert (found.after and found.after.values) == (event.after and (2,))
    for name in ("commit_ts", "lsn", "tx_id", "partition"):
        assert fields[name].verdict == "no"
        assert getattr(found.position, name) is None
    for name in ("sequence_id", "commit_ms", "sent_ms"):
        is_carried = fields[name].verdict == "exact"
        assert getattr(found.position, name) == (getattr(AT, name) if is_carried else None)


@pytest.mark.parametrize(
    ("event", "field"),
    [(Progress("heartbeat", AT), "progress"), (Marker("begin", None, AT), "markers")],
)
def test_progress_and_markers_are_for_blob_alone(event: Event, field: str) -> None:
    (message,) = BLOB.encode([event], Context())
    (found,) = BLOB.decode(message, Context())
    assert type(found) is type(event)
    assert BLOB.carries.fields[field].verdict == "exact"
    assert TUPLE.carries.fields[field].verdict == "no"
