"""Directories of dates in a storage prefix."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from cdcwire.model.kinds import DatetimeType
from cdcwire.model.temporal import count_text
from cdcwire.storage.paths import DateSeparator

_LENGTHS: Mapping[DateSeparator, int] = MappingProxyType(
    {"none": 0, "year": 4, "month": 7, "day": 10}
)


def date_directory(milliseconds: int, separator: DateSeparator) -> str:
    """Return the directory of the date of a time, ``2024-01-31``; "" without dates.

    ``milliseconds``: since 1970, by the clock whose date counts.
    Raises: ValueError outside the years 0 to 9999.
    """
    length = _LENGTHS[separator]
    return count_text(DatetimeType(form="ms"), milliseconds)[:length] if length else ""
