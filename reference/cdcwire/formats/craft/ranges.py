"""The places of a message's parts, for readers that take the rows of many messages at once.

A message is read up to what differs from row to row: the dictionary, and which table each row is
of. Commit timestamps, sizes and the rows themselves are left to the reader, who has to check all of
them. The reader gives a message with anything unusual to ``RowDecoder``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from cdcwire.core.compiled import IRREGULARITIES, Irregular
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.rows import Layout
from cdcwire.formats.craft.fast import HEADER_FIELDS, RowDecoder, read_meanings, read_reversed
from cdcwire.formats.craft.message import EVENT_ROW
from cdcwire.formats.craft.row_memory import Dictionary, Memory, Route, Subjects, TableNames
from cdcwire.formats.craft.row_plan import (
    RowFunction,
    split_varints,
)
from cdcwire.formats.craft.settings import Settings
from cdcwire.formats.craft.wire import VERSION

_MORE = 0x80
_NO_PARTITION = -1
_LEAST_SIZES = 3  # of a row: its body's, and the number and the sizes of its groups

_VARINT = rb"([\x80-\xff]*[\x00-\x7f])"
_ROW = bytes([EVENT_ROW])
# The number of sizes of the message's parts, two of these sizes, and the number of rows.
_match_sizes = re.compile(rb"\x02" + _VARINT * 3).match


class Run(NamedTuple):
    """Adjacent rows of one table and partition."""

    subject: TableNames
    partition: int | None
    rows: int


class Outline(NamedTuple):
    """A message: how many rows it has, their tables, and where its parts begin and end.

    ``timestamps_end``: of the commit timestamps, which begin after the first byte. ``sizes_start``
    to ``sizes_end``: the sizes of the bodies, then for each row the number and sizes of its groups.
    ``first_layout``: that of the first row, None if it is not wanted.
    """

    rows: int
    runs: list[Run]
    timestamps_end: int
    bodies_start: int
    bodies_end: int
    sizes_start: int
    sizes_end: int
    dictionary: Dictionary
    first_layout: Layout | None


class OutlineDecoder(RowDecoder):
    """Finds the parts of messages of the selected tables."""

    def __init__(self, context: Context = NO_CONTEXT, settings: Settings | None = None) -> None:
        super().__init__(context, settings)
        self._memory = _OutlineMemory(self.selection, self.settings.time_zone)

    def outline(self, value: bytes) -> Outline | None:
        """Return where the parts of a Kafka value are; None where it is not as usual, or damaged.

        A message without a row that is wanted is checked as a whole.
        """
        try:
            found = self._outline(value)
            if not any(run.subject.is_wanted for run in found.runs):
                self._usual_rows(value)
        except IRREGULARITIES:
            return None
        return found

    def route(
        self, value: bytes, start: int, end: int, dictionary: Dictionary, subject: TableNames
    ) -> Route:
        """Return how a group is read. Raises: one of IRREGULARITIES."""
        return self._memory.route(value, start, end, dictionary, subject)

    def _outline(self, value: bytes) -> Outline:
        memory = self._memory
        memory.credit.earn(len(value))
        if value[0] != VERSION:
            raise Irregular
        sizes_end = len(value) - 1
        sizes_size = value[sizes_end]
        if sizes_size >= _MORE:
            sizes_size, sizes_end = read_reversed(value, sizes_end)
        start = sizes_end - sizes_size
        if start < 1 or value[sizes_end - 1] >= _MORE:
            raise Irregular
        head = _match_sizes(value, start, sizes_end)
        if head is None:
            raise Irregular
        headers_raw, dictionary_raw, count_raw = head.groups()
        headers_size = memory.signed[headers_raw]
        dictionary_size = headers_size + memory.signed[dictionary_raw]
        rows = memory.unsigned[count_raw]
        bodies_start = 1 + headers_size
        bodies_end = start - dictionary_size
        sizes_start = head.end()
        if (
            rows == 0
            or headers_size < HEADER_FIELDS * rows
            or dictionary_size < 0
            or bodies_end < bodies_start
            or sizes_end - sizes_start < _LEAST_SIZES * rows
        ):
            raise Irregular
        dictionary = memory.dictionary(value[bodies_end:start])
        runs, timestamps_end = _read_headers(value, bodies_start, rows, dictionary, memory)
        subject, layout = runs[0].subject, None
        if subject.is_wanted:
            layout = memory.route(value, bodies_start, bodies_end, dictionary, subject).layout
        borders = (timestamps_end, bodies_start, bodies_end, sizes_start, sizes_end)
        return Outline(rows, runs, *borders, dictionary, layout)


def _read_headers(
    value: bytes, end: int, rows: int, dictionary: Dictionary, memory: Memory
) -> tuple[list[Run], int]:
    """Return the tables and partitions of the rows, and where the commit timestamps end."""
    start = end - (HEADER_FIELDS - 1) * rows
    fields = value[start:end]
    if not fields.isascii() or value[start - 1] >= _MORE:
        numbers = split_varints(value, 1, end)
        if value[end - 1] >= _MORE or len(numbers) != HEADER_FIELDS * rows:
            raise Irregular
        unsigned = memory.unsigned.__getitem__
        known = read_meanings(list(map(unsigned, numbers[rows:])), rows, dictionary, memory)
        return _runs(*known), 1 + sum(map(len, numbers[:rows]))
    same = bytes(rows - 1)  # differences from row to row
    firsts = fields[rows : 2 * rows], fields[2 * rows : 3 * rows], fields[3 * rows :]
    if fields[:rows] == _ROW * rows and all(first[1:] == same for first in firsts):
        partition, schema, table = ((first[0] >> 1) ^ -(first[0] & 1) for first in firsts)
        subject = memory.subject(dictionary, schema, table)
        return [Run(subject, None if partition == _NO_PARTITION else partition, rows)], start
    known_before = dictionary.headers.get(fields)
    if known_before is None:
        known_before = read_meanings(fields, rows, dictionary, memory)
        memory.keep_headers(dictionary, fields, known_before)
    return _runs(*known_before), start


def _runs(subjects: Subjects, partitions: Sequence[int | None]) -> list[Run]:
    return [
        Run(*key, sum(1 for _ in same))
        for key, same in groupby(zip(subjects, partitions, strict=True))
    ]


class _OutlineMemory(Memory):
    """A memory whose row functions return the place where they had to read."""

    def _function(self, forms: bytes) -> RowFunction:
        return _range


def _range(value: bytes, start: int, end: int) -> tuple[int, int]:
    return start, end
