"""What a check of a prefix tells: names, rows of transactions, and the order of puts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cdcwire.storage import (
    DataPath,
    IndexPath,
    PathLayout,
    RowMark,
    RowRules,
    SchemaColumn,
    SchemaFile,
    SchemaPath,
    check_names,
    check_puts,
    check_schema_file,
    path_text,
    schema_path_of,
)
from cdcwire.storage.writing import WriteOrder

JOURNAL = json.loads((Path(__file__).parent / "data" / "bucket-csv.journal.json").read_text())
NONE = PathLayout("none", digits=6)
PATH = DataPath("s", "t", 5, None, "", 1)


def rows(*commits: int | None, content: bytes = b"r") -> list[RowMark]:
    return [RowMark(ts, content + b"%d" % index) for index, ts in enumerate(commits)]


def kinds(rules: RowRules, path: DataPath, marks: list[RowMark]) -> list[str]:
    return [fault.kind for fault in rules.check_file(path_text(path, NONE), path, marks)]


def test_rules_names_of_a_clean_prefix_have_no_fault() -> None:
    parsed, faults = check_names(dict.fromkeys(JOURNAL["files"], 10), PathLayout())
    assert faults == []
    assert len(parsed) == len(JOURNAL["files"])


def test_rules_names_tell_kinds_in_order() -> None:
    sizes = {"s/t/5/CDC000002.csv": 0, "s/t/5/CDC0000003.csv": 1, "s/x": 1, "s/t/5/a.tmp": None}
    _, faults = check_names(sizes, NONE)
    assert [(fault.kind, fault.path) for fault in faults] == [
        ("number-width", "s/t/5/CDC0000003.csv"),
        ("empty-file", "s/t/5/CDC000002.csv"),
        ("unknown-file", "s/t/5/a.tmp"),
        ("unknown-file", "s/x"),
    ]


def test_rules_rows_in_order_have_no_fault() -> None:
    rules = RowRules(True, {("s", "t"): [5, 9]})
    assert kinds(rules, PATH, rows(5, 6, 6, 7)) == []
    assert kinds(rules, replace(PATH, number=2), rows(8, 8)) == []
    assert kinds(rules, replace(PATH, version=9, number=1), rows(10, 11)) == []
    assert rules.repeats == 0


def test_rules_rows_that_repeat_are_counted_and_break_nothing() -> None:
    rules = RowRules(True)
    marks = rows(6, 7, 8)
    assert kinds(rules, PATH, marks) == []
    assert kinds(rules, replace(PATH, number=2), [*marks[1:], RowMark(9, b"new")]) == []
    assert rules.repeats == 2


def test_rules_equal_rows_of_one_transaction_are_not_repeats() -> None:
    rules = RowRules(True)
    assert kinds(rules, PATH, [RowMark(6, b"same"), RowMark(6, b"same")]) == []
    assert rules.repeats == 0


def test_rules_rows_that_go_back_are_reported_within_and_across_files() -> None:
    rules = RowRules()
    assert kinds(rules, PATH, rows(6, 8, 7, 7)) == ["commit-ts-falls"]
    later = replace(PATH, number=2)
    assert kinds(rules, later, rows(7, content=b"other")) == ["commit-ts-falls"]


def test_rules_rows_of_partitions_and_dispatchers_have_their_own_order() -> None:
    rules = RowRules(True)
    assert kinds(rules, PATH, rows(8)) == []
    assert kinds(rules, replace(PATH, partition=7), rows(7, 8)) == []
    assert kinds(rules, replace(PATH, dispatcher="a"), rows(6, 8)) == []


def test_rules_transaction_in_two_files_is_reported_under_table_atomicity_only() -> None:
    for is_atomic, expected in ((True, ["transaction-split"]), (False, [])):
        rules = RowRules(is_atomic)
        assert kinds(rules, PATH, rows(6, 7)) == []
        assert kinds(rules, replace(PATH, number=2), rows(7, 8, content=b"x")) == expected


def test_rules_rows_are_between_their_version_and_the_next_ddl() -> None:
    rules = RowRules(ddl_versions={("s", "t"): [5, 9, 12]})
    assert kinds(rules, PATH, rows(4)) == ["row-before-version"]
    assert kinds(rules, replace(PATH, number=2), rows(8, 9, 10)) == ["row-after-ddl"]


def test_rules_rows_without_commit_ts_cannot_be_checked() -> None:
    assert kinds(RowRules(), PATH, rows(None, None)) == ["commit-ts-unknown"]


FILE = SchemaFile("t", "s", 1, 5, "", 0, (SchemaColumn("a", "INT", precision="11"),), 1)


def schema_kinds(path: SchemaPath, file: SchemaFile) -> list[str]:
    return [fault.kind for fault in check_schema_file("x", path, file)]


def test_rules_schema_file_is_compared_with_its_name() -> None:
    path = schema_path_of(FILE)
    assert schema_kinds(path, FILE) == []
    assert schema_kinds(replace(path, checksum=1), FILE) == ["schema-hash"]
    assert schema_kinds(replace(path, version=6), FILE) == ["schema-version"]
    assert schema_kinds(replace(path, table="u"), FILE) == ["schema-names"]
    assert schema_kinds(replace(path, schema="u"), FILE) == ["schema-names"]
    assert schema_kinds(replace(path, table=None), FILE) == ["schema-names"]
    assert schema_kinds(SchemaPath("112", None, 5, path.checksum), FILE) == []
    assert FILE.columns is not None
    broken = replace(FILE, columns=(replace(FILE.columns[0], default="\udcff"),))
    assert schema_kinds(schema_path_of(broken), broken) == ["schema-hash-shipped"]


INDEX = path_text(IndexPath("s", "t", 5, None, ""), NONE)
DATA = [path_text(replace(PATH, number=number), NONE) for number in (1, 2)]
SCHEMA = path_text(schema_path_of(FILE), NONE)


@pytest.mark.parametrize(
    ("puts", "order", "expected"),
    [
        ([(SCHEMA, None), (INDEX, 1), (DATA[0], None)], "index-first", []),
        ([(SCHEMA, None), (DATA[0], None), (INDEX, 1)], "data-first", []),
        ([(SCHEMA, None), (DATA[0], None), (INDEX, 1)], "index-first", ["put-order"]),
        ([(SCHEMA, None), (INDEX, 1), (DATA[0], None)], "data-first", ["put-order"]),
        ([(DATA[0], None), (INDEX, 1), (SCHEMA, None)], "data-first", ["put-order"]),
        ([(SCHEMA, None), (DATA[0], None), (DATA[0], None)], "data-first", ["put-twice"]),
        ([("metadata", 5), ("metadata", 5), ("metadata", 4)], "data-first", ["checkpoint-regress"]),
        ([("x", None)], "data-first", ["unknown-file"]),
    ],
)
def test_rules_puts_are_judged_in_their_order(
    puts: list[tuple[str, int | None]], order: WriteOrder, expected: list[str]
) -> None:
    assert [fault.kind for fault in check_puts(puts, NONE, order)] == expected


def test_rules_puts_know_what_was_there_before() -> None:
    puts = [(DATA[0], None), (INDEX, 1)]
    assert list(check_puts(puts, NONE, "data-first", [SCHEMA])) == []
    by_id = [("112/5/CDC000001.csv", None)]
    existing = ["112/meta/schema_5_0000000001.json"]
    assert list(check_puts(by_id, NONE, "data-first", existing)) == []


def test_rules_puts_of_a_real_journal_are_in_order() -> None:
    puts: list[tuple[str, int | None]] = []
    for entry in JOURNAL["write_order"]:
        if entry["op"] == "flush":
            puts.append((entry["index_file"], int(entry["path"].rsplit("CDC")[-1][:-4])))
        checkpoint = entry.get("checkpoint_ts")
        puts.append((entry["path"], None if checkpoint is None else int(checkpoint)))
    assert list(check_puts(puts, PathLayout(), "index-first")) == []
