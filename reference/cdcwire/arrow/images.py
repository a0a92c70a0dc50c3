"""Row images to Arrow structs of the canonical columns, by layouts.

Rows of one layout are turned into columns together. Their tuples are pivoted, and each column is
built by the conversion from its kind on the wire to its canonical kind. So a layout is examined
once, not for each row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal, TypeAlias

import pyarrow as pa

from cdcwire.arrow.building import (
    CLAUSE_COLUMNS,
    CLAUSE_TYPES,
    ColumnBuilder,
    ConversionError,
)
from cdcwire.arrow.schema import CanonicalTable, Fill
from cdcwire.arrow.types import SchemaError
from cdcwire.arrow.values import column_builder
from cdcwire.core.rows import Layout
from cdcwire.model.kinds import Column

Side: TypeAlias = Literal["before", "after"]
Values: TypeAlias = "tuple[Any, ...]"
ReadColumns: TypeAlias = Callable[[Any, "list[Values]"], "list[pa.Array]"]
"""Gives the columns of a layout in the wire's own types, from values as a decoder left them."""

MAX_PLANS = 256


@dataclass(frozen=True, slots=True)
class Plan:
    """How the images of one layout become columns: for each canonical column where, and how.

    ``has``: the bits of the columns that the layout has, or that are filled. ``fills``: the values
    of columns that it does not have. ``problem``: why it can't be had.
    """

    layout: object  # kept, so that its identity stays its own
    steps: tuple[tuple[int, ColumnBuilder] | None, ...]
    has: bytes
    fills: tuple[pa.Scalar, ...]
    problem: ConversionError | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LackingColumns:
    """The columns of an image that has others without a value, which are ``unavailable``."""

    columns: tuple[Column, ...]
    unavailable: frozenset[str]


class ImageBuilder:
    """Makes the structs ``before`` and ``after`` of a table. Keep one: it learns its layouts.

    ``skips_others``: columns that the table does not have are ignored; otherwise they are an error.
    """

    def __init__(
        self, table: CanonicalTable, image: pa.DataType, time_zone: str, skips_others: bool
    ) -> None:
        self.table = table
        self.image = image
        self.time_zone = time_zone
        self.skips_others = skips_others
        self._fields = list(image)
        self._absent = tuple(pa.scalar(None, field.type) for field in self._fields)
        self._plans: dict[int, Plan] = {}
        self._index = {name: i for i, name in enumerate(table.column_names)}

    def images(
        self,
        images: list[tuple[Any, Values | None]],
        side: Side,
        read: ReadColumns | None = None,
    ) -> tuple[pa.Array, pa.Array]:
        """Return the struct of images and the bits that say which columns they have.

        ``read``: None for values in the form that rows have them.
        """
        rows = len(images)
        layouts = {id(layout): layout for layout, _ in images}
        layouts.pop(id(None), None)
        if not layouts:
            return pa.nulls(rows, self.image), pa.nulls(rows, pa.binary())
        if len(layouts) == 1:
            ((_, layout),) = layouts.items()
            plan = self.plan(layout)
            absent = (None,) * len(_columns_of(layout))
            values = [absent if image is None else image for _, image in images]
            mask = [image is None for _, image in images]
            has = [None if is_null else plan.has for is_null in mask]
            return self.struct(plan, values, mask, side, read), pa.array(has, pa.binary())
        return self._mixed_images(images, layouts, side, read)

    def _mixed_images(
        self,
        images: list[tuple[Any, Values | None]],
        layouts: dict[int, Any],
        side: Side,
        read: ReadColumns | None,
    ) -> tuple[pa.Array, pa.Array]:
        values: dict[int, list[Values]] = {each: [] for each in layouts}
        order: list[tuple[int, int] | None] = []
        for layout, image in images:
            if image is None:
                order.append(None)
                continue
            own = values[id(layout)]
            order.append((id(layout), len(own)))
            own.append(image)
        plans = {each: self.plan(layout) for each, layout in layouts.items()}
        starts = dict(zip(layouts, accumulate(map(len, values.values()), initial=0), strict=False))
        parts = [self.struct(plan, values[each], None, side, read) for each, plan in plans.items()]
        index = [None if place is None else starts[place[0]] + place[1] for place in order]
        has = [None if place is None else plans[place[0]].has for place in order]
        found = pa.concat_arrays(parts).take(pa.array(index, pa.int64()))
        return found, pa.array(has, pa.binary())

    def struct(
        self,
        plan: Plan,
        values: list[Values],
        mask: list[bool] | None,
        side: Side,
        read: ReadColumns | None = None,
    ) -> pa.Array:
        """Return the struct of these rows. Raises: ConversionError, and what ``read`` raises.

        ``mask``: whether each row lacks the image.
        """
        if plan.problem is not None:
            raise plan.problem.under(side)
        columns = list(zip(*values, strict=True))
        cells = None if read is None else read(plan.layout, columns)
        arrays = []
        for field, step, fill in zip(self._fields, plan.steps, plan.fills, strict=True):
            if step is None:
                arrays.append(pa.repeat(fill, len(values)))
                continue
            try:
                position, builder = step
                if cells is None:
                    arrays.append(builder.build(columns[position]))
                else:
                    arrays.append(builder.finish(cells[position]))
            except ConversionError as error:
                raise error.under(side, field.name) from error
        return pa.StructArray.from_arrays(
            arrays,
            fields=self._fields,
            mask=pa.array(mask, pa.bool_()) if mask is not None and any(mask) else None,
        )

    def struct_of_cells(
        self,
        plan: Plan,
        column: Callable[[int], pa.Array],
        side: Side,
        mask: pa.Array | None = None,
    ) -> pa.Array:
        """Return the struct of rows whose columns come as arrays in the wire's own types.

        ``mask``: the rows that have no image.
        """
        if plan.problem is not None:
            raise plan.problem.under(side)
        arrays: list[pa.Array | None] = []
        for field, step in zip(self._fields, plan.steps, strict=True):
            try:
                arrays.append(None if step is None else step[1].finish(column(step[0])))
            except ConversionError as error:
                raise error.under(side, field.name) from error
        rows = next((len(array) for array in arrays if array is not None), 0)
        return pa.StructArray.from_arrays(
            [
                pa.repeat(fill, rows) if array is None else array
                for fill, array in zip(plan.fills, arrays, strict=True)
            ],
            fields=self._fields,
            mask=mask,
        )

    def key_image(
        self, layout: Any, values: Values, key: Sequence[str]
    ) -> tuple[pa.Array, pa.Array] | None:
        """Return one image that has only the columns of the key, and its bits.

        Returns: None if the image lacks one of them, or one can't be read.
        """
        plan = self.plan(layout)
        arrays = [pa.nulls(1, field.type) for field in self._fields]
        bits = 0
        for index in (self._index.get(name) for name in key):
            step = None if index is None else plan.steps[index]
            if index is None or step is None:
                return None
            position, builder = step
            try:
                arrays[index] = builder.build((values[position],))
            except ConversionError:
                return None
            bits |= 1 << index
        has = bits.to_bytes(len(plan.has), "little")
        return pa.StructArray.from_arrays(arrays, fields=self._fields), pa.array([has], pa.binary())

    def plan(self, layout: Any) -> Plan:
        """Return the plan for a layout; make and keep it at its first use."""
        plan = self._plans.get(id(layout))
        if plan is None:
            plan = self._make_plan(layout)
            if len(self._plans) >= MAX_PLANS:
                self._plans.clear()
            self._plans[id(layout)] = plan
        return plan

    def _make_plan(self, layout: Any) -> Plan:
        steps: list[tuple[int, ColumnBuilder] | None] = [None] * len(self._index)
        bits = 0
        problem = None
        columns = _columns_of(layout)
        lacking = layout.unavailable if isinstance(layout, LackingColumns) else frozenset()
        known = {column.name for column in columns} | lacking
        renamed = {fill.source: fill.column for fill in self.table.fills}
        for position, column in enumerate(columns):
            name = renamed.get(column.name, column.name)
            if name != column.name and name in known:
                text = f"it was renamed {name}, and the row has both"
                problem = ConversionError(text, CLAUSE_COLUMNS, (column.name,))
                continue
            index = self._index.get(name)
            if index is None and self.skips_others:
                continue
            if index is None:
                text = f"table {self.table} has no such column"
                problem = ConversionError(text, CLAUSE_COLUMNS, (column.name,))
                continue
            if steps[index] is not None:
                problem = ConversionError("it is duplicated", CLAUSE_COLUMNS, (column.name,))
                continue
            canonical, field = self.table.columns[index], self._fields[index]
            try:
                builder = column_builder(column.type, canonical.type, field.type, self.time_zone)
            except SchemaError as error:
                problem = ConversionError(str(error), CLAUSE_TYPES, (column.name,))
                continue
            steps[index] = position, builder
            bits |= 1 << index
        fills = list(self._absent)
        for fill in self.table.fills:
            index = self._index.get(fill.column) if fill.source is None else None
            if index is not None and steps[index] is None and fill.column not in lacking:
                fills[index] = filled(fill, self.table.columns[index], self._fields[index].type)
                bits |= 1 << index
        size = (len(steps) + 7) // 8
        return Plan(layout, tuple(steps), bits.to_bytes(size, "little"), tuple(fills), problem)


def filled(fill: Fill, column: Column, target: pa.DataType) -> pa.Scalar:
    """Return the value of rows without a column. Raises: SchemaError; ConversionError."""
    return column_builder(fill.kind, column.type, target).build([fill.value])[0]


def _columns_of(layout: Any) -> tuple[Column, ...]:
    return layout.columns if isinstance(layout, (Layout, LackingColumns)) else layout
