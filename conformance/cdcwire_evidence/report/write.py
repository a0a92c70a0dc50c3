"""Runs the chapters and writes the report: report.json, REPORT.md and the pages."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cdcwire.model.text import Json
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import load_cases
from cdcwire_conformance.usage import UsageError
from cdcwire_evidence.report.adapters import adapters_part
from cdcwire_evidence.report.avro_readers import avro_readers_part
from cdcwire_evidence.report.compare import compare_part
from cdcwire_evidence.report.corpus import (
    carries_part,
    clauses_part,
    known_wrong_part,
    witnesses_part,
)
from cdcwire_evidence.report.csv_readers import csv_readers_part
from cdcwire_evidence.report.datahub_sdks import datahub_sdks_part
from cdcwire_evidence.report.debezium_readers import debezium_readers_part
from cdcwire_evidence.report.document import Mode, report_document
from cdcwire_evidence.report.pages import DOCUMENT, FIRST_PAGE, FOLDER, write_pages
from cdcwire_evidence.report.part import Part
from cdcwire_evidence.report.runs import (
    BENCHMARKS,
    DECODERS,
    benchmark_part,
    size_part,
    verify_part,
)
from cdcwire_evidence.report.scenarios import scenarios_part

Say = Callable[[str], None]
Report = Callable[[Part], None]
PARALLEL_CHAPTERS = (
    2  # chapters that run at a time; a machine with less than two processors is not expected
)


@dataclass(frozen=True, slots=True)
class Chapter:
    """One chapter that is still to be made.

    ``make`` gets an empty directory. ``first``: others need its results. ``alone``: no other
    chapter runs at the same time, as for everything that is timed.
    """

    make: Callable[[Path], Part]
    alone: bool = False
    first: bool = False


def write_report(target: Path, mode: Mode, report: Report) -> dict[str, Json]:
    """Run all chapters and write the report into a directory. Returns: its document.

    ``report`` is called with each chapter that is done. Raises: UsageError where the directory
    cannot be written; it is tried first.
    """
    folder = target / FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in (target / FIRST_PAGE, folder / DOCUMENT):
            file.open("a").close()
    except OSError as error:
        raise UsageError(f"--to: {error.filename} cannot be written: {error.strerror}") from error
    began = time.monotonic()
    parts = gather(chapters(mode, folder), report)
    document = report_document(parts, mode, time.monotonic() - began)
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    (folder / DOCUMENT).write_text(text, encoding="utf-8")
    write_pages(document, target)
    return document


def gather(wanted: list[Chapter], report: Report) -> list[Part]:
    """Run the chapters, some at a time. Returns: them in the order of the report."""
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(PARALLEL_CHAPTERS) as pool:

        def made(number: int) -> Part:
            folder = Path(name, str(number))
            folder.mkdir()
            began = time.monotonic()
            part = wanted[number].make(folder)
            part.seconds = time.monotonic() - began
            report(part)
            return part

        parts = {n: made(n) for n, each in enumerate(wanted) if each.first}
        together = [n for n, each in enumerate(wanted) if not (each.alone or each.first)]
        parts |= dict(zip(together, pool.map(made, together), strict=True))
        parts |= {n: made(n) for n, each in enumerate(wanted) if each.alone}
    return [parts[number] for number in range(len(wanted))]


def chapters(mode: Mode, pictures: Path) -> list[Chapter]:
    """Return the chapters of a report in order. ``pictures``: the directory of pictures."""
    return list(_chapters(mode, pictures))


def _chapters(mode: Mode, pictures: Path) -> Iterator[Chapter]:
    cases = load_cases()
    quick = mode == "main"
    yield Chapter(lambda _: adapters_part(), first=True)
    yield Chapter(partial(verify_part, "The reference", "", (), quick))
    for title, program, command in DECODERS:
        yield Chapter(partial(verify_part, title, program, command, quick))
    makers: tuple[Callable[[Sequence[Case]], Part], ...] = (
        csv_readers_part,
        avro_readers_part,
        debezium_readers_part,
        datahub_sdks_part,
        known_wrong_part,
        witnesses_part,
        clauses_part,
    )
    for make in makers:
        yield Chapter(partial(_of_cases, make, cases))
    yield Chapter(lambda _: carries_part())
    yield Chapter(partial(size_part, pictures / "sizes.svg", quick))
    yield Chapter(partial(compare_part, quick))
    yield Chapter(lambda _: scenarios_part())
    for name in BENCHMARKS:
        yield Chapter(partial(benchmark_part, name, quick), alone=True)


def _of_cases(make: Callable[[Sequence[Case]], Part], cases: Sequence[Case], folder: Path) -> Part:
    """Return a chapter that needs the cases and no directory."""
    return make(cases)
