"""The warnings about inputs that a verb leaves out: files of a directory, unfinished cases."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cdcwire_conformance.sources.messages_io import unread_beside
from cdcwire_conformance.visible import print_error


def warn_of_unread(verb: str, source: str) -> None:
    """Print a line for files in a directory that may have rows and are not read with it."""
    unread = unread_beside(source)
    if unread:
        print_error(f"cdcwire {verb}: warning: {source}: not read: {unread}")


def note_unfinished(
    verb: str,
    formats: Iterable[str] | None = None,
    root: Path | None = None,
    pattern: str | None = None,
) -> tuple[str, ...]:
    """Print a line for each case that its author has not finished, and return their ids.

    ``pattern``: of the wanted ids. Raises: CorpusError.
    """
    from cdcwire_conformance.corpus.store import unfinished_cases

    found = unfinished_cases(formats, pattern, root)
    for each in found:
        print_error(f"cdcwire {verb}: left out: {each}")
    return tuple(each.where.removesuffix(".json") for each in found)
