"""Runs the chapters and writes the report: report.json, REPORT.md and the pages."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from traceback import extract_tb
from typing import Literal

from cdcwire.console.interrupts import interrupts_raise
from cdcwire.console.problems import UsageError
from cdcwire.model.text import Json
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import load_cases
from cdcwire_conformance.output.json_document import without_machine_paths
from cdcwire_conformance.processes import quiet_pool
from cdcwire_evidence.report import (
    adapters,
    avro_readers,
    compare,
    corpus,
    csv_readers,
    datahub_sdks,
    debezium_readers,
    fuzz,
    scenarios,
)
from cdcwire_evidence.report.document import Mode, report_document
from cdcwire_evidence.report.pages import DOCUMENT, FIRST_PAGE, FOLDER, write_pages
from cdcwire_evidence.report.part import Part
from cdcwire_evidence.report.runs import (
    BENCHMARKS,
    DECODERS,
    REFERENCE,
    SIZES,
    benchmarks_part,
    size_part,
    verify_part,
)

Report = Callable[[Part], None]
When = Literal["first", "any", "later", "alone"]
PARALLEL_CHAPTERS = 2


@dataclass(frozen=True, slots=True)
class Chapter:
    """One chapter that is still to be made.

    ``title`` is the title of its part. ``make`` gets an empty directory and is called in another
    process. ``when``: ``later`` chapters need the results of the ``first``. Timed chapters run
    ``alone``. ``weight``: the heaviest starts first.
    """

    title: str
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
    found = report_document(parts, mode, time.monotonic() - began)
    document: dict[str, Json] = without_machine_paths(found, Path.cwd())
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    (folder / DOCUMENT).write_text(text, encoding="utf-8")
    write_pages(document, target)
    return document


def gather(wanted: Sequence[Chapter], report: Report) -> list[Part]:
    """Run the chapters, some at a time. Returns: them in the order of the report.

    A chapter that raises an exception, or whose process ends, is a failed part.
    """
    parts: dict[int, Part] = {}
    with tempfile.TemporaryDirectory() as folder, _Workers(PARALLEL_CHAPTERS) as workers:

        def start(*when: When) -> dict[Future[Part], int]:
            chosen = [n for n, each in enumerate(wanted) if each.when in when]
            chosen.sort(key=lambda n: (when.index(wanted[n].when), -wanted[n].weight))
            return {workers.start(wanted[n], Path(folder, str(n))): n for n in chosen}

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
                collect({workers.start(each, Path(folder, str(number))): number})
    return [parts[number] for number in range(len(wanted))]


class _Workers:
    """Processes that make chapters. One that ends is replaced, so that the others go on."""

    def __init__(self, number: int) -> None:
        self._threads = ThreadPoolExecutor(number)
        self._idle: SimpleQueue[ProcessPoolExecutor] = SimpleQueue()
        for _ in range(number):
            self._idle.put(quiet_pool(1))

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)
        while not self._idle.empty():
            self._idle.get().shutdown()

    def start(self, chapter: Chapter, folder: Path) -> Future[Part]:
        """Make a chapter as soon as a process is idle."""
        return self._threads.submit(self._run, chapter, folder)

    def _run(self, chapter: Chapter, folder: Path) -> Part:
        process = self._idle.get()
        began = time.monotonic()
        try:
            part = process.submit(_made, chapter, folder).result()
        except BrokenProcessPool:
            process = quiet_pool(1)
            part = _failed(chapter, "its process ended")
        finally:
            self._idle.put(process)
        part.seconds = time.monotonic() - began
        return part


def _made(chapter: Chapter, folder: Path) -> Part:
    try:
        folder.mkdir()
        with interrupts_raise():  # what the chapter started is ended
            return chapter.make(folder)
    except UsageError as error:
        return _failed(chapter, str(error))
    except Exception as error:  # noqa: BLE001  (the edge: the other chapters are still made)
        at = extract_tb(error.__traceback__)[-1]
        place = f"{Path(at.filename).name}, line {at.lineno}"
        return _failed(chapter, f"{type(error).__name__} in {place}: {error}")


def _failed(chapter: Chapter, problem: str) -> Part:
    """Return a chapter that could not be made."""
    line = f"the chapter broke off: {' '.join(problem.split())}"
    return Part(chapter.title, lines=["No results."], failed=True, attention=[line])


def chapters(mode: Mode, pictures: Path) -> list[Chapter]:
    """Return the chapters of a report in order. ``pictures``: the directory of pictures."""
    return list(_chapters(mode, pictures))


def _chapters(mode: Mode, pictures: Path) -> Iterator[Chapter]:
    quick = mode == "main"
    yield Chapter(adapters.TITLE, partial(_alone, adapters.adapters_part), "first")
    yield Chapter(REFERENCE, partial(verify_part, REFERENCE, "", (), quick), weight=3)
    for title, program, command in DECODERS:
        yield Chapter(title, partial(verify_part, title, program, command, quick), "later", 3)
    for title, make, weight in (
        (csv_readers.TITLE, partial(csv_readers.csv_readers_part, quick=quick), 2),
        (avro_readers.TITLE, partial(avro_readers.avro_readers_part, quick=quick), 4),
        (debezium_readers.TITLE, partial(debezium_readers.debezium_readers_part, quick=quick), 1),
        (
            debezium_readers.AVRO_TITLE,
            partial(debezium_readers.debezium_avro_readers_part, quick=quick),
            2,
        ),
        (datahub_sdks.TITLE, datahub_sdks.datahub_sdks_part, 1),
    ):
        yield Chapter(title, partial(_of_cases, make), "later", weight)
    yield Chapter(corpus.KNOWN_WRONG, partial(_of_cases, corpus.known_wrong_part), weight=1)
    if not quick:
        yield Chapter(corpus.GENERATED, partial(_of_cases, corpus.generated_part), weight=4)
    yield Chapter(corpus.WITNESSES, partial(_of_cases, corpus.witnesses_part))
    yield Chapter(corpus.CLAUSES, partial(_of_cases, corpus.clauses_part))
    yield Chapter(corpus.CARRIES, partial(_alone, corpus.carries_part))
    yield Chapter(SIZES, partial(size_part, pictures / "sizes.svg", quick), weight=2)
    yield Chapter(compare.TITLE, partial(compare.compare_part, quick), weight=4)
    yield Chapter(scenarios.TITLE, partial(_alone, scenarios.scenarios_part))
    yield Chapter(fuzz.TITLE, partial(_alone, fuzz.fuzz_part))
    yield Chapter(
        BENCHMARKS,
        partial(benchmarks_part, quick, pictures),
        "alone",
    )


def _of_cases(make: Callable[[Sequence[Case]], Part], folder: Path) -> Part:
    """Return a chapter that needs the cases and no directory."""
    return make(load_cases())


def _alone(make: Callable[[], Part], folder: Path) -> Part:
    """Return a chapter that needs nothing."""
    return make()
