"""Data files of CSV to record batches, by columns: the fast way of ``csv_blocks``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cdcwire.arrow.batches import SIDES, BatchBuilder
from cdcwire.arrow.building import ConversionError, Numbers
from cdcwire.arrow.column_decoders import Irregular, Places, Takes
from cdcwire.arrow.types import UNSIGNED_64
from cdcwire.core.context import EVERYTHING
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import StoredFile
from cdcwire.formats.csv.settings import Settings
from cdcwire.formats.csv.tables import Definitions, FilePlan, file_plan, stored_columns
from cdcwire.storage.paths import DataPath
from cdcwire_conformance.formats.csv.arrow_blocks import Block, BlockReader, can_read
from cdcwire_conformance.formats.csv.arrow_values import Convert, converter_of

_CODES = pa.array([b"D", b"I", b"U"], pa.binary())
_DELETE, _INSERT, _UPDATE = range(3)
_MOST_HIDDEN = 2  # the part of a batch's images that may be hidden
_OPS = pa.array(["delete", "insert", "update"], pa.string())


@dataclass(frozen=True, slots=True)
class _Version:
    plan: FilePlan
    reader: BlockReader
    converters: tuple[Convert, ...]


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes of a block. ``numbers``: those of their records in the file.

    ``before`` and ``after``: the record of the block that has the image, -1 for none.
    """

    ops: Numbers
    numbers: Numbers
    before: Numbers
    after: Numbers
    commit_ts: Numbers | None


class CsvColumns:
    """Reads the files of tables by blocks. Keep one: it remembers the tables' versions."""

    def __init__(self, definitions: Definitions, settings: Settings) -> None:
        self.definitions = definitions
        self.settings = settings
        self._versions: dict[tuple[str, str, int], _Version | None] = {}

    def version_of(self, place: DataPath) -> _Version:
        """Return how the files of a table's version are read. Raises: Irregular."""
        name = place.schema, place.table, place.version
        if name not in self._versions:
            self._versions[name] = self._made(place)
        found = self._versions[name]
        if found is None:
            raise Irregular
        return found

    def _made(self, place: DataPath) -> _Version | None:
        if not place.schema:
            return None
        try:
            table = self.definitions.choose(place.schema, place.table, place.version)
            names = tuple(column.name for column in stored_columns(table))
            plan = file_plan(table, names, self.settings, EVERYTHING)
        except DecodeError:
            return None
        if not can_read(self.settings, plan.codecs):
            return None
        converters = tuple(converter_of(codec) for codec in plan.codecs if codec is not None)
        return _Version(plan, BlockReader(plan, self.settings), converters)

    def commit_ts(self, file: StoredFile, path: DataPath) -> Iterator[tuple[Numbers | None, int]]:
        """Yield the commit-ts of a file's rows, and their number. Raises: Irregular."""
        first = 0
        for block in self.version_of(path).reader.blocks(file.value):
            changes = changes_of(block, first)
            yield changes.commit_ts, len(changes.ops)
            first += block.rows

    def batches(
        self,
        builder: BatchBuilder,
        file: StoredFile,
        path: DataPath,
        takes: Takes,
        places: Places,
    ) -> Iterator[tuple[pa.RecordBatch | None, int]]:
        """Yield batches of a file, each with the number of records that were read up to its end.

        Raises: Irregular, after the batches before the irregular record.
        """
        first = 0
        for block in self.version_of(path).reader.blocks(file.value):
            changes = changes_of(block, first)
            try:
                batch = self._batch(builder, block, changes, path, takes, places)
            except ConversionError as error:
                raise Irregular from error
            first += block.rows
            yield batch, first

    def _batch(
        self,
        builder: BatchBuilder,
        block: Block,
        changes: Changes,
        place: DataPath,
        takes: Takes,
        places: Places,
    ) -> pa.RecordBatch | None:
        images, version = builder.images, self.version_of(place)
        plan = images.plan(version.plan.columns)
        if all(step is None for step in plan.steps):
            raise Irregular

        def column(index: int) -> pa.Array:
            return version.converters[index](block.cells[index])

        # An error is found again record by record, where its side is known.
        image = images.struct_of_cells(plan, column, "after")
        taken = takes(changes.commit_ts, len(changes.ops))
        rows = int(taken.sum())
        if not rows:
            return None
        numbers = changes.numbers[taken]
        columns = {
            "op": _OPS.take(pa.array(changes.ops[taken])),
            "source": places(numbers),
        }
        if changes.commit_ts is not None:
            columns["commit_ts"] = pa.array(changes.commit_ts[taken]).cast(UNSIGNED_64)
        if place.partition is not None:
            columns["partition"] = pa.repeat(pa.scalar(place.partition, pa.int64()), rows)
        for side in SIDES:
            found = (changes.before if side == "before" else changes.after)[taken]
            columns[side] = _taken(image, found)
            has = pa.repeat(pa.scalar(plan.has, pa.binary()), rows)
            is_missing = found < 0
            if is_missing.any():
                has = pc.if_else(pa.array(is_missing), pa.scalar(None, pa.binary()), has)
            columns[f"{side}_has"] = has
        return builder.assembled(columns, rows)


def _taken(image: pa.Array, which: Numbers) -> pa.Array:
    """Return the images of records; -1 means no image."""
    is_missing = which < 0
    missing = int(is_missing.sum())
    if missing == len(which):
        return pa.nulls(len(which), image.type)
    has_own = len(which) == len(image) and (is_missing | (which == np.arange(len(image)))).all()
    if not has_own or missing > len(which) // _MOST_HIDDEN:
        return image.take(pa.array(which, mask=is_missing))
    if not missing:
        return image
    # A copy costs more than the values of other records, which the mask hides.
    columns = [image.field(index) for index in range(image.type.num_fields)]
    return pa.StructArray.from_arrays(columns, fields=list(image.type), mask=pa.array(is_missing))


def changes_of(block: Block, first: int) -> Changes:
    """Return the changes of a block's records, with before and after records joined.

    ``first``: the number of the first.

    Raises: Irregular for an undefined operation, or a before or after record without the other.
    """
    codes = pc.index_in(block.ops, _CODES)
    if codes.null_count:
        raise Irregular
    ops = codes.to_numpy()
    records = np.arange(len(ops))
    before = np.where(ops == _DELETE, records, -1)
    after = np.where(ops == _DELETE, -1, records)
    if block.is_half is None:
        return Changes(ops, records + first, before, after, block.commit_ts)
    if (ops == _UPDATE).any():
        raise Irregular
    is_first = block.is_half & (ops == _DELETE)
    is_second = block.is_half & (ops == _INSERT)
    if is_second[:1].any() or is_first[-1:].any() or (is_second[1:] != is_first[:-1]).any():
        raise Irregular
    halves = np.flatnonzero(is_first)
    commit_ts = block.commit_ts
    if commit_ts is not None and (commit_ts[halves] != commit_ts[halves + 1]).any():
        raise Irregular
    ops = np.where(is_first, _UPDATE, ops)
    after[halves] = halves + 1
    own = ~is_second
    return Changes(
        ops[own],
        records[own] + first,
        before[own],
        after[own],
        None if commit_ts is None else commit_ts[own],
    )
