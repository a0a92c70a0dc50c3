"""Clause headings of the pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdcwire_conformance.corpus.case import CorpusError
from cdcwire_conformance.corpus.clauses import read_clauses


def test_clauses_have_text_and_place(pages: Path) -> None:
    clauses = read_clauses(pages)
    assert list(clauses) == ["craft: resolved events", "craft: version"]
    version = clauses["craft: version"]
    assert version.text == "The version is 1."
    assert version.where == "craft.md:7"
    assert version.page == "craft"


def test_heading_in_backticks_counts(tmp_path: Path) -> None:
    (tmp_path / "craft.md").write_text("### `craft: bit, enum and set values`\n")
    assert list(read_clauses(tmp_path)) == ["craft: bit, enum and set values"]


def test_headings_of_another_kind_are_not_clauses(tmp_path: Path) -> None:
    (tmp_path / "craft.md").write_text("## craft: a\n#### craft: b\n### Options\n")
    assert not read_clauses(tmp_path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("### craft: a\n\n### craft: a\n", "duplicated"),
        ("### open-protocol: a\n", "not a clause of"),
    ],
)
def test_heading_twice_or_elsewhere_is_an_error(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "craft.md").write_text(text)
    with pytest.raises(CorpusError, match=problem):
        read_clauses(tmp_path)
