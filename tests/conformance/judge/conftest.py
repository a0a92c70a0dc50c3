"""A toy format, small enough to see at once what the judge does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.reader import Span, Subject
from cdcwire.format import Format
from cdcwire.model.carries import EVENT_FIELDS, EXACT, KINDS, NO, Carries
from cdcwire.model.events import Event, Image, Position, Progress, RowChange, Table
from cdcwire.model.kinds import Column, IntType
from cdcwire_conformance.corpus import Case

_ROW = Table("t", "s", key=("n",))
_COLUMNS = (Column("n", IntType(32)),)


def to_events(message: Message, *, context: Context = NO_CONTEXT) -> Iterator[Event]:
    """A value is digits, one row for each group between spaces; ``!`` is progress."""
    text = (message.value or b"").decode("latin-1")
    for index, word in enumerate(text.split()):
        if word == "!":
            yield Progress("resolved", Position(commit_ts=1))
        elif word.isdigit():
            image = Image(_COLUMNS, (int(word),))
            yield RowChange(_ROW, "insert", None, image, Position(commit_ts=1))
        else:
            raise DecodeError("no digits", text.index(word), "toy: digits", ("words", index))


def from_events(events: Iterable[Event], *, context: Context = NO_CONTEXT) -> Iterator[Message]:
    yield from ()


def spans(message: Message, context: Context) -> Iterator[Span]:
    offset = 0
    for index, word in enumerate((message.value or b"").split()):
        path = (index, "u", "n", "v")
        subject = Subject(index, ("after",), "n")
        end = offset + len(word)
        yield Span(path, offset, end, word.decode(), "toy: digits", subject=subject)
        offset += len(word) + 1


@pytest.fixture
def toy() -> Format:
    fields = {name: EXACT if name in CARRIED else NO for name in EVENT_FIELDS}
    carries = Carries(fields, dict.fromkeys(KINDS, EXACT))
    return Format(
        "toy", "Toy", "", to_events, from_events, spans, (), carries, {}, fixes_bytes="by value"
    )


CARRIED = ("op", "before of update", "before of delete", "key", "commit_ts", "partition", "types")


@pytest.fixture
def a_case() -> Any:
    """A function that makes a case; what is not said is as in an accept case of one message."""
    plain = Case(
        id="toy/rows/case",
        format="toy",
        group="rows",
        name="case",
        title="a case",
        level="must",
        expect="accept",
        clauses=("toy: digits",),
        origin="derived",
        since="0.1.0",
        messages=(KafkaMessage(None, b"1 22 333"),),
        events=[],
    )

    def make(**members: Any) -> Case:
        values = members.pop("values", None)
        if values is not None:
            members["messages"] = tuple(KafkaMessage(None, value) for value in values)
        return replace(plain, **members)

    return make
