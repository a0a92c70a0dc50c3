"""The files of a corpus: those of a folder, or those of the archive in an installed package.

Names are paths below the top of the corpus, with slashes: ``craft/values/year-2024.json``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Protocol
from zipfile import ZipFile

from cdcwire.files.local_files import is_inside, read_inside


class CorpusFiles(Protocol):
    """Read access to the files of a corpus."""

    @property
    def has_hexdumps(self) -> bool:
        """True if a case's hexdump is among the files. It can always be made from the case."""
        ...

    def names(self, folder: str = "") -> Iterator[str]:
        """Yield the names of all files, sorted; those in ``folder``, a name at the top."""
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

    def names(self, folder: str = "") -> Iterator[str]:
        """Yield the names of all files, sorted; those in ``folder``, a name at the top.

        Raises: OSError for a folder that can't be read.
        """
        found = []

        def failed(error: OSError) -> None:
            if not isinstance(error, FileNotFoundError):
                raise OSError(None, f"can't be read: {error.strerror}", error.filename) from error

        for place, _, names in os.walk(self.root / folder, onerror=failed):
            above = Path(place).relative_to(self.root).as_posix()
            found += names if above == "." else [f"{above}/{name}" for name in names]
        yield from sorted(found)

    def read(self, name: str) -> bytes:
        """Return the content of a file. Raises: OSError."""
        return read_inside(self.root, name)

    def __contains__(self, name: str) -> bool:
        return is_inside(self.root, self.root / name) and (self.root / name).is_file()


class ArchiveFiles:
    """The files of a zip archive, which is kept in memory: processes that fork share it safely."""

    has_hexdumps = False

    def __init__(self, archive: bytes) -> None:
        self._archive = archive

    @cached_property
    def _zip(self) -> ZipFile:
        return ZipFile(BytesIO(self._archive))

    def names(self, folder: str = "") -> Iterator[str]:
        """Yield the names of all files, sorted; those in ``folder``, a name at the top."""
        above = f"{folder}/" if folder else ""
        yield from sorted(name for name in self._zip.namelist() if name.startswith(above))

    def read(self, name: str) -> bytes:
        """Return the content of a file. Raises: FileNotFoundError."""
        if name not in self:
            raise FileNotFoundError(2, "No such file in the archive", name)
        return self._zip.read(name)

    def __contains__(self, name: str) -> bool:
        return name in self._zip.NameToInfo
