"""Avro feeds whose schemas a registry has numbered, and the part of a change that Avro carries."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from zlib import crc32

from cdcwire.apache_avro.sources import SchemaSource
from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionValue
from cdcwire.ddl import read_chain
from cdcwire.formats.avro import FORMAT, MessageWriter, Settings
from cdcwire.model.events import Event, Image, Position, RowChange, Table
from cdcwire.model.instants import tso_of_ms
from cdcwire_evidence.scenarios.feeds import row_of
from cdcwire_generators.workloads import workload, workload_tables

OPTIONS: Mapping[str, OptionValue] = {"enable-tidb-extension": True}
WORKLOAD = "orders-10"


def make_changes(rows: int, partitions: int = 1) -> list[list[RowChange]]:
    """Return ``rows`` changes of a table of orders, all changes of a row in one partition."""
    found: list[list[RowChange]] = [[] for _ in range(partitions)]
    for event in workload(WORKLOAD, rows, 1, position_fields=("commit_ts",)):
        assert isinstance(event, RowChange)
        found[crc32(repr(row_of(event)).encode()) % partitions].append(event)
    return found


def make_altered_changes(ddl: str, rows: int) -> list[RowChange]:
    """Return so many inserts into a table after each statement of a chain of DDL.

    The values of a column follow from the number of the row.
    """
    found: list[RowChange] = []
    for statement in read_chain(ddl, "shop"):
        table = statement.changes[0].after
        assert table is not None
        for number in range(len(found), len(found) + rows):
            position = Position(commit_ts=tso_of_ms(number + 1))
            found.append(RowChange(table, "insert", None, _image(table, number), position))
    return found


def _image(table: Table, number: int) -> Image:
    columns = table.columns or ()
    made: Mapping[str, object] = {
        "note": f"note {number}",
        "total": Decimal(number).scaleb(-2),
    }
    return Image(columns, tuple(made.get(column.name, number) for column in columns))


def messages_of(
    changes: Iterable[Event], topic: str, source: SchemaSource
) -> Iterator[KafkaMessage]:
    """Yield the messages of changes; each schema is registered when its first row comes.

    Raises: what the source raises.
    """
    settings = Settings(enable_tidb_extension=True, topic=topic)
    writer = MessageWriter(settings, workload_tables(WORKLOAD), source)
    for change in changes:
        yield from writer.messages(change)


def context_of(schemas: Mapping[str, str]) -> Context:
    """Return what reading such a feed needs."""
    return Context(options=OPTIONS, schemas=schemas)


def changes_of(message: KafkaMessage, context: Context) -> list[Hashable]:
    """Return the changes of a message. Raises: DecodeError; RegistryError."""
    found = FORMAT.to_events(message, context=context)
    return [carried_by_avro(event) for event in found if isinstance(event, RowChange)]


def carried_by_avro(change: RowChange) -> Hashable:
    """Return the part of a change that Avro carries: no old values; for a delete, only its key."""
    is_delete = change.op == "delete"
    image = change.before if is_delete else change.after
    assert image is not None
    values = {column.name: value for column, value in image.pairs}
    names: Sequence[str] = (change.table.key or ()) if is_delete else sorted(values)
    position = None if is_delete else change.position.commit_ts
    return change.table.name, change.op, position, *((name, values[name]) for name in names)
