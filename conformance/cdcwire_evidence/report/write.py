"""Putting the report together."""

from __future__ import annotations

import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

from cdcwire import __version__
from cdcwire_conformance.corpus.store import corpus_version, load_cases
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


def gather(quick: bool, say: Say, picture: Path) -> list[Part]:
    """Run everything that this machine can run, in the order of the report.

    ``picture``: where the picture of the sizes goes.
    """
    parts = []
    with tempfile.TemporaryDirectory() as name:
        for title, make in _chapters(Path(name), quick, picture):
            say(f"{title} …")
            began = time.monotonic()
            part = make()
            word = "failed" if part.failed else "not run" if part.not_run else "done"
            say(f"{title}: {word}, {time.monotonic() - began:.0f} s")
            parts.append(part)
    return parts


def _chapters(folder: Path, quick: bool, picture: Path) -> Iterator[tuple[str, Callable[[], Part]]]:
    cases = load_cases()
    yield "the reference", partial(verify_part, folder, "The reference", "", ())
    for title, program, command in DECODERS:
        yield title, partial(verify_part, folder, title, program, command)
    yield "CSV readers", partial(csv_readers_part, cases)
    yield "Avro libraries", partial(avro_readers_part, cases)
    yield "readers of Debezium's JSON", partial(debezium_readers_part, cases)
    yield "DataHub's SDKs", partial(datahub_sdks_part, cases)
    yield "known-wrong decoders", partial(known_wrong_part, cases)
    yield "witnesses", partial(witnesses_part, cases)
    yield "clauses", partial(clauses_part, cases)
    yield "what each format carries", carries_part
    yield "sizes", partial(size_part, folder, picture, quick)
    yield "DataFrames", partial(compare_part, folder, quick)
    yield "scenarios", scenarios_part
    for name in BENCHMARKS:
        yield f"benchmark {name}", partial(benchmark_part, folder, name, quick)


def report_text(parts: list[Part], command: str) -> str:
    """Return the document."""
    lines = [
        "# Report",
        "",
        f"Made by `{command}` on {datetime.now(timezone.utc):%Y-%m-%d}: cdcwire {__version__}, "
        f"corpus {corpus_version()}, {platform.python_implementation()} "
        f"{platform.python_version()}, {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} processors. Measured results only; what they mean stands in `docs/`.",
        "",
        "## In short",
        "",
        *_summary(parts),
    ]
    for part in parts:
        lines += ["", f"## {part.title}", "", f"`{part.command}`", "", *part.lines]
        if part.not_run:
            lines.append("")
        lines += [f"- `{missing.what}` not run: {missing.why}" for missing in part.not_run]
    lines += ["", "## Not run", "", *_not_run(parts)]
    return "\n".join(lines).rstrip() + "\n"


def _summary(parts: list[Part]) -> Iterator[str]:
    for part in parts:
        word = "**failed**" if part.failed else "not run" if not part.lines else "done"
        yield f"- {part.title}: {word}"


def _not_run(parts: list[Part]) -> list[str]:
    lines = [f"- `{missing.what}`: {missing.why}" for part in parts for missing in part.not_run]
    return lines or ["Nothing was left out."]
