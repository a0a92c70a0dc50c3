"""The byte that a difference is about: where the span of that part of the event starts.

A part that has no bytes is not found; the failure is then shown without a byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message
from cdcwire.core.reader import Span, Subject
from cdcwire.format import Format
from cdcwire.model.events import Path, Step
from cdcwire.model.text import Json, event_to_json
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.judge.cases import Focus
from cdcwire_conformance.judge.difference import Difference
from cdcwire_conformance.judge.events import group_halves

_TRIED = 12  # differences of a case; each reads its messages again


def find_focus(differences: Sequence[Difference], case: Case, codec: Format) -> Focus | None:
    """Return the byte of the case's messages that the first difference with a byte is about.

    The start of an enclosing object is returned only if no difference has an exact byte.
    """
    enclosing = None
    for each in differences[:_TRIED]:
        focus, is_exact = _focus_of(each, case, codec)
        if is_exact:
            return focus
        enclosing = enclosing or focus
    return enclosing


def _focus_of(difference: Difference, case: Case, codec: Format) -> tuple[Focus | None, bool]:
    """Return the byte of a difference, and whether the part has that byte itself."""
    path = difference.path
    if len(path) < 2 or path[0] != "events" or not difference.events:
        return None, False
    is_after = path[2:3] == ("after",)
    event = difference.events[-1 if is_after else 0]
    try:
        context = codec.prepared(case.messages, case.context())
        found = _message_of_event(event, is_after, case.messages, codec, context)
    except ValueError:  # a setting that the reference does not support
        return None, False
    if found is None:
        return None, False
    message, index = found
    place = _find_span(index, path[2:], codec.explain(message, context=context).spans)
    if place is None:
        return None, False
    span, is_exact = place
    title = "where the value is" if is_exact else "where the enclosing object starts"
    return Focus(message, span.part, span.start, title), is_exact


def _message_of_event(
    number: int,
    is_after: bool,
    messages: Sequence[Message],
    codec: Format,
    context: Context,
) -> tuple[Message, int] | None:
    """Return the message that holds an event, and the event's index in it.

    Two records of one update count as one event; ``is_after`` says which of them is meant.
    """
    places: list[tuple[Message, int]] = []
    documents: list[Json] = []
    for message in messages:
        try:
            for index, event in enumerate(codec.to_events(message, context=context)):
                places.append((message, index))
                documents.append(event_to_json(event))
        except DecodeError:
            break
    groups = group_halves(documents)
    return places[groups[number][-1 if is_after else 0]] if number < len(groups) else None


def _find_span(event: int, path: Path, spans: Iterable[Span]) -> tuple[Span, bool] | None:
    """Return the span of the part of an event that a path leads to, otherwise of its container.

    The truth value says whether the span is the part itself.
    """
    shared = [
        (span, span.subject)
        for span in spans
        if span.subject is not None and span.subject.event in (event, None)
    ]
    own = [(span, subject) for span, subject in shared if subject.event is not None]

    def first(is_wanted: Callable[[Subject], bool]) -> Span | None:
        return next((span for span, found in chain(own, shared) if is_wanted(found)), None)

    def whole(part: Step) -> Span | None:
        return first(lambda found: part in found.parts and None in (found.name, name))

    part, name = _part_of(path)
    exact = first(lambda found: part in found.parts and found.name == name)
    if exact is not None:
        return exact, True
    other = {"before": "after", "after": "before"}.get(str(part))  # the row on the wrong side
    holder = (
        whole(part)
        or (other and first(lambda found: other in found.parts and found.name == name))
        or (other and whole(other))
        or first(lambda found: not found.parts)
        or (first(lambda found: True) if part == "kind" else None)
    )
    return (holder, False) if holder else None


def _part_of(path: Path) -> tuple[Step, str | None]:
    """Return the part of an event that a path leads to, and its column or member of ``extra``."""
    match path:
        case ():  # an event of another kind
            return "kind", None
        case ("position", part, *_):
            return part, None
        case (("before" | "after" | "extra") as part, str(name), *_):
            return part, name
        case _:
            return path[0], None
