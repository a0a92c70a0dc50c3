"""A folder of schema files as a source: ``<id>.avsc`` is the text of an id.

The id is a number as Confluent gives it, or the UUID of a Glue version. Other files are ignored, so
that the folder may hold notes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from cdcwire.apache_avro.schema_registry import MAX_SCHEMA_BYTES
from cdcwire_conformance.inside import open_inside
from cdcwire_conformance.registry.errors import RegistryError

SUFFIX = ".avsc"
_NUMBER = re.compile(r"[1-9][0-9]{0,9}", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
_ADVICE = "a schema is a file <id>.avsc: 1.avsc, or the UUID of a Glue version"


def read_schema_folder(folder: Path) -> dict[str, str]:
    """Return the texts by the text of their ids, as ``Context.schemas`` takes them.

    Raises: RegistryError that names the folder or the file.
    """
    return dict(_texts(folder))


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    for file in _files_in(folder):
        name = file.stem
        if not _NUMBER.fullmatch(name) and not _UUID.fullmatch(name):
            raise RegistryError("the name of the file is not an id", str(file), _ADVICE)
        try:
            with open_inside(folder, file.name) as stream:
                text = stream.read(MAX_SCHEMA_BYTES + 1)
            if len(text) > MAX_SCHEMA_BYTES:
                problem = f"the file is longer than {MAX_SCHEMA_BYTES} bytes"
                raise RegistryError(problem, str(file))
            yield name.lower(), text.decode("utf-8-sig").strip()
        except UnicodeDecodeError as error:
            problem = f"byte {error.start} is not UTF-8"
            raise RegistryError(problem, str(file), "a schema is text in UTF-8") from None
        except OSError as error:
            raise RegistryError(f"can't be read: {error.strerror}", str(file)) from None


def _files_in(folder: Path) -> list[Path]:
    try:
        return sorted(folder / name for name in os.listdir(folder) if name.endswith(SUFFIX))
    except (FileNotFoundError, NotADirectoryError):
        raise RegistryError("there is no such folder", str(folder), _ADVICE) from None
    except OSError as error:
        raise RegistryError(f"can't be read: {error.strerror}", str(folder)) from None
