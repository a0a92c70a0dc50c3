"""The last row of each key, by the rules that ``compare.embedded.final_state`` describes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import add, and_, or_
from typing import Literal, TypeAlias

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from cdcwire_conformance.spark.compare.images import exact_form, fingerprint
from cdcwire_conformance.spark.compare.splitting import (
    Form,
    Layout,
    is_unknown,
    may_be_read,
    parted_changes,
)
from cdcwire_conformance.spark.compare.windows import in_window

Look: TypeAlias = Literal["none", "quick", "whole"]
"""How keys that go back are looked for. ``quick``: what was sent again may be among them."""

_SIDES = ("left", "right")
_OTHER = {"left": "right", "right": "left"}


def summary_of_keys(
    left: DataFrame, right: DataFrame, layout: Layout, *, exact: bool, looks: Look = "none"
) -> DataFrame:
    """Return ``result.Counts`` of each key that differs, and in a row without pair of all others.

    Counts are of keys that have a row at the end; ``left_rows`` and ``right_rows`` of changes. Keys
    whose last change can't be read are left out.
    ``looks``: for keys that go back (see ``compare.embedded.final_state``).
    """
    form = exact_form if exact else fingerprint
    keys = _last_states(left, right, layout, form, looks=looks)
    is_there = {side: _is_there(side) for side in _SIDES}
    is_on_both = is_there["left"] & is_there["right"]
    is_read = reduce(and_, (~_is_unread(side) for side in _SIDES))
    is_same = F.col("left.after").eqNullSafe(F.col("right.after"))
    flags = {
        **is_there,
        "same": is_on_both & is_same,
        "changed": is_on_both & ~is_same,
        **{f"only_{side}": is_there[side] & ~is_there[_OTHER[side]] for side in _SIDES},
    }
    if layout.rules.leaves_left_over:
        flags["only_right"] = F.lit(False)
    is_differing = reduce(or_, (flags[name] for name in ("changed", "only_left", "only_right")))
    sums = {name: F.count_if(is_read & flag) for name, flag in flags.items()}
    if layout.rules.against_table:
        copies = F.greatest(F.col("right_rows") - 1, F.lit(0))
        sums["doubled_right"] = F.sum(F.when(is_read, copies).otherwise(0))
        is_differing |= F.col("right_rows") > 1
    is_differing &= is_read
    pair = F.struct(*layout.key_names)
    backs = [] if looks == "none" else _backs(keys)
    return keys.groupBy(F.when(is_differing, pair).alias("pair")).agg(
        *(value.alias(name) for name, value in sums.items()),
        *backs,
        *(
            F.sum(name).alias(name)
            for side in _SIDES
            for name in (f"{side}_rows", f"unreadable_{side}")
        ),
    )


def _backs(keys: DataFrame) -> list[Column]:
    """Return how many keys go back on some side, and the smallest position of those."""
    ends = []
    for side in _SIDES:
        end, last = F.col(f"{side}_end"), F.col(f"{side}_at")
        is_back = ~F.col("is_unknown") & F.col(f"{side}_is_one_part")
        is_back &= F.col(f"{side}_unplaced") == 0
        is_back &= (end.getField("position") < last) & ~end.getField("is_again")
        is_back &= ~end.getField("after").eqNullSafe(F.col(side).getField("after"))
        ends.append(F.when(is_back, end.getField("position")))
    return [
        reduce(add, (F.count(each) for each in ends)).alias("backwards"),
        F.min(F.least(*ends)).alias("first_back"),
    ]


def states_of_pairs(
    left: DataFrame, right: DataFrame, layout: Layout, pairs: DataFrame
) -> DataFrame:
    """Return the last rows of some keys, side by side, as ``difference.side_by_side`` does."""
    keys = _last_states(left, right, layout, exact_form, pairs)
    against_table = layout.rules.against_table
    if against_table:
        keys = _against_table(left, keys, layout, pairs)
    else:
        gone = F.coalesce(*(F.when(~_is_there(side), _change(side)) for side in _SIDES))
        keys = keys.withColumns({"rank": F.lit(0), "kind": F.lit("changed"), "due": gone})
    return keys.select(
        F.struct(*layout.key_names).alias("pair"),
        "rank",
        "kind",
        "due",
        *(["explained"] if against_table else []),
        *(F.when(_is_there(side), _it(side)).alias(side) for side in _SIDES),
    )


def _against_table(left: DataFrame, keys: DataFrame, layout: Layout, pairs: DataFrame) -> DataFrame:
    """Return the states of keys with what is wrong with the table's row, and what it lacks.

    A row is stale if an earlier state of the feed has more of its columns than the last one has.
    ``due`` is the change after that state: its position and source. For a row that is left over,
    it is the last change, a delete. ``explained``: the columns that are right in that state. A row
    that the table has more than once is in the answer twice: as it is, and as a double.
    """
    states = _states(left, layout, {"": exact_form})
    states = _of_pairs(states, layout, pairs).where("is_readable")
    table = keys.select(*layout.key_names, F.col("right.after.row").alias("row"))
    states = states.join(table, [*layout.key_names])
    values = F.col("state.after.row"), F.col("row")
    wrong = F.array(
        *(
            ~values[0].getField(f"c{number}").eqNullSafe(values[1].getField(f"c{number}"))
            for number in range(len(layout.fields))
        )
    )
    states = states.withColumn("wrong", F.when(F.col("state.is_present"), wrong))
    gone = F.lit(len(layout.fields) + 1)  # a deleted row has no column of the table's row
    count = F.size(F.filter("wrong", lambda each: each))
    size = F.when(F.col("wrong").isNull(), gone).otherwise(count)
    in_order = Window.partitionBy(*layout.key_names).orderBy("order")
    change = F.struct(F.col("state.position").alias("position"), F.col("state.source"))
    states = states.withColumns({"size": size, "next": F.lead(change).over(in_order)})
    best = F.struct(F.col("size"), F.col("wrong"), F.col("next"))
    of_key = states.groupBy(*layout.key_names).agg(
        F.max_by(best, F.struct(-F.col("size"), F.col("order"))).alias("best"),
        F.max_by(F.struct("size", "wrong"), "order").alias("last"),
        F.max_by(change, "order").alias("last_change"),
    )
    found = keys.join(of_key, [*layout.key_names], "left")
    is_changed = _is_there("left") & _is_there("right")
    is_stale = is_changed & (F.col("best.size") < F.col("last.size"))
    is_same = is_changed & F.col("left.after").eqNullSafe(F.col("right.after"))
    due = F.when(is_stale, F.col("best.next")).when(~_is_there("left"), F.col("last_change"))
    numbers = F.sequence(F.lit(0), F.lit(len(layout.fields) - 1))
    explained = F.filter(numbers, lambda n: ~F.get(F.col("best.wrong"), n))
    kind = F.when(is_same, None).when(is_stale, "stale").otherwise("changed")
    found = found.withColumns(
        {
            "rank": F.lit(0),
            "kind": kind,
            "due": due,
            "explained": F.when(is_stale, explained),
        }
    )
    doubled = found.where("right_rows > 1").withColumns(
        {"rank": F.lit(1), "kind": F.lit("doubled"), "due": F.when(F.lit(False), F.col("due"))}
    )
    return found.where("kind IS NOT NULL").unionByName(doubled)


def _of_pairs(states: DataFrame, layout: Layout, pairs: DataFrame) -> DataFrame:
    key = F.struct(*layout.key_names)
    return states.withColumn("pair", key).join(pairs, "pair", "left_semi").drop("pair")


def _is_there(side: str) -> Column:
    return F.coalesce(F.col(f"{side}.is_present"), F.lit(False))


def _is_unread(side: str) -> Column:
    """Return whether the last change of a key on this side can't be read."""
    return ~F.coalesce(F.col(f"{side}.is_readable"), F.lit(True))


def _change(side: str) -> Column:
    """Return the position and the source of the last change of a key; NULL if it has none."""
    state = F.col(side)
    change = F.struct(state.getField("position").alias("position"), state.getField("source"))
    return F.when(state.isNotNull(), change)


def _it(side: str) -> Column:
    """Return a row as ``difference.rows_of_pairs`` has it, and the position of its last change."""
    state = F.col(side)
    is_double = (F.col("kind") == "doubled") & F.lit(side == "right")
    copies = F.when(is_double, F.col("right_rows")).otherwise(1)
    after = state.getField("after")
    row = F.struct(
        F.lit("row").alias("op"),
        F.lit(None).cast("string").alias("half"),
        F.when(F.lit(False), after).alias("before"),
        after.alias("after"),
    )
    return F.struct(
        row.alias("row"),
        *((copies if name == side else F.lit(0)).alias(name) for name in _SIDES),
        *(state.getField("source").alias(f"{name}_source") for name in _SIDES),
        state.getField("position").alias("position"),
    )


def _last_states(
    left: DataFrame,
    right: DataFrame,
    layout: Layout,
    form: Form,
    pairs: DataFrame | None = None,
    *,
    looks: Look = "none",
) -> DataFrame:
    """Return each key once, with its last ``left`` and ``right`` state, and how many changes.

    ``looks``: also with what its last change in the feed leaves, as ``left_end``.
    """
    ours, theirs = (_states(frame, layout, {"": form}, looks) for frame in (left, right))
    if pairs is not None:
        ours, theirs = (_of_pairs(states, layout, pairs) for states in (ours, theirs))
    union = ours.withColumn("is_left", F.lit(True)).unionByName(
        theirs.withColumn("is_left", F.lit(False))
    )
    found = []
    for side, is_side in zip(_SIDES, (F.col("is_left"), ~F.col("is_left")), strict=True):
        found.append(F.max_by("state", F.when(is_side, F.col("order"))).alias(side))
        is_row = is_side & (F.col("part") == 0)
        found.append(F.count_if(is_row & F.col("is_readable")).alias(f"{side}_rows"))
        found.append(F.count_if(is_row & ~F.col("is_readable")).alias(f"unreadable_{side}"))
        if looks != "none":
            place = F.when(is_side, F.struct("order.feed_order", "order.part"))
            stream = F.when(is_side, F.col("stream"))
            found += [
                F.max_by("end", place).alias(f"{side}_end"),
                F.max(F.when(is_side, F.col("order.position"))).alias(f"{side}_at"),
                F.min(stream).eqNullSafe(F.max(stream)).alias(f"{side}_is_one_part"),
                F.count_if(is_side & F.col("stream").isNull()).alias(f"{side}_unplaced"),
            ]
    return union.groupBy("is_unknown", *layout.key_names).agg(*found)


def _states(
    frame: DataFrame, layout: Layout, forms: Mapping[str, Form], looks: Look = "none"
) -> DataFrame:
    """Return what each change leaves of its key, and when it does."""
    rules = layout.rules
    if rules.position is not None:
        frame = in_window(frame, rules.position, layout.window)
    changes = parted_changes(frame, layout, forms, has_places=looks != "none")
    position = F.lit(None).cast("decimal(38,0)")
    is_present = F.col("after").isNotNull()
    goes_before = F.lit(0)
    if rules.position is not None:
        position = F.col(rules.position)
        if not rules.numbers_ties:
            goes_before = F.when(is_present, 1).otherwise(0)
    sent = position
    if rules.position is not None and (rules.bare_ops or rules.has_reads_as_inserts):
        if rules.has_bare_reads:
            own = F.when(~F.col("op").eqNullSafe("read"), position)
            changes = changes.withColumn(rules.position, own)
        elif rules.has_reads_as_inserts:
            changes = _without_snapshot(changes, rules.position)
            sent = F.col("sent")
        so_far = Window.partitionBy("key").orderBy("feed_order", "part")
        last = F.last(rules.position, ignorenulls=True).over(so_far)
        is_bare = ~is_present & position.isNull()
        changes = changes.withColumns({"last": last, "is_bare": is_bare})
        position = F.coalesce(position, F.col("last"))
        goes_before = F.when(F.col("is_bare"), 2).otherwise(goes_before)
    state = F.struct(
        is_present.alias("is_present"),
        "is_readable",
        "after",
        F.col("source"),
        position.cast("string").alias("position"),
    )
    end = []
    if looks != "none":
        is_again = F.lit(False)
        if looks == "whole":
            copies = Window.partitionBy("key", sent, "after").orderBy("feed_order", "part")
            is_again = F.row_number().over(copies) > 1
        fields = position.alias("position"), F.col("after"), is_again.alias("is_again")
        end = [F.struct(*fields).alias("end"), F.col("stream")]
    return changes.select(
        "is_readable",
        is_unknown().alias("is_unknown"),
        *(F.col("key").getField(name).alias(name) for name in layout.key_names),
        "part",
        *end,
        state.alias("state"),
        F.struct(
            position.alias("position"), goes_before.alias("goes_before"), "feed_order", "part"
        ).alias("order"),
    )


def _without_snapshot(changes: DataFrame, position: str) -> DataFrame:
    """Return the changes without the position of a key's first insert, which is in ``sent``.

    It may be that of a snapshot. Copies of this insert have none either.
    """
    in_order = Window.partitionBy("key").orderBy("feed_order", "part")
    known = F.struct(may_be_read().alias("may_be_read"), F.col(position).alias("position"))
    changes = changes.withColumns({"first": F.first(known).over(in_order), "sent": F.col(position)})
    first = F.col("first")
    is_first = first.getField("may_be_read") & may_be_read()
    is_first &= F.col(position).eqNullSafe(first.getField("position"))
    return changes.withColumn(position, F.when(~is_first, F.col(position))).drop("first")
