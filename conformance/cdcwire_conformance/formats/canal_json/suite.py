"""The suite's facts about canal-json, and the rules of its derived cases.

A message is one JSON object, so it can't lose its last byte. Some omissions are legal: white space
after a message, a terminator, whole rows at the end of a file, all of a message. Other changes:

* A value of a column loses its quotes, and what is left is not JSON.
* A member that a row needs is left out. Not ``mysqlType``: a definition of the table may do.
* The type of a row is not defined.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence

from cdcwire.core.message import Message
from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Span
from cdcwire.model.events import Event, RowChange
from cdcwire.model.kinds import BytesType, Column, SetType, Value, YearType
from cdcwire_conformance.families import mysql
from cdcwire_conformance.families.mysql import compression_layers, is_read
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    refusing,
    wrong_values,
)
from cdcwire_conformance.known_wrong.events import (
    absent_as_null,
    claim_check_ignored,
    old_null_as_absent,
    times_swapped,
)
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_json
from cdcwire_conformance.known_wrong.values import null_as_word, surrogates_replaced
from cdcwire_conformance.mutations import (
    Change,
    FormatRules,
    reads_as_json,
)
from cdcwire_conformance.suite import FormatSuite, SizeFacts


@wrong_values("the first element of a SET is its highest bit")
def set_backwards(column: Column, value: Value) -> Value:
    """Reverse the order of the bits of a SET."""
    if not isinstance(column.type, SetType):
        return value
    return int(f"{value:b}"[::-1], 2)


@wrong_values("the characters of a binary string are written as UTF-8", "33")
def binary_as_utf_8(column: Column, value: Value) -> Value:
    """Encode the Latin-1 characters of a binary string as UTF-8."""
    return value.decode("latin-1").encode() if isinstance(column.type, BytesType) else value


@refusing("YEAR 0 is refused in the four digits that the official Canal writes")
def year_of_zeros_refused(message: Message, events: list[Event]) -> bool:
    """Return whether a message has the text ``0000`` in a YEAR column."""
    images = [
        image
        for event in events
        if isinstance(event, RowChange)
        for image in (event.before, event.after)
        if image is not None
    ]
    has_year = any(
        isinstance(column.type, YearType) and value == 0
        for image in images
        for column, value in image.pairs
    )
    return has_year and b'"0000"' in (message.value or b"")


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *mysql.BATCHED_MYSQL_FAULTS,
    absent_as_null,
    claim_check_ignored,
    mysql.cut_file_accepted,
    mysql.bit_as_text,
    mysql.timestamp_in_utc,
    set_backwards,
    binary_as_utf_8,
    null_as_word,
    old_null_as_absent,
    times_swapped,
    surrogates_replaced,
    year_of_zeros_refused,
)

_WHITE_SPACE = b" \t\r\n"
_LONG_PART = 512  # every byte of a message is alike; its fields are what differs
_NEEDED = frozenset({"database", "table", "type", "data"})
_ROW_TYPES = ("INSERT", "UPDATE", "DELETE")
_TYPE = re.compile(rb'(,?"type":)"[A-Z]+"')
_VALUE = re.compile(rb'(,?"(?:[^"\\]|\\.)*":)"((?:[^"\\]|\\.)*)"', re.DOTALL)
_IMAGES = frozenset({"data", "old"})
_IMAGE_PATH = 3  # data, the number of the row, the name of the column


def legal_sizes(raw: bytes, spans: Sequence[Span]) -> Container[int]:
    """Return where a message or a file may end.

    A row whose terminator was cut is left alone too: its object is whole.
    """
    sizes = set(range(len(raw.rstrip(_WHITE_SPACE)), len(raw)))
    if not any(span.clause.startswith("storage: ") for span in spans):
        sizes.add(0)
    for span in spans:
        if span.path[-1:] == ("terminator",):
            sizes.update(range(span.start, span.end + 1))
    return sizes


def changes(
    raw: bytes, spans: Sequence[Span], options: Mapping[str, OptionValue]
) -> Iterator[Change]:
    """Yield what can be made wrong at the members and values of rows."""
    rows = {
        _row_of(span)
        for span in spans
        if _member_of(span) == ("type",) and span.value in _ROW_TYPES
    }
    with_columns = {
        _row_of(span)
        for span in spans
        if len(_member_of(span)) == _IMAGE_PATH and _member_of(span)[0] == "data"
    }
    members: dict[tuple[str | int, ...], tuple[int, int]] = {}
    for span in spans:
        begin, end = members.get(span.path, (span.start, span.end))
        members[span.path] = (min(begin, span.start), max(end, span.end))
    for span in spans:
        if _row_of(span) not in rows or span.start != members[span.path][0]:
            continue
        own = raw[span.start : span.end]
        name = _member_of(span)
        if len(name) == 1 and name[0] in _NEEDED and _row_of(span) in with_columns:
            end = members[span.path][1]
            title = f"the member {name[0]} at byte {span.start} is left out"
            yield Change("member", span.start, "-1", title, raw[: span.start] + raw[end:])
        if name == ("type",) and (found := _TYPE.fullmatch(own)):
            title = f"the type at byte {span.start} is UPSERT"
            made = raw[: span.start] + found[1] + b'"UPSERT"' + raw[span.end :]
            yield Change("tag", span.start, "=UPSERT", title, made)
        found = _VALUE.fullmatch(own) if _is_value(name) else None
        if found is not None and not reads_as_json(found[2]):
            title = f"the value at byte {span.start} has no quotes"
            made = raw[: span.start] + found[1] + found[2] + raw[span.end :]
            yield Change("quote", span.start, "", title, made)


def _is_value(name: tuple[str | int, ...]) -> bool:
    return len(name) == _IMAGE_PATH and name[0] in _IMAGES


def _row_of(span: Span) -> tuple[str | int, ...]:
    return span.path[:2] if span.path[:1] == ("rows",) else ()


def _member_of(span: Span) -> tuple[str | int, ...]:
    return span.path[len(_row_of(span)) :]


RULES = FormatRules(
    parts=("value",),
    legal_sizes=legal_sizes,
    changes=changes,
    long_part=_LONG_PART,
    is_read=is_read,
    layers=lambda part, raw, context: compression_layers(raw, context),
)

LIBERTIES = Liberties(
    unchecked=frozenset(
        {
            *("canal-json: mysqlType", "canal-json: sqlType"),
            *("storage: names", "storage: separators", "storage: file numbers"),
            *("storage: index files", "storage: schema hash", "storage: versions"),
        }
    ),
    scalars=frozenset(
        {
            *("canal-json: members", "canal-json: tidb extension", "canal-json: watermarks"),
            *("canal-json: handle key only", "canal-json: primary key names"),
            *("canal-json: integer values", "canal-json: float values"),
            *("canal-json: decimal values", "canal-json: temporal values"),
            *("canal-json: text values", "canal-json: enum and set values"),
            *("canal-json: json values", "canal-json: vector values"),
        }
    ),
    mend=mend_json,
)


SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#b0645b",
        note=(
            "`canal-json` has one row per message, so its figures are the same for every "
            "batch size."
        ),
        has_one_row_per_message=True,
    ),
)
