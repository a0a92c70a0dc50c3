"""The laws that every input must keep, and the measurements that each input gives.

| law | what |
| --- | --- |
| exception | only DecodeError, OptionError and EncodeError leave a codec |
| hang | an input takes less than ``HANG_SECONDS`` of CPU time |
| fast | the fast decoder gives the same events or the same error as the plain decoder |
| explain | explaining gives the same error, and spans inside the bytes |
| encode | decoded events are encoded, or refused with a reason; decoding them gives the same |
| text | the text form of decoded events is read as the same text |
| slow | decoding and explaining take at most ``MOST_MS_PER_KB`` |
| memory | decoding takes at most ``MOST_MEMORY`` bytes per byte, after a fixed amount |
"""

from __future__ import annotations

import re
import signal
import sys
import traceback
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from resource import RUSAGE_SELF, getrusage
from time import process_time
from types import FrameType
from typing import Literal, TypeAlias, get_args

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionError
from cdcwire.core.rows import Row
from cdcwire.format import Format, MessageDecoder
from cdcwire.model.events import Event
from cdcwire.model.steps import IncompleteUpdateError, join_halves
from cdcwire.registry import get_format
from cdcwire_evidence.fuzz.inputs import Input, first_inputs, size_of, unpacked_size
from cdcwire_evidence.fuzz.round_trip import broken_round_trip, broken_text_form, difference

Law: TypeAlias = Literal["exception", "hang", "fast", "explain", "encode", "text", "slow", "memory"]
LAWS: tuple[Law, ...] = get_args(Law)

HANG_SECONDS = 20.0
MOST_MS_PER_KB = 200.0
MOST_MEMORY = 128  # bytes per byte of input, as tests/laws/test_damage.py has it
FIXED_MEMORY = 1 << 20
LEAST_JUMP = 8 << 20  # bytes by which the peak of the process grows before an input is measured
LEAST_SIZE = 1024  # a smaller input counts as one of this size
TRAINED = 3  # messages from which a fast decoder learns a layout
MOST_USES = 256  # of one fast decoder; its memory must not change what it gives
MOST_DECODERS = 1024

ToEvents: TypeAlias = Callable[[], list[Event]]
Behaviour: TypeAlias = "tuple[str, ...]"


class Hang(BaseException):
    """An input took too long. No codec catches it."""


@dataclass(frozen=True, slots=True)
class Broken:
    """One broken law. ``sign``: alike for findings that have one cause."""

    law: Law
    text: str
    sign: str


@dataclass(slots=True)
class Outcome:
    """The result of one input.

    ``is_deep``: it was explained. ``behaviour``: alike for inputs that end in the same place.
    """

    is_accepted: bool = False
    is_encoded: bool = False
    is_deep: bool = False
    behaviour: Behaviour = ()
    broken: list[Broken] = field(default_factory=list)
    ms_per_kb: float = 0.0
    memory_per_byte: float = 0.0


@dataclass(slots=True)
class _Kept:
    """A fast decoder that learned the messages of one case, and what it decoded since.

    ``given`` keeps the objects alive by which the decoder is found.
    """

    given: Input
    context: Context
    decode: MessageDecoder
    history: list[str] = field(default_factory=list)


class Laws:
    """Checks the inputs of one format."""

    def __init__(self, format_: Format) -> None:
        self.format = format_
        self._kept: dict[tuple[object, ...], _Kept] = {}

    def check(
        self,
        given: Input,
        *,
        deep: Callable[[Behaviour], bool] = lambda behaviour: True,
        memory: bool = False,
    ) -> Outcome:
        """Return the outcome of an input. ``deep``: whether to explain one of this behaviour."""
        outcome = Outcome()
        try:
            with _no_hang():
                self._check(given, outcome, deep, memory)
        except Hang:
            text = f"more than {HANG_SECONDS:.0f} s of CPU time"
            outcome.broken.append(Broken("hang", text, f"hang {given.case}"))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001  # RecursionError, MemoryError and others
            outcome.broken.append(_of_exception(error))
        return outcome

    def _check(
        self, given: Input, outcome: Outcome, deep: Callable[[Behaviour], bool], memory: bool
    ) -> None:
        format_, message = self.format, given.message
        try:
            context = format_.prepared(given.messages, given.context())
            kept = self._fast(given, context)
        except OptionError as error:
            outcome.behaviour = ("option", _template(str(error)))
            return
        peak = peak_memory()
        began = process_time()
        plain, fault = _result(lambda: list(format_.to_events(message, context=context)))
        middle = process_time()
        fast, fast_error = _result(lambda: _events(kept.decode(message)))
        slowest = max(middle - began, process_time() - middle)
        kept.history.append(given.name)
        outcome.is_accepted = fault is None
        outcome.behaviour = (
            ("accepted", *sorted({_kind(event) for event in plain or ()}))
            if fault is None
            else ("rejected", getattr(fault, "clause", ""), _template(_problem(fault)))
        )
        if _shown(fault) != _shown(fast_error) or not self._is_same(plain, fast):
            outcome.broken.append(self._of_fast(given, context, kept, (plain, fault)))
        outcome.is_deep = deep(outcome.behaviour)
        if outcome.is_deep:
            began = process_time()
            explanation = format_.explain(message, context=context)
            spans = explanation.spans
            slowest = max(slowest, process_time() - began)
            outcome.broken += _of_explain(message, spans, explanation.error, fault)
        if plain:
            found = broken_text_form(plain)
            outcome.broken += [Broken("text", text, sign) for text, sign in found]
            broken, outcome.is_encoded = broken_round_trip(format_, given, context, plain)
            outcome.broken += [Broken("encode", text, sign) for text, sign in broken]
        kilobytes = max(given.size, LEAST_SIZE) / 1024
        outcome.ms_per_kb = slowest * 1000 / kilobytes
        if outcome.ms_per_kb > MOST_MS_PER_KB:
            outcome.broken += self._of_time(given, context, outcome, kilobytes)
        if memory or peak_memory() - peak > LEAST_JUMP:
            self._measure_memory(given, context, outcome)

    def _is_same(self, plain: list[Event] | None, fast: list[Event] | None) -> bool:
        """Return whether both decoders gave the same, the records of an update joined or not."""
        if _text(plain) == _text(fast):
            return True
        if plain is None or fast is None or not self.format.joins_halves:
            return False
        return _joined(plain) == _joined(fast)

    def _fast(self, given: Input, context: Context) -> _Kept:
        """Return a decoder that has learned the messages of the case."""
        key = _key(given)
        kept = self._kept.get(key)
        is_fit = kept is not None and len(kept.history) < MOST_USES and kept.context == context
        if kept is not None and is_fit:
            return kept
        kept = _Kept(given, context, self.format.decoder(context, joins_halves=True))
        first = _first(given)
        for _ in range(TRAINED):
            _result(lambda: _events(kept.decode(first.message)))
        if len(self._kept) >= MOST_DECODERS:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = kept
        return kept

    def _of_fast(
        self,
        given: Input,
        context: Context,
        kept: _Kept,
        expected: tuple[list[Event] | None, Exception | None],
    ) -> Broken:
        """Say how the decoders differ: always, or only after the messages before it."""
        self._kept.pop(_key(given), None)
        again = self._fast(given, context)
        fast, error = _result(lambda: _events(again.decode(given.message)))
        plain, plain_error = expected
        if _shown(error) == _shown(plain_error) and self._is_same(plain, fast):
            text = f"the fast decoder differs only after {' '.join(kept.history)}"
            return Broken("fast", text, f"state {given.case}")
        text = difference(str(plain_error or _text(plain)), str(error or _text(fast)))
        return Broken("fast", text, f"fast {_where(plain_error)} / {_where(error)}")

    def _of_time(
        self, given: Input, context: Context, outcome: Outcome, kilobytes: float
    ) -> Iterator[Broken]:
        """Measure a slow input again; only a time that comes again counts."""
        decode = self.format.decoder(context)
        began = process_time()
        _result(lambda: list(self.format.to_events(given.message, context=context)))
        middle = process_time()
        _result(lambda: _events(decode(given.message)))
        end = process_time()
        for _ in self.format.explain(given.message, context=context).each():
            pass
        slowest = max(middle - began, end - middle, process_time() - end)
        outcome.ms_per_kb = min(outcome.ms_per_kb, slowest * 1000 / kilobytes)
        if outcome.ms_per_kb > MOST_MS_PER_KB:
            yield Broken("slow", f"{outcome.ms_per_kb:.0f} ms/KB", f"slow {given.case}")

    def _measure_memory(self, given: Input, context: Context, outcome: Outcome) -> None:
        tracemalloc.start()
        try:
            _result(lambda: list(self.format.to_events(given.message, context=context)))
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        size = given.size
        if peak > MOST_MEMORY * size + FIXED_MEMORY:
            size = max(size, unpacked_size(given))
        outcome.memory_per_byte = peak / max(size, LEAST_SIZE)
        if peak > MOST_MEMORY * size + FIXED_MEMORY:
            text = f"{peak:,} bytes for {size:,}"
            outcome.broken.append(Broken("memory", text, f"memory {given.case}"))


def peak_memory() -> int:
    """Return the largest number of resident bytes that this process has had."""
    return getrusage(RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _key(given: Input) -> tuple[object, ...]:
    """Return what the inputs have in common that one fast decoder decodes."""
    options = repr(sorted(given.options.items()))
    return given.case, options, *map(id, (given.tables, given.schemas, given.blobs))


def _first(given: Input) -> Input:
    found = (each for each in first_inputs(given.format) if each.case == given.case)
    return next(found, given)


@contextmanager
def _no_hang() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, HANG_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _result(read: ToEvents) -> tuple[list[Event] | None, DecodeError | OptionError | None]:
    try:
        return read(), None
    except (DecodeError, OptionError) as error:
        return None, error


def _events(found: object) -> list[Event]:
    return [
        each.to_event() if isinstance(each, Row) else each
        for each in found  # type: ignore[attr-defined]  # an iterable of rows and events
    ]


def _text(events: list[Event] | None) -> str:
    """Return events with every detail: -0.0 and NaN count, the class of a mapping does not."""
    return repr(events).replace("mappingproxy({})", "{}")


def _joined(events: list[Event]) -> tuple[str, str]:
    """Return events with the records of updates joined, up to one that lacks its other record."""
    joined: list[Event] = []
    try:
        joined.extend(join_halves(events))
    except IncompleteUpdateError as error:
        return _text(joined), str(error)
    return _text(joined), ""


def _problem(error: Exception) -> str:
    return error.problem if isinstance(error, (DecodeError, EncodeError)) else str(error)


def _shown(error: Exception | None) -> object:
    if isinstance(error, DecodeError):
        return error.problem, error.offset, error.clause, error.path
    return None if error is None else str(error)


def _kind(event: Event) -> str:
    return f"{type(event).__name__} {getattr(event, 'op', getattr(event, 'what', ''))}"


_DETAIL = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[0-9]+")


def _template(problem: str) -> str:
    """Return a problem without its numbers and names."""
    return _DETAIL.sub("_", problem)[:80]


def _where(error: Exception | None) -> str:
    if error is None:
        return "accepted"
    return f"{getattr(error, 'clause', '')} {_template(_problem(error))}"


def _of_exception(error: BaseException) -> Broken:
    last = traceback.extract_tb(error.__traceback__)
    places = [f"{frame.filename.rpartition('/cdcwire')[2]}:{frame.name}" for frame in last]
    sign = f"{type(error).__name__} {places[-1] if places else ''}"
    text = f"{type(error).__name__}: {error!s:.200} at {' '.join(places[-4:])}"
    return Broken("exception", text, sign)


def _of_explain(
    message: Message,
    spans: object,
    found: DecodeError | None,
    error: Exception | None,
) -> Iterator[Broken]:
    if isinstance(error, OptionError):
        return
    if _shown(found) != _shown(error):
        text = f"decode: {error}; explain: {found}"
        yield Broken("explain", text, f"explain {_where(error)} / {_where(found)}")
    sides = {"value": len(message.value or b"")}
    if isinstance(message, KafkaMessage):
        sides["key"] = len(message.key or b"")
    for span in spans:  # type: ignore[attr-defined]
        if not 0 <= span.start <= span.end <= sides.get(span.part, size_of(message)):
            text = f"span {span.path} is {span.start} to {span.end}"
            yield Broken("explain", text, f"span {span.clause}")
            return


def laws_of(format_name: str) -> Laws:
    """Return the laws of a format."""
    return Laws(get_format(format_name))
