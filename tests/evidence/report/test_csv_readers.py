"""The chapter about CSV readers, made with the one reader that is always there."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import load_cases
from cdcwire_evidence.report.csv_readers import (
    BROKEN,
    NULL_QUESTION,
    READERS,
    VALID,
    csv_readers_part,
    question_of,
)
from cdcwire_evidence.report.readers import ThirdPartyReader

PYTHON_CSV = READERS[0]


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    return {case.id: case for case in load_cases(["csv"])}


@pytest.fixture
def in_checkout() -> None:
    if not Path(PYTHON_CSV.command[1]).exists():
        pytest.skip("not in a checkout")


def cells_of(lines: list[str], question: str) -> list[str]:
    """Return the cells of a row of the matrix, without its title."""
    (row,) = (line for line in lines if line.startswith(f"| {question} |"))
    return [cell.strip() for cell in row.strip("|").split("|")[1:]]


def test_every_question_is_asked_by_a_case(cases: dict[str, Case]) -> None:
    asked = {question_of(case) for case in cases.values()}
    assert {title for title, _ in VALID + BROKEN} - asked == set()


def test_other_files_and_refused_settings_give_no_questions(
    cases: dict[str, Case],
) -> None:
    groups = {case.group for case in cases.values() if question_of(case) is not None}
    assert groups.isdisjoint({"index", "paths", "prefix", "refused", "schema-files", "writing"})


@pytest.mark.usefixtures("in_checkout")
def test_reader_is_counted_question_by_question(cases: dict[str, Case]) -> None:
    names = ("values/uint64-max", "values/the-word-null", "reject/quoted-number")
    part = csv_readers_part([cases[f"csv/{name}"] for name in names], True, [PYTHON_CSV])
    assert cells_of(part.lines, "integers, to all 64 bits unsigned") == ["**1/1**"]
    assert cells_of(part.lines, NULL_QUESTION) == ["0/1"]
    assert cells_of(part.lines, "**all valid files**") == ["1/2"]
    assert cells_of(part.lines, "refuses: a quoted number, a bare text") == ["0/1"]
    assert any("`csv/values/the-word-null`" in line and "got NULL" in line for line in part.lines)
    assert not part.failed
    assert not part.not_run


@pytest.mark.usefixtures("in_checkout")
def test_null_for_a_text_fails_only_the_question_about_it(cases: dict[str, Case]) -> None:
    part = csv_readers_part([cases["csv/settings/delimiter-semicolon"]], True, [PYTHON_CSV])
    assert cells_of(part.lines, "**all valid files**") == ["**1/1**"]


def test_reader_that_is_not_there_is_not_run(cases: dict[str, Case], tmp_path: Path) -> None:
    program = tmp_path / "reader.py"
    program.write_text("import no_such_package")
    reader = ThirdPartyReader("Other", ("python", str(program)), "pip install other", "none")
    absent = ThirdPartyReader("Absent", ("python", str(tmp_path / "absent.py")), "", "none")
    part = csv_readers_part([cases["csv/values/uint64-max"]], True, [reader, absent])
    assert part.lines == []
    whys = [missing.why for missing in part.not_run]
    assert whys[0] == "No module named 'no_such_package'"
    assert "run it in a checkout" in whys[1]


def test_reader_that_only_warns_is_not_run_by_what_it_did(
    cases: dict[str, Case], tmp_path: Path
) -> None:
    program = tmp_path / "reader.py"
    program.write_text("import sys; print('WARN: bind to another address', file=sys.stderr)")
    reader = ThirdPartyReader("Other", ("python", str(program)), "pip install other", "none")
    part = csv_readers_part([cases["csv/values/uint64-max"]], True, [reader])
    (missing,) = part.not_run
    assert missing.why.startswith("the testee did not start: ")
    assert "WARN" not in missing.why
