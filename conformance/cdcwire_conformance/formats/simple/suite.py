"""The suite's facts about simple.

Derived cases change its JSON. A message is one JSON object, so it cannot lose its last byte; only
white space after it can be cut. These changes are made in rows:

* A member that a row needs is left out.
* The type is unknown.
* A value of a column loses its quotes, and what is left is not JSON.
"""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Span
from cdcwire.model.kinds import Column, TimestampType, Value
from cdcwire_conformance.families import mysql
from cdcwire_conformance.families.mysql import compression_layers
from cdcwire_conformance.known_wrong.decoder import KnownWrong, wrong_columns
from cdcwire_conformance.known_wrong.events import (
    COMMIT_TS,
    EVENTS,
    OLD_ROWS,
    OPERATIONS,
    claim_check_ignored,
    progress_lost,
    schema_change_lost,
)
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_json
from cdcwire_conformance.known_wrong.values import VALUES, binary_as_base64, null_as_word
from cdcwire_conformance.mutations import Change, FormatRules, reads_as_json
from cdcwire_conformance.suite import FormatSuite, SizeFacts

_WHITE_SPACE = b" \t\r\n"
_LONG_PART = 512
_NEEDED = frozenset({"version", "type", "commitTs", "buildTs"})
_ROW_TYPES = frozenset({"INSERT", "UPDATE", "DELETE"})
_TYPE = re.compile(rb'(,?"type":)"[A-Z]+"')
_VALUE = re.compile(rb'(,?"(?:[^"\\]|\\.)*":)"((?:[^"\\]|\\.)*)"', re.DOTALL)
_SIDES = frozenset({"data", "old"})


def legal_sizes(raw: bytes, spans: Sequence[Span]) -> Container[int]:
    """Return where a message may end."""
    return set(range(len(raw.rstrip(_WHITE_SPACE)), len(raw)))


def changes(
    raw: bytes, spans: Sequence[Span], options: Mapping[str, OptionValue]
) -> Iterator[Change]:
    """Yield what can be made wrong at the members and values of a row."""
    if not any(span.path == ("type",) and span.value in _ROW_TYPES for span in spans):
        return
    for span in spans:
        start, end, own = span.start, span.end, raw[span.start : span.end]
        if not own.startswith((b'"', b',"')):
            continue
        name = str(span.path[0]) if len(span.path) == 1 else ""
        if name in _NEEDED:
            title = f"the member {name} at byte {start} is left out"
            yield Change("member", start, "-1", title, raw[:start] + raw[end:].lstrip(b","))
        if name == "type" and (found := _TYPE.fullmatch(own)):
            title = f"the type at byte {start} is UPSERT"
            yield Change(
                "tag", start, "=UPSERT", title, raw[:start] + found[1] + b'"UPSERT"' + raw[end:]
            )
        is_value = len(span.path) == len(_SIDES) and span.path[0] in _SIDES
        found = _VALUE.fullmatch(own) if is_value else None
        if found is not None and not reads_as_json(found[2]):
            title = f"the value at byte {start} has no quotes"
            yield Change("quote", start, "", title, raw[:start] + found[1] + found[2] + raw[end:])


RULES = FormatRules(
    parts=("value",),
    legal_sizes=legal_sizes,
    changes=changes,
    long_part=_LONG_PART,
    layers=lambda part, raw, context: compression_layers(raw, context),
)


@wrong_columns("the location of a TIMESTAMP is ignored", "25")
def location_ignored(column: Column, value: Value) -> tuple[Column, Value]:
    """Return a TIMESTAMP without its zone."""
    if not isinstance(column.type, TimestampType):
        return column, value
    return replace(column, type=replace(column.type, zone=None)), value


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *VALUES,
    *EVENTS,
    *OPERATIONS,
    *OLD_ROWS,
    *COMMIT_TS,
    schema_change_lost,
    progress_lost,
    claim_check_ignored,
    mysql.signed_for_unsigned,
    mysql.signed_bits,
    mysql.zero_date_as_null,
    mysql.vector_as_null,
    mysql.enum_from_zero,
    binary_as_base64,
    null_as_word,
    location_ignored,
)


LIBERTIES = Liberties(
    unchecked=frozenset({"simple: limits", "simple: bootstrap", "simple: table schemas"}),
    scalars=frozenset(
        {
            *("simple: fields", "simple: schema versions", "simple: ddl events"),
            *("simple: handle key only", "simple: claim check", "simple: checksum"),
            *("simple: integer values", "simple: float values", "simple: decimal values"),
            *("simple: bit values", "simple: enum and set values", "simple: text values"),
            *("simple: temporal values", "simple: timestamp values", "simple: json columns"),
            *("simple: vector values", "simple: values"),
        }
    ),
    mend=mend_json,
)


SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#3f8f86",
        note=(
            "`simple` has one row per message, so its figures are the same for every batch size. "
            "They include the table schemas that come before the rows."
        ),
        has_one_row_per_message=True,
    ),
)
