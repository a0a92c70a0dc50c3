"""The list of failures that are known: one line each, with its reason.

    # id of a case, or a pattern with * | reason | part of the failure's text (may be left out)
    craft/values/bigint-unsigned-max | Java long, issue 12 | got "-1"
    craft/*@cut:*                    | a short read is taken for zeros

A known failure does not fail the run. An entry that no longer fails is *stale* and does: the list
shrinks as the decoder gets better, and never hides anything else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cdcwire_conformance.corpus import id_fits
from cdcwire_conformance.visible import visible

_HEAD = """\
# Known failures: id of a case, or a pattern with * | reason | part of the failure's text (optional)
# An entry that no longer fails is an error: remove it.
"""


class ExpectedFailuresError(ValueError):
    """The list can't be read. The text names file and line."""


@dataclass(slots=True)
class ExpectedFailure:
    """One entry. ``uses`` counts the failures that it explained in this run."""

    pattern: str
    reason: str
    fragment: str = ""
    line: int = 0
    uses: int = field(default=0, compare=False)

    @property
    def is_pattern(self) -> bool:
        """Whether the entry contains a wildcard."""
        return any(sign in self.pattern for sign in "*?[")

    def meets(self, case_id: str) -> bool:
        """Return whether the entry matches the id of a case."""
        return id_fits(case_id, self.pattern) if self.is_pattern else case_id == self.pattern


class ExpectedFailures:
    """The entries of a list; the first that meets a case counts, exact ids before patterns."""

    def __init__(self, entries: Iterable[ExpectedFailure] = (), file: str = "") -> None:
        self.entries = list(entries)
        self.file = file
        self._exact: Mapping[str, ExpectedFailure] = {
            entry.pattern: entry for entry in self.entries if not entry.is_pattern
        }
        self._patterns = [entry for entry in self.entries if entry.is_pattern]

    def find(self, case_id: str) -> ExpectedFailure | None:
        """Return the entry of a case, if there is one."""
        exact = self._exact.get(case_id)
        if exact is not None:
            return exact
        return next((entry for entry in self._patterns if entry.meets(case_id)), None)

    def stale(
        self, judged: Iterable[str], complete: Collection[str] = ()
    ) -> list[tuple[ExpectedFailure, str]]:
        """Return the entries that explained nothing, each with the reason why it is stale.

        ``judged``: the ids of all cases of this run. Entries for cases that were not chosen are
        left alone, unless their format is among the ``complete`` ones.
        """
        unused = [entry for entry in self.entries if not entry.uses]
        if not unused:
            return []
        ids = list(judged)
        found = []
        for entry in unused:
            met = any(map(entry.meets, ids))
            if met:
                found.append((entry, "it does not fail any more"))
            elif entry.pattern.partition("/")[0] in complete:
                found.append((entry, "no such case was put to the testee"))
        return found


def read_expected_failures(file: Path) -> ExpectedFailures:
    """Return the list in a file. Raises: ExpectedFailuresError that names the line."""
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ExpectedFailuresError(f"{file} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ExpectedFailuresError(f"{file}: byte {error.start} is not UTF-8") from error
    entries: list[ExpectedFailure] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        case_id, *rest = (part.strip() for part in line.split("|", 2))
        if not case_id or not rest or not rest[0]:
            raise ExpectedFailuresError(f"{file}:{number}: an entry is: id of a case | reason")
        if any(case_id == entry.pattern for entry in entries):
            raise ExpectedFailuresError(f"{file}:{number}: {case_id} is there twice")
        entries.append(ExpectedFailure(case_id, rest[0], rest[1] if rest[1:] else "", number))
    return ExpectedFailures(entries, str(file))


def expected_failures_text(
    failures: Mapping[str, str], known: ExpectedFailures | None = None
) -> str:
    """Return a list of these failures, id to text; entries that are known keep their reason.

    Failures that were derived from one case by one rule share one line.
    """
    lines: dict[str, str] = {}
    for case_id in sorted(failures):
        entry = None if known is None else known.find(case_id)
        if entry is not None:
            fragment = f" | {entry.fragment}" if entry.fragment else ""
            lines.setdefault(entry.pattern, f"{entry.pattern} | {entry.reason}{fragment}")
            continue
        pattern = _pattern_of(case_id)
        reason = visible(failures[case_id]).replace("|", "/")
        lines.setdefault(pattern, f"{pattern} | to be looked at: {reason}")
    return _HEAD + "".join(f"{line}\n" for line in lines.values())


def _pattern_of(case_id: str) -> str:
    """Return the id itself, or for a derived case the pattern of its rule."""
    base, sign, rule = case_id.partition("@")
    if not sign or ":" not in rule:
        return case_id
    return f"{base}@{rule.partition(':')[0]}:*"
