"""When a file of rows ends, and which name it gets: a state that functions step forward.

One state is one table's rows under one version, and of one partition where those are separated.
There is no clock and no buffer here: the caller passes the time and the date, and keeps the bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cdcwire.core.errors import EncodeError

CLAUSE = "storage: file cutting"

DEFAULT_FILE_SIZE = 64 << 20
FILE_SIZES = (1 << 20, 512 << 20)
DEFAULT_FLUSH_INTERVAL_MS = 5_000
FLUSH_INTERVALS_MS = (2_000, 600_000)


@dataclass(frozen=True, slots=True)
class CuttingSettings:
    """``file-size`` and ``flush-interval``. The producer refuses what lies outside its ranges."""

    file_size: int = DEFAULT_FILE_SIZE
    flush_interval_ms: int = DEFAULT_FLUSH_INTERVAL_MS

    def __post_init__(self) -> None:
        if self.file_size < 1 or self.flush_interval_ms < 1:
            raise ValueError(f"file-size and flush-interval are at least 1: {self}")

    @property
    def is_shipped(self) -> bool:
        """True if the producer allows these settings."""
        return (
            FILE_SIZES[0] <= self.file_size <= FILE_SIZES[1]
            and FLUSH_INTERVALS_MS[0] <= self.flush_interval_ms <= FLUSH_INTERVALS_MS[1]
        )


@dataclass(frozen=True, slots=True)
class Part:
    """Rows that stay together: of one transaction and one table, or a piece of them.

    With ``transaction-atomicity = "table"`` the rows of a table in a transaction are one part.
    """

    size: int
    rows: int = 1


@dataclass(frozen=True, slots=True)
class Cut:
    """A file that is finished: where it goes, and how many of the buffered rows it has."""

    date: str
    number: int
    rows: int
    size: int


@dataclass(frozen=True, slots=True)
class OpenFile:
    """What is buffered, and the directory that the last file went to.

    ``number`` is the next file's in that directory. ``since_ms`` is when the first part came.
    """

    date: str
    number: int = 1
    rows: int = 0
    size: int = 0
    since_ms: int | None = None


def add_part(
    state: OpenFile, part: Part, settings: CuttingSettings, now_ms: int, date: str
) -> tuple[OpenFile, Cut | None]:
    """Buffer a part; a file is cut after the part that fills it, never inside one.

    ``date``: the date directory of this moment, "" without dates.
    Source: storage, "file cutting".
    """
    if part.rows < 1 or part.size < 0:
        raise ValueError(f"a part has rows and bytes: {part}")
    since = now_ms if state.since_ms is None else state.since_ms
    state = replace(state, rows=state.rows + part.rows, size=state.size + part.size, since_ms=since)
    if state.size >= settings.file_size:
        return flush(state, date)
    return tick(state, settings, now_ms, date)


def tick(
    state: OpenFile, settings: CuttingSettings, now_ms: int, date: str
) -> tuple[OpenFile, Cut | None]:
    """Let time pass: rows that have waited for the interval are cut off.

    Source: storage, "file cutting"; choice: the producer's timer runs for all tables at once, here
    the interval counts from the first row of each file.
    """
    if state.since_ms is None or now_ms - state.since_ms < settings.flush_interval_ms:
        return state, None
    return flush(state, date)


def flush(state: OpenFile, date: str) -> tuple[OpenFile, Cut | None]:
    """Cut what is buffered, if there is any. A new date begins a directory, at number 1.

    Raises: EncodeError for a date before that of the last file: its directory has files already.
    """
    if state.rows == 0:
        return state, None
    number = state.number
    if date != state.date:
        if date < state.date:
            problem = f"the date goes back from {state.date!r} to {date!r}; read the index there"
            raise EncodeError(problem, CLAUSE)
        number = 1
    return OpenFile(date, number + 1), Cut(date, number, state.rows, state.size)


def move(state: OpenFile, date: str, number: int) -> OpenFile:
    """Go on in another date's directory with the number that its index file gives (``resume``)."""
    return replace(state, date=date, number=number)
