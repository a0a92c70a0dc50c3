"""Workloads: one seed, one stream; rows that make sense one after the other; any size."""

from __future__ import annotations

import hashlib
import json
import tracemalloc
from itertools import islice

import pytest
from hypothesis import given, settings

from cdcwire.model.events import Event, Image, Position, Progress, RowChange, SchemaChange, Table
from cdcwire.model.kinds import (
    ArrayType,
    BoolType,
    Column,
    DatetimeType,
    DateType,
    DecimalType,
    EnumType,
    FloatType,
    IntervalType,
    IntType,
    MapType,
    SetType,
    StructType,
    TextType,
    TimestampType,
    TimeType,
    Type,
    UnknownType,
    VectorType,
)
from cdcwire.model.text import event_from_json, event_to_json
from cdcwire.registry import get_format
from cdcwire_generators.messages import encoded
from cdcwire_generators.strategies import tables
from cdcwire_generators.workloads import (
    DEFAULT_WORKLOAD,
    WORKLOAD_NAMES,
    Mix,
    table_workload,
    workload,
    workload_tables,
    workload_title,
)

# The first 16 digits of SHA-256 over the text forms. They hold on every Python and may never change
# by accident: whoever has a seed and a name relies on getting the same stream again.
DIGESTS = {
    "tiny": "f2faffd6b0cabf26",
    "sysbench": "fa3b2bb0f26684a0",
    "orders-10": "e1d5dbf7cad3890c",
    "proposal-29": "15dea650d4914996",
    "updates": "303f86b0832d5409",
    "mostly-null": "3b0052e089cc075d",
    "many-tables": "9b0e39149f3678fb",
    "large-values": "d61b059a3adb4600",
}
each_workload = pytest.mark.parametrize("name", WORKLOAD_NAMES)


def digest_of(events: list[Event]) -> str:
    digest = hashlib.sha256()
    for event in events:
        digest.update(json.dumps(event_to_json(event), sort_keys=True).encode())
    return digest.hexdigest()[:16]


@each_workload
def test_workload_of_a_seed_is_pinned(name: str) -> None:
    rows = 20 if name == "large-values" else 400
    assert digest_of(list(workload(name, rows, 1, ddl=True, resolved_every=50))) == DIGESTS[name]


@each_workload
def test_workload_depends_on_its_seed(name: str) -> None:
    first, again, other = (list(workload(name, 50, seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@each_workload
def test_workload_has_as_many_rows_as_asked(name: str) -> None:
    for rows in (0, 1, 37):
        assert len(list(workload(name, rows, 3))) == rows


@each_workload
def test_workload_starts_at_once_whatever_its_size(name: str) -> None:
    assert len(list(islice(workload(name, 10**12, 1), 3))) == 3


@each_workload
def test_workload_rows_follow_each_other(name: str) -> None:
    """Each before image is the row's last state, and no two rows that are there share a key."""
    rows: dict[tuple[object, ...], tuple[object, ...]] = {}
    for event in workload(name, 300 if name == "large-values" else 3000, 5):
        assert isinstance(event, RowChange)
        if event.before is not None and event.table.key:
            assert rows.pop(key_of(event.table, event.before)) == event.before.values
        if event.after is not None and event.table.key:
            key = key_of(event.table, event.after)
            assert key not in rows
            rows[key] = event.after.values


def key_of(table: Table, image: Image) -> tuple[object, ...]:
    return (table.schema, table.name, *(image[name] for name in table.key or ()))


def test_workload_unique_columns_are_unique_among_existing_rows() -> None:
    there: dict[object, object] = {}
    for event in workload("proposal-29", 3000, 8):
        assert isinstance(event, RowChange)
        if event.op == "delete":
            assert event.before is not None
            del there[event.before["c2"]]
        elif event.op == "insert":
            assert event.after is not None
            assert event.after["c2"] not in there
            there[event.after["c2"]] = event.after["c1"]


@each_workload
def test_workload_has_all_three_operations(name: str) -> None:
    ops = {event.op for event in workload(name, 500, 2) if isinstance(event, RowChange)}
    assert ops == {"insert", "update", "delete"}


@each_workload
def test_workload_commit_ts_grows_and_is_shared_within_transactions(name: str) -> None:
    stamps = [event.position.commit_ts or 0 for event in workload(name, 500, 2)]
    assert stamps == sorted(stamps)
    assert 250 < len(set(stamps)) < 450


@each_workload
def test_workload_columns_are_those_of_its_tables(name: str) -> None:
    known = {(table.schema, table.name): table for table in workload_tables(name)}
    for event in workload(name, 200, 4):
        assert isinstance(event, RowChange)
        table = known[event.table.schema, event.table.name]
        assert event.table.key == table.key
        for image in (event.before, event.after):
            assert image is None or image.columns is table.columns


@each_workload
def test_workload_survives_the_text_form(name: str) -> None:
    tables = workload_tables(name)
    for event in workload(name, 30, 4, ddl=True, resolved_every=10):
        document = event_to_json(event)
        assert event_to_json(event_from_json(document, tables)) == document


@pytest.mark.parametrize("name", ["proposal-29", "tiny"])
def test_workload_inserts_only_has_nothing_else(name: str) -> None:
    events = list(workload(name, 1000, 1, inserts_only=True))
    assert {event.op for event in events if isinstance(event, RowChange)} == {"insert"}


def test_workload_position_fields_do_not_change_the_rows() -> None:
    plain = list(workload("orders-10", 200, 6))
    full = list(workload("orders-10", 200, 6, position_fields=("commit_ts", "sequence_id", "lsn")))
    assert [event.after for event in plain if isinstance(event, RowChange)] == [
        event.after for event in full if isinstance(event, RowChange)
    ]
    assert [e.position.commit_ts for e in plain] == [e.position.commit_ts for e in full]
    assert len({event.position.sequence_id for event in full}) == 200


def test_workload_ddl_creates_tables_before_their_rows() -> None:
    created: set[tuple[str | None, str | None]] = set()
    for event in workload("many-tables", 300, 1, ddl=True):
        if isinstance(event, SchemaChange):
            assert event.table is not None
            created.add((event.table.schema, event.table.name))
        elif isinstance(event, RowChange):
            assert (event.table.schema, event.table.name) in created


def test_workload_ddl_comes_again_and_truncate_ends_all_rows() -> None:
    there: set[object] = set()
    seen: list[str] = []
    for event in workload("tiny", 9000, 1, ddl=True):
        if isinstance(event, SchemaChange):
            seen.append(event.what)
            if event.what == "truncate":
                there.clear()
        if isinstance(event, RowChange) and event.after is not None:
            there.add(event.after["id"])
        if isinstance(event, RowChange) and event.before is not None:
            assert event.before["id"] in there
    assert seen[:6] == ["query", "create", "alter", "cindex", "dindex", "truncate"]
    assert len(seen) == 11


def test_workload_resolved_events_cover_what_was_sent() -> None:
    newest = 0
    resolved = []
    for event in workload("updates", 500, 1, resolved_every=50):
        if isinstance(event, Progress):
            assert event.what == "resolved"
            assert event.position == Position(commit_ts=newest)
            resolved.append(newest)
        else:
            assert not resolved or (event.position.commit_ts or 0) > resolved[-1]
            newest = event.position.commit_ts or 0
    assert len(resolved) == 10


def test_workload_orders_has_ids_beyond_63_bits_and_nulls() -> None:
    events = workload("orders-10", 5000, 1)
    images = [e.after for e in events if isinstance(e, RowChange) and e.after is not None]
    ids = [image["trace_id"] for image in images]
    large = sum(1 for number in ids if number is not None and number >= 1 << 63)
    assert 0.01 < large / len(ids) < 0.04
    notes = [image["note"] for image in images]
    assert 0.25 < notes.count(None) / len(notes) < 0.35


def test_workload_memory_does_not_grow_with_its_rows() -> None:
    tracemalloc.start()
    stream = workload("tiny", 10**9, 1)
    for _ in islice(stream, 6000):
        pass
    early = tracemalloc.get_traced_memory()[0]
    for _ in islice(stream, 20_000):
        pass
    late = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert late - early < 200_000


def test_workload_names_have_titles_and_tables() -> None:
    assert DEFAULT_WORKLOAD in WORKLOAD_NAMES
    for name in WORKLOAD_NAMES:
        assert workload_title(name)
        assert all(table.columns for table in workload_tables(name))
    assert len(workload_tables("proposal-29")[0].columns or ()) == 29


def test_workload_unknown_name_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="there are: tiny"):
        workload("no such", 1, 1)


@pytest.mark.parametrize(
    "arguments",
    [
        {"rows": -1, "seed": 1},
        {"rows": 1, "seed": 1, "resolved_every": -1},
        {"rows": 1, "seed": 1, "position_fields": ("when",)},
    ],
    ids=["rows", "resolved-every", "position-fields"],
)
def test_workload_impossible_argument_is_refused_at_once(arguments: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"less than 0|has no"):
        workload("tiny", **arguments)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize("seed", ["1", 1.0, True])
def test_workload_seed_that_is_not_an_integer_is_refused(seed: object) -> None:
    with pytest.raises(TypeError):
        workload("tiny", 1, seed)  # type: ignore[arg-type]  # wrong on purpose


def test_mix_shares_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(ValueError, match="add up"):
        Mix(0.5, 0.5, 0.5)


def test_table_workload_without_columns_is_refused() -> None:
    with pytest.raises(ValueError, match="without its columns"):
        table_workload(Table("t", "s"), 1, 1)


ANY_KINDS: tuple[Type, ...] = (
    BoolType(),
    FloatType(32),
    DecimalType(38, 30),
    DecimalType(5, 5),
    DecimalType(5, 0),
    DateType("d"),
    DateType("ms"),
    TimeType(3),
    TimeType(form="us"),
    DatetimeType(form="ns"),
    TimestampType(6, "text", "+00:00"),
    IntervalType(),
    IntervalType("us"),
    EnumType(("a", "b"), "label"),
    SetType(("a", "b"), "label"),
    VectorType(),
    ArrayType(IntType(16)),
    MapType(TextType(5), IntType(8, True)),
    StructType((Column("a", IntType(64)),)),
    UnknownType(),
)


def test_table_workload_makes_values_of_every_kind() -> None:
    columns = [Column(f"c{number}", kind) for number, kind in enumerate(ANY_KINDS)]
    id_column = Column("id", IntType(64), nullable=False, roles=frozenset({"primary", "handle"}))
    table = Table("t", "s", columns=(id_column, *columns), key=("id",))
    for event in table_workload(table, 300, 1):
        document = event_to_json(event)
        assert event_to_json(event_from_json(document, [table])) == document


@settings(max_examples=40, deadline=None)
@given(table=tables())
def test_table_workload_of_any_mysql_table_can_be_sent(table: Table) -> None:
    """Keys of any type, with few values (YEAR) or many, in tables with and without key."""
    events = list(table_workload(table, 60, 1))
    assert len(events) == 60
    encoded(events, get_format("craft"))


@pytest.mark.parametrize(
    "kind",
    [
        TextType(1),
        TextType(),
        DecimalType(3, 1),
        DateType(),
        DateType("d"),
        TimeType(),
        TimeType(form="ms"),
        DatetimeType(),
        TimestampType(3),
        FloatType(32),
        EnumType(("a", "b", "c")),
        EnumType(("a", "b", "c"), "label"),
        SetType(("a", "b")),
        BoolType(),
        IntType(8),
        IntType(8, True),
    ],
    ids=repr,
)
def test_table_workload_key_of_any_type_is_unique(kind: Type) -> None:
    column = Column("k", kind, nullable=False, roles=frozenset({"primary", "handle"}))
    table = Table("t", "s", columns=(column, Column("v", IntType(32))), key=("k",))
    there: set[object] = set()
    for event in table_workload(table, 500, 1):
        assert isinstance(event, RowChange)
        if event.op == "insert":
            assert event.after is not None
            assert event.after["k"] not in there
            there.add(event.after["k"])
        if event.op == "delete":
            assert event.before is not None
            there.remove(event.before["k"])


def test_table_workload_key_that_can_be_none_is_refused() -> None:
    column = Column("k", VectorType(), nullable=False, roles=frozenset({"primary", "handle"}))
    with pytest.raises(ValueError, match="not supported"):
        table_workload(Table("t", "s", columns=(column,), key=("k",)), 1, 1)
