"""Floating-point numbers as Go writes them, in JSON and in plain digits."""

from __future__ import annotations

from math import ulp
from typing import Literal

from cdcwire.model.floats import narrow_float32, shortest_digits

_ULPS32 = 1 << 28  # steps of a double in half a step of a float32


def float_text(value: float, bits: Literal[32, 64]) -> str:
    """Return a finite number as Go's JSON writes it.

    Shape: plain digits without a needless ``.0``; below 1e-6 and from 1e21 ``d.ddde±x`` with the
    exponent ``e-07`` shortened to ``e-7``. The limits are compared at the width of ``bits``.
    Source: open-protocol, "number text".
    """
    magnitude = abs(value)
    if bits == 32:
        usual = usual_text32(value)
        if usual:
            return usual
    elif 1e-3 <= magnitude < 1e16:  # Python writes these as Go does
        return repr(value).removesuffix(".0")
    sign, digits, exponent = shortest_digits(value, bits)
    low = narrow_float32(1e-6) if bits == 32 else 1e-6
    if magnitude != 0 and (magnitude < low or magnitude >= 1e21):
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{fraction}e{exponent:+d}"
    return sign + plain_digits(digits, exponent)


def padded_float_text(value: float, bits: Literal[32, 64]) -> str:
    """Return a finite number as ``strconv.FormatFloat`` writes it, and jsoniter: ``1e-07``.

    Its exponents have at least two digits; all else is as in ``float_text``.
    """
    text = float_text(value, bits)
    if text[-2:-1] in "+-" and text[-3:-2] == "e":
        return f"{text[:-1]}0{text[-1]}"
    return text


def usual_text32(value: float) -> str:
    """Return the shortest digits of a float32 from 1e-3 up to 1e6, as plain digits.

    The text is empty for other values, and where only exact arithmetic shows what reads back. Every
    decimal number of 6 digits comes back from a float32, so fewer than 7 digits need no look.
    """
    if not (1e-3 <= value < 1e6 or -1e6 < value <= -1e-3):
        return ""
    half = ulp(value) * _ULPS32  # of the gap between two float32 values
    near, far = half * 0.999, half * 1.001
    text = f"{value:.8g}"
    distance = abs(float(text) - value)
    if far < distance:
        return f"{value:.9g}"
    shorter = f"{value:.7g}"
    if distance < near:
        distance = abs(float(shorter) - value)
        if far < distance:
            return text
        if distance < near:
            return shorter
    return ""


def plain_digits(digits: str, exponent: int) -> str:
    """Return digits times a power of ten without an exponent: ``("15", -2)`` is ``0.015``."""
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    fraction = digits[exponent + 1 :]
    return f"{whole}.{fraction}" if fraction else whole
