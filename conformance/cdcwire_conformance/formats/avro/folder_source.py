"""A folder of schema files as a source that a codec reads from and registers in."""

from __future__ import annotations

from pathlib import Path

from cdcwire.apache_avro.registries import Registry
from cdcwire.apache_avro.sources import MemorySource
from cdcwire.core.context import SchemaId
from cdcwire.schema_registry import RegistryError
from cdcwire.schema_registry.opening import SUFFIX, read_schema_folder


class FolderSource:
    """A ``SchemaSource`` of the files of a folder, all read at once.

    ``is_writable``: a schema that is registered and new becomes a file; otherwise it has an id
    only as long as the source lives. Raises: RegistryError that names the folder or the file.
    """

    def __init__(
        self, folder: str | Path, registry: Registry = "confluent", is_writable: bool = False
    ) -> None:
        self.folder = Path(folder)
        self.is_writable = is_writable
        self._memory = MemorySource(read_schema_folder(self.folder), registry)

    @property
    def texts(self) -> dict[str, str]:
        """The texts by the text of their ids, as ``Context.schemas`` takes them."""
        return self._memory.texts

    def get(self, schema_id: SchemaId) -> str | None:
        """Return the text of a schema; None if the id is unknown."""
        return self._memory.get(schema_id)

    def register(self, subject: str, text: str) -> SchemaId:
        """Return the id of a schema; write a new schema to a file if ``is_writable``.

        Raises: RegistryError if the file cannot be written.
        """
        schema_id = self._memory.register(subject, text)
        file = self.folder / f"{schema_id}{SUFFIX}"
        if self.is_writable and not file.exists():
            try:
                file.write_text(text, encoding="utf-8", newline="")
            except OSError as error:
                raise RegistryError(f"can't be written: {error.strerror}", str(file)) from None
        return schema_id
