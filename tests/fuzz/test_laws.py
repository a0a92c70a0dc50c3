"""The fuzzer finds planted faults, names each by one line, and goes on where it ended."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cdcwire.core.compiled import FastDecoder
from cdcwire.core.errors import DecodeError
from cdcwire.core.format import NO_CONTEXT, Context, Explanation, Format
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.registry import FORMAT_NAMES, get_format
from cdcwire.core.rows import Row
from cdcwire.model.events import Event, Progress
from cdcwire_evidence.fuzz import laws
from cdcwire_evidence.fuzz.__main__ import main
from cdcwire_evidence.fuzz.inputs import SIGN, first_inputs
from cdcwire_evidence.fuzz.laws import Laws
from cdcwire_evidence.fuzz.mutate import made_again, mutated
from cdcwire_evidence.fuzz.run import FormatRun, Plan

NAME = "craft"  # what is planted is the same in every format
RIGHT = get_format(NAME)


def found_in(format_: Format, inputs: int = 60) -> set[str]:
    """Return the laws that inputs of a format break."""
    run = FormatRun(Plan(NAME, 600, 7, inputs, None), Laws(format_))
    run.run()
    return {finding["law"] for finding in run.findings.values()}


def with_decoding(decode: Callable[[Message, Context], Iterable[Event]]) -> Format:
    """Return the format with another plain decoder, which explaining agrees with."""

    def to_events(message: Message, /, *, context: Context = NO_CONTEXT) -> Iterator[Event]:
        yield from decode(message, context)

    return replace(RIGHT, to_events=to_events, fast_decoder=None)


def test_right_format_breaks_no_law() -> None:
    assert found_in(RIGHT) == set()


def test_other_exceptions_are_found() -> None:
    def decode(message: Message, context: Context) -> Iterable[Event]:
        if message.value and message.value[-1] == 3:
            raise KeyError("size")
        return RIGHT.to_events(message, context=context)

    assert "exception" in found_in(with_decoding(decode))


def test_swallowed_error_is_found() -> None:
    def decode(message: Message, context: Context) -> Iterator[Event]:
        try:
            yield from RIGHT.to_events(message, context=context)
        except DecodeError:
            return

    assert found_in(with_decoding(decode)) == {"explain"}


class Swallowing(FastDecoder):
    """Gives nothing for messages that are not regular."""

    def __init__(self, context: Context) -> None:
        self.right = RIGHT.decoder(context)

    def _usual(self, message: Message) -> Iterable[Row | Event]:
        try:
            return list(self.right(message))
        except DecodeError:
            return []

    def _plain(self, message: Message) -> Iterable[Row | Event]:
        return []


class Remembering(Swallowing):
    """Gives what it gave for the message before."""

    def _usual(self, message: Message) -> Iterable[Row | Event]:
        before, self.kept = getattr(self, "kept", None), list(self.right(message))
        return self.kept if before is None or len(before) != 1 else before


@pytest.mark.parametrize("decoder", [Swallowing, Remembering])
def test_difference_of_the_fast_decoder_is_found(decoder: Callable[[Context], FastDecoder]) -> None:
    assert "fast" in found_in(replace(RIGHT, fast_decoder=decoder))


def test_explanation_that_invents_an_error_is_found() -> None:
    def explain(message: Message, /, *, context: Context = NO_CONTEXT) -> Explanation:
        return Explanation((), DecodeError("invented", 0, "craft: message"))

    assert "explain" in found_in(replace(RIGHT, explain=explain))


def test_missing_bound_is_found() -> None:
    def decode(message: Message, context: Context) -> Iterable[Event]:
        bytearray((message.value or b"\0")[-1] << 20)
        return RIGHT.to_events(message, context=context)

    assert "memory" in found_in(with_decoding(decode), 400)


def test_quadratic_loop_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laws, "MOST_MS_PER_KB", 20.0)

    def decode(message: Message, context: Context) -> Iterable[Event]:
        value = message.value or b""
        for _ in range(len(value) ** 2 // 2):
            value.find(b"\xff\xff\xff")
        return RIGHT.to_events(message, context=context)

    assert "slow" in found_in(with_decoding(decode))


def test_endless_loop_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laws, "HANG_SECONDS", 0.2)

    def decode(message: Message, context: Context) -> Iterable[Event]:
        while message.value and message.value[0] != 1:
            pass
        return RIGHT.to_events(message, context=context)

    assert "hang" in found_in(with_decoding(decode), 200)


def test_events_that_change_when_encoded_are_found() -> None:
    def from_events(
        events: Iterable[Event], /, *, context: Context = NO_CONTEXT
    ) -> Iterator[Message]:
        kept = [event for event in events if not isinstance(event, Progress)]
        return iter(RIGHT.from_events(kept[:1], context=context))

    assert "encode" in found_in(replace(RIGHT, from_events=from_events), 300)


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_one_line_makes_an_input_again(name: str) -> None:
    given = mutated(mutated(mutated(first_inputs(name)[3], 17), 1 << 31), 5)
    assert given.name.endswith(f"{SIGN}17.2147483648.5")
    assert made_again(given.name) == given


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_golden_cases_and_first_inputs_keep_all_laws(name: str) -> None:
    """All laws hold for the golden inputs themselves, and for the first changed ones."""
    checks = Laws(get_format(name))
    for given in first_inputs(name)[::30]:
        assert checks.check(given).broken == []
        assert checks.check(mutated(given, 1)).broken == []


def test_run_goes_on_where_it_ended(tmp_path: Path) -> None:
    for total in (20, 40):
        run = FormatRun(Plan(NAME, 600, 7, 20, tmp_path))
        run.run()
        assert run.tally.inputs == total
    assert json.loads((tmp_path / f"{NAME}.json").read_text("utf-8"))["tally"]["inputs"] == 40


def test_command_writes_results_and_replays_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--format", NAME, "--inputs", "20", "--jobs", "1", "--state", str(tmp_path)]
    assert main(arguments) == 0
    (figures,) = json.loads((tmp_path / "results.json").read_text("utf-8"))["formats"]
    assert (figures["format"], figures["inputs"]) == (NAME, 20)
    assert main(["--replay", f"{first_inputs(NAME)[0].case}{SIGN}1"]) == 0
    assert KafkaMessage.__name__ in capsys.readouterr().out
