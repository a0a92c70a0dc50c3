"""Finding cases by format, id and pattern."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdcwire_conformance.corpus.case import CorpusError
from cdcwire_conformance.corpus.derive import find_case
from cdcwire_conformance.corpus.store import (
    corpus_version,
    golden_files,
    id_fits,
    load_case,
    load_cases,
    read_index,
)


def test_load_cases_is_sorted_by_id(golden: Path) -> None:
    ids = [case.id for case in load_cases(root=golden)]
    assert ids == ["craft/events/resolved", "craft/events/version-2"]


def test_load_cases_takes_formats_and_pattern(golden: Path) -> None:
    assert not load_cases(["open-protocol"], root=golden)
    assert [case.name for case in load_cases(["craft"], "*/version*", golden)] == ["version-2"]


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ("craft", True),
        ("craft/", True),
        ("craft/events", True),
        ("craft/events/resolved", True),
        ("craft/events/res", False),
        ("craft/*/resolved", True),
        ("*resolved", True),
        ("open-protocol/*", False),
    ],
)
def test_id_fits_patterns_and_beginnings(pattern: str, fits: bool) -> None:
    assert id_fits("craft/events/resolved", pattern) is fits


def test_id_fits_a_derived_case_by_its_base() -> None:
    assert id_fits("craft/events/resolved@cut:3", "craft/events/resolved")


@pytest.mark.parametrize("case_id", ["craft/events/none", "../x/y", "craft", "a/../../b"])
def test_load_case_unknown_is_an_error(golden: Path, case_id: str) -> None:
    with pytest.raises(CorpusError, match="no such case"):
        load_case(case_id, golden)


def test_load_case_retired_says_why(golden: Path) -> None:
    (golden / "retired.json").write_text('{"craft/events/old": "it broke two rules"}')
    with pytest.raises(CorpusError, match="it broke two rules"):
        load_case("craft/events/old", golden)


def test_find_case_finds_derived_ones(golden: Path) -> None:
    case = find_case("craft/events/resolved@cut:3", golden)
    assert case.messages[0].value == bytes.fromhex("010103")
    assert (case.level, case.expect, case.derived) == ("must", "reject", "cut:3")


def test_find_case_takes_the_name_of_the_other_direction(golden: Path) -> None:
    assert find_case("craft/events/resolved@encode", golden).id == "craft/events/resolved"


def test_find_case_with_unknown_rule_is_an_error(golden: Path) -> None:
    with pytest.raises(CorpusError, match="no case is derived"):
        find_case("craft/events/resolved@cut:999", golden)


def test_version_and_index_are_read(golden: Path) -> None:
    assert corpus_version(golden) == "0.1.0"
    assert [entry["id"] for entry in read_index(golden)["cases"]] == [
        "craft/events/resolved",
        "craft/events/version-2",
    ]


def test_version_of_two_numbers_is_an_error(golden: Path) -> None:
    (golden / "VERSION").write_text("1.0")
    with pytest.raises(CorpusError, match="three numbers"):
        corpus_version(golden)


def test_corpus_is_found_from_here() -> None:
    assert "VERSION" in golden_files()
