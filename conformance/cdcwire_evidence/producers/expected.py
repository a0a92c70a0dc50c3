"""The value of a column in a message, worked out from MariaDB's own text of it.

Nothing here knows a codec: a date is counted from its text, a decimal is its digits.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal

from cdcwire.model.kinds import Value
from cdcwire_evidence.debezium.expected import sent_bytes

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  (a DATETIME has no zone)
_MICROSECONDS = 10**6
_BYTES = ("binary", "varbinary", "blob")


def expected_value(declared: str, text: str | None, modes: Mapping[str, str]) -> Value:
    """Return the model's value of a column that was declared so and has this text.

    ``modes``: Debezium's settings by their names.
    """
    if text is None:
        return None
    base, digits = _base_and_digits(declared)
    times = modes["time.precision.mode"]
    match base:
        case "bigint" if "unsigned" in declared:
            number = int(text)
            is_wrapped = modes["bigint.unsigned.handling.mode"] == "long" and number >= 2**63
            return number - 2**64 if is_wrapped else number
        case "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "year":
            return int(text)
        case "float":
            (found,) = struct.unpack("<f", struct.pack("<f", float(text)))
            return float(found)
        case "double":
            return float(text)
        case "decimal":
            return float(text) if modes["decimal.handling.mode"] == "double" else text
        case "bit":
            return text == "1" if digits == 1 else int(text, 16)
        case "date":
            return f"{text}Z" if times == "isostring" else _days(text)
        case "time":
            return _in_unit(_microseconds_of_time(text), times, "us")
        case "datetime":
            return _in_unit(_microseconds_of(text), times, "us" if digits > 3 else "ms")
        case _ if base in _BYTES:
            return sent_bytes(bytes.fromhex(text), modes["binary.handling.mode"])
        case _:
            return text


def same_value(declared: str, expected: Value, found: Value) -> bool:
    """Return whether a message has what was expected; times as text by what they mean."""
    if expected is None or found is None:
        return expected is None and found is None
    base, _ = _base_and_digits(declared)
    if base == "decimal" and not isinstance(expected, float):
        return bool(format(found, "" if isinstance(found, str) else "f") == expected)
    if base == "time" and isinstance(found, str):
        return bool(_microseconds_of_time(found.removesuffix("Z")) == expected)
    if base in ("datetime", "timestamp") and isinstance(found, str):
        wanted = _microseconds_of(expected) if isinstance(expected, str) else expected
        return _microseconds_of(found.removesuffix("Z").replace("T", " ")) == wanted
    if isinstance(found, Decimal) and type(expected) is int:  # a BIGINT UNSIGNED, precise
        return bool(found == expected)
    return type(found) is type(expected) and bool(found == expected)


def _base_and_digits(declared: str) -> tuple[str, int]:
    """Return the name of a type, and the first number in its parentheses."""
    name, _, rest = declared.partition("(")
    digits = rest.partition(")")[0].partition(",")[0]
    return name.split()[0], int(digits) if digits.isdigit() else 0


def _days(text: str) -> int:
    return date.fromisoformat(text).toordinal() - date(1970, 1, 1).toordinal()


def _microseconds_of_time(text: str) -> int:
    hours, minutes, seconds = text.removeprefix("-").split(":")
    whole, _, fraction = seconds.partition(".")
    total = (int(hours) * 60 + int(minutes)) * 60 + int(whole)
    found = total * _MICROSECONDS + int(fraction.ljust(6, "0"))
    return -found if text.startswith("-") else found


def _microseconds_of(text: str) -> int:
    moment, _, fraction = text.partition(".")
    passed = datetime.fromisoformat(moment) - _EPOCH
    return (passed.days * 86_400 + passed.seconds) * _MICROSECONDS + int(fraction.ljust(6, "0"))


def _in_unit(microseconds: int, times: str, adaptive: str) -> int:
    """Return a count in the unit of the mode; of a text the microseconds that it means."""
    in_milliseconds = times == "connect" or (
        times == "adaptive_time_microseconds" and adaptive == "ms"
    )
    return microseconds // 1000 if in_milliseconds else microseconds
