"""Files that are written whole or not at all, whatever happens meanwhile."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing, which takes its place when the block ends without an exception.

    Links, permissions, pipes and devices stay what they are. Raises: OSError with the file's name.
    """
    target = path.resolve()
    unfinished = target.with_name(f".{target.name}.unfinished")
    try:
        if target.exists() and not _is_replaceable(target):
            with path.open("wb") as out:
                yield out
            return
        with unfinished.open("wb") as out:
            yield out
        _put(unfinished, target)
    except OSError as error:
        if error.filename in (None, str(unfinished)):
            error.filename = str(path)
        raise
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink()


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
