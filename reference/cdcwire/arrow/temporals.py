"""Columns of dates and times: MySQL's text in one form, or native Arrow types.

As text, a fraction loses its zeros at the end, so that ``10:00:00.500`` and ``10:00:00.5`` are one
value. ISO 8601's ``T`` and ``Z`` go from values without a zone, as Debezium's ``isostring`` writes
them; all else stays as sent. Native types are exact or refused. These values raise an error: a
zero date, the year 0 (which Spark does not give to Python), 30 February. Fractions of more than six
digits also raise an error. So does an hour beyond the day where the type has none.

A count, and an instant of a known zone, has the model's text: with a sign before years that
have not four digits, or ``infinity``. A zero TIMESTAMP is the same in all zones, as MySQL shows it.
An hour that a zone has twice is read as the first of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from types import NoneType
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cdcwire.arrow.building import offsets_of
from cdcwire.arrow.types import UTC_NAMES
from cdcwire.model.instants import utc_text
from cdcwire.model.kinds import DatetimeType, DateType, TemporalForm, TimestampType, TimeType
from cdcwire.model.temporal import INFINITE_DAYS, extended_text, temporal_text

TemporalType: TypeAlias = DateType | TimeType | DatetimeType | TimestampType
Text: TypeAlias = Callable[[Any], str]

_ENDS_WITH_ZERO = r":[0-9]{2}\.[0-9]*0$|:[0-9]{2}\.$"
_ZERO = "0000-00-00 00:00:00"
_YEAR = r"([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"  # from 1 on
_DATE = rf"^{_YEAR}-[0-9]{{2}}-[0-9]{{2}}$"
_DATETIME = rf"^{_YEAR}-[0-9]{{2}}-[0-9]{{2}} [0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(\.[0-9]{{1,6}})?$"
_TIME = (
    r"^(?P<sign>-?)(?P<hours>[0-9]{1,4}):(?P<minutes>[0-5][0-9]):(?P<seconds>[0-5][0-9])"
    r"(?:\.(?P<fraction>[0-9]{1,6}))?$"
)
_PLAIN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2} ([01][0-9]|2[0-3])(:[0-5][0-9]){2}(\.[0-9]{1,9})?$"
_HAS_ZONE = re.compile(r":[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$")
_LOCAL_ISO = ((r"^([^T]+)T([^TZ]+)Z$", r"\1 \2"), (r"^([^TZ]+)Z$", r"\1"))
_DAY_US = 86_400_000_000
_ISO_UTC = rf"^{_YEAR}-[0-9]{{2}}-[0-9]{{2}}T[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(\.[0-9]{{1,6}})?Z$"
_YEARS = {  # the first and the last count of the years 1 to 9999
    "ms": (-62_135_596_800_000, 253_402_300_799_999),
    "us": (-62_135_596_800_000_000, 253_402_300_799_999_999),
}
_POINT, _DIGIT_ZERO = b".0"


def text_converter(wire: TemporalType, canonical: TemporalType, time_zone: str) -> Text | None:
    """Return what gives a wire value's text; None where the value is that text already.

    ``time_zone``: where a text of unknown zone is read, if the canonical kind has one.
    """
    zone = wire.zone if isinstance(wire, TimestampType) else None
    is_instant = isinstance(canonical, TimestampType) and canonical.zone is not None
    if wire.form == "text" and (not is_instant or (zone or time_zone) in UTC_NAMES):
        return None
    convert = _utc_converter(wire.form, zone, time_zone) if is_instant else _converter(wire)
    # Feeds repeat instants: those of one transaction are the same.
    return lru_cache(maxsize=4096)(convert)


def _utc_converter(form: TemporalForm, zone: str | None, time_zone: str) -> Text:
    """Return what gives an instant's text in UTC. ``zone``: of the value; None: ``time_zone``."""
    kind = TimestampType(None, form, zone)
    local, local_text = DatetimeType(None, form), TimestampType(None, "text", time_zone)

    def convert(value: Any) -> str:
        if isinstance(value, str) and value.startswith(_ZERO):
            return value
        if zone is not None:
            return utc_text(kind, value)
        return utc_text(local_text, extended_text(local, value) if form != "text" else value)

    return convert


def _converter(wire: TemporalType) -> Text:
    if isinstance(wire, TimeType):
        kind: TemporalType = TimeType(None, wire.form)
    else:
        kind = type(wire)(form=wire.form)

    def convert(value: Any) -> str:
        if kind.form != "text" and type(value) is int:
            return extended_text(kind, value)
        text = temporal_text(kind, value, None)
        if text is None:
            raise ValueError(f"{value!r:.40} is not a date or time")
        return text

    return convert


def column_maker(canonical: TemporalType, target: pa.DataType) -> Callable[[pa.Array], pa.Array]:
    """Return what makes a column of texts. Raises, when called: ValueError for a native type."""
    is_local = isinstance(canonical, (DateType, DatetimeType)) or (
        isinstance(canonical, TimeType) and canonical.zone is None
    )

    def column(texts: pa.Array) -> pa.Array:
        local = _without_iso_signs(texts) if is_local else texts
        return cut_fractions(local) if pa.types.is_string(target) else native_array(local, target)

    return column


def _without_iso_signs(texts: pa.Array) -> pa.Array:
    if not pc.any(pc.ends_with(texts, "Z")).as_py():
        return texts
    for pattern, replacement in _LOCAL_ISO:
        texts = pc.replace_substring_regex(texts, pattern, replacement)
    places = pc.index_in(texts, pa.array(list(INFINITE_DAYS)))
    return pc.coalesce(pa.array(list(INFINITE_DAYS.values())).take(places), texts)


def cut_fractions(texts: pa.Array) -> pa.Array:
    """Return texts without zeros at the end of a fraction."""
    candidates = _fraction_ends(texts)
    if not len(candidates):
        return texts
    found = texts.take(pa.array(candidates))
    is_cut = pc.match_substring_regex(found, _ENDS_WITH_ZERO)
    if not pc.any(is_cut).as_py():
        return texts
    cut = pc.if_else(is_cut, pc.utf8_rtrim(pc.utf8_rtrim(found, "0"), "."), found)
    is_candidate = np.zeros(len(texts), np.bool_)
    is_candidate[candidates] = True
    return pc.replace_with_mask(texts, pa.array(is_candidate), cut)


def _fraction_ends(texts: pa.Array) -> Any:
    """Return the indexes of all texts whose fraction may end with zeros, and maybe of others."""
    data = texts.buffers()[2]
    if data is None or not data.size or not len(texts):
        return np.zeros(0, np.int64)
    borders = offsets_of(texts)
    signs = np.frombuffer(data, np.uint8)
    if not (signs[borders[0] : borders[-1]] == _POINT).any():
        return np.zeros(0, np.int64)
    last = signs[np.maximum(borders[1:], 1) - 1]
    return np.flatnonzero((last == _DIGIT_ZERO) | (last == _POINT))


def free_texts(values: Sequence[Any], *, canonical: TemporalType, time_zone: str) -> pa.Array:
    """Return texts of no stated type as a date or time has them.

    An instant with its zone becomes its text in UTC. One without a zone is read in ``time_zone`` if
    the canonical kind is an instant in UTC. Any other text stays as it is. Raises: TypeError.
    """
    texts = pa.array(values, pa.string())
    if not isinstance(canonical, TimestampType):
        return cut_fractions(texts)
    is_read_as_sent = canonical.zone is None or time_zone in UTC_NAMES
    if is_read_as_sent and pc.all(pc.match_substring_regex(texts, _PLAIN)).as_py():
        return cut_fractions(texts)
    kind = TimestampType(None, "text", time_zone)

    @lru_cache(maxsize=4096)
    def convert(value: str) -> str:
        if canonical.zone is None and not _HAS_ZONE.search(value):
            return value
        try:
            return utc_text(kind, value)
        except ValueError:
            return value

    return cut_fractions(texts_of(values, convert))


def native_array(texts: pa.Array, target: pa.DataType) -> pa.Array:
    """Return texts as dates, durations, times of day or timestamps. Raises: ValueError."""
    if pa.types.is_duration(target) or pa.types.is_time(target):
        return _times(texts, target)
    _expect(texts, _DATE if pa.types.is_date(target) else _DATETIME, target)
    return texts.cast(pa.timestamp("us")).cast(target) if _has_zone(target) else texts.cast(target)


def _has_zone(target: pa.DataType) -> bool:
    return pa.types.is_timestamp(target) and target.tz is not None


def _expect(texts: pa.Array, pattern: str, target: pa.DataType) -> None:
    if pc.all(pc.match_substring_regex(texts, pattern)).as_py() is False:
        raise ValueError(f"a text is not a valid {target}")


def _times(texts: pa.Array, target: pa.DataType) -> pa.Array:
    _expect(texts, _TIME, target)
    parts = pc.extract_regex(texts, _TIME)
    total = pc.multiply(_number(parts, "hours"), 3600)
    total = pc.add(total, pc.multiply(_number(parts, "minutes"), 60))
    total = pc.multiply(pc.add(total, _number(parts, "seconds")), 1_000_000)
    fraction = pc.utf8_rpad(pc.struct_field(parts, "fraction"), 6, "0")
    total = pc.add(total, fraction.cast(pa.int64()))
    is_minus = pc.equal(pc.struct_field(parts, "sign"), "-")
    total = pc.if_else(is_minus, pc.negate(total), total)
    if pa.types.is_time(target):
        if pc.any(pc.or_(pc.less(total, 0), pc.greater_equal(total, _DAY_US))).as_py():
            raise ValueError("a TIME below 0 or from 24 hours on is not a time of day")
        return total.cast(pa.time64("us")).cast(target)
    return total.cast(target)


def _number(parts: pa.Array, name: str) -> pa.Array:
    return pc.struct_field(parts, name).cast(pa.int64())


def texts_maker(
    wire: TemporalType, canonical: TemporalType, time_zone: str
) -> Callable[[Sequence[Any]], pa.Array]:
    """Return what makes the texts of wire values, as ``text_converter`` gives them.

    Raises, when called: ValueError, TypeError.
    """
    convert = text_converter(wire, canonical, time_zone)
    read = None if convert is None else _column_reader(wire, canonical)

    def texts(values: Sequence[Any]) -> pa.Array:
        moments = None if read is None else read(values)
        if moments is None:
            return texts_of(values, convert)
        return cut_fractions(moments.cast(pa.timestamp(moments.type.unit)).cast(pa.string()))

    return texts


def _column_reader(
    wire: TemporalType, canonical: TemporalType
) -> Callable[[Sequence[Any]], pa.Array | None] | None:
    """Return what reads values as timestamps in UTC; None if each has to be converted by itself.

    The function returns None where a value is not an ordinary one.
    """
    if not isinstance(wire, (DatetimeType, TimestampType)):
        return None
    is_instant = isinstance(canonical, TimestampType) and canonical.zone is not None
    if wire.form == "text":
        return _moments_of_texts if is_instant else None
    is_local = isinstance(wire, DatetimeType) or wire.zone is None
    if wire.form not in _YEARS or (is_instant and is_local):
        return None  # an infinity in ns is the count of an ordinary day
    return partial(_moments_of_counts, unit=wire.form)


def _moments_of_counts(values: Sequence[Any], *, unit: str) -> pa.Array | None:
    if not set(map(type, values)) <= {int, NoneType}:
        return None
    try:
        counts = pa.array(values, pa.int64())
    except OverflowError:
        return None
    first, last = _YEARS[unit]
    found = pc.min_max(counts)
    if found["min"].is_valid and not first <= found["min"].as_py() <= found["max"].as_py() <= last:
        return None
    return counts.cast(pa.timestamp(unit))


def _moments_of_texts(values: Sequence[Any]) -> pa.Array | None:
    if not set(map(type, values)) <= {str, NoneType}:
        return None
    texts = pa.array(values, pa.string())
    if pc.all(pc.match_substring_regex(texts, _ISO_UTC)).as_py() is False:
        return None
    try:
        return texts.cast(pa.timestamp("us", "UTC"))
    except pa.ArrowInvalid:  # a day that the calendar lacks, which the conversion names
        return None


def texts_of(values: Sequence[Any], convert: Text | None) -> pa.Array:
    """Return wire values as an array of texts. Raises: ValueError, TypeError."""
    if convert is not None:
        values = [None if value is None else convert(value) for value in values]
    return pa.array(values, pa.string())
