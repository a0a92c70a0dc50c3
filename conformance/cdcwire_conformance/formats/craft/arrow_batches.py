"""Craft messages to record batches without a row between: the fast way of ``craft_columns``."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cdcwire.arrow.batches import BatchBuilder, MessagePlace
from cdcwire.arrow.column_decoders import Irregular
from cdcwire.arrow.images import MAX_PLANS, Side
from cdcwire.arrow.numbers import unsigned_64
from cdcwire.core.context import Context, Selection
from cdcwire.core.message import Message
from cdcwire.core.rows import Layout
from cdcwire.formats.craft.ranges import Outline, OutlineDecoder
from cdcwire.formats.craft.settings import Settings
from cdcwire_conformance.formats.craft.arrow_buffer import Buffer
from cdcwire_conformance.formats.craft.arrow_columns import Cells, has_columns
from cdcwire_conformance.formats.craft.arrow_frames import Groups, read_frames

_OPS = pa.array(["delete", "insert", "update"], pa.string())


class CraftBatchBuilder:
    """Gathers messages and makes a batch of all their rows of one table. Keep one."""

    def __init__(self, builder: BatchBuilder, settings: Settings) -> None:
        table = builder.table
        self.builder = builder
        self.rows = 0
        self.size = 0  # bytes
        selection = Selection(frozenset({(table.schema, table.table)}))
        self._decoder = OutlineDecoder(Context(selection=selection), settings)
        self._layouts: dict[int, tuple[Layout, bool]] = {}
        self._start()

    def _start(self) -> None:
        self.rows = self.size = 0
        self._values: list[bytes] = []
        self._outlines: list[Outline] = []
        self._places: list[MessagePlace] = []

    def add(self, message: Message, place: MessagePlace) -> bool:
        """Take a message; return False, and take nothing, if it is to be decoded row by row."""
        value = message.value
        if value is None:
            return False
        outline = self._decoder.outline(value)
        if outline is None:
            return False
        rows = sum([run.rows for run in outline.runs if run.subject.is_wanted])
        if not rows:
            return True
        if outline.first_layout is not None and not self._is_read(outline.first_layout):
            return False
        self._values.append(value)
        self._outlines.append(outline)
        self._places.append(place)
        self.rows += rows
        self.size += len(value)
        return True

    def _is_read(self, layout: Layout) -> bool:
        """Return whether rows of a layout are decoded here. Layouts are few, and met again."""
        known = self._layouts.get(id(layout))
        if known is None:
            if len(self._layouts) >= MAX_PLANS:
                self._layouts.clear()
            known = layout, has_columns(layout.columns)
            self._layouts[id(layout)] = known
        return known[1]

    def batch(self) -> pa.RecordBatch:
        """Return the batch of the rows taken, and begin anew.

        Raises: Irregular or ConversionError, when the rows are to be decoded one by one.
        """
        values, outlines, places = self._values, self._outlines, self._places
        self._start()
        frames = read_frames(values, outlines, self._decoder)
        if not all(map(self._is_read, frames.new.layouts)):
            raise Irregular
        ops = np.zeros(frames.rows, np.int8)  # 0 delete, 1 insert, 2 update
        ops[frames.new.rows] = 1
        ops[frames.old.rows] *= 2
        columns = {
            "op": _OPS.take(pa.array(ops)),
            "commit_ts": unsigned_64(frames.timestamps),
            "source": self.builder.places(places, frames.counts.tolist()),
        }
        if frames.partitions is not None:
            columns["partition"] = pa.array(frames.partitions, pa.int64())
        sides: dict[Side, Groups] = {"before": frames.old, "after": frames.new}
        for side, groups in sides.items():
            images = self._images(frames.buffer, groups, frames.rows, side)
            columns[side], columns[f"{side}_has"] = images
        return self.builder.assembled(columns, frames.rows)

    def _images(
        self, buffer: Buffer, groups: Groups, rows: int, side: Side
    ) -> tuple[pa.Array, pa.Array]:
        images = self.builder.images
        if not len(groups.rows):
            return pa.nulls(rows, images.image), pa.nulls(rows, pa.binary())
        if (groups.which == groups.which[0]).all():
            layout = groups.layouts[groups.which[0]]
            cells = Cells(buffer, groups.starts, groups.ends, layout.columns, groups.rows, rows)
            plan = images.plan(layout)
            mask = None
            if len(groups.rows) < rows:
                is_missing = np.ones(rows, np.bool_)
                is_missing[groups.rows] = False
                mask = pa.array(is_missing)
            has = pa.repeat(pa.scalar(plan.has, pa.binary()), rows)
            if mask is not None:
                has = pc.if_else(mask, pa.scalar(None, pa.binary()), has)
            return images.struct_of_cells(plan, cells.column, side, mask), has
        order, which = np.full(rows, -1), np.full(rows, -1)
        structs: list[pa.Array] = []
        bits: list[bytes] = []
        taken = 0
        for number, layout in enumerate(groups.layouts):
            own = np.flatnonzero(groups.which == number)
            count = len(own)
            if not count:
                continue
            every = np.arange(count)
            starts, ends = groups.starts[own], groups.ends[own]
            cells = Cells(buffer, starts, ends, layout.columns, every, count)
            plan = images.plan(layout)
            structs.append(images.struct_of_cells(plan, cells.column, side))
            order[groups.rows[own]] = every + taken
            which[groups.rows[own]] = len(bits)
            bits.append(plan.has)
            taken += count
        has = pa.array(bits, pa.binary()).take(pa.array(which, mask=which < 0))
        return pa.concat_arrays(structs).take(pa.array(order, mask=order < 0)), has
