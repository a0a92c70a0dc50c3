"""A folder of schema files as a source: ``<id>.avsc`` is the text of an id.

The id is a number as Confluent gives it, or the UUID of a Glue version. Other files are passed
over, so that the folder may hold notes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from cdcwire.formats.avro.schema import MAX_TEXT_BYTES
from cdcwire.formats.avro.settings import Registry
from cdcwire.formats.avro.sources import MemorySource, SchemaId
from cdcwire_conformance.registry.errors import RegistryError

SUFFIX = ".avsc"
_NUMBER = re.compile(r"[1-9][0-9]{0,9}", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
_ADVICE = "a schema is a file <id>.avsc: 1.avsc, or the UUID of a Glue version"


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
        self._memory = MemorySource(dict(_texts(self.folder)), registry)

    @property
    def texts(self) -> dict[str, str]:
        """The texts by the text of their ids, as ``Context.schemas`` takes them."""
        return self._memory.texts

    def get(self, schema_id: SchemaId) -> str | None:
        return self._memory.get(schema_id)

    def register(self, subject: str, text: str) -> SchemaId:
        schema_id = self._memory.register(subject, text)
        file = self.folder / f"{schema_id}{SUFFIX}"
        if self.is_writable and not file.exists():
            try:
                file.write_text(text, encoding="utf-8", newline="")
            except OSError as error:
                raise RegistryError(f"can't be written: {error.strerror}", str(file)) from None
        return schema_id


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    if not folder.is_dir():
        raise RegistryError("there is no such folder", str(folder), _ADVICE)
    for file in sorted(folder.glob(f"*{SUFFIX}")):
        name = file.stem
        if not _NUMBER.fullmatch(name) and not _UUID.fullmatch(name):
            raise RegistryError("the name of the file is no id", str(file), _ADVICE)
        try:
            if file.stat().st_size > MAX_TEXT_BYTES:
                problem = f"more than {MAX_TEXT_BYTES} bytes are no schema"
                raise RegistryError(problem, str(file))
            yield name.lower(), file.read_bytes().decode("utf-8-sig").strip()
        except UnicodeDecodeError as error:
            problem = f"byte {error.start} is not UTF-8"
            raise RegistryError(problem, str(file), "a schema is text in UTF-8") from None
        except OSError as error:
            raise RegistryError(f"can't be read: {error.strerror}", str(file)) from None
