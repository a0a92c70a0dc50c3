"""Changes of a feed, each under the name by which it meets its like on the other side.

``pair`` is a struct: the shared position, then the key's values. Without a shared position it is
the key's values and the ordinal of the change of that key, in the order of the feed. Where deletes
have no position they take the last one of their key before them, and their ordinal since then.
Without a key a row meets only its equal, and the pair is the position and the row's fingerprint.
Unreadable rows are counted and never compared. If its key is known, a row has a pair. So its like
on the other side does not count as alone. In most steps the parts of a pair
are separate columns (``PairLayout.pair_names``), which is cheaper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from cdcwire_conformance.compare.rules import ComparisonRules
from cdcwire_conformance.spark.compare.counting import PLACE, with_eras
from cdcwire_conformance.spark.compare.images import exact_form, fingerprint
from cdcwire_conformance.spark.compare.splitting import (
    Form,
    Layout,
    is_unknown,
    may_be_read,
    parted_changes,
)
from cdcwire_conformance.spark.compare.windows import in_window

_SALTS = {"a": 0x0DD5_EED5, "b": 0x5EED_0DD5}  # of either hash, so that they are two functions


@dataclass(frozen=True, slots=True)
class Kept:
    """The columns of changes in addition to their content.

    ``places``: the place of each in its part of the feed. ``eras``: that, and how often the part
    went back before it, for which all of the part is sorted. ``ties``: with places, which changes
    are deletes, for the order of changes at one position.
    """

    places: bool = False
    eras: bool = False
    ties: bool = False


NOTHING_KEPT = Kept()


def narrow_changes(frame: DataFrame, layout: Layout, kept: Kept = NOTHING_KEPT) -> DataFrame:
    """Return the changes with hashes of their rows, ``row_a`` and ``row_b``.

    The other columns are ``is_readable``, ``is_unknown`` (it can't be read, and has no key), the
    names of the pair, ``part`` and those of ``kept``. ``part`` is 1 for the insert of a split
    update and for an after record, else 0.
    """
    changes = _changes(frame, layout, {"": fingerprint}, kept=kept)
    return changes.select(*_output_columns(layout, ("row_a", "row_b"), kept))


def wide_changes(frame: DataFrame, layout: Layout, kept: Kept = NOTHING_KEPT) -> DataFrame:
    """Return what ``narrow_changes`` does, with ``layout.content`` in place of the hashes."""
    changes = _changes(frame, layout, _exact_forms(layout), kept=kept)
    return changes.select(*_output_columns(layout, layout.content, kept))


def changes_of_pairs(frame: DataFrame, layout: Layout, pairs: DataFrame) -> DataFrame:
    """Return the changes of the pairs that are in the column ``pair`` of ``pairs``.

    The columns are pair, ``layout.content``, ``part``, ``feed_order`` and ``source``.
    """
    rules = layout.rules
    if rules.position is not None and not rules.bare_ops:
        # Cheap, and spares most rows the way to their exact form.
        wanted = pairs.select(F.col("pair.position").alias("wanted")).distinct()
        is_wanted = F.col(rules.position).eqNullSafe(F.col("wanted"))
        frame = frame.join(wanted, is_wanted, "left_semi")
    changes = _changes(frame, layout, _exact_forms(layout), pairs)
    pair = F.when(F.col("is_readable"), F.struct(*layout.pair_names))
    changes = changes.withColumn("pair", pair).join(pairs, "pair", "left_semi")
    return changes.select("pair", *layout.content, "part", "feed_order", "source")


def _exact_forms(layout: Layout) -> dict[str, Form]:
    # Without a key the fingerprint is what the pair is made of.
    return {"": exact_form} if layout.keys else {"": exact_form, "_print": fingerprint}


def _output_columns(layout: Layout, content: Sequence[str], kept: Kept) -> tuple[str, ...]:
    names = ["is_readable", "is_unknown", *layout.pair_names, *content, "part"]
    if kept.places or kept.eras:
        names += PLACE
    if kept.eras:
        names.append("era")
    if kept.ties:
        names.append("is_delete")
    if kept.places and layout.rules.has_reads_as_inserts:
        names.append("may_be_read")
    if (kept.places or kept.eras) and layout.rules.bare_ops:
        names.append("passing")
    return tuple(dict.fromkeys(names))  # without a key the hashes are the pair


def _changes(
    frame: DataFrame,
    layout: Layout,
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
    if layout.needs_order:
        if pairs is not None:
            key = F.struct(*(F.col("pair").getField(n).alias(n) for n in layout.key_names))
            keys = pairs.select(key.alias("key")).distinct()
            changes = changes.join(keys, "key", "left_semi")
        changes = _ordered(changes, rules)
    elif rules.bare_ops:
        changes = with_bare_changes(changes, rules)
    if rules.position is not None:
        position = F.col(rules.position)
        changes = changes.withColumn("position", position)
        if rules.bare_ops:
            passing = F.when(~_is_bare(rules), position)
            changes = changes.withColumn("passing", passing)
    if kept.eras and rules.position is not None:
        changes = with_eras(changes, passing_name(layout))
        changes = in_window(changes, rules.position, window)
    if rules.leaves_deletes:
        changes = changes.where(~F.col("op").eqNullSafe("delete"))
    if kept.places and rules.has_reads_as_inserts:
        changes = changes.withColumn("may_be_read", may_be_read())
    changes = changes.withColumn("op", _comparable_op(F.col("op"), rules))
    if kept.ties:
        changes = changes.withColumn("is_delete", F.col("op").eqNullSafe("delete"))
    key = F.col("key")
    parts = {name: key.getField(name) for name in layout.key_names}
    parts["is_unknown"] = is_unknown()
    hashes = _row_hashes(layout, list(forms)[-1])
    if not layout.keys or exact_form not in forms.values():
        parts |= dict(zip(("row_a", "row_b"), hashes, strict=True))
    return changes.withColumns(parts)


def passing_name(layout: Layout) -> str:
    """Return the column of the position that a change has itself."""
    return "passing" if layout.rules.bare_ops else "position"


def _ordered(changes: DataFrame, rules: ComparisonRules) -> DataFrame:
    """Return the changes with the ordinal of each among the changes of its key.

    With positions, only bare changes are numbered, each among those of its operation since the last
    position of its key. A bare change takes that position. Where a position is that of a
    transaction, its changes of a key are numbered too.
    """
    order = ("feed_order", "part")
    of_key = Window.partitionBy("key").orderBy(*order)
    if rules.position is None:
        changes = with_bare_changes(changes, rules) if rules.bare_ops else changes
        return changes.withColumn("ordinal", F.row_number().over(of_key))
    changes = with_bare_changes(changes, rules)
    last = F.last(rules.position, ignorenulls=True).over(of_key)
    changes = changes.withColumn(rules.position, last)
    bare_op = F.when(_is_bare(rules), F.col("op")).otherwise("")
    changes = changes.withColumn("bare_op", bare_op)
    since = Window.partitionBy("key", "bare_op", rules.position).orderBy(*order)
    number = F.row_number().over(since)
    if not rules.numbers_ties:
        number = F.when(_is_bare(rules), number).otherwise(0)
    return changes.withColumn("ordinal", number).drop("bare_op")


def with_bare_changes(changes: DataFrame, rules: ComparisonRules) -> DataFrame:
    """Return the changes with neither position nor fields in bare ones."""
    names = (*([] if rules.position is None else [rules.position]), *rules.fields)
    return changes.withColumns({name: F.when(~_is_bare(rules), F.col(name)) for name in names})


def _is_bare(rules: ComparisonRules) -> Column:
    return F.coalesce(F.col("op").isin(*rules.bare_ops), F.lit(False))


def _comparable_op(op: Column, rules: ComparisonRules) -> Column:
    if rules.folds_ops:
        return F.when(op == "delete", op).otherwise("upsert")
    return F.when(op == "read", "insert").otherwise(op)  # a row of a snapshot is one inserted


def _row_hashes(layout: Layout, suffix: str) -> list[Column]:
    """Return both hashes of a change from the fingerprints of its images."""
    fields = [F.col(name) for name in ("op", "half", *layout.rules.fields)]
    images = [F.col(f"before{suffix}"), F.col(f"after{suffix}")]
    nulls = [value.isNull() for value in (*fields, *images)]
    return [
        F.xxhash64(F.lit(salt), *nulls, *fields, *(image.getField(half) for image in images)).alias(
            f"row_{half}"
        )
        for half, salt in _SALTS.items()
    ]
