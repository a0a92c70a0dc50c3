"""Opens the schemas at a place: a folder, or the address of a registry.

In a folder, ``<id>.avsc`` is the text of an id. The id is a number as Confluent gives it, or the
UUID of a Glue version. Other files are ignored, so that the folder may hold notes.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cdcwire.apache_avro.registries import MAX_SCHEMA_BYTES
from cdcwire.core.context import RemoteSchemas, Result, SchemaId
from cdcwire.files.local_files import open_inside
from cdcwire.schema_registry.address import RegistryError, parse_address
from cdcwire.schema_registry.client import ConfluentRegistry
from cdcwire.schema_registry.http import MAX_ANSWER_BYTES

if TYPE_CHECKING:
    from concurrent.futures import Executor

_LIKE_ADDRESS = re.compile(r"@|://|:\d+(?:/|$)")


class _RequestNeeded(Exception):
    """A look-up would have to wait for an answer."""

    def __init__(self, schema_id: SchemaId) -> None:
        super().__init__(schema_id)
        self.schema_id = schema_id


class Schemas(RemoteSchemas):
    """Texts by the text of their ids, asked for when they are needed: for reading messages.

    A registry does not list its schemas, so that what needs them all, as encoding does, is refused.
    """

    def __init__(self, registry: ConfluentRegistry) -> None:
        self.registry = registry
        self._of_thread = threading.local()  # answers, in a thread that may not wait for more

    def __getitem__(self, name: str) -> str:
        is_number = name.isascii() and name.isdigit() and len(name) <= 10
        text = self._text(int(name) if is_number else name)
        if text is None:
            raise KeyError(name)
        return text

    def _text(self, schema_id: SchemaId) -> str | None:
        answers: dict[SchemaId, str | None] | None = getattr(self._of_thread, "answers", None)
        if answers is None or self.registry.remembers(schema_id):
            return self.registry.get(schema_id)
        if schema_id not in answers:
            raise _RequestNeeded(schema_id)
        return answers[schema_id]

    async def call(self, function: Callable[[], Result], /) -> Result:
        """Return the result of a function that looks schemas up, without stopping the event loop.

        One thread waits for the answers, so that concurrent tasks fetch an id once.
        """
        from asyncio import get_running_loop

        answers: dict[SchemaId, str | None] = {}
        while True:
            self._of_thread.answers = answers
            try:
                return function()
            except _RequestNeeded as needed:
                wanted = needed.schema_id
            finally:
                self._of_thread.answers = None
            answers[wanted] = await get_running_loop().run_in_executor(
                self._waiting, self.registry.get, wanted
            )

    @cached_property
    def _waiting(self) -> Executor:
        from concurrent.futures import ThreadPoolExecutor

        return ThreadPoolExecutor(1, "cdcwire-registry")

    def __iter__(self) -> Iterator[str]:
        raise self._unlisted()

    def __len__(self) -> int:
        raise self._unlisted()

    def __bool__(self) -> bool:
        return True

    def _unlisted(self) -> RegistryError:
        problem = "a registry does not list its schemas"
        advice = "give a folder of schemas where they are needed to write messages"
        return RegistryError(problem, str(self.registry.address), advice)


def open_schemas(
    place: str, ca_file: str | None = None, max_bytes: int = MAX_ANSWER_BYTES
) -> Mapping[str, str]:
    """Return the schemas at a place as the mapping that ``Context.schemas`` takes.

    A place that begins with http is a registry, any other a folder. ``max_bytes``: the longest
    answer of a registry that is read.
    Raises: RegistryError; MissingExtraError where the HTTP library is not installed.
    """
    if place.strip().lower().startswith(("http://", "https://")):
        return Schemas(ConfluentRegistry(place, ca_file=ca_file, max_bytes=max_bytes))
    if _LIKE_ADDRESS.search(place) and not Path(place).exists():
        parse_address(place)  # it says what is wrong, and does not repeat a password
    return read_schema_folder(Path(place))


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
