"""Frozen sets of cases that a reader can claim: ``debezium-reader 1``.

A set is a file below ``requirements`` of the golden folder. It lists ids, each with a sum of
the request and the right answer. A set never changes: ``corpus check`` compares the sums. The
level that a case has later does not count, and a retired case is not asked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire.core.nearest import did_you_mean
from cdcwire.model.text import Json
from cdcwire_conformance.corpus.case import Case, CorpusError, read_json
from cdcwire_conformance.corpus.store import cases_where, golden_files, retired_ids

FOLDER = "requirements"


@dataclass(frozen=True, slots=True)
class RequirementSet:
    """A frozen set of cases of one format. ``sums``: of each case by its id; see ``sum_of``."""

    name: str
    version: int
    format: str
    title: str
    corpus: str
    features: tuple[str, ...]
    sums: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def requirement_sets(root: Path | None = None) -> tuple[RequirementSet, ...]:
    """Return the sets of a corpus, by name and version. Raises: CorpusError."""
    corpus = golden_files(root)
    found = []
    for where in corpus.names(FOLDER):
        document = read_json(corpus, where)
        try:
            one = RequirementSet(
                document["name"],
                document["version"],
                document["format"],
                document["title"],
                document["corpus"],
                tuple(document["features"]),
                dict(document["cases"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise CorpusError("is not a set of requirements", where) from error
        if where != f"{FOLDER}/{one.name}-{one.version}.json":
            raise CorpusError(f"the set is {one}; the file's name says another one", where)
        found.append(one)
    return tuple(sorted(found, key=lambda each: (each.name, each.version)))


def find_set(text: str, root: Path | None = None) -> RequirementSet:
    """Return the set with this name and version. Raises: ValueError that lists the known sets."""
    known = {str(each): each for each in requirement_sets(root)}
    wanted = " ".join(text.split())
    if wanted not in known:
        listed, meant = ", ".join(known) or "none", did_you_mean(wanted, known)
        raise ValueError(f"{text!r:.80} is not a set of requirements; known: {listed}{meant}")
    return known[wanted]


def required_cases(required: RequirementSet, root: Path | None = None) -> tuple[Case, ...]:
    """Return the cases of a set that are not retired, as questions to a reader.

    Each is ``must``, whatever its level is now, and none asks to encode its events.

    Raises: CorpusError for a case that the corpus does not have, or has with another meaning.
    """
    for _, problem in problems_of(required, root):
        raise CorpusError(problem, f"{FOLDER}/{required.name}-{required.version}.json")
    found = cases_where(required.sums.__contains__, [required.format], root)
    return tuple(replace(case, level="must", choice=None, canonical=False) for case in found)


def problems_of(required: RequirementSet, root: Path | None = None) -> Iterator[tuple[str, str]]:
    """Yield the id and the problem of each case that is not as it was frozen."""
    retired = retired_ids(root)
    found = {
        case.id: case for case in cases_where(required.sums.__contains__, [required.format], root)
    }
    for case_id, frozen in required.sums.items():
        if case_id in found and sum_of(found[case_id]) != frozen:
            yield case_id, f"{case_id} has changed since {required} was frozen; retire it instead"
        elif case_id not in found and case_id not in retired:
            yield case_id, f"{case_id} is missing, and it is not retired"


def sum_of(case: Case) -> str:
    """Return the sum of a case: of request and right answer, without title or level."""
    asked: dict[str, Json] = {
        "expect": case.expect,
        "options": dict(case.options),
        "tables": case.tables,
        "schemas": dict(case.schemas),
        "blobs": {at: _sum(content) for at, content in case.blobs.items()},
        "messages": [
            [
                message.path if isinstance(message, StoredFile) else None,
                _sum(message.key) if isinstance(message, KafkaMessage) else None,
                _sum(message.value),
            ]
            for message in case.messages
        ],
        "events": case.events,
    }
    text = json.dumps(asked, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _sum(content: bytes | None) -> str | None:
    return None if content is None else hashlib.sha256(content).hexdigest()
