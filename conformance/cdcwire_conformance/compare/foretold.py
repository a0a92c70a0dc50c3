"""The tables that a comparison will probably compare, and how, by a sample of both feeds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.feeds import (
    Report,
    TableTask,
    both_described,
    compare_tables,
)
from cdcwire_conformance.compare.result import TableComparison, UnreadableMessage
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_conformance.decode.ahead import Ahead, Sampling
from cdcwire_conformance.decode.workers import ThisProcess
from cdcwire_conformance.usage import UsageError


class _Foretold(Exception):
    """Only rows are not known yet."""


@dataclass(slots=True)
class _Planning:
    """An engine that is asked for rows, and keeps for which."""

    tasks: Sequence[TableTask] = ()
    name: str = "planning"
    is_exact: bool = False
    workers: ThisProcess = field(default_factory=Sampling)

    def begin(self, options: CompareOptions) -> None:
        """Prepare nothing."""

    def ahead(
        self, left: OpenedFeed, right: OpenedFeed, options: CompareOptions
    ) -> tuple[Ahead | None, Ahead | None]:
        """Return nobody."""
        return None, None

    def compared(
        self, tasks: Sequence[TableTask], options: CompareOptions, report: Report
    ) -> Iterator[TableComparison]:
        """Keep the tables, and end here."""
        self.tasks = tasks
        raise _Foretold

    def unreadable(
        self,
        feed: OpenedFeed,
        tables: Iterable[CanonicalTable],
        position: str | None,
        options: CompareOptions,
    ) -> tuple[int, list[UnreadableMessage]]:
        """Return that all can be read."""
        return 0, []


def foretold_tasks(
    left: OpenedFeed, right: OpenedFeed, options: CompareOptions
) -> Sequence[TableTask]:
    """Return the tables to compare by a sample of both feeds; none if it is not enough for that."""
    engine = _Planning()
    try:
        named = both_described(left, right, options, engine.workers)
        (ours, own), (theirs, others) = named.left, named.right
        compare_tables(engine, ours, theirs, own, others, options)
    except (_Foretold, UsageError, ValueError):
        pass  # all of the feeds may have what a sample lacks; what is wrong with them is said then
    return engine.tasks
