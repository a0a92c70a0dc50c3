"""Runs the chapters and writes the report: report.json, REPORT.md and the pages."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Literal

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
    DECODERS,
    benchmarks_part,
    size_part,
    verify_part,
)
from cdcwire_evidence.report.scenarios import scenarios_part

Report = Callable[[Part], None]
When = Literal["first", "any", "later", "alone"]
PARALLEL_CHAPTERS = 2


@dataclass(frozen=True, slots=True)
class Chapter:
    """One chapter that is still to be made.

    ``make`` gets an empty directory and is called in another process. ``when``: ``later`` chapters
    need the results of the ``first``. Timed chapters run ``alone``. ``weight``: the heaviest
    starts first.
    """

    make: Callable[[Path], Part]
    when: When = "any"
    weight: int = 0


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


def gather(wanted: Sequence[Chapter], report: Report) -> list[Part]:
    """Run the chapters, some at a time. Returns: them in the order of the report."""
    parts: dict[int, Part] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(PARALLEL_CHAPTERS, mp_context=get_context("spawn")) as pool,
    ):

        def start(*when: When) -> dict[Future[Part], int]:
            chosen = [n for n, each in enumerate(wanted) if each.when in when]
            chosen.sort(key=lambda n: (when.index(wanted[n].when), -wanted[n].weight))
            return {pool.submit(_made, wanted[n], Path(folder, str(n))): n for n in chosen}

        def collect(running: dict[Future[Part], int], until: Sequence[int] = ()) -> None:
            for future in as_completed(running):
                number = running.pop(future)
                parts[number] = future.result()
                report(parts[number])
                if until and all(n in parts for n in until):
                    return

        first = [n for n, each in enumerate(wanted) if each.when == "first"]
        running = start("first", "any")
        if first:
            collect(running, first)
        collect(running | start("later"))
        for number, each in enumerate(wanted):
            if each.when == "alone":
                collect({pool.submit(_made, each, Path(folder, str(number))): number})
    return [parts[number] for number in range(len(wanted))]


def _made(chapter: Chapter, folder: Path) -> Part:
    folder.mkdir()
    began = time.monotonic()
    part = chapter.make(folder)
    part.seconds = time.monotonic() - began
    return part


def chapters(mode: Mode, pictures: Path) -> list[Chapter]:
    """Return the chapters of a report in order. ``pictures``: the directory of pictures."""
    return list(_chapters(mode, pictures))


def _chapters(mode: Mode, pictures: Path) -> Iterator[Chapter]:
    quick = mode == "main"
    yield Chapter(partial(_alone, adapters_part), "first")
    yield Chapter(partial(verify_part, "The reference", "", (), quick), weight=3)
    for title, program, command in DECODERS:
        yield Chapter(partial(verify_part, title, program, command, quick), "later", 3)
    yield Chapter(partial(_of_cases, partial(csv_readers_part, quick=quick)), "later", 2)
    yield Chapter(partial(_of_cases, partial(avro_readers_part, quick=quick)), "later", 4)
    yield Chapter(partial(_of_cases, partial(debezium_readers_part, quick=quick)), "later", 1)
    yield Chapter(partial(_of_cases, datahub_sdks_part), "later", 1)
    yield Chapter(partial(_of_cases, known_wrong_part), weight=1)
    yield Chapter(partial(_of_cases, witnesses_part))
    yield Chapter(partial(_of_cases, clauses_part))
    yield Chapter(partial(_alone, carries_part))
    yield Chapter(partial(size_part, pictures / "sizes.svg", quick), weight=2)
    yield Chapter(partial(compare_part, quick), weight=4)
    yield Chapter(partial(_alone, scenarios_part))
    yield Chapter(partial(benchmarks_part, quick, pictures / "benchmarks.json"), "alone")


def _of_cases(make: Callable[[Sequence[Case]], Part], folder: Path) -> Part:
    """Return a chapter that needs the cases and no directory."""
    return make(load_cases())


def _alone(make: Callable[[], Part], folder: Path) -> Part:
    """Return a chapter that needs nothing."""
    return make()
