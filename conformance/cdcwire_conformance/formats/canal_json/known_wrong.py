"""Known-wrong decoders of canal-json, whose values are strings, null, or left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cdcwire.model.events import Column, Event, Image, RowChange, Value
from cdcwire.model.kinds import BytesType, SetType, TextType
from cdcwire_conformance.families.mysql_known_wrong import (
    BATCHED_MYSQL_FAULTS,
    bit_as_text,
    cut_file_accepted,
    timestamp_in_utc,
)
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    wrong_columns,
    wrong_rows,
    wrong_values,
)
from cdcwire_conformance.known_wrong.events import (
    absent_as_null,
    claim_check_ignored,
    times_swapped,
)


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


@wrong_columns("null becomes the text 'null'")
def null_as_word(column: Column, value: Value) -> tuple[Column, Value]:
    """Replace NULL in a text column with the text ``null``."""
    if value is None and isinstance(column.type, TextType):
        return column, "null"
    return column, value


@wrong_rows("NULL in old is taken for a column that did not change", "51")
def old_null_as_absent(row: RowChange) -> Event:
    """Drop the NULL columns of an update's old row."""
    if row.op != "update" or row.before is None:
        return row
    kept = Image.of(pair for pair in row.before.pairs if pair[1] is not None)
    return replace(row, before=kept)


def _lone_surrogates(text: str) -> Iterator[str]:
    """Give the characters of UTF-16, each surrogate for itself."""
    for char in text:
        if ord(char) > 0xFFFF:
            yield "\ufffd\ufffd"
        else:
            yield char


@wrong_values("the two halves of a surrogate pair become U+FFFD")
def surrogates_replaced(column: Column, value: Value) -> Value:
    """Replace each character above U+FFFF with two U+FFFD."""
    return "".join(_lone_surrogates(value)) if isinstance(value, str) else value


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *BATCHED_MYSQL_FAULTS,
    absent_as_null,
    claim_check_ignored,
    cut_file_accepted,
    bit_as_text,
    timestamp_in_utc,
    set_backwards,
    binary_as_utf_8,
    null_as_word,
    old_null_as_absent,
    times_swapped,
    surrogates_replaced,
)
