"""Values of columns that their definition rules out, or leaves without a meaning."""

from __future__ import annotations

from decimal import Decimal
from typing import NoReturn

from cdcwire.connect.scalars import unscaled_bytes
from cdcwire.core.json_strings import write_base64
from cdcwire.model import kinds
from cdcwire.model.events import Path, Step
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import Value

DEFINITIONS = "connect: definitions"
_DECIMAL_MODE = "decimal-handling-mode to string or precise"
_NOT_FINITE = ("NAN", "NaN", "Infinity", "-Infinity")  # as PostgreSQL's connector writes them


class ConversionError(ValueError):
    """A value that its logical type does not have; ``path`` leads to it from the row."""

    def __init__(self, problem: str, clause: str, path: Path = ()) -> None:
        super().__init__(problem, clause, path)
        self.problem = problem
        self.clause = clause
        self.path = path

    def under(self, step: Step) -> ConversionError:
        """Return the error of the same value, seen from what holds it."""
        return ConversionError(self.problem, self.clause, (step, *self.path))


def check_bounds(kind: kinds.Type, value: Value, *, is_ambiguous: bool) -> None:
    """Check that a column with a definition has a value. Raises: ConversionError.

    ``is_ambiguous``: a decimal may also be the number whose digits its base64 has.
    """
    if is_ambiguous and isinstance(value, Decimal) and value < 0:
        digits = _digits_of(value, kind)
        if digits is not None:
            problem = f"{digits:.40} may be a number or base64 of {value}: set {_DECIMAL_MODE}"
            raise ConversionError(problem, DEFINITIONS)
    if not _holds(kind, value):
        shown = f"{len(value)} bytes" if isinstance(value, bytes) else f"{value!s:.60}"
        problem = f"{shown} does not fit {kind_text(kind)}, as defined{_advice(kind)}"
        raise ConversionError(problem, DEFINITIONS)


def refuse_time(value: Value) -> NoReturn:
    """Raise the error of a time whose definition does not name the unit."""
    problem = f"{value} may count milliseconds or microseconds: set connector"
    raise ConversionError(problem, DEFINITIONS)


def _advice(kind: kinds.Type) -> str:
    """Return the setting of a producer that may be wrong, where a value does not fit."""
    match kind:
        case kinds.DecimalType():
            return "; check decimal-handling-mode"
        case kinds.BytesType():
            return "; check binary-handling-mode"
        case _:
            return ""


def _holds(kind: kinds.Type, value: Value) -> bool:
    """Return whether a kind of a definition has a value."""
    match kind:
        case kinds.IntType(bits, unsigned):
            low = 0 if unsigned else -(1 << bits - 1)
            return isinstance(value, int) and low <= value < low + (1 << bits)
        case kinds.BitType(int(length)):
            return bool(value.bit_length() <= length)
        case kinds.DecimalType(int(precision), scale) if isinstance(value, Decimal):
            if not value.is_finite():
                return False
            is_whole = not value or value.adjusted() < precision - (scale or 0)
            exponent = value.as_tuple().exponent
            return is_whole and isinstance(exponent, int) and -exponent <= (scale or 0)
        case kinds.DecimalType():
            return isinstance(value, Decimal) or value in _NOT_FINITE
        case kinds.BytesType(int(length)) if isinstance(value, bytes):
            return len(value.replace(rb"\0", b"0")) <= length  # MySQL's defaults are padded with it
        case _:
            return True


def _digits_of(value: Decimal, kind: kinds.Type) -> str | None:
    """Return the base64 of a decimal's bytes if it has digits alone, as the number itself has."""
    scale = kind.scale if isinstance(kind, kinds.DecimalType) else 0
    text = write_base64(unscaled_bytes(value, scale or 0, DEFINITIONS))
    return text if text.isdigit() else None
