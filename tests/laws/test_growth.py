"""Time grows with the bytes: a message in which one piece comes again and again is read once.

Pieces of golden messages are repeated. A decoder that goes back over what it has read takes four
times the time for twice the bytes.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from time import process_time

import pytest

from cdcwire.core.errors import DecodeError
from cdcwire.core.format import NO_CONTEXT, Context, Format
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionError
from cdcwire.core.registry import FORMAT_NAMES, get_format
from cdcwire.core.varints import write_varint
from cdcwire_conformance.corpus.case import Case, CorpusError
from cdcwire_conformance.corpus.store import load_cases

SIZE = 1 << 14  # of the shorter message
MOST_GROWTH = 3.0  # linear is 2, quadratic is 4
WORTH_MEASURING = 0.004  # seconds; below, the clock decides
CLEAR = 1.0  # seconds; above, one try is enough
TRIES = 4
SHAPES = 12
SIGNS = (b'"', b"\\", b"0", b",", b"[", b"{", b" ", b"\x80", b"\xff", b"\x00", b'\\"', b'""')

Work = Callable[[int], object]


def growth_of(work: Work) -> float:
    """Return how many times longer twice the size takes; the least of some tries."""
    found = []
    gc.disable()
    try:
        for _ in range(TRIES):
            short, long = (
                min(seconds_of(work, size) for _ in range(2)) for size in (SIZE, 2 * SIZE)
            )
            if long < WORTH_MEASURING:
                return 0.0
            found.append(long / max(short, WORTH_MEASURING / 4))
            if found[-1] <= MOST_GROWTH or long > CLEAR:
                break
    finally:
        gc.enable()
    return min(found)


def seconds_of(work: Work, size: int) -> float:
    start = process_time()
    work(size)
    return process_time() - start


def read(decode: Callable[[Message], object], message: Message) -> None:
    with suppress(DecodeError):
        for _ in decode(message):  # type: ignore[attr-defined]  # rows and events
            pass


def shapes_of(name: str) -> list[tuple[Case, bytes, bytes, bytes]]:
    """Return cases with a start, a piece to be repeated, and an end."""
    chance = random.Random(name)
    cases = [case for case in load_cases((name,)) if case.messages and case.expect != "encode"]
    found = []
    for case in chance.sample(cases, SHAPES):
        value = case.messages[-1].value or b"\0"
        start = chance.randrange(len(value))
        size = chance.choice((1, 2, 4, 16, 64))
        piece = chance.choice((value[start : start + size], *SIGNS[:2], chance.choice(SIGNS)))
        end = chance.choice((value[start:], b""))
        found.append((case, value[:start], piece, end))
    return found


def decoders_of(format_: Format, context: Context, message: Message) -> list[Callable[..., object]]:
    """Return the plain decoder, and the fast one with what it learned of a message."""
    fast = format_.decoder(context)
    for _ in range(3):
        read(fast, message)
    return [partial(format_.to_events, context=context), fast]


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_time_grows_with_the_bytes(name: str) -> None:
    for case, start, piece, end in shapes_of(name):
        message = case.messages[-1]
        with suppress(CorpusError, OptionError):
            for decode in decoders_of(get_format(name), case.context(), message):

                def work(size: int, decode: Callable[..., object] = decode) -> None:
                    repeated = start + piece * (size // len(piece)) + end  # noqa: B023
                    read(decode, replace(message, value=repeated))  # noqa: B023

                assert growth_of(work) <= MOST_GROWTH, (case.id, len(start), piece, end)


@pytest.mark.parametrize("part", ["headers", "dictionary"])
def test_unfinished_varints_of_craft_are_read_once(part: str) -> None:
    """The sizes must fit, so no repeated piece makes such a message."""
    decoder = get_format("craft").decoder(NO_CONTEXT)

    def work(size: int) -> None:
        long = b"\x80" * size
        headers, dictionary = (long, b"\1\1a") if part == "headers" else (b"\0" * 5, long)
        sizes = bytearray(b"\2")
        write_varint(sizes, len(headers), "")
        write_varint(sizes, len(dictionary) - len(headers), "")
        sizes += b"\1\6\1\6"
        value = b"\1" + headers + b"\1\0\0" + dictionary + sizes + bytes((len(sizes),))
        read(decoder, KafkaMessage(None, value))

    assert growth_of(work) <= MOST_GROWTH


def test_quadratic_work_is_found() -> None:
    def work(size: int) -> None:
        text = "x" * size
        for _ in range(size // 8):
            text.count("xy")

    assert growth_of(work) > MOST_GROWTH
