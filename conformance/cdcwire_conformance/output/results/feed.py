"""The feed of new cases: an entry per corpus version and format, in Atom."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import NAMESPACE_URL, uuid5

from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.output.html.render import render_template
from cdcwire_conformance.output.results.history import version_order
from cdcwire_conformance.output.results.stored import StoredRun

_MOST_ENTRIES = 50
_MOST_LINKS = 200  # of one entry
_FEED = "cdcwire: new cases"


@dataclass(frozen=True, slots=True)
class NewCases:
    """The cases of one format that came with one version of the corpus.

    ``day``: the first day on which a run used this version.
    """

    id: str
    version: str
    format: str
    day: str
    cases: Sequence[Case]
    shown: Sequence[Case]


def new_cases(
    cases: Iterable[Case], with_page: Collection[str], runs: Iterable[StoredRun]
) -> list[NewCases]:
    """Return the entries, the newest version first. ``with_page``: ids that the site shows."""
    days = _days(runs)
    grouped: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        if case.id in with_page:
            grouped.setdefault((case.since, case.format), []).append(case)
    ordered = sorted(grouped, key=lambda key: version_order(key[0]), reverse=True)
    return [
        NewCases(
            f"urn:uuid:{uuid5(NAMESPACE_URL, f'cdcwire:corpus/{version}/{name}')}",
            version,
            name,
            _day(days, version),
            grouped[version, name],
            grouped[version, name][:_MOST_LINKS],
        )
        for version, name in ordered[:_MOST_ENTRIES]
    ]


def _days(runs: Iterable[StoredRun]) -> Mapping[str, str]:
    """Return the first day of each version of the corpus among the runs."""
    days: dict[str, str] = {}
    for run in runs:
        days[run.corpus] = min(days.get(run.corpus, run.date), run.date)
    return days


def _day(days: Mapping[str, str], version: str) -> str:
    """Return the first day on which this version, or a later one, was used."""
    reached = [day for known, day in days.items() if version_order(known) >= version_order(version)]
    return min(reached or days.values())


def feed_text(entries: Sequence[NewCases], base_url: str) -> str:
    """Return the feed. ``base_url``: the address of the site; links are relative without it."""
    return render_template(
        "new-cases.atom",
        entries=entries,
        title=_FEED,
        id=f"urn:uuid:{uuid5(NAMESPACE_URL, _FEED)}",
        base_url=base_url,
        updated=max((entry.day for entry in entries), default="1970-01-01"),
    )
