"""Differences of every kind planted in a feed, and what each way to compare says of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from cdcwire.core.context import Context
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, DecimalType, FloatType, IntType, TextType
from cdcwire.registry import get_format

pytest.importorskip("pyarrow", reason="needs the extra compare")

import pyarrow.parquet as pq

Compare: TypeAlias = "Callable[..., tuple[int, str, dict[str, Any]]]"

COLUMNS = (
    Column("id", IntType(64), nullable=False, roles=frozenset({"primary", "handle"})),
    Column("n", IntType(32)),
    Column("weight", FloatType(64)),
    Column("price", DecimalType()),
    Column("note", TextType()),
)
ORDERS = Table("orders", "shop", columns=COLUMNS, key=("id",))
LOG = Table("log", "shop", columns=COLUMNS[1:2], key=())
KEYS = 30
FIRST = 1000  # the first position; each change has the next


def image(**values: object) -> Image:
    known = {"n": 1, "weight": 0.0, "price": Decimal("1.0"), "note": None, **values}
    columns = tuple(column for column in COLUMNS if column.name in known)
    return Image(columns, tuple(known[column.name] for column in columns))


def changes() -> list[RowChange]:
    """Return an insert of each key, then two updates of the first five keys."""
    found = [RowChange(ORDERS, "insert", None, image(id=key)) for key in range(KEYS)]
    for n in (2, 3):
        for key in range(5):
            rows = image(id=key, n=n - 1), image(id=key, n=n)
            found.append(RowChange(ORDERS, "update", *rows))
    return [
        replace(change, position=Position(commit_ts=FIRST + number))
        for number, change in enumerate(found)
    ]


def with_values(change: RowChange, **values: object) -> RowChange:
    assert change.after is not None
    return replace(change, after=image(id=change.after["id"], **values))


def without_note(change: RowChange) -> RowChange:
    assert change.after is not None
    names, values = change.after.columns[:-1], change.after.values[:-1]
    return replace(change, after=Image(names, values))


def planted() -> list[RowChange]:
    found: list[RowChange | None] = [*changes()]
    events = changes()
    found[10] = with_values(events[10], n=4711)
    found[11] = with_values(events[11], weight=-0.0)
    found[12] = with_values(events[12], price=Decimal("1.00"))
    found[13] = without_note(events[13])
    found[14] = None
    first, second = KEYS + 1, KEYS + 6  # the updates of key 1
    found[first], found[second] = events[second], events[first]
    found.insert(16, events[15])
    return [each for each in (*found, *events[-3:]) if each is not None]


def write(folder: Path, format_name: str, events: Iterable[RowChange], **options: str | int) -> str:
    folder.mkdir()
    context = Context(options={name.replace("_", "-"): v for name, v in options.items()})
    write_messages(
        str(folder / "messages.jsonl"), get_format(format_name).from_events(events, context=context)
    )
    return f"{format_name}:file:{folder}"


@dataclass(frozen=True)
class Feeds:
    """``left`` has the changes, ``right`` those with differences, ``again`` a tail twice."""

    left: str
    right: str
    again: str


@pytest.fixture(scope="module")
def feeds(tmp_path_factory: pytest.TempPathFactory) -> Feeds:
    folder = tmp_path_factory.mktemp("feeds")
    return Feeds(
        write(folder / "a", "craft", changes(), max_batch_size=4),
        write(folder / "b", "open-protocol", planted(), max_batch_size=1),
        write(folder / "c", "open-protocol", [*changes(), *changes()[-7:]], max_batch_size=1),
    )


def key_of(difference: dict[str, Any]) -> int:
    return int(difference["key"][0]["value"])


@pytest.mark.parametrize("exact", [(), ("--exact",)], ids=["fingerprints", "exact"])
def test_each_kind_is_found_named_and_written(
    compare: Compare, feeds: Feeds, tmp_path: Path, exact: tuple[str, ...]
) -> None:
    folder = tmp_path / "all"
    code, out, document = compare(
        feeds.left, feeds.right, "--limit", "3", "--differences", str(folder), *exact
    )
    assert code == 1
    assert "4 changed, 1 only left, 3 repeated right, 1 doubled right, 1 out of order right" in out
    (table,) = document["tables"]
    assert [key_of(each) for each in table["differences"]] == [10, 11, 12]

    code, out, document = compare(feeds.left, feeds.right, *exact)
    (table,) = document["tables"]
    kinds = Counter((each["verdict"], key_of(each)) for each in table["differences"])
    assert set(kinds.values()) == {1}
    assert set(kinds) == {
        *(("changed", key) for key in (10, 11, 12, 13)),
        ("only left", 14),
        ("doubled", 15),
        *(("repeated", key) for key in (2, 3, 4)),
        ("out of order", 1),
    }
    late = next(each for each in table["differences"] if each["verdict"] == "out of order")
    assert late["position"] == {"commit_ts": str(FIRST + KEYS + 1)}
    assert late["places"] == {"left": None, "right": late["places"]["right"]}
    assert late["places"]["right"]["line"] == KEYS + 6 + 1
    assert "after a later change of its key, " in out

    rows = pq.read_table(folder).to_pylist()
    columns = {
        (row["kind"], json.loads(row["key"])["id"], row["column"]): (row["left"], row["right"])
        for row in rows
    }
    assert len(columns) == len(rows)
    expected: dict[tuple[str, str, str | None], tuple[str | None, str | None]] = {
        ("changed", "10", "n"): ("1", "4711"),
        ("changed", "11", "weight"): ("0.0", "-0.0"),
        ("changed", "12", "price"): ("1.0", "1.00"),
        ("changed", "13", "note"): (None, None),
        ("only left", "14", "id"): ("14", None),
        ("only left", "14", "n"): ("1", None),
        ("only left", "14", "weight"): ("0.0", None),
        ("only left", "14", "price"): ("1.0", None),
        ("only left", "14", "note"): (None, None),
        ("doubled", "15", None): (None, None),
        **{("repeated", str(key), None): (None, None) for key in (2, 3, 4)},
        ("out of order", "1", None): (None, None),
    }
    assert columns == expected
    (absent,) = (row for row in rows if row["column"] == "note" and row["kind"] == "changed")
    assert (absent["left_absent"], absent["right_absent"]) == (False, True)
    assert (absent["table"], absent["position"]) == ("shop.orders", f"commit_ts {FIRST + 13}")
    (doubled,) = (row for row in rows if row["kind"] == "doubled")
    assert (doubled["left_copies"], doubled["right_copies"]) == (1, 2)
    assert doubled["left_place"].startswith(f"{feeds.left.rpartition(':')[2]}/messages.jsonl@")
    assert len({row["difference"] for row in rows}) == 10


def test_repeats_are_not_a_difference_on_request(compare: Compare, feeds: Feeds) -> None:
    code, out, document = compare(feeds.left, feeds.again, "--allow-repeats")
    assert code == 0
    (table,) = document["tables"]
    assert table["repeats_allowed"]
    assert table["counts"]["repeated_right"] == 7
    assert "shop.orders: equal except for repeats" in out
    assert out.endswith("EQUAL: 40 changes of 1 table, by 128 bits of hash per row\n")
    code, out, document = compare(
        feeds.left, feeds.again, "--limit", "0", "--from", str(FIRST + KEYS + 5)
    )
    assert code == 1
    counts = document["tables"][0]["counts"]
    assert (counts["left"], counts["right"], counts["repeated_right"]) == (5, 10, 5)
    assert f"note: only changes with commit_ts from {FIRST + KEYS + 5}\n" in out
    assert out.endswith("DIFFERENT: 1 of 1 table differs (5 differences)\n")


def test_last_rows_need_no_order_and_no_copies(compare: Compare, feeds: Feeds) -> None:
    code, out, document = compare(feeds.left, feeds.again, "--mode", "final")
    assert code == 0
    assert "shop.orders: equal, 30 last rows after 40 and 47 changes, paired by id\n" in out
    assert out.endswith("EQUAL: 30 last rows of 1 table, by 128 bits of hash per row\n")
    assert document["compared"] == ["last rows"]
    code, out, document = compare(feeds.left, feeds.right, "--mode", "final")
    assert code == 1
    (table,) = document["tables"]
    assert table["last_rows"]
    found = {(each["verdict"], key_of(each)) for each in table["differences"]}
    assert found == {*(("changed", key) for key in (10, 11, 12, 13)), ("only left", 14)}
    assert "  changed: row id=10 at left commit_ts 1010, right commit_ts 1010\n" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--from", "7", "--to", "7"], "a window from 7 to 7 holds nothing"),
        (["--differences", "FULL"], "full is not empty; name a new directory"),
        (["--to", "7", "KEYLESS"], "share no position"),
        (["--mode", "final", "KEYLESS"], "without a key no row is the last: shop.log"),
    ],
)
def test_incomparable_feeds_are_reported_in_one_line(
    compare: Compare, feeds: Feeds, tmp_path: Path, arguments: list[str], said: str
) -> None:
    left, right = feeds.left, feeds.right
    if "KEYLESS" in arguments:
        row = Image(LOG.columns or (), (1,))
        rows = [RowChange(LOG, "insert", None, row, Position(commit_ts=1))]
        left = write(tmp_path / "a", "craft", rows)
        right = write(tmp_path / "b", "canal-json", rows)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    words = [str(tmp_path / "full") if word == "FULL" else word for word in arguments]
    code, error, _ = compare(left, right, *(word for word in words if word != "KEYLESS"))
    assert code == 2
    assert said in error
    assert error.count("\n") == 1
