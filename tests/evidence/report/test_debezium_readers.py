"""The chapters about readers of Debezium: every case has its question."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cdcwire_conformance.corpus import load_cases
from cdcwire_evidence.report.debezium_readers import (
    AVRO_QUESTIONS,
    BROKEN,
    QUESTIONS,
    READERS,
    VALID,
    debezium_avro_readers_part,
    debezium_readers_part,
    question_of,
)
from cdcwire_evidence.report.readers import ThirdPartyReader

CASES = load_cases(formats=("debezium-json", "debezium-avro"))
# It is taken off, or its schema is looked up, before a library is asked.
FRAMING = ("avro: envelope", "avro: registry", "debezium-avro: framing")


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


def test_each_broken_message_of_avro_is_asked_but_for_its_framing() -> None:
    left = [
        case.error["clause"]
        for case in CASES
        if case.format == "debezium-avro" and case.expect == "reject" and case.error
        if question_of(case) is None
    ]
    assert sorted(set(left)) == sorted(FRAMING)


# A reader that refuses all.
PROGRAM = """
import json, sys
claim = {"encode": False, "without": []}
for line in sys.stdin:
    request = json.loads(line)
    if request["cmd"] == "start":
        formats = {"debezium-avro": claim}
        answer = {"protocol": 1, "name": "r", "version": "1", "language": "P", "formats": formats}
    elif request["cmd"] == "stop":
        break
    else:
        answer = {"seq": request["seq"], "rejected": {"problem": "no", "message": 0}}
    print(json.dumps(answer), flush=True)
"""


def test_chapter_of_avro_asks_the_cases_of_avro(tmp_path: Path) -> None:
    program = tmp_path / "reader.py"
    program.write_text(PROGRAM)
    reader = ThirdPartyReader("Mine", (sys.executable, str(program)), "", "none")
    wanted = ("debezium-avro/values/bytes", "debezium-json/values/bytes")
    part = debezium_avro_readers_part([c for c in CASES if c.id in wanted], True, [reader])
    assert AVRO_QUESTIONS.format == "debezium-avro"
    assert part.command == "cdcwire verify debezium-avro --no-derived -- COMMAND"
    assert part.lines[0].startswith("1 golden cases")
    assert "| **all valid messages** | 0/1 |" in part.lines


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
