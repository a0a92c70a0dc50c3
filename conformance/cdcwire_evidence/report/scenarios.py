"""The chapter about the scenarios: what ran, how long, what was counted, and what was not run.

The scenarios run by themselves (``tox run -e scenarios``) and write a line each; the chapter shows
the lines of the last run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cdcwire_evidence.report.part import NotRun, Part, table
from cdcwire_evidence.scenarios.ledger import RESULTS_VARIABLE

TITLE = "Scenarios: real brokers and buckets, and what happens when they fail"
_COMMAND = "tox run -e scenarios"
_BLOCKS = "·▁▂▃▄▅▆▇█"
_DEFAULT = Path(".tox/scenarios.jsonl")
_HEAD = (
    "The columns count messages or changes: sent, received, received again (repeated), never "
    "received (lost), received without being sent (invented), received after a later one (late). "
    "`docs/scenarios.md` says how they run."
)


def scenarios_part(file: Path | None = None) -> Part:
    """Show the lines of the last run; a scenario that failed fails the report."""
    file = Path(os.environ.get(RESULTS_VARIABLE) or _DEFAULT) if file is None else file
    part = Part(TITLE, _COMMAND)
    if not file.is_file():
        part.not_run.append(NotRun("scenarios", "no results of a run", f"run `{_COMMAND}`"))
        return part
    results = list(map(json.loads, file.read_text("utf-8").splitlines()))
    ran = [result for result in results if result["verdict"] != "not run"]
    failed = [result for result in ran if result["verdict"] == "failed"]
    part.attention = [f"`{result['id']}` failed" for result in failed]
    part.asked, part.passed = len(ran), len(ran) - len(failed)
    seconds = sum(result["seconds"] for result in ran)
    part.lines += [_HEAD, "", f"{len(ran)} scenarios in {seconds:.0f} s.", ""]
    head = ["scenario", "what", "s", "sent", "received", "repeated", "lost", "invented", "late", ""]
    part.lines += table(head, map(_row, ran))
    part.lines += ["", "Other findings:", ""]
    part.lines += [f"- `{result['id']}`: {_figures(result)}" for result in ran if result["figures"]]
    for result in ran:
        part.lines += _measured(result)
    left_out: dict[str, list[str]] = {}  # the scenarios by the reason
    for result in results:
        if result["verdict"] == "not run":
            left_out.setdefault(result["text"], []).append(result["id"])
    part.not_run += [NotRun("`, `".join(ids), reason) for reason, ids in left_out.items()]
    return part


def _measured(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield the tables of a scenario, and a line of bars for what it found second by second."""
    for each in result.get("tables", ()):
        yield from ("", f"### {each['title']}", "", f"`{result['id']}`: {each['text']}", "")
        yield from table(each["head"], each["rows"])
    series = result.get("series", {})
    if series:
        yield from ("", f"### Second by second: {result['title']}", "", f"`{result['id']}`", "")
        yield from table(
            ["what", "least", "most", "each second"],
            (
                [name, f"{min(values):,.0f}", f"{max(values):,.0f}", f"`{_bars(values)}`"]
                for name, values in series.items()
            ),
        )


def _bars(values: Sequence[float]) -> str:
    """Return a character for each value, from a dot at 0 to a full block at the largest."""
    largest = max(values) or 1
    return "".join(_BLOCKS[round(value / largest * (len(_BLOCKS) - 1))] for value in values)


def _row(result: Mapping[str, Any]) -> list[object]:
    names = ("sent", "received", "repeated", "lost", "invented", "out_of_order")
    counts = result["counts"]
    numbers = ["" if counts is None else f"{counts[name]:,}" for name in names]
    verdict = "" if result["verdict"] == "passed" else "**failed**"
    return [f"`{result['id']}`", result["title"], f"{result['seconds']:.1f}", *numbers, verdict]


def _figures(result: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in result["figures"].items())
