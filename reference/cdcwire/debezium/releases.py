"""Changes of Debezium's releases in the values of rows, and in the events that are sent.

Source: debezium-json, "Limits of values"; the connectors' code and messages of 1.9.8, 2.7.4 and
3.6.1. Types that a release changed need no entry: their values are compared in a common type.
"""

from __future__ import annotations

import re

from cdcwire.core.orders import BINLOG, CHANGE_LSN, GTID
from cdcwire.core.releases import ReleaseChange, Shown
from cdcwire.model.kinds import UNAVAILABLE

_BINLOGS = frozenset({BINLOG.name, GTID.name})
_NEGATIVE_TIME = re.compile(r"-([0-9]{1,3}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,6}))?", re.ASCII)
_HOUR, _SIX_BITS, _TEN_BITS = 12, 0x3F, 0x3FF
_LARGEST_INT = 2**31 - 1  # of Java: more nanoseconds become this
# Of a fraction in 1, 2 or 3 bytes: the microseconds of one unit, and the bits that are read.
_FRACTIONS = ((10_000, 8), (100, 15), (1, 20))


def _explains_negative_time(kind: str, before: Shown, after: Shown) -> bool:
    if kind != "time" or not isinstance(before, str) or not isinstance(after, str):
        return False
    wrong, right = map(_NEGATIVE_TIME.fullmatch, (before, after))
    if wrong is None or right is None:
        return False
    (*own, own_fraction), (hours, minutes, seconds, fraction) = map(_parts, (wrong, right))
    packed = hours << _HOUR | minutes << 6 | seconds
    return _micros(*own) + own_fraction in _read_wrongly(packed, fraction)


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
    # MySQL's first TIMESTAMP is one second later, so this one is a zero.
    return kind.startswith("timestamp") and before == "1970-01-01 00:00:00" and after is None


def _explains_placeholder(kind: str, before: Shown, after: Shown) -> bool:
    return kind.startswith(("text", "bytes")) and before is None and after is UNAVAILABLE


RELEASES = (
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
        (3, 6),
        "zero TIMESTAMP, 1970 before Debezium 3.6 and NULL since then",
        _BINLOGS,
        _explains_zero_timestamp,
    ),
    ReleaseChange(
        (3, 6),
        "column of type max that did not change, NULL before Debezium 3.6 and not sent since then",
        frozenset({CHANGE_LSN.name}),
        _explains_placeholder,
    ),
)
