"""The list of known failures."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdcwire_conformance.run.expected_failures import (
    ExpectedFailuresError,
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
        ("craft/a/b\n", "known.txt:1: an entry is"),
        ("\ncraft/a/b |\n", "known.txt:2: an entry is"),
        ("| reason\n", "known.txt:1: an entry is"),
        ("a/b/c | x\na/b/c | y\n", "known.txt:2: a/b/c is there twice"),
    ],
)
def test_read_line_that_is_no_entry_is_refused(tmp_path: Path, text: str, problem: str) -> None:
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
    file.write_text("craft/a/b | Java long | -1\n", encoding="utf-8")
    failures = {
        "craft/a/b": "1 difference",
        "craft/a/c": "a | b\nc",
        "craft/a/d@cut:1": "accepted",
        "craft/a/d@cut:2": "accepted",
        "craft/a/d@trailing": "accepted",
    }
    file.write_text(expected_failures_text(failures, read_expected_failures(file)), "utf-8")
    entries = read_expected_failures(file).entries
    assert [(entry.pattern, entry.reason, entry.fragment) for entry in entries] == [
        ("craft/a/b", "Java long", "-1"),
        ("craft/a/c", "to be looked at: a / b\\u000ac", ""),
        ("craft/a/d@cut:*", "to be looked at: accepted", ""),
        ("craft/a/d@trailing", "to be looked at: accepted", ""),
    ]
