"""What is written into a prefix is what is read from it, the same in both formats."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from cdcwire.core.context import Context
from cdcwire.core.options import OptionValue
from cdcwire.files.prefix import list_prefix
from cdcwire.files.prefix_events import read_events
from cdcwire.files.stores import Store, open_store
from cdcwire.model.events import Event, Image, Progress, RowChange, SchemaChange
from cdcwire.model.kinds import Column, EnumType, SetType, Value
from cdcwire.model.steps import fill_unchanged, join_halves
from cdcwire.registry import get_format
from cdcwire.storage.writing import WriteOrder
from cdcwire_conformance.sources.storage.checking import check_prefix
from cdcwire_conformance.sources.storage.writing import (
    PrefixWriter,
    WriterSettings,
    restart_points,
    write_prefix,
)
from cdcwire_generators.workloads import evolving_tables

OPTIONS: dict[str, dict[str, OptionValue]] = {
    "csv": {"include-commit-ts": True, "output-old-value": True},
    "canal-json": {"enable-tidb-extension": True, "content-compatible": True},
}
Rows = dict[tuple[object, ...], list[tuple[object, ...]]]


def rows_of(events: Iterable[Event]) -> Rows:
    """Return the rows of each table and partition, in order, in the form that both formats have."""
    found: Rows = {}
    for event in fill_unchanged(join_halves(events)):
        if isinstance(event, RowChange):
            key = (event.table.schema, event.table.name, event.position.partition)
            row = (event.op, event.position.commit_ts, image(event.before), image(event.after))
            found.setdefault(key, []).append(row)
    return found


def image(found: Image | None) -> object:
    if found is None:
        return None
    return {c.name: value(c, v) for c, v in zip(found.columns, found.values, strict=True)}


def value(column: Column, found: Value) -> Value:
    """Return a label as its index, since one format has the one and the other the other."""
    if isinstance(column.type, EnumType) and isinstance(found, str):
        assert column.type.labels is not None
        return column.type.labels.index(found) + 1
    if isinstance(column.type, SetType) and isinstance(found, str):
        labels = column.type.labels
        assert labels is not None
        return sum(1 << labels.index(label) for label in found.split(",") if label)
    return found


def statements_of(events: Iterable[Event]) -> set[tuple[object, ...]]:
    return {
        (e.position.commit_ts, e.query, e.code, e.table and (e.table.schema, e.table.name))
        for e in events
        if isinstance(e, SchemaChange)
    }


def replayed(place: Store, format_name: str, context: Context, order: WriteOrder) -> list[Event]:
    prefix = list_prefix(place, get_format(format_name), context, write_order=order)
    faults: list[object] = []
    events = list(read_events(place, prefix, context, faults.append))
    assert faults == []
    return events


@pytest.mark.parametrize("order", ["data-first", "index-first"])
@pytest.mark.parametrize("separator", ["none", "year", "month", "day"])
def test_prefix_replays_what_was_written_in_both_formats(
    changes: list[Event], memory_url: str, separator: str, order: WriteOrder
) -> None:
    """decode(write(events)) == events per table and partition, in csv and in canal-json."""
    for format_name, options in OPTIONS.items():
        place = open_store(f"{memory_url}/{format_name}")
        # The order index-first is tiflow's, which does not write the elements of ENUM and SET.
        context = Context(dict(options, **{"date-separator": separator}), evolving_tables())
        settings = WriterSettings(order, flush_interval_ms=300)
        write_prefix(PrefixWriter(place, format_name, context, settings), changes)
        events = replayed(place, format_name, context, order)
        assert rows_of(events) == rows_of(changes)
        assert statements_of(events) == statements_of(changes)
        assert isinstance(events[-1], Progress)
        assert check_prefix(place, format_name, context, write_order=order).faults == []


@pytest.mark.parametrize("order", ["data-first", "index-first"])
@pytest.mark.parametrize("atomicity", ["none", "table"])
def test_prefix_of_a_writer_that_was_killed_has_every_row_again(
    changes: list[Event], memory: Store, format_name: str, order: WriteOrder, atomicity: str
) -> None:
    """Without repeats, what comes back is what was sent; and repeats are no faults."""
    context = Context(OPTIONS[format_name], evolving_tables())
    settings = WriterSettings(
        order, "table" if atomicity == "table" else "none", 100, metadata_interval_ms=50
    )
    writer = PrefixWriter(memory, format_name, context, settings)
    write_prefix(writer, changes, restart_points(320, 5))
    events = replayed(memory, format_name, context, order)
    found, sent = rows_of(events), rows_of(changes)
    assert found.keys() == sent.keys()
    for name, rows in sent.items():
        assert without_repeats(found[name]) == rows
    is_atomic = atomicity == "table"
    checked = check_prefix(memory, format_name, context, write_order=order, atomic_tables=is_atomic)
    assert checked.faults == []
    assert checked.repeats > 0


def without_repeats(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Drop rows of the largest commit-ts that came again, which a replay keeps."""
    found: list[tuple[object, ...]] = []
    for row in rows:
        if row not in found[-50:]:
            found.append(row)
    return found


def test_prefix_without_partitions_has_the_rows_of_all_in_one_directory(
    changes: list[Event], memory: Store
) -> None:
    context = Context(dict(OPTIONS["csv"], **{"enable-partition-separator": False}))
    write_prefix(PrefixWriter(memory, "csv", context), changes)
    found = rows_of(replayed(memory, "csv", context, "data-first"))
    assert {key[2] for key in found} == {None}
    sent = [e for e in changes if isinstance(e, RowChange) and e.table.name == "events"]
    assert len(found["shop", "events", None]) == len(sent)
