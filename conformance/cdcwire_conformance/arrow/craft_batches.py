"""Craft messages to record batches without a row between: the fast way of ``craft_columns``."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cdcwire.craft.ranges import RangeDecoder
from cdcwire.craft.settings import Settings
from cdcwire.rows import Layout
from cdcwire_conformance.arrow.batches import SIDES, BatchBuilder, Place, places_array
from cdcwire_conformance.arrow.craft_columns import Cells, Irregular, has_columns
from cdcwire_conformance.arrow.images import MAX_PLANS, Side
from cdcwire_conformance.arrow.types import UNSIGNED_64

Numbers: TypeAlias = Any  # a numpy array

Span: TypeAlias = "tuple[int, int]"

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
        self._layouts: dict[int, tuple[Layout | None, bool]] = {}
        self._start()

    def _start(self) -> None:
        self.rows = self.size = 0
        self._values: list[bytes] = []
        self._bases: list[int] = []
        self._counts: list[int] = []
        self._places: list[Place] = []
        self._timestamps: list[int] = []
        self._partitions: list[int | None] = []
        self._layouts_of: dict[Side, list[Layout | None]] = {side: [] for side in SIDES}
        self._spans_of: dict[Side, list[Span | None]] = {side: [] for side in SIDES}

    def add(self, value: bytes, place: Place) -> bool:
        """Take a message; return False, and take nothing, if it is to be decoded row by row."""
        rows = self._decoder.ranges(value)
        if not rows:
            return rows is not None
        _, timestamps, partitions, after_layouts, after, before_layouts, before, _ = zip(
            *rows, strict=True
        )
        for layout in {*after_layouts, *before_layouts}:
            if not self._is_read(layout):
                return False
        self._values.append(value)
        self._bases.append(self.size)
        self._counts.append(len(rows))
        self._places.append(place)
        self._timestamps += timestamps
        self._partitions += partitions
        self._layouts_of["after"] += after_layouts
        self._layouts_of["before"] += before_layouts
        self._spans_of["after"] += after
        self._spans_of["before"] += before
        self.rows += len(rows)
        self.size += len(value)
        return True

    def _is_read(self, layout: Layout | None) -> bool:
        """Return whether rows of a layout are decoded here. Layouts are few, and met again."""
        known = self._layouts.get(id(layout))
        if known is None:
            if len(self._layouts) >= MAX_PLANS:
                self._layouts.clear()
            known = layout, layout is None or has_columns(layout.columns)
            self._layouts[id(layout)] = known
        return known[1]

    def batch(self) -> pa.RecordBatch:
        """Return the batch of what was taken, and begin anew.

        Raises: Irregular or ConversionError, when the rows are to be decoded one by one.
        """
        count, counts, partitions = self.rows, self._counts, self._partitions
        layouts_of, spans_of = self._layouts_of, self._spans_of
        data = b"".join(self._values)
        base = np.repeat(np.array(self._bases, np.int64), counts)[:, None]
        timestamps = pa.array(self._timestamps, pa.uint64())
        places = places_array(self._places, counts)
        self._start()
        has_old = np.array([span is not None for span in spans_of["before"]])
        has_new = np.array([span is not None for span in spans_of["after"]])
        columns = {
            # 0 delete, 1 insert, 2 update
            "op": _OPS.take(pa.array(has_new.astype(np.int8) * (1 + has_old))),
            "commit_ts": timestamps.cast(UNSIGNED_64),
            "source": places,
        }
        if any(partition is not None for partition in partitions):
            columns["partition"] = pa.array(partitions, pa.int64())
        for side in SIDES:
            spans = np.array([span or _NOWHERE for span in spans_of[side]], np.int64) + base
            images = self._images(data, layouts_of[side], spans, side)
            columns[side], columns[f"{side}_has"] = images
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
