"""Changes of a feed, each under the name by which it meets its like on the other side.

``pair`` is a struct: the shared position, then the key's values. Without a shared position it is
the key's values and the ordinal of the change of that key, in the order of the feed. Where deletes
have no position they take the last one of their key before them, and their ordinal since then.
Without a key a row meets only its equal, and the pair is the position and the row's fingerprint.
Unreadable rows have no pair: they are counted and never compared. Most of the way the parts of a
pair are columns of their own (``PairLayout.pair_names``), which is cheaper.

An update that changes a value of a primary or unique key becomes its delete and its insert; with
``in_halves`` any update becomes its two halves. As long as fingerprints will do, this copies narrow
rows only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import TypeAlias

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from cdcwire_conformance.arrow.schema import CanonicalTable
from cdcwire_conformance.spark.compare.counting import PLACE, place_of, with_eras
from cdcwire_conformance.spark.compare.images import comparable, exact_form, fingerprint
from cdcwire_conformance.spark.compare.rules import ComparisonRules, in_window
from cdcwire_conformance.spark.compare.rules import Window as PositionWindow

_KEY_ROLES = frozenset({"primary", "handle", "unique"})
_HANDLE_ROLES = frozenset({"handle"})
_SALTS = {"a": 0x0DD5_EED5, "b": 0x5EED_0DD5}  # of either hash, so that they are two functions
_BITS_OF_A_BYTE = 8
# What a frame may leave out, and the type of the NULL that stands for it.
_OPTIONAL = {
    "half": "string",
    "before_has": "binary",
    "after_has": "binary",
    "source": "struct<topic:string,partition:int,offset:bigint,file:string,line:bigint>",
    "error": "struct<problem:string>",
}
_SIDES = ("before", "after")
_SEQUENCE = "decimal(38,0)"
_FEED_ORDER = ("topic", "partition", "file", "offset", "line")


@dataclass(frozen=True, slots=True)
class PairLayout:
    """What a comparison needs to know of both frames, whose types are the same.

    ``fields``: of the images, in the order of the table's columns. ``keys``: those of the key.
    ``split_by``: the numbers of the columns whose change splits an update. ``window``: only the
    changes in it are compared.
    """

    fields: tuple[StructField, ...]
    keys: tuple[StructField, ...]
    split_by: tuple[int, ...]
    rules: ComparisonRules
    window: PositionWindow | None = None

    @property
    def content(self) -> tuple[str, ...]:
        """The columns of ``wide_changes`` by which rows are equal."""
        return self.rules.compared

    @property
    def key_names(self) -> tuple[str, ...]:
        """The columns of a change that are its key."""
        return tuple(f"k{number}" for number in range(len(self.keys)))

    @property
    def pair_names(self) -> tuple[str, ...]:
        """The columns of a change that are its pair."""
        position = () if self.rules.position is None else ("position",)
        if not self.keys:
            return (*position, "row_a", "row_b")
        return (*position, *self.key_names, *(("ordinal",) if _needs_order(self) else ()))

    @property
    def place_name(self) -> str | None:
        """The field of a pair that says which of a key's changes it is."""
        if self.rules.is_final:
            return None
        if self.rules.position is not None:
            return "position"
        return "ordinal" if self.keys else None

    @property
    def paired_by(self) -> tuple[str, ...]:
        """The names of what makes a pair; nothing if rows meet only their equals."""
        names = tuple(field.name for field in self.keys)
        if self.place_name is None:
            return names
        return (self.rules.position or "ordinal", *names)


def layout_of(
    image: StructType,
    table: CanonicalTable,
    rules: ComparisonRules,
    window: PositionWindow | None = None,
) -> PairLayout:
    """Return the layout of a table's frames. ``image``: the type of ``before`` and ``after``.

    A key of which a column is not read is no key.
    """
    fields = {field.name: field for field in image.fields}
    key = table.key or ()
    keys = tuple(fields[name] for name in key) if set(key) <= set(table.column_names) else ()
    roles = _KEY_ROLES if rules.has_old_values else _HANDLE_ROLES
    is_splitting = rules.split_keys and not rules.in_halves
    split_by = tuple(
        number
        for number, column in enumerate(table.columns)
        if is_splitting and (column.roles & roles or column.name in key)
    )
    columns = tuple(fields[name] for name in table.column_names)
    return PairLayout(columns, keys, split_by, rules, window)


@dataclass(frozen=True, slots=True)
class Kept:
    """What changes carry beside what they are.

    ``places``: where each stands in its part of the feed. ``eras``: that, and how often the part
    went back before it, for which all of the part is sorted.
    """

    places: bool = False
    eras: bool = False


NOTHING_KEPT = Kept()


def narrow_changes(frame: DataFrame, layout: PairLayout, kept: Kept = NOTHING_KEPT) -> DataFrame:
    """Return the changes with hashes of their rows, ``row_a`` and ``row_b``.

    The other columns are ``is_readable``, the names of the pair, ``part`` and those of ``kept``.
    ``part`` is 1 for the insert of a split update and for an after record, else 0.
    """
    changes = _changes(frame, layout, {"": fingerprint}, kept=kept)
    return changes.select(*_told(layout, ("row_a", "row_b"), kept))


def wide_changes(frame: DataFrame, layout: PairLayout, kept: Kept = NOTHING_KEPT) -> DataFrame:
    """Return what ``narrow_changes`` does, with ``layout.content`` in place of the hashes."""
    changes = _changes(frame, layout, _exact_forms(layout), kept=kept)
    return changes.select(*_told(layout, layout.content, kept))


def changes_of_pairs(frame: DataFrame, layout: PairLayout, pairs: DataFrame) -> DataFrame:
    """Return the changes of the pairs that are in the column ``pair`` of ``pairs``.

    The columns are pair, ``layout.content``, ``part``, ``feed_order`` and ``source``.
    """
    rules = layout.rules
    if rules.position is not None and not rules.has_bare_deletes:
        # Cheap, and spares most rows the way to their exact form.
        wanted = pairs.select(F.col("pair.position").alias("wanted")).distinct()
        is_wanted = F.col(rules.position).eqNullSafe(F.col("wanted"))
        frame = frame.join(wanted, is_wanted, "left_semi")
    changes = _changes(frame, layout, _exact_forms(layout), pairs)
    pair = F.when(F.col("is_readable"), F.struct(*layout.pair_names))
    changes = changes.withColumn("pair", pair).join(pairs, "pair", "left_semi")
    return changes.select("pair", *layout.content, "part", "feed_order", "source")


def _exact_forms(layout: PairLayout) -> dict[str, Form]:
    # Without a key the fingerprint is what the pair is made of.
    return {"": exact_form} if layout.keys else {"": exact_form, "_print": fingerprint}


def _told(layout: PairLayout, content: Sequence[str], kept: Kept) -> tuple[str, ...]:
    names = ["is_readable", *layout.pair_names, *content, "part"]
    if kept.places or kept.eras:
        names += PLACE
    if kept.eras:
        names.append("era")
    if (kept.places or kept.eras) and layout.rules.has_bare_deletes:
        names.append("passing")
    return tuple(dict.fromkeys(names))  # without a key the hashes are the pair


Form: TypeAlias = Callable[
    [Column, Column, Sequence[StructField], Sequence[StructField]], dict[str, Column]
]


def _changes(
    frame: DataFrame,
    layout: PairLayout,
    forms: Mapping[str, Form],
    pairs: DataFrame | None = None,
    kept: Kept = NOTHING_KEPT,
) -> DataFrame:
    """Return the changes with ``before`` and ``after`` in each of the forms, named by suffixes.

    Ordinals need all changes of a key, and those of the keys of ``pairs`` will do.
    """
    rules = layout.rules
    window = layout.window
    if rules.position is not None and not kept.eras:  # whether a part went back, all of it tells
        frame = in_window(frame, rules.position, window)
    changes = parted_changes(frame, layout, forms, has_places=kept.places or kept.eras)
    if _needs_order(layout):
        if pairs is not None:
            key = F.struct(*(F.col("pair").getField(n).alias(n) for n in layout.key_names))
            keys = pairs.select(key.alias("key")).distinct()
            changes = changes.join(keys, "key", "left_semi")
        changes = _ordered(changes, rules)
    elif rules.has_bare_deletes:
        changes = with_bare_deletes(changes, rules)
    if rules.position is not None:
        position = F.col(rules.position)
        changes = changes.withColumn("position", position)
        if rules.has_bare_deletes:
            passing = F.when(~F.col("op").eqNullSafe("delete"), position)
            changes = changes.withColumn("passing", passing)
    if kept.eras and rules.position is not None:
        changes = with_eras(changes, passing_name(layout))
        changes = in_window(changes, rules.position, window)
    if rules.leaves_deletes:
        changes = changes.where(~F.col("op").eqNullSafe("delete"))
    changes = changes.withColumn("op", _comparable_op(F.col("op"), rules))
    key = F.col("key")
    parts = {name: key.getField(name) for name in layout.key_names}
    hashes = _row_hashes(layout, list(forms)[-1])
    if not layout.keys or exact_form not in forms.values():
        parts |= dict(zip(("row_a", "row_b"), hashes, strict=True))
    return changes.withColumns(parts)


def parted_changes(
    frame: DataFrame, layout: PairLayout, forms: Mapping[str, Form], *, has_places: bool = False
) -> DataFrame:
    """Return one row a change, as the feed has them: with its key, and its images in each form."""
    rules = layout.rules
    if rules.in_halves and not rules.has_old_values and "half" in frame.columns:
        frame = frame.where(F.coalesce(F.col("half") != "before", F.lit(True)))
    formed = _formed(_prepared(frame, layout), layout, forms, has_places=has_places)
    return _parted(formed, layout, forms)


def passing_name(layout: PairLayout) -> str:
    """Return the column of the position that a change has itself."""
    return "passing" if layout.rules.has_bare_deletes else "position"


def _ordered(changes: DataFrame, rules: ComparisonRules) -> DataFrame:
    """Return the changes with the ordinal of each among the changes of its key.

    With positions, only deletes are numbered, each among those since the last position of its
    key. A delete takes that position.
    """
    order = ("feed_order", "part")
    of_key = Window.partitionBy("key").orderBy(*order)
    if rules.position is None:
        changes = with_bare_deletes(changes, rules) if rules.has_bare_deletes else changes
        return changes.withColumn("ordinal", F.row_number().over(of_key))
    changes = with_bare_deletes(changes, rules)
    last = F.last(rules.position, ignorenulls=True).over(of_key)
    is_delete = F.col("op").eqNullSafe("delete")
    changes = changes.withColumns({rules.position: last, "is_delete": is_delete})
    since = Window.partitionBy("key", "is_delete", rules.position).orderBy(*order)
    ordinal = F.when(is_delete, F.row_number().over(since)).otherwise(0)
    return changes.withColumn("ordinal", ordinal).drop("is_delete")


def with_bare_deletes(changes: DataFrame, rules: ComparisonRules) -> DataFrame:
    """Return the changes with neither position nor fields in deletes."""
    names = (*([] if rules.position is None else [rules.position]), *rules.fields)
    is_delete = F.col("op").eqNullSafe("delete")
    return changes.withColumns({name: F.when(~is_delete, F.col(name)) for name in names})


def _comparable_op(op: Column, rules: ComparisonRules) -> Column:
    if rules.folds_ops:
        return F.when(op == "delete", op).otherwise("upsert")
    return F.when(op == "read", "insert").otherwise(op)  # a row of a snapshot is one inserted


def _row_hashes(layout: PairLayout, suffix: str) -> list[Column]:
    """Return both hashes of a change from the fingerprints of its images."""
    fields = [F.col(name) for name in ("op", "half", *layout.rules.fields)]
    images = [F.col(f"before{suffix}"), F.col(f"after{suffix}")]
    nulls = [value.isNull() for value in (*fields, *images)]
    return [
        F.xxhash64(F.lit(salt), *nulls, *fields, *(image.getField(lane) for image in images)).alias(
            f"row_{lane}"
        )
        for lane, salt in _SALTS.items()
    ]


def _prepared(frame: DataFrame, layout: PairLayout) -> DataFrame:
    """Return the frame with all columns that may be left out, and unchanged columns filled in."""
    missing = {name: kind for name, kind in _OPTIONAL.items() if name not in frame.columns}
    if missing:
        frame = frame.withColumns({n: F.lit(None).cast(kind) for n, kind in missing.items()})
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


def _formed(
    frame: DataFrame, layout: PairLayout, forms: Mapping[str, Form], *, has_places: bool
) -> DataFrame:
    """Return what is compared of each row, its key on both sides, and whether it is to be split."""
    rules = layout.rules
    columns = [
        F.col("error").isNull().alias("is_readable"),
        *(F.col(name) for name in ("op", "half", *rules.fields)),
        *([] if rules.position is None else [F.col(rules.position)]),
        *(
            _origin(has_sequence="sequence_id" in frame.columns)
            if rules.is_final or _needs_order(layout) or exact_form in forms.values()
            else []
        ),
        *(place_of(F.col("source"), _partition_in(frame)) if has_places else []),
        *(F.col(side).isNotNull().alias(f"has_{side}") for side in _SIDES),
        *(_key(side, layout) for side in _SIDES),
        _is_split(layout).alias("is_split"),
    ]
    for suffix, form in forms.items():
        for side in _SIDES:
            found = form(F.col(side), F.col(f"{side}_has"), layout.fields, layout.fields)
            columns += [value.alias(f"{side}{suffix}_{name}") for name, value in found.items()]
        if rules.deleted_columns == "key":
            found = form(F.col("before"), F.lit(b""), layout.fields, layout.keys)
            columns += [value.alias(f"deleted{suffix}_{name}") for name, value in found.items()]
    return frame.select(*columns)


def _origin(*, has_sequence: bool) -> list[Column]:
    """Return where a row stands in its feed, and a struct that orders rows as their feed does."""
    source = F.col("source")
    sequence = F.col("sequence_id") if has_sequence else F.lit(None).cast(_SEQUENCE)
    order = [sequence.alias("sequence_id")]  # it holds across the shards of a topic
    order += [source.getField(name).alias(name) for name in _FEED_ORDER]
    order.append(F.monotonically_increasing_id().alias("row"))
    return [source, F.struct(*order).alias("feed_order")]


def _partition_in(frame: DataFrame) -> Column:
    return F.col("partition") if "partition" in frame.columns else F.lit(None).cast("bigint")


def _needs_order(layout: PairLayout) -> bool:
    rules = layout.rules
    lacks_positions = rules.has_bare_deletes and not rules.leaves_deletes
    return bool(layout.keys) and (rules.position is None or lacks_positions)


def _parted(formed: DataFrame, layout: PairLayout, forms: Mapping[str, Form]) -> DataFrame:
    """Return one row a change: an update of a key as its delete and its insert.

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
        for side in (*_SIDES, *(["deleted"] if rules.deleted_columns == "key" else [])):
            names = _names_of(formed, f"{side}{suffix}_")
            struct = F.struct(*(F.col(name).alias(short) for short, name in names.items()))
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
    deleted = "deleted" if rules.deleted_columns == "key" else "before"
    has_halves = rules.in_halves and rules.has_old_values
    number = F.when(own_half == "after", 1).otherwise(0) if has_halves else 0
    parts = F.array(part(op, key, number, ("before", "after")))
    if not rules.has_old_values:
        without = F.array(part(op, key, 0, (None, "after")))
        parts = F.when(op == "update", without).otherwise(parts)
    if rules.fills_unchanged and rules.has_old_values:
        # With its changed columns only, an update that changes nothing looks like an insert.
        is_idle = (op == "update") & images["before"].eqNullSafe(images["after"])
        as_insert = F.array(part(F.lit("insert"), key, 0, (None, "after")))
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
        halves = F.array(
            part(F.lit("delete"), F.col("key_before"), 0, (deleted, None)),
            part(F.lit("insert"), F.col("key_after"), 1, (None, "after")),
        )
        parts = F.when(F.col("is_split"), halves).otherwise(parts)
    return formed.select(*kept, F.inline(parts))


def _half_of(rules: ComparisonRules) -> Column:
    """Return which half of an update a row is, where updates are compared in halves.

    Without old values the half after is the update.
    """
    half = F.col("half")
    if rules.folds_ops:  # an update is not told from an insert
        return F.lit(None).cast("string")
    if not rules.has_old_values:
        return F.when((F.col("op") == "update") & F.col("has_after"), "after").otherwise(half)
    return half


def _names_of(frame: DataFrame, prefix: str) -> dict[str, str]:
    """Return the frame's columns that have this prefix, by the rest of their names."""
    return {name[len(prefix) :]: name for name in frame.columns if name.startswith(prefix)}


def has_column(side: str, number: int) -> Column:
    """Return whether an image has a column. Frames that don't tell have all."""
    has = F.col(f"{side}_has")
    byte = F.conv(F.hex(F.substring(has, number // _BITS_OF_A_BYTE + 1, 1)), 16, 10).cast("int")
    bit = byte.bitwiseAND(F.lit(1 << number % _BITS_OF_A_BYTE)) != 0
    return F.when(has.isNull(), True).otherwise(F.coalesce(bit, F.lit(False)))


def _is_split(layout: PairLayout) -> Column:
    if not layout.split_by:
        return F.lit(False)
    changed = []
    for number in layout.split_by:
        field = layout.fields[number]
        values = {side: _value(side, field) for side in ("before", "after")}
        is_told = [value.isNotNull() | has_column(side, number) for side, value in values.items()]
        changed.append(~values["before"].eqNullSafe(values["after"]) & reduce(and_, is_told))
    is_update = F.col("op") == "update"
    has_both = F.col("before").isNotNull() & F.col("after").isNotNull()
    return is_update & has_both & reduce(or_, changed)


def _key(side: str, layout: PairLayout) -> Column:
    values = [_value(side, field).alias(f"k{number}") for number, field in enumerate(layout.keys)]
    key = F.struct(*values or [F.lit(0)])
    return F.when(F.col(side).isNotNull(), key).alias(f"key_{side}")


def _value(side: str, field: StructField) -> Column:
    return comparable(F.col(side).getField(field.name), field.dataType)


def _null_of(value: Column) -> Column:
    """Return NULL of the same type."""
    return F.when(F.lit(False), value)
