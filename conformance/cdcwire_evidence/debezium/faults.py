"""What Debezium itself gets wrong: values that its messages have and PostgreSQL does not.

Each is measured, and is looked for: one that is no longer there is an error too. ``when`` is
``read`` for rows of a snapshot, which come by JDBC, and ``streamed`` for those of the log. ``by``
names the setting that decides, and ``values`` has its values; with others there is no fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from cdcwire.model.kinds import Value
from cdcwire_evidence.debezium.expected import Modes

_INT64 = 1 << 63


@dataclass(frozen=True, slots=True)
class Fault:
    """A value of a column, by PostgreSQL's text of it, that comes through as another."""

    column: str
    text: str
    reason: str
    by: Literal["decimals", "times"]
    values: Mapping[str, Value]
    when: Literal["", "read", "streamed"] = ""

    def fits(self, column: str, text: str | None, is_read: bool, modes: Modes) -> bool:
        """Return whether the fault affects this value under these modes."""
        return (
            (self.column, self.text) == (column, text)
            and self.when in ("", "read" if is_read else "streamed")
            and getattr(modes, self.by) in self.values
        )

    def value(self, modes: Modes) -> Value:
        """Return the wrong value that comes through under these modes."""
        return self.values[getattr(modes, self.by)]


def _moments(microseconds: int, iso: str | None) -> dict[str, Value]:
    """Return a count in the units of all modes; nanoseconds wrap round without a word."""
    names = ("adaptive", "adaptive_time_microseconds", "microseconds")
    found: dict[str, Value] = dict.fromkeys(names, microseconds)
    found["connect"] = microseconds // 1000
    found["nanoseconds"] = _wrapped(microseconds * 1000)
    if iso is not None:
        found["isostring"] = iso
    return found


def _wrapped(number: int) -> int:
    return (number + _INT64) % (2 * _INT64) - _INT64


def _nanoseconds(column: str, text: str, microseconds: int) -> Fault:
    count = _wrapped(microseconds * 1000)
    return Fault(column, text, _WRAPS, "times", {"nanoseconds": count})


def _streamed_nanoseconds(column: str, text: str, microseconds: int) -> Fault:
    count = _wrapped(microseconds * 1000)
    return Fault(column, text, _WRAPS, "times", {"nanoseconds": count}, "streamed")


def _dates(days: int, iso: str) -> dict[str, Value]:
    names = ("adaptive", "adaptive_time_microseconds", "microseconds", "nanoseconds", "connect")
    return {**dict.fromkeys(names, days), "isostring": iso}


def _all_times(value: Value) -> dict[str, Value]:
    names = ("adaptive", "adaptive_time_microseconds", "microseconds", "nanoseconds", "connect")
    return dict.fromkeys((*names, "isostring"), value)


_ZERO = "zero without declared scale loses its scale"
_MINUS = "a scale below zero is read as 2046"
_MONEY = "money comes through a double"
_NESTED = "an array of two dimensions is an array of nulls"
_JULIAN = "rows of a snapshot come in the Julian calendar before 1582, which is read as today's"
_ERA = "the era is lost"
_INFINITE = "infinity is a count like any other"
_WRAPS = "what nanoseconds can't hold wraps round"
_OVERFLOW = "microseconds beyond 64 bits become the smallest number"
_MONEY_LEAST = "-$92,233,720,368,547,758.08"
SCALE = 2046

# In 3.6.1; 3.2.0 still had these.
MENDED = (_MONEY, _JULIAN)
FAULTS: tuple[Fault, ...] = (
    Fault("c_numeric", "0.00", _ZERO, "decimals", {"precise": Decimal(0)}),
    *(
        Fault(
            "c_numeric_minus",
            text,
            _MINUS,
            "decimals",
            {
                "precise": Decimal(f"{text}.{'0' * SCALE}"),
                "string": f"{text}.{'0' * SCALE}",
            },
        )
        for text in ("123500", "0")
    ),
    Fault(
        *("c_money", _MONEY_LEAST, _MONEY, "decimals"),
        {"precise": Decimal("-92233720368547760.00"), "string": "-9.223372036854776E16"},
        "read",
    ),
    Fault("c_money", "$0.00", _MONEY, "decimals", {"string": "0.0"}, "read"),
    Fault("a_int4", "{{1,2},{3,4}}", _NESTED, "times", _all_times((None, None))),
    Fault(
        *("c_timestamp", "0001-01-01 00:00:00", _JULIAN, "times"),
        _moments(-62135769600000000, "0000-12-30T00:00:00Z"),
        "read",
    ),
    _streamed_nanoseconds("c_timestamp", "0001-01-01 00:00:00", -62135596800000000),
    Fault(
        *("c_timestamptz", "0001-01-01 00:00:00+00", _JULIAN, "times"),
        _all_times("0000-12-30 00:00:00.000000"),
        "read",
    ),
    Fault("c_date", "0044-03-15 BC", _ERA, "times", _dates(-703383, "0044-03-15Z"), "read"),
    Fault(
        *("c_timestamp", "0044-03-15 12:00:00 BC", _JULIAN, "times"),
        _moments(-63517953600000000, "-0043-03-13T12:00:00Z"),
        "read",
    ),
    _streamed_nanoseconds("c_timestamp", "0044-03-15 12:00:00 BC", -63517780800000000),
    Fault(
        *("c_timestamptz", "0044-03-15 12:00:00+00 BC", _JULIAN, "times"),
        _all_times("-0043-03-13 12:00:00.000000"),
        "read",
    ),
    Fault(
        *("c_timestamp", "1582-10-10 00:00:00", _JULIAN, "times"),
        _moments(-12218860800000000, "1582-10-20T00:00:00Z"),
        "read",
    ),
    _streamed_nanoseconds("c_timestamp", "1582-10-10 00:00:00", -12219724800000000),
    _nanoseconds("c_timestamp", "9999-12-31 23:59:59.999999", 253402300799999999),
    _nanoseconds("c_timestamp_0", "9999-12-31 23:59:59", 253402300799000000),
    _nanoseconds("c_timestamp_3", "9999-12-31 23:59:59.999", 253402300799999000),
    _nanoseconds("c_timestamp", "294276-12-31 23:59:59.999999", 9224318015999999999),
    Fault(
        *("c_timestamp", "294276-12-31 23:59:59.999999", _OVERFLOW, "times"),
        dict.fromkeys(
            ("adaptive", "adaptive_time_microseconds", "microseconds"), -9223372036853775810
        ),
    ),
    Fault(
        *("c_timestamp", "infinity", _INFINITE, "times"),
        _moments(9223372036825200000, "+294247-01-10T04:00:25.2Z"),
    ),
    Fault(
        *("c_timestamp", "-infinity", _INFINITE, "times"),
        _moments(-9223372036832400000, "-290308-12-21T19:59:27.6Z"),
    ),
    Fault(
        *("c_date", "infinity", _INFINITE, "times"),
        _dates(-2147472692, "-5877611-06-21Z"),
        "streamed",
    ),
    Fault(
        *("c_date", "-infinity", _INFINITE, "times"),
        _dates(-2147472691, "-5877611-06-22Z"),
        "streamed",
    ),
    Fault(
        *("c_date", "infinity", _INFINITE, "times"), _dates(-622191234, "+292278994-08-16Z"), "read"
    ),
    Fault(
        *("c_date", "-infinity", _INFINITE, "times"),
        _dates(-625821272, "+292269055-12-02Z"),
        "read",
    ),
)


def known_fault(
    column: str, text: str | None, is_read: bool, modes: Modes, version: str
) -> Fault | None:
    """Return the fault that a version of Debezium has with a value, if there is one."""
    has_mended = version.startswith("3.6.")
    found = (fault for fault in FAULTS if fault.fits(column, text, is_read, modes))
    return next((each for each in found if not (has_mended and each.reason in MENDED)), None)
