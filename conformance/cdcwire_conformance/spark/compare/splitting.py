"""One row per change of a feed, with its key: updates that change a key are split.

An update of a primary or unique key becomes its delete and its insert. With ``in_halves`` any
other update becomes two records. As long as fingerprints will do, this copies narrow rows only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TypeAlias

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from cdcwire_conformance.compare.layout import PairLayout
from cdcwire_conformance.compare.rules import ComparisonRules
from cdcwire_conformance.spark.compare.counting import PLACE, place_of
from cdcwire_conformance.spark.compare.images import comparable, exact_form

Form: TypeAlias = Callable[
    [Column, Column, Sequence[StructField], Sequence[StructField]], dict[str, Column]
]

Layout: TypeAlias = PairLayout[StructField]

_BITS_OF_A_BYTE = 8
# The columns that a frame may leave out, and the type of the NULL in their place.
_OPTIONAL = {
    "half": "string",
    "before_has": "binary",
    "after_has": "binary",
    "source": "struct<topic:string,partition:int,offset:bigint,file:string,line:bigint,row:int>",
    "error": "struct<problem:string>",
}
_SIDES = ("before", "after")
_SEQUENCE = "decimal(38,0)"
_FEED_ORDER = ("topic", "partition", "file", "offset", "line")


def parted_changes(
    frame: DataFrame, layout: Layout, forms: Mapping[str, Form], *, has_places: bool = False
) -> DataFrame:
    """Return one row per change, as the feed has them, with its key and its images in each form."""
    rules = layout.rules
    frame = _prepared(frame, layout)
    if rules.joins_halves:
        frame = _with_joined_halves(frame, layout)
    if rules.in_halves and not rules.has_old_values:
        is_kept = F.coalesce(F.col("half") != "before", F.lit(True))
        frame = frame.where(is_kept | F.col("is_split") if rules.joins_halves else is_kept)
    formed = _formed(frame, layout, forms, has_places=has_places)
    return _parted(formed, layout, forms)


def _prepared(frame: DataFrame, layout: Layout) -> DataFrame:
    """Return the frame with all columns that may be left out, and unchanged columns filled in."""
    missing = {name: kind for name, kind in _OPTIONAL.items() if name not in frame.columns}
    if missing:
        frame = frame.withColumns({n: F.lit(None).cast(kind) for n, kind in missing.items()})
    source = frame.schema["source"].dataType
    assert isinstance(source, StructType)
    if "row" not in source.names:
        numbered = F.col("source").withField("row", F.lit(None).cast("int"))
        frame = frame.withColumn("source", numbered)
    if not layout.rules.fills_unchanged:
        return frame
    is_filled = (F.col("op") == "update") & F.col("before").isNotNull() & F.col("after").isNotNull()
    filled = [
        F.when(has_column("before", number) | ~has_column("after", number), _value("before", field))
        .otherwise(_value("after", field))
        .alias(field.name)
        for number, field in enumerate(layout.fields)
    ]
    return frame.withColumns(
        {
            "before": F.when(is_filled, F.struct(*filled)).otherwise(F.col("before")),
            "before_has": F.when(is_filled, F.col("after_has")).otherwise(F.col("before_has")),
        }
    )


def _with_joined_halves(frame: DataFrame, layout: Layout) -> DataFrame:
    """Return the frame with ``is_split``, which both records of an update of a key have.

    The records of an update have one sequence id. They may be in different shards.
    ``fed`` is the place of a row in the frame.
    """
    frame = frame.withColumn("fed", F.monotonically_increasing_id())
    known = {side: _split_values(side, layout) for side in _SIDES}
    if "sequence_id" in frame.columns and layout.split_by:
        sequence = F.col("sequence_id")
        is_half = F.col("half").isNotNull() & sequence.isNotNull()
        # Other rows are alone, so that those without sequence id are not all in one place.
        of_update = Window.partitionBy(sequence, F.when(~is_half, F.col("fed")))
        known = {
            side: F.first(F.when(F.col(side).isNotNull(), values), True).over(of_update)
            for side, values in known.items()
        }
    return frame.withColumn("is_split", F.coalesce(_is_split(layout, known), F.lit(False)))


def _formed(
    frame: DataFrame, layout: Layout, forms: Mapping[str, Form], *, has_places: bool
) -> DataFrame:
    """Return what is compared of each row, its key on both sides, and whether it is to be split."""
    rules = layout.rules
    row = F.col("fed") if rules.joins_halves else F.monotonically_increasing_id()
    own = {side: _split_values(side, layout) for side in _SIDES}
    columns = [
        F.col("error").isNull().alias("is_readable"),
        *(_field(name, rules) for name in ("op", "half", *rules.fields)),
        *([] if rules.position is None else [F.col(rules.position)]),
        *(
            _origin(row, has_sequence="sequence_id" in frame.columns)
            if rules.is_final or layout.needs_order or exact_form in forms.values()
            else []
        ),
        *(place_of(F.col("source"), _partition_in(frame), row) if has_places else []),
        *(F.col(side).isNotNull().alias(f"has_{side}") for side in _SIDES),
        *(_key(side, layout) for side in _SIDES),
        (F.col("is_split") if rules.joins_halves else _is_split(layout, own)).alias("is_split"),
    ]
    for suffix, form in forms.items():
        for side in _SIDES:
            found = form(F.col(side), F.col(f"{side}_has"), layout.fields, layout.fields)
            columns += [value.alias(f"{side}{suffix}_{name}") for name, value in found.items()]
        if rules.cuts_deletes:
            found = form(F.col("before"), F.lit(b""), layout.fields, layout.keys)
            columns += [value.alias(f"deleted{suffix}_{name}") for name, value in found.items()]
    return frame.select(*columns)


def _field(name: str, rules: ComparisonRules) -> Column:
    """Return what is compared of an event's field."""
    column = F.col(name)
    if rules.in_seconds and name == "commit_ms":
        column = (column - F.pmod(column, F.lit(1000))).alias(name)
    return column


def _origin(row: Column, *, has_sequence: bool) -> list[Column]:
    """Return the place of a row in its feed, and a struct that orders rows as their feed does."""
    source = F.col("source")
    sequence = F.col("sequence_id") if has_sequence else F.lit(None).cast(_SEQUENCE)
    order = [sequence.alias("sequence_id")]  # it holds across the shards of a topic
    order += [source.getField(name).alias(name) for name in _FEED_ORDER]
    order.append(row.alias("row"))
    return [source, F.struct(*order).alias("feed_order")]


def _partition_in(frame: DataFrame) -> Column:
    return F.col("partition") if "partition" in frame.columns else F.lit(None).cast("bigint")


def _parted(formed: DataFrame, layout: Layout, forms: Mapping[str, Form]) -> DataFrame:
    """Return one row per change: an update of a key as its delete and its insert.

    Rows that are not split go through the same generator: it keeps Spark from moving the forms of
    the images into the conditions here.
    """
    rules = layout.rules
    kept = ["is_readable", *([] if rules.in_halves else ["half"]), *rules.fields]
    kept += [n for n in ("source", "feed_order", *PLACE, "file_number") if n in formed.columns]
    if rules.position is not None:
        kept.append(rules.position)
    images: dict[str, Column] = {}
    for suffix in forms:
        for side in (*_SIDES, *(["deleted"] if rules.cuts_deletes else [])):
            struct = _struct_of(formed, f"{side}{suffix}_")
            if side == "deleted" and rules.deleted_columns == "all":
                is_cut = _is_cut(rules)
                struct = F.when(is_cut, struct).otherwise(_struct_of(formed, f"before{suffix}_"))
            has = F.col("has_after" if side == "after" else "has_before")
            images[f"{side}{suffix}"] = F.when(has, struct)

    own_half = _half_of(rules)

    def part(
        op: Column,
        key: Column,
        number: int | Column,
        sides: tuple[str | None, str | None],
        half: Column = own_half,
    ) -> Column:
        number = F.lit(number) if isinstance(number, int) else number
        columns = [op.alias("op"), key.alias("key"), number.alias("part")]
        columns += [half.alias("half")] if rules.in_halves else []
        for suffix in forms:
            for side, source in zip(_SIDES, sides, strict=True):
                image = images[f"{source or side}{suffix}"]
                columns.append((image if source else _null_of(image)).alias(f"{side}{suffix}"))
        return F.struct(*columns)

    op, key = F.col("op"), F.coalesce(F.col("key_after"), F.col("key_before"))
    deleted = "deleted" if rules.cuts_deletes else "before"
    has_halves = rules.in_halves and rules.has_old_values
    is_readable = F.col("is_readable")  # each row that can't be read has a part 0, to be counted
    number = F.when(is_readable & (own_half == "after"), 1).otherwise(0) if has_halves else 0
    parts = F.array(part(op, key, number, ("before", "after")))
    if not rules.has_old_values or rules.key_only_between:
        without = F.array(part(op, key, 0, (None, "after")))
        is_without = (op == "update") & (_is_cut(rules) if rules.has_old_values else F.lit(True))
        parts = F.when(is_without, without).otherwise(parts)
    if rules.fills_unchanged and rules.has_old_values:
        # With its changed columns only, an update that changes nothing looks like an insert.
        is_idle = (op == "update") & images["before"].eqNullSafe(images["after"])
        as_insert = F.array(part(F.lit("insert"), key, 0, (None, "after")))
        is_idle &= ~_is_cut(rules)
        parts = F.when(is_idle, as_insert).otherwise(parts)
    if deleted != "before":
        key_only = F.array(part(op, key, 0, (deleted, "after")))
        parts = F.when(op == "delete", key_only).otherwise(parts)
    if has_halves:
        both = F.array(
            part(op, F.col("key_before"), 0, ("before", None), F.lit("before")),
            part(op, F.col("key_after"), 1, (None, "after"), F.lit("after")),
        )
        is_whole = (op == "update") & F.col("has_before") & F.col("has_after")
        parts = F.when(is_whole, both).otherwise(parts)
    if layout.split_by:
        no_half = F.lit(None).cast("string")
        before = part(F.lit("delete"), F.col("key_before"), 0, (deleted, None), no_half)
        second = F.when(is_readable | F.col("has_before"), 1).otherwise(0)
        after = part(F.lit("insert"), F.col("key_after"), second, (None, "after"), no_half)
        halves = F.array(before, after)
        if rules.joins_halves:
            halves = F.when(~F.col("has_after"), F.array(before)).otherwise(halves)
            halves = F.when(~F.col("has_before"), F.array(after)).otherwise(halves)
        parts = F.when(F.col("is_split"), halves).otherwise(parts)
    return formed.select(*kept, F.inline(parts))


def may_be_read() -> Column:
    """Return whether a change is an insert that may be a row of a snapshot."""
    is_insert = F.col("op").isin("insert", "read") & (F.col("part") == 0)
    return F.coalesce(is_insert, F.lit(False))


def is_unknown() -> Column:
    """Return whether a change can't be read and has no key, so that it may be of any row."""
    return ~F.col("is_readable") & F.col("key").isNull()


def _half_of(rules: ComparisonRules) -> Column:
    """Return which record of an update a row is, where updates are compared in two records.

    Without old values the half after is the update.
    """
    half = F.col("half")
    if rules.folds_ops:  # updates and inserts are not distinguished
        return F.lit(None).cast("string")
    if not rules.has_old_values:
        return F.when((F.col("op") == "update") & F.col("has_after"), "after").otherwise(half)
    return half


def _struct_of(frame: DataFrame, prefix: str) -> Column:
    """Return the frame's columns that have this prefix, by the rest of their names."""
    names = [name for name in frame.columns if name.startswith(prefix)]
    return F.struct(*(F.col(name).alias(name[len(prefix) :]) for name in names))


def _is_cut(rules: ComparisonRules) -> Column:
    """Return whether a change is where old rows are left out."""
    found = F.lit(False)
    for before, after in rules.key_only_between:
        position, bounds = F.col(rules.position or ""), F.lit(True)
        if before is not None:
            bounds &= position > F.lit(str(before)).cast(_SEQUENCE)
        if after is not None:
            bounds &= position < F.lit(str(after)).cast(_SEQUENCE)
        found |= bounds
    return F.coalesce(found, F.lit(False))


def has_column(side: str, number: int) -> Column:
    """Return whether an image has a column. Frames without presence bits have all."""
    has = F.col(f"{side}_has")
    byte = F.conv(F.hex(F.substring(has, number // _BITS_OF_A_BYTE + 1, 1)), 16, 10).cast("int")
    bit = byte.bitwiseAND(F.lit(1 << number % _BITS_OF_A_BYTE)) != 0
    return F.when(has.isNull(), True).otherwise(F.coalesce(bit, F.lit(False)))


def _split_values(side: str, layout: Layout) -> Column:
    """Return the values whose change splits an update, and whether the image has each."""
    columns = [F.col(side).isNotNull().alias("is_there")]
    for number in layout.split_by:
        value = _value(side, layout.fields[number])
        columns += [
            value.alias(f"value{number}"),
            (value.isNotNull() | has_column(side, number)).alias(f"has{number}"),
        ]
    return F.struct(*columns)


def _is_split(layout: Layout, known: Mapping[str, Column]) -> Column:
    """Return whether an update is split. ``known``: the ``_split_values`` of its images."""
    if not layout.split_by:
        return F.lit(False)
    before, after = (known[side] for side in _SIDES)
    changed = [
        ~before.getField(f"value{n}").eqNullSafe(after.getField(f"value{n}"))
        & before.getField(f"has{n}")
        & after.getField(f"has{n}")
        for n in layout.split_by
    ]
    has_both = before.getField("is_there") & after.getField("is_there")
    return (F.col("op") == "update") & has_both & reduce(or_, changed)


def _key(side: str, layout: Layout) -> Column:
    values = [_value(side, field).alias(f"k{number}") for number, field in enumerate(layout.keys)]
    key = F.struct(*values or [F.lit(0)])
    return F.when(F.col(side).isNotNull(), key).alias(f"key_{side}")


def _value(side: str, field: StructField) -> Column:
    return comparable(F.col(side).getField(field.name), field.dataType)


def _null_of(value: Column) -> Column:
    """Return NULL of the same type."""
    return F.when(F.lit(False), value)
