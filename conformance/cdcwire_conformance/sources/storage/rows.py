"""Row changes to the bytes of a data file, in each format that a prefix can have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from cdcwire.core.format import OptionValue
from cdcwire.formats import canal_json, csv
from cdcwire.formats.canal_json.images import ImageWriter
from cdcwire.formats.csv.events import RecordWriter
from cdcwire.formats.csv.header import header_line
from cdcwire.formats.csv.records import write_record
from cdcwire.model.events import RowChange, Table


class RowEncoder(Protocol):
    """What a data file of a format is made of."""

    def header(self, event: RowChange, definition: Table) -> bytes:
        """Return what stands first in a file with this row; b"" if nothing does."""

    def rows(self, event: RowChange, definition: Table) -> bytes:
        """Return the records of a row change. Raises: EncodeError."""


def row_encoder(format_name: str, options: Mapping[str, OptionValue]) -> RowEncoder:
    """Return the encoder of a format. Raises: OptionError."""
    return _CsvRows(options) if format_name == "csv" else _CanalJsonRows(options)


class _CsvRows:
    def __init__(self, options: Mapping[str, OptionValue]) -> None:
        self._settings = csv.read_settings(options)
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


class _CanalJsonRows:
    def __init__(self, options: Mapping[str, OptionValue]) -> None:
        settings = canal_json.read_settings(dict(options, transport="storage"))
        # Rows of files are never compressed and never cut.
        self._settings = replace(settings, compression=None, large_message="none")
        self._images: dict[tuple[str | None, str | None], tuple[Table, ImageWriter]] = {}

    def header(self, event: RowChange, definition: Table) -> bytes:
        return b""

    def rows(self, event: RowChange, definition: Table) -> bytes:
        settings = self._settings
        message = canal_json.from_event(event, settings, self._images_of(definition))
        return canal_json.encode(message, settings.dialect) + settings.terminator

    def _images_of(self, definition: Table) -> ImageWriter:
        """Return the writer of images of a table as it is now."""
        name = (definition.schema, definition.name)
        known = self._images.get(name)
        if known is None or known[0] is not definition:
            settings = self._settings
            images = ImageWriter(settings.time_zone, settings.has_full_types, (definition,))
            self._images[name] = known = (definition, images)
        return known[1]
