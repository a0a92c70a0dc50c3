"""The chapters that come from running a command: verdicts, sizes, benchmarks."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from cdcwire.model.text import Json
from cdcwire_conformance.output.markdown import code_block, inline
from cdcwire_conformance.size.compressions import RAW
from cdcwire_conformance.size.results import json_baseline
from cdcwire_evidence.report.part import (
    Bar,
    NotRun,
    Part,
    ReaderScore,
    SizeCell,
    Sizes,
    left_out,
    table,
)

REFERENCE = "The reference"
SIZES = "Sizes"
BENCHMARKS = "Speed and memory"
# Decoders that others can build here: title, program that has to be there, command from a checkout.
DECODERS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "JavaScript, written from the specification alone",
        "node",
        ("node", "adapters/javascript/testee.js"),
    ),
)
SAMPLE = 64  # the main job asks about one of this many derived cases
ROWS = 256  # of a workload whose size the main job measures
MAIN_BENCHMARKS = ("import_time", "decode")
QUICK_BENCHMARKS, FULL_BENCHMARKS = "benchmarks.json", "benchmarks-full.json"  # their results
_VERDICTS = ("passed", "failed", "crashed", "timed out", "not claimed", "skipped", "not run")
_BAD = ("failed", "crashed", "timed out")
_ASKED = ("passed", *_BAD)
_SHOWN = 50
_ATTENTION = 3
_SIZE_COMPRESSIONS = (RAW, "zstd")


def verify_part(
    title: str, program: str, command: Sequence[str], quick: bool, folder: Path
) -> Part:
    """Judge a decoder; without ``command`` the reference. ``quick``: on a sample."""
    sampled = ["--sample", str(SAMPLE)] if quick else []
    shown = shlex.join(["cdcwire", "verify", *sampled, *(["--", *command] if command else [])])
    part = Part(title, shown)
    if program and shutil.which(program) is None:
        part.not_run.append(NotRun(title, f"{program} is not installed", f"install {program}"))
        return part
    if command and not Path(command[-1]).exists():
        part.not_run.append(NotRun(title, f"{command[-1]} not found", "run it in a checkout"))
        return part
    file = folder / "results.json"
    words = [*_cdcwire("verify"), *sampled, "--json", str(file)]
    ended = _run([*words, "--", *command] if command else words)
    if not file.exists():
        return _broken(part, ended)
    document = json.loads(file.read_text(encoding="utf-8"))
    part.failed = ended.returncode != 0
    part.readers = list(_scores(document, shown))
    bad = _bad(document)
    part.passed = sum(score.passed for score in part.readers)
    part.asked = part.passed + sum(outcome["binding"] for outcome in bad)
    part.attention = [f"`{o['id']}` ({o['level']}) {o['verdict']}" for o in bad[:_ATTENTION]]
    if len(bad) > _ATTENTION:
        part.attention.append(f"{len(bad) - _ATTENTION} more cases")
    part.attention += [f"stale expected failure `{each['id']}`" for each in document["stale"]]
    part.attention += [f"`{each['id']}` leaks state" for each in document["leaks"]]
    part.lines = [
        f"{document['testee']['name']} {document['testee']['version']}, corpus "
        f"{document['corpus']}, {document['seconds']:.0f} s."
        + (f" About one of {SAMPLE} derived cases was run." if quick else ""),
        "",
        *_counts(document),
        *_misses(bad),
    ]
    part.not_run = [
        NotRun(f"{number} cases {name}", "the decoder crashed on others of the same kind")
        for name, number in document["left_out"].items()
    ]
    return part


def _broken(part: Part, ended: subprocess.CompletedProcess[str]) -> Part:
    """Return the chapter of a command that wrote no results."""
    part.failed = True
    last = ended.stderr.splitlines()[-5:] or ["no output"]
    part.attention = [f"`{part.command}` ended with {ended.returncode}: {inline(last[-1])}"]
    part.lines = ["The command wrote no results:", "", *code_block(last)]
    return part


def _scores(document: Json, command: str) -> Iterator[ReaderScore]:
    testee = document["testee"]
    bad = [outcome["id"] for outcome in _bad(document)]
    asked_ids = [o["id"] for o in document["outcomes"] if o["verdict"] in _ASKED]
    for name, kinds in document["formats"].items():
        asked, passed, declined = (
            sum(kinds[kind].get(verdict, 0) for kind in kinds for verdict in verdicts)
            for verdicts in (_ASKED, ("passed",), ("not claimed",))
        )
        failing = tuple(case for case in bad if case.startswith(f"{name}/"))
        yield ReaderScore(
            testee["name"],
            testee["version"],
            "decoder",
            command,
            name,
            asked,
            passed,
            declined,
            failing,
            left_out(name, asked_ids),
        )


def _counts(document: Json) -> list[str]:
    formats = document["formats"]
    used = [
        verdict
        for verdict in _VERDICTS
        if any(verdict in kinds[kind] for kinds in formats.values() for kind in kinds)
    ]
    rows = []
    for name, kinds in formats.items():
        for kind, counts in kinds.items():
            if counts:
                what = name if kind == "stored" else f"{name}, malformed"
                rows.append((what, *(f"{counts.get(verdict, 0):,}" for verdict in used)))
    return table(("cases", *used), rows)


def _bad(document: Json) -> list[Json]:
    return [outcome for outcome in document["outcomes"] if outcome["verdict"] in _BAD]


def _misses(bad: Sequence[Json]) -> list[str]:
    if not bad:
        return []
    rows = [(f"`{o['id']}`", o["level"], o["verdict"], inline(o.get("problem", ""))) for o in bad]
    return ["", *table(("case", "level", "verdict", "what is wrong"), rows[:_SHOWN])]


def size_part(picture: Path, quick: bool, folder: Path) -> Part:
    """Measure the sizes of the formats. ``picture``: its file, in the directory of the pages."""
    rows = ["--rows", str(ROWS)] if quick else []
    part = Part(SIZES, shlex.join(["cdcwire", "size", *rows, "--picture", picture.name]))
    file, figures = folder / "sizes.md", folder / "sizes.json"
    outputs = ["--markdown", str(file), "--json", str(figures), "--picture", str(picture)]
    ended = _run([*_cdcwire("size"), *rows, *outputs])
    if not file.exists():
        last = (ended.stderr.splitlines() or ["no result"])[-1]
        if "pip install" in last:
            part.not_run.append(NotRun("sizes", last, "pip install '.[size]'"))
            return part
        return _broken(part, ended)
    part.failed = ended.returncode != 0
    lines = file.read_text(encoding="utf-8").splitlines()
    part.lines = [f"![bytes per row]({picture.name})", ""]
    part.lines += [f"#{line}" if line.startswith("#") else line for line in lines[1:]]
    part.sizes = _sizes(json.loads(figures.read_text(encoding="utf-8")), picture.name)
    return part


def _sizes(document: Json, picture: str) -> Sizes:
    """Return the figures as ratios to the JSON that the others are compared with."""
    baseline = json_baseline()
    cells = []
    for workload in document["workloads"]:
        base = {cell["batch"]: cell for cell in workload["cells"] if cell["format"] == baseline}
        for cell in workload["cells"]:
            for compression in _SIZE_COMPRESSIONS:
                found = cell["bytes_per_row"][compression]
                ratio = found / base[cell["batch"]]["bytes_per_row"][compression]
                cells.append(
                    SizeCell(
                        workload["name"],
                        cell["format"],
                        cell["batch"],
                        compression,
                        found,
                        round(ratio, 4),
                    )
                )
    return Sizes(baseline, picture, tuple(cells))


def benchmarks_part(quick: bool, results: Path, folder: Path) -> Part:
    """Run the benchmarks of a checkout; ``quick``: MAIN_BENCHMARKS alone, with less data.

    ``results``: the directory of the results. It keeps quick and full runs apart. The figures of
    the last full run are shown with a quick run, with their dates.

    An exit code that says otherwise than the bars counts. A slower result never fails the chapter.
    """
    words = ["benchmarks", *(["--quick", *MAIN_BENCHMARKS] if quick else ["--all"])]
    part = Part(BENCHMARKS, shlex.join(["python", "-m", *words]))
    if not Path("benchmarks", "__main__.py").exists():
        part.not_run.append(NotRun("benchmarks", "not found", "run it in a checkout"))
        return part
    name = QUICK_BENCHMARKS if quick else FULL_BENCHMARKS
    made = folder / "benchmarks.json"
    last = _last(results, name)
    if last.exists():
        shutil.copyfile(last, made)
    before = made.read_bytes() if made.exists() else b""
    ended = _run([sys.executable, "-m", *words, "--json", str(made)])
    if not made.exists() or made.read_bytes() == before:
        return _broken(part, ended)
    shutil.copyfile(made, results / name)
    document = json.loads(made.read_text(encoding="utf-8"))
    part.not_run = [
        NotRun(each["name"], each["why"], "pip install '.[all]'") for each in document["not_run"]
    ]
    part.bars = list(_bars(document))
    part.failed = ended.returncode != (0 if all(bar.met for bar in part.bars) else 1)
    part.lines = list(_benchmark_lines(document))
    full = _last(results, FULL_BENCHMARKS)
    if quick and full.exists():
        stored = json.loads(full.read_text(encoding="utf-8"))
        part.bars += [bar for bar in _bars(stored) if bar.benchmark not in MAIN_BENCHMARKS]
        part.lines += ["", "## The last run of all benchmarks", ""]
        part.lines += _benchmark_lines(stored)
    return part


def _last(results: Path, name: str) -> Path:
    """Return the results of the last run: of this report, else those that are published."""
    own = results / name
    return own if own.exists() else Path("report", name)


def _bars(document: Json) -> Iterator[Bar]:
    for goal in document["goals"]:
        bar_of = {key: goal[key] for key in ("value", "unit", "bar", "is_least", "workload")}
        yield Bar(goal["benchmark"], goal["title"], met=goal["passed"], **bar_of)


def _benchmark_lines(document: Json) -> Iterator[str]:
    """Yield the goals with the worst workload of each, what got worse, and all results."""
    yield "Ratios (x) are of CPU time, the best of interleaved rounds in one process. A goal has to"
    yield "be reached by the worst workload, which is shown."
    yield ""
    head = ("what", "goal", "measured", "workload", "")
    yield from table(head, map(_goal_cells, document["goals"]))
    if document["worse"]:
        yield from ("", "### More than 10 % worse than in the last run", "")
        rows = ((e["title"], f"{e['was']:g}", f"{e['is']:g}", e["unit"]) for e in document["worse"])
        yield from table(("what", "before", "now", "unit"), rows)
    for each in document["benchmarks"]:
        yield from ("", f"### {each['benchmark'].replace('_', ' ').capitalize()}", "")
        yield f"{each['implementation']} {each['python']}, {each['machine']}, {each['date'][:10]}"
        yield ""
        found = each["results"]
        yield from table(("what", "goal", "measured", "workload", ""), map(_goal_cells, found))


def _goal_cells(found: Json) -> tuple[str, ...]:
    sign = "at least" if found["is_least"] else "at most"
    goal = "" if found["bar"] is None else f"{sign} {found['bar']:g} {found['unit']}"
    word = {None: "", True: "met", False: "**missed**"}[found["passed"]]
    measured = f"{found['value']:.2f} {found['unit']}"
    return found["title"], goal, measured, found["workload"], word


def _cdcwire(verb: str) -> list[str]:
    return [sys.executable, "-m", "cdcwire_conformance", verb]


def _run(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
