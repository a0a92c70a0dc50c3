"""CSV in the data files of a storage prefix."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.formats.csv.events import RecordWriter
from cdcwire.formats.csv.fast import RowDecoder
from cdcwire.formats.csv.records import read_record, write_record
from cdcwire.formats.csv.settings import read_settings
from cdcwire.formats.csv.tables import Definitions
from cdcwire.formats.csv.wire import header_line
from cdcwire.model.events import RowChange, Table
from cdcwire.storage.form import FileDecoder, StoredForm, StoredSettings
from cdcwire.storage.paths import DataPath


def _settings(context: Context) -> StoredSettings:
    found = read_settings(context)
    return StoredSettings(
        found.layout,
        found.terminator,
        found.file_size,
        found.time_zone,
        has_commit_ts=found.include_commit_ts,
        has_header=found.output_field_header,
        quote=found.quote,
        selectors=found.column_selectors,
    )


def _decoder(context: Context) -> FileDecoder:
    return RowDecoder(context).decode


def _definition_check(tables: Iterable[Table]) -> Callable[[DataPath], object]:
    definitions = Definitions(tables)
    return lambda path: definitions.choose(path.schema, path.table, path.version)


class _Encoder:
    def __init__(self, context: Context) -> None:
        self._settings = read_settings(context)
        self._records = RecordWriter(self._settings)

    def header(self, event: RowChange, definition: Table) -> bytes:
        image = event.after or event.before
        if not self._settings.output_field_header or image is None:
            return b""
        names = self._records.plan(image.columns, definition).names
        return header_line(self._settings, names) + self._settings.terminator

    def rows(self, event: RowChange, definition: Table) -> bytes:
        records = self._records.records(event, definition)
        return b"".join(write_record(record, self._settings) for record in records)


def column_count(context: Context) -> Callable[[bytes], int | None]:
    """Return the function that counts the columns of a file's first record."""
    settings = read_settings(context)

    def count(value: bytes) -> int | None:
        if settings.output_field_header:
            return None
        try:
            return len(read_record(value, settings, None, 0, None).record.fields)
        except DecodeError:
            return None

    return count


STORED = StoredForm(
    _settings,
    _Encoder,
    decoder=_decoder,
    definition_check=_definition_check,
    column_count=column_count,
)
