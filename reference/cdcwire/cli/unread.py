"""The warnings about inputs that a verb leaves out: files of a directory, unfinished cases."""

from __future__ import annotations

from cdcwire.console.visible import print_error
from cdcwire.files.messages_io import unread_beside


def warn_of_unread(verb: str, source: str) -> None:
    """Print a line for files in a directory that may have rows and are not read with it."""
    unread = unread_beside(source)
    if unread:
        print_error(f"cdcwire {verb}: warning: {source}: not read: {unread}")
