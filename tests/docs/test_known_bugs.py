"""The page of known bugs names those that the golden cases name, and no others."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "known-bugs.md"
_ROW = re.compile(r"^\| (`[^|]*`) \|(.*)\|$", re.MULTILINE)
_NAME = re.compile(r"`([^`]+)`")


def _rows() -> list[tuple[list[str], list[str]]]:
    """Return the names and the other cells of each row; heads of tables have no backticks."""
    return [
        (_NAME.findall(first), [cell.strip() for cell in rest.split("|")])
        for first, rest in _ROW.findall(PAGE.read_text(encoding="utf-8"))
    ]


def _used_names() -> set[str]:
    names: set[str] = set()
    for file in (ROOT / "golden").glob("*/*/*.json"):
        names.update(json.loads(file.read_text(encoding="utf-8")).get("cases", []))
    return names


ROWS = _rows()
PAGE_NAMES = {name for names, _ in ROWS for name in names}
USED_NAMES = _used_names()


def test_known_bugs_page_and_cases_have_names() -> None:
    assert PAGE_NAMES
    assert USED_NAMES


@pytest.mark.parametrize("name", sorted(USED_NAMES))
def test_known_bug_of_a_case_is_on_the_page(name: str) -> None:
    assert name in PAGE_NAMES


@pytest.mark.parametrize("name", sorted(PAGE_NAMES))
def test_known_bug_on_the_page_is_shown_by_a_case(name: str) -> None:
    assert name in USED_NAMES


@pytest.mark.parametrize(("names", "cells"), ROWS, ids=[names[0] for names, _ in ROWS])
def test_known_bug_row_has_all_its_cells(names: list[str], cells: list[str]) -> None:
    assert len(cells) == 3
    assert all(cells)


def test_known_bug_numbers_have_one_row_each() -> None:
    numbers = [names[0] for names, _ in ROWS]
    assert len(numbers) == len(set(numbers))
