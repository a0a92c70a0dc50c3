"""Files below a folder: no name and no symbolic link leads out of it, and each has an end.

A file that the user names may be a link or a pipe. A file that is found in a folder may not: others
may have put it there.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from cdcwire.files.whole_files import read_rest

BUFFER_BYTES = 1 << 17  # a line has tens of KiB; it is slow to read in steps of the default 8 KiB


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


def open_inside(root: Path, name: str) -> BinaryIO:
    """Open a file of a name below a folder for reading. It never waits for the writer of a pipe.

    Raises: OutsideError; OSError, also for a pipe, a socket or a device.
    """
    file = file_inside(root, name)
    stream = open(file, "rb", BUFFER_BYTES, opener=_open_at_once)  # noqa: SIM115  (returned)
    try:
        check_is_file(os.fstat(stream.fileno()), str(file))
    except OSError:
        stream.close()
        raise
    return stream


def read_inside(root: Path, name: str, most: int | None = None) -> bytes:
    """Return the bytes of a file of a name below a folder, at most as many as ``read_rest``.

    Raises: as ``open_inside``.
    """
    with open_inside(root, name) as stream:
        return read_rest(stream, name, most)


def check_is_file(found: os.stat_result, name: str) -> None:
    """Check what is at a name. Raises: OSError for a pipe or a device, which has no end."""
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
        raise OSError(None, "it is not a file, but a pipe, a socket or a device", name)


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def is_inside(root: Path, file: str | Path) -> bool:
    """Return whether a file is below a folder when all links are followed."""
    top, real = os.path.realpath(root), os.path.realpath(file)
    return real == top or real.startswith(top.rstrip(os.sep) + os.sep)
