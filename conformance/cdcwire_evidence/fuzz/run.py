"""A run: inputs until the time is over, findings, and the inputs that reached new code.

A run can go on where the last one ended: what it learned is in ``STATE/<format>.json``.
New code is a line of the codecs that runs for the first time. ``sys.monitoring`` (Python 3.12)
stops watching a line once it ran, so this costs nothing later.
"""

from __future__ import annotations

import base64
import json
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random
from statistics import fmean
from types import CodeType
from typing import Any

from cdcwire.core.message import KafkaMessage
from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.processes import process_pool
from cdcwire_evidence.fuzz.event_edits import decoded
from cdcwire_evidence.fuzz.inputs import Input, first_inputs
from cdcwire_evidence.fuzz.laws import LAWS, Behaviour, Broken, Laws, Outcome, laws_of
from cdcwire_evidence.fuzz.mutate import Kind, made_again, mutated, number_of

_PACKAGE = "/cdcwire/"
_TOOL = 4  # a number that coverage.py and debuggers leave free


@contextmanager
def new_lines() -> Iterator[Callable[[], int]]:
    """Give a function that returns how many lines of the codecs ran for the first time so far.

    It always returns 0 before Python 3.12.
    """
    monitoring: Any = getattr(sys, "monitoring", None)
    if monitoring is None:
        yield lambda: 0
        return
    count = 0

    def see(code: CodeType, line: int) -> object:
        nonlocal count
        count += _PACKAGE in code.co_filename
        return monitoring.DISABLE

    event = monitoring.events.LINE
    monitoring.use_tool_id(_TOOL, "cdcwire fuzz")
    monitoring.register_callback(_TOOL, event, see)
    monitoring.set_events(_TOOL, event)
    monitoring.restart_events()
    try:
        yield lambda: count
    finally:
        monitoring.set_events(_TOOL, 0)
        monitoring.register_callback(_TOOL, event, None)
        monitoring.free_tool_id(_TOOL)


DEEP_EVERY = 8  # inputs; a new behaviour is always looked at deeply
MEMORY_EVERY = 64
BURST = 32  # changes of one input, so that its decoders and what is known of it are used again
SURROUNDINGS_OF = 0.3  # of the bursts begin with a change of what decoding needs
ACCEPTED_OF = 0.9  # of the bursts change an accepted input: one that is rejected hides later code
EVENTS_OF = 0.25  # of the changes are made to events
WRITE_EVERY = 1 << 14  # inputs; an interrupted run loses no more of them
MOST_CHANGES = 8  # in the trail of one input
MOST_KEPT = 4000  # inputs that are kept for one format
MOST_FINDINGS = 200  # with different signs, of one format
LEAST_SHARE = 10.0  # seconds; a format that was cut needs some of them to read its state
STATE_VARIABLE = "CDCWIRE_FUZZ_STATE"
DEFAULT_STATE = Path(".tox/fuzz-state")
RESULTS = "results.json"
FINDINGS = "findings.jsonl"


@dataclass(slots=True)
class Tally:
    """The figures of one format, over all runs of one state.

    ``deep``: inputs that were explained. ``weighed``: inputs whose memory was measured.
    ``encoded``: accepted inputs that were encoded, not refused. ``broken``: findings with
    different signs by law.
    """

    format: str
    inputs: int = 0
    accepted: int = 0
    deep: int = 0
    encoded: int = 0
    weighed: int = 0
    kept: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    slowest_name: str = ""
    largest: float = 0.0
    largest_name: str = ""
    broken: dict[str, int] = field(default_factory=lambda: dict.fromkeys(LAWS, 0))


@dataclass(frozen=True, slots=True)
class Plan:
    """One run of one format. ``seconds``: by the clock. ``inputs``: over all runs; 0: no limit."""

    format: str
    seconds: float
    seed: int
    inputs: int
    state: Path | None


Result = tuple[Tally, list[dict[str, Any]]]  # the figures and the findings of one format


class FormatRun:
    """The run of one format, one input after the other."""

    def __init__(self, plan: Plan, laws: Laws | None = None) -> None:
        self.plan = plan
        self.laws = laws_of(plan.format) if laws is None else laws
        self.tally = Tally(plan.format)
        self.findings: dict[str, dict[str, Any]] = {}
        self.kept: list[Input] = []
        self._behaviours: set[tuple[str, ...]] = set()
        self._left = 0
        self._base: Input
        self._resume()

    def run(self) -> None:
        """Check inputs until the time or the number of inputs is over, and write the state."""
        end = time.monotonic() + self.plan.seconds
        began = time.process_time()
        chance = Random(f"{self.plan.seed} {self.tally.inputs}")
        wanted = self.plan.inputs or None
        with new_lines() as lines:
            while time.monotonic() < end and (wanted is None or self.tally.inputs < wanted):
                self.step(chance, lines)
                if self.tally.inputs % WRITE_EVERY == 0:
                    began = self._write(began)
        self._write(began)

    def step(self, chance: Random, lines: Callable[[], int]) -> Outcome:
        """Check one input, and keep it if it is new."""
        tally, number = self.tally, self.tally.inputs
        given = self._next(chance)
        before = lines()
        memory = number % MEMORY_EVERY == 0

        def is_new(behaviour: Behaviour) -> bool:
            return lines() > before or behaviour not in self._behaviours

        outcome = self.laws.check(
            given,
            deep=lambda behaviour: number % DEEP_EVERY == 0 or is_new(behaviour),
            memory=memory,
        )
        tally.inputs += 1
        tally.accepted += outcome.is_accepted
        tally.deep += outcome.is_deep
        tally.encoded += outcome.is_encoded
        tally.weighed += memory
        if outcome.ms_per_kb > tally.slowest:
            tally.slowest, tally.slowest_name = outcome.ms_per_kb, given.name
        if outcome.memory_per_byte > tally.largest:
            tally.largest, tally.largest_name = outcome.memory_per_byte, given.name
        for broken in outcome.broken:
            self._note(given, broken)
        is_kept = is_new(outcome.behaviour) and not outcome.broken
        if is_kept and len(given.trail) < MOST_CHANGES:
            self._behaviours.add(outcome.behaviour)
            self.kept.append(given)
            if len(self.kept) > MOST_KEPT:
                self.kept.pop(chance.randrange(len(self.kept)))
        return outcome

    def _next(self, chance: Random) -> Input:
        """Return a changed input. The inputs of a burst are changes of one."""
        if not self._left:
            self._left = BURST
            self._base = self._chosen(chance)
            if chance.random() < SURROUNDINGS_OF:
                self._base = mutated(self._base, number_of("surroundings", chance))
                return self._base
        self._left -= 1
        kind: Kind = "events" if chance.random() < EVENTS_OF else "message"
        return mutated(self._base, number_of(kind, chance))

    def _chosen(self, chance: Random) -> Input:
        bases: Sequence[Input] = first_inputs(self.plan.format)
        if self.kept and chance.random() < 0.5:
            bases = self.kept
        # Small inputs show the same in less time. One of twenty may be of any size.
        tries = 1 if chance.random() < 0.05 else 8
        wants_accepted = chance.random() < ACCEPTED_OF
        for _ in range(tries):
            found = min((chance.choice(bases) for _ in range(tries)), key=lambda each: each.size)
            if not wants_accepted or decoded(found):
                break
        return found

    def _note(self, given: Input, broken: Broken) -> None:
        if broken.sign in self.findings:
            self.findings[broken.sign]["count"] += 1
            return
        if len(self.findings) < MOST_FINDINGS:
            self.tally.broken[broken.law] += 1
            self.findings[broken.sign] = _finding(given, broken)

    def _resume(self) -> None:
        if self.plan.state is None:
            return
        with suppress(FileNotFoundError):
            known = _read_state(self.plan.state, self.plan.format)
            self.tally, findings = _result_of(known)
            self.findings = {each["sign"]: each for each in findings}
            for name in known["kept"]:
                with suppress(LookupError):  # a case that is no longer there
                    self.kept.append(made_again(name))
            self._behaviours = set(map(tuple, known["behaviours"]))

    def _write(self, began: float) -> float:
        """Write the state with the time since ``began``. Returns: the time of now."""
        now = time.process_time()
        self.tally.seconds += now - began
        self.tally.kept = len(self.kept)
        if self.plan.state is None:
            return now
        known = {
            "tally": asdict(self.tally),
            "findings": list(self.findings.values()),
            "kept": [each.name for each in self.kept],
            "behaviours": sorted(self._behaviours),
        }
        self.plan.state.mkdir(parents=True, exist_ok=True)
        file = _state_file(self.plan.state, self.plan.format)
        text = json.dumps(known, indent=1, ensure_ascii=True) + "\n"
        new = file.with_suffix(".new")  # an interrupted run leaves a whole file
        new.write_text(text, "utf-8")
        new.replace(file)
        return now


def _state_file(state: Path, format_name: str) -> Path:
    return state / f"{format_name}.json"


def _read_state(state: Path, format_name: str) -> dict[str, Any]:
    """Return what a state has of a format. Raises: FileNotFoundError."""
    known: dict[str, Any] = json.loads(_state_file(state, format_name).read_text("utf-8"))
    return known


def _result_of(known: Mapping[str, Any]) -> Result:
    return Tally(**known["tally"]), known["findings"]


def _finding(given: Input, broken: Broken) -> dict[str, Any]:
    """Return a finding with everything that makes its input again, without the corpus too."""
    message = given.message
    return {
        "format": given.format,
        "name": given.name,
        "law": broken.law,
        "sign": broken.sign,
        "text": broken.text,
        "count": 1,
        "options": dict(given.options),
        "path": getattr(message, "path", None),
        "key": _base64(message.key) if isinstance(message, KafkaMessage) else None,
        "value": _base64(message.value),
    }


def _base64(raw: bytes | None) -> str | None:
    return None if raw is None else base64.b64encode(raw).decode("ascii")


def run_all(
    formats: tuple[str, ...],
    minutes: float,
    *,
    jobs: int,
    seed: int,
    inputs: int,
    state: Path,
    report: Callable[[Tally], None] = lambda tally: None,
) -> tuple[list[Tally], list[Mapping[str, Any]]]:
    """Run all formats, each for its share of the time, and write results and findings.

    Formats with large messages begin, because they take the most time.
    The time that a format does not need, because it reached ``inputs``, goes to those after it.
    Time that is then left goes to those whose share was too short for ``inputs``.
    The files also have the other formats of the state.
    Returns: the figures, and the findings.
    """
    by_size = sorted(formats, key=_mean_size, reverse=True)
    plans = [Plan(name, 0, seed, inputs, state) for name in by_size]
    results: dict[str, Result] = {}
    for tally, found in _ran(plans, minutes * 60, jobs):
        results[tally.format] = tally, found
        report(tally)
    all_results = dict(results)
    for name in set(FORMAT_NAMES) - set(formats):
        with suppress(FileNotFoundError):
            all_results[name] = _result_of(_read_state(state, name))
    _write_results(state, minutes, jobs, _in_order(all_results))
    found_now = _in_order(results)
    return [tally for tally, _ in found_now], [each for _, found in found_now for each in found]


def _in_order(results: Mapping[str, Result]) -> list[Result]:
    return [results[name] for name in FORMAT_NAMES if name in results]


def _write_results(state: Path, minutes: float, jobs: int, results: list[Result]) -> None:
    state.mkdir(parents=True, exist_ok=True)
    findings = (each for _, found in results for each in found)
    lines = "".join(json.dumps(each, ensure_ascii=True) + "\n" for each in findings)
    (state / FINDINGS).write_text(lines, "utf-8")
    document = {
        "minutes": minutes,
        "jobs": jobs,
        "deep_every": DEEP_EVERY,
        "memory_every": MEMORY_EVERY,
        "formats": [asdict(tally) for tally, _ in results],
    }
    (state / RESULTS).write_text(json.dumps(document, indent=1) + "\n", "utf-8")


def _mean_size(format_name: str) -> float:
    return fmean(each.size for each in first_inputs(format_name))


def _ran(plans: Sequence[Plan], seconds: float, jobs: int) -> Iterator[Result]:
    """Yield the result of each format once.

    A format that its share cuts below its inputs goes on when no other is waiting. Its result
    follows when it has all inputs, or when no time is left.
    """
    end = time.monotonic() + seconds
    plan_of = {plan.format: plan for plan in plans}
    waiting = deque(plans)
    cut: dict[str, Result] = {}

    def share(count: int) -> float:
        return max(0.0, end - time.monotonic()) * min(jobs, count) / count

    def next_plan(running: int) -> Plan | None:
        if not waiting and cut and share(len(cut) + running) >= LEAST_SHARE:
            waiting.extend(plan_of[name] for name in cut)
            cut.clear()
        if not waiting:
            return None
        seconds = share(len(waiting) + running)
        return replace(waiting.popleft(), seconds=seconds)

    def is_final(result: Result) -> bool:
        tally, _ = result
        if tally.inputs >= plan_of[tally.format].inputs:
            return True
        cut[tally.format] = result
        return False

    if min(jobs, len(plans)) == 1:
        while plan := next_plan(0):
            yield from filter(is_final, [run_format(plan)])
    else:
        running: set[Future[Result]] = set()
        with process_pool(jobs) as pool:
            while True:
                while len(running) < jobs and (plan := next_plan(len(running))):
                    running.add(pool.submit(run_format, plan))
                if not running:
                    break
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from filter(is_final, [each.result() for each in done])
    yield from cut.values()


def run_format(plan: Plan) -> Result:
    """Run one format. Returns: its figures and its findings."""
    run = FormatRun(plan)
    run.run()
    return run.tally, list(run.findings.values())
