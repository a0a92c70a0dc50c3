"""The parts that a report is put together from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class NotRun:
    """Something that was left out, and why. It is never counted as passed."""

    what: str
    why: str


@dataclass(slots=True)
class Part:
    """One chapter: a title, the command that gave it, its lines; ``failed`` fails the report."""

    title: str
    command: str = ""
    lines: list[str] = field(default_factory=list)
    not_run: list[NotRun] = field(default_factory=list)
    failed: bool = False


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return a Markdown table; columns after the first are aligned right if all are numbers."""
    body = [[str(cell) for cell in row] for row in rows]
    marks = [
        "---:" if index and body and all(_is_number(row[index]) for row in body) else "---"
        for index in range(len(head))
    ]
    lines = [f"| {' | '.join(head)} |", f"| {' | '.join(marks)} |"]
    return lines + [f"| {' | '.join(cell or ' ' for cell in row)} |" for row in body]


def _is_number(text: str) -> bool:
    return text.replace(",", "").replace(".", "").replace(" %", "").replace("x", "").isdigit()
