"""The same change stream as messages of two formats."""

from __future__ import annotations

from dataclasses import dataclass

from cdcwire.core.message import KafkaMessage
from cdcwire.formats import craft
from cdcwire.formats.craft.events import messages_of as craft_messages
from cdcwire.formats.craft.settings import Settings as CraftSettings
from cdcwire.formats.open_protocol.batching import messages_of as open_messages
from cdcwire.formats.open_protocol.settings import Settings as OpenSettings
from cdcwire.model.events import Table
from cdcwire_generators.workloads import workload, workload_tables

WARM_UP_SEED = 2  # of rows from which a decoder learns the table, none of which is measured
SEED = 1


@dataclass(frozen=True)
class Feed:
    """Messages of ``rows`` rows of one table. ``json`` has Kafka keys and values."""

    table: Table
    rows: int
    craft: list[bytes]
    json: list[tuple[bytes, bytes]]


def feed(name: str, rows: int, rows_per_message: int, seed: int, *, inserts_only: bool) -> Feed:
    """Return a workload of one table in both formats."""
    (table,) = workload_tables(name)
    events = list(workload(name, rows, seed, inserts_only=inserts_only))
    craft_settings = CraftSettings(max_batch_size=rows_per_message)
    open_settings = OpenSettings(max_batch_size=rows_per_message)
    values = [craft.encode(message) for message in craft_messages(events, craft_settings, (table,))]
    pairs = [
        (message.key or b"", message.value or b"")
        for message in open_messages(events, open_settings, (table,))
        if isinstance(message, KafkaMessage)
    ]
    return Feed(table, rows, values, pairs)
