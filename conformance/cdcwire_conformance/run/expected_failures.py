"""The list of failures that are known: one line each, with its reason.

    # id of a case | reason | part of the failure's text (may be left out)
    craft/values/bigint-unsigned-max | Java long, issue 12 | got "-1"
    craft/rows/insert@cut:{3,7..12}  | a short read is taken for zeros
    craft/bits/*                     | BIT is not supported yet
    craft@state-leaks                | a cache keeps the table of the message before

A known failure does not fail the run. An entry that no longer fails is *stale* and does: the list
shrinks as the decoder gets better, and never hides anything else.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import groupby
from pathlib import Path

from cdcwire.console.visible import visible
from cdcwire.files.local_files import read_short
from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.corpus import id_fits

STATE_LEAKS = "@state-leaks"
_SET = re.compile(r"(?P<head>[^{}]*)\{(?P<items>[^{}]*)\}")
_RANGE = re.compile(r"([0-9]{1,9})\.\.([0-9]{1,9})")
_LONGEST_RANGE = 1_000_000
_IDS_SHOWN = 4
_HEAD = """\
# Known failures: id of a case (or ids, or a pattern with *) | reason | part of the failure's text
# An entry that no longer fails is an error: remove it.
"""


class ExpectedFailuresError(ValueError):
    """The list can't be read. The text names file and line."""


@dataclass(slots=True)
class ExpectedFailure:
    """One entry. ``used``: the ids whose failures it explained in this run."""

    pattern: str
    reason: str
    fragment: str = ""
    line: int = 0
    used: set[str] = field(default_factory=set, compare=False)

    @property
    def is_pattern(self) -> bool:
        """True if the entry contains a wildcard."""
        return any(sign in self.pattern for sign in "*?[")

    def ids(self) -> Iterator[str]:
        """Yield the ids that the entry names. Raises: ValueError for a set that is malformed."""
        found = _SET.fullmatch(self.pattern)
        if found is None:
            if "{" in self.pattern or "}" in self.pattern:
                raise ValueError("a set is written ID@RULE:{1,3,5..9}")
            yield self.pattern
            return
        for item in found["items"].split(","):
            numbers = _RANGE.fullmatch(item)
            if numbers is None:
                yield found["head"] + item
                continue
            first, last = map(int, numbers.groups())
            if not first <= last <= first + _LONGEST_RANGE:
                raise ValueError(f"{item} is not a range")
            yield from (f"{found['head']}{number}" for number in range(first, last + 1))

    def meets(self, case_id: str) -> bool:
        """Return whether a pattern matches the id of a case."""
        return id_fits(case_id, self.pattern)

    def explains(self, text: str) -> bool:
        """Return whether a failure with this text is the known one."""
        return self.fragment in text

    def use(self, case_id: str) -> None:
        """Record that the entry explains the failure of a case."""
        self.used.add(case_id)


class ExpectedFailures:
    """The entries of a list. The first that meets a case counts, exact ids before patterns.

    Raises (on creation): ValueError for a malformed set.
    """

    def __init__(self, entries: Iterable[ExpectedFailure] = (), file: str = "") -> None:
        self.entries = list(entries)
        self.file = file
        self._exact: dict[str, ExpectedFailure] = {}
        for entry in self.entries:
            if not entry.is_pattern:
                for case_id in entry.ids():
                    self._exact.setdefault(case_id, entry)
        self._patterns = [entry for entry in self.entries if entry.is_pattern]

    def find(self, case_id: str) -> ExpectedFailure | None:
        """Return the entry of a case, if there is one."""
        exact = self._exact.get(case_id)
        if exact is not None:
            return exact
        return next((entry for entry in self._patterns if entry.meets(case_id)), None)

    def expects_leaks(self, format_name: str) -> bool:
        """Return whether the list has an entry for state leaks of a format."""
        return f"{format_name}{STATE_LEAKS}" in self._exact

    def excuse(self, case_id: str) -> None:
        """Keep the entry of a case that was not run from being stale."""
        entry = self.find(case_id)
        if entry is not None:
            entry.use(case_id)

    def stale(
        self, judged: Iterable[str], complete: Collection[str] = ()
    ) -> list[tuple[ExpectedFailure, str]]:
        """Return the entries that are stale, each with the reason.

        ``judged``: the ids of all cases of this run. Entries for cases that were not chosen are
        left alone, unless their format is among the ``complete`` ones. Entries for state leaks are
        never stale: whether a leak shows depends on the order of the cases.
        """
        if not self.entries:
            return []
        ids = set(judged)
        found = []
        for entry in self.entries:
            if entry.pattern.endswith(STATE_LEAKS):
                continue
            named = list(filter(entry.meets, ids)) if entry.is_pattern else list(entry.ids())
            passed = (
                [] if entry.is_pattern and entry.used else sorted(ids & set(named) - entry.used)
            )
            missing = [] if entry.is_pattern and named else sorted(set(named) - ids)
            if passed:
                whole = len(named) == len(passed)
                which = "it" if whole else f"{_some(passed)} of it"
                found.append((entry, f"{which} does not fail any more"))
            elif entry.pattern.partition("/")[0] in complete and (missing or not named):
                found.append((entry, f"there is no case {_some(missing) or entry.pattern}"))
        return found


def _some(ids: list[str]) -> str:
    more = f" and {len(ids) - _IDS_SHOWN} more" if len(ids) > _IDS_SHOWN else ""
    return f"{', '.join(ids[:_IDS_SHOWN])}{more}"


def read_expected_failures(file: Path) -> ExpectedFailures:
    """Return the list in a file. Raises: ExpectedFailuresError that names the line."""
    try:
        text = read_short(file).decode("utf-8")
    except OSError as error:
        raise ExpectedFailuresError(f"{file} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ExpectedFailuresError(f"{file}: byte {error.start} is not UTF-8") from error
    entries: list[ExpectedFailure] = []
    lines: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        case_id, *rest = (part.strip() for part in line.split("|", 2))
        if not case_id or not rest or not rest[0]:
            raise ExpectedFailuresError(f"{file}:{number}: expected CASE-ID | REASON")
        entry = ExpectedFailure(case_id, rest[0], rest[1] if rest[1:] else "", number)
        try:
            named = [case_id] if entry.is_pattern else list(entry.ids())
        except ValueError as error:
            raise ExpectedFailuresError(f"{file}:{number}: {case_id}: {error}") from error
        for each in named:
            if lines.setdefault(each, number) != number:
                raise ExpectedFailuresError(f"{file}:{number}: {each} is duplicated")
        entries.append(entry)
    return ExpectedFailures(entries, str(file))


def check_ids(
    expected: ExpectedFailures, known: Collection[str], retired: Mapping[str, str]
) -> None:
    """Check that each entry is about a stored case, or what is derived from one.

    ``known``: the ids of all stored cases. ``retired``: ids that were given up, with the reason.
    Raises: ExpectedFailuresError for an unknown id.
    """
    for entry in expected.entries:
        if entry.pattern.endswith(STATE_LEAKS):
            name = entry.pattern.removesuffix(STATE_LEAKS)
            if name not in FORMAT_NAMES:
                raise _unknown(expected, entry, f"there is no format {name!r}")
            continue
        stem = entry.pattern.partition("@")[0]
        if stem in known or (
            entry.is_pattern and any(id_fits(each, stem) or entry.meets(each) for each in known)
        ):
            continue
        if stem in retired:
            raise _unknown(expected, entry, f"the case is retired: {retired[stem]}")
        near = get_close_matches(stem, known, 1)
        advice = f"; did you mean {near[0]}?" if near else ""
        raise _unknown(expected, entry, f"there is no case {entry.pattern}{advice}")


def _unknown(
    expected: ExpectedFailures, entry: ExpectedFailure, problem: str
) -> ExpectedFailuresError:
    return ExpectedFailuresError(f"{expected.file}:{entry.line}: {problem}")


def expected_failures_text(
    failures: Mapping[str, str], known: ExpectedFailures | None = None
) -> str:
    """Return a list of these failures, id to text; entries that are known keep their reason.

    Failures with one text that a rule derives from one case share a line, which names each of them.
    """
    lines: dict[str, str] = {}
    fresh: dict[tuple[str, str], list[str]] = {}
    for case_id in sorted(failures):
        entry = None if known is None else known.find(case_id)
        if entry is not None and (entry.is_pattern or entry.pattern == case_id):
            fragment = f" | {entry.fragment}" if entry.fragment else ""
            lines.setdefault(entry.pattern, f"{entry.pattern} | {entry.reason}{fragment}")
            continue
        reason = f"unreviewed: {visible(failures[case_id]).replace('|', '/')}"
        if entry is not None:
            reason = entry.reason + (f" | {entry.fragment}" if entry.fragment else "")
        fresh.setdefault((_stem(case_id), reason), []).append(case_id)
    for (stem, reason), ids in fresh.items():
        pattern = ids[0] if len(ids) == 1 else f"{stem}{{{_set_of(ids, stem)}}}"
        lines.setdefault(pattern, f"{pattern} | {reason}")
    return _HEAD + "".join(f"{lines[pattern]}\n" for pattern in sorted(lines))


def _stem(case_id: str) -> str:
    """Return the id itself, or for a derived case the part that all of its rule share."""
    head, sign, item = case_id.partition(":")
    can_share = bool(sign) and "@" in head and not set(item) & set("{},*?[|")
    return f"{head}:" if can_share else case_id


def _set_of(ids: Iterable[str], stem: str) -> str:
    """Return the items of a set, with neighbouring numbers as ranges."""
    items = [case_id.removeprefix(stem) for case_id in ids]
    numbers = sorted(int(item) for item in items if _is_number(item))
    texts = [item for item in items if not _is_number(item)]
    runs = []
    for _, group in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        run = [number for _, number in group]
        runs.append(f"{run[0]}..{run[-1]}" if len(run) > 2 else ",".join(map(str, run)))
    return ",".join([*runs, *texts])


def _is_number(item: str) -> bool:
    return item.isdecimal() and len(item) < 10 and str(int(item)) == item
