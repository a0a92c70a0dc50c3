"""The chapter about the fuzzer: inputs, broken laws and the slowest inputs of the last run.

The fuzzer runs separately (``tox run -e fuzz``); the chapter shows its results file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cdcwire_evidence.fuzz.growth import (
    DOUBLINGS,
    GROWTH,
    LARGE,
    MOST_MEMORY,
    WAYS,
    GrowthTally,
    read_growth,
)
from cdcwire_evidence.fuzz.run import DEFAULT_STATE, RESULTS, STATE_VARIABLE
from cdcwire_evidence.report.part import NotRun, Part, table

TITLE = "Hostile input: changed golden messages"
_COMMAND = "tox run -e fuzz"
_HEAD = (
    "Each input is a golden case with up to nine changes: of bytes, JSON, events, schemas, "
    "definitions, options, and the content of frames and compression. The plain and the fast "
    "decoder read every input. Accepted inputs are encoded and decoded again. "
    "`docs/fuzzing.md` lists the laws."
)
_LAWS = {
    "exception": "other exceptions",
    "hang": "hangs",
    "fast": "plain and fast differ",
    "explain": "explain differs",
    "encode": "encode differs",
    "text": "text form differs",
    "slow": "slow",
    "memory": "memory",
}


def fuzz_part(file: Path | None = None) -> Part:
    """Show the figures of the last run; a finding fails the report."""
    if file is None:
        file = Path(os.environ.get(STATE_VARIABLE) or DEFAULT_STATE) / RESULTS
    part = Part(TITLE, _COMMAND)
    if not file.is_file():
        part.not_run.append(NotRun("fuzzing", "no results of a run", f"run `{_COMMAND}`"))
        return part
    results = json.loads(file.read_text("utf-8"))
    formats: list[Mapping[str, Any]] = results["formats"]
    total = sum(each["inputs"] for each in formats)
    part.lines += [_HEAD, "", f"{total:,} inputs for {len(formats)} formats.", ""]
    head = [
        *("format", "inputs", "accepted", "encoded", "explained"),
        *("per second of CPU time", "slowest, ms/KB", "memory, bytes per byte"),
        *_LAWS.values(),
    ]
    part.lines += table(head, map(_row, formats))
    part.lines += [
        "",
        "A size below 1 KB counts as 1 KB. The last columns count findings with different causes. "
        f"Memory is measured for every {results['memory_every']}th input.",
    ]
    for each in formats:
        count = sum(each["broken"].values())
        part.asked += 1
        part.passed += not count
        if count:
            part.attention.append(f"{each['format']}: {count} findings; run `{_COMMAND}`")
    _add_growth(part, read_growth(file.with_name(GROWTH)))
    return part


def _add_growth(part: Part, tallies: list[GrowthTally]) -> None:
    if not tallies:
        missing = NotRun("growth", "no results of a run", f"run `{_COMMAND} -- --growth 20`")
        part.not_run.append(missing)
        return
    bounds = ", ".join(f"{way} {most}" for way, most in MOST_MEMORY.items())
    part.lines += [
        "",
        "One part of a message is repeated or made longer, and each size is twice the one before. "
        f"The ratio is the time for twice the bytes, as the least of {DOUBLINGS} doublings in a "
        f"row; at most {LARGE.ratio} is allowed. Bytes of memory per byte of input are bounded: "
        f"{bounds}.",
        "",
    ]
    head = [
        *("format", "growths", "accepted", "1 MiB and more", "largest input, MB"),
        *("largest ratio", *(f"memory, {way}" for way in WAYS), "findings"),
    ]
    part.lines += table(head, map(_growth_row, tallies))
    for each in tallies:
        part.asked += 1
        part.passed += not each.broken
        part.attention += [f"{each.format}: {text:.200}" for text in each.broken[:1]]


def _growth_row(tally: GrowthTally) -> list[object]:
    counts = (tally.shapes, tally.accepted, tally.grown)
    return [
        tally.format,
        *(f"{count:,}" for count in counts),
        f"{tally.largest / 1e6:.1f}",
        f"{tally.ratio:.2f}",
        *(f"{tally.memory[way]:.0f}" for way in WAYS),
        len(tally.broken),
    ]


def _row(figures: Mapping[str, Any]) -> list[object]:
    rate = figures["inputs"] / max(figures["seconds"], 0.001)
    counts = (figures[name] for name in ("inputs", "accepted", "encoded", "deep"))
    return [
        figures["format"],
        *(f"{count:,}" for count in counts),
        f"{rate:,.0f}",
        f"{figures['slowest']:.1f}",
        f"{figures['largest']:.1f}",
        *(figures["broken"].get(law, 0) for law in _LAWS),
    ]
