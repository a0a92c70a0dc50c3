"""The formats that are stored in the files of a prefix."""

from __future__ import annotations

from pathlib import Path

from cdcwire.core.format import Format
from cdcwire.core.registry import FORMAT_NAMES, get_format
from cdcwire.storage.form import StoredForm
from cdcwire_conformance.sources.stores import is_url


def stored_formats() -> tuple[str, ...]:
    """Return the names of the formats that are stored in a prefix."""
    return tuple(name for name in FORMAT_NAMES if get_format(name).stored is not None)


def is_stored(format_name: str) -> bool:
    """Return whether a format may be stored in a prefix."""
    return get_format(format_name).stored is not None


def is_prefix(format_name: str, location: str) -> bool:
    """Return whether a location is a storage prefix: a URL, or a directory without ``*.jsonl``."""
    if not is_stored(format_name):
        return False
    folder = Path(location)
    return is_url(location) or (folder.is_dir() and not any(folder.glob("*.jsonl")))


def stored_form(format_: Format) -> StoredForm:
    """Return how a format is stored in a prefix. Raises: ValueError where it is not."""
    found = format_.stored
    if found is None:
        known = ", ".join(stored_formats())
        raise ValueError(f"{format_.name} is not stored in files of a prefix; there are: {known}")
    return found
