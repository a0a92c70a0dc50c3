"""Many pairs, each with a plant and without, and how each kind of plant was judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations_with_replacement

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.compare.embedded.engine import compare_feeds
from cdcwire_evidence.planting.judging import Compare, Judged, Verdict, judged
from cdcwire_evidence.planting.pairs import chance_of, has_rows, judgeable, other_values, pairs
from cdcwire_evidence.planting.plants import KINDS, LATE_COLUMN, plants

FORMAT_PAIRS = tuple(combinations_with_replacement(FORMAT_NAMES, 2))
NOTHING = "nothing"  # the kind of a pair without a plant
_NOT_JUDGED = ("refused", "not carried", "lossy")
_MOST_SHOWN = 3  # findings of a kind and pair of formats
_MOST_PLANTS = 3  # of one stream: to draw and to compare it without one takes as long as they do
_PAIRS_OF_AN_EXAMPLE = 2  # at least, on average: some streams have no row


@dataclass(slots=True)
class Tally:
    """The verdicts by kind of plant, and the first findings of each kind in words.

    ``reasons``: why pairs were not judged, by verdict. ``streams``: the number of streams with a
    row. ``judged``: the number of streams with a judged pair.
    """

    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    streams: int = 0
    judged: int = 0
    findings: list[str] = field(default_factory=list)

    @property
    def pairs(self) -> int:
        """The number of pairs that were compared."""
        idle = ("without effect", *_NOT_JUDGED)
        return sum(n for (_, verdict), n in self.verdicts.items() if verdict not in idle)

    def count(self, verdict: Verdict) -> int:
        """Return how often a verdict was reached, for any kind."""
        return sum(number for (_, found), number in self.verdicts.items() if found == verdict)

    def add(self, formats: tuple[str, str], kind: str, what: str, found: Judged) -> None:
        """Count a verdict."""
        self.verdicts[kind, found.verdict] += 1
        if kind == NOTHING and found.verdict in _NOT_JUDGED:
            self.reasons[found.verdict, found.reason] += 1
        if found.is_finding and self.verdicts[kind, found.verdict] <= _MOST_SHOWN:
            names = " and ".join(formats)
            self.findings.append(f"{names}: {found.verdict}: {kind}: {what}: {found.said}")

    def join(self, other: Tally) -> None:
        """Add the verdicts of another share."""
        self.verdicts.update(other.verdicts)
        self.reasons.update(other.reasons)
        self.streams += other.streams
        self.judged += other.judged
        self.findings += other.findings


def run(
    formats: tuple[str, str],
    examples: int,
    *,
    seed_of_run: int = 1,
    compare: Compare = compare_feeds,
) -> Tally:
    """Judge pairs of two formats: each stream without a plant, and with each of some kinds."""
    tally = Tally()

    @seed(seed_of_run)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def one_pair(data: st.DataObject) -> None:
        pair = data.draw(pairs(*formats))
        if not has_rows(pair.events):
            return
        tally.streams += 1
        while True:
            without = judged(pair, compare=compare)
            settings_of_both = f"{dict(pair.left.options)} {dict(pair.right.options)}"
            tally.add(formats, NOTHING, settings_of_both, without)
            other_pair = judgeable(pair, without.verdict)
            if other_pair is None:
                break
            pair = other_pair
        if without.verdict not in _NOT_JUDGED:
            tally.judged += 1
        if without.verdict != "equal":
            return
        chance = chance_of(data.draw(st.integers(0, 2**32)))
        kinds = chance.sample(KINDS, len(KINDS))
        planted = 0
        for kind in [LATE_COLUMN] * chance.randrange(2) + kinds:
            if kind in ("out of order", "moved", "partition") and not pair.has_order:
                continue
            if kind == "type" and (pair.is_defined or pair.right.is_stored):
                continue  # the definition or schema file is the type of the column
            other = other_values(data.draw, pair)
            plant = next(plants(kind, pair.events, chance, other), None)
            if plant is not None and has_rows(plant.events):
                what = f"{plant.what} {settings_of_both}"
                tally.add(formats, kind, what, judged(pair, plant, compare))
                planted += 1
            if planted == _MOST_PLANTS:
                return

    one_pair()
    return tally


def shares(total: int) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield each pair of formats with the number of its streams, for a number of pairs."""
    each = -(-total // (len(FORMAT_PAIRS) * _PAIRS_OF_AN_EXAMPLE))
    yield from ((formats, each) for formats in FORMAT_PAIRS)
