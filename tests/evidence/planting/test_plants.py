"""The plants, the replay of last rows, and that plants find out a comparison that is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings

from cdcwire.core.options import OptionValue
from cdcwire.model.events import (
    POSITION_MEMBERS,
    Event,
    Image,
    Marker,
    Op,
    Position,
    RowChange,
    SchemaChange,
    SchemaChangeKind,
    Table,
)
from cdcwire.model.kinds import Column, IntType, TextType, Value
from cdcwire.registry import get_format
from cdcwire_evidence.planting.last_rows import by_position, differing_tables
from cdcwire_evidence.planting.plants import KINDS, LATE_COLUMN, Plant, plants

pytest.importorskip("pyarrow", reason="needs the extra compare")

from cdcwire_conformance.decode import surveying
from cdcwire_evidence.planting.__main__ import reasons_lines
from cdcwire_evidence.planting.judging import Judged, judged
from cdcwire_evidence.planting.pairs import (
    FeedForm,
    Pair,
    judgeable,
    pairs,
    without_ended_tables,
)
from cdcwire_evidence.planting.run import NOTHING, Tally, run
from cdcwire_evidence.planting.weakened import WEAKENED
from cdcwire_generators.domain import fullest_options

COLUMNS = (
    Column("id", IntType(64), nullable=False, roles=frozenset({"primary", "handle"})),
    Column("n", IntType(32), nullable=True),
)
LATE = Column("late", IntType(32), nullable=True)
TABLE = Table("t", "shop", columns=COLUMNS, key=("id",))
POSITION = Position(
    *(5, 6, 7, "8"),
    commit_ms=9,
    partition=1,
    sent_ms=10,
    file="binlog.000001",
    pos=11,
    row=0,
    gtid="0-1-12",
    server_id=1,
    commit_lsn="00000027:00000001:0001",
    change_lsn="00000027:00000001:0002",
    event_serial_no=1,
    commit_scn="14",
    scn="13",
    rs_id="0x000002.00000001.0010",
    ssn=0,
    start_ts=4,
)


def row(id_: int, n: int) -> Image:
    return Image(COLUMNS, (id_, n))


def late_row(id_: int, n: int) -> Image:
    return Image((*COLUMNS, LATE), (id_, n, 1))


STREAM: tuple[Event, ...] = (
    RowChange(TABLE, "insert", None, row(1, 1), POSITION),
    RowChange(TABLE, "update", row(1, 1), row(1, 2), POSITION),
    RowChange(TABLE, "update", row(1, 2), late_row(1, 3), replace(POSITION, commit_ts=6)),
    SchemaChange("alter", "ALTER TABLE shop.t COMMENT 'x'", table=TABLE, position=POSITION),
    RowChange(TABLE, "delete", row(1, 3), None, POSITION, extra={"source_name": "crm"}),
    Marker("begin", "8:1", POSITION),
)


def next_value(column: Column, value: Value) -> Value:
    return value + 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_plant_changes_the_stream_and_nothing_else_than_it_says(kind: str) -> None:
    plant = next(plants(kind, STREAM, Random(1), next_value))
    assert plant.kind == kind
    assert (plant.events != STREAM) is (plant.keys is None)
    before, after = list(STREAM), list(plant.events)
    for event in STREAM:
        if event in after:
            before.remove(event)
            after.remove(event)
    is_of_all = kind.endswith("of all")
    assert len(before) <= (4 if is_of_all else 2 if kind in ("exchanged", "out of order") else 1)


def test_a_stream_without_room_for_a_plant_has_none() -> None:
    assert not list(plants("out of order", STREAM[:1], Random(1), next_value))
    assert not list(plants("DDL", STREAM[:1], Random(1), next_value))
    assert not list(plants("value of a new row", STREAM, Random(1), lambda column, value: value))


@pytest.mark.parametrize(
    ("left", "right", "tables"),
    [
        (STREAM, (), set()),
        (STREAM[:1], (), {"shop.t"}),
        (STREAM[:2], STREAM[:3], {"shop.t"}),
        (STREAM[:2], STREAM[1:2], set()),
        ((*STREAM[:2], SchemaChange("truncate", None, table=TABLE)), (), set()),
        ((*STREAM[:2], SchemaChange("erase", None, table=Table(None, "shop"))), (), set()),
        ((SchemaChange("truncate", None, table=TABLE), *STREAM[:2]), (), {"shop.t"}),
        ((*STREAM[:2], SchemaChange("alter", None, table=TABLE)), (), {"shop.t"}),
    ],
)
def test_last_rows_are_those_after_all_changes(
    left: tuple[Event, ...], right: tuple[Event, ...], tables: set[str]
) -> None:
    assert differing_tables(left, right) == tables
    assert differing_tables(right, left) == tables


@pytest.mark.parametrize("what", ["erase", "rename"])
def test_a_table_that_is_gone_has_no_more_rows(what: SchemaChangeKind) -> None:
    change, of_schema = (
        SchemaChange(what, None, table=table) for table in (TABLE, Table(None, "shop"))
    )
    other = SchemaChange(what, None, table=replace(TABLE, name="other"))
    dropped = SchemaChange("query", "DROP DATABASE shop", 2, Table(None, "shop"))
    events = (STREAM[0], change, of_schema, other, dropped, STREAM[1], change)
    assert list(without_ended_tables(events)) == [STREAM[0], other, STREAM[1], change]


@settings(max_examples=50, database=None, derandomize=True, deadline=None)
@given(pair=pairs("craft", "craft"))
def test_a_transaction_of_tidb_changes_a_row_once(pair: Pair) -> None:
    found: set[tuple[int, int | None]] = set()
    for event in pair.events:
        if isinstance(event, RowChange) and event.before is not None:
            assert (id(event.before), event.position.commit_ts) not in found
        if isinstance(event, RowChange) and event.after is not None:
            found.add((id(event.after), event.position.commit_ts))


def test_positions_of_pairs_are_those_of_each_source_database() -> None:
    found: set[str] = set()

    @settings(max_examples=100, database=None, derandomize=True, deadline=None)
    @given(pair=pairs("debezium-json", "debezium-avro"))
    def each(pair: Pair) -> None:
        assert pair.left.options["connector"] == pair.right.options["connector"]
        for event in pair.events:
            if isinstance(event, RowChange):
                found.update(n for n in POSITION_MEMBERS if getattr(event.position, n) is not None)

    each()
    assert {"lsn", "pos", "gtid", "change_lsn", "commit_scn", "rs_id"} <= found


def test_pairs_have_each_form_of_debezium_that_a_producer_can_be_set_to() -> None:
    drawn: set[tuple[str, OptionValue]] = set()
    of_mysql: set[str] = set()

    @settings(max_examples=300, database=None, derandomize=True, deadline=None)
    @given(pair=pairs("debezium-json", "debezium-json"))
    def each(pair: Pair) -> None:
        drawn.update(pair.left.options.items())
        if pair.left.options["connector"] in ("mysql", "ticdc"):
            of_mysql.update(c.source or "" for t in pair.tables for c in t.columns or ())

    each()
    assert {
        ("dialect", "ticdc"),
        ("transforms", "unwrap"),
        ("provide-transaction-metadata", True),
        ("schemas-enable", "false"),
    } <= drawn
    assert any("(" in source for source in of_mysql), of_mysql  # as MySQL declares types
    assert not any("." in source for source in of_mysql), of_mysql


def test_events_in_the_order_of_a_position_leave_other_last_rows() -> None:
    late = replace(STREAM[0], position=replace(POSITION, commit_ts=7))
    moved = (late, *STREAM[1:3])
    assert differing_tables(STREAM[:3], by_position(moved, "commit_ts")) == {"shop.t"}
    assert by_position(moved, "table") == list(moved)


# A stream of each kind of source: the formats that carry its positions, and what these are.
SOURCES: dict[str, tuple[tuple[str, str], Table, Callable[[int], Position]]] = {
    "TiDB": (
        ("craft", "open-protocol"),
        TABLE,
        lambda n: Position(commit_ts=1_000 + n, partition=1),
    ),
    "MySQL": (
        ("canal-json", "canal-json"),
        TABLE,
        lambda n: Position(commit_ts=1_000 + n, commit_ms=1_700_000_000_000 + n),
    ),
    "PostgreSQL": (
        ("debezium-json", "debezium-json"),
        replace(TABLE, database="crm"),
        lambda n: Position(lsn=1_000 + n, tx_id="7", commit_ms=1_700_000_000_000),
    ),
    "binlog": (
        ("debezium-json", "debezium-avro"),
        TABLE,
        lambda n: Position(
            commit_ms=1_700_000_000_000,
            sent_ms=1_700_000_000_005,
            file="binlog.000001",
            pos=4 + 100 * n,
            row=0,
            gtid=f"0-1-{n + 1}",
            server_id=1,
        ),
    ),
    "SQL Server": (
        ("debezium-json", "debezium-avro"),
        replace(TABLE, database="crm"),
        lambda n: Position(
            commit_ms=1_700_000_000_000,
            commit_lsn=f"00000027:{1 + n:08x}:0001",
            change_lsn=f"00000027:{1 + n:08x}:0002",
            event_serial_no=1,
        ),
    ),
    "Oracle": (
        ("debezium-json", "debezium-avro"),
        replace(TABLE, database="crm"),
        lambda n: Position(
            commit_ms=1_700_000_000_000, commit_scn=f"{5_000 + n}", scn=f"{1_000 + n}"
        ),
    ),
    "LogMiner": (
        ("debezium-json", "debezium-avro"),
        replace(TABLE, database="crm"),
        lambda n: Position(
            commit_ms=1_700_000_000_000,
            commit_scn=f"{5_000 + n}",
            scn=f"{1_000 + n}",
            rs_id=f"0x{n + 1:06x}.00000001.0010",
            ssn=0,
        ),
    ),
    "TiCDC": (
        ("debezium-json", "debezium-json"),
        TABLE,
        lambda n: Position(commit_ts=1_000_000_000 + n, start_ts=900_000_000 + n),
    ),
    "Avro": (("avro", "avro"), TABLE, lambda n: Position(commit_ts=1_000 + n)),
    "DataHub": (
        ("datahub-tuple", "datahub-blob"),
        TABLE,
        lambda n: Position(sequence_id=1_000 + n, commit_ms=1_700_000_000_000),
    ),
}
CONNECTORS = {
    "binlog": "mariadb",
    "SQL Server": "sqlserver",
    "Oracle": "oracle",
    "LogMiner": "oracle",
}
OPTIONS: dict[str, dict[str, OptionValue]] = {
    "TiCDC": {"dialect": "ticdc", "debezium-include-start-ts": True},
    "LogMiner": {"dialect": "debezium-2.7"},  # the first dialect has neither member
}
SOURCES_OF = {
    **dict.fromkeys(("sent_ms", "file", "pos", "row", "server_id", "gtid", "extra"), "binlog"),
    "marker": "PostgreSQL",
    "damaged Kafka key": "Avro",
    **dict.fromkeys(("commit_lsn", "change_lsn", "event_serial_no"), "SQL Server"),
    "scn": "Oracle",
    **dict.fromkeys(("commit_scn", "rs_id", "ssn"), "LogMiner"),
    "start_ts": "TiCDC",
    "type": "PostgreSQL",
    **dict.fromkeys(("lsn", "tx_id", "database", "database of all", "Kafka key"), "PostgreSQL"),
    "sequence_id": "DataHub",
    "commit_ms": "MySQL",
    "DDL": "MySQL",
}


def stream_of(source: str) -> Pair:
    """Return two changes of each of five rows.

    TiDB has a row with another column too, and MySQL a schema change.
    """
    names, table, position = SOURCES[source]
    connector = CONNECTORS.get(source)
    extra = {"connector": connector, "source_name": "crm"} if connector else {}
    events: list[Event] = []
    for id_ in range(5):
        after = None if id_ == 4 else row(id_, 2)
        op: Op = "delete" if after is None else "update"
        events += (
            RowChange(table, "insert", None, row(id_, 1), position(2 * id_), extra=extra),
            RowChange(table, op, row(id_, 1), after, position(2 * id_ + 1), extra=extra),
        )
    if source == "TiDB":
        events.append(RowChange(table, "insert", None, late_row(9, 1), position(10)))
    if source == "PostgreSQL":
        events.append(Marker("begin", "8:1", position(10)))
    if source == "MySQL":
        statement = "ALTER TABLE shop.t COMMENT 'x'"
        changed = SchemaChange("alter", statement, table=table, position=position(10))
        events.append(changed)
    own = OPTIONS.get(source, {})
    forms = [FeedForm(form, {**fullest_options(form), **own}) for form in map(get_format, names)]
    known = replace(table, database=None)
    return Pair(forms[0], forms[1], (known,), tuple(events), is_defined=False, mode="events")


@pytest.mark.parametrize("source", SOURCES)
def test_feeds_of_one_stream_are_equal(source: str) -> None:
    found = judged(stream_of(source))
    assert found == Judged("equal"), found


@pytest.mark.parametrize("kind", KINDS)
def test_plants_are_found_and_missed_by_a_comparison_that_leaves_their_part_out(kind: str) -> None:
    pair = stream_of(SOURCES_OF.get(kind, "TiDB"))
    plant = next(plants(kind, pair.events, Random(1), next_value))
    found = judged(pair, plant)
    refused = ("refused",) if plant.keys == "cut" else ()
    assert found.verdict in ("found", "named", *refused), found
    missed = judged(pair, plant, WEAKENED[kind])
    assert missed.verdict == "missed", missed


def test_a_survey_of_the_first_rows_misses_a_late_column(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = stream_of("TiDB")
    plant = next(plants(LATE_COLUMN, pair.events, Random(1), next_value))
    assert judged(pair, plant).verdict == "found"
    monkeypatch.setattr(surveying, "union_tables", lambda first, later: first)
    assert judged(pair, plant).verdict == "missed"


def test_a_run_counts_the_verdicts_on_its_pairs() -> None:
    found = run(("canal-json", "canal-json"), 5)
    assert any(kind == "nothing" for kind, _ in found.verdicts)
    assert not found.count("alarm"), found.findings


def test_a_run_says_why_pairs_were_not_judged() -> None:
    tally = Tally(streams=3, judged=2)
    refused = Judged("refused", "of shop.t", "last rows of a table without a key")
    for found in (refused, Judged("lossy", "", "csv and csv: \n"), refused, Judged("equal")):
        tally.add(("csv", "csv"), NOTHING, "", found)
    total = Tally()
    total.join(tally)
    assert reasons_lines(total) == [
        "2 of 3 streams judged; in place of each of these pairs, another pair of its stream:",
        "     2 refused: last rows of a table without a key",
        "     1 lossy: csv and csv: \\n",
    ]


def test_last_rows_are_the_same_where_the_messages_do_not_say_that_a_row_is_gone() -> None:
    moved = RowChange(TABLE, "update", row(1, 1), row(2, 1), replace(POSITION, commit_ts=6))
    gone = RowChange(TABLE, "delete", row(2, 1), None, replace(POSITION, commit_ts=7))
    form = FeedForm(get_format("open-protocol"), {"output-old-value": False})
    events = (STREAM[0], moved, gone)
    pair = Pair(form, form, (TABLE,), events, is_defined=False, mode="final")
    plant = Plant("lost", "event 1 is lost", (STREAM[0], gone))
    assert judged(pair, plant).verdict == "equal"
    old = FeedForm(form.format, {"output-old-value": True})
    assert judged(replace(pair, left=old, right=old), plant).verdict == "found"


TEXT = (Column("s", TextType(10), source="varchar(10)", nullable=True),)
TEXTS = replace(TABLE, key=(), columns=TEXT)
NO_KEY = replace(TABLE, key=(), columns=COLUMNS[1:])
CRAFT = get_format("craft")
KEYS_ONLY = {"delete-only-output-handle-key-columns": True}
WITHOUT_KEY = (
    RowChange(NO_KEY, "insert", None, Image(COLUMNS[1:], (1,)), POSITION),
    RowChange(NO_KEY, "delete", Image(COLUMNS[1:], (1,)), None, replace(POSITION, commit_ts=6)),
)


@pytest.mark.parametrize(
    ("pair", "verdict", "reason"),
    [
        (
            Pair(FeedForm(CRAFT, {}), FeedForm(CRAFT, {}), (NO_KEY,), WITHOUT_KEY, False, "final"),
            "refused",
            "last rows of a table without a key",
        ),
        (
            Pair(
                FeedForm(CRAFT, {}),
                FeedForm(CRAFT, KEYS_ONLY),
                (NO_KEY,),
                WITHOUT_KEY,
                False,
                "events",
            ),
            "not carried",
            "craft: delete only handle key",
        ),
        (
            Pair(
                FeedForm(get_format("csv"), {"include-commit-ts": True}),
                FeedForm(
                    get_format("csv"), {"include-commit-ts": True, "quote": "", "null": "NULL"}
                ),
                (TEXTS,),
                (RowChange(TEXTS, "insert", None, Image(TEXT, ("NULL",)), POSITION),),
                False,
                "events",
            ),
            "lossy",
            "csv and csv: after (text)",
        ),
    ],
)
def test_a_pair_that_cannot_be_judged_has_a_reason_and_another_pair_in_its_place(
    pair: Pair, verdict: str, reason: str
) -> None:
    found = judged(pair)
    assert (found.verdict, found.reason) == (verdict, reason), found
    instead = judgeable(pair, found.verdict)
    assert instead is not None
    assert judged(instead).verdict == "equal"
    assert judgeable(instead, "equal") is None
    assert judgeable(instead, found.verdict) is None
