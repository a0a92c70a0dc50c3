"""Open Protocol by columns gives what row by row gives, and gives up on what is not as usual."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cdcwire.arrow.batches import BatchBuilder, MessagePlace, places_array
from cdcwire.arrow.building import ConversionError
from cdcwire.arrow.column_decoders import Irregular
from cdcwire.arrow.schema import CanonicalTable, canonical_table
from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.rows import Row
from cdcwire.formats.open_protocol.batching import messages_of
from cdcwire.formats.open_protocol.fast import RowDecoder
from cdcwire.formats.open_protocol.settings import Settings
from cdcwire_conformance.formats.open_protocol.arrow_batches import OpenProtocolBatchBuilder
from cdcwire_generators.strategies import damaged_bytes
from cdcwire_generators.workloads import workload, workload_tables

many = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
Messages = Iterable[tuple[bytes, bytes]]
WORKLOAD = "proposal-29"
TABLE = canonical_table(*workload_tables(WORKLOAD))


def feed(rows: int, rows_per_message: int) -> list[tuple[bytes, bytes]]:
    """Return keys and values of mixed changes."""
    settings = Settings(max_batch_size=rows_per_message)
    events = workload(WORKLOAD, rows, 9)
    found = messages_of(events, settings, workload_tables(WORKLOAD))
    return [(one.key or b"", one.value or b"") for one in found if isinstance(one, KafkaMessage)]


FEED = feed(200, 4)
SINGLE = feed(20, 1)


def by_rows(messages: Messages, table: CanonicalTable = TABLE) -> list[dict[str, Any]] | None:
    """Return the rows, None if a message can't be read or a value does not fit."""
    name = (table.schema, table.table)
    decoder = RowDecoder(Context(selection=Selection(frozenset({name}))))
    builder = BatchBuilder(table, skips_others=True)
    found = []
    for number, (key, value) in enumerate(messages):
        try:
            rows = [r for r in decoder.decode(KafkaMessage(key, value)) if isinstance(r, Row)]
            batch = builder.batch(rows, places_array([MessagePlace(offset=number)], [len(rows)]))
        except (DecodeError, ConversionError):
            return None
        found += batch.to_pylist()
    return found


def by_columns(
    messages: Messages, table: CanonicalTable = TABLE
) -> tuple[list[dict[str, Any]] | None, int]:
    """Return the rows, or None, and how many messages were not taken."""
    columns = OpenProtocolBatchBuilder(BatchBuilder(table, skips_others=True), Context())
    left = sum(
        not columns.add(KafkaMessage(key, value), MessagePlace(offset=number))
        for number, (key, value) in enumerate(messages)
    )
    if not columns.rows:
        return [], left
    try:
        return columns.batch().to_pylist(), left
    except (Irregular, ConversionError):
        return None, left


@pytest.mark.parametrize("names", [TABLE.column_names, TABLE.column_names[3:11]])
def test_feed_by_columns_is_the_feed_by_rows(names: tuple[str, ...]) -> None:
    table = TABLE.with_columns(names)
    found, left = by_columns(FEED, table)
    assert left == 0
    assert found == by_rows(FEED, table)


@many
@given(data=st.data(), index=st.integers(0, len(FEED) - 1))
def test_damaged_message_by_columns_is_refused_wherever_row_by_row_is(
    data: st.DataObject, index: int
) -> None:
    key, value = FEED[index]
    messages = [(key, data.draw(damaged_bytes(value)))]
    found, left = by_columns(messages)
    if found is not None and not left:
        assert found == by_rows(messages)


VALUES = {
    "c1": [b"128", b"-128", b"-0", b"null"],
    "c5": [b"9223372036854775808", b"-9223372036854775808"],
    "c7": [b'"\\ud800"', b'"\\ud83d\\ude00"', b'"\xed\xa0\x80"', b'"\xff"', b'"a\\u0022,\\u0022b"'],
    "c12": [b'"\\\\xff"', b'"\\\\400"', b'"a\\u0022b"', b'"\xc3\xa4"', b'"\xff"'],
    "c14": [b'"QQ=="', b'"QUI="', b'"QUJD"', b'""', b'"QUJDQQ"', b'"QR=="'],
    "c18": [b"1e39", b"-0.0", b"16777217", b"16777217.0000000001", b"1e-46"],
    "c19": [b"1e400", b"-0.0", b"4.9e-324"],
}


def with_value(value: bytes, name: str, written: bytes) -> bytes:
    """Return the only row of a message with another value of a column, in both images."""
    old = rb'("%s":\{[^{}]*"v":)(?:"(?:[^"\\]|\\.)*"|[^"}]*)' % name.encode()
    row = re.sub(old, lambda found: found[1] + written, value[8:])
    return struct.pack(">Q", len(row)) + row


@pytest.mark.parametrize(
    ("name", "written"), [(name, each) for name, values in VALUES.items() for each in values]
)
def test_value_by_columns_is_the_value_by_rows_or_is_refused_by_both(
    name: str, written: bytes
) -> None:
    known, others = SINGLE[:2], SINGLE[2:]  # the columns are learned from good values
    changed = [(key, with_value(value, name, written)) for key, value in others]
    assert all(written in value for _, value in changed)
    messages = [*known, *changed]
    found, left = by_columns(messages)
    expected = by_rows(messages)
    assert repr(None if left else found) == repr(expected)  # which tells -0.0 from 0.0
