"""Known-wrong decoders of canal-json, whose values are strings, null, or left out."""

from __future__ import annotations

from cdcwire.core.message import Message
from cdcwire.model.events import Event, RowChange
from cdcwire.model.kinds import BytesType, Column, SetType, Value, YearType
from cdcwire_conformance.families import mysql_known_wrong
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
from cdcwire_conformance.known_wrong.values import null_as_word, surrogates_replaced


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
    *mysql_known_wrong.BATCHED_MYSQL_FAULTS,
    absent_as_null,
    claim_check_ignored,
    mysql_known_wrong.cut_file_accepted,
    mysql_known_wrong.bit_as_text,
    mysql_known_wrong.timestamp_in_utc,
    set_backwards,
    binary_as_utf_8,
    null_as_word,
    old_null_as_absent,
    times_swapped,
    surrogates_replaced,
    year_of_zeros_refused,
)
