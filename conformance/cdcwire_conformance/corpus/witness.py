"""The independent confirmations of golden cases: ``golden/witnesses.json``.

A case is confirmed when a producer wrote its bytes (its origin says so). It is also confirmed when
an implementation that shares nothing with the reference read the same events from them, or wrote
the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from cdcwire.files.local_files import write_whole
from cdcwire.model.text import Json
from cdcwire_conformance.corpus.case import Case, CorpusError, read_json
from cdcwire_conformance.corpus.store import WITNESSES_FILE, golden_files, golden_folder

PRODUCER_ORIGIN = "producer"


@dataclass(frozen=True, slots=True)
class Witness:
    """An independent implementation, and the cases that it read or wrote as they say.

    ``sums``: of each case, the sum of its meaning and bytes when it was seen, so that a case that
    changes loses its witness.
    """

    name: str
    version: str
    language: str
    read: Mapping[str, str]
    wrote: Mapping[str, str]

    def with_other_formats(self, earlier: Witness, judged: Collection[str]) -> Witness:
        """Return the witness with the earlier cases of the formats that were not judged now."""

        def others(sums: Mapping[str, str]) -> dict[str, str]:
            return {name: sum_ for name, sum_ in sums.items() if name.split("/")[0] not in judged}

        read, wrote = others(earlier.read), others(earlier.wrote)
        return replace(self, read={**read, **self.read}, wrote={**wrote, **self.wrote})


def witness_from_results(results: Json, sums: Mapping[str, str]) -> Witness:
    """Return the witness that a run of ``cdcwire verify`` speaks for.

    ``results``: its JSON document. ``sums``: the sum of each case, as the index has it.
    """
    testee = results["testee"]
    read: dict[str, str] = {}
    wrote: dict[str, str] = {}
    for outcome in results["outcomes"]:
        case_id, _, derived = outcome["id"].partition("@")
        if outcome["verdict"] != "passed" or case_id not in sums or derived not in ("", "encode"):
            continue
        (wrote if outcome["cmd"] == "encode" else read)[case_id] = sums[case_id]
    return Witness(testee["name"], testee["version"], testee["language"], read, wrote)


def read_witnesses(root: Path | None = None) -> tuple[Witness, ...]:
    """Return the recorded witnesses. Raises: CorpusError."""
    corpus = golden_files(root)
    if WITNESSES_FILE not in corpus:
        return ()
    document = read_json(corpus, WITNESSES_FILE)
    try:
        return tuple(
            Witness(
                entry["name"],
                entry["version"],
                entry["language"],
                dict(entry["read"]),
                dict(entry["wrote"]),
            )
            for entry in document["witnesses"]
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CorpusError(
            "is not a list of witnesses with name, version, language, read and wrote",
            WITNESSES_FILE,
        ) from error


def write_witnesses(witnesses: Iterable[Witness], root: Path | None = None) -> None:
    """Write the witnesses, sorted by name. Raises: CorpusError where the corpus is an archive."""
    document = {
        "witnesses": [
            {
                "name": witness.name,
                "version": witness.version,
                "language": witness.language,
                "read": dict(sorted(witness.read.items())),
                "wrote": dict(sorted(witness.wrote.items())),
            }
            for witness in sorted(witnesses, key=lambda witness: witness.name)
        ]
    }
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    write_whole(golden_folder(root) / WITNESSES_FILE, text.encode())


@dataclass(frozen=True, slots=True)
class Confirmations:
    """The cases of one format, by who confirms them."""

    cases: int
    by_producer: int
    by_others: int
    by_nobody: tuple[str, ...]


def confirmations(
    cases: Iterable[Case], sums: Mapping[str, str], witnesses: Iterable[Witness]
) -> dict[str, Confirmations]:
    """Return for each format who confirms its cases. A witness of other bytes does not count."""
    confirmed = {
        case_id
        for witness in witnesses
        for seen in (witness.read, witness.wrote)
        for case_id, known in seen.items()
        if sums.get(case_id) == known
    }
    by_format: dict[str, list[Case]] = {}
    for case in cases:
        by_format.setdefault(case.format, []).append(case)
    return {
        name: Confirmations(
            len(found),
            sum(is_producers(case) for case in found),
            sum(case.id in confirmed for case in found),
            tuple(c.id for c in found if c.id not in confirmed and not is_producers(c)),
        )
        for name, found in by_format.items()
    }


def is_producers(case: Case) -> bool:
    """Return whether a real producer wrote the bytes of a case."""
    return case.origin.startswith(PRODUCER_ORIGIN)
