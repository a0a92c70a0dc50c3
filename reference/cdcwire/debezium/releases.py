"""Changes of Debezium's releases in the values of rows, and in the events that are sent.

Source: debezium-json, "Limits of values"; the connectors' code at the tags of the releases.
Messages of 1.9.8, 2.7.4, 3.2.0 and 3.6.1 were read too. Types that a release changed need no
entry: their values are compared in a common type. A NULL that a release mended has none either,
since it would hide a value that was lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import wraps

from cdcwire.core.comparing import Explains, ReleaseChange, Shown
from cdcwire.core.orders import BINLOG, CHANGE_LSN, GTID, LSN, RS_ID, SCN
from cdcwire.model.kinds import UNAVAILABLE

_BINLOGS = frozenset({BINLOG.name, GTID.name})
_POSTGRESQL = frozenset({LSN.name})
_ALL = _BINLOGS | _POSTGRESQL | {CHANGE_LSN.name, RS_ID.name, SCN.name}
_NEGATIVE_TIME = re.compile(r"-([0-9]{1,3}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,6}))?", re.ASCII)
_HOUR, _SIX_BITS, _TEN_BITS = 12, 0x3F, 0x3FF
_LARGEST_INT = 2**31 - 1  # of Java: more nanoseconds become this
# Of a fraction in 1, 2 or 3 bytes: the microseconds of one unit, and the bits that are read.
_FRACTIONS = ((10_000, 8), (100, 15), (1, 20))


def _of_texts(explains: Callable[[str, str, str], bool]) -> Explains:
    """Return the function that explains two texts, and no NULL or missing value."""

    @wraps(explains)
    def explains_texts(kind: str, before: Shown, after: Shown) -> bool:
        return isinstance(before, str) and isinstance(after, str) and explains(kind, before, after)

    return explains_texts


@_of_texts
def _explains_negative_time(kind: str, before: str, after: str) -> bool:
    if kind != "time":
        return False
    wrong, right = map(_NEGATIVE_TIME.fullmatch, (before, after))
    if wrong is None or right is None:
        return False
    (*own, own_fraction), (hours, minutes, seconds, fraction) = map(_parts, (wrong, right))
    packed = hours << _HOUR | minutes << 6 | seconds
    return _micros(*own) + own_fraction in _read_wrongly(packed, fraction)


@_of_texts
def _explains_lost_sign(kind: str, before: str, after: str) -> bool:
    # A snapshot has a text, whose hours were read as a number: -00 is 0.
    return kind == "time" and before[:3] == "00:" and after == f"-{before}"


def _parts(time: re.Match[str]) -> tuple[int, int, int, int]:
    return int(time[1]), int(time[2]), int(time[3]), int((time[4] or "").ljust(6, "0"))


def _read_wrongly(packed: int, fraction: int) -> set[int]:
    """Return the microseconds that were read of a negative TIME, by the digits of its column.

    A binlog has the two's complement of the whole value. Its parts were complemented one by one.
    """
    found: set[int] = set()
    if not fraction:
        found.add(_complemented(-packed, 0))
    for unit, bits in _FRACTIONS:
        number, rest = divmod(fraction, unit)
        if not rest:
            nanos = ((number - 1) % (1 << bits) + 1) * unit * 1000
            found.add(_complemented(-packed - bool(number), min(nanos, _LARGEST_INT)))
    return found


def _complemented(stored: int, nanos: int) -> int:
    hours = ~(stored >> _HOUR) & _TEN_BITS
    minutes, seconds = ~(stored >> 6) & _SIX_BITS, ~stored & _SIX_BITS
    if not nanos and seconds < 59:
        seconds += 1
    return _micros(hours, minutes, seconds) + nanos // 1000


def _micros(hours: int, minutes: int, seconds: int) -> int:
    return (hours * 3600 + minutes * 60 + seconds) * 1_000_000


def _explains_zero_timestamp(kind: str, before: Shown, after: Shown) -> bool:
    return _is_zero_timestamp(kind, before) and after is None


def _explains_default_of_zero(kind: str, before: Shown, after: Shown) -> bool:
    return _is_zero_timestamp(kind, before) and isinstance(after, str)


def _is_zero_timestamp(kind: str, value: Shown) -> bool:
    # MySQL's first TIMESTAMP is one second later, so this one is a zero.
    return kind.startswith("timestamp") and value == "1970-01-01 00:00:00"


def _explains_placeholder(kind: str, before: Shown, after: Shown) -> bool:
    return kind.startswith(("text", "bytes")) and before is None and after is UNAVAILABLE


# Infinity, whose microseconds wrapped in nanoseconds.
_INFINITIES = {
    ("1969-12-31 23:59:30.424192", "infinity"),
    ("1970-01-01 00:00:22.375808", "-infinity"),
}


def _explains_infinity(kind: str, before: Shown, after: Shown) -> bool:
    return kind.startswith("datetime") and (before, after) in _INFINITIES


_MOMENT = re.compile(r"([+-]?[0-9]{4,6})-([0-9]{2})-([0-9]{2}) (.*)", re.ASCII)
_TODAYS = -32045  # in the formula of the day number: the centuries that have no leap day
_JULIAN = -32083


@_of_texts
def _explains_julian_date(kind: str, before: str, after: str) -> bool:
    if not kind.startswith(("datetime", "timestamp")):
        return False
    wrong, right = map(_MOMENT.fullmatch, (before, after))
    if wrong is None or right is None or wrong[4] != right[4]:
        return False
    sent, kept = _date_of(wrong), _date_of(right)
    return kept < (1582, 10, 15) and _day_of(sent, _TODAYS) == _day_of(kept, _JULIAN)


def _date_of(moment: re.Match[str]) -> tuple[int, int, int]:
    return int(moment[1]), int(moment[2]), int(moment[3])


def _day_of(date: tuple[int, int, int], calendar: int) -> int:
    """Return the Julian day number of a date in one of the two calendars."""
    year, month, day = date
    years, months = divmod(year * 12 + month + 57597, 12)  # from March of 4801 BC
    leap_days = years // 4 + (years // 400 - years // 100 if calendar == _TODAYS else 0)
    return day + (153 * months + 2) // 5 + 365 * years + leap_days + calendar


@_of_texts
def _explains_money(kind: str, before: str, after: str) -> bool:
    if not kind.startswith("decimal"):
        return False
    exact = Decimal(after)
    if abs(exact) < 2**53 / 100 or not exact.is_finite():
        return False
    return Decimal(before) == Decimal(repr(float(exact))).quantize(exact)


@_of_texts
def _explains_wrapped_integer(kind: str, before: str, after: str) -> bool:
    return kind.startswith("int") and int(before) < 0 and int(before) + 2**32 == int(after)


_EXPONENT = re.compile(r"-?[0-9](?:\.[0-9]+)?E-[0-9]{1,3}", re.ASCII)


@_of_texts
def _explains_exponent(kind: str, before: str, after: str) -> bool:
    is_other = kind.startswith("text") and _EXPONENT.fullmatch(before) is not None
    return is_other and f"{Decimal(before):f}" == after


_ESCAPED = re.compile(r"\\([,\\])")


@_of_texts
def _explains_label(kind: str, before: str, after: str) -> bool:
    if not kind.startswith(("enum", "set", "text")):
        return False
    escaped = after.replace(",", "\\,")  # as rows of the log had it
    return before in (escaped, _ESCAPED.sub(r"\1", escaped))


RELEASES = (
    ReleaseChange(
        (1, 9),
        "small decimal as text, with an exponent before Debezium 1.9",
        _ALL,
        _explains_exponent,
    ),
    ReleaseChange(
        (2, 1), "no TRUNCATE was sent before Debezium 2.1", _BINLOGS, sends_truncates=True
    ),
    ReleaseChange(
        (2, 5, 3),
        "negative TIME, read wrongly before Debezium 2.5.3",
        _BINLOGS,
        _explains_negative_time,
    ),
    ReleaseChange(
        (2, 5, 3),
        "negative TIME of less than an hour, without its sign in snapshots before Debezium 2.5.3",
        _BINLOGS,
        _explains_lost_sign,
    ),
    ReleaseChange(
        (3, 6),
        "zero TIMESTAMP, 1970 before Debezium 3.6 and NULL since then",
        _BINLOGS,
        _explains_zero_timestamp,
    ),
    ReleaseChange(
        (3, 6),
        "zero TIMESTAMP, 1970 before Debezium 3.6 and the default of its column since then",
        _BINLOGS,
        _explains_default_of_zero,
    ),
    ReleaseChange(
        (3, 6),
        "column of type max that did not change, NULL before Debezium 3.6 and not sent since then",
        frozenset({CHANGE_LSN.name}),
        _explains_placeholder,
    ),
    ReleaseChange(
        (3, 6),
        "infinity in nanoseconds, another time before Debezium 3.6",
        _POSTGRESQL,
        _explains_infinity,
    ),
    ReleaseChange(
        (3, 6),
        "time before 1582, of the Julian calendar in snapshots before Debezium 3.6",
        _POSTGRESQL,
        _explains_julian_date,
    ),
    ReleaseChange(
        (3, 6),
        "money of 16 digits or more, through a double in snapshots before Debezium 3.6",
        _POSTGRESQL,
        _explains_money,
    ),
    ReleaseChange(
        (3, 6, 1),
        "INTEGER UNSIGNED from 2^31 on, negative before Debezium 3.6.1",
        _BINLOGS,
        _explains_wrapped_integer,
    ),
    ReleaseChange(
        (3, 7),
        "label with a comma or a backslash, escaped otherwise before Debezium 3.7",
        _BINLOGS,
        _explains_label,
    ),
)
