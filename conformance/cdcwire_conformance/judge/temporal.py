"""Dates and times: text as sent, or a count; either is compared with either.

Two texts have to agree as they are, number of fraction digits included. A count is compared by
the moment that it names. An instant or time of known zone may have any offset. An instant
whose zone the message does not say must not be given one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias, get_args

from cdcwire.model.instants import utc_text, utc_time_text
from cdcwire.model.kinds import DatetimeType, DateType, TemporalForm, TimestampType, TimeType
from cdcwire.model.temporal import count_text
from cdcwire.model.text import Json
from cdcwire.model.text.members import INTEGER

TemporalType: TypeAlias = "DateType | TimeType | DatetimeType | TimestampType"

_INFINITIES = ("infinity", "-infinity")  # in no zone
_NANOSECONDS = {"d": 86400 * 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def temporal_mismatch(
    kind: TemporalType,
    expected: Mapping[str, Json],
    given: Mapping[str, Json],
    *,
    zone_needed: bool,
    digits_needed: bool,
) -> str | None:
    """Return None if both name the same; else a hint, which may be empty.

    ``digits_needed``: two texts have the same number of fraction digits.
    """
    form, given_form = expected.get("unit", "text"), given.get("unit", "text")
    if given_form not in get_args(TemporalForm) or given.get("unit") == "text":
        return "the unit is one of d, ms, us, ns"
    if given_form == "d" and not isinstance(kind, DateType):
        return "only dates are counted in days"
    text, given_text = expected["value"], given.get("value")
    if not isinstance(given_text, str):
        return "the value is text, or a count in digits with its unit"
    if given_form != "text" and not INTEGER.fullmatch(given_text):
        return "a count is an integer in decimal digits"
    zone, given_zone = expected.get("zone"), given.get("zone")
    if given_zone is not None and not isinstance(given_zone, str):
        return "the zone is text"
    if given_form == "text":
        if zone is None and given_zone is not None and form == "text":
            return "the message does not say the zone"
        if zone is not None and given_zone is None and zone_needed and text not in _INFINITIES:
            return "the zone is missing; the message says it"
    is_zoned = isinstance(kind, (TimeType, TimestampType)) and zone is not None
    if form == given_form == "text":
        if text == given_text and given_zone in (None, zone):
            return None  # also what is not an instant of the calendar, as a zero date
        if not is_zoned:
            return _texts_mismatch(text, given_text, digits_needed=digits_needed)
    if form != "text" and given_form != "text":
        same = int(text) * _NANOSECONDS[form] == int(given_text) * _NANOSECONDS[given_form]
        return None if same else ""
    if form != "text" and given_form == "text" and text == given_text:
        return f'a count names its unit: "unit":"{form}"'
    try:
        left = _common_text(kind, text, form, zone)
        right = _common_text(kind, given_text, given_form, given_zone or zone)
    except ValueError as error:
        return str(error)
    if form == given_form == "text":
        return _texts_mismatch(left, right, digits_needed=digits_needed)
    same = _without_end_zeros(left) == _without_end_zeros(right)
    return None if same else f"in one form: {left} and {right}"


def _common_text(kind: TemporalType, value: str, form: TemporalForm, zone: str | None) -> str:
    """Return the value as text, in UTC if its zone is known.

    Raises: ValueError when it has no such text.
    """
    if isinstance(kind, TimeType) and zone is not None and form == "text":
        return str(utc_time_text(replace(kind, zone=zone), value))
    if isinstance(kind, TimestampType) and zone is not None:
        known = replace(kind, form=form, zone=zone, fraction=None)
        return utc_text(known, value if form == "text" else int(value))
    if form != "text":
        return count_text(_with(kind, form), int(value))
    return value


def _with(kind: TemporalType, form: TemporalForm) -> TemporalType:
    changed = replace(kind, form=form)
    return changed if isinstance(changed, DateType) else replace(changed, fraction=None)


def _without_end_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _texts_mismatch(expected: str, given: str, *, digits_needed: bool) -> str | None:
    """Return None for the same text, or for the same fraction where its digits do not count."""
    if expected == given:
        return None
    if _without_end_zeros(expected) != _without_end_zeros(given):
        return ""
    if not digits_needed:
        return None
    return "the fraction is answered with as many digits as were sent"
