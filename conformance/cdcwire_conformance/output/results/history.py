"""Stored runs by format, reader and release, with what changed from one run to the next."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.output.results.stored import StoredRun, file_name

ASKED = ("passed", "failed", "crashed", "timed out", "expected failure")
_PARTS = re.compile(r"\d+|[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Release:
    """One version of a reader on one format, and its runs, the oldest first."""

    reader: str
    version: str
    format: str
    runs: tuple[StoredRun, ...]

    @property
    def newest(self) -> StoredRun:
        """The last run, which may have a problem and no results."""
        return self.runs[-1]

    @property
    def judged(self) -> StoredRun | None:
        """The last run with results."""
        return next((run for run in reversed(self.runs) if run.results is not None), None)

    @property
    def change(self) -> str:
        """The result before the last different one, or since when there is this result."""
        judged = [run for run in self.runs if run.results is not None]
        if not judged:
            return ""
        newest = judged[-1]
        for run in reversed(judged):
            if _figures(run) != _figures(newest):
                passed, asked, corpus = _figures(run)
                other = f", corpus {corpus}" if corpus != newest.corpus else ""
                return f"{passed}/{asked} until {run.last}{other}"
        return f"same since {judged[0].date}"


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader, the name of its page, and its releases: by format, the newest first."""

    name: str
    slug: str
    package: str
    command: str
    releases: tuple[Release, ...]

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats that it was run on."""
        return tuple(dict.fromkeys(release.format for release in self.releases))

    def of(self, format_name: str) -> tuple[Release, ...]:
        """Return the releases that were run on a format."""
        return tuple(each for each in self.releases if each.format == format_name)


def passed_text(run: StoredRun) -> str:
    """Return how many cases passed of those asked: ``318/373``."""
    passed, asked, _ = _figures(run)
    return f"{passed:,}/{asked:,}"


def share(run: StoredRun) -> float:
    """Return the share of the asked cases that passed, from 0 to 1."""
    passed, asked, _ = _figures(run)
    return passed / asked if asked else 0.0


def _figures(run: StoredRun) -> tuple[int, int, str]:
    return run.count("passed"), run.count(*ASKED), run.corpus


def readers_of(runs: Iterable[StoredRun]) -> tuple[Reader, ...]:
    """Return the readers in the order of their names."""
    by_reader: dict[str, list[StoredRun]] = {}
    for run in runs:
        by_reader.setdefault(run.reader, []).append(run)
    slugs: dict[str, str] = {}
    for name in sorted(by_reader, key=lambda name: (name.casefold(), name)):
        slugs[name] = _unused(file_name(name).lower(), slugs.values())
    return tuple(_reader(name, slug, by_reader[name]) for name, slug in slugs.items())


def _unused(slug: str, used: Iterable[str]) -> str:
    taken = {*used, "index"}
    number, found = 2, slug
    while found in taken:
        found, number = f"{slug}-{number}", number + 1
    return found


def _reader(name: str, slug: str, runs: Sequence[StoredRun]) -> Reader:
    releases = []
    for format_name in FORMAT_NAMES:
        by_version: dict[str, list[StoredRun]] = {}
        for run in runs:
            if run.format == format_name:
                by_version.setdefault(run.version, []).append(run)
        for version in sorted(by_version, key=version_order, reverse=True):
            ordered = sorted(by_version[version], key=lambda run: (run.last, run.date))
            releases.append(Release(name, version, format_name, tuple(ordered)))
    newest = max(runs, key=lambda run: run.last)
    return Reader(name, slug, newest.package, newest.command, tuple(releases))


def version_order(version: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that sorts versions: 1.9 before 1.10, and 2.0rc1 before 2.0."""
    parts = tuple(
        (1, int(part[:30]), "") if part.isdecimal() else (-1, 0, part)
        for part in _PARTS.findall(version)
    )
    return (*parts, (0, 0, ""))
