"""Strategies: what they promise, what they refuse, and what their examples shrink to."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from cdcwire.model.carries import KINDS
from cdcwire.model.events import Image, Marker, RowChange, SchemaChange, Table
from cdcwire.model.kinds import Column, DecimalType, IntType, Role, TextType, UnknownType
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_generators import extremes
from cdcwire_generators.connect.messages import connect_schemas
from cdcwire_generators.domain import PLAUSIBLE_KINDS, Domain, domain_of, source_domain_of
from cdcwire_generators.families import get_family
from cdcwire_generators.formats.craft.messages import craft_messages
from cdcwire_generators.formats.craft.proposal.messages import proposal_messages
from cdcwire_generators.formats.open_protocol.messages import open_messages
from cdcwire_generators.messages import expected_events
from cdcwire_generators.positions import POSITION_FIELDS
from cdcwire_generators.round_trip import kind_name
from cdcwire_generators.strategies import (
    KEY_SHAPES,
    ChangeStream,
    batches,
    change_streams,
    column_names,
    column_types,
    columns,
    columns_of_kind,
    damaged_bytes,
    images,
    json_renderings,
    late_columns,
    names,
    option_settings,
    row_changes,
    samples,
    tables,
    values,
    values_of_kind,
)

KEY_COLUMN = Column("id", IntType(64), nullable=False, roles=frozenset({"primary", "handle"}))
LATE_COLUMN = Column("late", IntType(32), nullable=True)
NO_ROLES: frozenset[Role] = frozenset()
LONG_SEARCH = settings(max_examples=10_000, database=None, derandomize=True)
quick = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


def test_strategy_of_a_format_prints_its_name() -> None:
    """Hypothesis prints a strategy that draws nothing, or an object that fails."""
    assert repr(samples(get_format("craft"))) == "samples(<Format craft>)"


@pytest.mark.parametrize(
    "call",
    [
        lambda: names(max_bytes=0),
        lambda: names(max_bytes=1025),
        lambda: column_names(min_size=2, max_size=1),
        lambda: column_types(family="oracle"),
        lambda: columns(roles=frozenset({"owner"})),  # type: ignore[arg-type]  # wrong on purpose
        lambda: columns(roles=frozenset({"primary"}), nullable=True),
        lambda: images(Table("t", "s")),
        lambda: craft_messages(max_rows=0),
        lambda: option_settings(get_format("craft"), names=["no-such"]),
        lambda: values(TextType(), domain=Domain(kinds=frozenset({"int8"}))),
        lambda: values_of_kind("number", Column("c", TextType())),
        lambda: Domain(kinds=frozenset({"number"})),
        lambda: get_family("oracle"),
    ],
)
def test_impossible_argument_is_refused_at_once(call: Callable[[], object]) -> None:
    with pytest.raises(
        ValueError, match=r"one of|has no|no value|not (a|in|nullable|known)|less than|without"
    ):
        call()


@pytest.mark.parametrize(
    "strategy",
    [
        tables(key="foreign"),
        tables(min_columns=3, max_columns=2),
        tables(key="composite", max_columns=1),
        row_changes(ops=("merge",)),  # type: ignore[arg-type]  # wrong on purpose
        row_changes(ops=()),
        batches(min_size=2, max_size=1),
        batches(max_tables=0),
        change_streams(max_events=-1),
        proposal_messages(max_events=0),
        open_messages(max_items=0),
        connect_schemas(max_depth=-1),
        columns_of_kind("number"),
        damaged_bytes(b"x", kinds=()),
        damaged_bytes(b"x", max_damages=0),
    ],
)
def test_impossible_argument_of_a_composite_is_refused_with_the_first_example(
    strategy: st.SearchStrategy[object],
) -> None:
    with pytest.raises(ValueError, match=r"one of|in order|at least|one or more|less than|small"):
        find(strategy, lambda _: True)


@pytest.mark.parametrize("shape", KEY_SHAPES)
@quick
@given(data=st.data())
def test_table_has_the_key_that_was_asked_for(shape: str, data: st.DataObject) -> None:
    table = data.draw(tables(key=shape))
    found = table.columns or ()
    handle = tuple(column.name for column in found if "handle" in column.roles)
    assert table.key == handle
    sizes = {"none": {0}, "nullable unique": {0}, "composite": {2, 3}}
    assert len(handle) in sizes.get(shape, {1})
    assert all(column.nullable is False for column in found if column.name in handle)
    assert len({column.name.casefold() for column in found}) == len(found)
    assert all(1 <= len(column.name.encode()) <= 1024 for column in found)


@quick
@given(stream=change_streams())
def test_stream_rows_follow_each_other(stream: ChangeStream) -> None:
    """An update or delete begins with the last state of its row; keys are unique; commits grow."""
    there: dict[str, list[Image]] = {}
    newest = 0
    for event in stream.events:
        commit_ts = event.position.commit_ts
        assert commit_ts is not None
        assert commit_ts >= newest
        newest = commit_ts
        if isinstance(event, RowChange):
            rows = there.setdefault(f"{event.table.schema}/{event.table.name}", [])
            if event.before is not None:
                place = next(p for p, row in enumerate(rows) if row is event.before)
                del rows[place]
            if event.after is not None:
                keys = [repr([row[k] for k in event.table.key or ()]) for row in rows]
                key = repr([event.after[k] for k in event.table.key or ()])
                assert not event.table.key or key not in keys
                rows.append(event.after)


@quick
@given(data=st.data())
def test_a_late_column_is_in_all_rows_from_one_change_on(data: st.DataObject) -> None:
    table = Table("t", "s", columns=(KEY_COLUMN, LATE_COLUMN), key=("id",))
    first = data.draw(change_streams(tables_of_stream=(table,)))
    later = data.draw(late_columns(first))
    rows = [event for event in later.events if isinstance(event, RowChange)]
    if len(rows) < 2:
        assert later == first
        return
    images = [[each for each in (row.before, row.after) if each is not None] for row in rows]
    has_late = [{"late" in each.names for each in own} for own in images]
    since = has_late.index({True})
    assert since > 0
    assert has_late == [{False}] * since + [{True}] * (len(rows) - since)
    early = {repr(row.after["id"]) for row in rows[:since] if row.after is not None}
    for row in rows[since:]:
        if row.before is not None and repr(row.before["id"]) in early:
            assert row.before["late"] is None
            early.remove(repr(row.before["id"]))


@quick
@given(data=st.data())
def test_stream_fills_the_positions_that_were_asked_for(data: st.DataObject) -> None:
    wanted = tuple(data.draw(st.sets(st.sampled_from(POSITION_FIELDS), min_size=1)))
    stream = data.draw(change_streams(domain=Domain(position_fields=wanted), with_progress=False))
    for event in stream.events:
        for field in POSITION_FIELDS:
            if field != "partition":
                assert (getattr(event.position, field) is not None) == (field in wanted)


@quick
@given(stream=change_streams(tables_of_stream=(Table("t", "s", columns=(), key=()),)))
def test_stream_over_given_tables_names_no_other(stream: ChangeStream) -> None:
    for event in stream.events:
        if isinstance(event, RowChange):
            assert (event.table.schema, event.table.name) == ("s", "t")
        if isinstance(event, SchemaChange) and event.table is not None:
            assert event.table.schema == "s"


@pytest.mark.parametrize("name", FORMAT_NAMES)
@quick
@given(data=st.data())
def test_domain_of_a_format_has_only_what_it_carries_exactly(
    name: str, data: st.DataObject
) -> None:
    through = get_format(name)
    change = data.draw(row_changes(domain=domain_of(through)))
    for image in (change.before, change.after):
        for column, value in zip(image.columns, image.values, strict=True) if image else ():
            if value is not None:
                kind = kind_name(column.type, value)
                assert through.carries.kinds[kind].verdict == "exact"


@pytest.mark.parametrize("kind", KINDS)
@quick
@given(data=st.data())
def test_values_of_a_kind_are_of_that_kind(kind: str, data: st.DataObject) -> None:
    column = data.draw(columns_of_kind(kind))
    assert kind_name(column.type, data.draw(values_of_kind(kind, column))) == kind


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        (IntType(64), (1 << 53) + 1),
        (IntType(64, True), (1 << 64) - 1),
        (DecimalType(), extremes.DECIMALS[10]),
        (TextType(), "\u2028"),
        (TextType(), "\\N"),
        (TextType(), "</script>&"),
    ],
    ids=repr,
)
def test_values_reach_what_decoders_get_wrong(kind: IntType | TextType, wanted: object) -> None:
    find(values(kind), lambda value: value == wanted, settings=LONG_SEARCH)


def test_values_of_a_type_without_values_are_null() -> None:
    assert find(values(UnknownType()), lambda _: True) is None


def test_plausible_kinds_leave_out_what_no_source_has() -> None:
    odd = {"float not finite", "decimal not finite", "text ill-formed", "unavailable"}
    assert set(KINDS) - PLAUSIBLE_KINDS == odd


def test_examples_shrink_to_the_smallest_row() -> None:
    """The simplest table has one column, and its row the simplest value of it."""
    change = find(row_changes(), lambda change: change.op == "delete", settings=LONG_SEARCH)
    assert change.before is not None
    assert change.before.values in ((0,), ("",), (b"",), (None,))
    assert (change.table.schema, change.table.name) == ("test", "a")


def test_streams_shrink_to_the_events_that_matter() -> None:
    def has_delete(stream: ChangeStream) -> bool:
        return any(isinstance(e, RowChange) and e.op == "delete" for e in stream.events)

    stream = find(change_streams(max_tables=1), has_delete, settings=LONG_SEARCH)
    assert [event.op for event in stream.events if isinstance(event, RowChange)] == [
        "insert",
        "delete",
    ]
    assert len(stream.events) == 2


@quick
@given(raw=st.binary(max_size=30), data=st.data())
def test_damaged_bytes_are_never_the_good_ones(raw: bytes, data: st.DataObject) -> None:
    assert data.draw(damaged_bytes(raw)) != raw


@pytest.mark.parametrize("name", FORMAT_NAMES)
@quick
@given(data=st.data())
def test_option_settings_are_allowed_by_the_format(name: str, data: st.DataObject) -> None:
    through = get_format(name)
    known = {option.name: option for option in through.options}
    for option, value in data.draw(option_settings(through)).items():
        assert known[option].parse(value) == value


FAMILIES = ["mysql", "mysql declared", "mysql indexed", "datahub", "postgresql"]


@pytest.mark.parametrize("family", [*FAMILIES, "postgresql by cdl"])
def test_family_describes_its_columns_as_it_reads_them(family: str) -> None:
    """What a family gives comes back from it the same."""
    found = get_family(family)
    for column_type in found.column_types:
        roles: frozenset[Role] = frozenset({"primary", "handle"})
        column = found.column("c", column_type, False, roles if column_type.fits_key else NO_ROLES)
        assert found.as_read(column, "", None) == column


@quick
@given(data=st.data())
def test_names_of_a_domain_of_files_are_those_of_directories(data: st.DataObject) -> None:
    table = data.draw(tables(domain=source_domain_of(get_format("csv"))))
    for name in (table.schema, table.name):
        assert name
        assert "/" not in name
        assert "\0" not in name
        assert name not in (".", "..")


@pytest.mark.parametrize("name", FORMAT_NAMES)
@quick
@given(data=st.data())
def test_source_domain_has_nothing_that_the_format_refuses(name: str, data: st.DataObject) -> None:
    through = get_format(name)
    change = data.draw(row_changes(domain=source_domain_of(through)))
    assert expected_events([change], through)


@quick
@given(data=st.data(), raw=st.dictionaries(st.text(max_size=3), st.text(max_size=3), min_size=1))
def test_json_renderings_say_the_same(data: st.DataObject, raw: dict[str, str]) -> None:
    rendering = json.loads(data.draw(json_renderings(json.dumps(raw).encode())))
    rendering.pop("x_new", None)
    assert rendering == raw


def test_stream_of_a_format_has_what_it_needs_and_nothing_else() -> None:
    """Of a Tuple topic one table and no DDL; of Blob markers without id, and whole statements."""
    of_tuple, of_blob = (domain_of(get_format(f"datahub-{name}")) for name in ("tuple", "blob"))
    assert (of_tuple.has_one_table, of_tuple.has_schema_changes) == (True, False)
    assert (of_tuple.progress, of_tuple.markers) == (None, ())
    assert (of_blob.has_one_table, of_blob.has_schema_changes) == (False, True)
    assert (of_blob.progress, of_blob.has_marker_ids, of_blob.needs_queries) == (
        "heartbeat",
        False,
        True,
    )
    together = domain_of(get_format("datahub-blob"), get_format("canal-json"))
    assert (together.family.name, together.progress, together.markers) == (
        "mysql declared",
        None,
        (),
    )
    assert {"commit_ts", "sequence_id", "commit_ms", "sent_ms"} <= set(together.position_fields)


@quick
@given(stream=change_streams(domain=source_domain_of(get_format("datahub-blob"))))
def test_stream_of_blob_has_whole_statements_and_markers_without_id(stream: ChangeStream) -> None:
    for event in stream.events:
        assert event.position.commit_ms is not None
        assert not isinstance(event, SchemaChange) or event.query
        assert not isinstance(event, Marker) or event.id is None


@quick
@given(stream=change_streams(domain=source_domain_of(get_format("datahub-tuple"))))
def test_stream_of_a_tuple_topic_has_one_table(stream: ChangeStream) -> None:
    assert len(stream.tables) == 1
    assert all(isinstance(event, RowChange) for event in stream.events)
