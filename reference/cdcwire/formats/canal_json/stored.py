"""Canal-JSON in the data files of a storage prefix."""

from __future__ import annotations

from dataclasses import replace

from cdcwire.core.context import Context
from cdcwire.formats.canal_json.events import from_event
from cdcwire.formats.canal_json.images import ImageWriter
from cdcwire.formats.canal_json.settings import read_settings
from cdcwire.formats.canal_json.wire import write_object
from cdcwire.model.events import RowChange, Table
from cdcwire.storage.form import StoredForm, StoredSettings


def _settings(context: Context) -> StoredSettings:
    found = read_settings(context)
    return StoredSettings(
        found.layout,
        found.terminator,
        found.file_size,
        found.time_zone,
        has_labels=found.has_full_types,
        has_rows_of_one_record=found.dialect == "ticdc",
    )


class _Encoder:
    def __init__(self, context: Context) -> None:
        # Rows of files are never compressed and never cut.
        self._settings = replace(
            read_settings(context), compression_name="none", large_message="none"
        )
        self._images: dict[tuple[str | None, str | None], tuple[Table, ImageWriter]] = {}

    def header(self, event: RowChange, definition: Table) -> bytes:
        return b""

    def rows(self, event: RowChange, definition: Table) -> bytes:
        settings = self._settings
        message = from_event(event, settings, self._images_of(definition))
        return write_object(message, settings.dialect) + settings.terminator

    def _images_of(self, definition: Table) -> ImageWriter:
        """Return the writer of images of a table as it is now."""
        name = (definition.schema, definition.name)
        known = self._images.get(name)
        if known is None or known[0] is not definition:
            settings = self._settings
            images = ImageWriter(settings, (definition,))
            self._images[name] = known = (definition, images)
        return known[1]


STORED = StoredForm(_settings, _Encoder, option=("transport", "storage"))
