"""Craft messages at the wire layer, and the many byte strings that say the same message.

Varints are sometimes longer than needed: readers accept them, no producer writes them. Those here
share nothing with the codecs, so that a fault in an encoder can't hide the same fault in its
decoder.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from hypothesis import strategies as st

from cdcwire.formats.craft.message import (
    EVENT_DDL,
    EVENT_RESOLVED,
    EVENT_ROW,
    GROUP_NEW,
    GROUP_OLD,
    Column,
    ColumnGroup,
    DDLEvent,
    Event,
    Message,
    ResolvedEvent,
    RowEvent,
)
from cdcwire_generators.strategies.names import column_names, names
from cdcwire_generators.strategies.wire_columns import (
    MAX_INT64,
    column_flags,
    commit_timestamps,
    type_codes,
    wire_values,
)

_MAX_BYTES = 9  # a tenth byte would be legal too, for numbers of 64 bits only


class LooseVarints:
    """Renders the primitives of both Craft formats; ``draw`` decides how long a varint gets."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def uvarint(self, number: int) -> bytes:
        """Render a uvarint, sometimes with needless groups of zeros at its end."""
        groups = [number & 0x7F]
        while number := number >> 7:
            groups.append(number & 0x7F)
        if len(groups) < _MAX_BYTES and self.draw(st.integers(0, 7)) == 7:
            groups += [0] * self.draw(st.integers(1, _MAX_BYTES - len(groups)))
        return bytes(group | 0x80 for group in groups[:-1]) + bytes(groups[-1:])

    def varint(self, number: int) -> bytes:
        """Render a zigzag varint."""
        return self.uvarint((number << 1) ^ (number >> 63))

    def uvarints(self, numbers: Iterable[int]) -> bytes:
        """Render an array of uvarints."""
        return b"".join(map(self.uvarint, numbers))

    def varints(self, numbers: Iterable[int]) -> bytes:
        """Render an array of zigzag varints."""
        return b"".join(map(self.varint, numbers))

    def delta_uvarints(self, numbers: Iterable[int]) -> bytes:
        """Render a base value and differences as uvarints."""
        return self.uvarints(_differences(numbers))

    def delta_varints(self, numbers: Iterable[int]) -> bytes:
        """Render a base value and differences as zigzag varints."""
        return self.varints(
            step - (1 << 64) if step >> 63 else step for step in _differences(numbers)
        )

    def strings(self, texts: Iterable[str]) -> bytes:
        """Render an array of strings: all lengths, then all bytes."""
        raw = [text.encode() for text in texts]
        return self.uvarints(map(len, raw)) + b"".join(raw)

    def values(self, columns: Iterable[Column], *, float_format: str) -> bytes:
        """Render the nullable bytes of a group. ``float_format``: how ``struct`` packs a FLOAT."""
        raw = [self._value(column, float_format) for column in columns]
        lengths = self.varints(-1 if value is None else len(value) for value in raw)
        return lengths + b"".join(value or b"" for value in raw)

    def _value(self, column: Column, float_format: str) -> bytes | None:
        value = column.value
        match value:
            case bytes():
                return value
            case str():
                return value.encode()
            case float():
                return struct.pack(float_format if column.type == 4 else "<d", value)
            case int():
                is_plain = column.type in (16, 247, 248)
                is_plain |= column.type in (1, 2, 3, 8, 9) and bool(column.flags & 0x80)
                return self.uvarint(value) if is_plain else self.varint(value)
            case _:
                assert value is None
                return None


def _differences(numbers: Iterable[int]) -> Iterable[int]:
    """Give the first number and each step to the next one, modulo 2**64."""
    previous = 0
    for number in numbers:
        yield (number - previous) % (1 << 64)
        previous = number


_PARTITIONS = st.one_of(
    st.none(),
    st.integers(1, 200),
    st.integers(-MAX_INT64 - 1, MAX_INT64).filter(lambda number: number != -1),
)


@st.composite
def craft_column_groups(
    draw: st.DrawFn, kind: int, *, max_columns: int = 4, exact_floats: bool = False
) -> ColumnGroup:
    """Give column groups of one type, with any type codes and flags."""
    columns = []
    for name in draw(column_names(max_size=max_columns)):
        code, flags = draw(type_codes()), draw(column_flags())
        value = draw(wire_values(code, flags, exact_floats=exact_floats))
        columns.append(Column(name, code, flags, value))
    return ColumnGroup(kind, tuple(columns))


@st.composite
def craft_row_events(draw: st.DrawFn) -> RowEvent:
    """Give inserts, deletes and updates, with the groups of an update in either order."""
    orders = ((GROUP_NEW,), (GROUP_OLD,), (GROUP_NEW, GROUP_OLD), (GROUP_OLD, GROUP_NEW))
    groups = [draw(craft_column_groups(kind)) for kind in draw(st.sampled_from(orders))]
    return RowEvent(
        draw(commit_timestamps()),
        draw(names()),
        draw(names()),
        tuple(groups),
        draw(_PARTITIONS),
    )


def craft_messages(*, max_rows: int = 4) -> st.SearchStrategy[Message]:
    """Give messages of 1 to ``max_rows`` rows, of one DDL, or of one resolved event."""
    if max_rows < 1:
        raise ValueError(f"max_rows={max_rows} is less than 1")
    absent_or_name = st.one_of(st.none(), names())
    ddl = st.builds(
        DDLEvent,
        commit_timestamps(),
        st.integers(0, 255),
        st.text(st.characters(codec="utf-8"), max_size=30),
        absent_or_name,
        absent_or_name,
        _PARTITIONS,
    )
    resolved = st.builds(
        ResolvedEvent, commit_timestamps(), absent_or_name, absent_or_name, _PARTITIONS
    )
    rows = st.lists(craft_row_events(), min_size=1, max_size=max_rows)
    single = st.one_of(resolved, ddl).map(lambda event: (event,))
    return st.builds(Message, st.one_of(rows.map(tuple), single))


@st.composite
def craft_renderings(draw: st.DrawFn, message: Message) -> bytes:
    """Give bytes that say ``message`` in a form that no encoder writes, and a decoder accepts.

    Varints are longer than needed, and terms are in any order, repeated, or unused.
    """
    return _Rendering(draw, message).render()


class _Rendering:
    """A writer that shares nothing with the codec and takes all freedom that the format leaves."""

    def __init__(self, draw: st.DrawFn, message: Message) -> None:
        self.draw = draw
        self.loose = LooseVarints(draw)
        self.message = message
        self.terms = self._terms()

    def render(self) -> bytes:
        loose = self.loose
        headers = self._headers()
        bodies, groups = [], []
        for event in self.message.events:
            if isinstance(event, RowEvent):
                parts = [self._group(group) for group in event.groups]
                groups.append([len(part) for part in parts])
                bodies.append(b"".join(parts))
            elif isinstance(event, DDLEvent):
                query = event.query.encode()
                bodies.append(loose.uvarints([event.type, len(query)]) + query)
            else:
                bodies.append(b"")
        dictionary = b""
        if self.terms:
            dictionary = loose.uvarint(len(self.terms)) + loose.strings(self.terms)
        sizes = [[len(headers), len(dictionary)], [len(body) for body in bodies], *groups]
        tables = b"".join(loose.uvarint(len(table)) + loose.delta_varints(table) for table in sizes)
        tail = loose.uvarint(len(tables))[::-1]
        return loose.uvarint(1) + headers + b"".join(bodies) + dictionary + tables + tail

    def _terms(self) -> list[str]:
        used: list[str] = []
        for event in self.message.events:
            used += [name for name in (event.schema, event.table) if name is not None]
            if isinstance(event, RowEvent):
                used += [column.name for group in event.groups for column in group.columns]
        terms = list(dict.fromkeys(used))
        terms += self.draw(st.lists(st.sampled_from([*terms, "unused"]), max_size=2))
        return self.draw(st.permutations(terms))

    def _term(self, name: str | None) -> int:
        if name is None:
            return -1
        places = [place for place, term in enumerate(self.terms) if term == name]
        return self.draw(st.sampled_from(places))

    def _headers(self) -> bytes:
        events, loose = self.message.events, self.loose
        partitions = [-1 if event.partition is None else event.partition for event in events]
        return (
            loose.delta_uvarints([event.commit_ts for event in events])
            + loose.uvarints(map(_event_type, events))
            + loose.delta_varints(partitions)
            + loose.delta_varints([self._term(event.schema) for event in events])
            + loose.delta_varints([self._term(event.table) for event in events])
        )

    def _group(self, group: ColumnGroup) -> bytes:
        columns, loose = group.columns, self.loose
        return (
            bytes((group.type,))
            + loose.uvarint(len(columns))
            + loose.delta_varints([self._term(column.name) for column in columns])
            + loose.uvarints([column.type for column in columns])
            + loose.uvarints([column.flags for column in columns])
            + loose.values(columns, float_format="<d")
        )


def _event_type(event: Event) -> int:
    match event:
        case RowEvent():
            return EVENT_ROW
        case DDLEvent():
            return EVENT_DDL
        case ResolvedEvent():
            return EVENT_RESOLVED
