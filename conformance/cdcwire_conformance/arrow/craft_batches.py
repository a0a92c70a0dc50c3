"""Craft messages to record batches without a row between: the fast way of ``craft_columns``."""

from __future__ import annotations

from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cdcwire.craft.ranges import RangeDecoder
from cdcwire.craft.settings import Settings
from cdcwire.rows import Layout, Row
from cdcwire_conformance.arrow.batches import SIDES, BatchBuilder, Place, places_array
from cdcwire_conformance.arrow.craft_columns import Cells, Irregular, has_columns
from cdcwire_conformance.arrow.images import MAX_PLANS, Side
from cdcwire_conformance.arrow.types import UNSIGNED_64

Numbers: TypeAlias = Any  # a numpy array

_NOWHERE = (-1, -1)
_OPS = pa.array(["delete", "insert", "update"], pa.string())


class CraftBatchBuilder:
    """Gathers messages and makes a batch of all their rows of one table. Keep one."""

    def __init__(self, builder: BatchBuilder, settings: Settings) -> None:
        table = builder.table
        self.builder = builder
        self.rows = 0
        self.size = 0  # bytes
        self._decoder = RangeDecoder(frozenset({(table.schema, table.table)}), settings)
        self._layouts: dict[int, tuple[Layout | None, bool]] = {id(None): (None, True)}
        self._start()

    def _start(self) -> None:
        self.rows = self.size = 0
        self._values: list[bytes] = []
        self._bases: list[int] = []
        self._rows: list[list[Row]] = []
        self._places: list[Place] = []

    def add(self, value: bytes, place: Place) -> bool:
        """Take a message; return False, and take nothing, if it is to be decoded row by row."""
        rows = self._decoder.ranges(value)
        if rows is None:
            return False
        for row in rows:
            for layout in (row[3], row[5]):
                known = self._layouts.get(id(layout))
                if not (self._learn(layout) if known is None else known[1]):
                    return False
        if rows:
            self._values.append(value)
            self._bases.append(self.size)
            self._rows.append(rows)
            self._places.append(place)
            self.rows += len(rows)
            self.size += len(value)
        return True

    def _learn(self, layout: Layout | None) -> bool:
        is_read = layout is None or has_columns(layout.columns)
        if len(self._layouts) >= MAX_PLANS:
            self._layouts = {id(None): (None, True)}
        self._layouts[id(layout)] = layout, is_read
        return is_read

    def batch(self) -> pa.RecordBatch:
        """Return the batch of what was taken, and begin anew.

        Raises: Irregular or ConversionError, when the rows are to be decoded one by one.
        """
        values, bases, messages, places = self._values, self._bases, self._rows, self._places
        count = self.rows
        self._start()
        counts = list(map(len, messages))
        rows = list(chain.from_iterable(messages))
        data = b"".join(values)
        base = np.repeat(np.array(bases, np.int64), counts)[:, None]
        has_new = np.fromiter((row[4] is not None for row in rows), np.bool_, count)
        has_old = np.fromiter((row[6] is not None for row in rows), np.bool_, count)
        timestamps = np.fromiter((row[1] for row in rows), np.uint64, count)
        partitions = [row[2] for row in rows]
        columns = {
            # 0 delete, 1 insert, 2 update
            "op": _OPS.take(pa.array(has_new.astype(np.int8) * (1 + has_old))),
            "commit_ts": pa.array(timestamps).cast(UNSIGNED_64),
            "source": places_array(places, counts),
        }
        if any(partition is not None for partition in partitions):
            columns["partition"] = pa.array(partitions, pa.int64())
        for side in SIDES:
            at = 3 if side == "after" else 5
            layouts = [row[at] for row in rows]
            spans = np.array([row[at + 1] or _NOWHERE for row in rows], np.int64) + base
            columns[side], columns[f"{side}_has"] = self._images(data, layouts, spans, side)
        return self.builder.assembled(columns, count)

    def _images(
        self, data: bytes, layouts: list[Any], spans: Numbers, side: Side
    ) -> tuple[pa.Array, pa.Array]:
        images = self.builder.images
        rows = len(layouts)
        distinct = {id(layout): layout for layout in layouts if layout is not None}
        if not distinct:
            return pa.nulls(rows, images.image), pa.nulls(rows, pa.binary())
        identities = np.fromiter(map(id, layouts), np.int64, rows)
        if len(distinct) == 1:
            ((identity, layout),) = distinct.items()
            own = np.flatnonzero(identities == identity)
            cells = Cells(data, spans[own, 0], spans[own, 1], layout.columns, own, rows)
            plan = images.plan(layout)
            is_missing = identities != identity
            mask = pa.array(is_missing) if len(own) < rows else None
            has = pa.repeat(pa.scalar(plan.has, pa.binary()), rows)
            if mask is not None:
                has = pc.if_else(mask, pa.scalar(None, pa.binary()), has)
            return images.struct_of_cells(plan, cells.column, side, mask), has
        order, which = np.full(rows, -1), np.full(rows, -1)
        structs: list[pa.Array] = []
        bits: list[bytes] = []
        taken = 0
        for identity, layout in distinct.items():
            own = np.flatnonzero(identities == identity)
            count = len(own)
            every = np.arange(count)
            cells = Cells(data, spans[own, 0], spans[own, 1], layout.columns, every, count)
            plan = images.plan(layout)
            structs.append(images.struct_of_cells(plan, cells.column, side))
            order[own] = every + taken
            which[own] = len(bits)
            bits.append(plan.has)
            taken += count
        has = pa.array(bits, pa.binary()).take(pa.array(which, mask=which < 0))
        return pa.concat_arrays(structs).take(pa.array(order, mask=order < 0)), has


__all__ = ["CraftBatchBuilder", "Irregular"]
