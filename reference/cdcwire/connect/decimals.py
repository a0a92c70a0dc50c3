"""Decimal numbers as the bytes of their unscaled integer."""

from __future__ import annotations

from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal

from cdcwire.core.errors import EncodeError

MAX_DECIMAL_BYTES = 65536  # 157,000 digits; PostgreSQL stops at 147,455
_MAX_DIGITS = 157000
EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


def decimal_of(unscaled: bytes, scale: int) -> Decimal:
    """Return the number; ``unscaled`` is big-endian two's complement, of one byte or more."""
    return EXACT.scaleb(Decimal(int.from_bytes(unscaled, "big", signed=True)), -scale)


def unscaled_bytes(value: Decimal, scale: int, clause: str) -> bytes:
    """Return the shortest bytes of the unscaled integer.

    Raises: EncodeError for NaN and infinities, and for a number with more digits than the scale.
    """
    if not value.is_finite():
        raise EncodeError(f"{value} has no unscaled integer", clause)
    if value and abs(value.adjusted()) + abs(scale) > _MAX_DIGITS:
        raise EncodeError(f"a number of more than {_MAX_DIGITS} digits", clause)
    shifted = EXACT.scaleb(value, scale)
    unscaled = int(shifted)
    if shifted != unscaled:
        raise EncodeError(f"{value} has more digits after the point than scale {scale}", clause)
    magnitude = unscaled if unscaled >= 0 else ~unscaled
    return unscaled.to_bytes(magnitude.bit_length() // 8 + 1, "big", signed=True)


def read_digits(text: str) -> int | str:
    """Return digits alone as a number, up to 20 of them; any other text stays text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 20 else text
