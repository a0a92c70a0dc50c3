"""The workload ``storage``: its tables change on the way, the same way for each seed and format."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timezone
from itertools import islice

import pytest

from cdcwire.model.events import Event, RowChange, SchemaChange
from cdcwire.model.kinds import EnumType, SetType
from cdcwire.model.text import event_to_json
from cdcwire_generators.workloads import evolving_tables, evolving_workload


def rows_of(events: list[Event]) -> list[RowChange]:
    return [event for event in events if isinstance(event, RowChange)]


def day_of(event: Event) -> str:
    ms = (event.position.commit_ts or 0) >> 18
    return datetime.fromtimestamp(ms / 1000, timezone.utc).date().isoformat()


def test_storage_workload_depends_on_its_seed_alone() -> None:
    first, again, other = (list(evolving_workload(200, seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_storage_workload_has_the_same_rows_with_and_without_ddl() -> None:
    assert rows_of(list(evolving_workload(300, 4))) == list(evolving_workload(300, 4, ddl=False))


@pytest.mark.parametrize("rows", [0, 1, 15, 16, 17, 333])
def test_storage_workload_has_its_rows_and_all_six_statements(rows: int) -> None:
    events = list(evolving_workload(rows, 5))
    assert len(rows_of(events)) == rows
    statements = [event for event in events if isinstance(event, SchemaChange)]
    assert [event.code for event in statements] == [1, 3, 3, 3, 5, 14]
    stamps = [event.position.commit_ts or 0 for event in events]
    assert stamps == sorted(stamps)


def test_storage_workload_spans_four_days() -> None:
    days = {day_of(event) for event in rows_of(list(evolving_workload(100, 1)))}
    assert days == {"2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"}


def test_storage_workload_starts_at_once_whatever_its_size() -> None:
    assert len(list(islice(evolving_workload(10**12, 1), 9))) == 9


def test_storage_workload_rows_have_the_columns_of_their_version() -> None:
    versions = {(t.schema, t.name, t.version): t.columns for t in evolving_tables()}
    now: dict[tuple[str | None, str | None], int | None] = {}
    for event in evolving_workload(400, 3):
        if isinstance(event, SchemaChange):
            assert event.table is not None
            if event.table.name is not None:
                now[event.table.schema, event.table.name] = event.position.commit_ts
        elif isinstance(event, RowChange):
            name = (event.table.schema, event.table.name)
            for image in (event.before, event.after):
                assert image is None or image.columns == versions[name[0], name[1], now[name]]


def test_storage_workload_rows_follow_each_other_over_its_changes() -> None:
    """A before image is the row's last state; a new column is NULL in rows from before it."""
    rows: dict[tuple[str | None, object], dict[str, object]] = {}
    for event in evolving_workload(600, 6, ddl=False):
        assert isinstance(event, RowChange)
        name = event.table.name if event.table.name != "customers" else "users"
        if event.before is not None:
            before = dict(zip(event.before.names, event.before.values, strict=True))
            known = rows.pop((name, event.before["id"]))
            assert before == dict(dict.fromkeys(before), **known)
        if event.after is not None:
            after = dict(zip(event.after.names, event.after.values, strict=True))
            assert (name, after["id"]) not in rows
            rows[name, after["id"]] = after


def test_storage_workload_has_one_table_in_partitions() -> None:
    partitions: dict[str | None, set[int | None]] = {}
    for event in rows_of(list(evolving_workload(300, 2))):
        partitions.setdefault(event.table.name, set()).add(event.position.partition)
    assert partitions.pop("events") == {100, 101, 102}
    assert set(partitions) == {"orders", "users", "customers"}
    assert all(found == {None} for found in partitions.values())


def test_storage_workload_has_enum_and_set_and_many_kinds() -> None:
    kinds = {type(column.type) for table in evolving_tables() for column in table.columns or ()}
    assert {EnumType, SetType} < kinds
    assert len(kinds) >= 12


def test_storage_workload_below_0_rows_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="less than 0"):
        evolving_workload(-1, 1)


def test_storage_workload_of_a_seed_is_pinned() -> None:
    """Whoever has a seed relies on getting the same stream again."""
    digest = hashlib.sha256()
    for event in evolving_workload(400, 1):
        digest.update(json.dumps(event_to_json(event), sort_keys=True).encode())
    assert digest.hexdigest()[:16] == "c6aa10bd4f763144"
