"""Dataclasses for events: frozen for type checkers, and fast to make.

For a type checker, ``@slotted(frozen=True, slots=True)`` is ``dataclass``. At run time, the class
lets a field be assigned, because a frozen dataclass of 20 fields takes three times as long to make.
No code of this package assigns to a field.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from dataclasses import dataclass as slotted
else:
    from dataclasses import dataclass

    def slotted(*, frozen: bool, slots: bool) -> Callable[[type[T]], type[T]]:
        """Return the decorator. The class has the same equality, hash and repr as a frozen one."""
        return dataclass(slots=slots, unsafe_hash=frozen)


__all__ = ["slotted"]
