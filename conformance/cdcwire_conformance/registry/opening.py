"""Opens the schemas at a place: a folder, or the address of a registry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from cdcwire_conformance.registry.address import parse_address
from cdcwire_conformance.registry.client import ConfluentRegistry
from cdcwire_conformance.registry.errors import RegistryError
from cdcwire_conformance.registry.folder import read_schema_folder
from cdcwire_conformance.registry.http import MAX_ANSWER_BYTES

_LIKE_ADDRESS = re.compile(r"@|://|:\d+(?:/|$)")


class Schemas(Mapping[str, str]):
    """Texts by the text of their ids, asked for when they are needed: for reading messages.

    A registry does not list its schemas, so that what needs them all, as encoding does, is refused.
    """

    def __init__(self, registry: ConfluentRegistry) -> None:
        self.registry = registry

    def __getitem__(self, name: str) -> str:
        is_number = name.isascii() and name.isdigit() and len(name) <= 10
        text = self.registry.get(int(name) if is_number else name)
        if text is None:
            raise KeyError(name)
        return text

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
