"""What was sent and what arrived: counted, and kept as a story for the report."""

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

Lane = TypeVar("Lane", bound=Hashable)
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
    sent: Mapping[Lane, Sequence[Hashable]], got: Mapping[Lane, Sequence[Hashable]]
) -> Counts:
    """Compare what was sent with what arrived, lane by lane.

    A lane is what keeps its order, such as a partition or a key. Equal things in one lane are
    counted as often as they are there. Out of order is what stands behind a thing that was sent
    later, the repeats left out.
    """
    repeated = lost = invented = out_of_order = 0
    for lane in sent.keys() | got.keys():
        wanted, found = Counter(sent.get(lane, ())), Counter(got.get(lane, ()))
        for thing in wanted.keys() | found.keys():
            more = found[thing] - wanted[thing]
            if thing not in wanted:
                invented += more
            elif more > 0:
                repeated += more
            else:
                lost -= more
        out_of_order += _out_of_order(sent.get(lane, ()), got.get(lane, ()))
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
class Story:
    """One scenario as the report tells it. ``counts`` and ``figures`` are what it found.

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
def telling(id: str, title: str, text: str) -> Iterator[Story]:
    """Give a story to fill in, and write it down at the end, passed or failed.

    It is added to the JSON lines that the environment variable ``CDCWIRE_SCENARIO_RESULTS`` names.
    """
    story, start = Story(id, title, text), time.monotonic()
    try:
        yield story
        story.verdict = "passed"
    finally:
        story.seconds = round(time.monotonic() - start, 2)
        _write(story)


def tell_not_run(id: str, title: str, reason: str) -> None:
    """Write down that a scenario was not run, and why."""
    _write(Story(id, title, reason, verdict="not run"))


def _write(story: Story) -> None:
    target = os.environ.get(RESULTS_VARIABLE)
    if not target:
        return
    counts = story.counts
    line = {
        "id": story.id,
        "title": story.title,
        "text": " ".join(story.text.split()),
        "verdict": story.verdict,
        "seconds": story.seconds,
        "counts": None if counts is None else {n: getattr(counts, n) for n in counts.__slots__},
        "figures": story.figures,
        "series": story.series,
        "tables": list(map(asdict, story.tables)),
    }
    with Path(target).open("a", encoding="utf-8") as out:
        out.write(json.dumps(line) + "\n")
