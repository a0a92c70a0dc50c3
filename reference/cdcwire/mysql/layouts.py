"""Shared layouts of typed rows, for the fast decoders of the MySQL family."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from cdcwire.core.caches import BoundedCache
from cdcwire.core.rows import Conversion, Layout
from cdcwire.mysql.types import STRING_TYPES, TYPE_FLOAT, column_of
from cdcwire.mysql.values import WireValue, model_converter

Described: TypeAlias = "tuple[str, int, int]"  # name, type code and flags of a column

_MAX_COLUMNS = 1 << 14  # of all layouts together; with its name and roles, one takes some 300 bytes


class Layouts:
    """The layouts of rows, by the descriptions of their columns."""

    def __init__(self, time_zone: str | None) -> None:
        self.time_zone = time_zone
        self._known: BoundedCache[tuple[Described, ...], Layout] = BoundedCache(_MAX_COLUMNS)

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
