"""The warning about cases that their authors have not finished."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cdcwire.console.visible import print_error


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
