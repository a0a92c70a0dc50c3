"""The page of the format: a heading for each clause, and worked examples that are right."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from cdcwire.formats.craft import decode, encode
from cdcwire.formats.craft.profile import CRAFT

PAGE = (Path(__file__).parents[4] / "docs" / "formats" / "craft.md").read_text("utf-8")
CLAUSES = sorted(
    {text for field in fields(CRAFT) if isinstance(text := getattr(CRAFT, field.name), str)}
)
_HEX_AT_LINE_START = re.compile(r"^[0-9a-f]{2}(?: {1,2}[0-9a-f]{2})*(?= |$)", re.MULTILINE)


def _examples() -> list[bytes]:
    section = PAGE.split("## Worked examples")[1].split("\n## ")[0]
    blocks = section.split("```")[1::2]
    return [bytes.fromhex("".join(_HEX_AT_LINE_START.findall(block))) for block in blocks]


@pytest.mark.parametrize("clause", CLAUSES)
def test_page_has_a_heading_for_the_clause(clause: str) -> None:
    assert f"\n### {clause}\n" in PAGE


@pytest.mark.parametrize("data", _examples(), ids=["resolved", "ddl", "rows"])
def test_page_example_is_canonical(data: bytes) -> None:
    assert encode(decode(data)) == data
