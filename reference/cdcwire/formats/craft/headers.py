"""The term dictionary, and the headers that refer to it: one column per event field.

Names are written once, in the dictionary at the end; everywhere else a name is the number of its
term. Numbers are given in the order of first use: schemas of all events, tables of all events, then
the columns group by group. A reader accepts any order, unused terms and repeated terms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.reader import Reader, read_uvarint, write_uvarint
from cdcwire.formats.craft.arrays import (
    ArrayPath,
    check_count,
    read_delta_uvarints,
    read_delta_varints,
    read_strings,
    read_uvarints,
    write_delta_uvarints,
    write_delta_varints,
    write_strings,
    write_uvarints,
)
from cdcwire.formats.craft.columns import NameReader, no_repeated_names
from cdcwire.formats.craft.message import (
    EVENT_DDL,
    EVENT_RESOLVED,
    EVENT_ROW,
    Event,
    RowEvent,
)
from cdcwire.formats.craft.profile import CRAFT

NO_TERM = -1
NO_PARTITION = -1

_DICTIONARY = "craft: term dictionary"
_HEADERS = "craft: headers"


@dataclass(frozen=True, slots=True)
class Header:
    """The contents of the headers for one event."""

    commit_ts: int
    type: int
    partition: int | None
    schema: str | None
    table: str | None


def read_headers(reader: Reader, count: int, dictionary: list[str]) -> list[Header]:
    """Read the five arrays that fill ``reader``."""
    with step("headers"):
        check_count(reader, count, (), _HEADERS)
    commit_ts = read_delta_uvarints(reader, count, _place("commit_ts", _HEADERS), CRAFT)
    types = read_uvarints(
        reader, count, _place("type", CRAFT.event_types), CRAFT, _kind_check(count)
    )
    partitions = read_delta_varints(reader, count, _place("partition", CRAFT.partition), CRAFT)
    needs_names = types[0] == EVENT_ROW
    check = _term_check(dictionary, needs_names)
    schemas = read_delta_varints(reader, count, _place("schema", _HEADERS), CRAFT, check)
    tables = read_delta_varints(reader, count, _place("table", _HEADERS), CRAFT, check)
    with step("headers"):
        reader.expect_end(_HEADERS)
    return [
        Header(
            commit_ts[index],
            types[index],
            None if partitions[index] == NO_PARTITION else partitions[index],
            None if schemas[index] == NO_TERM else dictionary[schemas[index]],
            None if tables[index] == NO_TERM else dictionary[tables[index]],
        )
        for index in range(count)
    ]


def write_headers(out: bytearray, events: Sequence[Event], types: list[int], terms: Terms) -> None:
    """Append the five arrays. The schemas get their terms before the tables do."""
    partitions = []
    for index, event in enumerate(events):
        if event.partition == NO_PARTITION:
            raise EncodeError(
                "partition -1 means that there is none",
                CRAFT.partition,
                ("events", index, "partition"),
            )
        partitions.append(NO_PARTITION if event.partition is None else event.partition)
    write_delta_uvarints(
        out, [event.commit_ts for event in events], _place("commit_ts", _HEADERS), CRAFT
    )
    write_uvarints(out, types, _place("type", CRAFT.event_types), CRAFT)
    write_delta_varints(out, partitions, _place("partition", CRAFT.partition), CRAFT)
    for field in ("schema", "table"):
        ids = []
        for index, event in enumerate(events):
            name = event.schema if field == "schema" else event.table
            with step("events", index, field):
                is_absent = name is None and not isinstance(event, RowEvent)
                ids.append(NO_TERM if is_absent else terms.id_of(name))
        write_delta_varints(out, ids, _place(field, _HEADERS), CRAFT)


def read_dictionary(reader: Reader) -> list[str]:
    """Read the dictionary that fills ``reader``; without bytes there are no terms."""
    if not reader.left:
        return []
    start = reader.offset
    with step("dictionary", "count"):
        count = read_uvarint(reader, CRAFT.integers)
        if count == 0:
            raise DecodeError("a dictionary of no terms has no bytes", start, _DICTIONARY)
    reader.note(start, count, _DICTIONARY, "dictionary", "count")
    place = ArrayPath(("dictionary",), (), _DICTIONARY)
    terms = read_strings(reader, count, place, CRAFT, _no_empty_term)
    with step("dictionary"):
        reader.expect_end(_DICTIONARY)
    return terms


class Terms:
    """The dictionary that a message needs, in order of first use."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}

    def id_of(self, name: str | None) -> int:
        """Return the number of a name, a new one if need be. Raises: EncodeError for no name."""
        if not name:
            raise EncodeError("a name is empty", _DICTIONARY)
        return self.ids.setdefault(name, len(self.ids))

    def write_names(self, out: bytearray, names: Sequence[str], place: ArrayPath) -> None:
        """Append the term numbers of a group's columns."""
        write_delta_varints(out, [self.id_of(name) for name in names], place, CRAFT)

    def write(self, out: bytearray) -> None:
        """Append the dictionary; nothing if there is no term."""
        if self.ids:
            write_uvarint(out, len(self.ids), _DICTIONARY)
            write_strings(out, list(self.ids), ArrayPath(("dictionary",), (), _DICTIONARY), CRAFT)


def name_reader(dictionary: list[str], *, may_repeat: bool = False) -> NameReader:
    """Return what reads the column names of a group as term numbers.

    ``may_repeat``: accept a column that appears twice.
    """

    def read_names(reader: Reader, count: int, place: ArrayPath) -> list[str]:
        is_term = _term_check(dictionary, True)
        is_new = no_repeated_names()

        def check(index: int, term: int) -> str | None:
            if not 0 <= term < len(dictionary):
                return is_term(index, term)
            return None if may_repeat else is_new(index, dictionary[term])

        ids = read_delta_varints(reader, count, place, CRAFT, check)
        return [dictionary[term] for term in ids]

    return read_names


def _place(field: str, clause: str) -> ArrayPath:
    return ArrayPath(("events",), (field,), clause)


def _kind_check(count: int) -> Callable[[int, int], str | None]:
    """Return a check of event types: all are rows, or there is one event."""

    def check(index: int, kind: int) -> str | None:
        if kind not in (EVENT_ROW, EVENT_DDL, EVENT_RESOLVED):
            return f"event type {kind} is not defined"
        if kind != EVENT_ROW and count > 1:
            return f"event type {kind} in a message of {count} events; it must be the only one"
        return None

    return check


def _term_check(dictionary: list[str], is_needed: bool) -> Callable[[int, int], str | None]:
    def check(index: int, term: int) -> str | None:
        if term == NO_TERM and not is_needed:
            return None
        if term == NO_TERM:
            return "a row or a column without name"
        if 0 <= term < len(dictionary):
            return None
        return f"term {term} is not in the dictionary of {len(dictionary)} terms"

    return check


def _no_empty_term(index: int, term: str) -> str | None:
    return None if term else "a term of length 0"
