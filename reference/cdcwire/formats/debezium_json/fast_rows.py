"""Rows by themselves at speed: a schema that came before is known by its bytes.

Its payload is read by one pattern. The row and its added fields then go the way of the plain
decoder, so both give the same events. Rows without a schema are read in the plain way.
"""

from __future__ import annotations

from cdcwire.connect import Envelope, Parsed, PayloadReader, Schema, payload_reader
from cdcwire.connect.fast import KnownHeads
from cdcwire.connect.fields import Origin
from cdcwire.core.compiled import Irregular
from cdcwire.core.context import Selection
from cdcwire.core.message import KafkaMessage
from cdcwire.debezium.message import Unwrapped
from cdcwire.debezium.reading import checked
from cdcwire.debezium.unwrapped import (
    RowSettings,
    is_row_schema,
    unwrapped_events,
    unwrapped_of,
)
from cdcwire.formats.debezium_json.fast_keys import KeyReader
from cdcwire.formats.debezium_json.settings import Settings
from cdcwire.formats.debezium_json.wire import is_of_ticdc
from cdcwire.model.events import Event, Table

_SOME_KEY = Envelope(None, None)  # what is in a key beyond its names makes no event


def reads_rows(settings: Settings) -> bool:
    """Return whether rows by themselves may be read in the fast way under these settings."""
    return (
        settings.transforms == "unwrap"
        and settings.schemas_enable != "false"
        and settings.field_names == "none"
        and settings.compression is None
        and not settings.null_is_default
    )


class RowReader:
    """Reads the rows of a feed. It learns their schemas, as many as are bounded."""

    def __init__(
        self, settings: Settings, tables: tuple[Table, ...], selection: Selection, keys: KeyReader
    ) -> None:
        self.settings = settings
        self.tables = tables
        self.selection = selection
        self.keys = keys
        self._heads: KnownHeads[PayloadReader | None] = KnownHeads()

    def read(self, message: KafkaMessage, value: bytes) -> list[Event]:
        """Return the events of a row whose schema was learned. Raises: one of IRREGULARITIES."""
        found = self._heads.find(value)
        if found is None or found[1] is None or value[-1:] != b"}" or is_of_ticdc(value):
            raise Irregular
        start, reader = found[0], found[1]
        facts, physical_table = self.keys.read(message)
        if physical_table is not None or (facts.names is None and message.key is not None):
            raise Irregular
        parsed = Parsed(Envelope(reader.schema, reader.read(value[start:-1])), None, 0, 0)
        more = RowSettings(self.settings, self.tables, message.headers)
        key = None if message.key is None else _SOME_KEY
        row = checked(
            unwrapped_of(parsed, facts.names, key, more), self.settings, Origin("value", parsed)
        )
        return list(unwrapped_events(row, self.settings, self.selection))

    def learn(self, value: bytes, found: Unwrapped) -> None:
        """Learn the schema of a good row."""
        if found.envelope.schema is None or is_of_ticdc(value):
            return

        def reader(schema: Schema) -> PayloadReader | None:
            return payload_reader(schema) if is_row_schema(schema) else None

        self._heads.learn(value, reader)
