"""Known-wrong decoders of canal-json, whose values are strings, null, or left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cdcwire.model.events import Column, Event, Image, RowChange, Value
from cdcwire.model.kinds import BytesType, SetType, TextType
from cdcwire_conformance.families.mysql_known_wrong import (
    BATCHED_MYSQL_FAULTS,
    BIT_AS_TEXT,
    CUT_FILE_ACCEPTED,
    TIMESTAMP_IN_UTC,
)
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    changing_columns,
    changing_events,
    changing_rows,
    changing_values,
)
from cdcwire_conformance.known_wrong.events import (
    ABSENT_AS_NULL,
    CLAIM_CHECK_IGNORED,
    times_swapped,
)


def _set_backwards(column: Column, value: Value) -> Value:
    if not isinstance(column.type, SetType):
        return value
    return int(f"{value:b}"[::-1], 2)


def _binary_as_utf_8(column: Column, value: Value) -> Value:
    return value.decode("latin-1").encode() if isinstance(column.type, BytesType) else value


def _null_as_word(column: Column, value: Value) -> tuple[Column, Value]:
    if value is None and isinstance(column.type, TextType):
        return column, "null"
    return column, value


def _old_null_as_absent(row: RowChange) -> Event:
    if row.op != "update" or row.before is None:
        return row
    kept = [
        (column, value)
        for column, value in zip(row.before.columns, row.before.values, strict=True)
        if value is not None
    ]
    return replace(row, before=Image(tuple(c for c, _ in kept), tuple(v for _, v in kept)))


def _lone_surrogates(text: str) -> Iterator[str]:
    """Give the characters of UTF-16, each surrogate for itself."""
    for char in text:
        if ord(char) > 0xFFFF:
            yield "\ufffd\ufffd"
        else:
            yield char


def _surrogates_replaced(column: Column, value: Value) -> Value:
    return "".join(_lone_surrogates(value)) if isinstance(value, str) else value


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *BATCHED_MYSQL_FAULTS,
    ABSENT_AS_NULL,
    CLAIM_CHECK_IGNORED,
    CUT_FILE_ACCEPTED,
    BIT_AS_TEXT,
    TIMESTAMP_IN_UTC,
    KnownWrong(
        "set-backwards",
        "the first element of a SET is its highest bit",
        changing_values(_set_backwards),
    ),
    KnownWrong(
        "binary-as-utf-8",
        "the characters of a binary string are written as UTF-8",
        changing_values(_binary_as_utf_8),
        ("33",),
    ),
    KnownWrong("null-as-word", "null becomes the text 'null'", changing_columns(_null_as_word)),
    KnownWrong(
        "old-null-as-absent",
        "NULL in old is taken for a column that did not change",
        changing_rows(_old_null_as_absent),
        ("51",),
    ),
    KnownWrong("times-swapped", "es and ts change places", changing_events(times_swapped)),
    KnownWrong(
        "surrogates-replaced",
        "the two halves of a surrogate pair become U+FFFD",
        changing_values(_surrogates_replaced),
    ),
)
