"""Row changes to Arrow record batches of one table, with the other columns of each change."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from cdcwire.arrow.building import CLAUSE_TYPES, ConversionError
from cdcwire.arrow.images import (
    MAX_PLANS,
    ImageBuilder,
    LackingColumns,
    ReadColumns,
    Side,
    Values,
)
from cdcwire.arrow.schema import (
    POSITION_FIELDS,
    SOURCE_TYPE,
    CanonicalTable,
    event_schema,
)
from cdcwire.arrow.types import UNSIGNED_64, Profile, Temporal
from cdcwire.core.errors import DecodeError
from cdcwire.core.orders import Order
from cdcwire.core.rows import Row
from cdcwire.model.events import Image, RowChange, path_text
from cdcwire.model.kinds import UNAVAILABLE, Column

Change: TypeAlias = "Row | RowChange"

SIDES: tuple[Side, ...] = ("before", "after")

_row_image: dict[Side, Any] = {
    "before": attrgetter("old_layout", "old"),
    "after": attrgetter("new_layout", "new"),
}
_POSITIONS = {field.name: field.type for field in POSITION_FIELDS}
_fields_of = attrgetter(*_POSITIONS)


class MessagePlace(NamedTuple):
    """The place of a message: in a topic, or in a file.

    ``offset``: Kafka's, or the byte of the file where the message's line begins. ``line``: from 1,
    where it is known.
    """

    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    file: str | None = None
    line: int | None = None


class RowProblem(NamedTuple):
    """The reason why a message or a row is missing.

    ``offset``: the byte of the message, if it is known.
    """

    offset: int | None
    path: str
    clause: str
    problem: str


class BatchBuilder:
    """Makes record batches of one table's changes. Keep one: it learns the layouts of the table.

    ``time_zone``: where texts of unknown zone are read if the table has the instant in UTC.
    ``skips_others``: columns that the table does not have are ignored; otherwise they are an error.
    ``pairs_rows``: the rows meet those of another feed. So ``source`` has the number of each row in
    its message, and a row that can't be read keeps its key. ``order``: as in ``event_schema``.
    Raises: SchemaError when the table has no Arrow schema in this form.
    """

    def __init__(
        self,
        table: CanonicalTable,
        temporal: Temporal = "text",
        profile: Profile | None = None,
        time_zone: str = "UTC",
        *,
        skips_others: bool = False,
        pairs_rows: bool = False,
        order: Order | None = None,
    ) -> None:
        self.table = table
        self.schema = event_schema(table, temporal, profile, numbers_rows=pairs_rows, order=order)
        self.order = None if order is None or order.number else order
        self._kept_key = (table.key or ()) if pairs_rows else ()
        self.images = ImageBuilder(table, self.schema.field("after").type, time_zone, skips_others)
        self._layouts: dict[tuple[object, ...], tuple[Column, ...] | LackingColumns] = {}
        # The columns of the last image, and their layout.
        self._last: tuple[tuple[Column, ...] | None, object] = None, None

    def places(self, places: Sequence[MessagePlace], counts: Sequence[int]) -> pa.Array:
        """Return the ``source`` of rows; ``counts`` is the number of rows of each place."""
        return places_array(places, counts, self.schema.field("source").type)

    def batch(
        self, changes: Sequence[Change], places: pa.Array, read: ReadColumns | None = None
    ) -> pa.RecordBatch:
        """Return the batch of changes; ``places`` has the ``source`` of each.

        ``read``: turns values that are still encoded into arrays in the wire's own types.
        Raises: ConversionError when a value of any of them does not fit; its path leads to the
        column, not to the row.
        """
        are_rows = set(map(type, changes)) == {Row}
        columns = self._positions(changes)
        for side in SIDES:
            image_of = _row_image[side] if are_rows else partial(self._image_of, side=side)
            images = list(map(image_of, changes))
            columns[side], columns[f"{side}_has"] = self.images.images(images, side, read)
        columns["source"] = places
        return self.assembled(columns, len(changes))

    def assembled(self, columns: dict[str, pa.Array], rows: int) -> pa.RecordBatch:
        """Return the batch of these columns; what is the same in all rows is added."""
        columns["schema"] = _constant(self.table.schema, rows)
        columns["table"] = _constant(self.table.table, rows)
        arrays = [
            columns[field.name] if field.name in columns else pa.nulls(rows, field.type)
            for field in self.schema
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def good_batches(
        self, changes: Sequence[Change], places: pa.Array
    ) -> Iterator[pa.RecordBatch | tuple[int, ConversionError]]:
        """Yield the batches of the changes that fit, and the index and error of each other one."""
        yield from self._halves(changes, places, 0)

    def _halves(
        self, changes: Sequence[Change], places: pa.Array, start: int
    ) -> Iterator[pa.RecordBatch | tuple[int, ConversionError]]:
        try:
            found = self.batch(changes, places)
        except ConversionError as error:
            if len(changes) == 1:
                yield start, error
                return
            half = len(changes) // 2
            yield from self._halves(changes[:half], places[:half], start)
            yield from self._halves(changes[half:], places[half:], start + half)
        else:
            yield found

    def problem_batch(
        self,
        problem: RowProblem,
        place: MessagePlace,
        change: Change | None = None,
    ) -> pa.RecordBatch:
        """Return the one row that reports an unreadable message or change.

        It has operation and position of a change. If rows pair, it also has the key, if readable.
        """
        known: dict[str, Any] = {"source": place._asdict(), "error": problem._asdict()}
        if change is not None:
            known |= {"schema": self.table.schema, "table": self.table.table}
            with contextlib.suppress(ConversionError):  # the position itself may be the problem
                positions = self._positions([change])
                known |= {name: array[0].as_py() for name, array in positions.items()}
        found = pa.RecordBatch.from_pylist([known], schema=self.schema)
        return found if change is None or not self._kept_key else self._with_key(found, change)

    def _with_key(self, problem: pa.RecordBatch, change: Change) -> pa.RecordBatch:
        """Return the row of an unreadable change with the key columns of its images."""
        for side in SIDES:
            layout, values = self._image_of(change, side)
            image = (
                None
                if layout is None or values is None
                else self.images.key_image(layout, values, self._kept_key)
            )
            for name, array in zip((side, f"{side}_has"), image or (), strict=False):
                place = problem.schema.get_field_index(name)
                problem = problem.set_column(place, problem.schema.field(place), array)
        return problem

    def _positions(self, changes: Sequence[Change]) -> dict[str, pa.Array]:
        """Return operations, before/after images and positions; omit what no change has."""
        known: dict[str, list[Any]] = {}
        if changes and all(isinstance(change, Row) for change in changes):
            fields = dict(zip(Row._fields, zip(*changes, strict=True), strict=True))
            known = {name: list(fields[name]) for name in _POSITIONS if name in fields}
            ops, halves = fields["op"], fields["half"]
        else:
            places = zip(*(_fields_of(change.position) for change in changes), strict=True)
            known = dict(zip(_POSITIONS, map(list, places), strict=False))
            ops = tuple(change.op for change in changes)
            halves = tuple(change.half for change in changes)
        return {
            "op": pa.array(ops, pa.string()),
            "half": pa.array(halves, pa.string()),
            **_position_arrays({name: v for name, v in known.items() if v.count(None) < len(v)}),
            **({} if self.order is None else _places_in(self.order, changes)),
        }

    def _image_of(self, change: Change, side: Side) -> tuple[Any, Values | None]:
        """Return the layout and the values of an image; equal layouts are one object."""
        if isinstance(change, Row):
            after = change.new_layout, change.new
            return after if side == "after" else (change.old_layout, change.old)
        image: Image | None = getattr(change, side)
        if image is None:
            return None, None
        columns, values = image.columns, image.values
        unavailable: frozenset[str] | None = None
        if UNAVAILABLE not in values:
            if columns is self._last[0]:
                return self._last[1], values
        else:
            kept = [index for index, value in enumerate(values) if value is not UNAVAILABLE]
            if self.table.fills:
                names = {column.name for column in columns}
                unavailable = frozenset(names - {columns[index].name for index in kept})
            columns = tuple(columns[index] for index in kept)
            values = tuple(values[index] for index in kept)
        # Columns are shared between messages where tuples of them are not.
        identity = unavailable, *map(id, columns)
        layout = self._layouts.get(identity)
        if layout is None:
            if len(self._layouts) >= MAX_PLANS:
                self._layouts.clear()
            layout = columns if unavailable is None else LackingColumns(columns, unavailable)
            self._layouts[identity] = layout
        if columns is image.columns:
            self._last = columns, layout
        return layout, values


def problem_of(error: ConversionError | DecodeError) -> RowProblem:
    """Return an error of a message or of a value as the problem of a row."""
    offset = error.offset if isinstance(error, DecodeError) else None
    return RowProblem(offset, path_text(error.path), error.clause, error.problem)


def places_array(
    places: Sequence[MessagePlace], counts: Sequence[int], kind: pa.StructType = SOURCE_TYPE
) -> pa.Array:
    """Return the ``source`` of rows; ``counts`` is the number of rows of each place.

    ``kind``: with a field ``row``, rows are numbered where a place has several.
    """
    fields = list(kind)
    rows = sum(counts)
    index: pa.Array | None = None
    arrays = []
    for position, field in enumerate(fields):
        if field.name == "row":
            arrays.append(_row_numbers(counts, field.type))
            continue
        values = [place[position] for place in places]
        if len(set(values)) == 1:
            arrays.append(pa.repeat(pa.scalar(values[0], field.type), rows))
            continue
        if index is None:
            index = pa.array(np.repeat(np.arange(len(counts)), counts))
        arrays.append(pa.array(values, field.type).take(index))
    return pa.StructArray.from_arrays(arrays, fields=fields)


def _row_numbers(counts: Sequence[int], kind: pa.DataType) -> pa.Array:
    """Return the number of each row among those of its place; NULL for a row that is alone."""
    sizes = np.asarray(counts, np.int64)
    numbers = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return pa.array(numbers, kind, mask=np.repeat(sizes == 1, sizes))


def _places_in(order: Order, changes: Sequence[Change]) -> dict[str, pa.Array]:
    """Return the place of each change in an order whose places are texts."""
    places = (order.place_or_none(change.position) for change in changes)
    return {order.name: pa.array([place and place.value for place in places], pa.string())}


def _position_arrays(known: dict[str, list[Any]]) -> dict[str, pa.Array]:
    return {name: _position_array(values, _POSITIONS[name], name) for name, values in known.items()}


def _position_array(values: Sequence[Any], kind: pa.DataType, name: str) -> pa.Array:
    try:
        if kind == UNSIGNED_64:
            return pa.array(values, pa.uint64()).cast(kind)
        if pa.types.is_decimal(kind):
            texts = pa.array([None if v is None else str(v) for v in values], pa.string())
            return texts.cast(kind)
        return pa.array(values, kind)
    except (ValueError, OverflowError, TypeError) as error:
        problem = f"a number does not fit into {kind}"
        raise ConversionError(problem, CLAUSE_TYPES, (name,)) from error


def _constant(value: str | None, rows: int) -> pa.Array:
    return pa.repeat(pa.scalar(value, pa.string()), rows)


def images_of(
    change: Change,
) -> Iterator[tuple[bool, object, tuple[Column, ...], tuple[Any, ...]]]:
    """Yield the images of a change: if it is the new one, its layout's key, columns, values."""
    if isinstance(change, Row):
        news = (True, change.new_layout, change.new), (False, change.old_layout, change.old)
        for is_new, layout, values in news:
            if layout is not None and values is not None:
                yield is_new, id(layout.columns), layout.columns, values
        return
    for is_new, image in ((True, change.after), (False, change.before)):
        if image is not None:
            # Columns are shared between messages where tuples of them are not.
            yield is_new, tuple(map(id, image.columns)), image.columns, image.values
