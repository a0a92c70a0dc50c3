"""What one row may differ by: is it seen, and is it named?

One pair of frames holds all rows, each under its own key, and is compared once.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

import pytest

from cdcwire.model.kinds import (
    BytesType,
    Column,
    DecimalType,
    FloatType,
    IntType,
    TextType,
    VectorType,
)

pytest.importorskip("pyarrow", reason="needs the extra compare")

import pyarrow as pa

from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.result import ABSENT, NULL, Counts, Shown, TableComparison
from cdcwire_conformance.compare.rules import ComparisonRules

Frame: TypeAlias = "list[pa.RecordBatch]"
MakeFrame: TypeAlias = "Callable[..., Frame]"
Compare: TypeAlias = "Callable[..., TableComparison]"

Change: TypeAlias = "dict[str, Any]"

TABLE = CanonicalTable(
    "shop",
    "orders",
    (
        Column("id", IntType(64), roles=frozenset({"primary", "handle"})),
        Column("n", IntType(32)),
        Column("m", IntType(32)),
        Column("f", FloatType(64)),
        Column("g", FloatType(32)),
        Column("d", DecimalType()),
        Column("u", IntType(64, True)),
        Column("s", TextType()),
        Column("b", BytesType()),
        Column("v", VectorType()),
        Column("email", TextType(), roles=frozenset({"unique"})),
    ),
    ("id",),
)


def nan(payload: int) -> float:
    (found,) = struct.unpack("<d", struct.pack("<Q", 0x7FF8 << 48 | payload))
    assert isinstance(found, float)
    return found


@dataclass(frozen=True)
class Case:
    """Changes of one key on both sides; their id is filled in. ``seen``: None if they are equal."""

    id: str
    left: tuple[Change, ...]
    right: tuple[Change, ...]
    seen: tuple[str, dict[str, tuple[Shown, Shown]]] | None = None


def changed(**columns: tuple[object, object]) -> tuple[str, dict[str, tuple[Shown, Shown]]]:
    shown = {name: (_shown(left), _shown(right)) for name, (left, right) in columns.items()}
    return "changed", {f"after.{name}": both for name, both in shown.items()}


def _shown(value: object) -> Shown:
    return value if isinstance(value, Shown) else Shown(str(value))


def insert(**values: object) -> Change:
    return {"op": "insert", "after": {"n": 1, **values}}


def row(case: str, left: Any, right: Any, seen: Any, column: str) -> Case:
    return Case(case, (insert(**{column: left}),), (insert(**{column: right}),), seen)


VALUES = (
    row("int", 1, 2, changed(n=(1, 2)), "n"),
    row("null-for-value", 5, None, changed(m=(5, NULL)), "m"),
    row("negative-zero-double", -0.0, 0.0, changed(f=("-0.0", "0.0")), "f"),
    row("negative-zero-float", 0.0, -0.0, changed(g=("0.0", "-0.0")), "g"),
    row("negative-zero-alike", -0.0, -0.0, None, "f"),
    row("nan-payloads", nan(1), nan(7), None, "f"),
    row("nan-for-null", nan(1), None, changed(f=("NaN", NULL)), "f"),
    row("nan-for-number", nan(1), 1.5, changed(f=("NaN", "1.5")), "f"),
    row("decimal-scale", "1.0", "1.00", changed(d=("1.0", "1.00")), "d"),
    row(
        "two-to-the-63",
        Decimal(2**63),
        Decimal(2**63 - 1),
        changed(u=(2**63, 2**63 - 1)),
        "u",
    ),
    row("empty-text-for-null", "", None, changed(s=("", NULL)), "s"),
    row("text-case", "a", "A", changed(s=("a", "A")), "s"),
    row("text-trailing-space", "a", "a ", changed(s=("a", "a ")), "s"),
    row("empty-bytes-for-null", b"", None, changed(b=("", NULL)), "b"),
    row("bytes-zero", b"\0", b"", changed(b=("00", "")), "b"),
    row("vector-order", [1.0, 2.0], [2.0, 1.0], changed(v=("[1.0,2.0]", "[2.0,1.0]")), "v"),
    row("vector-empty-for-null", [], None, changed(v=("[]", NULL)), "v"),
    row("vector-negative-zero", [-0.0], [0.0], changed(v=("[-0.0]", "[0.0]")), "v"),
    row("vector-with-null", [None, 1.0], [1.0, None], changed(v=("[null,1.0]", "[1.0,null]")), "v"),
    Case(
        "nulls-swapped",
        (insert(n=None, m=5),),
        (insert(n=5, m=None),),
        changed(n=(NULL, 5), m=(5, NULL)),
    ),
    Case("null-for-absent", (insert(s=None),), (insert(),), changed(s=(NULL, ABSENT))),
    Case("value-for-absent", (insert(),), (insert(s="x"),), changed(s=(ABSENT, "x"))),
    Case("both-absent", (insert(),), (insert(),)),
)

BEFORE, AFTER = {"n": 1, "s": "old", "email": "a"}, {"n": 2, "s": "new", "email": "a"}
MOVED = {**AFTER, "email": "b"}
UPDATE = {"op": "update", "before": BEFORE, "after": AFTER}
DELETE = {"op": "delete", "before": BEFORE}
SENT = Shown("sent")

EVENTS = (
    Case("lost", (insert(),), (), ("only left", {})),
    Case("added", (), (insert(),), ("only right", {})),
    Case("doubled", (insert(),), (insert(), insert()), ("doubled", {})),
    Case("doubled-on-both", (insert(), insert()), (insert(), insert())),
    Case("snapshot-row", ({"op": "read", "after": {"n": 1}},), (insert(),)),
    Case("equal-update", (UPDATE,), (UPDATE,)),
    Case("equal-delete", (DELETE,), (DELETE,)),
    Case(
        "old-value",
        (UPDATE,),
        ({**UPDATE, "before": {**BEFORE, "s": "older"}},),
        ("changed", {"before.s": (Shown("old"), Shown("older"))}),
    ),
    Case(
        "old-values-not-sent",
        (UPDATE,),
        ({**UPDATE, "before": None},),
        ("changed", {"before": (SENT, ABSENT)}),
    ),
    Case(
        "other-op",
        ({"op": "insert", "after": AFTER},),
        ({"op": "upsert", "after": AFTER},),
        ("changed", {"op": (Shown("insert"), Shown("upsert"))}),
    ),
    Case(
        "half",
        ({**UPDATE, "half": "after"},),
        (UPDATE,),
        ("changed", {"half": (Shown("after"), NULL)}),
    ),
    Case(
        "unique-key-split",
        ({"op": "update", "before": BEFORE, "after": MOVED},),
        ({"op": "delete", "before": BEFORE}, {"op": "insert", "after": MOVED}),
    ),
    Case(
        "unique-key-absent-is-not-split",
        ({"op": "update", "before": {"n": 1}, "after": AFTER},),
        ({"op": "update", "before": {"n": 1}, "after": AFTER},),
    ),
    Case(
        "one-of-three-at-one-position",
        (DELETE, insert(n=7), {**UPDATE, "before": {"n": 7}}),
        (insert(n=8), {**UPDATE, "before": {"n": 7}}, DELETE),
        changed(n=(7, 8)),
    ),
)
CASES = VALUES + EVENTS


def _numbered(changes: tuple[Change, ...], number: int) -> Iterator[Change]:
    for change in changes:
        images = {
            side: {"id": number, **change[side]}
            for side in ("before", "after")
            if change.get(side) is not None
        }
        yield {**change, **images, "ts": 1000 + number}


@pytest.fixture(scope="module")
def found(frame_of: MakeFrame, compare_tables: Compare) -> TableComparison:
    left = [c for number, case in enumerate(CASES) for c in _numbered(case.left, number)]
    right = [c for number, case in enumerate(CASES) for c in _numbered(case.right, number)]
    frames = frame_of(TABLE, left), frame_of(TABLE, reversed(right))
    return compare_tables(*frames, TABLE, ComparisonRules(), limit=1000)


@pytest.mark.parametrize(
    ("number", "case"), list(enumerate(CASES)), ids=[case.id for case in CASES]
)
def test_difference_of_a_row_is_named(found: TableComparison, number: int, case: Case) -> None:
    own = [each for each in found.differences if dict(each.key)["id"] == Shown(str(number))]
    if case.seen is None:
        assert own == []
        return
    (difference,) = own
    verdict, columns = case.seen
    assert difference.verdict == verdict
    assert difference.position == (("commit_ts", str(1000 + number)),)
    if verdict == "changed":
        named = {
            ".".join(filter(None, (each.image, each.column))): (each.left, each.right)
            for each in difference.columns
        }
        assert named == columns


def test_counts_add_up(found: TableComparison) -> None:
    counts = found.counts
    assert counts is not None
    verdicts = [case.seen[0] for case in CASES if case.seen is not None]
    assert counts.changed == verdicts.count("changed")
    assert (counts.only_left, counts.only_right) == (1, 1)
    assert (counts.doubled_left, counts.doubled_right) == (0, 1)
    assert counts.left == counts.same + counts.changed + 1
    assert counts.right == counts.same + counts.changed + 1 + 1
    assert counts.differing == len(found.differences) == len(verdicts)
    assert counts.left_rows == sum(len(case.left) for case in CASES)
    assert counts.left == counts.left_rows + 1  # one update was split
    assert not found.is_equal


def test_doubled_row_has_its_copies(found: TableComparison) -> None:
    (doubled,) = [each for each in found.differences if each.verdict == "doubled"]
    assert (doubled.left_count, doubled.right_count) == (1, 2)
    assert doubled.columns == ()


def test_lost_row_is_shown_with_its_values(found: TableComparison) -> None:
    (lost,) = [each for each in found.differences if each.verdict == "only left"]
    assert [(each.column, each.left, each.right) for each in lost.columns] == [
        ("id", Shown(dict(lost.key)["id"].text), ABSENT),
        ("n", Shown("1"), ABSENT),
    ]


def test_equal_frames_have_equal_counts(frame_of: MakeFrame, compare_frames: Compare) -> None:
    changes = [c for number, case in enumerate(CASES) for c in _numbered(case.left, number)]
    frames = frame_of(TABLE, changes), frame_of(TABLE, reversed(changes))
    found = compare_frames(*frames, TABLE)
    assert found.is_equal
    total = len(changes)
    assert found.counts == Counts(total, total, total + 1, total + 1, total + 1)
