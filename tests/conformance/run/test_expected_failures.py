"""The list of known failures."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdcwire_conformance.run.expected_failures import (
    ExpectedFailure,
    ExpectedFailures,
    ExpectedFailuresError,
    check_ids,
    expected_failures_text,
    read_expected_failures,
)

LIST = """\
# known

craft/a/b | Java long | got "-1" | and more
craft/*@cut:*|short reads
"""


def test_read_entries_with_reason_and_fragment(tmp_path: Path) -> None:
    file = tmp_path / "known.txt"
    file.write_text(LIST, encoding="utf-8")
    entries = read_expected_failures(file).entries
    assert [(e.pattern, e.reason, e.fragment, e.line) for e in entries] == [
        ("craft/a/b", "Java long", 'got "-1" | and more', 3),
        ("craft/*@cut:*", "short reads", "", 4),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("craft/a/b\n", "known.txt:1: expected CASE-ID"),
        ("\ncraft/a/b |\n", "known.txt:2: expected CASE-ID"),
        ("| reason\n", "known.txt:1: expected CASE-ID"),
        ("a/b/c | x\na/b/c | y\n", "known.txt:2: a/b/c is duplicated"),
        ("a/b/c@cut:{1..3} | x\na/b/c@cut:2 | y\n", "known.txt:2: a/b/c@cut:2 is duplicated"),
        ("a/b/c@cut:{1 | x\n", "known.txt:1: a/b/c@cut:{1: a set is written"),
        ("a/b/c@cut:{9..1} | x\n", "known.txt:1: .* 9..1 is not a range"),
    ],
)
def test_read_line_that_is_not_an_entry_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "known.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ExpectedFailuresError, match=problem):
        read_expected_failures(file)


def test_read_file_that_can_not_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ExpectedFailuresError, match="can't be read: No such file"):
        read_expected_failures(tmp_path / "none.txt")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9 | x\n")
    with pytest.raises(ExpectedFailuresError, match="byte 3 is not UTF-8"):
        read_expected_failures(tmp_path / "latin.txt")


def test_find_exact_id_before_pattern(tmp_path: Path) -> None:
    file = tmp_path / "known.txt"
    file.write_text("craft/a/* | many\ncraft/a/b | one\n", encoding="utf-8")
    known = read_expected_failures(file)
    found = [known.find(case_id) for case_id in ("craft/a/b", "craft/a/c", "craft/a", "x/a/b")]
    assert [None if entry is None else entry.reason for entry in found] == [
        *("one", "many", None, None)
    ]


def test_written_list_reads_back_and_keeps_known_reasons(tmp_path: Path) -> None:
    file = tmp_path / "known.txt"
    file.write_text(
        "craft/a/b | Java long | -1\ncraft/a/e@cut:{1..9} | short reads\ncraft/x/* | no X\n",
        encoding="utf-8",
    )
    failures = {
        "craft/a/b": "1 difference",
        "craft/a/c": "a | b\nc",
        **{f"craft/a/d@cut:{size}": "accepted" for size in (1, 2, 3, 5)},
        "craft/a/d@cut:7": "exit code 2",
        "craft/a/d@length:31+1": "accepted",
        "craft/a/d@length:9-1": "accepted",
        "craft/a/d@trailing": "accepted",
        "craft/a/e@cut:4": "accepted",
        "craft/x/y": "accepted",
    }
    file.write_text(expected_failures_text(failures, read_expected_failures(file)), "utf-8")
    entries = read_expected_failures(file).entries
    assert [(entry.pattern, entry.reason, entry.fragment) for entry in entries] == [
        ("craft/a/b", "Java long", "-1"),
        ("craft/a/c", "unreviewed: a / b\\u000ac", ""),
        ("craft/a/d@cut:7", "unreviewed: exit code 2", ""),
        ("craft/a/d@cut:{1..3,5}", "unreviewed: accepted", ""),
        ("craft/a/d@length:{31+1,9-1}", "unreviewed: accepted", ""),
        ("craft/a/d@trailing", "unreviewed: accepted", ""),
        ("craft/a/e@cut:4", "short reads", ""),
        ("craft/x/*", "no X", ""),
    ]


def test_written_list_hides_no_new_failure(tmp_path: Path) -> None:
    """A decoder that gets worse on the same base case and rule fails again."""
    file = tmp_path / "known.txt"
    failures = {f"craft/a/d@cut:{size}": "accepted" for size in range(1, 40)}
    file.write_text(expected_failures_text(failures), "utf-8")
    known = read_expected_failures(file)
    assert known.find("craft/a/d@cut:39") is not None
    assert known.find("craft/a/d@cut:40") is None


def test_stale_ids_of_a_set_are_named() -> None:
    known = ExpectedFailures([ExpectedFailure("a/b/c@cut:{1..3}", "why")])
    known.entries[0].use("a/b/c@cut:2")
    ((_, why),) = known.stale([f"a/b/c@cut:{size}" for size in (1, 2, 3)])
    assert why == "a/b/c@cut:1, a/b/c@cut:3 of it does not fail any more"


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("craft/values/none", "there is no case craft/values/none"),
        ("craft/values/yaer-2024", r"did you mean craft/values/year-2024\?"),
        ("craft/values/old", "the case is retired: it was wrong"),
        ("craft/nothing/*", r"there is no case craft/nothing/\*"),
        ("toy@state-leaks", "there is no format 'toy'"),
    ],
)
def test_check_id_that_is_not_of_a_case_is_refused(pattern: str, problem: str) -> None:
    known = ExpectedFailures([ExpectedFailure(pattern, "why", line=7)], "known.txt")
    with pytest.raises(ExpectedFailuresError, match=f"^known.txt:7: .*{problem}"):
        check_ids(known, {"craft/values/year-2024"}, {"craft/values/old": "it was wrong"})


@pytest.mark.parametrize(
    "pattern",
    [
        *("craft/values/year-2024", "craft/values/year-2024@encode", "craft/values/*"),
        *("craft/values/year-2024@cut:{1,2}", "craft/*@cut:*", "craft@state-leaks"),
    ],
)
def test_check_id_of_a_case_or_derived_from_it_passes(pattern: str) -> None:
    check_ids(ExpectedFailures([ExpectedFailure(pattern, "why")]), {"craft/values/year-2024"}, {})
