"""The corpus of this checkout is in order: sums, forms, clauses, made files."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdcwire_conformance.corpus.check import CheckResult, check_corpus

_CHECKOUT = Path(__file__).parents[3]  # a wheel under test has neither pages nor hexdumps


@pytest.fixture(scope="module")
def result() -> CheckResult:
    return check_corpus(_CHECKOUT / "golden", _CHECKOUT / "docs" / "formats")


def test_corpus_has_no_problem(result: CheckResult) -> None:
    assert "\n".join(map(str, result.problems)) == ""


def test_check_was_whole(result: CheckResult) -> None:
    pytest.importorskip("jsonschema", reason="the JSON Schemas are not checked without it")
    assert result.skipped == ()
