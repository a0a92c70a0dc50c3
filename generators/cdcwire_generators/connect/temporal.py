"""Columns of dates and times after a round trip, as CDL and Debezium write them."""

from __future__ import annotations

from cdcwire.model import kinds
from cdcwire.model.kinds import Value
from cdcwire_generators.connect.times import (
    CONNECT_PREFIX,
    DAY,
    TIME_PREFIX,
    UTC,
    Conversion,
    Modes,
    cdl_text,
    count_of,
    days,
    instant_text,
    iso_text,
    moment_text,
    text_value,
    within,
    zoned_time_text,
)
from cdcwire_generators.round_trip import NotCarriedError

# Modes in which dates and times keep the names that they came by; the others have one form for all.
_KEEPING = ("adaptive", "adaptive_time_microseconds")
_ONE_UNIT: dict[str, kinds.TemporalForm] = {"microseconds": "us", "nanoseconds": "ns"}
_ISO: dict[type[kinds.Type], str] = {
    kinds.DateType: "IsoDate",
    kinds.TimeType: "IsoTime",
    kinds.DatetimeType: "IsoTimestamp",
}


def temporal(
    kind: kinds.DateType | kinds.TimeType | kinds.DatetimeType | kinds.TimestampType,
    name: str | None,
    modes: Modes,
) -> Conversion:
    """Return what becomes of a column of this kind and type name. Raises: NotCarriedError."""
    if isinstance(kind, kinds.TimestampType):
        return _instant(kind, name)
    if isinstance(kind, kinds.TimeType) and kind.zone is not None:
        return Conversion(
            kinds.TimeType(form="text", zone=UTC),
            f"{TIME_PREFIX}ZonedTime",
            lambda value: zoned_time_text(kind, value),
        )
    text = _iso(kind, name, modes)
    if text is not None:
        return text
    if isinstance(kind, kinds.TimeType):
        return _time(kind, name, modes)
    if isinstance(kind, kinds.DatetimeType):
        return _moment(kind, name, modes)
    of_connect = modes.producer != "debezium" or modes.times == "connect"
    kept = name if modes.times in _KEEPING and kind.form == "d" else None
    source = kept or f"{CONNECT_PREFIX if of_connect else TIME_PREFIX}Date"
    return Conversion(kinds.DateType("d"), source, lambda value: days(kind, value))


def _instant(kind: kinds.TimestampType, name: str | None) -> Conversion:
    if kind.zone is None:
        return Conversion(kinds.TextType(), "string", lambda value: moment_text(kind, value))
    result = kinds.TimestampType(form="text", zone=UTC)
    return Conversion(
        result, f"{TIME_PREFIX}ZonedTimestamp", lambda value: instant_text(kind, value)
    )


def _iso(
    kind: kinds.DateType | kinds.TimeType | kinds.DatetimeType, name: str | None, modes: Modes
) -> Conversion | None:
    """Return what becomes of a column that is sent as ISO 8601; None if it is sent as a count."""
    result = type(kind)()
    source = f"{TIME_PREFIX}{_ISO[type(kind)]}"
    is_own = modes.producer == "debezium" or not isinstance(kind, kinds.DatetimeType)
    if (kind, name) == (result, source) and is_own and modes.times in (*_KEEPING, "isostring"):
        return Conversion(result, source, text_value)
    if modes.producer != "debezium" or modes.times != "isostring":
        return None
    return Conversion(result, source, lambda value: iso_text(kind, value))


def _time(kind: kinds.TimeType, name: str | None, modes: Modes) -> Conversion:
    unit: kinds.TemporalForm = "us" if kind.form == "text" else kind.form
    is_connects = name is None if modes.producer != "debezium" else modes.times == "connect"
    if modes.producer == "debezium" and modes.times == "connect":
        unit = "ms"
    elif modes.times == "adaptive_time_microseconds" and unit == "ms":
        unit = "us"
    unit = _ONE_UNIT.get(modes.times, unit)
    names = {"ms": "Time", "us": "MicroTime", "ns": "NanoTime"}
    of_day = unit == "ms" and (is_connects or name == f"{CONNECT_PREFIX}Time")
    source = f"{CONNECT_PREFIX if of_day else TIME_PREFIX}{names[unit]}"

    def count(value: Value) -> int:
        found = count_of(kind, value, unit)
        if of_day and not 0 <= found <= DAY * 1000:
            raise NotCarriedError("time")
        return within(found, 32 if unit == "ms" else 64, "time")

    return Conversion(kinds.TimeType(form=unit), source, count)


def _moment(kind: kinds.DatetimeType, name: str | None, modes: Modes) -> Conversion:
    if modes.producer == "cdl 2.0":
        source = f"{modes.prefix}.cdc.data.timestamp"
        return Conversion(kinds.DatetimeType(), source, lambda value: cdl_text(kind, value))
    if modes.producer == "cdl 1.0" or modes.times == "connect":
        unit: kinds.TemporalForm = "ms"
        source = f"{CONNECT_PREFIX}Timestamp"
    else:
        is_short = kind.form == "ms" or kind.fraction in (0, 1, 2, 3)
        unit = "ms" if is_short else "ns" if kind.form == "ns" else "us"
        unit = _ONE_UNIT.get(modes.times, unit)
        names = {"ms": "Timestamp", "us": "MicroTimestamp", "ns": "NanoTimestamp"}
        is_connect = name == f"{CONNECT_PREFIX}Timestamp" and kind.form == unit == "ms"
        source = f"{CONNECT_PREFIX if is_connect else TIME_PREFIX}{names[unit]}"
    result = kinds.DatetimeType(form=unit)
    return Conversion(
        result, source, lambda value: within(count_of(kind, value, unit), 64, "datetime")
    )
