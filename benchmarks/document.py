"""Results as one JSON document and as a Markdown table, with the command line that all share."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

VERSION = 1


@dataclass(frozen=True)
class Result:
    """One result. ``bar`` is what it has to reach (``is_least``) or not to exceed; None: none.

    Results of one benchmark with the same title are one goal on several workloads.
    """

    id: str
    title: str
    value: float
    unit: str
    bar: float | None = None
    is_least: bool = True
    workload: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> bool | None:
        if self.bar is None:
            return None
        return self.value >= self.bar if self.is_least else self.value <= self.bar


def arguments(description: str, argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="less data and fewer rounds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the document there too")
    return parser.parse_args(argv)


def document(name: str, results: Sequence[Result], *, quick: bool) -> dict[str, Any]:
    """Return the results with all that is needed to judge them."""
    return {
        "benchmark": name,
        "version": VERSION,
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "machine": platform.machine(),
        "system": platform.system(),
        "processors": os.cpu_count(),
        "quick": quick,
        "results": [{**asdict(result), "passed": result.passed} for result in results],
    }


def markdown(found: dict[str, Any]) -> str:
    """Return the document as a table."""
    lines = [
        f"`{found['benchmark']}` on {found['implementation']} {found['python']}, "
        f"{found['machine']}{', quick' if found['quick'] else ''}, {found['date'][:10]}",
        "",
        "| what | found | bar | |",
        "| --- | --- | --- | --- |",
    ]
    for result in found["results"]:
        bar = "" if result["bar"] is None else bar_text(result)
        word = {None: "", True: "reached", False: "**missed**"}[result["passed"]]
        lines.append(f"| {full_title(result)} | {value_text(result)} | {bar} | {word} |")
    return "\n".join(lines)


def finish(name: str, results: Sequence[Result], given: argparse.Namespace) -> int:
    """Print the table, write the document; return 1 if a bar was missed, else 0."""
    found = document(name, results, quick=given.quick)
    print(markdown(found))
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    missed = [full_title(each) for each in found["results"] if each["passed"] is False]
    for title in missed:
        print(f"missed: {title}", file=sys.stderr)
    return 1 if missed else 0


def full_title(result: dict[str, Any]) -> str:
    """Return the title of a result with its workload."""
    return "; ".join(filter(None, (result["title"], result["workload"])))


def value_text(result: dict[str, Any]) -> str:
    return f"{result['value']:.2f}{unit_text(result)}"


def bar_text(result: dict[str, Any]) -> str:
    sign = "≥" if result["is_least"] else "≤"
    return f"{sign} {result['bar']:g}{unit_text(result)}"


def unit_text(result: dict[str, Any]) -> str:
    return "x" if result["unit"] == "x" else f" {result['unit']}"
