"""Events that no format can carry whole: what an encoder must refuse, with the right error."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any, get_args

from hypothesis import strategies as st

from cdcwire.model.events import Event, Image, Marker, Position, Progress, ProgressKind, RowChange
from cdcwire.model.kinds import UNAVAILABLE
from cdcwire_generators.domain import PLAUSIBLE, Domain
from cdcwire_generators.strategies.rows import row_changes
from cdcwire_generators.strategies.streams import schema_changes

_ODD_VALUES: tuple[Any, ...] = (
    0,
    -1,
    1 << 63,
    1 << 64,
    -(1 << 63) - 1,
    True,
    1.5,
    1e39,
    float("nan"),
    "x",
    "\ud800",
    b"\xff",
    (),
    (1.5, "x"),
    (0.1,),
    Decimal("NaN"),
    Decimal("1E+9"),
    Decimal("-Infinity"),
    UNAVAILABLE,
    Image((), ()),
    object,
)
_EXTRA_NAMES = (
    *("row_id", "claim_check", "handle_key"),
    *("connector", "message_type", "lob_columns", "transaction_properties", "snapshot"),
    *("xmin", "sequence", "source_ts_us", "transaction_id", "data_collection_order"),
)
_ODD_EXTRAS = (
    *(None, "", "x", "0", "-1", "007", "9" * 19, "9" * 20, b"x", "\ud800"),
    *('{"a":1}', '{"lsn":1}', '{"a":true}', "[]", "{alex}", '{"a":99999999999999999999}'),
)
_ODD_NAMES = ("", "\ud800", "x" * 1025, "é" * 513)
_ODD_POSITIONS = (
    Position(),
    Position(commit_ts=-1),
    Position(commit_ts=1 << 64),
    Position(commit_ts=1, partition=-1),
    Position(commit_ts=1, partition=0),
    Position(commit_ts=1, partition=1 << 63),
)


@st.composite
def odd_row_changes(draw: st.DrawFn, *, domain: Domain = PLAUSIBLE) -> RowChange:
    """Give row changes with one thing in them that is out of place, or hardly in it."""
    change = draw(row_changes(domain=domain))
    part = draw(st.sampled_from(("value", "name", "table", "position", "image", "op", "extra")))
    if part == "value":
        return _with_images(change, lambda image: _with_odd_value(draw, image))
    if part == "name":
        return _with_key_of(change, _with_images(change, lambda image: _with_odd_name(draw, image)))
    if part == "table":
        odd = draw(st.sampled_from((None, *_ODD_NAMES)))
        if draw(st.booleans()):
            return replace(change, table=replace(change.table, name=odd))
        return replace(change, table=replace(change.table, schema=odd))
    if part == "position":
        return replace(change, position=draw(st.sampled_from(_ODD_POSITIONS)))
    if part == "image":
        image = draw(st.sampled_from((None, Image((), ()))))
        if draw(st.booleans()):
            return replace(change, before=image)
        return replace(change, after=image)
    if part == "op":
        return replace(
            change,
            op=draw(st.sampled_from(("insert", "update", "delete", "upsert", "read"))),
            half=draw(st.sampled_from((None, "before", "after"))),
            sent=draw(st.sampled_from((None, "all", "key", "changed"))),
        )
    names = st.sampled_from(_EXTRA_NAMES)
    return replace(change, extra={draw(names): draw(st.sampled_from(_ODD_EXTRAS))})


@st.composite
def odd_events(draw: st.DrawFn, *, domain: Domain = PLAUSIBLE) -> Event:
    """Give row changes, schema changes, progress and markers that a format may have to refuse."""
    kind = draw(st.sampled_from(("row", "row", "ddl", "progress", "marker")))
    position = draw(st.sampled_from(_ODD_POSITIONS))
    if kind == "row":
        return draw(odd_row_changes(domain=domain))
    if kind == "marker":
        return Marker(draw(st.sampled_from(("begin", "tombstone", "gtid"))), "1", position)
    if kind == "progress":
        return Progress(draw(st.sampled_from(get_args(ProgressKind))), position)
    change = draw(schema_changes(domain=domain))
    part = draw(st.sampled_from(("code", "query", "position", "table")))
    if part == "code":
        return replace(change, code=draw(st.sampled_from((None, -1, 256, 1 << 64))))
    if part == "query":
        return replace(change, query=draw(st.sampled_from((None, "\ud800"))))
    if part == "table" and change.table is not None:
        return replace(change, table=replace(change.table, name=draw(st.sampled_from(_ODD_NAMES))))
    return replace(change, position=position)


def _with_images(change: RowChange, altered: Any) -> RowChange:
    return replace(
        change,
        before=None if change.before is None else altered(change.before),
        after=None if change.after is None else altered(change.after),
    )


def _with_key_of(change: RowChange, renamed: RowChange) -> RowChange:
    """Return a change whose key names the renamed columns, since only one thing is out of place."""
    before, after = change.after or change.before, renamed.after or renamed.before
    if change.table.key is None or before is None or after is None:
        return renamed
    names = {old.name: new.name for old, new in zip(before.columns, after.columns, strict=True)}
    key = tuple(names.get(name, name) for name in change.table.key)
    return replace(renamed, table=replace(renamed.table, key=key))


def _with_odd_value(draw: st.DrawFn, image: Image) -> Image:
    place = draw(st.integers(0, len(image.values) - 1))
    values = list(image.values)
    values[place] = draw(st.sampled_from(_ODD_VALUES))
    return Image(image.columns, tuple(values))


def _with_odd_name(draw: st.DrawFn, image: Image) -> Image:
    place = draw(st.integers(0, len(image.values) - 1))
    columns = list(image.columns)
    twice = columns[draw(st.integers(0, len(columns) - 1))].name
    columns[place] = replace(columns[place], name=draw(st.sampled_from((*_ODD_NAMES, twice))))
    return Image(tuple(columns), image.values)
