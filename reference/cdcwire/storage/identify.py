"""The signs of a storage sink: the names of files, and what is in the files without rows."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import product

from cdcwire.core.errors import DecodeError
from cdcwire.core.guess import Guess, OptionValues, json_object
from cdcwire.core.message import StoredFile
from cdcwire.storage import paths

_SEPARATORS: tuple[paths.DateSeparator, ...] = ("day", "none", "month", "year")
_SCHEMA_MEMBERS = {"TableVersion", "TableColumns", "Table", "Schema"}
_DIGITS = re.compile(r"([0-9]{6,20})\.[a-z]+$")


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A data file's path: what it says, and the settings under which it is a path of the layout."""

    path: paths.DataPath | None
    options: OptionValues
    alternatives: tuple[OptionValues, ...]


def identify_other_file(file: StoredFile, extension: str) -> Guess | None:
    """Return what a file without rows shows: metadata, a schema file, an index file.

    Each format that is stored in a prefix has the same, but an index names a file of the format.
    """
    name = file.path.rpartition("/")[2]
    if name == paths.METADATA_NAME:
        if set(json_object(file.value) or ()) != {"checkpoint-ts"}:
            return None
        return Guess("metadata of a storage sink", if_decoded="possible")
    if f"/{paths.META_DIRECTORY}/" not in f"/{file.path}":
        return None
    if name.startswith("schema_"):
        if not set(json_object(file.value) or ()) >= _SCHEMA_MEMBERS:
            return None
        return Guess("a schema file of a storage sink", if_decoded="possible")
    if name.endswith(".index") and file.value.rstrip(b"\n").endswith(extension.encode()):
        options, alternatives = _layouts(file.path, extension, paths.IndexPath)
        evidence = f"an index file that names a {extension} file"
        return Guess(
            evidence, if_decoded="likely", alone="likely", options=options,
            alternatives=alternatives,
        )  # fmt: skip
    return None


def place_of(file: StoredFile, extension: str) -> FilePlace | None:
    """Return what the path of a data file says; None if it is not a data file's."""
    if "/" not in file.path:
        bare = FilePlace(None, {}, ({},))
        return None if file.path == paths.METADATA_NAME else bare
    options, alternatives = _layouts(file.path, extension, paths.DataPath)
    if not alternatives:
        return None
    layout = _layout(alternatives[0], extension)
    path = paths.parse_path(file.path, layout)
    assert isinstance(path, paths.DataPath)
    digits = _DIGITS.search(file.path)
    if digits is not None and len(digits[1]) != paths.PathLayout().digits:
        options = {**options, "file-index-digit": len(digits[1])}
    return FilePlace(path, options, alternatives)


def _layouts(
    path: str, extension: str, kind: type[paths.DataPath | paths.IndexPath | paths.SchemaPath]
) -> tuple[OptionValues, tuple[OptionValues, ...]]:
    """Return the settings that the path shows, and those under which it is legal."""
    found: list[OptionValues] = []
    for separator, partitions in product(_SEPARATORS, (True, False)):
        options: OptionValues = {"date-separator": separator}
        if not partitions:
            options = {**options, "enable-partition-separator": False}
        try:
            parsed = paths.parse_path(path, _layout(options, extension))
        except DecodeError:
            continue
        if isinstance(parsed, kind) and (partitions or not found):
            found.append(options)
    return ({}, tuple(found))


def _layout(options: OptionValues, extension: str) -> paths.PathLayout:
    layout = paths.PathLayout(extension=extension)
    for separator in _SEPARATORS:
        if options.get("date-separator") == separator:
            layout = replace(layout, date_separator=separator)
    return replace(
        layout, has_partitions=options.get("enable-partition-separator", True) is not False
    )
