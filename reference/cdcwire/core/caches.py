"""The memory of fast decoders between messages: bounded, whatever the messages hold."""

from __future__ import annotations

from collections.abc import Callable, Sized
from sys import maxsize
from typing import TypeVar

_Key = TypeVar("_Key")
_Kept = TypeVar("_Kept")
_Raw = TypeVar("_Raw", bound=Sized)

_FIRST_CREDIT = 1 << 16
_MAX_CREDIT = 1 << 21
_MAX_MEMO = 1 << 12


class BoundedCache(dict[_Key, _Kept]):
    """A dictionary that forgets everything once the sum of weights is over its limit."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit
        self.weight = 0

    def keep(self, key: _Key, kept: _Kept, weight: int) -> None:
        """Remember a value, which is as heavy as ``weight``."""
        self.grow(weight)
        self[key] = kept

    def grow(self, weight: int) -> None:
        """Note that something in the cache has become heavier."""
        self.weight += weight
        if self.weight > self.limit:
            self.clear()
            self.weight = weight


class Memo(dict[_Raw, _Kept]):
    """Values by the bytes or text that they are read from: ``memo[raw]`` reads what is new.

    ``read`` makes the value. At most ``limit`` values are kept, then all are forgotten. Values of
    more than ``longest`` bytes or characters seldom come twice and are not kept.
    """

    def __init__(
        self, read: Callable[[_Raw], _Kept], limit: int = _MAX_MEMO, longest: int = maxsize
    ) -> None:
        super().__init__()
        self.read = read
        self.limit = limit
        self.longest = longest

    def __missing__(self, raw: _Raw) -> _Kept:
        value = self.read(raw)
        if len(raw) <= self.longest:
            if len(self) >= self.limit:
                self.clear()
            self[raw] = value
        return value


class Credit:
    """The bytes that were decoded, less those that were spent on functions and patterns.

    Making a function takes time, once. Its price is the number of bytes that the plain decoder
    reads in this time. So layouts that never come again cost at most twice the time.
    """

    def __init__(self) -> None:
        self.left = _FIRST_CREDIT

    def earn(self, size: int) -> None:
        """Add the bytes of a message, up to a maximum."""
        self.left = min(self.left + size, _MAX_CREDIT)

    def spend(self, price: int) -> bool:
        """Return whether the credit covers the price, and take it."""
        if price > self.left:
            return False
        self.left -= price
        return True
