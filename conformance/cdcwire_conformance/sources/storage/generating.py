"""A stream of events into a prefix, with a writer that is killed now and then."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from cdcwire.model.events import Event, RowChange, SchemaChange
from cdcwire_conformance.sources.storage.writing import PrefixWriter


def restart_points(rows: int, restarts: int) -> list[int]:
    """Return after how many rows the writer is killed: evenly spread, never at the very end."""
    points = (rows * number // (restarts + 1) for number in range(1, restarts + 1))
    return sorted({point for point in points if 0 < point < rows})


def write_prefix(
    writer: PrefixWriter, events: Iterable[Event], killed_after: Sequence[int] = ()
) -> PrefixWriter:
    """Write a stream of events and close the writer. Returns: the writer that closed.

    ``killed_after``: counts of rows. The writer is killed there while it flushes, and the next one
    gets all again that is not below the checkpoint, so that rows repeat.
    Raises: EncodeError; StoreError.
    """
    points = list(killed_after)
    sent: deque[Event] = deque()  # what is not below the checkpoint
    rows = 0
    for event in events:
        writer.write(event)
        if not points:
            continue
        sent.append(event)
        while _is_below(sent[0], writer.checkpoint):
            sent.popleft()
        rows += isinstance(event, RowChange)
        if rows >= points[0]:
            points.pop(0)
            writer.kill()
            writer = writer.restarted()
            catch_up(writer, sent)
    writer.close()
    return writer


def catch_up(writer: PrefixWriter, events: Iterable[Event]) -> None:
    """Write what a restarted writer gets again: all that is not below its checkpoint.

    Raises: EncodeError; StoreError.
    """
    checkpoint = writer.checkpoint
    for event in events:
        if not _is_below(event, checkpoint) and not _is_done(event, checkpoint):
            writer.write(event)


def _is_below(event: Event, checkpoint: int | None) -> bool:
    commit_ts = event.position.commit_ts
    return commit_ts is not None and checkpoint is not None and commit_ts < checkpoint


def _is_done(event: Event, checkpoint: int | None) -> bool:
    """Return whether a schema change is the checkpoint itself, which means that it is stored."""
    return isinstance(event, SchemaChange) and event.position.commit_ts == checkpoint
