"""The report's text, and the record of witnesses."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdcwire_conformance.corpus.case import Case, CorpusError
from cdcwire_conformance.corpus.store import case_sums, load_cases
from cdcwire_conformance.corpus.witness import (
    Witness,
    confirmations,
    is_producers,
    read_witnesses,
    witness_from_results,
    write_witnesses,
)
from cdcwire_evidence.report.corpus import carries_part, clauses_part
from cdcwire_evidence.report.part import table
from cdcwire_evidence.report.runs import benchmarks_part, verify_part

RESULTS = {
    "testee": {"name": "other", "version": "2", "language": "Go"},
    "outcomes": [
        {"id": "craft/a/read", "cmd": "decode", "verdict": "passed"},
        {"id": "craft/a/read@encode", "cmd": "encode", "verdict": "passed"},
        {"id": "craft/a/missed", "cmd": "decode", "verdict": "failed"},
        {"id": "craft/a/unknown", "cmd": "decode", "verdict": "passed"},
        {"id": "craft/a/read@cut:3", "cmd": "decode", "verdict": "passed"},
    ],
}
SUMS = {"craft/a/read": "11", "craft/a/missed": "22"}


def test_witness_confirms_the_stored_cases_that_it_passed() -> None:
    found = witness_from_results(RESULTS, SUMS)
    assert found == Witness("other", "2", "Go", {"craft/a/read": "11"}, {"craft/a/read": "11"})


def test_witnesses_written_and_read_are_the_same(tmp_path: Path) -> None:
    witness = witness_from_results(RESULTS, SUMS)
    write_witnesses([witness], tmp_path)
    assert read_witnesses(tmp_path) == (witness,)
    assert read_witnesses(tmp_path / "nowhere") == ()


def test_witnesses_of_another_shape_are_refused(tmp_path: Path) -> None:
    (tmp_path / "witnesses.json").write_text('{"witnesses": [{"name": "x"}]}')
    with pytest.raises(CorpusError, match="witnesses"):
        read_witnesses(tmp_path)


def test_case_that_changed_has_lost_its_witness() -> None:
    case = next(case for case in load_cases(["craft"]) if not is_producers(case))
    sums = case_sums()
    seen = Witness("w", "1", "Go", {case.id: sums[case.id]}, {})
    assert confirmations([case], sums, [seen])["craft"].by_nobody == ()
    changed = {**sums, case.id: "0"}
    assert confirmations([case], changed, [seen])["craft"].by_nobody == (case.id,)


def test_case_of_a_producer_needs_no_other_witness() -> None:
    cases = [case for case in load_cases(["craft"]) if is_producers(case)]
    assert cases
    assert confirmations(cases, case_sums(), [])["craft"].by_nobody == ()


def test_program_that_is_missing_is_not_run(tmp_path: Path) -> None:
    part = verify_part("Other", "no-such-program", ["no-such-program", "testee"], True, tmp_path)
    assert [missing.why for missing in part.not_run] == ["no-such-program is not installed"]
    assert [missing.install for missing in part.not_run] == ["install no-such-program"]
    assert not part.lines


def test_benchmark_outside_a_checkout_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert benchmarks_part(True, tmp_path, tmp_path).not_run


def test_table_aligns_columns_of_numbers() -> None:
    assert table(("a", "n"), [("x", "1,000"), ("y", 2)])[1] == "| --- | ---: |"
    assert table(("a", "n"), [("x", "1"), ("y", "z")])[1] == "| --- | --- |"


def test_clauses_and_carries_have_a_column_for_every_format() -> None:
    cases: tuple[Case, ...] = load_cases()
    names = {case.format for case in cases}
    assert all(
        any(line.startswith(f"| {n} |") for line in clauses_part(cases).lines) for n in names
    )
    assert all(name in carries_part().lines[2] for name in names)
