"""The places of the rows of a side in its feed, as arrays of numbers, and the eras of the feed.

The order of a feed is known within its parts: a partition of a topic, a file, a table's partition
in a storage prefix. An era of a part ends where a position is smaller than the one before it, and
with each file of a prefix. A row that comes again in a later era was sent again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cdcwire_conformance.compare.embedded.changes import nulls_first
from cdcwire_conformance.compare.narrow.digests import Numbers

NOWHERE = int(np.iinfo(np.int64).min)
"""In place of a number that a row does not have; it comes before all others."""

Stream: TypeAlias = "tuple[str | None, int | None, str | None]"
"""Topic, partition and file of a message. In a prefix, the partition is the number of the file."""
Part: TypeAlias = "tuple[Any, ...]"
Era: TypeAlias = "tuple[Any, ...]"

PLACE_COLUMNS = ("source", "sequence_id", "partition")
"""The columns of a decoded batch that say where its rows are."""

_BITS_OF_RECORD = 40  # of the number of a row in a prefix, below the number of its file
_DISPATCHER = re.compile(r"/CDC_([^/]+)_\d+\.[^/]+$")


def part_of(stream: Stream, table_partition: int | None) -> Part | None:
    """Return the part of a feed that a stream is in, None where no order is known.

    A prefix has a part for each partition of a table and each dispatcher.
    """
    topic, partition, file = stream
    if topic is None and partition is not None and file is not None:
        dispatcher = _DISPATCHER.search(file)
        return "prefix", table_partition, dispatcher[1] if dispatcher else ""
    if topic is not None and partition is None:
        return None
    return ("file", file) if topic is None and file is not None else (topic, partition)


def place_in_part(part: Part, stream: Stream, offset: int | None) -> int:
    """Return where in its part a row is."""
    if part[0] != "prefix":
        return offset or 0
    return ((stream[1] or 0) << _BITS_OF_RECORD) + (offset or 0)


def numbers_in_order(values: Sequence[pa.Array]) -> Numbers:
    """Return numbers with the order of values of one column; ``NOWHERE`` for NULL."""
    if not values:
        return np.empty(0, np.int64)
    column = pa.chunked_array(values)
    if not pa.types.is_string(column.type):
        try:
            numbers = column.cast(pa.int64())
            return np.asarray(pc.fill_null(numbers, NOWHERE).to_numpy(), np.int64)
        except pa.ArrowInvalid:  # beyond 64 bits
            pass
    ranks = pc.rank(column, tiebreaker="dense")
    known = column.is_valid().to_numpy()
    return np.where(known, np.asarray(ranks.to_numpy(), np.int64), NOWHERE)


@dataclass(frozen=True, slots=True)
class Places:
    """The places of the rows of a side. The arrays have an entry for each row.

    ``streams``: in their order. ``file_numbers``: of each stream, that of a file in a prefix.
    ``stream``: the number of a row's stream.
    """

    streams: Sequence[Stream]
    file_numbers: Numbers
    stream: Numbers
    offset: Numbers
    line: Numbers
    row: Numbers
    sequence: Numbers
    table_partition: Numbers

    @property
    def have_order(self) -> bool:
        """Return whether the order of any row in its part of the feed is known."""
        return bool((self.offset != NOWHERE).any() or (self.file_numbers != NOWHERE).any())

    def goes_back(self, before: Numbers, after: Numbers) -> Numbers:
        """Return which rows ``after`` do not come after the rows ``before``, for sure."""
        same = self.stream[after] == self.stream[before]
        back = self.stream[after] < self.stream[before]
        for column in (self.offset, self.line):
            back |= same & (column[after] < column[before])
            same &= column[after] == column[before]
        is_other = self.stream[after] != self.stream[before]
        files, earlier = (self.file_numbers[self.stream[each]] for each in (after, before))
        back |= is_other & (files == earlier) & (files != NOWHERE)
        return back | (self.sequence[after] < self.sequence[before])


class PlacesBuilder:
    """Collects the places of batches."""

    def __init__(self) -> None:
        self._streams: dict[Stream, int] = {}
        self._numbers: dict[str, list[Numbers]] = {
            name: [] for name in ("stream", "offset", "line", "row", "table_partition")
        }
        self._sequences: list[pa.Array] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the rows of a batch."""
        source = batch.column("source")
        known = dict(zip(source.type.names, source.flatten(), strict=True))
        self._sequences.append(batch.column("sequence_id"))
        for name, values in (
            ("stream", self._streams_of(known)),
            ("offset", _integers(known["offset"])),
            ("line", _integers(known["line"])),
            ("row", _integers(known.get("row", pa.nulls(len(source), pa.int64())))),
            ("table_partition", _integers(batch.column("partition"))),
        ):
            self._numbers[name].append(values)

    def places(self) -> Places:
        """Return the places of all rows."""
        found = {name: _compact(_concatenated(each)) for name, each in self._numbers.items()}
        streams = sorted(self._streams, key=lambda each: tuple(map(nulls_first, each)))
        ranks = np.empty(len(streams), np.int64)
        ranks[[self._streams[each] for each in streams]] = np.arange(len(streams))
        files = np.array([_file_number(each) for each in streams], np.int64)
        stream = _compact(ranks[found.pop("stream")])
        sequence = _compact(numbers_in_order(self._sequences))
        return Places(streams, files, stream, sequence=sequence, **found)

    def _streams_of(self, source: Mapping[str, pa.Array]) -> Numbers:
        """Return the number of each row's stream, in the order in which they were met."""
        topics, files = (_coded(source[name]) for name in ("topic", "file"))
        kinds, partitions = np.unique(_integers(source["partition"]), return_inverse=True)
        codes = topics * (int(files.max(initial=0)) + 1) + files
        codes = codes * len(kinds) + partitions.reshape(-1)
        _, firsts, inverse = np.unique(codes, return_index=True, return_inverse=True)
        numbers = np.empty(len(firsts), np.int64)
        for number, first in enumerate(firsts.tolist()):
            topic, partition, file = (
                source[name][first].as_py() for name in ("topic", "partition", "file")
            )
            numbers[number] = self._streams.setdefault((topic, partition, file), len(self._streams))
        found: Numbers = numbers[inverse.reshape(-1)]
        return found


@dataclass(frozen=True, slots=True)
class Eras:
    """The eras of a side.

    ``backs``: for each part the rows where positions go back, in order. These are their places in
    the part, and their numbers among the rows of a message.
    """

    backs: Mapping[Part, tuple[Numbers, Numbers]]

    def with_parts(self, other: Eras) -> Eras:
        """Return the eras of more parts of the side."""
        return Eras({**self.backs, **other.backs})

    def of(self, part: Part, place: int, row: int | None) -> Era:
        """Return the era of a row. ``place``: of ``place_in_part``. ``row``: in its message."""
        file = place >> _BITS_OF_RECORD if _is_prefix(part) else 0
        if part not in self.backs:
            return part, file
        places, numbers = self.backs[part]
        start, end = np.searchsorted(places, [place, place + 1]).tolist()
        number = NOWHERE if row is None else row
        return part, file + start + int(np.searchsorted(numbers[start:end], number, "right"))


def parts_of(places: Places) -> tuple[list[Part | None], Numbers]:
    """Return the parts of a feed that its rows are in, and the number of each row's part."""
    # Rows of one stream and partition of a table are of one kind.
    partitions, partition = _groups_of(places.table_partition)
    firsts, group = _groups_of(_compact(places.stream * len(partitions) + partition))
    streams, own = places.stream[firsts].tolist(), places.table_partition[firsts].tolist()
    kinds = [
        part_of(places.streams[stream], None if partition == NOWHERE else partition)
        for stream, partition in zip(streams, own, strict=True)
    ]
    parts = list(dict.fromkeys(kinds))
    numbers = np.array([parts.index(each) for each in kinds], np.int64)
    found: Numbers = numbers[group]
    return parts, found


def _groups_of(numbers: Numbers) -> tuple[Numbers, Numbers]:
    """Return the first place of each distinct number, and the group of each number."""
    if len(numbers) and not numbers.strides[0]:  # one for all
        return np.zeros(1, np.int64), np.broadcast_to(np.int64(0), numbers.shape)
    _, firsts, groups = np.unique(numbers, return_index=True, return_inverse=True)
    return firsts, groups.reshape(-1)


def ordered_parts_of(places: Places) -> tuple[list[Part | None], Numbers]:
    """Return what ``parts_of`` does, with ``NOWHERE`` for rows whose order is not known."""
    parts, part = parts_of(places)
    has_order = ~np.isin(part, [number for number, each in enumerate(parts) if each is None])
    has_order &= _in_prefix(parts, part) | (places.offset != NOWHERE)
    return parts, np.where(has_order, part, NOWHERE)


def _in_prefix(parts: Sequence[Part | None], part: Numbers) -> Numbers:
    return np.isin(part, [number for number, each in enumerate(parts) if _is_prefix(each)])


def eras_of(places: Places, position: Numbers) -> Eras:
    """Return the eras of a side. ``position``: of each row, as in ``NarrowRows``."""
    parts, part = ordered_parts_of(places)
    in_prefix = _in_prefix(parts, part)
    offsets = np.where(places.offset == NOWHERE, 0, places.offset)
    files = np.where(in_prefix, places.file_numbers[places.stream], 0)
    place = offsets + (files << _BITS_OF_RECORD)
    order = np.lexsort((places.row, place, part))
    order = order[part[order] != NOWHERE]
    back = order[_goes_back(position[order], part[order])]
    return Eras(
        {
            each: (place[own], places.row[own])
            for number, each in enumerate(parts)
            if each is not None and len(own := back[part[back] == number])
        }
    )


def _is_prefix(part: Part | None) -> bool:
    return part is not None and part[0] == "prefix"


def _file_number(stream: Stream) -> int:
    return (stream[1] or 0) if _is_prefix(part_of(stream, None)) else NOWHERE


def last_known(values: Numbers, starts: Numbers) -> Numbers:
    """Return for each value the last one up to it that is not ``NOWHERE``, within its group.

    ``starts``: for each value the place of the first of its group.
    """
    places = np.where(values == NOWHERE, -1, np.arange(len(values)))
    last = np.maximum.accumulate(places) if len(places) else places
    return np.where(last >= starts, values[np.maximum(last, 0)], NOWHERE)


def starts_of(groups: Numbers) -> Numbers:
    """Return for each value the place of the first of its run of equal values."""
    is_first = np.ones(len(groups), bool)
    is_first[1:] = groups[1:] != groups[:-1]
    places = np.where(is_first, np.arange(len(groups)), 0)
    return np.maximum.accumulate(places) if len(places) else places


def _goes_back(position: Numbers, parts: Numbers) -> Numbers:
    """Return for each row whether its position is smaller than the last one of its part."""
    starts = starts_of(parts)
    before = np.full(len(position), NOWHERE)
    before[1:] = last_known(position, starts)[:-1]
    before[starts == np.arange(len(starts))] = NOWHERE
    back: Numbers = (position != NOWHERE) & (before != NOWHERE) & (position < before)
    return back


def _coded(values: pa.Array) -> Numbers:
    coded = values.dictionary_encode(null_encoding="encode")
    return np.asarray(coded.indices.to_numpy(), np.int64)


def _integers(values: pa.Array) -> Numbers:
    return np.asarray(pc.fill_null(values.cast(pa.int64()), NOWHERE).to_numpy(), np.int64)


def _compact(numbers: Numbers) -> Numbers:
    """Return an array in which one number for all rows takes no memory."""
    if len(numbers) and (numbers == numbers[0]).all():
        return np.broadcast_to(numbers[0], numbers.shape)
    return numbers


def _concatenated(arrays: Sequence[Numbers]) -> Numbers:
    return np.concatenate(arrays) if arrays else np.empty(0, np.int64)
