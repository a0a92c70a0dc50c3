"""A sequence whose items are read again each time, so that it is never in memory as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, overload

_Item = TypeVar("_Item")


class LazyItems(Sequence[_Item]):
    """A sequence of ``count`` items. ``read`` returns the item of a number."""

    def __init__(self, count: int, read: Callable[[int], _Item]) -> None:
        self._numbers = range(count)
        self._read = read

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> _Item: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[_Item]: ...

    def __getitem__(self, index: int | slice) -> _Item | Sequence[_Item]:
        if isinstance(index, slice):
            return [self._read(number) for number in self._numbers[index]]
        return self._read(self._numbers[index])
