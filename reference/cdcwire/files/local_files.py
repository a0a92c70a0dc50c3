"""Local files: read whole, written whole or not at all, and found below a folder.

A file that the user names may be a link or a pipe. A file that is found in a folder may not: others
may have put it there. No name and no symbolic link leads out of the folder, and each has an end.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from errno import EFBIG
from pathlib import Path
from typing import BinaryIO

from cdcwire.console.interrupts import interrupts_wait
from cdcwire.core.nearest import did_you_mean

MAX_BYTES = 1 << 30  # of what is read whole
MAX_TEXT_BYTES = 64 << 20  # of definitions, settings and other texts that are read whole
_PART = 1 << 20


def read_whole(path: str | Path) -> bytes:
    """Return the bytes of a file. Raises: OSError, also if there are more than ``MAX_BYTES``."""
    with open(path, "rb") as file:
        return read_rest(file, str(path))


def read_short(path: str | Path) -> bytes:
    """Return the bytes of a text that is not a feed. Raises: OSError, also for a long one."""
    with open(path, "rb") as file:
        return read_rest(file, str(path), MAX_TEXT_BYTES)


def read_rest(stream: BinaryIO, name: str, most: int | None = None) -> bytes:
    """Return the bytes that follow in a stream.

    ``most``: how many; None: ``MAX_BYTES``. Raises: OSError, also if there are more.
    """
    most = MAX_BYTES if most is None else most
    raw = bytearray()
    while part := stream.read(_PART):  # a read takes the memory of what it asks for
        raw += part
        if len(raw) > most:
            raise OSError(EFBIG, f"more than {most} bytes", name)
    return bytes(raw)


def unreadable(error: OSError, path: str | Path) -> str:
    """Return why a file can't be read. A missing one may be misspelled: its neighbour is named."""
    meant = meant_file(Path(path)) if isinstance(error, FileNotFoundError) else ""
    return f"can't be read: {error.strerror or error}{meant}"


def meant_file(path: Path) -> str:
    """Return the end of an error about a path that is missing: the name next to it that is like it.

    It is empty if no name is.
    """
    try:
        return did_you_mean(path.name, os.listdir(path.parent))
    except OSError:
        return ""


def is_new_or_empty(path: Path) -> bool:
    """Return whether nothing is at a path, or a directory without files. Raises: OSError."""
    return not path.exists() or (path.is_dir() and not any(path.iterdir()))


def unfinished_next_to(target: Path) -> Path:
    """Return the path of a file or directory that becomes a target: a name that nothing has.

    The writer that creates it may remove it.
    """
    return target.with_name(f".cdcwire-{secrets.token_hex(8)}.unfinished")


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing, which takes its place when the block ends without an exception.

    Links, permissions, pipes and devices stay what they are. Raises: OSError with the file's name.
    """
    target = path.resolve()
    unfinished = unfinished_next_to(target)
    is_made = False  # what has the name otherwise is not removed
    try:
        if target.exists() and not _is_replaceable(target):
            with path.open("wb") as out:
                yield out
            return
        with unfinished.open("xb") as out:
            is_made = True
            yield out
        _put(unfinished, target)
    except OSError as error:
        if error.filename in (None, str(unfinished)):
            error.filename = str(path)
        raise
    finally:
        if is_made:
            with contextlib.suppress(OSError):
                unfinished.unlink()


@contextlib.contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Open a new directory, whose content goes to a path when the block ends without an exception.

    Other files that are at the path stay. Raises: OSError with the name at the path.
    """
    target = path.resolve()
    is_new = not target.exists()
    place = target.parent if is_new else target
    parents = [each for each in (place, *place.parents) if not each.exists()]
    unfinished = unfinished_next_to(place / target.name)
    is_made = is_whole = False
    try:
        place.mkdir(parents=True, exist_ok=True)
        unfinished.mkdir()
        is_made = True
        yield unfinished
        with interrupts_wait():
            for each in () if is_new else unfinished.iterdir():
                each.replace(target / each.name)
            if is_new:
                unfinished.replace(target)
            is_whole = True
    except OSError as error:
        name = str(error.filename or unfinished)
        if name.startswith(str(unfinished)):
            error.filename = f"{path}{name.removeprefix(str(unfinished))}"
        raise
    finally:
        if is_made:
            shutil.rmtree(unfinished, ignore_errors=True)
        for each in () if is_whole else parents:
            with contextlib.suppress(OSError):  # it was not made, or has something else
                each.rmdir()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole, over an existing one. Raises: OSError with the file's name."""
    with whole_file(path) as out:
        out.write(content)


def _is_replaceable(target: Path) -> bool:
    return target.is_file() and os.access(target, os.W_OK) and os.access(target.parent, os.W_OK)


def _put(unfinished: Path, target: Path) -> None:
    if not target.exists():
        unfinished.replace(target)
        return
    shutil.copymode(target, unfinished)
    try:
        unfinished.replace(target)
    except OSError:  # a container may hold this one file of a directory elsewhere
        shutil.copyfile(unfinished, target)


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
