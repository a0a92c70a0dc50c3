"""Files below a folder: no name and no symbolic link leads out of it."""

from __future__ import annotations

import os
from pathlib import Path


class OutsideError(OSError):
    """A name or a link leads out of its folder."""

    def __init__(self, name: str) -> None:
        super().__init__(None, "it leads out of its directory", name)


def file_inside(root: Path, name: str) -> Path:
    """Return the file of a name below a folder, which may be a link itself. Raises: OutsideError.

    The file need not exist.
    """
    file = root / name
    if not is_inside(root, file):
        raise OutsideError(name)
    return file


def is_inside(root: Path, file: str | Path) -> bool:
    """Return whether a file is below a folder when all links are followed."""
    top, real = os.path.realpath(root), os.path.realpath(file)
    return real == top or real.startswith(top.rstrip(os.sep) + os.sep)
