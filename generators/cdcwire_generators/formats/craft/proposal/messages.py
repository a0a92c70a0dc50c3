"""Messages of the Craft proposal at the wire layer, with what only a later version would write."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from cdcwire.formats.craft.message import (
    EVENT_DDL,
    EVENT_RESOLVED,
    EVENT_ROW,
    GROUP_NEW,
    GROUP_OLD,
    Column,
)
from cdcwire.formats.craft.proposal.message import (
    GROUP_DELETE,
    ColumnGroup,
    DDLEvent,
    Event,
    Group,
    Message,
    ResolvedEvent,
    RowEvent,
    UnknownEvent,
    UnknownGroup,
)
from cdcwire_generators.formats.craft.messages import LooseVarints
from cdcwire_generators.strategies.names import column_names, names
from cdcwire_generators.strategies.wire_columns import (
    MAX_INT64,
    column_flags,
    commit_timestamps,
    type_codes,
    wire_values,
)

_PARTITIONS = st.one_of(
    st.none(),
    st.integers(1, 200),
    st.integers(-MAX_INT64 - 1, MAX_INT64).filter(lambda number: number != -1),
)
_ROW_IDS = st.one_of(st.just(0), st.integers(-MAX_INT64 - 1, MAX_INT64))
_GROUPS = (
    (GROUP_NEW,),
    (GROUP_DELETE,),
    (GROUP_NEW, GROUP_OLD),
    (GROUP_OLD, GROUP_NEW),
)


@st.composite
def proposal_column_groups(
    draw: st.DrawFn, kind: int, *, max_columns: int = 4, with_unknown: bool = False
) -> ColumnGroup:
    """Give column groups of one type, with any type codes and flags; a FLOAT fits 32 bits."""
    columns = []
    for name in draw(column_names(max_size=max_columns)):
        code, flags = draw(type_codes()), draw(column_flags())
        value = draw(wire_values(code, flags, exact_floats=True))
        columns.append(Column(name, code, flags, value))
    return ColumnGroup(kind, tuple(columns), draw(_surplus(with_unknown)))


@st.composite
def proposal_row_events(draw: st.DrawFn, *, with_unknown: bool = False) -> RowEvent:
    """Give inserts, deletes and updates; ``with_unknown``: undefined column groups too."""
    groups: list[Group] = [
        draw(proposal_column_groups(kind, with_unknown=with_unknown))
        for kind in draw(st.sampled_from(_GROUPS))
    ]
    if with_unknown and draw(st.booleans()):
        kind = draw(st.sampled_from((0, 4, 255)))
        groups.insert(
            draw(st.integers(0, len(groups))), UnknownGroup(kind, draw(st.binary(max_size=6)))
        )
    return RowEvent(
        draw(commit_timestamps()),
        draw(names()),
        draw(names()),
        tuple(groups),
        draw(_ROW_IDS),
        draw(_PARTITIONS),
        draw(_surplus(with_unknown)),
    )


@st.composite
def proposal_messages(
    draw: st.DrawFn, *, max_events: int = 4, with_unknown: bool = False
) -> Message:
    """Give messages of any mix of events.

    ``with_unknown``: with surplus bytes, and with undefined types of events and groups,
    as a later version may write them.
    """
    if max_events < 1:
        raise ValueError(f"max_events={max_events} is less than 1")
    kinds: list[st.SearchStrategy[Event]] = [
        _events_without_rows(ResolvedEvent, with_unknown),
        proposal_row_events(with_unknown=with_unknown),
        _events_without_rows(DDLEvent, with_unknown),
    ]
    if with_unknown:
        kinds.append(_unknown_events())
    events = draw(st.lists(st.one_of(kinds), min_size=1, max_size=max_events))
    return Message(tuple(events), draw(_surplus(with_unknown)), draw(_surplus(with_unknown)))


def _surplus(with_unknown: bool) -> st.SearchStrategy[bytes]:
    return st.one_of(st.just(b""), st.binary(max_size=5)) if with_unknown else st.just(b"")


def _events_without_rows(kind: Any, with_unknown: bool) -> st.SearchStrategy[Any]:
    absent_or_name = st.one_of(st.none(), names())
    members: dict[str, st.SearchStrategy[Any]] = {
        "commit_ts": commit_timestamps(),
        "schema": absent_or_name,
        "table": absent_or_name,
        "row_id": _ROW_IDS,
        "partition": _PARTITIONS,
        "surplus": _surplus(with_unknown),
    }
    if kind is DDLEvent:
        members["type"] = st.integers(0, 255)
        members["query"] = st.text(st.characters(codec="utf-8"), max_size=30)
    return st.builds(kind, **members)


@st.composite
def _unknown_events(draw: st.DrawFn) -> UnknownEvent:
    value = draw(st.binary(max_size=8))
    sizes = draw(st.lists(st.integers(0, 4), max_size=3))
    while sum(sizes) > len(value):
        sizes.pop()
    return UnknownEvent(
        draw(commit_timestamps()),
        draw(st.sampled_from((0, 4, 255, 1 << 32))),
        value,
        tuple(sizes),
        draw(st.one_of(st.none(), names())),
        draw(st.one_of(st.none(), names())),
        draw(_ROW_IDS),
        draw(_PARTITIONS),
    )


@st.composite
def proposal_renderings(draw: st.DrawFn, message: Message) -> bytes:
    """Give bytes that say ``message`` with varints that are longer than needed."""
    loose = LooseVarints(draw)
    events = message.events
    keys = _keys(loose, events) + message.keys_surplus
    values, groups = [], []
    for event in events:
        value, sizes = _value(loose, event)
        values.append(value)
        groups.append(sizes)
    tables = b"".join(
        loose.uvarint(len(table)) + loose.uvarints(table)
        for table in ([len(keys)], [len(value) for value in values], *groups)
    )
    tables += message.tables_surplus
    start = b"\0\1" + len(events).to_bytes(2, "big")
    return start + keys + b"".join(values) + tables + loose.uvarint(len(tables))[::-1]


def _keys(loose: LooseVarints, events: tuple[Event, ...]) -> bytes:
    return (
        loose.delta_uvarints([event.commit_ts for event in events])
        + loose.uvarints(map(_event_type, events))
        + loose.uvarints([event.row_id % (1 << 64) for event in events])
        + loose.varints([-1 if event.partition is None else event.partition for event in events])
        + loose.strings([event.schema or "" for event in events])
        + loose.strings([event.table or "" for event in events])
    )


def _event_type(event: Event) -> int:
    match event:
        case RowEvent():
            return EVENT_ROW
        case DDLEvent():
            return EVENT_DDL
        case ResolvedEvent():
            return EVENT_RESOLVED
        case UnknownEvent():
            return event.type


def _value(loose: LooseVarints, event: Event) -> tuple[bytes, list[int]]:
    """Return the value of an event, and the sizes of its groups."""
    match event:
        case RowEvent():
            parts = [_group(loose, group) for group in event.groups]
            return b"".join(parts) + event.surplus, [len(part) for part in parts]
        case DDLEvent():
            query = event.query.encode()
            return loose.uvarints([event.type, len(query)]) + query + event.surplus, []
        case ResolvedEvent():
            return event.surplus, []
        case UnknownEvent():
            return event.value, list(event.group_sizes)


def _group(loose: LooseVarints, group: Group) -> bytes:
    if isinstance(group, UnknownGroup):
        return bytes((group.type,)) + group.content
    columns = group.columns
    return (
        bytes((group.type,))
        + loose.uvarint(len(columns))
        + loose.strings([column.name for column in columns])
        + loose.uvarints([column.type for column in columns])
        + loose.uvarints([column.flags for column in columns])
        + loose.values(columns, float_format="<f")
        + group.surplus
    )
