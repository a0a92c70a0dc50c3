"""Rows that are kept in the first scan of a feed: the result is that of reading the feed again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="needs the extra compare")

from cdcwire.core.context import Context
from cdcwire.core.options import OptionValue
from cdcwire.feed import FeedError
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, DecimalType, IntType, TextType
from cdcwire.registry import get_format
from cdcwire_conformance.compare.embedded import kept_rows, passes
from cdcwire_conformance.compare.embedded.engine import compare_feeds
from cdcwire_conformance.compare.feed import ComparedFeed
from cdcwire_conformance.compare.result import Comparison
from cdcwire_conformance.compare.rules import CompareOptions, Mode
from cdcwire_conformance.compare.work import Work
from cdcwire_conformance.decode import many_tables
from cdcwire_conformance.sources.source_urls import parse_source

ROWS = 60
NAMES = ("orders", "customers")
COLUMNS = (
    Column("id", IntType(32)),
    Column("price", DecimalType(12, 2)),
    Column("note", TextType()),
)
FORMATS: dict[str, dict[str, OptionValue]] = {
    "maxwell-json": {},  # types come from values
    "debezium-json": {"connector": "mysql"},
    "cdl-json": {},
    "simple": {},
    "canal-json": {},
    "avro": {"enable-tidb-extension": True},
    "craft": {},
    "open-protocol": {},
}
NEVER = 1 << 60


WIDER = (COLUMNS[0], Column("price", DecimalType(20, 4)), COLUMNS[2])
LONGER = (*COLUMNS, Column("more", IntType(32)))


def row(
    number: int, table: str = "orders", columns: tuple[Column, ...] = COLUMNS, *, scale: int = 2
) -> RowChange:
    price = Decimal(number % 9 + 1).scaleb(-scale)
    values = (number, price, f"note {number}", number)[: len(columns)]
    return RowChange(
        Table(table, "shop", columns=columns, key=("id",)),
        "insert",
        None,
        Image(columns, values),
        Position(
            commit_ms=1_700_000_000_000 + number * 1000,
            sent_ms=1_700_000_000_000 + number * 1000,
            commit_ts=number + 1,
            file="bin.000001",
            pos=number + 1,
            row=0,
            server_id=1,
        ),
    )


@pytest.fixture
def rows() -> list[Event]:
    return [row(number, NAMES[number % 2]) for number in range(ROWS)]


def feed(folder: Path, name: str, events: Sequence[Event]) -> ComparedFeed:
    folder.mkdir(parents=True)
    tables = tuple(Table(each, "shop", columns=COLUMNS, key=("id",)) for each in NAMES)
    context = Context(FORMATS[name], tables)
    messages = get_format(name).from_events(events, context=context)
    write_messages(str(folder / "messages.jsonl"), messages)
    return ComparedFeed(parse_source(f"{name}:file:{folder}"), Context(FORMATS[name]))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many tables each further pass through a feed decodes; all feeds are sampled."""
    found: list[int] = []

    def decode_here(opened: object, jobs: Sequence[object], *rest: object) -> Iterator[object]:
        found.append(len(jobs))
        return many_tables.decode_here(opened, jobs, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(passes, "decode_here", decode_here)
    monkeypatch.setattr(kept_rows, "LEAST_BYTES", 0)
    return found


def compared(
    left: ComparedFeed, right: ComparedFeed, options: CompareOptions, least: int = 0
) -> Comparison:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_rows, "LEAST_BYTES", least)
        return replace(compare_feeds(left, right, options), seconds=0.0)


@pytest.mark.parametrize(
    ("name", "mode"),
    [*((name, "events") for name in FORMATS), ("simple", "final"), ("debezium-json", "final")],
)
def test_messages_are_read_once(
    name: str, mode: Mode, rows: list[Event], reads: list[int], tmp_path: Path
) -> None:
    left, right = feed(tmp_path / "l", name, rows), feed(tmp_path / "r", name, rows[:-1])
    options = CompareOptions(mode=mode)
    kept = compared(left, right, options)
    assert reads == []
    assert kept == compared(left, right, options, NEVER)
    assert reads == [2, 2]
    assert kept.is_different
    assert sum(kept.changes) == 2 * ROWS - 1
    assert compared(left, left, options).is_equal


@pytest.mark.parametrize(
    ("last", "again"),
    [
        (row(ROWS, columns=WIDER, scale=4), 1),  # shop.orders has another type than foretold
        (row(ROWS, columns=LONGER), 1),
        (row(ROWS, "returns"), 1),
    ],
    ids=["type", "column", "table"],
)
def test_what_a_sample_lacks_is_read_again(
    last: RowChange,
    again: int,
    rows: list[Event],
    reads: list[int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(many_tables, "SAMPLE_PARTS", 1)
    monkeypatch.setattr(many_tables, "SAMPLE_BYTES", 20_000)  # some rows of both tables
    left = feed(tmp_path / "l", "debezium-json", [*rows, last])
    right = feed(tmp_path / "r", "debezium-json", [*rows[1:], last])
    options = CompareOptions()
    kept = compared(left, right, options)
    assert reads == [again, again]
    assert kept == compared(left, right, options, NEVER)
    assert kept.is_different
    assert compared(left, left, options).is_equal


def test_a_message_that_cannot_be_read(rows: list[Event], reads: list[int], tmp_path: Path) -> None:
    left = feed(tmp_path / "l", "maxwell-json", rows)
    right = feed(tmp_path / "r", "maxwell-json", rows)
    file = tmp_path / "l" / "messages.jsonl"
    lines = file.read_text().splitlines()
    lines[ROWS // 2] = '{"value": "e30="}'
    file.write_text("\n".join(lines) + "\n")
    options = CompareOptions(on_error="row")
    kept = compared(left, right, options)
    assert reads == [2]  # the other feed is good
    assert kept == compared(left, right, options, NEVER)
    assert kept.errors
    texts = []
    for least in (0, NEVER):
        with pytest.raises(FeedError) as error:
            compared(left, right, CompareOptions(), least)
        texts.append(str(error.value))
    assert texts[0] == texts[1]


def test_other_options_of_columns_are_foretold(
    rows: list[Event], reads: list[int], tmp_path: Path
) -> None:
    left, right = feed(tmp_path / "l", "simple", rows), feed(tmp_path / "r", "maxwell-json", rows)
    for options in (
        CompareOptions(include=frozenset({("shop", "orders")})),
        CompareOptions(on_error="row"),
        CompareOptions(common=True),
    ):
        kept = compared(left, right, options)
        assert reads == []
        assert kept == compared(left, right, options, NEVER)
        reads.clear()


def test_the_progress_counts_kept_rows(rows: list[Event], reads: list[int], tmp_path: Path) -> None:
    both = feed(tmp_path / "f", "maxwell-json", rows)
    steps: list[Work | None] = []
    compare_feeds(both, both, report=lambda text, work=None, /: steps.append(work))
    assert reads == []
    done = [each.done for each in steps if each is not None]
    assert (done[0], done[-1]) == (0, 2 * ROWS)
    assert done == sorted(done)
