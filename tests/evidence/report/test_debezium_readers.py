"""The chapter about readers of Debezium's JSON: every case has its question."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cdcwire_conformance.corpus import load_cases
from cdcwire_evidence.report.debezium_readers import (
    BROKEN,
    QUESTIONS,
    READERS,
    VALID,
    debezium_readers_part,
    question_of,
)
from cdcwire_evidence.report.readers import ThirdPartyReader

CASES = load_cases(formats=("debezium-json",))


@pytest.mark.parametrize("title", [title for title, _ in (*VALID, *BROKEN)])
def test_every_question_has_cases(title: str) -> None:
    assert any(question_of(case) == title for case in CASES)


def test_all_but_optional_and_encoding_cases_of_rows_are_asked() -> None:
    left = [
        case.id
        for case in CASES
        if question_of(case) is None
        and case.expect == "accept"
        and case.level not in ("may", "unspecified")
    ]
    assert left == []


def test_reader_that_is_not_built_is_not_run(tmp_path: Path) -> None:
    jar = str(tmp_path / "none.jar")
    reader = ThirdPartyReader("none", (sys.executable, jar), "mvn package", "", needs=jar)
    part = debezium_readers_part(CASES[:20], True, [reader])
    assert [entry.why for entry in part.not_run] == [f"{jar} not found"]
    assert part.lines == []


def test_readers_say_where_they_come_from() -> None:
    assert QUESTIONS.format == "debezium-json"
    for reader in READERS:
        assert reader.needs is not None
        assert reader.needs in reader.command
