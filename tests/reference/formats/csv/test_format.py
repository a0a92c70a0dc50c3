"""The format as the registry offers it, and its page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cdcwire.formats.csv
from cdcwire.formats.csv import FORMAT

ROOT = Path(__file__).resolve().parents[4]
CLAUSES = (
    *("settings", "refused settings", "files", "record", "operations", "commit-ts", "old value"),
    *("handle key", "header line", "terminator", "kinds of fields", "integer values"),
    *("float values", "decimal values", "temporal values", "text values", "binary values"),
    *("json values", "enum and set values", "bit and year values", "vector values"),
    *("quoted fields", "bare fields", "null values", "ambiguous null", "virtual columns"),
    *("schema", "limits"),
)


@pytest.fixture(scope="module")
def page() -> str:
    return (ROOT / FORMAT.page).read_text(encoding="utf-8")


def test_page_has_every_clause(page: str) -> None:
    headings = re.findall(r"^### csv: (.+)$", page, re.MULTILINE)
    assert sorted(headings) == sorted(CLAUSES)


def test_every_clause_that_the_code_names_is_on_the_page() -> None:
    folder = Path(cdcwire.formats.csv.__file__).parent
    named = {
        clause
        for module in folder.glob("*.py")
        for clause in re.findall(r'"csv: ([a-z0-9 -]+)"', module.read_text("utf-8"))
    }
    assert named <= set(CLAUSES)


def test_every_option_and_choice_is_on_the_page(page: str) -> None:
    assert not [option.name for option in FORMAT.options if f"`{option.name}`" not in page]
    choices = page[page.index("## Choices") :]
    assert not [name for name in FORMAT.choices if f"`{name}`" not in choices]
