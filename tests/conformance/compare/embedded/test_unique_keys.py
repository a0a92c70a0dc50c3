"""Updates of unique keys, which Avro sends as a delete and an insert, against other formats."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdcwire.core.context import Context
from cdcwire.core.options import OptionValue
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType
from cdcwire.registry import get_format
from cdcwire_conformance.compare.embedded.engine import compare_feeds
from cdcwire_conformance.compare.feed import ComparedFeed
from cdcwire_conformance.compare.result import Comparison
from cdcwire_conformance.sources.source_urls import parse_source

COLUMNS = (
    Column("id", IntType(64), nullable=False, roles=frozenset({"primary", "handle"})),
    Column("code", IntType(32), nullable=True, roles=frozenset({"unique"})),
)
TABLE = Table("t", "shop", columns=COLUMNS, key=("id",))
COMMIT_TS = 446710992077062144
OPTIONS: dict[str, dict[str, OptionValue]] = {
    "avro": {"enable-tidb-extension": True},
    "canal-json": {"enable-tidb-extension": True},
    "craft": {},
}


def feed(folder: Path, format_name: str, new_code: int = 6) -> ComparedFeed:
    """Write an insert, and an update of the unique key."""
    old, new = Image(COLUMNS, (1, 5)), Image(COLUMNS, (1, new_code))
    changes = (
        RowChange(TABLE, "insert", None, old, Position(commit_ts=COMMIT_TS)),
        RowChange(TABLE, "update", old, new, Position(commit_ts=COMMIT_TS + 1)),
    )
    context = Context(OPTIONS[format_name], (TABLE,))
    folder.mkdir()
    messages = get_format(format_name).from_events(changes, context=context)
    write_messages(str(folder / "messages.jsonl"), messages)
    return ComparedFeed(parse_source(f"{format_name}:file:{folder}"), context)


def compared(folder: Path, right: str, code: int = 6) -> Comparison:
    return compare_feeds(feed(folder / "a", "avro"), feed(folder / "b", right, code))


@pytest.mark.parametrize("right", ["canal-json", "craft"])
def test_an_update_of_a_unique_key_equals_the_delete_and_insert_of_avro(
    tmp_path: Path, right: str
) -> None:
    assert compared(tmp_path, right).is_equal


def test_another_value_of_the_unique_key_is_found(tmp_path: Path) -> None:
    (table,) = compared(tmp_path, "craft", 7).tables
    (difference,) = table.differences
    assert (difference.verdict, [each.column for each in difference.columns]) == (
        "changed",
        ["code"],
    )
