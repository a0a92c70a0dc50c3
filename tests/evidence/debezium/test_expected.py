"""What is expected of Debezium's values, by hand: the scenario stands on it."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from cdcwire.model.kinds import Value
from cdcwire_evidence.debezium.columns import COLUMNS, ROWS, create_table, insert_row
from cdcwire_evidence.debezium.expected import (
    DEFAULT_MODES,
    Modes,
    days_of,
    expected_kind,
    expected_value,
    same_value,
)
from cdcwire_evidence.debezium.faults import FAULTS, known_fault

TEXTS = Modes("string", "connect", "base64", "string", "map")
DAYS = {
    "1970-01-01": 0,
    "1969-12-31": -1,
    "2000-02-29": 11016,
    "2000-03-01": 11017,
    "9999-12-31": 2932896,
    "0001-01-01": -719162,
    "0001-12-31 BC": -719163,
    "0001-01-01 BC": -719528,  # a leap year
}


@pytest.mark.parametrize("text", list(DAYS))
def test_days_are_those_of_the_calendar_of_today(text: str) -> None:
    assert days_of(text) == DAYS[text]


VALUES: list[tuple[str, str, Modes, Value]] = [
    ("boolean", "t", DEFAULT_MODES, True),
    ("bigint", "-9223372036854775808", DEFAULT_MODES, -(2**63)),
    ("real", "0.1", DEFAULT_MODES, 0.10000000149011612),
    ("numeric(5,2)", "-1.10", DEFAULT_MODES, Decimal("-1.10")),
    ("numeric(5,2)", "-1.10", TEXTS, "-1.10"),
    ("money", "-$1,234.56", DEFAULT_MODES, Decimal("-1234.56")),
    ("bytea", "\\x00ff", DEFAULT_MODES, b"\0\xff"),
    ("bytea", "\\x00ff", TEXTS, "AP8="),
    ("bytea", "\\xfffe", Modes(binary="base64-url-safe"), "__4="),
    ("date", "1970-01-02", DEFAULT_MODES, 1),
    ("time", "00:00:01.5", DEFAULT_MODES, 1_500_000),
    ("time(3)", "00:00:01.5", DEFAULT_MODES, 1500),
    ("time(3)", "00:00:01.5", Modes(times="nanoseconds"), 1_500_000_000),
    ("timestamp", "1969-12-31 23:59:59.999999", DEFAULT_MODES, -1),
    ("timestamp", "1969-12-31 23:59:59.999999", TEXTS, -1),
    ("timestamp(0)", "1970-01-01 00:00:01", DEFAULT_MODES, 1000),
    ("interval", "P1Y2M3DT4H5M6.789S", DEFAULT_MODES, 37091106789000),
    ("interval", "P1DT-1H", DEFAULT_MODES, 82_800_000_000),
    ("bit(1)", "1", DEFAULT_MODES, True),
    ("bit(10)", "1010101010", DEFAULT_MODES, 0b1010101010),
    ("varbit(12)", "", DEFAULT_MODES, 0),
    ("integer[]", "{1,NULL,-3}", DEFAULT_MODES, (1, None, -3)),
    ("text[]", '{a,"b,c",NULL,"NULL",""}', DEFAULT_MODES, ("a", "b,c", None, "NULL", "")),
    ("hstore", '"a\\"b"=>NULL, "c"=>"d"', TEXTS, (('a"b', None), ("c", "d"))),
]


@pytest.mark.parametrize(("declared", "text", "modes", "value"), VALUES)
def test_text_of_postgresql_is_this_value(
    declared: str, text: str, modes: Modes, value: Value
) -> None:
    found = expected_value(declared, text, modes)
    assert found == value
    assert type(found) is type(value)
    assert same_value(declared, found, value, modes)


UNEQUAL: list[tuple[str, Value, Value]] = [
    ("numeric", Decimal("1.0"), Decimal("1.00")),
    ("double precision", 0.0, -0.0),
    ("integer", 1, True),
    ("integer", 1, None),
    ("timestamptz", "2024-01-01 00:00:00+00", "2024-01-01T00:00:00.000001Z"),
    ("jsonb", '{"a": 1}', '{"a":1}'),
]


@pytest.mark.parametrize(("declared", "expected", "found"), UNEQUAL)
def test_value_that_is_nearly_the_same_is_another(
    declared: str, expected: Value, found: Value
) -> None:
    assert not same_value(declared, expected, found, DEFAULT_MODES)


EQUAL: list[tuple[str, Value, Value]] = [
    ("double precision", math.nan, math.nan),
    ("timestamptz", "2024-01-01 02:00:00+02", "2024-01-01T00:00:00.000000Z"),
    ("timestamptz", "0001-06-01 00:00:00+00 BC", "0000-06-01T00:00:00.000000Z"),
    ("timetz", "04:05:06.5+02:30", "01:35:06.5Z"),
    ("timetz", "00:00:00+14", "10:00:00Z"),
    ("hstore", '{"a": null}', '{"a":null}'),
]


@pytest.mark.parametrize(("declared", "expected", "found"), EQUAL)
def test_value_in_another_form_is_the_same(declared: str, expected: Value, found: Value) -> None:
    assert same_value(declared, expected, found, DEFAULT_MODES)


def test_every_fault_is_of_a_column_and_fits_itself() -> None:
    names = {column.name for column in COLUMNS}
    for fault in FAULTS:
        assert fault.column in names
        mode = next(iter(fault.values))
        modes = Modes(**{fault.by: mode})
        is_read = fault.when != "streamed"
        assert known_fault(fault.column, fault.text, is_read, modes, "3.2.0.Final") is not None
        assert known_fault(fault.column, "another", False, modes, "3.2.0.Final") is None


def test_fault_that_a_version_mended_is_none_of_it() -> None:
    text = "1582-10-10 00:00:00"
    assert known_fault("c_timestamp", text, True, DEFAULT_MODES, "3.2.0.Final") is not None
    assert known_fault("c_timestamp", text, True, DEFAULT_MODES, "3.6.1.Final") is None


def test_every_column_has_a_kind_and_a_value_in_the_first_row() -> None:
    statement = insert_row("t", 1, 0)
    for column in COLUMNS:
        expected_kind(column.type, DEFAULT_MODES)
        assert column.values[0] in statement
        assert f"{column.name} {column.type}" in create_table("t")
        assert len(column.values) <= ROWS
