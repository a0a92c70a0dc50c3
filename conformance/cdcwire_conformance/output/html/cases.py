"""The data of cases for a page: a row per case for the list, and the details of one case.

All values are plain JSON. Texts are shown as they are, with escapes for signs that nobody sees.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from cdcwire.console.hexdump import error_part, message_parts, value_text
from cdcwire.console.visible import visible
from cdcwire.core.explanation import Explanation
from cdcwire.core.message import Message, StoredFile
from cdcwire.model.events import path_text
from cdcwire.model.text import Json
from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.rebuild import explain_message, json_text
from cdcwire_conformance.corpus.witness import Witness, is_producers
from cdcwire_conformance.judge.cases import Focus

MOST_BYTES = 2048  # of one key or value
MOST_FIELDS = 600
MOST_TEXT = 20_000  # of the expected events
PRODUCER, OTHERS, AUTHOR = "producer", "others", "author"


def confirmed_by(case: Case, names: Sequence[str]) -> str:
    """Return who confirms a case: its producer, other implementations, or only its author."""
    if is_producers(case):
        return PRODUCER
    return OTHERS if names else AUTHOR


def witness_names(
    witnesses: Iterable[Witness], sums: Mapping[str, str]
) -> Mapping[str, tuple[str, ...]]:
    """Return who read or wrote each case as it says. A witness of other bytes does not count."""
    found: dict[str, list[str]] = {}
    for witness in witnesses:
        for verb, seen in (("read by", witness.read), ("written by", witness.wrote)):
            for case_id, known in seen.items():
                if sums.get(case_id) == known:
                    name = f"{verb} {witness.name} {witness.version} ({witness.language})"
                    found.setdefault(case_id, []).append(name)
    return {case_id: tuple(names) for case_id, names in found.items()}


def case_row(
    case: Case,
    results: Sequence[str],
    *,
    case_id: str = "",
    clauses: Sequence[str] = (),
    witnesses: Sequence[str] = (),
) -> dict[str, Json]:
    """Return the entry of a case in the list of cases.

    ``results``: the verdict of each reader; empty: not asked. ``case_id`` and ``clauses``: other
    ones than the case's own.
    """
    return {
        "id": visible(case_id or case.id),
        "title": visible(case.title),
        "format": case.format,
        "level": case.level,
        "expect": case.expect,
        "clauses": [visible(clause) for clause in clauses or case.clauses],
        "features": [visible(feature) for feature in case.features],
        "by": confirmed_by(case, witnesses),
        "results": list(results),
    }


def case_details(
    case: Case, *, witnesses: Sequence[str] = (), focus: Focus | None = None
) -> dict[str, Json]:
    """Return what a page shows of a chosen case: its facts, its bytes, its expected events.

    ``focus``: the byte that a failure is about, in a message of the case or of the answer.
    """
    shown = list(case.messages)
    is_answer = focus is not None and focus.message not in shown
    messages = [_message(case, message, focus) for message in shown]
    if focus is not None and is_answer:
        title = f"The answer: {focus.title}"
        messages.append({**_message(case, focus.message, focus), "title": title})
    details: dict[str, Json] = {
        "facts": [[name, lines_of(text)] for name, text in case_facts(case, witnesses) if text],
        "messages": messages,
    }
    if case.events is not None:
        details["events"] = shortened(lines_of(json_text(case.events).rstrip()))
    if case.error is not None:
        details["error"] = lines_of(json_text(dict(case.error)).rstrip())
    return details


def lines_of(text: str) -> str:
    """Return a text of several lines without signs that a reader does not see."""
    return "\n".join(visible(line.expandtabs()) for line in text.split("\n"))


def shortened(text: str) -> str:
    """Return a text, cut where it is very long."""
    left = len(text) - MOST_TEXT
    return text if left <= 0 else f"{text[:MOST_TEXT]}\n… {left} characters more"


def case_facts(case: Case, witnesses: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Yield the facts about a case: a name and a text, which may be empty."""
    yield "Origin", case.origin
    yield "Confirmed by", "\n".join(witnesses)
    yield "Choice", case.choice or ""
    yield "Features", ", ".join(case.features)
    yield "Known bugs", ", ".join(case.bugs)
    yield "Note", case.note or ""
    yield "Options", "\n".join(f"{name}={_plain(value)}" for name, value in case.options.items())
    yield "Tables", shortened("\n".join(json_text(table).rstrip() for table in case.tables))
    yield "Schemas", shortened("\n".join(f"{key}: {text}" for key, text in case.schemas.items()))
    yield "Since", case.since


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _message(case: Case, message: Message, focus: Focus | None) -> dict[str, Json]:
    explanation = Explanation(())
    if case.format in FORMAT_NAMES:
        explanation = explain_message(case, message)
    mark: tuple[str, int] | None = None
    if focus is not None and focus.message == message:
        mark = focus.part, focus.offset
    elif focus is None and explanation.error is not None:
        mark = error_part(explanation.error, message), explanation.error.offset
    parts = message_parts(message)
    return {
        "title": visible(message.path) if isinstance(message, StoredFile) else "",
        "error": visible(str(explanation.error or "")),
        "parts": [_part(name, raw, explanation, mark) for name, raw in parts.items()],
    }


def _part(
    name: str, raw: bytes, explanation: Explanation, mark: tuple[str, int] | None
) -> dict[str, Json]:
    """Return the bytes of a key or value around the byte of the error, with their fields."""
    at = mark[1] if mark is not None and mark[0] == name else None
    start = 0
    if at is not None and at >= MOST_BYTES:
        start = (min(at, len(raw)) - MOST_BYTES // 2) // 16 * 16
    end = min(len(raw), start + MOST_BYTES)
    spans = sorted(
        (
            span
            for span in explanation.spans
            if span.part == name and start <= span.start <= end and span.end <= len(raw)
        ),
        key=lambda span: (span.start, -span.end),
    )
    fields: list[Json] = [
        [
            span.start,
            span.end,
            visible(path_text(span.path)),
            visible(value_text(span, raw)),
            span.clause,
        ]
        for span in spans[:MOST_FIELDS]
    ]
    return {
        "name": name,
        "size": len(raw),
        "start": start,
        "hex": raw[start:end].hex(),
        "fields": fields,
        "more": len(spans) - len(fields),
        "mark": at,
    }
