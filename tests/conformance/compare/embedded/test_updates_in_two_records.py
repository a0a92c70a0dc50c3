"""Updates of a key that DataHub sends as two records, against a delete and an insert."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdcwire.core.context import Context
from cdcwire.core.options import OptionValue
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType, TextType
from cdcwire.registry import get_format
from cdcwire_conformance.compare.embedded.engine import compare_feeds
from cdcwire_conformance.compare.feed import ComparedFeed
from cdcwire_conformance.compare.result import Comparison, TableComparison
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_conformance.sources.source_urls import parse_source

COLUMNS = (
    Column("id", IntType(64), nullable=False, roles=frozenset({"primary", "handle"})),
    Column("name", TextType(), nullable=True),
)
TABLE = Table("t", "shop", columns=COLUMNS, key=("id",))
OPTIONS: dict[str, dict[str, OptionValue]] = {
    "avro": {"enable-tidb-extension": True},
    "debezium-json": {"replica-identity": "full"},
    "datahub-tuple": {},
}


def at(number: int) -> Position:
    return Position(
        commit_ts=446710992077062144 + number,
        lsn=number,
        sequence_id=number,
        commit_ms=1_700_000_000_000,
    )


def row(id_: int, name: str) -> Image:
    return Image(COLUMNS, (id_, name))


def changes(format_name: str, new: Image) -> list[RowChange]:
    """Return an insert, and an update of its key, which only DataHub has as an update."""
    inserted = RowChange(TABLE, "insert", None, row(1, "a"), at(1))
    if format_name == "datahub-tuple":
        return [inserted, RowChange(TABLE, "update", row(1, "a"), new, at(2))]
    return [
        inserted,
        RowChange(TABLE, "delete", row(1, "a"), None, at(2)),
        RowChange(TABLE, "insert", None, new, at(3)),
    ]


def feed(folder: Path, format_name: str, new: Image) -> ComparedFeed:
    context = Context(OPTIONS[format_name], (TABLE,))
    folder.mkdir()
    messages = get_format(format_name).from_events(changes(format_name, new), context=context)
    write_messages(str(folder / "messages.jsonl"), messages)
    return ComparedFeed(parse_source(f"{format_name}:file:{folder}"), context)


def compared(folder: Path, other: str, new: Image, *, split_keys: bool = True) -> Comparison:
    sides = feed(folder / "a", other, row(2, "b")), feed(folder / "b", "datahub-tuple", new)
    return compare_feeds(*sides, CompareOptions(definitions=(TABLE,), split_keys=split_keys))


def only_table(found: Comparison) -> TableComparison:
    (table,) = found.tables
    return table


@pytest.mark.parametrize("other", ["avro", "debezium-json"])
def test_two_records_of_an_update_of_a_key_equal_a_delete_and_an_insert(
    tmp_path: Path, other: str
) -> None:
    found = compared(tmp_path, other, row(2, "b"))
    assert found.is_equal, only_table(found).differences
    counts = only_table(found).counts
    assert counts is not None
    assert (counts.left, counts.right) == (3, 3)


@pytest.mark.parametrize("other", ["avro", "debezium-json"])
def test_another_value_in_the_record_after_is_found(tmp_path: Path, other: str) -> None:
    (difference,) = only_table(compared(tmp_path, other, row(2, "x"))).differences
    assert difference.verdict == "changed"
    assert [(each.image, each.column) for each in difference.columns] == [("after", "name")]


def test_an_update_that_keeps_the_key_stays_an_update(tmp_path: Path) -> None:
    found = compared(tmp_path, "debezium-json", row(1, "b"))
    verdicts = {(each.verdict, each.op) for each in only_table(found).differences}
    assert ("changed", "delete") in verdicts


def test_no_split_compares_the_two_records_as_they_are(tmp_path: Path) -> None:
    assert compared(tmp_path, "debezium-json", row(2, "b"), split_keys=False).is_different
