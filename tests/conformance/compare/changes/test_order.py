"""The order of a key's changes, and copies: sent again or doubled. What is seen, and what is not.

One pair of frames holds all cases, each in its own files, and is compared once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest

from cdcwire.model.kinds import Column, IntType

pytest.importorskip("pyarrow", reason="needs the extra compare")

import pyarrow as pa

from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.result import (
    Counts,
    OrderDoubts,
    RowDifference,
    TableComparison,
)
from cdcwire_conformance.compare.rules import ComparisonRules, Window, final_rules

Frame: TypeAlias = "list[pa.RecordBatch]"
MakeFrame: TypeAlias = "Callable[..., Frame]"
Compare: TypeAlias = "Callable[..., TableComparison]"

Named: TypeAlias = "tuple[str, int, int]"  # verdict, key, position

TABLE = CanonicalTable(
    "shop",
    "orders",
    (
        Column("id", IntType(64), roles=frozenset({"primary", "handle"})),
        Column("n", IntType(32)),
    ),
    ("id",),
)
KEYLESS = CanonicalTable("shop", "log", (Column("n", IntType(32)),), ())


@dataclass(frozen=True)
class Case:
    """Changes in the order of their feed: a letter for the key, a digit for the position.

    A second digit is the value. A capital letter is a delete.
    A stroke begins another file, brackets hold what is in one message. ``named``: the differences
    beside, as a sign and the change: ``<`` and ``>`` out of order left and right, ``+`` repeated,
    ``*`` doubled, ``-`` on the left only.
    """

    id: str
    left: str
    right: str
    named: str = ""


CASES = (
    Case("in-order", "a1 a2 a3", "a1 a2 a3"),
    Case("other-files", "a1 b2 b3", "b2 b3 | a1"),
    Case("keys-need-no-order", "a1 b2 c3", "c3 b2 a1"),
    Case("swapped", "a1 a2 a3", "a1 a3 a2", ">a2"),
    Case("first-is-last", "a1 a2 a3", "a2 a3 a1", ">a1"),
    Case("last-is-first", "a3 a1 a2", "a1 a2 a3", "<a1 <a2"),
    Case("swapped-alike", "a1 a3 a2", "a1 a3 a2"),
    Case("swapped-otherwise", "a3 a1 a2", "a3 a2 a1", "<a1 <a2"),
    Case("swapped-in-a-message", "a1 a2", "(a2 a1)", ">a1"),
    Case("swapped-across-files", "a1 a2", "a2 | a1"),
    Case("tail-sent-again", "a1 a2 b3", "a1 a2 b3 a2 b3", "+a2 +b3"),
    Case("sent-again-on-both", "a1 b2 a1 b2", "a1 b2 a1 b2"),
    Case("sent-again-twice", "a1 b2", "a1 b2 a1 b2 a1 b2", "+a1 +a1 +b2 +b2"),
    Case("late-and-sent-again", "a1 a2 a3", "a1 a3 a2 a3 a2", ">a2 +a2 +a3"),
    Case("sent-again-into-another-file", "a1 b2", "a1 b2 | a1", "+a1"),
    Case("doubled", "a1 a2 b3", "a1 a2 a2 b3", "*a2"),
    Case("doubled-at-the-end", "a1 b2", "a1 b2 b2", "*b2"),
    Case("doubled-in-a-message", "a1 b2", "(a1 a1 b2)", "*a1"),
    Case("doubled-and-sent-again", "a1 b2", "a1 a1 b2 a1 b2", "*a1 +a1 +b2"),
    Case("doubled-and-sent-again-doubled", "a1 a1 b2", "a1 a1 b2 a1 a1 b2", "*a1 +a1 +b2"),
    Case("sent-again-and-lost-there", "a1 b2 a1 b2", "b2", "-a1 +b2"),
    Case("one-position", "a11 a12 a13", "a11 a12 a13"),
    Case("one-position-in-a-message", "a11 a12 a13", "a11 (a12 a13)"),
    Case("one-position-swapped", "a11 a12 a13", "a12 a11 a13", "<a1 >a1"),
    Case("one-position-copy-swapped", "a11 a12 a11", "a11 a11 a12", "<a1 >a1"),
    Case("one-position-sent-again", "a11 a12 b2 a11 a12 b2", "a11 a12 b2 a11 a12 b2"),
    Case("one-position-and-delete", "A11 a12", "a12 A11"),
    Case("one-position-in-two-files", "a11 a12", "a11 | a12"),
)
_SIGNS = {"<": "out of order", ">": "out of order", "-": "only left"}


def changes_of(case: Case, number: int, text: str) -> Iterator[dict[str, Any]]:
    file, offset, is_in_message = 0, 0, False
    for word in text.split():
        if word == "|":
            file += 1
            continue
        offset += not is_in_message
        is_in_message = (is_in_message or word.startswith("(")) and not word.endswith(")")
        change = word.strip("()")
        row = {"id": id_of(number, change[0].lower()), "n": int(change[2:] or 1)}
        is_delete = change[0].isupper()
        yield {
            "op": "delete" if is_delete else "upsert",
            "ts": int(change[1]),
            "before" if is_delete else "after": row,
            "source": {"file": f"{case.id}-{file}", "offset": offset},
        }


def id_of(number: int, key: str) -> int:
    return number * 10 + ord(key) - ord("a")


@pytest.fixture(scope="module")
def found(frame_of: MakeFrame, compare_tables: Compare) -> TableComparison:
    sides = [
        [c for n, case in enumerate(CASES) for c in changes_of(case, n, getattr(case, side))]
        for side in ("left", "right")
    ]
    left, right = (frame_of(TABLE, rows) for rows in sides)
    return compare_tables(left, right, TABLE, limit=200)


@pytest.mark.parametrize(("number", "case"), list(enumerate(CASES)), ids=[c.id for c in CASES])
def test_differences_of_a_case_are_named(found: TableComparison, number: int, case: Case) -> None:
    expected: Counter[Named] = Counter()
    words = case.named.split()
    for word in words:
        is_doubled = f"*{word[1:]}" in words  # a change is shown once, as the worse of both
        verdict = _SIGNS.get(word[0], "doubled" if is_doubled else "repeated")
        expected[(verdict, id_of(number, word[1]), int(word[2]))] = 1
    named = Counter(map(name_of, found.differences))
    assert {name: n for name, n in named.items() if name[1] // 10 == number} == expected


def name_of(each: RowDifference) -> Named:
    position = dict(each.position)["commit_ts"]
    key = dict(each.key)["id"].text
    assert position is not None
    assert key is not None
    return each.verdict, int(key), int(position)


def test_all_are_counted(found: TableComparison) -> None:
    signs = Counter(word[0] for case in CASES for word in case.named.split())
    counts = found.counts
    assert counts is not None
    assert counts.out_of_order_left == signs["<"]
    assert counts.out_of_order_right == signs[">"] + 2  # what is swapped otherwise counts on both
    assert counts.doubled_left + counts.doubled_right == signs["*"]
    assert counts.repeated == signs["+"] + 1  # one that is only on the left was sent again there
    assert counts.only_left == signs["-"]
    assert counts.changed == counts.only_right == 0
    for side in ("left", "right"):
        total = sum(len(getattr(case, side).replace("|", "").split()) for case in CASES)
        assert getattr(counts, side) == total
        parts = ("repeated", "doubled", "only")
        assert counts.same + sum(getattr(counts, f"{part}_{side}") for part in parts) == total


def test_what_has_no_order_is_counted(found: TableComparison) -> None:
    # Two cases with one position have no order; "swapped-alike" has a2 too late in both feeds.
    assert found.doubts == OrderDoubts(
        unordered=2, backwards=1, first_back="2", position="commit_ts"
    )


def test_place_of_broken_order_is_reported(found: TableComparison) -> None:
    ids = {case.id: number for number, case in enumerate(CASES)}
    late = {name_of(each): each for each in found.differences if each.verdict == "out of order"}
    swapped = late[("out of order", id_of(ids["swapped"], "a"), 2)]
    assert swapped.left_place is None
    assert str(swapped.right_place) == "swapped-0@3"
    both = late[("out of order", id_of(ids["swapped-otherwise"], "a"), 1)]
    assert str(both.left_place) == "swapped-otherwise-0@2"
    assert str(both.right_place) == "swapped-otherwise-0@3"


def one(text: str, *, is_placed: bool = True) -> list[dict[str, Any]]:
    rows = list(changes_of(Case("one", text, text), 0, text))
    return rows if is_placed else [{**row, "source": None} for row in rows]


def test_without_places_there_is_no_order_and_a_copy_is_a_double(
    frame_of: MakeFrame,
    compare_frames: Compare,
) -> None:
    left = frame_of(TABLE, one("a1 a2 b3", is_placed=False))
    right = frame_of(TABLE, one("b3 a2 a1 b3", is_placed=False))
    found = compare_frames(left, right, TABLE)
    assert found.counts == Counts(3, 4, 3, 4, 3, doubled_right=1)


def test_order_is_not_looked_at_if_that_is_asked_for(
    frame_of: MakeFrame, compare_frames: Compare
) -> None:
    left, right = (frame_of(TABLE, one(text)) for text in ("a1 a2 b3", "a2 b3 a1 b3"))
    found = compare_frames(left, right, TABLE, order=False)
    assert found.counts == Counts(3, 4, 3, 4, 3, repeated_right=1)


def test_files_of_a_prefix_are_in_order_and_begin_eras(
    frame_of: MakeFrame, compare_frames: Compare
) -> None:
    def stored(text: str) -> list[dict[str, Any]]:
        """Return changes of a replay: its files have numbers, and records count from 0."""
        found = []
        for number, part in enumerate(text.split("|")):
            for record, row in enumerate(one(part)):
                source = {"partition": number, "file": f"{number}.csv", "offset": record}
                found.append({**row, "source": source})
        return found

    left = frame_of(TABLE, stored("a1 a2 | b3"))
    right = frame_of(TABLE, stored("a2 | a1 b3 | b3 b3"))
    found = compare_frames(left, right, TABLE)
    expected = Counts(3, 5, 3, 5, 3, out_of_order_right=1, repeated_right=1, doubled_right=1)
    assert found.counts == expected


def test_each_dispatcher_has_a_separate_order(frame_of: MakeFrame, compare_frames: Compare) -> None:
    """A table moved between two that write: replay reads all of one's files of a date first."""

    def stored(*files: str) -> list[dict[str, Any]]:
        found = []
        for number, (dispatcher, text) in enumerate(each.split(":") for each in files):
            name = f"shop/t/1/2024-05-04/CDC_{dispatcher}_{number + 1:06}.csv"
            for record, row in enumerate(one(text)):
                source = {"partition": number, "file": name, "offset": record}
                found.append({**row, "source": source})
        return found

    left = frame_of(TABLE, one("a1 a2 a3"))
    right = frame_of(TABLE, stored("x:a3", "y:a1 a2"))
    assert compare_frames(left, right, TABLE).counts == Counts(3, 3, 3, 3, 3)
    right = frame_of(TABLE, stored("x:a3", "y:a2 a1"))
    found = compare_frames(left, right, TABLE)
    assert found.counts == Counts(3, 3, 3, 3, 3, out_of_order_right=1)


def test_window_has_positions_from_its_start_and_below_its_end(
    frame_of: MakeFrame,
    compare_frames: Compare,
) -> None:
    # Only the end of what was sent again is in the window.
    left, right = (frame_of(TABLE, one(text)) for text in ("a1 a2 b3 a4", "b3 a2 a1 a2 b3 a5"))
    found = compare_frames(left, right, TABLE, window=Window(2, 4))
    assert found.counts == Counts(2, 4, 2, 4, 2, repeated_right=2)
    found = compare_frames(left, right, TABLE, window=Window(start=4))
    assert found.counts == Counts(1, 1, 1, 1, 0, only_left=1, only_right=1)
    assert {name_of(each)[2] for each in found.differences} == {4, 5}


def test_window_that_holds_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="holds nothing"):
        Window(5, 5)


def test_rows_without_key_are_reported_by_their_eras(
    frame_of: MakeFrame, compare_frames: Compare
) -> None:
    def row(n: int, ts: int, offset: int) -> dict[str, Any]:
        source = {"topic": "t", "partition": 0, "offset": offset}
        return {"op": "insert", "ts": ts, "after": {"n": n}, "source": source}

    left = frame_of(KEYLESS, [row(1, 1, 1), row(2, 2, 2)])
    right = frame_of(KEYLESS, [row(1, 1, 1), row(2, 2, 2), row(2, 2, 3), row(1, 1, 4)])
    found = compare_frames(left, right, KEYLESS)
    assert found.counts == Counts(2, 4, 2, 4, 2, repeated_right=1, doubled_right=1)


CHANGES = Case("last rows", "a11 a22 a33", "")


def sides_of(frame_of: MakeFrame, right: str, op: str = "upsert") -> tuple[Frame, Frame]:
    """Return frames of changes. ``op``: of the first change on each side."""
    frames = []
    for text in (CHANGES.left, right):
        rows = list(changes_of(CHANGES, 0, text))
        frames.append(frame_of(TABLE, [{**rows[0], "op": op}, *rows[1:]]))
    return frames[0], frames[1]


@pytest.mark.parametrize(
    ("right", "back"),
    [
        ("a11 a33 a22", "2"),
        ("a11 a22 a33 a22", None),  # a2 is sent again
        ("a11 a33 | a22", None),
        ("a11 a33 a23", None),  # it leaves the same row
    ],
    ids=["swapped", "sent-again", "other-file", "same-row"],
)
def test_last_rows_of_a_key_whose_position_goes_back_are_in_doubt(
    frame_of: MakeFrame, compare_frames: Compare, right: str, back: str | None
) -> None:
    found = compare_frames(*sides_of(frame_of, right), TABLE, final_rules(ComparisonRules()))
    doubts = OrderDoubts() if back is None else OrderDoubts(0, 1, back, "commit_ts")
    assert (found.is_equal, found.doubts) == (True, doubts)


@pytest.mark.parametrize("is_final", [False, True])
def test_position_of_a_first_insert_may_be_that_of_a_snapshot(
    frame_of: MakeFrame, compare_frames: Compare, *, is_final: bool
) -> None:
    rules = ComparisonRules(has_reads_as_inserts=True)
    rules = final_rules(rules) if is_final else rules
    frame = sides_of(frame_of, "a91 a22 a33", "insert")[1]
    found = compare_frames(frame, frame, TABLE, rules)
    assert (found.is_equal, found.doubts) == (True, OrderDoubts())
    other = sides_of(frame_of, "a91 a22 a34", "insert")[1]
    assert compare_frames(frame, other, TABLE, rules).counts.changed == 1  # type: ignore[union-attr]  # it has counts
