"""Generated topics of DataHub: their files, and what is promised of the order in shards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from cdcwire.core.context import Context
from cdcwire.datahub.sharding import check_blob_topic, check_shards, check_tuple_topic, merge_shards
from cdcwire.ddl import parse_ddl
from cdcwire.files.messages_io import read_messages
from cdcwire.model.events import Event, Image, Position, RowChange, Table
from cdcwire.model.steps import join_halves
from cdcwire.model.text import table_from_json
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main
from cdcwire_conformance.sources.topics import TopicNameError, write_topics

DDL = """
CREATE TABLE orders (id bigint not null primary key, note varchar(40), price decimal(10,2));
CREATE TABLE items (a int not null, b varchar(9) not null, n smallint, primary key (a, b));
CREATE TABLE people (id int not null primary key, born date, photo blob);
"""
SHARDS = 4


def events_of(file: Path, format_name: str, tables: tuple[Table, ...]) -> list[Event]:
    format_ = get_format(format_name)
    context = Context(tables=tables)
    return [e for _, m in read_messages(str(file)) for e in format_.to_events(m, context=context)]


def moving(table: Table) -> list[RowChange]:
    """Return a row whose key changes with each update, and goes at last."""
    columns = table.columns
    assert columns is not None
    rows = [Image(columns, (n, None, None)) for n in range(10)]
    changes = [RowChange(table, "insert", None, rows[0], Position(sequence_id=1, commit_ms=5))]
    for n, (before, after) in enumerate(pairwise(rows), 2):
        place = Position(sequence_id=n, commit_ms=5)
        changes.append(RowChange(table, "update", before, after, place))
    return [
        *changes,
        RowChange(table, "delete", rows[9], None, Position(sequence_id=99, commit_ms=6)),
    ]


@pytest.mark.parametrize("format_name", ["datahub-tuple", "datahub-blob"])
def test_shards_keep_the_order_of_keys_and_merge_to_the_stream(
    format_name: str, tmp_path: Path
) -> None:
    (tmp_path / "shop.sql").write_text(DDL)
    command = ["generate", format_name, "--rows", "900", "--seed", "3", "--shards", str(SHARDS)]
    assert (
        main([*command, "--ddl", str(tmp_path / "shop.sql"), "--to", str(tmp_path / "feed")]) == 0
    )
    document = json.loads((tmp_path / "feed" / "tables.json").read_text("utf-8"))
    tables = tuple(map(table_from_json, document))
    is_tuple = format_name == "datahub-tuple"
    topics = {table.name: (table,) for table in tables} if is_tuple else {"messages": tables}
    names = {f"{topic}.{shard}.jsonl" for topic in topics for shard in range(SHARDS)}
    assert {file.name for file in (tmp_path / "feed").glob("*.jsonl")} == names
    total = 0
    for topic, defined in topics.items():
        shards = [
            events_of(tmp_path / "feed" / f"{topic}.{number}.jsonl", format_name, defined)
            for number in range(SHARDS)
        ]
        assert all(shards), "a shard is empty, so that it shows nothing"
        check_shards(shards)
        for shard in shards:
            list((check_tuple_topic if is_tuple else check_blob_topic)(shard))
        whole = list(join_halves(merge_shards(reversed(shards))))
        ids = [event.position.sequence_id for event in whole]
        assert ids == sorted(set(ids))  # type: ignore[type-var]  # all have one
        total += len(whole)
    assert total == 900


def _halves(shard: list[Event]) -> Iterator[RowChange]:
    return (event for event in shard if isinstance(event, RowChange) and event.half)


@pytest.mark.parametrize("format_name", ["datahub-tuple", "datahub-blob"])
def test_update_of_a_key_is_in_the_shards_of_both_keys(format_name: str, tmp_path: Path) -> None:
    (table,) = parse_ddl(DDL.split(";")[2], "shop")
    changes = moving(table)
    write_topics(tmp_path, format_name, changes, Context(), [table], SHARDS)
    shards = [events_of(f, format_name, (table,)) for f in sorted(tmp_path.glob("*.jsonl"))]
    check_shards(shards)
    found = list(join_halves(merge_shards(reversed(shards))))
    assert [(event.op, event.position) for event in found] == [  # type: ignore[union-attr]
        (change.op, change.position) for change in changes
    ]
    moved = [half for shard in shards for half in _halves(shard)]
    assert len(moved) == 18
    together = sum(len(list(_halves(shard))) == len(moved) for shard in shards)
    assert not together, "all halves are in one shard, so that this shows nothing"


def test_tables_of_one_name_differ_by_their_schemas(tmp_path: Path) -> None:
    tables = [table for schema in ("a", "b") for table in parse_ddl(DDL, schema)]
    write_topics(tmp_path, "datahub-tuple", [], Context(), tables)
    assert {file.name for file in tmp_path.iterdir()} == {
        f"{schema}.{name}.jsonl" for schema in "ab" for name in ("orders", "items", "people")
    }
    (odd,) = parse_ddl("CREATE TABLE `a/b` (id int primary key)", "shop")
    with pytest.raises(TopicNameError, match="can't be called so"):
        write_topics(tmp_path, "datahub-tuple", [], Context(), [odd])


@pytest.mark.parametrize(
    "arguments", [["craft", "--shards", "2"], ["datahub-blob", "--shards", "0"]]
)
def test_shards_of_other_formats_are_refused(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["generate", *arguments, "--rows", "1", "--to", str(tmp_path)]) == 2
    assert "--shards is a number from 1, of datahub-blob and" in capsys.readouterr().err
