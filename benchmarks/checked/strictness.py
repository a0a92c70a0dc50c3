"""Proof, before anything is measured, that a checked plan is as strict as the plain decoder."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeAlias

from cdcwire.core.errors import DecodeError

Outcome: TypeAlias = Callable[[bytes], object]

_DAMAGED = 400
_PIECES = (b'"', b"\\", b"0", b"-", b"null", b"true", b",", b"}", b" ", b"1.0", b"\\ud800", b"\xff")


def assert_as_strict(planned: Outcome, plain: Outcome, values: Sequence[bytes]) -> None:
    """Stop unless both give the same for messages, and for damaged ones."""
    chance = random.Random(1)
    for value in (
        *values[:20],
        *(_damaged(chance.choice(values), chance) for _ in range(_DAMAGED)),
    ):
        found, expected = (_outcome(each, value) for each in (planned, plain))
        if found != expected:
            raise AssertionError(f"{value!r}: {found!r} instead of {expected!r}")


def _outcome(decode: Outcome, value: bytes) -> object:
    try:
        return decode(value)
    except DecodeError as error:
        return (type(error), error.problem, error.offset, error.path, error.clause)


def _damaged(value: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(value))
    end = start + chance.choice((0, 1, 2, 4, chance.randrange(60)))
    piece = chance.choice((b"", *_PIECES, value[start:end] * 2, value[-end:]))
    return value[:start] + piece + value[end:]
