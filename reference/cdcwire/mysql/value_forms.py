"""How fast decoders read the texts of values: by a table, within a range, by a function, or not.

A pattern has checked the form of a text before it is read. Generated code reads it, and is made of
numbers only; names and values are never part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

from cdcwire.core.compiled import Irregular
from cdcwire.core.json_strings import ONCE, unescaped
from cdcwire.model.floats import read_float32

Read: TypeAlias = Callable[[str], Any]

NUMBER = (
    rf"-?(?:0|[1-9][0-9]{{0,60}}{ONCE})(?:\.[0-9]{{1,300}}{ONCE})?(?:[eE][+-]?[0-9]{{1,3}}{ONCE})?"
)
"""The pattern of a number in JSON with at most 61 digits before the point and 300 after it."""

READING_NAMES: Mapping[str, Any] = MappingProxyType(
    {"Irregular": Irregular, "unescaped": unescaped}
)
"""The names that ``reading_lines`` needs of every function."""

_FEW = 1 << 8  # kinds of so few values are read by a table of them


@dataclass(frozen=True, slots=True)
class Form:
    """How the values of a kind are read: by one of these, or they stay as they are.

    ``pattern``: of the text between the quotes. ``few``: all values by their texts. ``within``:
    the least integer and the first one after the largest. ``has_escapes``: it is text as JSON
    writes it.
    """

    pattern: str
    few: Mapping[str, int] | None = None
    within: tuple[int, int] | None = None
    has_escapes: bool = False
    read: Read | None = None


def number_form(text: str, low: int, high: int) -> Form:
    """Return how integers from ``low`` up to ``high - 1`` are read; ``text``: their pattern."""
    if high - low > _FEW:
        return Form(text, within=(low, high))
    return Form(text, few={str(value): value for value in range(low, high)})


def float_form(bits: int) -> Form:
    """Return how numbers are read as floats of 32 or 64 bits. An infinity is irregular."""
    return Form(NUMBER, read=_read_float if bits == 32 else _read_double)


def _read_float(text: str) -> float:
    return _finite(read_float32(text))


def _read_double(text: str) -> float:
    return _finite(float(text))


def _finite(number: float) -> float:
    if number - number:  # infinity less itself is not a number
        raise Irregular
    return number


def reading_lines(form: Form, value: str, index: int, names: dict[str, Any]) -> list[str]:
    """Return what is done with a text that is not NULL; nothing if it is the value.

    ``value``: the name of the variable. ``names``: gets what the lines need, by ``index``.
    """
    if form.few is not None:
        names[f"few{index}"] = form.few
        return [f"{value} = few{index}[{value}]"]
    if form.within is not None:
        low, high = form.within  # the pattern lets 20 digits pass at most
        return [
            f"{value} = int({value})",
            f"if not {low} <= {value} < {high}: raise Irregular",
        ]
    if form.has_escapes:
        return [f"if '\\\\' in {value}: {value} = unescaped({value})"]
    if form.read is None:
        return []
    if form.read is _read_double:  # without a call
        return [f"{value} = float({value})", f"if {value} - {value}: raise Irregular"]
    names[f"read{index}"] = form.read
    return [f"{value} = read{index}({value})"]
