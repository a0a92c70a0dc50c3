"""Features that a testee may decline, and choices that it may state, from codecs and cases.

The same lists are printed by ``cdcwire corpus features`` and ``choices`` and are at the end of each
format's page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cdcwire.model.events import POSITION_MEMBERS
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus.case import Case

HEADING = "## Features and choices"

# What a testee can decline in every format. Such cases are run and compared without it.
FIELDS = {
    "position": "the whole position of a change",
    "key": "the names of the key columns",
    "op": "the difference between insert, update, upsert and read",
    "what": "the kind of a schema change",
    "schema": "the schema of a table",
    "scale": "the scale of decimals",
    "zone": "the time zone of an instant",
    "fraction digits": "the number of digits in a fraction of a second",
    **{name: f"the member {name} of the position" for name in POSITION_MEMBERS},
}


@dataclass(frozen=True, slots=True)
class Feature:
    """A part of a format that a testee may decline. ``cases`` need it."""

    name: str
    cases: int
    description: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A way to read what a format leaves open. ``cases`` expect it."""

    subject: str
    choice: str
    cases: int
    is_of_reference: bool


def features_of(format_name: str, cases: Iterable[Case]) -> list[Feature]:
    """Return the features of a format whose cases a testee need not be asked."""
    counted = Counter(feature for case in cases for feature in case.features)
    described = get_format(format_name).features
    names = [name for name in described if name not in FIELDS]
    names += sorted(name for name in counted if name not in described and name not in FIELDS)
    return [Feature(name, counted[name], described.get(name, "")) for name in names]


def choices_of(format_name: str, cases: Iterable[Case]) -> list[Choice]:
    """Return the choices that the cases of a format know."""
    counted = Counter(case.choice for case in cases if case.choice)
    ours = get_format(format_name).choices
    found = []
    for text, number in sorted(counted.items()):
        subject, _, choice = (part.strip() for part in text.partition(":"))
        found.append(Choice(subject, choice, number, ours.get(subject) == choice))
    return found


def page_section(format_name: str, cases: Iterable[Case]) -> str:
    """Return the last section of a format's page."""
    cases = list(cases)
    lines = [
        f"{HEADING}",
        "",
        "`cdcwire corpus rebuild` writes this section. A testee declines features with `without`",
        "and states its choices with `choices` ([testee protocol](../testee-protocol.md)).",
        "Cases with a declined feature are not sent to it.",
        "",
        "| feature | what it is |",
        "| --- | --- |",
    ]
    for feature in features_of(format_name, cases):
        lines.append(f"| `{feature.name}` | {_cell(feature.description)} |")
    choices = choices_of(format_name, cases)
    if choices:
        lines += ["", "| choice | the reference's |", "| --- | --- |"]
    for choice in choices:
        mark = "yes" if choice.is_of_reference else ""
        lines.append(f"| `{choice.subject}: {choice.choice}` | {mark} |")
    return "\n".join(lines) + "\n"


def made_pages(pages: Path, cases: Iterable[Case]) -> dict[Path, str]:
    """Return the text of each format's page with its last section made again."""
    by_format: dict[str, list[Case]] = {}
    for case in cases:
        by_format.setdefault(case.format, []).append(case)
    made = {}
    for name in FORMAT_NAMES:
        page = pages / f"{name}.md"
        if page.is_file():
            text = page.read_text(encoding="utf-8").partition(f"\n{HEADING}\n")[0].rstrip("\n")
            made[page] = f"{text}\n\n{page_section(name, by_format.get(name, ()))}"
    return made


def write_pages(pages: Path, cases: Iterable[Case]) -> list[Path]:
    """Bring the last section of each page up to date. Returns: the pages that changed."""
    made = made_pages(pages, cases)
    changed = [page for page, text in made.items() if page.read_text(encoding="utf-8") != text]
    for page in changed:
        page.write_text(made[page], encoding="utf-8")
    return changed


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
