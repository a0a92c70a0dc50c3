"""The split of a feed's files for workers: into shares. Each share is one piece of a job."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from cdcwire.files.line_files import UNPACKED, is_compressed
from cdcwire.files.stores import is_url, path_under
from cdcwire_conformance.decode.stored_rows import StoredData
from cdcwire_conformance.sources.pieces import Piece
from cdcwire_conformance.sources.source_urls import Source

T = TypeVar("T", Piece, StoredData)
SHARE_BYTES = 128 << 20
IN_ORDER_BYTES = 4 << 20
"""The size of shares whose decoded rows come back to this process, some at a time."""

_LEAST_SHARE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Work(Generic[T]):
    """The files to read, in shares in the order of the feed.

    ``paths``: of the only file of each share, where Spark reads it; None: workers open files.
    ``empty``: the numbers of shares whose file is empty. Spark skips such files.
    """

    shares: Sequence[Sequence[T]]
    paths: tuple[str, ...] | None = None
    empty: tuple[int, ...] = ()


def work_of_lines(source: Source, workers: int, share_bytes: int | None = None) -> Work[Piece]:
    """Return the work of JSON lines, split for a number of workers."""
    if is_url(source.folder):
        return Work([[Piece.whole(file)] for file in source.files], source.files)
    share_bytes = share_bytes or share_bytes_of(source.files, workers)
    return Work(shares_of(source.files, share_bytes))


def shares_of(files: Iterable[str], share_bytes: int = SHARE_BYTES) -> list[tuple[Piece, ...]]:
    """Return pieces that cover JSON-lines files, in order, in shares of about ``share_bytes``."""
    shares: list[tuple[Piece, ...]] = []
    share: list[Piece] = []
    room = share_bytes
    for file in files:
        start, size = 0, Path(file).stat().st_size
        if is_compressed(file):
            shares += [tuple(share)] if share else []
            shares.append((Piece.whole(file),))
            share, room = [], share_bytes
            continue
        while start < size:
            end = min(size, start + room)
            share.append(Piece(file, start, end))
            room -= end - start
            start = end
            if room == 0:
                shares.append(tuple(share))
                share, room = [], share_bytes
    return [*shares, tuple(share)] if share else shares


def share_bytes_of(files: Iterable[str], workers: int) -> int:
    """Return how large shares are to be: one for each worker, but not beyond ``SHARE_BYTES``.

    A share costs a task, which takes Spark some tenth of a second.
    """
    total = sum(Path(file).stat().st_size for file in files)
    return max(_LEAST_SHARE_BYTES, min(SHARE_BYTES, -(-total // max(1, workers))))


def work_of_files(
    folder: str, files: Iterable[StoredData], workers: int, share_bytes: int | None = None
) -> Work[StoredData]:
    """Return the work of the data files of a prefix, split for a number of workers."""
    files = tuple(files)
    if is_url(folder):
        empty = tuple(number for number, file in enumerate(files) if not file.size)
        paths = tuple(path_under(folder, file.name) for file in files)
        return Work([[file] for file in files], paths, empty)
    return Work(shares_of_files(files, workers, share_bytes))


def work_in_order(files: Iterable[StoredData]) -> Work[StoredData]:
    """Return the work of the data files of a prefix in shares of about ``IN_ORDER_BYTES``."""
    shares: list[list[StoredData]] = []
    room = 0
    for file in files:
        if room <= 0:
            shares.append([])
            room = IN_ORDER_BYTES
        shares[-1].append(file)
        room -= file.size
    return Work(shares)


def bytes_of(share: Iterable[Piece | StoredData]) -> int:
    """Return how many bytes a share has. Those of compressed files are estimated."""
    return sum(each.size if isinstance(each, StoredData) else _bytes_of(each) for each in share)


def _bytes_of(piece: Piece) -> int:
    size = Path(piece.file).stat().st_size
    return size * UNPACKED if is_compressed(piece.file) else min(piece.end, size) - piece.start


def shares_of_files(
    files: Iterable[StoredData], workers: int, share_bytes: int | None = None
) -> list[tuple[StoredData, ...]]:
    """Return the files in shares of about the same size, in the order of replay inside of one.

    A share costs a task; a file is never cut.
    """
    files = list(files)
    total = sum(file.size for file in files)
    count = max(workers, -(-total // (share_bytes or SHARE_BYTES)))
    count = max(1, min(count, len(files)))
    shares: list[list[StoredData]] = [[] for _ in range(count)]
    room = [(0, number) for number in range(count)]
    for file in sorted(files, key=lambda file: file.size, reverse=True):
        size, number = heapq.heappop(room)
        shares[number].append(file)
        heapq.heappush(room, (size + file.size + 1, number))
    return [tuple(sorted(share, key=lambda file: file.order)) for share in shares]
