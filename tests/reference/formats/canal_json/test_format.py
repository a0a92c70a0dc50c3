"""The format as the registry offers it, and its page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import cdcwire.formats.canal_json
from cdcwire.formats.canal_json import FORMAT

ROOT = Path(__file__).resolve().parents[4]
CLAUSES = (
    *("framing", "members", "member order", "event types", "row events", "old"),
    *("only updated columns", "ddl events", "watermarks", "tidb extension", "handle key only"),
    *("claim check", "compression", "delete only handle key", "primary key names", "sqlType"),
    *("mysqlType", "content compatible", "integer values", "float values", "decimal values"),
    *("temporal values", "text values", "binary values", "enum and set values", "json values"),
    *("vector values", "null values", "json text", "json strings", "unknown members"),
    *("official canal", "files", "limits"),
)


@pytest.fixture(scope="module")
def page() -> str:
    return (ROOT / FORMAT.page).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def choices(page: str) -> str:
    return page[page.index("## Choices") :]


def test_page_has_every_clause(page: str) -> None:
    headings = re.findall(r"^### canal-json: (.+)$", page, re.MULTILINE)
    assert sorted(headings) == sorted(CLAUSES)


def test_every_clause_that_the_code_names_is_on_the_page() -> None:
    folder = Path(cdcwire.formats.canal_json.__file__).parent
    named = {
        clause
        for module in folder.glob("*.py")
        for clause in re.findall(r'"canal-json: ([a-zA-Z0-9 -]+)"', module.read_text("utf-8"))
    }
    assert named <= set(CLAUSES)


def test_every_option_is_on_the_page(page: str) -> None:
    assert not [option.name for option in FORMAT.options if f"`{option.name}`" not in page]


def test_every_choice_is_on_the_page(choices: str) -> None:
    assert not [name for name in FORMAT.choices if f"`{name}`" not in choices]


def test_every_choice_of_a_golden_case_is_one_of_the_format(choices: str) -> None:
    folder = ROOT / "golden" / FORMAT.name
    found = [json.loads(path.read_text("utf-8")) for path in folder.glob("*/*.json")]
    chosen = {tuple(case["choice"].split(": ", 1)) for case in found if "choice" in case}
    assert {name for name, _ in chosen} <= FORMAT.choices.keys()
    assert set(FORMAT.choices.items()) <= chosen


def test_every_name_of_extra_is_on_the_page(choices: str) -> None:
    folder = Path(cdcwire.formats.canal_json.__file__).parent
    named = re.findall(r'extra(?:\["|\.get\("|": \{")(\w+)"', (folder / "events.py").read_text())
    assert named
    assert not [name for name in named if f"`{name}`" not in choices]
