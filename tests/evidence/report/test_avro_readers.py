"""The chapter about Avro libraries, made with readers that are written here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import load_cases
from cdcwire_evidence.report.avro_readers import (
    BROKEN,
    READERS,
    VALID,
    avro_readers_part,
    question_of,
)
from cdcwire_evidence.report.readers import ThirdPartyReader

ROOT = Path(__file__).resolve().parents[3]

# A reader that gives the same answer to every question.
PROGRAM = """
import json, sys
claim = {{"encode": False, "without": {without}}}
for line in sys.stdin:
    request = json.loads(line)
    if request["cmd"] == "stop":
        break
    if request["cmd"] == "start":
        about = {{"name": "r", "version": "1", "language": "Python", "formats": {{"avro": claim}}}}
        print(json.dumps({{"protocol": 1, **about}}), flush=True)
    else:
        print(json.dumps({{"seq": request["seq"], **{answer}}}), flush=True)
"""


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    return {case.id: case for case in load_cases(["avro"])}


def reader_of(folder: Path, answer: object, *without: str) -> ThirdPartyReader:
    program = folder / "reader.py"
    program.write_text(PROGRAM.format(answer=repr(answer), without=repr(list(without))))
    return ThirdPartyReader("Mine", (sys.executable, str(program)), "", "none")


def cells_of(lines: list[str], question: str) -> list[str]:
    """Return the cells of a row of the matrix, without its title."""
    (row,) = (line for line in lines if line.startswith(f"| {question} |"))
    return [cell.strip() for cell in row.strip("|").split("|")[1:]]


def test_every_question_is_asked_by_a_case(cases: dict[str, Case]) -> None:
    asked = {question_of(case) for case in cases.values()}
    assert {title for title, _ in VALID + BROKEN} - asked == set()


def test_messages_without_schema_and_content_of_texts_give_no_questions(
    cases: dict[str, Case],
) -> None:
    asked = {case.id for case in cases.values() if question_of(case) is not None}
    groups = {case.split("/")[1] for case in asked}
    assert groups.isdisjoint({"internal", "reject-internal"})
    assert "avro/reject-values/decimal-text-word" not in asked
    assert not any(cases[case].expect == "encode" for case in asked)


NAMES = ("values/int", "values/text-ill-formed", "reject-binary/trailing")


def test_reader_that_refuses_all_is_not_asked_about_broken_messages(
    cases: dict[str, Case], tmp_path: Path
) -> None:
    reader = reader_of(tmp_path, {"rejected": {"problem": "no", "message": 0}})
    part = avro_readers_part([cases[f"avro/{name}"] for name in NAMES], True, [reader])
    assert cells_of(part.lines, "**all valid messages**") == ["0/2"]
    assert cells_of(part.lines, "**all broken messages**") == ["-"]
    rows = [line for line in part.lines if line.startswith("| Mine |")]
    assert sum("refused: no" in line for line in rows) == 1
    assert any(", and 1 more |" in line for line in rows)
    assert not part.failed


def test_reader_is_counted_question_by_question(cases: dict[str, Case], tmp_path: Path) -> None:
    asked = [cases[f"avro/{name}"] for name in NAMES]
    reader = reader_of(tmp_path, {"events": cases["avro/values/int"].events})
    part = avro_readers_part(asked, True, [reader])
    assert cells_of(part.lines, "integers, to 64 bits; YEAR") == ["**1/1**"]
    assert cells_of(part.lines, "text that is not UTF-8") == ["0/1"]
    assert cells_of(part.lines, "refuses: bytes after the record") == ["0/1"]
    assert any("`avro/reject-binary/trailing`" in line for line in part.lines)


def test_question_that_a_reader_does_not_claim_has_a_dash(
    cases: dict[str, Case], tmp_path: Path
) -> None:
    asked = [cases["avro/values/int"], cases["avro/envelope/glue"]]
    reader = reader_of(tmp_path, {"events": asked[0].events}, "registry")
    part = avro_readers_part(asked, True, [reader])
    assert cells_of(part.lines, "envelope of Glue") == ["-"]
    assert cells_of(part.lines, "**all valid messages**") == ["1/2"]


def test_reader_that_is_not_built_is_not_run(cases: dict[str, Case], tmp_path: Path) -> None:
    absent = str(tmp_path / "absent")
    reader = ThirdPartyReader("Absent", (absent,), "go build", "none", needs=absent)
    part = avro_readers_part([cases["avro/values/int"]], True, [reader])
    assert part.lines == []
    (missing,) = part.not_run
    assert "absent not found" in missing.why
    assert missing.install == "go build"


@pytest.mark.skipif(not (ROOT / "adapters").exists(), reason="not in a checkout")
def test_programs_of_the_readers_are_in_the_checkout() -> None:
    for reader in READERS:
        if reader.needs is None:
            assert (ROOT / reader.command[1]).exists()
        else:
            assert (ROOT / reader.needs).parents[1].exists()
