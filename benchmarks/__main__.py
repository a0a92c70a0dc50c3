"""All benchmarks, one after the other, with one JSON document of their results.

Run as ``python -m benchmarks [--all] [--quick] [--json FILE] [NAME ...]``. The results are compared
with those of the last run in FILE, and what got worse by more than 10 % is named. This comparison
never changes the exit code: 0 if all bars are reached, 1 if one is missed, 2 if a benchmark breaks.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.document import VERSION, bar_text, full_title, value_text

BENCHMARKS = (
    "import_time",
    "decoder",
    "decode",
    "csv_decode",
    "canal_json_decode",
    "maxwell_json_decode",
    "connect_decode",
    "avro_decode",
    "debezium_avro_decode",
    "datahub_decode",
    "encode",
    "craft_arrow",
    "csv_arrow",
    "to_arrow",
    "memory",
    "explain",
)
LARGE_BENCHMARKS = (
    "spark_decode",
    "spark_formats",
    "spark_compare",
    "compare_table",
    "compare_here",
    "compare_script",
    "compare_different",
    "small_tables",
    "spark_follow",
    "commands",
)
MAX_LOSS = 0.10


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks to run (default: all)")
    parser.add_argument(
        "--quick", action="store_true", help="run in under a minute, with less data"
    )
    parser.add_argument(
        "--all", action="store_true", help="also run those of Spark and of large commands"
    )
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="keep the results there (default: build/benchmarks[-quick].json)",
    )
    given = parser.parse_args(argv)
    known = BENCHMARKS + LARGE_BENCHMARKS
    unknown = [name for name in given.names if name not in known]
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]}; choose from {', '.join(known)}")
    file = given.json or Path("build", f"benchmarks{'-quick' if given.quick else ''}.json")
    last = read_run(file, given.quick)
    names = given.names or (known if given.all else BENCHMARKS)
    found, not_run = run_all(names, given.quick)
    kept = {each["benchmark"]: each for each in (last or {}).get("benchmarks", ())}
    kept |= {each["benchmark"]: each for each in found}
    made = {
        "version": VERSION,
        "quick": given.quick,
        "goals": goals(list(kept.values())),
        "worse": worse(last, found),
        "not_run": not_run,
        "benchmarks": list(kept.values()),
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(made, indent=1) + "\n", "utf-8")
    print(goals_text(found))
    for each in made["worse"]:
        print(f"worse: {each['title']}: {each['was']:g} before, now {each['is']:g} {each['unit']}")
    for each in not_run:
        print(f"not run: {each['name']}: {each['why']}")
    if any(each["broken"] for each in not_run):
        return 2
    return 1 if any(goal["passed"] is False for goal in goals(found)) else 0


def read_run(file: Path, quick: bool) -> dict[str, Any] | None:
    """Return the last stored run of the same kind, None without one."""
    try:
        found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found if (found.get("version"), found.get("quick")) == (VERSION, quick) else None


def run_all(names: Sequence[str], quick: bool) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Run each benchmark as a process. Returns: their documents, and what did not run."""
    found, not_run = [], []
    for number, name in enumerate(names, 1):
        print(f"{number}/{len(names)} {name} ...", end=" ", file=sys.stderr, flush=True)
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "results.json")
            words = [sys.executable, "-m", f"benchmarks.{name}", "--json", str(file)]
            if quick:
                words.append("--quick")
            ended = subprocess.run(words, capture_output=True, text=True, check=False)
            if file.exists():
                document: dict[str, Any] = json.loads(file.read_text("utf-8"))
                document["seconds"] = round(time.monotonic() - began, 1)
                found.append(document)
                missed = sum(each["passed"] is False for each in document["results"])
                word = f"{missed} of {len(document['results'])} bars missed" if missed else "done"
            else:
                why = (ended.stderr.splitlines() or ["no output"])[-1]
                is_missing = why.startswith("not installed: ")
                not_run.append({"name": name, "why": why, "broken": not is_missing})
                word = why
        print(f"{time.monotonic() - began:.0f} s, {word}", file=sys.stderr, flush=True)
    return found, not_run


def worse(last: dict[str, Any] | None, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the results that are more than 10 % worse than in the last run."""
    before = {
        (document["benchmark"], each["id"]): each["value"]
        for document in (last or {}).get("benchmarks", ())
        for each in document["results"]
    }
    lost = []
    for document in found:
        for each in document["results"]:
            was = before.get((document["benchmark"], each["id"]))
            if was is None or was <= 0 or each["value"] <= 0:
                continue
            ratio = each["value"] / was
            if (1 / ratio if each["is_least"] else ratio) > 1 + MAX_LOSS:
                named = {"benchmark": document["benchmark"], "title": full_title(each)}
                lost.append({**named, "was": was, "is": each["value"], "unit": each["unit"]})
    return lost


def goals(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each goal with the worst of its workloads; results without a bar are left out."""
    worst: dict[tuple[str, str, float], dict[str, Any]] = {}
    for document in found:
        for each in document["results"]:
            if each["bar"] is None:
                continue
            name = document["benchmark"], each["title"], each["bar"]
            known = worst.get(name)
            is_worse = known is None or (each["value"] < known["value"]) == each["is_least"]
            if is_worse:
                worst[name] = {**each, "benchmark": document["benchmark"]}
    return list(worst.values())


def goals_text(found: list[dict[str, Any]]) -> str:
    """Return the goals as a Markdown table."""
    lines = ["| what | goal | measured | worst workload | |", "| --- | --- | --- | --- | --- |"]
    for each in goals(found):
        word = "reached" if each["passed"] else "**missed**"
        cells = (each["title"], bar_text(each), value_text(each), each["workload"], word)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
