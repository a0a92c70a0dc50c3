"""The common structure of CDL JSON and Debezium JSON: Kafka Connect's schema and payload.

A message is one JSON object, so it can't lose its last byte; only white space after it may go.
Other changes, in messages with their schema:

* A value of a column loses its quotes, and what is left is not JSON.

And in all messages, at the members that each format names:

* A member that is needed is left out.
* An operation, a status or a version is not defined.

Known-wrong decoders of Connect's types are here too, and the liberties of readers of Connect's JSON
and of Avro.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Span
from cdcwire.model.events import Event, Path, RowChange
from cdcwire.model.kinds import Column, DatetimeType, DateType, Value
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    mending,
    wrong_columns,
    wrong_events,
    wrong_rows,
    wrong_values,
)
from cdcwire_conformance.known_wrong.events import EVENTS
from cdcwire_conformance.known_wrong.values import (
    VALUES,
    binary_as_base64,
    float32_as_double,
    names_in_lower_case,
)
from cdcwire_conformance.mutations import Change, reads_as_json

LONG_PART = 128  # every byte of a message is alike; its fields are what differs
_WHITE_SPACE = b" \t\r\n"
# The first member of a payload alone brings its brace.
_MEMBER = re.compile(rb'([{, \t\r\n]*"(?:[^"\\]|\\.)*"[ \t\r\n]*:[ \t\r\n]*)(.*)', re.DOTALL)
_LAST_STRING = re.compile(rb'(.*)"[^"\\]*"[ \t\r\n]*', re.DOTALL)
_STRING = re.compile(rb'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_COLUMN_DEPTH = 2  # the row, the column
# Clauses of values that have quotes.
_QUOTED = ("connect: string values", "connect: bytes values")


def legal_sizes(raw: bytes, spans: Sequence[Span]) -> Container[int]:
    """Return where a message may end: in the white space after it."""
    return range(len(raw.rstrip(_WHITE_SPACE)), len(raw))


def changes_of(
    needed: frozenset[Path], tags: Mapping[str, str], positions: frozenset[Path]
) -> Callable[[bytes, Sequence[Span], Mapping[str, OptionValue]], Iterator[Change]]:
    """Return what makes a message wrong.

    ``needed``: paths in the payload whose members can't be missing. ``tags``: members of the
    payload, and a text that none of them may be. ``positions``: those of the needed that only a
    reader of positions needs.
    """

    def changes(
        raw: bytes, spans: Sequence[Span], options: Mapping[str, OptionValue]
    ) -> Iterator[Change]:
        members = _members(spans)
        done: set[Path] = set()
        for span in spans:
            path = _in_payload(span)
            if not path or path in done or span.part != "value":
                continue
            done.add(path)
            if path in needed:
                feature = "position" if path in positions else None
                yield replace(_left_out(raw, *members[path], path), feature=feature)
            if len(path) == 1 and path[0] in tags:
                yield _with_text(raw, span, "tag", tags[path[0]])
            if len(path) == _COLUMN_DEPTH:
                yield from _without_quotes(raw, span)

    return changes


def _in_payload(span: Span) -> tuple[str, ...]:
    """Return the path within the payload; nothing for the schema, and for what closes a row."""
    path = tuple(step for step in span.path[1:] if isinstance(step, str))
    if path[:1] == ("payload",):
        return path[1:]
    return () if path[:1] == ("schema",) else path


def _members(spans: Sequence[Span]) -> dict[tuple[str, ...], tuple[int, int]]:
    """Return start and end of each member of the payload, nested members included."""
    found: dict[tuple[str, ...], tuple[int, int]] = {}
    for span in spans:
        path = _in_payload(span)
        for depth in range(1, len(path) + 1):
            start, end = found.get(path[:depth], (span.start, span.end))
            found[path[:depth]] = (min(start, span.start), max(end, span.end))
    return found


def _left_out(raw: bytes, start: int, end: int, path: Path) -> Change:
    title = f"the member {path[-1]} at byte {start} is left out"
    return Change("member", start, "-1", title, raw[:start] + raw[end:])


def _with_text(raw: bytes, span: Span, kind: str, text: str) -> Change:
    found = _LAST_STRING.fullmatch(raw[span.start : span.end])
    assert found is not None  # the value is a word
    made = raw[: span.start] + found[1] + f'"{text}"'.encode() + raw[span.end :]
    name = span.path[-1]
    return Change(kind, span.start, f"={text}", f"{name} at byte {span.start} is {text}", made)


def _without_quotes(raw: bytes, span: Span) -> Iterator[Change]:
    """Yield a column's value without its quotes, where that is not JSON any more."""
    found = _MEMBER.fullmatch(raw[span.start : span.end])
    text = None if found is None else _STRING.fullmatch(found[2])
    if found is None or text is None or span.clause not in _QUOTED or reads_as_json(text[1]):
        return
    whole = raw[: span.start] + found[1] + text[1] + raw[span.end :]
    title = f"the value at byte {span.start} has lost its quotes"
    yield Change("quote", span.start, "", title, whole)


_EIGHT_HOURS = {"ms": 28_800_000, "us": 28_800_000_000, "ns": 28_800_000_000_000}


@wrong_columns("a date, which counts days, is taken for milliseconds", "31")
def days_as_milliseconds(column: Column, value: Value) -> tuple[Column, Value]:
    """Take a date that counts days for one that counts milliseconds."""
    if column.type == DateType("d"):
        return replace(column, type=DateType("ms")), value
    return column, value


@wrong_columns("the unit of a moment is guessed from the number of its digits", "23")
def unit_by_digits(column: Column, value: Value) -> tuple[Column, Value]:
    """Choose the unit of a date and time by the number of its digits."""
    kind = column.type
    if not isinstance(kind, DatetimeType) or not isinstance(value, int):
        return column, value
    form = "ms" if abs(value) < 10**14 else "us" if abs(value) < 10**17 else "ns"
    return replace(column, type=replace(kind, form=form)), value  # type: ignore[arg-type]


@wrong_values("a date and time without zone is moved as if it had one", "24")
def datetime_as_local(column: Column, value: Value) -> Value:
    """Move a date and time without a zone by eight hours."""
    kind = column.type
    if not isinstance(kind, DatetimeType) or not isinstance(value, int):
        return value
    return value + _EIGHT_HOURS[kind.form]


@wrong_rows("the schema's name is put before the table's")
def table_with_schema(row: RowChange) -> Event:
    """Put the schema's name before the table's name."""
    name = f"{row.table.schema}.{row.table.name}"
    return replace(row, table=replace(row.table, name=name))


@wrong_events("an lsn above 2^53 loses its last digits", "9")
def lsn_through_double(event: Event) -> Event:
    """Round an LSN to the nearest double."""
    lsn = event.position.lsn
    if lsn is None:
        return event
    return replace(event, position=replace(event.position, lsn=int(float(lsn))))


@mending("the last of several members of one name is taken")
def last_member_wins(message: Message) -> Iterable[Message]:
    """Give a message whose repeated members are reduced to the last, as most readers of JSON do."""
    assert isinstance(message, KafkaMessage)
    try:
        once = json.dumps(json.loads(message.value or b""), ensure_ascii=False)
        yield replace(message, value=once.encode())
    except ValueError:
        return


CONNECT_FAULTS: tuple[KnownWrong, ...] = (
    *VALUES,
    float32_as_double,
    names_in_lower_case,
    *EVENTS,
    binary_as_base64,
    days_as_milliseconds,
    unit_by_digits,
    datetime_as_local,
    table_with_schema,
    lsn_through_double,
    last_member_wins,
)

CONNECT_UNCHECKED: frozenset[str] = frozenset(
    {"connect: limits", "connect: time values", "connect: null values"}
)

CONNECT_SCALARS: frozenset[str] = frozenset(
    {
        *("connect: integer values", "connect: float values", "connect: boolean values"),
        *("connect: string values",),
    }
)


_LONG_BYTES = 10


def reads_int_as_long(error: DecodeError, message: Message, context: Context) -> bool:
    """Return whether a varint is too long for an int and not for a long."""
    if error.clause != "avro: varints" or not isinstance(message, KafkaMessage):
        return False
    raw = (message.key if error.path[:1] == ("key",) else message.value) or b""
    varint = raw[error.offset : error.offset + _LONG_BYTES]
    size = next((size for size, byte in enumerate(varint, 1) if byte < 0x80), None)
    return size is not None and (size < _LONG_BYTES or varint[size - 1] < 2)
