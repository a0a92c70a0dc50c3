"""What a writer decides: the version, where a file ends, and the order of puts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.errors import EncodeError
from cdcwire.storage import (
    Cut,
    CuttingSettings,
    DataPath,
    OpenFile,
    Part,
    PathLayout,
    Put,
    SchemaPath,
    VersionChoice,
    add_part,
    choose_version,
    flush,
    flush_puts,
    parse_path,
    read_schema_file,
    tick,
)
from cdcwire.storage.writing import move, schema_files_of

DATA = Path(__file__).parent / "data"
LAYOUT = PathLayout()
LISTED = [SchemaPath("s", "t", version, checksum) for version, checksum in ((5, 1), (7, 2), (9, 1))]


@pytest.mark.parametrize(
    ("version", "checksum", "newer", "choice"),
    [
        (5, 1, False, VersionChoice(5, "use")),
        (7, 2, False, VersionChoice(7, "use")),
        (8, 2, False, VersionChoice(7, "reuse")),
        (8, 1, False, VersionChoice(9, "reuse")),
        (8, 3, False, VersionChoice(8, "write")),
        (7, 1, False, VersionChoice(9, "reuse")),
        (8, 1, True, VersionChoice(8, "discard")),
        (5, 1, True, VersionChoice(5, "discard")),
        (9, 1, True, VersionChoice(9, "use")),
        (10, 1, True, VersionChoice(9, "reuse")),
    ],
)
def test_version_follows_the_existing_schema_files(
    version: int, checksum: int, newer: bool, choice: VersionChoice
) -> None:
    assert choose_version(version, checksum, LISTED, newer=newer) == choice


def test_version_of_a_real_restart_is_the_old_directory() -> None:
    journal = json.loads((DATA / "bucket-csv.journal.json").read_text())
    flushes = [entry for entry in journal["write_order"] if entry["op"] == "flush"]
    restarted = next(e for e in flushes if e["table_info_version"] not in e["path"])
    listed = schema_files_of(journal["files"], "hr", "employee", LAYOUT)
    choice = choose_version(int(restarted["table_info_version"]), 4272146481, listed)
    assert choice.action == "reuse"
    path = parse_path(restarted["path"], LAYOUT)
    assert isinstance(path, DataPath)
    assert path.version == choice.version


SMALL = CuttingSettings(file_size=100, flush_interval_ms=1000)


def test_cut_comes_after_the_part_that_fills_the_file() -> None:
    state = OpenFile("2023-05-09")
    state, cut = add_part(state, Part(60, 2), SMALL, 0, "2023-05-09")
    assert cut is None
    state, cut = add_part(state, Part(400, 3), SMALL, 1, "2023-05-09")
    assert cut == Cut("2023-05-09", 1, 5, 460)
    assert state == OpenFile("2023-05-09", 2)


def test_cut_comes_at_the_size_and_not_one_byte_before() -> None:
    _, cut = add_part(OpenFile(""), Part(99), SMALL, 0, "")
    assert cut is None
    _, cut = add_part(OpenFile(""), Part(100), SMALL, 0, "")
    assert cut == Cut("", 1, 1, 100)


def test_cut_comes_after_the_interval_of_the_first_row() -> None:
    state, _ = add_part(OpenFile("d"), Part(1), SMALL, 500, "d")
    state, _ = add_part(state, Part(1), SMALL, 1400, "d")
    assert tick(state, SMALL, 1499, "d") == (state, None)
    assert tick(state, SMALL, 1500, "d") == (OpenFile("d", 2), Cut("d", 1, 2, 2))
    _, cut = add_part(state, Part(1), SMALL, 1500, "d")
    assert cut == Cut("d", 1, 3, 3)


def test_cut_of_nothing_is_none() -> None:
    state = OpenFile("d", 7)
    assert flush(state, "e") == (state, None)
    assert tick(state, SMALL, 1 << 40, "e") == (state, None)


def test_cut_under_a_new_date_begins_at_one() -> None:
    state, _ = add_part(OpenFile("2023-05-09", 3), Part(1), SMALL, 0, "2023-05-09")
    state, cut = flush(state, "2023-05-10")
    assert cut == Cut("2023-05-10", 1, 1, 1)
    assert state == OpenFile("2023-05-10", 2)


def test_cut_under_an_earlier_date_needs_the_index_there() -> None:
    state = OpenFile("2023-05-10", 3, rows=1, size=1, since_ms=0)
    with pytest.raises(EncodeError) as caught:
        flush(state, "2023-05-09")
    assert caught.value.clause == "storage: file cutting"
    _, cut = flush(move(state, "2023-05-09", 8), "2023-05-09")
    assert cut == Cut("2023-05-09", 8, 1, 1)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 700)), max_size=30))
def test_cut_files_have_all_rows_and_follow_each_other(parts: list[tuple[int, int]]) -> None:
    """Rows and bytes are neither lost nor doubled; numbers have no hole; a part is not cut."""
    state, cuts, now = OpenFile(""), [], 0
    for size, wait in parts:
        now += wait
        state, cut = add_part(state, Part(size), SMALL, now, "")
        cuts.extend([cut] if cut else [])
    state, cut = flush(state, "")
    cuts.extend([cut] if cut else [])
    assert sum(cut.rows for cut in cuts) == len(parts)
    assert sum(cut.size for cut in cuts) == sum(size for size, _ in parts)
    assert [cut.number for cut in cuts] == list(range(1, len(cuts) + 1))
    assert all(cut.size < 100 + 60 for cut in cuts)


@pytest.mark.parametrize("bad", [{"file_size": 0}, {"flush_interval_ms": 0}])
def test_cutting_settings_of_nothing_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        CuttingSettings(**bad)


def test_cutting_settings_know_the_producers_ranges() -> None:
    assert CuttingSettings().is_shipped
    assert not SMALL.is_shipped
    with pytest.raises(ValueError, match="a part"):
        add_part(OpenFile(""), Part(1, 0), SMALL, 0, "")


SCHEMA_NAME = "hr/employee/meta/schema_441349361156227074_4272146481.json"
SCHEMA_VALUE = (DATA / "bucket-csv" / SCHEMA_NAME).read_bytes()
DATA_PATH = DataPath("hr", "employee", 441349361156227074, None, "2023-05-09", 2)
DIRECTORY = "hr/employee/441349361156227074/2023-05-09"
INDEX = f"{DIRECTORY}/meta/CDC.index"
INDEX_VALUE = b"CDC00000000000000000002.csv\n"
FILE = f"{DIRECTORY}/CDC00000000000000000002.csv"


def test_puts_of_both_producers_differ_in_order_and_in_what_a_failure_does() -> None:
    schema_file = read_schema_file(SCHEMA_VALUE)
    assert list(flush_puts(DATA_PATH, b"rows", LAYOUT, "index-first", schema_file)) == [
        Put(SCHEMA_NAME, SCHEMA_VALUE, "stop"),
        Put(INDEX, INDEX_VALUE, "log"),
        Put(FILE, b"rows", "stop"),
    ]
    assert list(flush_puts(DATA_PATH, b"rows", LAYOUT, "data-first")) == [
        Put(FILE, b"rows", "stop"),
        Put(INDEX, INDEX_VALUE, "stop"),
    ]
