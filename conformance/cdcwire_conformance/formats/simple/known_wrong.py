"""Known-wrong decoders of simple."""

from __future__ import annotations

from dataclasses import replace

from cdcwire.model.kinds import Column, TimestampType, Value
from cdcwire_conformance.families import mysql_known_wrong
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
from cdcwire_conformance.known_wrong.values import VALUES, binary_as_base64, null_as_word


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
    mysql_known_wrong.signed_for_unsigned,
    mysql_known_wrong.signed_bits,
    mysql_known_wrong.zero_date_as_null,
    mysql_known_wrong.vector_as_null,
    mysql_known_wrong.enum_from_zero,
    binary_as_base64,
    null_as_word,
    location_ignored,
)
