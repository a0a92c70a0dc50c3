"""The page of the format: a heading for each clause that the code names, and for no other."""

from __future__ import annotations

import re
from pathlib import Path

import cdcwire.formats.simple
from cdcwire.formats.simple import FORMAT, OPTIONS

ROOT = Path(__file__).resolve().parents[4]
PAGE = (ROOT / FORMAT.page).read_text(encoding="utf-8")


def test_page_has_exactly_the_clauses_that_the_code_names() -> None:
    headings = set(re.findall(r"^### (simple: .+)$", PAGE, re.MULTILINE))
    folder = Path(cdcwire.formats.simple.__file__).parent
    named = {
        clause
        for module in folder.glob("*.py")
        for clause in re.findall(r'"(simple: [a-z0-9 ]+)"', module.read_text("utf-8"))
    }
    assert named == headings


def test_page_describes_every_option_and_choice() -> None:
    for option in OPTIONS:
        assert f"`{option.name}`" in PAGE
    for subject in FORMAT.choices:
        assert f"`{subject}`" in PAGE
