"""The clauses of the formats: the ``### <clause id>`` headings of their pages.

A checkout has the pages in ``docs/formats``, a wheel has copies of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cdcwire_conformance.corpus.case import CorpusError

_HEADING = re.compile(r"### +`?([a-z0-9-]+: [^`]*?)`? *")
_NEXT_SECTION = re.compile(r"#{1,3} ")
_CHECKOUT = Path(__file__).resolve().parents[3] / "docs" / "formats"
_SHIPPED = Path(__file__).resolve().parents[1] / "pages"


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause: its id, what the page says, and where (``craft.md:71``)."""

    id: str
    text: str
    where: str

    @property
    def page(self) -> str:
        """The name of the clause's page, without its extension."""
        return self.id.partition(":")[0]


def pages_folder() -> Path:
    """Return the folder of the pages."""
    return _CHECKOUT if _CHECKOUT.is_dir() else _SHIPPED


def read_clauses(folder: Path) -> Mapping[str, Clause]:
    """Return the clauses of all pages of ``folder`` by id, in the order of the pages.

    Raises: CorpusError when a heading occurs twice or is on the page of another format.
    """
    clauses: dict[str, Clause] = {}
    for page in sorted(folder.glob("*.md")):
        for clause in _clauses_of(page):
            if clause.page != page.stem:
                raise CorpusError(f"{clause.id!r} is not a clause of {page.stem}", clause.where)
            if clause.id in clauses:
                raise CorpusError(f"{clause.id!r} is duplicated", clause.where)
            clauses[clause.id] = clause
    return clauses


def _clauses_of(page: Path) -> list[Clause]:
    lines = page.read_text(encoding="utf-8").splitlines()
    found = []
    for number, line in enumerate(lines):
        heading = _HEADING.fullmatch(line)
        if heading is None:
            continue
        end = number + 1
        while end < len(lines) and not _NEXT_SECTION.match(lines[end]):
            end += 1
        text = "\n".join(lines[number + 1 : end]).strip()
        found.append(Clause(heading[1], text, f"{page.name}:{number + 1}"))
    return found
