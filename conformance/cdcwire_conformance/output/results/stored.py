"""Stored runs: a JSON file per reader, version, format and date.

A file holds the document of ``cdcwire verify --json`` and what that document does not say: the
reader, its package and the date. A run that gave no document has a problem in its place.
``output/schemas/stored-run.schema.json`` is the schema of a file.

An equal result is not stored twice: the ``last`` date of the earlier file moves on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from cdcwire.console.problems import json_problem, no_constant, unique_members
from cdcwire.console.visible import visible_document
from cdcwire.files.local_files import read_short, write_whole
from cdcwire.model.text import Json
from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.output.json_document import DOCUMENT_VERSION
from cdcwire_conformance.run.results import VERDICTS

STORED_VERSION = 1
_TEXTS = ("reader", "package", "version", "format", "date", "last", "command")
_OUTCOME_TEXTS = ("id", "title", "level", "expect", "verdict")
_NAME = re.compile(r"[^\w.+-]+")
_LONGEST_NAME = 80
_MOST_CASES = 10**9


class StoredRunError(ValueError):
    """A file is not a stored run that this version reads."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """One run of one version of a reader on one format.

    ``package``: registry and name, ``pypi:fastavro``. ``date``, ``last``: the first and the last
    day of this result. ``results``: the document of ``verify --json``, or None with a ``problem``.
    """

    reader: str
    package: str
    version: str
    format: str
    date: str
    last: str
    command: str
    results: Mapping[str, Json] | None = None
    problem: str = ""

    @property
    def corpus(self) -> str:
        """The version of the corpus, empty without results."""
        return "" if self.results is None else str(self.results["corpus"])

    @property
    def is_partial(self) -> bool:
        """True if the run ended before its last case."""
        return self.results is not None and bool(
            self.results["interrupted"] or self.results.get("stopped")
        )

    @property
    def outcomes(self) -> Sequence[Mapping[str, Json]]:
        """The outcomes of the document."""
        return () if self.results is None else self.results["outcomes"]

    def count(self, *verdicts: str) -> int:
        """Return how many cases, derived ones too, have one of these verdicts."""
        if self.results is None:
            return 0
        kinds = self.results["formats"].get(self.format, {})
        return sum(counts.get(verdict, 0) for counts in kinds.values() for verdict in verdicts)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file of the folder that is not shown, and why."""

    file: str
    problem: str


def file_name(text: str) -> str:
    """Return a text as the name of a file: letters, digits and ``._+-``."""
    name = _NAME.sub("-", text)[:_LONGEST_NAME].strip(".-")
    return name or "unnamed"


def read_stored(folder: Path) -> tuple[list[StoredRun], list[Unreadable]]:
    """Return the runs of a folder, and the files that are not shown. Raises: OSError."""
    runs, unreadable = [], []
    for file in sorted(folder.rglob("*.json")):
        try:
            runs.append(read_run(file))
        except StoredRunError as error:
            unreadable.append(Unreadable(str(file.relative_to(folder)), str(error)))
    return runs, unreadable


def read_run(file: Path) -> StoredRun:
    """Return the run of a file. Raises: StoredRunError."""
    try:
        document = json.loads(
            read_short(file).decode("utf-8"),
            object_pairs_hook=unique_members,
            parse_constant=no_constant,
        )
    except OSError as error:
        raise StoredRunError(f"cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise StoredRunError(json_problem(error)) from None
    return run_of(document)


def run_of(document: Json) -> StoredRun:
    """Return the run of a document. Raises: StoredRunError."""
    if not isinstance(document, dict):
        raise StoredRunError("not a JSON object")
    if "run" not in document and "results" in document:
        raise StoredRunError(
            "a document of `cdcwire verify --json`; `cdcwire report readers` stores it with the "
            "reader and the date"
        )
    if document.get("run") != STORED_VERSION:
        raise StoredRunError(
            f"form {document.get('run')!r:.40}; this version of cdcwire reads form {STORED_VERSION}"
        )
    for name in _TEXTS:
        if not isinstance(document.get(name), str):
            raise StoredRunError(f"member {name!r} is not a text")
    for name in ("date", "last"):
        _check_date(name, document[name])
    if document["last"] < document["date"]:
        raise StoredRunError("the last day is before the first")
    if document["format"] not in FORMAT_NAMES:
        raise StoredRunError(f"unknown format {document['format']!r:.80}")
    results, problem = document.get("results"), document.get("problem", "")
    if not isinstance(problem, str):
        raise StoredRunError("member 'problem' is not a text")
    if results is None and not problem:
        raise StoredRunError("neither results nor a problem")
    if results is not None:
        _check_results(results)
    return StoredRun(**{name: document[name] for name in _TEXTS}, results=results, problem=problem)


def _check_date(name: str, text: str) -> None:
    try:
        is_date = date.fromisoformat(text).isoformat() == text  # other forms are not comparable
    except ValueError:
        is_date = False
    if not is_date:
        raise StoredRunError(f"member {name!r} is not a date: {text!r:.40}")


def _check_results(results: Json) -> None:
    """Check the members that the pages read. Raises: StoredRunError."""
    if not isinstance(results, dict) or results.get("results") != DOCUMENT_VERSION:
        raise StoredRunError(f"its results do not have form {DOCUMENT_VERSION}")
    for problem in _problems(results):
        raise StoredRunError(f"its results are damaged: {problem}")


def _problems(results: Mapping[str, Json]) -> Iterator[str]:
    if not isinstance(results.get("corpus"), str):
        yield "no version of the corpus"
    for name in ("interrupted", "passed"):
        if not isinstance(results.get(name), bool):
            yield f"member {name!r} is not true or false"
    formats = results.get("formats")
    if not _all_objects(formats.values() if isinstance(formats, dict) else None):
        yield "member 'formats'"
    else:
        for kinds in results["formats"].values():
            if not _all_objects(kinds.values()) or not all(map(_are_counts, kinds.values())):
                yield "the counts of a format"
    if not _all_objects(results.get("outcomes")):
        yield "member 'outcomes'"
    elif not all(map(_is_outcome, results["outcomes"])):
        yield "an outcome"
    if not _all_objects(results.get("groups")):
        yield "member 'groups'"
    elif not all(map(_is_group, results["groups"])):
        yield "a group"


def _all_objects(found: Iterable[Json] | None) -> bool:
    return isinstance(found, Iterable) and all(isinstance(each, dict) for each in found)


def _are_counts(counts: Mapping[str, Json]) -> bool:
    return all(
        name in VERDICTS and isinstance(number, int) and 0 <= number <= _MOST_CASES
        for name, number in counts.items()
    )


def _is_outcome(outcome: Mapping[str, Json]) -> bool:
    differences = outcome.get("differences", [])
    return (
        all(isinstance(outcome.get(name), str) for name in _OUTCOME_TEXTS)
        and outcome["verdict"] in VERDICTS
        and isinstance(outcome.get("problem", ""), str)
        and _all_objects(differences)
        and all(map(_is_difference, differences))
    )


def _is_difference(difference: Mapping[str, Json]) -> bool:
    path = difference.get("path")
    return (
        isinstance(path, list)
        and all(isinstance(step, (str, int)) for step in path)
        and all(isinstance(difference.get(name), str) for name in ("expected", "got"))
    )


def _is_group(group: Mapping[str, Json]) -> bool:
    cases = group.get("cases")
    return (
        all(isinstance(group.get(name), str) for name in ("section", "part", "expected", "got"))
        and isinstance(cases, list)
        and bool(cases)
        and all(isinstance(each, str) for each in cases)
        and isinstance(group.get("count"), int)
        and isinstance(group.get("clauses"), list)
    )


def store_run(folder: Path, run: StoredRun) -> Path:
    """Write a run, or move the last date of an equal earlier one. Returns its file.

    Raises: OSError.
    """
    place = folder / file_name(run.reader) / file_name(run.version) / run.format
    place.mkdir(parents=True, exist_ok=True)
    for file in sorted(place.glob("*.json"), reverse=True):
        try:
            earlier = read_run(file)
        except StoredRunError:
            continue
        if earlier.date < run.date and _is_same(earlier, run):
            run = StoredRun(**{**_members(run), "date": earlier.date})
        break
    file = place / f"{run.date}.json"
    document = {name: value for name, value in _members(run).items() if value not in (None, "")}
    for name in _TEXTS:
        document.setdefault(name, "")
    write_whole(file, visible_document({"run": STORED_VERSION, **document}).encode())
    return file


def _members(run: StoredRun) -> dict[str, Json]:
    return {name: getattr(run, name) for name in (*_TEXTS, "problem", "results")}


def _is_same(earlier: StoredRun, later: StoredRun) -> bool:
    """Return whether two runs differ in nothing but their dates and the time they took."""

    def compared(run: StoredRun) -> Json:
        members = _members(run)
        if run.results is not None:
            members["results"] = {**run.results, "seconds": 0}
        return {name: each for name, each in members.items() if name not in ("date", "last")}

    return bool(compared(earlier) == compared(later))
