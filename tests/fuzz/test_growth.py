"""Time and memory grow with the bytes, and growth beyond the laws is found."""

from __future__ import annotations

import gc
import json
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.reader import Span, write_varint
from cdcwire.format import Format
from cdcwire.model.events import Event
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_evidence.fuzz import growth
from cdcwire_evidence.fuzz.__main__ import main
from cdcwire_evidence.fuzz.event_edits import Grown
from cdcwire_evidence.fuzz.growth import (
    GROWTH,
    LARGE,
    SMALL,
    Growth,
    GrowthPlan,
    GrowthTally,
    Limits,
    grow,
    measured,
    ratio_of,
    rise_of,
)
from cdcwire_evidence.fuzz.inputs import Input, first_inputs
from cdcwire_evidence.fuzz.shapes import KINDS, SIGN, Shape, shape_again, shape_of

NAME = "craft"  # what is planted is the same in every format
CASE = "craft/rows/insert"
RIGHT = get_format(NAME)
# Of each change. The nightly run of the fuzzer goes up to 16 MiB, and allows less.
SMALLER = replace(SMALL, bytes=1 << 16, explained=1 << 16)
# One of each kind of bytes: binary, lines, JSON in binary frames, JSON with schemas.
OF_EACH_CHANGE = ("craft", "csv", "open-protocol", "debezium-json")


@pytest.fixture(scope="module", autouse=True)
def heap_of_others() -> None:
    """Freeze what other tests have left: all garbage is collected before memory is measured."""
    gc.collect()
    gc.freeze()


def found_in(
    monkeypatch: pytest.MonkeyPatch, wrong: Format, kind: str, limits: Limits = SMALLER
) -> list[Growth]:
    """Return the growths of a format with a planted fault."""
    monkeypatch.setattr(growth, "get_format", lambda name: wrong)
    return measured(shape_again(f"{CASE}{SIGN}{kind}.1"), limits)


def with_work(work: Callable[[bytes], object]) -> Format:
    """Return the format with more work in the plain decoder."""

    def to_events(message: Message, /, *, context: Context = NO_CONTEXT) -> Iterator[Event]:
        kept = work(message.value or b"")
        yield from RIGHT.to_events(message, context=context)
        del kept

    return replace(RIGHT, to_events=to_events)


def quadratic(value: bytes) -> None:
    for _ in range(len(value) // 8):
        value.count(b"\xfe\xff")


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in OF_EACH_CHANGE else pytest.mark.nightly)
        for name in FORMAT_NAMES
    ],
)
def test_growth_laws_hold(name: str) -> None:
    """One shape of each kind, up to 64 KiB."""
    tally = grow(GrowthPlan(GrowthTally(name), 60, 3, len(KINDS), SMALLER))
    assert tally.broken == []
    assert tally.largest >= 1 << 15
    assert tally.accepted


@pytest.mark.parametrize("part", ["headers", "dictionary"])
def test_unfinished_varints_of_craft_are_read_once(part: str) -> None:
    """The sizes must fit, so no repeated piece makes such a message."""

    def make(size: int) -> Grown:
        long = b"\x80" * size
        headers, dictionary = (long, b"\1\1a") if part == "headers" else (b"\0" * 5, long)
        sizes = bytearray(b"\2")
        write_varint(sizes, len(headers), "")
        write_varint(sizes, len(dictionary) - len(headers), "")
        sizes += b"\1\6\1\6"
        value = b"\1" + headers + b"\1\0\0" + dictionary + sizes + bytes((len(sizes),))
        return Grown(Input("", (), NAME, (KafkaMessage(None, value),), 0), len(value))

    found = measured(Shape("", NAME, "bytes", make), SMALLER)
    assert [each.broken for each in found] == [[], [], []]
    assert found[0].points[-1][0] > SMALLER.bytes


@pytest.mark.long
@pytest.mark.parametrize("name", ["craft/rows/insert", "craft-proposal/names/scripts"])
def test_explanation_of_craft_does_the_same_work_for_each_byte(
    name: str, calls_of: Callable[[Callable[[], object]], int]
) -> None:
    """A large head is read again for its windows; that stays a small part of the work."""
    shape = shape_again(f"{name}{SIGN}rows.27960")
    per_byte = []
    for size in (1 << 14, 1 << 18):
        grown = shape.make(size)
        assert grown is not None
        context = grown.given.context()
        found = get_format(grown.given.format).explain(grown.given.message, context=context)
        per_byte.append(calls_of(partial(deque, found.each(), maxlen=0)) / grown.size)
    assert per_byte[1] < 1.5 * per_byte[0]


def test_quadratic_decoder_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, fast, explained = found_in(monkeypatch, with_work(quadratic), "text")
    assert plain.ratio > 3
    assert plain.broken
    assert explained.broken  # it decodes the message
    assert fast.broken == []


def test_quadratic_explanation_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def spans(message: Message, context: Context) -> Iterator[Span]:
        quadratic(message.value or b"")
        return RIGHT.spans(message, context)

    plain, _, explained = found_in(monkeypatch, replace(RIGHT, spans=spans), "text")
    assert explained.broken
    assert plain.broken == []


def test_memory_beyond_the_bytes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, fast, _ = found_in(
        monkeypatch, with_work(lambda value: bytearray(200 * len(value))), "text"
    )
    assert "bytes of memory per byte" in plain.broken[0]
    assert fast.broken == []


@pytest.mark.parametrize(
    ("seconds", "is_broken"),
    [
        ((0.01, 0.02, 0.04, 0.08, 0.16), False),
        ((0.01, 0.02, 0.08, 0.16, 0.32), False),  # a cache that is full
        ((0.0001, 0.0004, 0.0016, 0.0019, 0.0019), False),  # below what the clock shows
        ((0.01, 0.025, 0.0625, 0.16, 0.4), True),
        ((0.0005, 0.002, 0.008, 0.032, 0.128), True),
    ],
)
def test_ratio_counts_three_steep_doublings(seconds: tuple[float, ...], is_broken: bool) -> None:
    points = [(1 << 12 + place, each) for place, each in enumerate(seconds)]
    assert (ratio_of(points) > LARGE.ratio) is is_broken


@pytest.mark.parametrize(
    ("seconds", "is_broken"),
    [
        ((0.01, 0.02, 0.04, 0.08, 0.16, 0.32), False),
        ((0.01, 0.02, 0.4, 0.8, 1.6, 3.2), False),  # a fallback to the plain decoder
        ((0.0001, 0.0003, 0.0009, 0.002, 0.004, 0.008), False),  # below what the clock shows
        ((0.0035, 0.0077, 0.018, 0.049, 0.147, 0.488), True),  # a scan next to linear work
    ],
)
def test_rise_counts_all_doublings_except_the_steepest(
    seconds: tuple[float, ...], is_broken: bool
) -> None:
    points = [(1 << 12 + place, each) for place, each in enumerate(seconds)]
    assert ratio_of(points) < LARGE.ratio or is_broken
    assert (rise_of(points) > LARGE.rise) is is_broken


@pytest.mark.nightly
def test_scan_next_to_linear_work_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """All bytes before each place are read. At first this takes less time than decoding."""

    def scan(value: bytes) -> None:
        for at in range(0, len(value), 24):
            sum(value[:at])

    limits = replace(SMALL, seconds=1.0)  # it is dear only in large messages
    plain, fast, _ = found_in(monkeypatch, with_work(scan), "rows", limits)
    assert plain.broken
    assert fast.broken == []


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_one_line_makes_a_shape_again(name: str) -> None:
    given = first_inputs(name)[0]
    shape = shape_of(given, "bytes", 17)
    assert shape is not None
    again = shape_again(f"{given.case}{SIGN}bytes.17")
    assert again.make(5000) == shape.make(5000)
    with pytest.raises(LookupError):
        shape_again(f"{given.case}{SIGN}leaves.17")


def test_shapes_have_the_size_that_is_asked() -> None:
    for kind in KINDS[:3]:
        made = shape_again(f"{CASE}{SIGN}{kind}.1").make(1 << 16)
        assert made is not None
        assert 1 << 15 < made.size < 1 << 17


@pytest.mark.long
def test_command_measures_growth_and_replays_a_shape(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cdcwire_evidence.fuzz.__main__.LARGE", SMALL)
    arguments = ["--format", NAME, "--inputs", "1", "--jobs", "1", "--state", str(tmp_path)]
    assert main([*arguments, "--growth", "0.01"]) == 0
    (figures,) = json.loads((tmp_path / GROWTH).read_text("utf-8"))
    assert figures["shapes"] >= 1
    assert main(["--replay", f"{CASE}{SIGN}text.1"]) == 0
    assert "fast: ratio" in capsys.readouterr().out
