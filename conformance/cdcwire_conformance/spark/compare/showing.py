"""Differences as text: what comes to the driver, and the values made of it.

Spark turns values to text, and of a changed row only those that differ; for the driver at most
``LONGEST_TEXT`` characters of each. Whether a NULL is an absent column is read from the presence
bits here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdcwire.model.kind_text import kind_text
from cdcwire_conformance.arrow.schema import CanonicalTable
from cdcwire_conformance.spark.compare.images import text_of
from cdcwire_conformance.spark.compare.pairing import Layout
from cdcwire_conformance.spark.compare.result import (
    ABSENT,
    ColumnDifference,
    ImageName,
    Place,
    RowDifference,
    RowVerdict,
    Shown,
)

LONGEST_TEXT = 1 << 16  # characters of one value
_IMAGES: tuple[ImageName, ...] = ("before", "after")
_SIDES = ("left", "right")
_EVENT_FIELDS = ("op", "half")

Collected: TypeAlias = Any  # a Row of pyspark, whose attributes have no types


def texts_of(differences: DataFrame, layout: Layout, longest: int | None = None) -> DataFrame:
    """Return each difference as plain text, in the order that the frame has.

    ``longest``: so many characters of a value.
    """
    pair = F.col("pair")
    keys = [text_of(pair.getField(f"k{n}"), f.dataType) for n, f in enumerate(layout.keys)]
    place = layout.place_name
    nothing = F.lit(None).cast("string")
    cuts = [_cut(text, longest) for text in keys]
    columns: list[Column] = [
        F.col("kind"),
        F.array(*cuts).alias("key") if keys else F.lit(None).alias("key"),
        (pair.getField(place).cast("string") if place else nothing).alias("position"),
    ]
    is_final = layout.rules.is_final
    for side in _SIDES:
        it = F.col(side)
        row = it.getField("row")
        images = {image: row.getField(image) for image in _IMAGES}
        columns += [
            F.struct(
                it.isNotNull().alias("is_there"),
                F.coalesce(it.getField(side), F.lit(0)).alias("copies"),
                it.getField(f"{side}_source").alias("source"),
                (it.getField("position") if is_final else nothing).alias("position"),
                *(
                    row.getField(name).cast("string").alias(name)
                    for name in (*_EVENT_FIELDS, *layout.rules.fields)
                ),
                *(value.isNotNull().alias(image) for image, value in images.items()),
                *(value.getField("has").alias(f"{name}_has") for name, value in images.items()),
            ).alias(side)
        ]
    columns += [_columns_of(image, layout, longest).alias(image) for image in _IMAGES]
    return differences.select(*columns)


def _columns_of(image: ImageName, layout: Layout, longest: int | None) -> Column:
    """Return number, left and right text of an image's columns that differ.

    Of a row that one side has alone it is all columns; nothing if only one of two rows has the
    image.
    """
    left, right = (F.col(side).getField("row").getField(image) for side in _SIDES)
    is_single = F.col("left").isNull() | F.col("right").isNull()
    has_both = left.isNotNull() & right.isNotNull()
    entries = []
    for number, field in enumerate(layout.fields):
        values = [it.getField("row").getField(f"c{number}") for it in (left, right)]
        texts = [text_of(value, field.dataType) for value in values]
        is_shown = is_single | (has_both & ~values[0].eqNullSafe(values[1]))
        entry = F.struct(
            F.lit(number).alias("number"),
            *(_cut(text, longest).alias(side) for side, text in zip(_SIDES, texts, strict=True)),
        )
        entries.append(F.when(is_shown, entry))
    nothing = (F.col("kind") != "changed") | (left.isNull() & right.isNull())
    return F.when(~nothing, F.array_compact(F.array(*entries)))


def _cut(text: Column, longest: int | None) -> Column:
    """Return the beginning of a text, and the length of it all."""
    beginning = text if longest is None else F.substring(text, 1, longest)
    return F.struct(beginning.alias("text"), F.length(text).alias("length"))


def difference_of(row: Collected, table: CanonicalTable, layout: Layout) -> RowDifference:
    """Return what a row of ``texts_of`` says."""
    left, right = row.left, row.right
    verdict: RowVerdict = row.kind
    columns: tuple[ColumnDifference, ...] = ()
    if row.kind == "changed":
        is_changed = left.is_there and right.is_there
        if not is_changed:
            verdict = "only left" if left.is_there else "only right"
        columns = tuple(_column_differences(row, table, layout, is_changed=is_changed))
    op = left.op if left.is_there else right.op
    names = [field.name for field in layout.keys]
    return RowDifference(
        verdict,
        op,
        tuple((name, _shown(cut)) for name, cut in zip(names, row.key or (), strict=True)),
        tuple(_positions(row, layout, op)),
        left.copies,
        right.copies,
        columns,
        _place(left.source),
        _place(right.source),
    )


def _positions(row: Collected, layout: Layout, op: str) -> Iterator[tuple[str, str | None]]:
    """Yield names and values of what says which change it is, or of each side's last one."""
    rules = layout.rules
    if rules.is_final and rules.position is not None:
        for side, it in (("left", row.left), ("right", row.right)):
            if it.is_there:
                yield f"{side} {rules.position}", it.position
    elif layout.place_name is not None:
        is_last = rules.has_bare_deletes and op == "delete" and rules.position
        name = rules.position or "ordinal"
        yield f"last {name}" if is_last else name, row.position


def _column_differences(
    row: Collected, table: CanonicalTable, layout: Layout, *, is_changed: bool
) -> Iterator[ColumnDifference]:
    left, right = row.left, row.right
    if is_changed:
        for name in (*_EVENT_FIELDS, *layout.rules.fields):
            if left[name] != right[name]:
                yield ColumnDifference(None, name, "field", Shown(left[name]), Shown(right[name]))
    for image in _IMAGES:
        if is_changed and left[image] != right[image]:
            sent = [Shown("sent") if side[image] else ABSENT for side in (left, right)]
            yield ColumnDifference(image, None, "image", sent[0], sent[1])
            continue
        texts = {entry.number: entry for entry in row[image] or ()}
        presence = [
            (side[image], side[f"{image}_has"]) if side.is_there else (False, None)
            for side in (left, right)
        ]
        for number, column in enumerate(table.columns):
            entry = texts.get(number)
            is_absent = [_is_absent(is_there, has, number) for is_there, has in presence]
            if all(is_absent) or (entry is None and is_absent[0] == is_absent[1]):
                continue
            shown = [
                ABSENT if absent else _shown(entry[side] if entry else None)
                for absent, side in zip(is_absent, _SIDES, strict=True)
            ]
            yield ColumnDifference(image, column.name, kind_text(column.type), shown[0], shown[1])


def _is_absent(is_there: bool, has: bytearray | None, number: int) -> bool:
    """Return whether an image lacks a column. One without presence bits has them all."""
    if not is_there:
        return True
    return has is not None and len(has) > 0 and not has[number // 8] >> number % 8 & 1


def _shown(cut: Collected) -> Shown:
    if cut is None or cut.text is None:
        return Shown(None)
    return Shown(cut.text, length=cut.length if cut.length > len(cut.text) else None)


def _place(source: Collected) -> Place | None:
    if source is None:
        return None
    place = Place(source.file, source.line, source.topic, source.partition, source.offset)
    return None if place == Place() else place
