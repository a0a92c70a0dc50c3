"""The parts of a generated feed, which several processes encode.

Each process makes all changes up to the end of its parts, since one random generator makes them,
and encodes its own. A message never has changes of two parts. So the number of processes does not
change the messages.
"""

from __future__ import annotations

import shutil
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path

from cdcwire.cli.context import UsageError
from cdcwire.core.errors import EncodeError
from cdcwire.files.json_messages import message_line
from cdcwire.files.local_files import whole_file
from cdcwire.format import Format, MessageEncoder
from cdcwire.model.events import Event
from cdcwire_conformance.processes import process_pool

PART_ROWS = 1 << 14


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts that one of several processes writes, and their file."""

    path: Path
    first: int
    end: int


def write_parts(target: Path, rows: int, jobs: int, write: Callable[[Parts], None]) -> None:
    """Write a feed of ``rows`` changes on ``jobs`` processes.

    ``write`` runs in another process and calls ``encode_parts``. Raises: UsageError.
    """
    count = -(-rows // PART_ROWS)
    jobs = max(1, min(jobs, count))
    ends = [count * number // jobs for number in range(jobs + 1)]
    shares = [
        Parts(target.with_name(f".{target.name}.{number}"), *ends[number : number + 2])
        for number in range(jobs)
    ]
    try:
        try:
            with process_pool(jobs) as pool:
                deque(pool.map(write, shares), maxlen=0)
        except BrokenProcessPool as error:
            raise UsageError("a process ended too soon; --jobs 1 needs no others") from error
        with whole_file(target) as joined:
            for share in shares:
                with share.path.open("rb") as part:
                    shutil.copyfileobj(part, joined, 1 << 20)
                share.path.unlink()
    finally:
        for share in shares:
            share.path.unlink(missing_ok=True)


def encode_parts(
    share: Parts, events: Iterable[Event], through: Format, encode: MessageEncoder
) -> None:
    """Write the messages of some parts of a feed. Raises: EncodeError."""
    has_batches = any(option.name == "max-batch-size" for option in through.options)
    cut = _Cut(at_commits=not has_batches)
    with share.path.open("wb") as file:
        for _, part in islice(groupby(events, cut), share.first, share.end):
            start = cut.changes - 1  # groupby has taken the first one
            try:
                file.writelines(map(message_line, encode(part)))
            except EncodeError as error:
                if error.path and isinstance(error.path[1], int):
                    error.path = (error.path[0], error.path[1] + start, *error.path[2:])
                raise


class _Cut:
    """Numbers the part of each change. ``at_commits``: no transaction is cut."""

    def __init__(self, *, at_commits: bool) -> None:
        self._at_commits = at_commits
        self._commit_ts: int | None = None
        self._part = 0
        self._rows = 0
        self.changes = 0

    def __call__(self, event: Event) -> int:
        commit_ts = event.position.commit_ts
        if self._rows >= PART_ROWS and not (self._at_commits and commit_ts == self._commit_ts):
            self._part += 1
            self._rows = 0
        self._commit_ts = commit_ts
        self._rows += 1
        self.changes += 1
        return self._part
