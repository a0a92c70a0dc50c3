"""The cost of comparing Maxwell with Debezium without schema, and that of a script made by hand.

Run as ``python -m benchmarks.compare_script [--quick] [--json FILE]``; needs DuckDB, which no
extra has. Both feeds are JSON lines with 100,000 changes (``--quick``: 10,000) of a table with
seven columns. Debezium's deletes have tombstones. The table's types are known from its
DDL. The script reads both files by DuckDB in one thread, pairs the changes of each key in their
order, and compares operations and four columns. Decimals, dates, times and old rows take more than
SQL, so it leaves these out. Each is a process, and all of its processor time counts.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.commands import command, cost_of
from benchmarks.document import Result, arguments, finish
from benchmarks.feeds import SEED
from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, RowChange, Table
from cdcwire.model.kinds import (
    Column,
    DatetimeType,
    DecimalType,
    FloatType,
    IntType,
    TextType,
    TimestampType,
)
from cdcwire.registry import get_format
from cdcwire_generators.workloads import table_workload

ROWS, ROWS_QUICK = 100_000, 10_000
MAX_S = 14.0
TABLE = Table(
    "orders",
    "shop",
    columns=(
        Column("id", IntType(64), "bigint", roles=frozenset({"primary", "handle"})),
        Column("customer", TextType(64), "varchar(64)"),
        Column("quantity", IntType(32), "int"),
        Column("weight", FloatType(64), "double"),
        Column("price", DecimalType(12, 2), "decimal(12,2)"),
        Column("created_at", DatetimeType(0), "datetime"),
        Column("updated_at", TimestampType(3), "timestamp(3)"),
    ),
    key=("id",),
)
DDL = """CREATE TABLE shop.orders (
    id BIGINT PRIMARY KEY, customer VARCHAR(64), quantity INT, weight DOUBLE, price DECIMAL(12,2),
    created_at DATETIME, updated_at TIMESTAMP(3) NULL
);
"""
POSITION = ("file", "pos", "row", "gtid", "server_id", "tx_id", "commit_ms", "sent_ms")
OPTIONS = {
    "maxwell-json": {},
    "debezium-json": {
        "connector": "mysql",
        "dialect": "debezium-3.2",
        "schemas-enable": "false",
    },
}
_SCRIPT = """
import sys
import duckdb

ROWS = '''SELECT decode(from_base64(value))::JSON AS v
    FROM read_json('{}', columns={{value: 'VARCHAR'}})'''
COLUMNS = '''row_number() OVER (PARTITION BY r->>'id') AS place, op, (r->>'id')::BIGINT AS id,
    r->>'customer' AS customer, (r->>'quantity')::INT AS quantity,
    (r->>'weight')::DOUBLE AS weight'''
left, right = map(ROWS.format, sys.argv[1:])
found = duckdb.connect(config={"threads": 1}).execute(f'''
WITH ours AS (
    SELECT {COLUMNS} FROM (SELECT v->>'type' AS op, v->'data' AS r FROM ({left}))
), theirs AS (
    SELECT {COLUMNS} FROM (
        SELECT CASE v->>'op' WHEN 'c' THEN 'insert' WHEN 'u' THEN 'update' ELSE 'delete' END AS op,
            CASE v->>'op' WHEN 'd' THEN v->'before' ELSE v->'after' END AS r
        FROM ({right} WHERE value IS NOT NULL)
    )
)
SELECT (SELECT count(*) FROM ours), (SELECT count(*) FROM theirs),
    (SELECT count(*) FROM (FROM ours EXCEPT ALL FROM theirs)),
    (SELECT count(*) FROM (FROM theirs EXCEPT ALL FROM ours))
''').fetchone()
assert found[0] == found[1] > 0 and found[2:] == (0, 0), found
"""


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Measure a comparison and a script made by hand.", argv)
    if importlib.util.find_spec("duckdb") is None:
        sys.exit("not installed: duckdb")
    rows = ROWS_QUICK if given.quick else ROWS
    with tempfile.TemporaryDirectory() as folder:
        files = feeds(Path(folder), rows)
        ddl = Path(folder, "orders.sql")
        ddl.write_text(DDL, "utf-8")
        script = cost_of("-c", _SCRIPT, *map(str, files))
        urls = [f"{name}:file:{file}" for name, file in zip(OPTIONS, files, strict=True)]
        words = ("--engine", "embedded", "--jobs", "1", "--ddl", str(ddl))
        compared = command("compare", *urls, *words)
    details = {"comparing, CPU s": compared.processor, "script, CPU s": script.processor}
    what = f"comparing {rows:,} changes, Maxwell against Debezium without schema"
    results = [
        Result("seconds", f"{what}, CPU", compared.processor, "s", MAX_S, is_least=False),
        Result(
            "ratio",
            f"{what}, to a DuckDB script that compares four of seven columns, CPU",
            round(compared.processor / script.processor, 1),
            "times",
            details=details,
        ),
        Result("memory", f"{what}, peak memory", compared.peak_mib, "MiB"),
    ]
    return finish("compare_script", results, given)


def feeds(folder: Path, rows: int) -> list[Path]:
    """Write both feeds and return their files."""
    events = list(table_workload(TABLE, rows, SEED, position_fields=POSITION))
    files = []
    for name, options in OPTIONS.items():
        file = folder / f"{name}.jsonl"
        write_messages(str(file), messages(name, events, options))
        files.append(file)
    return files


def messages(name: str, events: list[Event], options: dict[str, str]) -> Iterator[Message]:
    """Yield the messages of changes; Debezium's deletes have a tombstone each."""
    encode = get_format(name).encoder(Context(tables=(TABLE,), options=options))
    for event in events:
        for message in encode([event]):
            yield message
            is_delete = isinstance(event, RowChange) and event.op == "delete"
            if is_delete and isinstance(message, KafkaMessage) and message.key is not None:
                yield KafkaMessage(message.key, None)


if __name__ == "__main__":
    sys.exit(main())
