"""The result of an identification, for people and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from cdcwire.console.visible import UNSEEN, visible
from cdcwire.core.context import Context
from cdcwire.core.options import OptionValue
from cdcwire.identify.ranking import Candidate, Identification, identify_messages
from cdcwire.identify.sampling import (
    DEFAULT_MESSAGES,
    Elsewhere,
    Reading,
    read_place,
)

_CONTAINERS = {
    "file": "the bytes of one file",
    "lines": "one value per line",
    "messages": "JSON lines of messages",
    "files": "a directory of files",
    "parquet": "Parquet with Kafka's columns",
    "topic": "a topic",
}
_MOST_PROBLEM = 200


@dataclass(frozen=True, slots=True)
class PlaceReport:
    """The result for one place. ``reading``: the way to read it that gave the result."""

    place: str
    reading: Reading
    result: Identification

    @property
    def found(self) -> Candidate | None:
        """The format that was identified; None if it is not clear."""
        return self.result.found


def identify_place(
    place: str,
    context: Context,
    limit: int = DEFAULT_MESSAGES,
    key: str | None = None,
    elsewhere: Elsewhere | None = None,
) -> PlaceReport:
    """Return what a file, directory, prefix or topic contains.

    Bytes are taken as they are, else as hexadecimal digits or base64.
    Raises: InputError; SourceError; MissingExtraError.
    """
    best: PlaceReport | None = None
    for reading in read_place(place, limit, key, elsewhere):
        report = PlaceReport(place, reading, identify_messages(reading.samples, context))
        if report.found is not None:
            return report
        if best is None or (report.result.candidates and not best.result.candidates):
            best = report
    assert best is not None  # a place has at least one reading
    return best


def text(report: PlaceReport) -> str:
    """Return the result for people."""
    return "\n".join(map(visible, _lines(report))) + "\n"


def summary(candidate: Candidate) -> str:
    """Return one line: the format, how sure, why and with which options."""
    options = "".join(f" --option {option_text(*each)}" for each in candidate.options.items())
    return f"{candidate.format} ({candidate.sureness}): {_evidence(candidate)}{options}"


def option_text(name: str, value: OptionValue) -> str:
    """Return an option as the command line takes it; unseen signs in the form of a shell."""
    shown = str(value).lower() if isinstance(value, bool) else str(value)
    if shown.isprintable() and not set(shown) & set(" '\"\\|;&$<>*?(){}[]"):
        return f"{name}={shown}"
    escaped = shown.replace("\\", "\\\\").replace("'", "\\'").translate(UNSEEN)
    others = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in escaped)
    return f"$'{name}={others}'"


def _lines(report: PlaceReport) -> Iterator[str]:
    count = report.result.count
    found = report.found
    if found is None:
        names = ", ".join(each.format for each in report.result.candidates)
        why = f"possible: {names}" if names else "no format shows its signs"
        yield f"{report.place}: not identified; {why}"
    for candidate in report.result.candidates if found is None else (found,):
        yield from _lines_of(candidate, count)
    yield f"  read as: {_CONTAINERS[report.reading.container]}{_encoded(report.reading)}"
    if report.reading.skipped:
        yield f"  not looked at: {report.reading.skipped:,}"


def _encoded(reading: Reading) -> str:
    return "" if reading.encoding == "bytes" else f", written in {reading.encoding}"


def _lines_of(candidate: Candidate, count: int) -> Iterator[str]:
    yield f"{candidate.format}: {candidate.sureness}"
    yield f"  because: {_evidence(candidate)}"
    for name, value in candidate.options.items():
        yield f"  --option {option_text(name, value)}"
    for name, fact in candidate.facts.items():
        yield f"  {name}: {fact}"
    if candidate.tables:
        yield f"  tables: {', '.join(candidate.tables)}"
    if candidate.batch > 1:
        yield f"  batches: up to {candidate.batch} events in a message"
    yield f"  messages: {candidate.fitting} of {count} show its signs, {candidate.decoded} decode"
    if candidate.missing is not None:
        yield f"  to decode, give {candidate.missing}"
    elif candidate.problem is not None:
        yield f"  first error: {candidate.problem[:_MOST_PROBLEM]}"


def _evidence(candidate: Candidate) -> str:
    place = f"{candidate.where}, {candidate.part} byte {candidate.offset}"
    return f"{candidate.evidence} ({place})"


def json_text(report: PlaceReport) -> str:
    """Return the result as JSON."""
    found = report.found
    document = {
        "source": report.place,
        "container": report.reading.container,
        "encoding": report.reading.encoding,
        "messages": report.result.count,
        "skipped": report.reading.skipped,
        "format": None if found is None else found.format,
        "candidates": [_document_of(each) for each in report.result.candidates],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def _document_of(candidate: Candidate) -> dict[str, object]:
    return {
        "format": candidate.format,
        "sureness": candidate.sureness,
        "evidence": {
            "text": candidate.evidence,
            "message": candidate.where,
            "part": candidate.part,
            "offset": candidate.offset,
        },
        "options": dict(candidate.options),
        "facts": dict(candidate.facts),
        "tables": list(candidate.tables),
        "batch": candidate.batch,
        "fitting": candidate.fitting,
        "decoded": candidate.decoded,
        "problem": candidate.problem,
        "missing": candidate.missing,
    }
