"""The list of readers: ``readers.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from cdcwire.configuration.found import read_toml
from cdcwire.console.problems import UsageError
from cdcwire.core.nearest import did_you_mean
from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.output.results.stored import file_name

Registry: TypeAlias = Literal["pypi", "npm", "go", "maven", "checkout"]
REGISTRIES: tuple[str, ...] = get_args(Registry)
_PURPOSE = "the list of readers"
_MOST_VERSIONS = 50


@dataclass(frozen=True, slots=True)
class ListedReader:
    """A reader of the list.

    ``versions``: the newest N releases, or releases by name; checkout: the program as it is.
    ``adapter``: the folder of adapters/ whose program is built and run. ``command``: the program
    and its arguments in that folder; empty: the reference. ``requires``: other packages of its
    environment. ``seconds``: the limit for one format.
    """

    name: str
    registry: Registry
    formats: tuple[str, ...]
    package: str = ""
    versions: int | tuple[str, ...] = 3
    adapter: str = ""
    command: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    seconds: int = 1200

    @property
    def source(self) -> str:
        """The registry and the package: ``pypi:fastavro``; empty for a program of the checkout."""
        return "" if self.registry == "checkout" else f"{self.registry}:{self.package}"


def read_list(file: Path) -> tuple[ListedReader, ...]:
    """Return the readers of a list. Raises: UsageError, ConfigurationError, MissingExtraError."""
    document = read_toml(str(file), _PURPOSE)
    for name in document:
        if name != "reader":
            raise UsageError(f"{file}: unknown member {name!r:.80}; each reader is a [[reader]]")
    found = document.get("reader")
    if not isinstance(found, list) or not found:
        raise UsageError(f"{file}: no [[reader]]")
    readers = tuple(_reader(f"{file}: reader {at}", each) for at, each in enumerate(found, 1))
    seen: dict[str, str] = {}
    for name in (reader.name for reader in readers):
        other = seen.setdefault(file_name(name).lower(), name)
        if other is not name:
            raise UsageError(f"{file}: readers {other!r:.80} and {name!r:.80} share a directory")
    return readers


def _reader(where: str, document: object) -> ListedReader:
    if not isinstance(document, Mapping):
        raise UsageError(f"{where} is not a table")
    known = [each.name for each in fields(ListedReader)]
    for name in document:
        if name not in known:
            meant = did_you_mean(name, known)
            raise UsageError(f"{where}: unknown member {name!r:.80}{meant}")
    name = _text(where, document, "name")
    where = f"{where} ({name:.80})"
    registry = _text(where, document, "registry")
    if registry not in REGISTRIES:
        raise UsageError(f"{where}: registry is one of {', '.join(REGISTRIES)}")
    for needed in () if registry == "checkout" else ("package", "adapter", "command"):
        if not document.get(needed):
            raise UsageError(f"{where}: {needed} is missing")
    formats = _texts(where, document, "formats")
    for each in formats:
        if each not in FORMAT_NAMES:
            raise UsageError(f"{where}: unknown format {each!r:.80}")
    return ListedReader(
        name,
        registry,  # type: ignore[arg-type]  # checked above
        formats or FORMAT_NAMES,
        package=_text(where, document, "package", ""),
        versions=_versions(where, document),
        adapter=_text(where, document, "adapter", ""),
        command=_texts(where, document, "command"),
        requires=_texts(where, document, "requires"),
        seconds=_number(where, document, "seconds", 1200),
    )


def _versions(where: str, document: Mapping[str, object]) -> int | tuple[str, ...]:
    if isinstance(document.get("versions", 3), int):
        number = _number(where, document, "versions", 3)
        if number > _MOST_VERSIONS:
            raise UsageError(f"{where}: versions is at most {_MOST_VERSIONS}")
        if document["registry"] == "maven":
            raise UsageError(f"{where}: versions of Maven artifacts are a list of releases")
        return number
    return _texts(where, document, "versions")


def _text(where: str, document: Mapping[str, object], name: str, default: str | None = None) -> str:
    found = document.get(name, default)
    if not isinstance(found, str) or (default is None and not found.strip()):
        raise UsageError(f"{where}: {name} is not a text")
    return found


def _texts(where: str, document: Mapping[str, object], name: str) -> tuple[str, ...]:
    found = document.get(name, [])
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise UsageError(f"{where}: {name} is not a list of texts")
    return tuple(found)


def _number(where: str, document: Mapping[str, object], name: str, default: int) -> int:
    found = document.get(name, default)
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise UsageError(f"{where}: {name} is not a number from 1")
    return found
