"""The rows of many Craft messages, found all at once, with the places of their groups of columns.

Sizes and commit timestamps of all messages are read as one array. This module checks what the fast
decoder checks; any doubt raises Irregular.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cdcwire.arrow.column_decoders import Irregular
from cdcwire.core.compiled import IRREGULARITIES
from cdcwire.core.rows import Layout
from cdcwire.formats.craft.message import GROUP_NEW, GROUP_OLD
from cdcwire.formats.craft.ranges import Outline, OutlineDecoder
from cdcwire.formats.craft.row_memory import Route
from cdcwire_conformance.formats.craft.arrow_buffer import (
    Buffer,
    Numbers,
    Varints,
    running_sums,
    within,
    zigzag,
)

_MAX_SIZE = 1 << 28  # as zigzag; of a body or a group
_MAX_MORE_PASSES = 64  # over rows of one table, dictionary and kind that have other columns


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of one side: their rows, the beginning of lengths, the end of values, the layouts.

    ``layouts``: the different ones; ``which``: the index there of each group.
    """

    rows: Numbers
    starts: Numbers
    ends: Numbers
    layouts: tuple[Layout, ...]
    which: Numbers


@dataclass(frozen=True, slots=True)
class Frames:
    """The wanted rows of messages. ``counts``: how many of them each message has.

    ``partitions``: those of the rows, None where no row has one.
    """

    buffer: Buffer
    rows: int
    counts: Numbers
    timestamps: Numbers
    partitions: list[int | None] | None
    new: Groups
    old: Groups


@dataclass(frozen=True, slots=True)
class _Bodies:
    """The bodies of rows; ``first_sizes``: those of their first groups."""

    starts: Numbers
    sizes: Numbers
    first_sizes: Numbers


def read_frames(
    values: Sequence[bytes], outlines: Sequence[Outline], decoder: OutlineDecoder
) -> Frames:
    """Return the places of the rows of messages. Raises: Irregular."""
    try:
        return _read_frames(values, outlines, decoder)
    except (*IRREGULARITIES, KeyError) as error:
        raise Irregular from error


def _read_frames(
    values: Sequence[bytes], outlines: Sequence[Outline], decoder: OutlineDecoder
) -> Frames:
    buffer = Buffer(values)
    counts = np.array([outline.rows for outline in outlines])
    bases = np.cumsum([0, *map(len, values)])[:-1]
    timestamps = _timestamps(values, outlines, counts)
    bodies = _bodies(values, outlines, counts, bases)
    runs = [run for outline in outlines for run in outline.runs]
    runs_rows = np.array([run.rows for run in runs])
    subjects = list(dict.fromkeys(run.subject for run in runs))
    numbers = {subject: number for number, subject in enumerate(subjects)}
    of_subjects = np.repeat([numbers[run.subject] for run in runs], runs_rows)
    is_wanted = [subject.is_wanted for subject in subjects]
    partitions: list[int | None] | None = None
    if any(run.partition is not None for run in runs):
        partitions = [run.partition for run in runs for _ in range(run.rows)]
    messages = np.repeat(np.arange(len(outlines)), counts)
    if not all(is_wanted):
        own = np.flatnonzero(np.array(is_wanted)[of_subjects])
        timestamps, of_subjects, messages = timestamps[own], of_subjects[own], messages[own]
        bodies = _Bodies(bodies.starts[own], bodies.sizes[own], bodies.first_sizes[own])
        if partitions is not None:
            partitions = [partitions[row] for row in own.tolist()]
        counts = np.bincount(messages, minlength=len(outlines))

    def route_of(subject: int, row: int, start: int, end: int) -> Route:
        dictionary = outlines[messages[row]].dictionary
        return decoder.route(buffer.data, start, end, dictionary, subjects[subject])

    new, old = _groups(buffer, bodies, of_subjects, route_of)
    return Frames(buffer, len(timestamps), counts, timestamps, partitions, new, old)


def _timestamps(values: Sequence[bytes], outlines: Sequence[Outline], counts: Numbers) -> Numbers:
    parts = [
        value[1 : outline.timestamps_end] for value, outline in zip(values, outlines, strict=True)
    ]
    numbers = Varints(parts)
    if not np.array_equal(numbers.counts, counts):
        raise Irregular
    return running_sums(numbers.values, counts)  # which wrap at 64 bits, as they should


def _bodies(
    values: Sequence[bytes], outlines: Sequence[Outline], counts: Numbers, bases: Numbers
) -> _Bodies:
    """Return the places of the rows. The tables of sizes say nothing twice that differs."""
    numbers = Varints(
        [
            value[outline.sizes_start : outline.sizes_end]
            for value, outline in zip(values, outlines, strict=True)
        ]
    )
    if (numbers.values >= _MAX_SIZE).any() or (numbers.counts < 3 * counts).any():
        raise Irregular
    signed = zigzag(numbers.values)
    sizes = running_sums(signed[np.repeat(numbers.firsts, counts) + within(counts)], counts)
    bodies_starts = bases + np.array([outline.bodies_start for outline in outlines])
    bodies_ends = bases + np.array([outline.bodies_end for outline in outlines])
    ends = running_sums(sizes, counts) + np.repeat(bodies_starts, counts)
    if (sizes < 0).any() or not np.array_equal(ends[np.cumsum(counts) - 1], bodies_ends):
        raise Irregular
    groups = _group_tables(numbers, counts)
    first_sizes = signed[groups + 1]
    is_two = numbers.values[groups] == 2
    second_sizes = np.zeros_like(sizes)
    second_sizes[is_two] = first_sizes[is_two] + signed[groups[is_two] + 2]
    is_right = (first_sizes > 0) & ((second_sizes > 0) == is_two)
    is_right &= is_two | (numbers.values[groups] == 1)
    if not is_right.all() or (first_sizes + second_sizes != sizes).any():
        raise Irregular
    return _Bodies(ends - sizes, sizes, first_sizes)


def _group_tables(numbers: Varints, counts: Numbers) -> Numbers:
    """Return where the numbers and sizes of each row's groups begin. Raises: Irregular."""
    starts = numbers.firsts + counts
    if np.array_equal(numbers.counts, 3 * counts):
        places: Numbers = np.repeat(starts, counts) + 2 * within(counts)
        if (numbers.values[places] != 1).any():
            raise Irregular
        return places
    values = numbers.values.tolist()
    ends = (numbers.firsts + numbers.counts).tolist()
    found = []
    for position, rows, end in zip(starts.tolist(), counts.tolist(), ends, strict=True):
        for _ in range(rows):
            found.append(position)
            position += 1 + values[position]
        if position != end:
            raise Irregular
    return np.array(found)


def _groups(
    buffer: Buffer,
    bodies: _Bodies,
    of_subjects: Numbers,
    route_of: Callable[[int, int, int, int], Route],
) -> tuple[Groups, Groups]:
    """Return the groups of new and of old values."""
    middles = bodies.starts + bodies.first_sizes
    two = np.flatnonzero(bodies.first_sizes != bodies.sizes)
    starts = np.concatenate([bodies.starts, middles[two]])
    ends = np.concatenate([middles, (bodies.starts + bodies.sizes)[two]])
    rows = np.concatenate([np.arange(len(bodies.starts)), two])
    kinds = buffer.raw[starts]
    is_old = kinds == GROUP_OLD
    seconds = is_old[len(bodies.starts) :]
    if not (is_old | (kinds == GROUP_NEW)).all() or not seconds.all() or is_old[two].any():
        raise Irregular
    of_rows = of_subjects[rows]
    cells = of_rows * 2 + is_old
    order = np.argsort(cells, kind="stable")
    layouts: dict[int, tuple[int, Layout]] = {}
    which = np.empty(len(cells), np.int64)
    begins = np.empty(len(cells), np.int64)
    passes = 0
    for cell in np.split(order, np.flatnonzero(np.diff(cells[order])) + 1):
        left = cell
        while len(left):
            first = left[0]
            route = route_of(*(int(each[first]) for each in (of_rows, rows, starts, ends)))
            run = np.frombuffer(route.run, np.uint8)
            is_same = (buffer.pieces(starts[left], route.size) == run).all(axis=1)
            own = left if is_same.all() else left[is_same]
            begins[own] = starts[own] + route.size
            which[own], _ = layouts.setdefault(id(route.layout), (len(layouts), route.layout))
            left = left[:0] if own is left else left[~is_same]
            passes += bool(len(left))
            if passes > _MAX_MORE_PASSES:
                raise Irregular
    known = tuple(layout for _, layout in layouts.values())
    sides = []
    for own in (np.flatnonzero(~is_old), np.flatnonzero(is_old)):
        if len(two):
            own = own[np.argsort(rows[own], kind="stable")]
        sides.append(Groups(rows[own], begins[own], ends[own], known, which[own]))
    new, old = sides
    return new, old
