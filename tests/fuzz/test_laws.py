"""The fuzzer finds planted faults, names each by one line, and goes on where it ended."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from mmap import mmap
from pathlib import Path
from random import Random
from resource import getpagesize

import pytest

from cdcwire.core.compiled import FastDecoder, Irregular
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.explanation import Explanation
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.reader import Span
from cdcwire.core.rows import Row
from cdcwire.format import Format
from cdcwire.model.events import Event, Progress, RowChange
from cdcwire.model.text import Json, event_from_json
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_evidence.fuzz import laws, round_trip
from cdcwire_evidence.fuzz.event_edits import decoded
from cdcwire_evidence.fuzz.inputs import SIGN, first_inputs, other_carrier
from cdcwire_evidence.fuzz.laws import Laws
from cdcwire_evidence.fuzz.mutate import made_again, mutated, number_of
from cdcwire_evidence.fuzz.run import FormatRun, Plan

NAME = "craft"  # what is planted is the same in every format
RIGHT = get_format(NAME)


def found_in(format_: Format, inputs: int = 60) -> set[str]:
    """Return the laws that inputs of a format break."""
    run = FormatRun(Plan(format_.name, 600, 7, inputs, None), Laws(format_))
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
        if message.value and message.value[-1] % 4 == 3:
            raise KeyError("size")
        return RIGHT.to_events(message, context=context)

    assert "exception" in found_in(with_decoding(decode))


def test_swallowed_error_is_found() -> None:
    def decode(message: Message, context: Context) -> Iterator[Event]:
        try:
            yield from RIGHT.to_events(message, context=context)
        except DecodeError:
            return

    assert found_in(replace(with_decoding(decode), fast_decoder=RIGHT.fast_decoder)) == {"fast"}


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
    class Inventing(Format):
        def explain(self, message: Message, *, context: Context = NO_CONTEXT) -> Explanation:
            return Explanation((), DecodeError("invented", 0, "craft: message"))

    parts = {each.name: getattr(RIGHT, each.name) for each in fields(RIGHT)}
    assert "explain" in found_in(Inventing(**parts))


def test_span_outside_the_bytes_is_found() -> None:
    def spans(message: Message, context: Context) -> Iterator[Span]:
        yield from RIGHT.spans(message, context)
        yield Span((), 0, len(message.value or b"") + 1, "", "craft: message")

    assert found_in(replace(RIGHT, spans=spans)) == {"explain"}


class Refusing(FastDecoder):
    """Names another byte where the plain decoder is asked."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def _usual(self, message: Message) -> Iterable[Row | Event]:
        raise Irregular

    def _plain(self, message: Message) -> Iterable[Row | Event]:
        try:
            return list(RIGHT.to_events(message, context=self.context))
        except DecodeError as error:
            raise DecodeError(error.problem, error.offset + 1, error.clause) from None


def test_difference_of_the_fallback_is_found() -> None:
    assert "fast" in found_in(replace(RIGHT, fast_decoder=Refusing))


def test_unescaped_text_is_found() -> None:
    right = get_format("maxwell-json")

    def from_events(
        events: Iterable[Event], /, *, context: Context = NO_CONTEXT
    ) -> Iterator[Message]:
        for message in right.from_events(events, context=context):
            value = (message.value or b"").replace(b"\\", b"")
            yield replace(message, value=value)

    assert "encode" in found_in(replace(right, from_events=from_events), 1200)


def test_event_without_text_form_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(document: Json) -> Event:
        found = event_from_json(document)
        if isinstance(found, RowChange) and found.op == "insert":
            return replace(found, op="upsert")
        return found

    monkeypatch.setattr(round_trip, "event_from_json", read)
    assert found_in(RIGHT, 1000) == {"text"}


def test_missing_bound_is_found() -> None:
    def decode(message: Message, context: Context) -> Iterable[Event]:
        assert len(bytearray(laws.MOST_MEMORY * (1 << 17)))  # of at most 128 KiB of input
        return RIGHT.to_events(message, context=context)

    assert "memory" in found_in(with_decoding(decode), 1)  # the first input is always measured


def test_memory_of_a_single_input_is_found() -> None:
    """Only every 64th input is measured. This one is, because the memory of the process grows."""

    def decode(message: Message, context: Context) -> Iterable[Event]:
        now = int(Path("/proc/self/statm").read_text("ascii").split()[1]) * getpagesize()
        size = laws.peak_memory() - now + 2 * laws.LEAST_JUMP
        with mmap(-1, size) as pages:  # new ones: bytes may take what an earlier test has freed
            for place in range(0, size, getpagesize()):
                pages[place] = 1
        assert b"x" * laws.LEAST_JUMP  # tracemalloc counts Python's memory
        return RIGHT.to_events(message, context=context)

    given = first_inputs(NAME)[0]
    assert not Laws(RIGHT).check(given, memory=False).broken
    found = Laws(with_decoding(decode)).check(given, memory=False).broken
    assert "memory" in [broken.law for broken in found]  # so much memory may be slow too


def test_compressed_message_counts_with_the_size_of_its_content() -> None:
    """2 KB contain 2 MB here. The limits of the content are tested with the codec."""
    cases = first_inputs("datahub-tuple")
    (given,) = (case for case in cases if case.case.endswith("reject-fields/string-over-2-mb"))
    right = get_format("datahub-tuple")
    assert Laws(right).check(given, memory=True).broken == []

    def decode(message: Message, /, *, context: Context = NO_CONTEXT) -> Iterator[Event]:
        bytearray(given.size << 17)
        return right.to_events(message, context=context)

    wrong = replace(right, to_events=decode)
    found = Laws(wrong).check(given, memory=True).broken
    assert [broken.law for broken in found] == ["memory"]


def test_quadratic_loop_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laws, "MOST_MS_PER_KB", 20.0)

    def decode(message: Message, context: Context) -> Iterable[Event]:
        value = message.value or b""
        for _ in range(len(value) ** 2 // 2):
            value.find(b"\xff\xff\xff")
        return RIGHT.to_events(message, context=context)

    assert "slow" in found_in(with_decoding(decode), 400)


def test_endless_loop_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laws, "HANG_SECONDS", 0.2)

    def decode(message: Message, context: Context) -> Iterable[Event]:
        while message.value and message.value[0] != 1:
            pass
        return RIGHT.to_events(message, context=context)

    assert "hang" in found_in(with_decoding(decode), 3)


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


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_message_of_the_other_carrier_keeps_all_laws(name: str) -> None:
    """All decoders reject it with the same error, or read its bytes."""
    given = first_inputs(name)[0]
    given = replace(given, messages=(other_carrier(given.message),), index=0)
    assert Laws(get_format(name)).check(given).broken == []


def test_column_that_the_definition_lacks_keeps_its_type() -> None:
    """An integer beyond 64 bits is a decimal, and CDL writes decimals as text."""
    cases = first_inputs("cdl-json")
    (given,) = (each for each in cases if each.case == "cdl-json/envelope/definition-older")
    value, count = re.subn(
        rb'("added":)[^,}]+', rb"\g<1>9223372036854775808", given.message.value or b""
    )
    assert count == 1
    given = replace(given, messages=(KafkaMessage(None, value),), index=0)
    assert Laws(get_format("cdl-json")).check(given).broken == []


def test_decimal_with_fewer_digits_than_its_scale_is_no_difference() -> None:
    """Producers write all digits of the scale, so the encoder does; MySQL's scale goes to 30."""
    cases = first_inputs("csv")
    (given,) = (each for each in cases if each.case == "csv/values/decimal-few-digits")
    outcome = Laws(get_format("csv")).check(given)
    assert outcome.is_encoded
    assert outcome.broken == []


def test_last_digit_of_a_long_scale_is_compared() -> None:
    right = get_format("csv")

    def from_events(
        events: Iterable[Event], /, *, context: Context = NO_CONTEXT
    ) -> Iterator[Message]:
        for message in right.from_events(events, context=context):
            yield replace(message, value=(message.value or b"").replace(b'0"', b'1"'))

    cases = first_inputs("csv")
    (given,) = (each for each in cases if each.case == "csv/values/decimal-few-digits")
    broken = Laws(replace(right, from_events=from_events)).check(given).broken
    assert [each.law for each in broken] == ["encode"]


def test_row_that_is_cut_to_its_key_is_compared_by_its_key() -> None:
    """One byte more than the limit: the encoder sends the handle key, as the option asks."""
    cases = first_inputs("open-protocol")
    name = "open-protocol/options/handle-key-only-at-limit-encode"
    (given,) = (each for each in cases if each.case == name)
    assert isinstance(given.message, KafkaMessage)
    size = len(given.message.value or b"") + len(given.message.key or b"")
    checks = Laws(get_format("open-protocol"))
    lower = replace(given, options={**given.options, "max-message-bytes": size - 1})
    assert checks.check(given).broken == []
    assert checks.check(lower).broken == []


def test_update_without_its_first_record_is_no_exception() -> None:
    """Both decoders read the rows of the file, and joining them fails at the same record."""
    cases = first_inputs("csv")
    (given,) = (each for each in cases if each.case == "csv/settings/old-value-without-commit-ts")
    lines = (given.message.value or b"").splitlines(keepends=True)
    after = lines[1:2]
    assert after[0].startswith(b'"I","t","test",true')
    message = replace(given.message, value=b"".join([*lines, *after, *after]))
    given = replace(given, messages=(message,), index=0)
    assert Laws(get_format("csv")).check(given).broken == []


def test_begin_and_end_that_an_option_adds_are_no_difference() -> None:
    """A logical message is a marker too; it comes back among those of its transaction."""
    options: dict[str, str | int | bool] = {
        "schemas-enable": "false",
        "provide-transaction-metadata": True,
    }
    cases = first_inputs("debezium-json")
    (given,) = (each for each in cases if each.case == "debezium-json/messages/logical-schemas-off")
    given = replace(given, options=options)
    assert Laws(get_format("debezium-json")).check(given).broken == []


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_changes_of_events_are_mostly_accepted(name: str) -> None:
    chance = Random(name)
    accepted = [given for given in first_inputs(name)[::7] if decoded(given)]
    numbers = [number_of("events", chance) for _ in accepted]
    changed = [mutated(*pair) for pair in zip(accepted, numbers, strict=True)]
    assert sum(bool(decoded(each)) for each in changed) > len(changed) / 2
    pairs = zip(changed, accepted, strict=True)
    assert sum(decoded(new) != decoded(old) for new, old in pairs) > len(changed) / 2
