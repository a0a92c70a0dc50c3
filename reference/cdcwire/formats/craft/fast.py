"""The fast decoder: Craft messages to typed rows, with the plain decoder as the fallback.

It accepts and rejects exactly what ``decode`` does, by construction. Unusual input, damaged or just
rare, is given to the plain decoder, which finds the error or the rows. So the fast way defines no
errors. Usual are rows in the way that TiCDC writes them.

It is fast because layouts repeat: see ``row_memory`` for what is remembered between messages, and
``row_plan`` for how the values of a row are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeAlias

from cdcwire.core.compiled import FastDecoder, Irregular
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.limits import INT64_END, INT64_START
from cdcwire.core.message import Message
from cdcwire.core.reader import Reader
from cdcwire.core.rows import Layout, Row, Values, new_rows
from cdcwire.formats.craft.events import events_of
from cdcwire.formats.craft.images import handle_key
from cdcwire.formats.craft.message import (
    EVENT_ROW,
    GROUP_NEW,
    GROUP_OLD,
    Column,
    RowEvent,
    Skipped,
)
from cdcwire.formats.craft.message import Message as CraftMessage
from cdcwire.formats.craft.profile import CRAFT, present
from cdcwire.formats.craft.row_memory import Dictionary, Memory, Subjects
from cdcwire.formats.craft.row_plan import (
    read_uvarint,
    split_varints,
)
from cdcwire.formats.craft.settings import Settings, read_settings
from cdcwire.formats.craft.wire import VERSION, read_message
from cdcwire.model.events import Event, Sent, Table
from cdcwire.mysql.layouts import row_value

_MORE = 0x80
_UINT64_MASK = (1 << 64) - 1
_NO_PARTITION = -1
HEADER_FIELDS = 5
_META = b"\2"  # number of elements of the first size table
_ONE, _TWO = -1, 1  # 1 and 2 as they look when they are taken for signed numbers

Sizes: TypeAlias = "tuple[int, int, list[int], list[int]]"


class RowDecoder(FastDecoder):
    """Decodes Kafka values. Tables and columns that are not selected are skipped, undecoded.

    ``settings``: those of the context's options, unless given.
    """

    def __init__(self, context: Context = NO_CONTEXT, settings: Settings | None = None) -> None:
        self.selection = context.selection
        self.settings = read_settings(context) if settings is None else settings
        self._memory = Memory(self.selection, self.settings.time_zone)
        is_cut = self.settings.delete_only_handle_key
        self._sent_of_delete: Sent | None = "key" if is_cut else None

    def _usual(self, message: Message) -> list[Row]:
        value = message.value
        if value is None:
            raise Irregular
        return self._usual_rows(value)

    def _usual_rows(self, value: bytes) -> list[Row]:
        """Return the rows of a regular message. Raises: one of IRREGULARITIES."""
        memory = self._memory
        memory.credit.earn(len(value))
        if value[0] != VERSION:
            raise Irregular
        bodies_start, tables_start, body_sizes, first_sizes = _read_sizes(value, memory)
        dictionary = memory.dictionary(value[bodies_start + sum(body_sizes) : tables_start])
        timestamps, subjects, partitions = _read_headers(
            value, bodies_start, len(body_sizes), dictionary, memory
        )
        sent = self._sent_of_delete
        rows: list[tuple[object, ...]] = []
        append, startswith = rows.append, value.startswith
        end = bodies_start
        for commit_ts, subject, partition, size, first_size in zip(
            timestamps, subjects, partitions, body_sizes, first_sizes, strict=True
        ):
            start = end
            end = start + size
            if not subject.is_wanted:
                continue
            if first_size == size:
                route = subject.new
                if not startswith(route.run, start):
                    route = subject.old
                    if not startswith(route.run, start):
                        route = memory.route(value, start, end, dictionary, subject)
                image = route.read(value, start + route.size, end)
                # The rows are written out: joining tuples takes longer.
                if route.is_new:
                    row: tuple[object, ...] = (
                        route.table,
                        "insert",
                        commit_ts,
                        partition,
                        route.layout,
                        image,
                        None,
                        None,
                        None,
                        None,
                        None,
                        None,
                        None,
                        None,
                    )
                else:
                    row = (
                        route.table,
                        "delete",
                        commit_ts,
                        partition,
                        None,
                        None,
                        route.layout,
                        image,
                        sent,
                        None,
                        None,
                        None,
                        None,
                        None,
                    )
            else:
                middle = start + first_size
                new = subject.new
                if not startswith(new.run, start):
                    new = memory.route(value, start, middle, dictionary, subject)
                old = subject.old
                if not startswith(old.run, middle):
                    old = memory.route(value, middle, end, dictionary, subject)
                if old.is_new or not new.is_new:
                    raise Irregular
                row = (
                    new.table,
                    "update",
                    commit_ts,
                    partition,
                    new.layout,
                    new.read(value, start + new.size, middle),
                    old.layout,
                    old.read(value, middle + old.size, end),
                    None,
                    None,
                    None,
                    None,
                    None,
                    None,
                )
            append(row)
        return new_rows(rows)

    def _plain(self, message: Message) -> list[Row | Event]:
        found: list[Row | Event] = []
        for event in read_message(Reader(present(message.value, CRAFT)), self.selection).events:
            if isinstance(event, RowEvent):
                found.append(self._plain_row(event))
            else:
                found += events_of(CraftMessage((event,)), self.settings)
        return found

    def _plain_row(self, event: RowEvent) -> Row:
        groups = {group.type: group.columns for group in event.groups}
        new, old = groups.get(GROUP_NEW), groups.get(GROUP_OLD)
        return Row(
            Table(event.table, event.schema, key=handle_key(new or old or ())),
            "delete" if new is None else "insert" if old is None else "update",
            event.commit_ts,
            event.partition,
            *self._image(new),
            *self._image(old),
            self._sent_of_delete if new is None else None,
        )

    def _image(self, columns: tuple[Column, ...] | None) -> tuple[Layout | None, Values | None]:
        if columns is None:
            return None, None
        described = []
        values = []
        for column in columns:
            if not isinstance(column.value, Skipped):
                described.append((column.name, column.type, column.flags))
                values.append(row_value(column.value, column.type, column.flags))
        return self._memory.layouts.of(tuple(described)), tuple(values)


def _read_sizes(value: bytes, memory: Memory) -> Sizes:
    """Return where the bodies and the size tables start, the sizes of bodies and first groups.

    Everything in the tables is compared with everything else: they say nothing twice that differs.
    """
    tables_end = len(value) - 1
    tables_size = value[tables_end]
    if tables_size >= _MORE:
        tables_size, tables_end = read_reversed(value, tables_end)
    tables_start = tables_end - tables_size
    if tables_start < 1 or value[tables_end - 1] >= _MORE:
        raise Irregular
    raw = split_varints(value, tables_start, tables_end)
    count = memory.unsigned[raw[3]]
    numbers = list(map(memory.signed.__getitem__, raw))
    headers_size = numbers[1]
    dictionary_size = headers_size + numbers[2]
    bodies = list(accumulate(numbers[4 : 4 + count]))
    if (
        raw[0] != _META
        or count == 0
        or len(bodies) != count
        or min(bodies) < 0
        or headers_size < HEADER_FIELDS * count
        or dictionary_size < 0
        or 1 + headers_size + sum(bodies) + dictionary_size != tables_start
    ):
        raise Irregular
    groups = numbers[4 + count :]
    if groups[1::2] == bodies and groups[::2] == [_ONE] * count:
        return 1 + headers_size, tables_start, bodies, bodies
    return 1 + headers_size, tables_start, bodies, _first_sizes(bodies, groups)


def read_reversed(value: bytes, last: int) -> tuple[int, int]:
    """Return the reversed uvarint of several bytes that ends at ``last``, and where it starts."""
    number = value[last] & 0x7F
    for shift in range(7, 64, 7):
        last -= 1
        number |= (value[last] & 0x7F) << shift
        if value[last] < _MORE:
            return number, last
    raise Irregular


def _first_sizes(bodies: list[int], numbers: list[int]) -> list[int]:
    """Return the size of the first group of each row; a row has one group, or two."""
    found = []
    position = 0
    for size in bodies:
        first = numbers[position + 1]
        if numbers[position] == _ONE:
            if first != size:
                raise Irregular
            position += 2
        else:
            second = first + numbers[position + 2]
            is_two = numbers[position] == _TWO
            if not is_two or first <= 0 or second <= 0 or first + second != size:
                raise Irregular
            position += 3
        found.append(first)
    if position != len(numbers):
        raise Irregular
    return found


def _read_headers(
    value: bytes, end: int, count: int, dictionary: Dictionary, memory: Memory
) -> tuple[list[int], Subjects, Sequence[int | None]]:
    """Return commit timestamps, tables and partitions of the rows."""
    unsigned = memory.unsigned.__getitem__
    start = end - (HEADER_FIELDS - 1) * count
    fields = value[start:end]
    if fields.isascii() and value[start - 1] < _MORE:
        # The fields after the timestamps are the same in message after message.
        known = dictionary.headers.get(fields)
        if known is None:
            known = read_meanings(fields, count, dictionary, memory)
            memory.keep_headers(dictionary, fields, known)
        differences = split_varints(value, 1, start)
    else:
        numbers = split_varints(value, 1, end)
        if value[end - 1] >= _MORE or len(numbers) != HEADER_FIELDS * count:
            raise Irregular
        known = read_meanings(list(map(unsigned, numbers[count:])), count, dictionary, memory)
        differences = numbers[:count]
    if len(differences) != count:
        raise Irregular
    first = read_uvarint(differences[0])
    timestamps = list(accumulate(map(unsigned, differences[1:]), initial=first))
    if timestamps[-1] > _UINT64_MASK:
        timestamps = [each & _UINT64_MASK for each in timestamps]
    return timestamps, *known


def read_meanings(
    numbers: Sequence[int], count: int, dictionary: Dictionary, memory: Memory
) -> tuple[Subjects, Sequence[int | None]]:
    """Return the tables and partitions of rows from the four arrays after the timestamps."""
    if any(kind != EVENT_ROW for kind in numbers[:count]):
        raise Irregular
    signed = [(number >> 1) ^ -(number & 1) for number in numbers]
    partitions, schemas, tables = (
        list(accumulate(signed[start : start + count])) for start in range(count, 4 * count, count)
    )
    if min(partitions) < INT64_START or max(partitions) >= INT64_END:
        raise Irregular
    return (
        [memory.subject(dictionary, *terms) for terms in zip(schemas, tables, strict=True)],
        [None if each == _NO_PARTITION else each for each in partitions],
    )
