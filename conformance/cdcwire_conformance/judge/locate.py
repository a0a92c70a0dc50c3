"""The byte that a difference is about, found among the spans of an explanation.

Formats name the fields of their bytes in their own words; this module knows which of them stand for
which part of an event. What is not found is no loss: the failure is then shown without a byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cdcwire.errors import DecodeError, Path
from cdcwire.format import Context, Format
from cdcwire.message import Message
from cdcwire.reader import Span
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.judge.cases import Focus, Judgement
from cdcwire_conformance.judge.difference import Difference

# Part of an event -> the last step of the spans that say it.
_NAMES: dict[str, tuple[str, ...]] = {
    "op": ("type", "t"),
    "what": ("type", "t"),
    "code": ("ddl_type", "code", "type", "t"),
    "schema": ("schema", "scm"),
    "table": ("table", "tbl"),
    "query": ("query", "q"),
    "commit_ts": ("commit_ts", "ts"),
    "partition": ("partition", "ptn"),
    "key": ("flags", "f", "h"),
    "row_id": ("row_id", "rid"),
    "claim_check": ("claim_check", "ccl"),
}
# Side of a row -> the words of the group or member that holds it.
_SIDES: dict[str, tuple[str, ...]] = {
    "after": ("new", "after", "u"),
    "before": ("old", "before", "p", "d"),
}


def with_focus(judgement: Judgement, case: Case, codec: Format) -> Judgement:
    """Return a judgement of a decoded case with the byte of its first difference, if found."""
    if judgement.focus is not None or not judgement.differences:
        return judgement
    focus = find_focus(judgement.differences[0], case, codec)
    if focus is None:
        return judgement
    return Judgement(judgement.problem, judgement.differences, judgement.notes, focus)


def find_focus(difference: Difference, case: Case, codec: Format) -> Focus | None:
    """Return the byte of the case's messages that a difference is about."""
    path = difference.path
    if len(path) < 2 or path[0] != "events" or not isinstance(path[1], int):
        return None
    context = case.context()
    found = _message_of_event(path[1], case.messages, codec, context)
    if found is None:
        return None
    message, index = found
    span = _find_span(index, path[2:], codec.explain(message, context).spans)
    return None if span is None else Focus(message, span.part, span.start, "where the value stands")


def _message_of_event(
    event_index: int, messages: Sequence[Message], codec: Format, context: Context
) -> tuple[Message, int] | None:
    """Return the message that holds an event, and the event's index in it."""
    left = event_index
    for message in messages:
        try:
            size = sum(1 for _ in codec.decode(message, context))
        except (DecodeError, ValueError):  # ValueError: a setting that the reference can't serve
            return None
        if left < size:
            return message, left
        left -= size
    return None


def _find_span(event_index: int, path: Path, spans: Sequence[Span]) -> Span | None:
    of_event = [span for span in spans if _event_of(span.path) == event_index]
    match path:
        case (("before" | "after") as side, str(column), *_):
            return _find_column(side, column, of_event)
        case (("position" | "extra"), str(name), *_) | (str(name), *_):
            names = _NAMES.get(name, (name,))
            return _first(span for span in of_event if span.path[-1] in names)
        case _:
            return _first(of_event)


def _event_of(path: Path) -> int | None:
    """Return the number of the event that a span belongs to: the first number in its path."""
    if path and path[0] in ("dictionary", "size_tables"):
        return None
    return next((step for step in path if isinstance(step, int)), None)


def _first(spans: Iterable[Span]) -> Span | None:
    return next(iter(spans), None)


def _find_column(side: str, column: str, spans: Sequence[Span]) -> Span | None:
    """Return the span of a column's value, else of its name."""
    words = _SIDES[side]
    named = [
        span
        for span in spans
        if (column in span.path[2:] and any(word in span.path for word in words))
        or (span.path[-1] in ("name", "names") and repr(column) in span.text)
    ]
    for span in named:
        if span.path[-1] == "name" and not _in_group(span.path, words, spans):
            continue
        stem = span.path[:-1] if span.path[-1] == "name" else span.path
        for last in ("value", "v", "length"):
            value = _first(each for each in spans if each.path == (*stem, last))
            if value is not None:
                return value
        return span
    return None


def _in_group(path: Path, words: tuple[str, ...], spans: Sequence[Span]) -> bool:
    """Return whether the group of columns that a path leads into is of this side."""
    for size in range(len(path) - 1, 1, -1):
        kind = _first(span for span in spans if span.path == (*path[:size], "type"))
        if kind is not None and "columns" not in kind.path:
            return any(f"({word}" in kind.text for word in words)
    return True
