"""What was sent and what arrived: counted, and kept as the result of a scenario."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

Sequenced = TypeVar("Sequenced", bound=Hashable)  # what keeps its order: a partition, a key
RESULTS_VARIABLE = "CDCWIRE_SCENARIO_RESULTS"


@dataclass(frozen=True, slots=True)
class Counts:
    """Of the messages or changes of one scenario. ``out_of_order``: came after a later one."""

    sent: int
    received: int
    repeated: int
    lost: int
    invented: int
    out_of_order: int

    @property
    def is_exact(self) -> bool:
        """Whether all arrived, once and in order."""
        return not (self.repeated or self.lost or self.invented or self.out_of_order)


def count(
    sent: Mapping[Sequenced, Sequence[Hashable]], got: Mapping[Sequenced, Sequence[Hashable]]
) -> Counts:
    """Compare what was sent with what arrived, by partition or key.

    Equal things of one key are counted as often as they occur. A thing is out of order if it
    arrives after one that was sent later; repeats are left out.
    """
    repeated = lost = invented = out_of_order = 0
    for key in sent.keys() | got.keys():
        wanted, found = Counter(sent.get(key, ())), Counter(got.get(key, ()))
        for thing in wanted.keys() | found.keys():
            more = found[thing] - wanted[thing]
            if thing not in wanted:
                invented += more
            elif more > 0:
                repeated += more
            else:
                lost -= more
        out_of_order += _out_of_order(sent.get(key, ()), got.get(key, ()))
    return Counts(
        sent=sum(map(len, sent.values())),
        received=sum(map(len, got.values())),
        repeated=repeated,
        lost=lost,
        invented=invented,
        out_of_order=out_of_order,
    )


def _out_of_order(sent: Sequence[Hashable], got: Sequence[Hashable]) -> int:
    places: dict[Hashable, list[int]] = {}
    for place in range(len(sent) - 1, -1, -1):
        places.setdefault(sent[place], []).append(place)
    latest, late = -1, 0
    for thing in got:
        left = places.get(thing)
        if not left:
            continue  # invented, or a repeat of the last: counted elsewhere
        place = left.pop()
        late += place < latest
        latest = max(latest, place)
    return late


@dataclass(frozen=True, slots=True)
class Measured:
    """A table of what was measured. Rows have as many cells as the head."""

    title: str
    text: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(slots=True)
class ScenarioResult:
    """The result of one scenario, as the report shows it: ``counts``, ``figures`` and tables.

    ``series``: what it found in each second, by the name of what was measured.
    """

    id: str
    title: str
    text: str
    verdict: str = "failed"
    seconds: float = 0.0
    counts: Counts | None = None
    figures: dict[str, float | int | str] = field(default_factory=dict)
    series: dict[str, list[float]] = field(default_factory=dict)
    tables: list[Measured] = field(default_factory=list)


@contextmanager
def recorded(id: str, title: str, text: str) -> Iterator[ScenarioResult]:
    """Yield the result of a scenario to fill in, and write it at the end, passed or failed.

    It is added to the JSON lines that the environment variable ``CDCWIRE_SCENARIO_RESULTS`` names.
    """
    result, start = ScenarioResult(id, title, text), time.monotonic()
    try:
        yield result
        result.verdict = "passed"
    finally:
        result.seconds = round(time.monotonic() - start, 2)
        _write(result)


def record_not_run(id: str, title: str, reason: str) -> None:
    """Record that a scenario was not run, and why."""
    _write(ScenarioResult(id, title, reason, verdict="not run"))


def _write(result: ScenarioResult) -> None:
    target = os.environ.get(RESULTS_VARIABLE)
    if not target:
        return
    counts = result.counts
    line = {
        "id": result.id,
        "title": result.title,
        "text": " ".join(result.text.split()),
        "verdict": result.verdict,
        "seconds": result.seconds,
        "counts": None if counts is None else {n: getattr(counts, n) for n in counts.__slots__},
        "figures": result.figures,
        "series": result.series,
        "tables": list(map(asdict, result.tables)),
    }
    with Path(target).open("a", encoding="utf-8") as out:
        out.write(json.dumps(line) + "\n")
