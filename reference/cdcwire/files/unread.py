"""The files of a directory that may have rows and that are not read with its feed.

A feed is the files of one form in the directory itself. Another file may be a part of the feed
that nobody reads: in a subdirectory, under another name, with another compression. A verdict and a
decoder name such files. Empty files and files of this project are harmless. So are markers and
documents, which are known by their names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterator
from dataclasses import dataclass
from itertools import islice

from cdcwire.files.feed_file import FEED_FILE, PREFIX_FEED_FILE, TABLES_FILE
from cdcwire.files.line_files import is_lines
from cdcwire.files.stores import Listed, Store, StoreError, is_hidden

PARQUET = ".parquet"

_SHOWN = 5
_MOST = 1000  # files that are looked for
_REPORT = re.compile(rb'\{\s*"comparison": \d')
_OWN = frozenset({FEED_FILE, PREFIX_FEED_FILE, TABLES_FILE})
_DOCUMENTS = (
    *(".crc", ".md5", ".sha1", ".sha256", ".sha512", ".asc", ".sig"),
    *(".md", ".rst", ".html", ".xml", ".css", ".svg", ".png", ".pdf"),
    *(".avsc", ".sql", ".toml", ".yaml", ".yml", ".ini", ".cfg", ".conf", ".properties"),
    *(".py", ".sh", ".pem", ".key"),
)


@dataclass(frozen=True, slots=True)
class Unread:
    """Files that may have rows and are not read. ``is_all``: False if there are more."""

    paths: tuple[str, ...] = ()
    is_all: bool = True

    def __str__(self) -> str:
        shown = ", ".join(self.paths[:_SHOWN])
        rest = len(self.paths) - _SHOWN
        if rest <= 0:
            return shown
        return f"{shown} and {'' if self.is_all else 'more than '}{rest:,} more"

    def __bool__(self) -> bool:
        return bool(self.paths)

    def without(self, known: Container[str]) -> Unread:
        """Return the files without those that are known by their path or the end of it."""
        paths = tuple(path for path in self.paths if not any(end in known for end in _ends(path)))
        return Unread(paths, self.is_all)


ALL_READ = Unread()


def _ends(path: str) -> Iterator[str]:
    parts = path.split("/")
    return ("/".join(parts[number:]) for number in range(len(parts)))


def may_have_messages(name: str) -> bool:
    """Return whether a feed may be in files of such a name."""
    return is_lines(name) or name.lower().endswith(PARQUET)


def unread_files(store: Store, read: Collection[str]) -> Unread:
    """Return the files of a directory that may have rows, except those that are read.

    A subdirectory that can't be listed is named with the reason.
    """
    read = frozenset(read)
    found: list[str] = []
    try:
        unread = (
            each.path
            for each in store.list()
            if _may_have_rows(each, read) and not _is_report(store, each.path)
        )
        found.extend(islice(unread, _MOST + 1))
    except StoreError as error:
        found.append(str(error))
    return Unread(tuple(sorted(found)[:_MOST]), len(found) <= _MOST)


def _may_have_rows(file: Listed, read: Collection[str]) -> bool:
    path, lower = file.path, file.path.lower()
    name = lower.rpartition("/")[2]
    if not file.size or path in read or path in _OWN:
        return False
    if is_hidden(path) or any(part.startswith("_") for part in path.split("/")):
        return may_have_messages(path) and not name.startswith("._")  # a copy of macOS's
    return not name.endswith(_DOCUMENTS)


def _is_report(store: Store, path: str) -> bool:
    """Return whether a file is the result of an earlier comparison."""
    if not path.endswith(".json"):
        return False
    try:
        with store.open(path) as file:
            return _REPORT.match(file.read(64)) is not None
    except OSError:
        return False
