"""The files of a corpus: those of a folder, or those of the archive in an installed package.

Names are paths below the top of the corpus, with slashes: ``craft/values/year-2024.json``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Protocol
from zipfile import ZipFile


class CorpusFiles(Protocol):
    """Read access to the files of a corpus."""

    @property
    def has_hexdumps(self) -> bool:
        """True if a case's hexdump is among the files. It can always be made from the case."""
        ...

    def names(self) -> Iterator[str]:
        """Yield the names of all files, sorted."""
        ...

    def read(self, name: str) -> bytes:
        """Return the content of a file. Raises: OSError."""
        ...

    def __contains__(self, name: str) -> bool: ...


class FolderFiles:
    """The files of a golden folder."""

    has_hexdumps = True

    def __init__(self, root: Path) -> None:
        self.root = root

    def names(self) -> Iterator[str]:
        """Yield the names of all files, sorted."""
        found = (file for file in self.root.rglob("*") if not file.is_dir())
        yield from sorted(file.relative_to(self.root).as_posix() for file in found)

    def read(self, name: str) -> bytes:
        """Return the content of a file. Raises: OSError."""
        return (self.root / name).read_bytes()

    def __contains__(self, name: str) -> bool:
        return (self.root / name).is_file()


class ArchiveFiles:
    """The files of a zip archive, which is kept in memory: processes that fork share it safely."""

    has_hexdumps = False

    def __init__(self, archive: bytes) -> None:
        self._archive = archive

    @cached_property
    def _zip(self) -> ZipFile:
        return ZipFile(BytesIO(self._archive))

    def names(self) -> Iterator[str]:
        """Yield the names of all files, sorted."""
        yield from sorted(self._zip.namelist())

    def read(self, name: str) -> bytes:
        """Return the content of a file. Raises: FileNotFoundError."""
        if name not in self:
            raise FileNotFoundError(2, "No such file in the archive", name)
        return self._zip.read(name)

    def __contains__(self, name: str) -> bool:
        return name in self._zip.NameToInfo
