"""How much work a reader of DDL does, without a clock."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest


@pytest.fixture
def calls_of() -> Callable[[Callable[[], object]], int]:
    """Return a function that counts the calls of functions in a piece of work."""

    def count(work: Callable[[], object]) -> int:
        calls = 0

        def note(frame: FrameType, event: str, argument: object) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            work()
        finally:
            sys.setprofile(before)
        return calls

    return count
