"""The order of replay: a real prefix, made ones, and everything that can be wrong with one."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from cdcwire.core.errors import DecodeError
from cdcwire.storage import (
    ApplySchema,
    DataPath,
    IndexPath,
    Listing,
    PathLayout,
    Replay,
    RowGate,
    SchemaColumn,
    SchemaFile,
    Skip,
    SkipReason,
    ddl_versions,
    parse_path,
    path_text,
    read_index,
    read_metadata,
    read_schema_file,
    replay,
    schema_path_of,
)
from cdcwire.storage.schema_files import renamed_from

BUCKET = Path(__file__).parent / "data" / "bucket-csv"
PREFIX = {
    path.relative_to(BUCKET).as_posix(): path.read_bytes()
    for path in BUCKET.rglob("*")
    if path.is_file()
}
DAY = PathLayout()
NONE = PathLayout("none", digits=6)
COLUMNS = (SchemaColumn("a", "INT", precision="11"),)


def listing_of(files: dict[str, bytes], layout: PathLayout) -> Listing:
    schemas = {name: read_schema_file(value) for name, value in files.items() if "schema_" in name}
    indexes = {
        name: read_index(value, layout) for name, value in files.items() if "/CDC.index" in name
    }
    return Listing(list(files), schemas, indexes)


def schema(version: int, query: str = "", code: int = 0, table: str = "t") -> SchemaFile:
    return SchemaFile(table, "s", 1, version, query, code, COLUMNS, 1)


def name_of(file: SchemaFile) -> str:
    return path_text(schema_path_of(file), NONE)


def data(version: int, number: int, table: str = "t", partition: int | None = None) -> str:
    return path_text(DataPath("s", table, version, partition, "", number), NONE)


def made(
    schemas: Iterable[SchemaFile],
    files: Iterable[str],
    indexes: dict[str, int | DecodeError] | None = None,
    cut_off: Iterable[str] = (),
) -> Listing:
    by_name: dict[str, SchemaFile | DecodeError] = {name_of(file): file for file in schemas}
    names = [*by_name, *files, *(indexes or {})]
    return Listing(names, by_name, indexes, tuple(cut_off))


def index(version: int, table: str = "t") -> str:
    return path_text(IndexPath("s", table, version, None, ""), NONE)


def steps(replayed: Replay) -> list[str]:
    return [step.path for step in replayed.steps]


def faults(replayed: Replay) -> list[tuple[str, str]]:
    return [(fault.kind, fault.path) for fault in replayed.faults]


def skips(replayed: Replay) -> list[tuple[str, str]]:
    return [(skip.reason.value, skip.path) for skip in replayed.skips]


REAL = [
    "hr/meta/schema_441349361156227000_1990465457.json",
    "hr/employee/meta/schema_441349361156227074_4272146481.json",
    "hr/employee/441349361156227074/2023-05-09/CDC00000000000000000001.csv",
    "hr/employee/441349361156227074/2023-05-09/CDC00000000000000000002.csv",
    "hr/employee/441349361156227074/2023-05-10/CDC00000000000000000001.csv",
    "hr/employee/441349361156227074/2023-05-10/CDC00000000000000000002.csv",
    "hr/parted/meta/schema_441349361156227084_2002285790.json",
    "hr/parted/441349361156227084/201/2023-05-10/CDC00000000000000000001.csv",
    "hr/parted/441349361156227084/202/2023-05-10/CDC00000000000000000001.csv",
    "hr/employee/meta/schema_441349361156228074_2442668771.json",
    "hr/employee/441349361156228074/2023-05-10/CDC00000000000000000001.csv",
    "hr/employee/meta/schema_441349361156229074_2442668771.json",
]


@pytest.mark.parametrize("newer", [False, True])
def test_replay_of_a_real_prefix_has_its_order_and_no_fault(newer: bool) -> None:
    names = list(PREFIX)
    random.Random(7).shuffle(names)
    listing = replace(listing_of(PREFIX, DAY), names=names)
    checkpoint = read_metadata(PREFIX["metadata"])
    replayed = replay(listing, DAY, checkpoint, newer=newer)
    assert steps(replayed) == REAL
    assert (replayed.skips, replayed.faults) == ((), ())
    queries = [step.query for step in replayed.steps if isinstance(step, ApplySchema)]
    assert [query.split(" ")[0] for query in queries if query] == [
        *("CREATE", "CREATE", "CREATE", "ALTER", "DROP")
    ]
    again = replay(listing, DAY, checkpoint, newer=newer, state=replayed.state)
    assert again.steps == ()


def test_replay_stops_at_the_checkpoint_and_takes_a_ddl_that_is_it() -> None:
    listing = listing_of(PREFIX, DAY)
    before = replay(listing, DAY, 441349361156228073)
    assert steps(before) == REAL[:9]
    assert skips(before) == [("beyond the checkpoint", name) for name in REAL[9:]]
    at = replay(listing, DAY, 441349361156228074)
    assert steps(at) == REAL[:11]


@pytest.mark.parametrize("count", range(len(REAL) + 1))
def test_replay_in_two_rounds_gives_the_same_steps(count: int) -> None:
    """What came in the first round does not come again, whatever was listed then."""
    first = {name: PREFIX[name] for name in REAL[:count]}
    listing = replace(listing_of(first, DAY), index_numbers=None)
    early = replay(listing, DAY)
    late = replay(replace(listing_of(PREFIX, DAY), index_numbers=None), DAY, state=early.state)
    assert steps(early) + steps(late) == REAL


def test_replay_hole_holds_the_stream_and_later_versions_of_the_table() -> None:
    other = data(5, 1, "u")
    files = [data(5, 1), data(5, 3), data(6, 1), other, data(5, 1, partition=7)]
    schemas = [schema(5), schema(6, "ALTER", 5), schema(5, table="u")]
    replayed = replay(made(schemas, files), NONE)
    assert faults(replayed) == [("hole", data(5, 2))]
    assert other in steps(replayed)
    assert data(5, 1, partition=7) in steps(replayed)
    held = [path for reason, path in skips(replayed) if reason == "held back"]
    assert held == [data(5, 2), data(5, 3), name_of(schemas[1]), data(6, 1)]
    whole = replay(made(schemas, [*files, data(5, 2)]), NONE, state=replayed.state)
    assert steps(whole) == [data(5, 2), data(5, 3), name_of(schemas[1]), data(6, 1)]


@pytest.mark.parametrize("newer", [False, True])
@pytest.mark.parametrize("kept", [0, 1])
def test_replay_does_not_miss_files_that_it_read_and_that_expired(kept: int, newer: bool) -> None:
    files, indexes = [data(5, number) for number in (1, 2, 3)], dict.fromkeys([index(5)], 3)
    first = replay(made([schema(5)], files, dict(indexes)), NONE, newer=newer)
    expired = made([schema(5)], files[3 - kept :], dict(indexes))
    assert replay(expired, NONE, newer=newer, state=first.state).faults == ()
    assert replay(expired, NONE, newer=newer).faults != ()
    later = made([schema(5)], [data(5, 4)], {index(5): 4})
    went_on = replay(later, NONE, newer=newer, state=first.state)
    assert (steps(went_on), went_on.faults) == ([data(5, 4)], ())


def test_replay_incomplete_file_waits_with_all_after_it() -> None:
    files = [data(5, 1), data(5, 2), data(6, 1)]
    schemas = [schema(5), schema(6, "ALTER", 5)]
    replayed = replay(made(schemas, files, cut_off=[data(5, 2)]), NONE)
    assert faults(replayed) == [("half-written", data(5, 2))]
    assert steps(replayed) == [name_of(schemas[0]), data(5, 1)]
    whole = replay(made(schemas, files), NONE, state=replayed.state)
    assert steps(whole) == [data(5, 2), name_of(schemas[1]), data(6, 1)]


@pytest.mark.parametrize("kind", ["schema-hash", "schema-version", "schema-names"])
def test_replay_schema_file_that_is_not_its_name_holds_its_table(kind: str) -> None:
    file = schema(5, "CREATE", 3)
    name = name_of(file)
    content = {
        "schema-hash": replace(file, columns=(), total=0),
        "schema-version": replace(file, table_version=6),
        "schema-names": replace(file, table="u"),
    }[kind]
    listing = Listing([name, data(5, 1)], {name: content})
    replayed = replay(listing, NONE)
    assert steps(replayed) == []
    assert (kind, name) in faults(replayed)
    assert skips(replayed) == [("held back", data(5, 1))]


def test_replay_schema_file_with_an_error_or_unread_holds_its_table() -> None:
    name = name_of(schema(5))
    error = DecodeError("broken", 3, "storage: schema text")
    for files in ({name: error}, {}):
        replayed = replay(Listing([name, data(5, 1)], files), NONE)
        assert faults(replayed)[-1] == ("schema-unreadable", name)
        assert steps(replayed) == []


def test_replay_hash_that_cannot_be_checked_is_reported_and_replay_continues() -> None:
    file = schema(5)
    name = (
        name_of(file)
        .replace("_5_", "_5_")
        .replace(f"{schema_path_of(file).checksum:010d}", "0000000001")
    )
    odd = replace(file, tolerated=("ColumnLength",))
    replayed = replay(Listing([name, data(5, 1)], {name: odd}), NONE)
    assert faults(replayed) == [("schema-hash-not-checkable", name)]
    assert steps(replayed) == [name, data(5, 1)]


def test_replay_data_without_schema_file_is_reported() -> None:
    replayed = replay(made([], [data(5, 1), data(5, 2)]), NONE)
    assert faults(replayed) == [("schema-missing", data(5, 1))]


@pytest.mark.parametrize(
    ("number", "newer", "read", "fault", "skip"),
    [
        (2, False, 2, None, None),
        (2, True, 2, None, None),
        (3, False, 2, None, ("not written yet", data(5, 3))),
        (3, True, 2, ("index-missing-file", data(5, 3)), ("held back", data(5, 3))),
        (4, False, 2, ("index-missing-file", data(5, 4)), None),
        (1, False, 2, ("index-behind", index(5)), None),
        (1, True, 1, None, ("beyond the index", data(5, 2))),
    ],
)
def test_replay_index_against_the_files(
    number: int,
    newer: bool,
    read: int,
    fault: tuple[str, str] | None,
    skip: tuple[str, str] | None,
) -> None:
    listing = made([schema(5)], [data(5, 1), data(5, 2)], {index(5): number})
    replayed = replay(listing, NONE, newer=newer)
    assert steps(replayed)[1:] == [data(5, n) for n in range(1, read + 1)]
    assert faults(replayed) == ([] if fault is None else [fault])
    assert skips(replayed) == ([] if skip is None else [skip])


def test_replay_index_without_any_file_is_not_written_yet() -> None:
    replayed = replay(made([schema(5)], [], {index(5): 1}), NONE)
    assert skips(replayed) == [("not written yet", data(5, 1))]
    assert faults(replayed) == []
    newer = replay(made([schema(5)], [], {index(5): 1}), NONE, newer=True)
    assert faults(newer) == [("index-missing-file", data(5, 1))]


def test_replay_newer_index_of_a_missing_file_holds_later_versions() -> None:
    schemas = [schema(5), schema(6, "ALTER", 5)]
    listing = made(schemas, [data(5, 1)], {index(5): 2})
    assert steps(replay(listing, NONE, newer=True)) == [name_of(schemas[0]), data(5, 1)]


@pytest.mark.parametrize("newer", [False, True])
def test_replay_index_missing_or_unreadable_is_reported(newer: bool) -> None:
    error = DecodeError("broken", 0, "storage: index files")
    for found, kind in (({}, "index-missing"), ({index(5): error}, "index-unreadable")):
        listing = replace(made([schema(5)], [data(5, 1)]), index_numbers=found)
        replayed = replay(listing, NONE, newer=newer)
        assert faults(replayed) == [(kind, index(5))]
        assert len(steps(replayed)) == (1 if newer else 2)


def test_replay_unknown_and_double_files_are_reported_and_left_out() -> None:
    wide = data(5, 1).replace("CDC", "CDC0")
    replayed = replay(made([schema(5)], [data(5, 1), wide, "s/t/5/SUCCESS"]), NONE)
    assert faults(replayed) == [
        ("number-width", wide),
        ("number-twice", data(5, 1)),
        ("unknown-file", "s/t/5/SUCCESS"),
    ]
    assert steps(replayed) == [name_of(schema(5)), wide]


def test_replay_skips_stray_files() -> None:
    strays = [".DS_Store", "s/t/5/.DS_Store", "s/t/5/_SUCCESS"]
    replayed = replay(made([schema(5)], [data(5, 1), *strays]), NONE)
    assert faults(replayed) == []
    assert replayed.skips == tuple(Skip(name, SkipReason.STRAY) for name in strays)
    assert steps(replayed) == [name_of(schema(5)), data(5, 1)]


def test_replay_sorts_versions_as_numbers_and_over_tables() -> None:
    schemas = [schema(9, "CREATE", 3), schema(10, "CREATE", 3, "a"), schema(11, "DROP", 4)]
    files = [data(9, 1), data(10, 1, "a")]
    replayed = replay(made(schemas, files), NONE)
    assert steps(replayed) == [
        *(name_of(schemas[0]), files[0], name_of(schemas[1]), files[1], name_of(schemas[2]))
    ]


def test_replay_newer_skips_what_is_older_than_the_newest_ddl() -> None:
    first = made([schema(9, "ALTER", 5)], [data(9, 1)])
    state = replay(first, NONE, newer=True).state
    late = made([schema(9, "ALTER", 5), schema(7, "ALTER", 5)], [data(9, 1), data(7, 1)])
    replayed = replay(late, NONE, newer=True, state=state)
    assert skips(replayed) == [
        ("older than the newest DDL", name_of(schema(7))),
        ("older than the newest DDL", data(7, 1)),
    ]
    assert steps(replay(late, NONE, state=state)) == [name_of(schema(7)), data(7, 1)]


def test_replay_newer_blocks_the_old_name_after_a_rename() -> None:
    rename = schema(9, "RENAME TABLE `s`.`old` TO `s`.`t`", 14)
    state = replay(made([rename], []), NONE, newer=True).state
    late = made([rename, schema(7, table="old")], [data(7, 1, "old")])
    replayed = replay(late, NONE, newer=True, state=state)
    assert replayed.steps == ()
    again = made([rename, schema(12, "CREATE", 3, "old")], [data(12, 1, "old")])
    assert len(replay(again, NONE, newer=True, state=state).steps) == 2


def test_replay_of_dispatchers_counts_files_for_each() -> None:
    files = [
        path_text(DataPath("s", "t", 5, None, "", number, owner), NONE)
        for owner, number in (("a", 1), ("a", 2), ("b", 1))
    ]
    replayed = replay(made([schema(5)], files), NONE)
    assert steps(replayed)[1:] == files
    assert replayed.faults == ()


def test_replay_of_table_ids_knows_tables_by_the_content() -> None:
    file = schema(5, "CREATE", 3)
    name = f"112/meta/schema_5_{schema_path_of(file).checksum:010d}.json"
    listing = Listing(["112/5/CDC000001.csv", name], {name: file})
    replayed = replay(listing, NONE)
    assert steps(replayed) == [name, "112/5/CDC000001.csv"]
    assert replayed.faults == ()


def test_gate_drops_what_is_below_the_largest_and_keeps_equals() -> None:
    gate = RowGate(checkpoint=10)
    path = DataPath("s", "t", 5, None, "", 1)
    verdicts = [gate.judge(path, ts) for ts in (6, 8, 7, 8, 9, 10, None)]
    assert verdicts == [
        *("take", "take", "repeat", "take", "take", "beyond the checkpoint", "take")
    ]
    assert (gate.taken, gate.beyond, gate.repeats) == (5, 1, 1)


def test_gate_keeps_partitions_and_dispatchers_apart_and_versions_together() -> None:
    gate = RowGate()
    path = DataPath("s", "t", 5, None, "", 1)
    assert gate.judge(path, 9) == "take"
    assert gate.judge(replace(path, partition=7), 6) == "take"
    assert gate.judge(replace(path, dispatcher="a"), 6) == "take"
    assert gate.judge(replace(path, table="u"), 6) == "take"
    assert gate.judge(replace(path, version=6, date="2023-05-10", number=4), 6) == "repeat"


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("RENAME TABLE `a`.`b` TO `c`.`d`", [("a", "b")]),
        ("rename table b to d;", [("s", "b")]),
        ("RENAME TABLE a TO x, `o``1`.`b` TO y , c TO z", [("s", "a"), ("o`1", "b"), ("s", "c")]),
        ("ALTER TABLE `a`.`b` RENAME TO `d`", [("a", "b")]),
        ("ALTER TABLE b RENAME d", [("s", "b")]),
        ("ALTER TABLE b RENAME AS d", [("s", "b")]),
        ("ALTER TABLE b RENAME=d", [("s", "b")]),
        ("ALTER TABLE b ADD COLUMN c INT", []),
        ("RENAME TABLE a", []),
        ("RENAME TABLE a TO b,", []),
        ("DROP TABLE a", []),
        ("RENAME TABLE a TO b" + " " * 70000, []),
    ],
)
def test_rename_tells_the_old_names(query: str, names: list[tuple[str, str]]) -> None:
    assert renamed_from(query, "s") == names


def test_ddl_versions_are_those_of_queries() -> None:
    listing = listing_of(PREFIX, DAY)
    pairs = []
    for name, file in listing.schema_files.items():
        path = parse_path(name, DAY)
        assert isinstance(file, SchemaFile)
        pairs.append((path, file))
    versions = ddl_versions(pairs)  # type: ignore[arg-type]  # all of them are schema paths
    assert sorted(versions[("hr", "employee")]) == [
        *(441349361156227074, 441349361156228074, 441349361156229074)
    ]
    assert set(versions) == {("hr", "employee"), ("hr", "parted")}
