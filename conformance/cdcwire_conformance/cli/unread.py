"""The warning about files that are not read with the messages of a directory."""

from __future__ import annotations

from cdcwire_conformance.sources.messages_io import unread_beside
from cdcwire_conformance.visible import print_error


def warn_of_unread(verb: str, source: str) -> None:
    """Print a line for files in a directory that may have rows and are not read with it."""
    unread = unread_beside(source)
    if unread:
        print_error(f"cdcwire {verb}: warning: {source}: not read: {unread}")
