"""The clause names of the two Craft formats, and the one value that they code differently.

The shipped format and the proposal share arrays, column values and the tail. The functions for
these take a ``Profile``, so that an error names the clause of the format that is being read.
"""

from __future__ import annotations

from dataclasses import dataclass

from cdcwire.core.errors import DecodeError


@dataclass(frozen=True, slots=True)
class Profile:
    """The clause ids of one format, and the size of a FLOAT in it."""

    integers: str
    reversed_uvarint: str
    strings: str
    string_arrays: str
    nullable_bytes_arrays: str
    size_tables: str
    tail: str
    names: str
    partition: str
    row_events: str
    column_groups: str
    column_names: str
    column_types: str
    column_flags: str
    ddl_events: str
    resolved_events: str
    integer_values: str
    year_values: str
    number_values: str
    float_values: str
    text_values: str
    string_values: str
    vector_values: str
    types_without_values: str
    null_values: str
    delete_only_handle_key: str
    commit_ts: str
    event_types: str
    expect_kafka: str
    limits: str
    float_size: int


CRAFT = Profile(
    integers="craft: integers",
    reversed_uvarint="craft: reversed uvarint",
    strings="craft: strings",
    string_arrays="craft: string arrays",
    nullable_bytes_arrays="craft: nullable bytes arrays",
    size_tables="craft: size tables",
    tail="craft: tail",
    names="craft: term dictionary",
    partition="craft: partition",
    row_events="craft: row events",
    column_groups="craft: column groups",
    column_names="craft: column names",
    column_types="craft: column types",
    column_flags="craft: column flags",
    ddl_events="craft: ddl events",
    resolved_events="craft: resolved events",
    integer_values="craft: integer values",
    year_values="craft: year values",
    number_values="craft: bit, enum and set values",
    float_values="craft: float values",
    text_values="craft: text values",
    string_values="craft: string values",
    vector_values="craft: vector values",
    types_without_values="craft: types without values",
    null_values="craft: null values",
    delete_only_handle_key="craft: delete only handle key",
    commit_ts="craft: headers",
    event_types="craft: event types",
    expect_kafka="craft: kafka message",
    limits="craft: limits",
    float_size=8,
)

PROPOSAL = Profile(
    integers="craft-proposal: integers",
    reversed_uvarint="craft-proposal: reversed uvarint",
    strings="craft-proposal: strings",
    string_arrays="craft-proposal: string arrays",
    nullable_bytes_arrays="craft-proposal: nullable bytes arrays",
    size_tables="craft-proposal: size tables",
    tail="craft-proposal: tail",
    names="craft-proposal: names",
    partition="craft-proposal: partition",
    row_events="craft-proposal: row events",
    column_groups="craft-proposal: column groups",
    column_names="craft-proposal: columns",
    column_types="craft-proposal: columns",
    column_flags="craft-proposal: columns",
    ddl_events="craft-proposal: ddl events",
    resolved_events="craft-proposal: resolved events",
    integer_values="craft-proposal: values",
    year_values="craft-proposal: values",
    number_values="craft-proposal: values",
    float_values="craft-proposal: float values",
    text_values="craft-proposal: values",
    string_values="craft-proposal: values",
    vector_values="craft-proposal: values",
    types_without_values="craft-proposal: values",
    null_values="craft-proposal: values",
    delete_only_handle_key="craft-proposal: delete only handle key",
    commit_ts="craft-proposal: keys",
    event_types="craft-proposal: event types",
    expect_kafka="craft-proposal: kafka message",
    limits="craft-proposal: limits",
    float_size=4,
)


def present(value: bytes | None, profile: Profile) -> bytes:
    """Return the bytes of a Kafka value. Raises: DecodeError for a message without value."""
    if value is None:
        raise DecodeError("the Kafka message has no value", 0, profile.expect_kafka)
    return value
