"""The page of the format: a heading for each clause that the code names, and for no other."""

from __future__ import annotations

import re
from pathlib import Path

import cdcwire.apache_avro
import cdcwire.formats.avro
from cdcwire.formats.avro import FORMAT, OPTIONS

ROOT = Path(__file__).resolve().parents[4]
PAGE = (ROOT / FORMAT.page).read_text(encoding="utf-8")


def test_page_has_every_clause_that_the_code_names() -> None:
    headings = set(re.findall(r"^### (avro: .+)$", PAGE, re.MULTILINE))
    folders = [Path(package.__path__[0]) for package in (cdcwire.apache_avro, cdcwire.formats.avro)]
    named = {
        clause
        for folder in folders
        for module in folder.glob("*.py")
        for clause in re.findall(r'"(avro: [a-z0-9 ]+)"', module.read_text("utf-8"))
    }
    assert named <= headings
    assert len(headings) >= len(named)


def test_page_tells_every_option_and_choice() -> None:
    for option in OPTIONS:
        assert f"`{option.name}`" in PAGE
    for subject in FORMAT.choices:
        assert f"`{subject}`" in PAGE
