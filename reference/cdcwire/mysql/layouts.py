"""Shared layouts of typed rows, for the fast decoders of the MySQL family.

A fast decoder remembers what it has learned about tables. Whatever it keeps is bounded, since the
messages may come from anywhere, and making code or patterns is paid for in bytes that were decoded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from cdcwire.core.rows import Conversion, Layout
from cdcwire.mysql.types import STRING_TYPES, TYPE_FLOAT, column_of
from cdcwire.mysql.values import WireValue, model_converter

Described: TypeAlias = "tuple[str, int, int]"  # name, type code and flags of a column

_Key = TypeVar("_Key")
_Kept = TypeVar("_Kept")

_MAX_COLUMNS = 1 << 14  # of all layouts together; with its name and roles, one takes some 300 bytes
_FIRST_CREDIT = 1 << 16
_MAX_CREDIT = 1 << 21


class Bounded(dict[_Key, _Kept]):
    """A dictionary that forgets everything once the sum of weights is over its limit."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit
        self.weight = 0

    def keep(self, key: _Key, kept: _Kept, weight: int) -> None:
        self.grow(weight)
        self[key] = kept

    def grow(self, weight: int) -> None:
        """Note that something that is kept has become heavier."""
        self.weight += weight
        if self.weight > self.limit:
            self.clear()
            self.weight = weight


class Credit:
    """Bytes that were decoded, less those that were spent.

    What makes decoding faster takes time to make, once. Its price is the number of bytes that the
    plain decoder reads in this time. So layouts that never come again cost at most twice the time.
    """

    def __init__(self) -> None:
        self.left = _FIRST_CREDIT

    def earn(self, size: int) -> None:
        self.left = min(self.left + size, _MAX_CREDIT)

    def spend(self, price: int) -> bool:
        """Return whether there was enough, and take it."""
        if price > self.left:
            return False
        self.left -= price
        return True


class Layouts:
    """The layouts of rows, by the descriptions of their columns."""

    def __init__(self, time_zone: str | None) -> None:
        self.time_zone = time_zone
        self._known: Bounded[tuple[Described, ...], Layout] = Bounded(_MAX_COLUMNS)

    def of(self, described: tuple[Described, ...]) -> Layout:
        """Return the layout of these columns, the same object as long as it is remembered."""
        layout = self._known.get(described)
        if layout is None:
            columns = tuple(column_of(*each, self.time_zone) for each in described)
            layout = Layout(columns, _conversions(described))
            self._known.keep(described, layout, len(columns) + 1)
        return layout


def row_value(value: WireValue, code: int, flags: int) -> WireValue:
    """Return a value of the wire layer as rows have it: FLOAT narrowed, text decoded."""
    if value is None or not _is_ready(code):
        return value
    convert: Callable[[Any], WireValue] | None = model_converter(code, flags)
    return value if convert is None else convert(value)


def _conversions(described: tuple[Described, ...]) -> tuple[Conversion, ...]:
    """Return what rows still need for the model, by index."""
    found = []
    for index, (_, code, flags) in enumerate(described):
        convert = model_converter(code, flags)
        if convert is not None and not _is_ready(code):
            found.append((index, convert))
    return tuple(found)


def _is_ready(code: int) -> bool:
    """Return whether rows have the values of a type as the model does."""
    return code == TYPE_FLOAT or code in STRING_TYPES
