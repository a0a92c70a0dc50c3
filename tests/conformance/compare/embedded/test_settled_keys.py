"""Neither digests nor buckets change a result.

The same feeds are compared by all columns too, and bucket by bucket.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from functools import partial
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cdcwire.model.kinds import BytesType, Column, FloatType, IntType, Role, TextType

pytest.importorskip("pyarrow", reason="needs the extra compare")

from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.embedded import parts, tables
from cdcwire_conformance.compare.embedded.tables import ComparedTable, WholeSides
from cdcwire_conformance.compare.narrow.places import Eras
from cdcwire_conformance.compare.result import TableComparison
from cdcwire_conformance.compare.rules import (
    CompareOptions,
    ComparisonRules,
    Window,
    final_rules,
)

Change: TypeAlias = "dict[str, Any]"

MANY = 8 * settings().max_examples  # of all rules
COUNTS = st.lists(st.sampled_from([1, 2, 7]), min_size=3, max_size=3)
"""The numbers of buckets in the three steps: settle rows, find facts of sides, compare the rest."""

PRIMARY: frozenset[Role] = frozenset({"primary", "handle"})
UNIQUE: frozenset[Role] = frozenset({"unique"})
OTHERS = (
    Column("n", IntType(32)),
    Column("s", TextType()),
    Column("f", FloatType(64)),
    Column("b", BytesType()),
)
TABLES = {
    "number": CanonicalTable(
        "shop", "t", (Column("id", IntType(64), roles=PRIMARY), *OTHERS), ("id",)
    ),
    "two": CanonicalTable(
        "shop",
        "t",
        (
            Column("id", TextType(), roles=PRIMARY),
            Column("u", FloatType(64), roles=PRIMARY),
            *OTHERS,
        ),
        ("id", "u"),
    ),
    "unique": CanonicalTable(
        "shop",
        "t",
        (
            Column("id", IntType(64), roles=PRIMARY),
            Column("u", IntType(32), roles=UNIQUE),
            *OTHERS,
        ),
        ("id",),
    ),
    "none": CanonicalTable("shop", "t", OTHERS, ()),
}
RULES = {
    "positions": ComparisonRules(),
    "lsn": ComparisonRules(position="lsn", fields=("commit_ms", "tx_id")),
    "seconds": ComparisonRules(fields=("commit_ms",), in_seconds=True),
    "ordinals": ComparisonRules(position=None),
    "unsplit": ComparisonRules(split_keys=False),
    "handle keys": ComparisonRules(splits_unique_keys=False),
    "ops": ComparisonRules(folds_ops=True),
    "no old values": ComparisonRules(has_old_values=False),
    "deleted keys": ComparisonRules(deleted_columns="key"),
    "changed columns": ComparisonRules(fills_unchanged=True),
    "changed columns, ops": ComparisonRules(fills_unchanged=True, folds_ops=True),
    "bare deletes": ComparisonRules(has_bare_deletes=True, fields=("tx_id",)),
    "bare reads": ComparisonRules(has_bare_reads=True),
    "both bare": ComparisonRules(has_bare_reads=True, has_bare_deletes=True, numbers_ties=True),
    "reads as inserts": ComparisonRules(has_reads_as_inserts=True),
    "ties": ComparisonRules(numbers_ties=True),
    "left deletes": ComparisonRules(has_bare_deletes=True, leaves_deletes=True),
    "halves": ComparisonRules(in_halves=True),
    "halves, no old values": ComparisonRules(in_halves=True, has_old_values=False),
    "joined halves": ComparisonRules(in_halves=True, joins_halves=True),
}

PLACE = ("ts", "lsn", "sequence_id", "source")

values_of: dict[str, st.SearchStrategy[Any]] = {
    "id": st.integers(0, 3),
    "u": st.sampled_from([1, 2]),
    "n": st.sampled_from([None, 0, 1, 2]),
    "s": st.sampled_from([None, "", "x", "xy"]),
    "f": st.sampled_from([None, 0.0, -0.0, 1.5, float("nan")]),
    "b": st.sampled_from([None, b"", b"x", b"\xff"]),
}


@st.composite
def images(draw: st.DrawFn, table: CanonicalTable) -> Change:
    image: Change = {}
    for column in table.columns:
        value = draw(values_of[column.name])
        if column.name == "id" and isinstance(column.type, TextType):
            value = str(value)
        if column.name == "u" and isinstance(column.type, FloatType):
            value = (0.0, -0.0)[value - 1]
        if column.name in (table.key or ()) or draw(st.integers(0, 7)):
            image[column.name] = value
    return image


@st.composite
def changes(draw: st.DrawFn, table: CanonicalTable) -> Change:
    op = draw(st.sampled_from(["insert", "update", "update", "delete", "read"]))
    after = draw(images(table))
    change: Change = {"op": op, "before": None, "after": after}
    if op == "delete":
        change |= {"before": after, "after": None}
    elif op == "update" and draw(st.integers(0, 4)):
        before = draw(images(table))
        if table.key and draw(st.integers(0, 3)):
            before |= {name: after[name] for name in table.key}
        if table.key and not draw(st.integers(0, 3)):  # only changed columns are sent
            del before[draw(st.sampled_from(table.key))]
        change["before"] = draw(st.sampled_from([before, after]))
    change["commit_ms"] = draw(st.sampled_from([None, 1000, 1001]))
    change["tx_id"] = draw(st.sampled_from([None, "a"]))
    change["half"] = draw(st.sampled_from([None, None, None, "before", "after"]))
    return change


def placed(draw: st.DrawFn, made: list[Change]) -> Iterator[Change]:
    """Yield changes with positions that mostly grow or mostly stay, and places in their feed."""
    position, offset = 10, 0
    steps = draw(st.sampled_from([[1, 1, 1, 1, 0, -2], [0, 0, 0, 1]]))
    kind = draw(st.sampled_from(["topic", "file", "prefix", "none"]))
    for change in made:
        position += draw(st.sampled_from(steps))
        offset += draw(st.sampled_from([1, 1, 1, 1, 1, 0, -1]))
        partition = draw(st.sampled_from([0, 0, 0, 1]))
        source: Change = {"topic": None, "partition": None, "file": None, "offset": offset}
        if kind == "topic":
            source |= {"topic": "t", "partition": partition}
        elif kind == "file":
            source |= {"file": f"{partition}.jsonl", "line": offset}
        elif kind == "prefix":
            source |= {"partition": partition, "file": f"s/t/1/CDC_{partition:06}.csv"}
        else:
            source["offset"] = None
        has_position = bool(draw(st.integers(0, 15)))
        yield {
            **change,
            **({"ts": position} if has_position else {}),
            "lsn": position if has_position else None,
            "sequence_id": draw(st.sampled_from([None, None, None, position])),
            "source": source,
            "error": None if draw(st.integers(0, 20)) else {"offset": 1, "problem": "bad"},
        }


@st.composite
def both_feeds(draw: st.DrawFn, table: CanonicalTable) -> tuple[list[Change], list[Change]]:
    """Two feeds that are mostly equal: changes are lost, sent again, exchanged and altered."""
    left = list(placed(draw, draw(st.lists(changes(table), max_size=12))))
    right = [dict(each) for each in left]
    for _ in range(draw(st.integers(0, 3)) if right else 0):
        number = draw(st.integers(0, len(right) - 1))
        what = draw(
            st.sampled_from(
                ["lost", "again", "later", "moved", "swapped", "other", "place", "before"]
            )
        )
        if what == "lost":
            right.pop(number)
        elif what == "again":
            right.insert(number, dict(right[number]))
        elif what == "later":
            right.append(dict(right[number]))
        elif what == "moved":
            right.insert(draw(st.integers(0, len(right) - 1)), right.pop(number))
        elif what == "swapped":
            one, other = right[number - 1], right[number]
            right[number - 1] = {**other, **{name: one[name] for name in PLACE if name in one}}
            right[number] = {**one, **{name: other[name] for name in PLACE if name in other}}
        elif what == "before":
            own = right[number]
            own["before"] = draw(st.sampled_from([None, own["after"]]))
        elif what == "other":
            right[number] |= draw(changes(table))
        else:
            right[number] |= {"sequence_id": None, "lsn": 12}
        if not right:
            break
    return left, right


@pytest.mark.parametrize("is_final", [False, True], ids=["events", "final"])
@settings(max_examples=MANY)
@given(data=st.data())
def test_result_is_that_of_all_columns(
    is_final: bool, changes_of_table: Callable[..., Any], data: st.DataObject
) -> None:
    rules = RULES[data.draw(st.sampled_from(list(RULES)))]
    table = data.draw(st.sampled_from(list(TABLES.values())))
    left, right = data.draw(both_feeds(table))
    window = data.draw(st.sampled_from([None, None, Window(11, 14), Window(None, 15, False)]))
    if is_final:
        rules = final_rules(rules)
        if not table.key:
            return
        if data.draw(st.booleans()):
            rules = replace(rules, against_table=True)
            right = [each for each in right if each["op"] in ("insert", "read")]
            right = [{**each, "op": "insert", "ts": None, "lsn": None} for each in right]
            right = [{name: each[name] for name in each if name != "ts"} for each in right]
    ours, theirs = (cut(data, changes_of_table(table, each)) for each in (left, right))
    image = changes_of_table(table, []).schema.field("after").type
    options = CompareOptions(
        window=window, order=data.draw(st.booleans()), limit=data.draw(st.sampled_from([2, 20]))
    )
    compared = ComparedTable(table, image, rules, options)
    exact = replace(compared, options=replace(options, exact=True))
    found = compared.compared(ours, theirs)
    assert repr(found) == repr(exact.compared(ours, theirs))
    with pytest.MonkeyPatch.context() as patch:
        for count in (1, 2, 7):
            patch.setattr(tables, "ROWS_TOGETHER", max(1, -(-(len(left) + len(right)) // count)))
            assert repr(found) == repr(exact.compared(ours, theirs))
    for one in (compared, exact):
        assert found == in_parts(one, [ours, theirs], data.draw(COUNTS))


def in_parts(compared: ComparedTable, sides: list[list[Any]], counts: list[int]) -> TableComparison:
    """Compare two sides as many processes do. Each of them knows some of the rows."""

    def gathered(
        send: Callable[[Any, int], Iterable[tuple[int, Any]]],
    ) -> list[tuple[int, tuple[list[Any], list[Any]]]]:
        found: dict[int, tuple[list[Any], list[Any]]] = {}
        for side, batches in enumerate(sides):
            for batch in batches:
                for bucket, rows in send(batch, side):
                    found.setdefault(bucket, ([], []))[side].append(rows)
        return sorted(found.items(), reverse=True)

    narrow = gathered(lambda batch, side: parts.narrow_parts(compared, batch, side, counts[0]))
    settled = parts.joined(parts.settled(compared, *both) for _, both in narrow)
    moved, found_eras = [set[int](), set[int]()], [Eras({}), Eras({})]
    for _, both in gathered(lambda batch, _: parts.half_parts(batch, counts[1])):
        for side in (0, 1):
            moved[side] |= compared.key_changes(both[side], side)
    eras = gathered(lambda batch, side: parts.era_parts(compared, batch, side, counts[1]))
    for _, both in eras:
        for side in (0, 1):
            found_eras[side] = found_eras[side].with_parts(parts.eras(both[side]))
    results = list(settled.results)
    send = partial(parts.open_parts, compared, ids=settled.ids, count=counts[2])
    for bucket, both in gathered(lambda batch, side: send(batch, side)):
        known = WholeSides((frozenset(moved[0]), frozenset(moved[1])))
        found = compared.part(*both, (bucket, counts[2]), known)
        if found.lacks_eras:
            known = replace(known, eras=(found_eras[0], found_eras[1]))
            found = compared.part(*both, (bucket, counts[2]), known)
        results.append(found)
    return compared.merged(pickle.loads(pickle.dumps(results)))


def cut(data: st.DataObject, frame: Any) -> list[Any]:
    """Return a frame in batches of any size."""
    place = data.draw(st.integers(0, frame.num_rows))
    return [*frame.slice(0, place).to_batches(), *frame.slice(place).to_batches()]


def test_update_that_changes_nothing_is_not_one_without_old_values(
    changes_of_table: Callable[..., Any],
) -> None:
    """With changed columns only, the former counts as an insert."""
    table = TABLES["number"]
    image = {"id": 1, "n": 1, "s": "x", "f": 1.5, "b": b"x"}
    left, right = (
        changes_of_table(table, [{"op": "update", "before": before, "after": image, "ts": 5}])
        for before in (image, None)
    )
    image = left.schema.field("after").type
    for exact in (False, True):
        options = CompareOptions(exact=exact)
        compared = ComparedTable(table, image, RULES["changed columns"], options)
        found = compared.compared(left.to_batches(), right.to_batches())
        assert found.counts is not None
        assert (found.counts.same, found.counts.changed) == (0, 1)


def test_update_that_sends_one_changed_column_of_its_key_has_left_the_whole_key(
    changes_of_table: Callable[..., Any],
) -> None:
    table = TABLES["two"]
    old, new = {"id": "a", "u": 1.0}, {"id": "b", "u": 1.0}
    first = {"op": "insert", "after": old, "ts": 1}
    moved = {"op": "update", "before": {"id": "a"}, "after": new, "ts": 2}
    left, right = (
        changes_of_table(table, [first, second])
        for second in (moved, {"op": "insert", "after": new, "ts": 2})
    )
    image = left.schema.field("after").type
    rules = final_rules(RULES["changed columns"])
    for exact in (False, True):
        compared = ComparedTable(table, image, rules, CompareOptions(exact=exact))
        found = compared.compared(left.to_batches(), right.to_batches())
        assert found.counts is not None
        assert (found.counts.same, found.counts.only_right) == (1, 1)


@pytest.mark.parametrize(
    ("right", "offset", "expected"),
    [
        ([1, 2, 3, 4], 7, {"same": 5}),
        ([1, 2, 4, 3], 7, {"same": 5, "out_of_order_left": 1, "out_of_order_right": 1}),
        ([1, 2, 3], 7, {"same": 4, "only_left": 1}),
        ([1, 2, 2, 3, 4], 7, {"same": 5, "doubled_right": 1}),
        ([1, 2, 3, 4], None, {"same": 5, "unordered": 1}),
        ([1, 2, 4, 3], None, {"same": 5, "unordered": 1}),
        ([1, 2, 3, 4, 5], None, {"same": 5, "only_right": 1}),
    ],
    ids=["same", "other order", "fewer", "copy", "no order", "other, no order", "more, no order"],
)
def test_changes_of_a_transaction_are_compared_in_their_order(
    right: list[int],
    offset: int | None,
    expected: dict[str, int],
    changes_of_table: Callable[..., Any],
) -> None:
    table = TABLES["number"]
    ours, theirs = (
        changes_of_table(table, list(transaction(numbers, offset)))
        for numbers in ([1, 2, 3, 4], right)
    )
    image = ours.schema.field("after").type
    for exact in (False, True):
        compared = ComparedTable(table, image, ComparisonRules(), CompareOptions(exact=exact))
        found = compared.compared(ours.to_batches(), theirs.to_batches())
        assert found.counts is not None
        counts = {**asdict(found.counts), "unordered": found.doubts.unordered}
        for name in ("left", "right", "left_rows", "right_rows"):
            del counts[name]
        assert {name: number for name, number in counts.items() if number} == expected


def transaction(numbers: Iterable[int], offset: int | None) -> Iterator[Change]:
    """Yield an insert, and updates of another row. ``offset``: of the first one; None: of none."""
    first = {"topic": "t", "partition": 0, "offset": 0}
    yield {"op": "insert", "after": {"id": 2}, "ts": 4, "source": first}
    for place, number in enumerate(numbers):
        source = {
            "topic": "t",
            "partition": 0,
            "offset": None if offset is None else offset + place,
        }
        yield {"op": "update", "after": {"id": 1, "n": number}, "ts": 5, "source": source}
