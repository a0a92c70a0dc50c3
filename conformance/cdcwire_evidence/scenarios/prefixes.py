"""Storage prefixes of scenarios: what a sink writes, and what a reader gets of it."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from pathlib import Path

from cdcwire.core.context import Context
from cdcwire.core.options import OptionValue
from cdcwire.files.prefix import list_prefix
from cdcwire.files.prefix_events import read_events
from cdcwire.files.stores import LocalStore, Store
from cdcwire.model.events import Event, RowChange
from cdcwire.model.text import event_to_json
from cdcwire.registry import get_format
from cdcwire.storage import Fault
from cdcwire.storage.writing import WriteOrder
from cdcwire_conformance.sources.storage.writing import (
    PrefixWriter,
    WriterSettings,
    catch_up,
    write_prefix,
)
from cdcwire_evidence.scenarios.feeds import row_of
from cdcwire_generators.workloads import evolving_workload

OPTIONS: dict[str, dict[str, OptionValue]] = {
    "csv": {"include-commit-ts": True},
    "canal-json": {"transport": "storage", "enable-tidb-extension": True},
}
_SEED = 1


def events_of_sink(rows: int) -> list[Event]:
    """Return a stream with schema changes, partitions and a rename, over four days."""
    return list(evolving_workload(rows, _SEED))


def write_all(writer: PrefixWriter, events: Iterable[Event]) -> None:
    """Give events to a sink."""
    for event in events:
        writer.write(event)


def go_on(writer: PrefixWriter, events: Iterable[Event]) -> PrefixWriter:
    """Return the sink that follows one that failed, after it wrote the rest of a stream and closed.

    As a producer does that starts again, it gets all that is not below the checkpoint.
    Raises: StoreError.
    """
    writer = writer.restarted()
    catch_up(writer, events)
    writer.close()
    return writer


def replayed(
    place: Store,
    format_name: str,
    context: Context,
    write_order: WriteOrder = "data-first",
    allowed: Collection[str] = (),
) -> list[Event]:
    """Replay a prefix that has no faults but those of the kinds that are allowed."""
    events, faults = replayed_with_faults(place, format_name, context, write_order)
    assert [fault for fault in faults if fault.kind not in allowed] == []
    return events


def replayed_with_faults(
    place: Store, format_name: str, context: Context, write_order: WriteOrder = "data-first"
) -> tuple[list[Event], list[Fault]]:
    """Replay a prefix up to its checkpoint; without one nothing is promised yet."""
    prefix = list_prefix(place, get_format(format_name), context, write_order=write_order)
    faults: list[Fault] = []
    if prefix.checkpoint is None:
        return [], [fault for fault in prefix.faults if fault.kind == "metadata-unreadable"]
    return list(read_events(place, prefix, context, faults.append)), faults


def undisturbed(
    folder: Path,
    format_name: str,
    rows: int,
    write_order: WriteOrder = "data-first",
    options: Mapping[str, OptionValue] | None = None,
) -> list[str]:
    """Return the rows of a sink that writes the same stream into a directory and is not killed."""
    return rows_of(undisturbed_events(folder, format_name, rows, write_order, options))


def undisturbed_events(
    folder: Path,
    format_name: str,
    rows: int,
    write_order: WriteOrder = "data-first",
    options: Mapping[str, OptionValue] | None = None,
) -> list[Event]:
    """Return the same as events."""
    context = Context(OPTIONS[format_name] if options is None else options)
    place = LocalStore(folder)
    writer = PrefixWriter(place, format_name, context, WriterSettings(write_order))
    write_prefix(writer, events_of_sink(rows))
    return replayed(place, format_name, context, write_order)


def text_of(event: Event) -> str:
    """Return the text by which an event is compared."""
    return repr(event_to_json(event))


def rows_of(events: Iterable[Event]) -> list[str]:
    """Return the texts by which the row changes are compared."""
    return [text_of(event) for event in events if isinstance(event, RowChange)]


def by_row(events: Iterable[Event]) -> dict[Hashable, list[str]]:
    """Return the changes of each row in the order of their commit timestamps.

    Replay orders changes only within a partition.
    """
    found: dict[Hashable, list[str]] = {}
    for event in sorted(events, key=lambda event: event.position.commit_ts or 0):
        if isinstance(event, RowChange):
            found.setdefault(row_of(event), []).append(text_of(event))
    return found
