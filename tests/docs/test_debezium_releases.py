"""The bytes before and after a release, in ``docs/debezium-releases.md``, are those of the encoder.

The page follows the producer's code and messages, so it is the expectation here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cdcwire import debezium_json
from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.model.events import Event, Image, Marker, Position, RowChange, SchemaChange, Table
from cdcwire.model.kinds import Column, EnumType, FloatType, IntType, TimestampType

PAGE = Path(__file__).resolve().parents[2] / "docs" / "debezium-releases.md"
BLOCK = re.compile(
    r'^```diff title="(\w+) ([\d.]+) ([\d.]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL
)
BLOCKS = [(c, old, new, text) for c, old, new, text in BLOCK.findall(PAGE.read_text())]
TENTH = 0.10000000149011612  # as a float of 32 bits
COLUMNS = (
    Column("id", IntType(32), "int", False),
    Column("ti", IntType(8), "tinyint", True),
    Column("f", FloatType(32), "float", True),
    Column("ts", TimestampType(3, "text", "+00:00"), "timestamp(3)", True),
    Column("e", EnumType(("a,b", "c"), "label"), "enum", True),
)
PLACES = {
    "mysql": Position(tx_order=1, commit_ms=1, sent_ms=3, file="binlog.1", pos=4),
    "oracle": Position(tx_order=1, commit_ms=1, sent_ms=3, scn="7", rs_id="r", ssn=1),
    "sqlserver": Position(tx_order=1, commit_ms=1, sent_ms=3),
    "postgresql": Position(tx_order=1, commit_ms=1, sent_ms=3, lsn=1),
    "vitess": Position(tx_order=1, commit_ms=1, sent_ms=3),
}


def messages(connector: str, version: str) -> Iterator[Event]:
    """Yield a row, the begin of a transaction, and a statement."""
    has_schema = connector not in ("mysql", "vitess")
    table = Table("t", "dbo" if has_schema else "shop", "shop" if has_schema else None)
    extra: dict[str, str | bytes | None] = {
        "connector": connector,
        "connector_version": f"{version}.0.Final",
        "source_name": "srv",
        "source_ts_us": "1000",
        "source_ts_ns": "1000000",
        **({"shard": "-80", "vgtid": "[]"} if connector == "vitess" else {}),
    }
    of_row = {"transaction_id": "t1", "data_collection_order": "1", "ts_us": "3001"}
    image = Image(COLUMNS, (1, 2, TENTH, "2024-06-30 23:59:59.12", "a,b"))
    more = {**extra, **of_row, "ts_ns": "3001002"}
    place = PLACES[connector]
    yield RowChange(replace(table, key=("id",)), "insert", None, image, place, extra=more)
    place = replace(place, tx_order=None)
    if connector == "postgresql":  # its connector sends no statements
        return
    yield SchemaChange("erase", "DROP TABLE `t`", table=table, position=place, extra=extra)


def written(connector: str, version: str) -> str:
    texts = []
    for message in debezium_json.from_events(messages(connector, version)):
        assert isinstance(message, KafkaMessage)
        texts += [message.key or b"", message.value or b""]
    border = Marker("begin", "t1", Position(sent_ms=3))
    dialect = "debezium-2.0" if version >= "2.0" else "debezium-1.9"
    context = Context(options={"dialect": dialect, "connector": connector})
    for message in debezium_json.from_events([border], context=context):
        assert isinstance(message, KafkaMessage)
        texts.append(message.value or b"")
    return b"\n".join(texts).decode()


@pytest.mark.parametrize(("connector", "old", "new", "text"), BLOCKS)
def test_bytes_of_a_release(connector: str, old: str, new: str, text: str) -> None:
    before, after = written(connector, old), written(connector, new)
    for line in text.splitlines():
        sign, part = line[0], line[2:]
        assert (part in before) == (sign == "-"), line
        assert (part in after) == (sign == "+"), line


def test_page_has_a_block_for_each_kind_of_change() -> None:
    assert len(BLOCKS) > 12
