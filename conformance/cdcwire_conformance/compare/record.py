"""The record of a comparison, for a report that is signed: its date, command and inputs."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_ORIGIN = "default"


@dataclass(frozen=True, slots=True)
class UsedOption:
    """An option of a side's format with its value. ``origin``: where it was found."""

    name: str
    value: str
    origin: str


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file of an input. ``sha256``: of its bytes; None for one that can't be read any more."""

    name: str
    size: int | None
    sha256: str | None


@dataclass(frozen=True, slots=True)
class InputPart:
    """The records of a partition of a topic from ``start`` up to, not with, ``end``."""

    topic: str
    partition: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class InputBounds:
    """The lowest and the highest value of a member of a position; of times as ISO texts."""

    name: str
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class InputRecord:
    """One side of a comparison.

    ``messages``: None if they were not counted, as those of a storage prefix and of a table.
    ``sha256``: of the names and sums of all files. ``checkpoint``: of a storage prefix.
    """

    name: str
    options: tuple[UsedOption, ...] = ()
    files: tuple[InputFile, ...] = ()
    sha256: str | None = None
    partitions: tuple[InputPart, ...] = ()
    messages: int | None = None
    rows: int | None = None
    bounds: tuple[InputBounds, ...] = ()
    checkpoint: int | None = None

    @property
    def size(self) -> int | None:
        """The size of all files; None if it is not known."""
        sizes = [file.size for file in self.files]
        return None if not sizes or None in sizes else sum(size or 0 for size in sizes)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The circumstances of a comparison. ``date``: its begin, in UTC. ``command``: without secrets.

    ``versions``: names and versions of the programs. ``definitions``: files of --ddl and --tables.
    """

    date: str
    command: str
    versions: tuple[tuple[str, str], ...]
    left: InputRecord
    right: InputRecord
    definitions: tuple[InputFile, ...] = ()
