"""The chapters that come from running a command: verdicts, sizes, benchmarks."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from cdcwire.model.text import Json
from cdcwire_evidence.report.part import NotRun, Part, table

# Decoders that others can build here: title, program that has to be there, command from a checkout.
DECODERS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "JavaScript, written from the specification alone",
        "node",
        ("node", "adapters/javascript/testee.js"),
    ),
)
BENCHMARKS = (
    "decode",
    "csv_decode",
    "canal_json_decode",
    "avro_decode",
    "datahub_decode",
    "connect_decode",
    "memory",
    "import_time",
)
_VERDICTS = ("passed", "failed", "crashed", "timed out", "not claimed", "skipped", "not run")


def verify_part(folder: Path, title: str, program: str, command: Sequence[str]) -> Part:
    """Judge a decoder; without ``command`` the reference."""
    shown = "cdcwire verify" + (f" -- {shlex.join(command)}" if command else "")
    part = Part(title, shown)
    if program and shutil.which(program) is None:
        part.not_run.append(NotRun(shown, f"{program} is not on this machine"))
        return part
    if command and not Path(command[-1]).exists():
        part.not_run.append(NotRun(shown, f"{command[-1]} is not here: this is no checkout"))
        return part
    file = folder / "results.json"
    words = [*_cdcwire("verify"), "--json", str(file)]
    ended = _run([*words, "--", *command] if command else words)
    if not file.exists():
        part.failed = True
        part.lines = ["It could not be run:", "", "```", *ended.stderr.splitlines()[-5:], "```"]
        return part
    document = json.loads(file.read_text(encoding="utf-8"))
    file.unlink()
    part.failed = ended.returncode != 0
    part.lines = [
        f"{document['testee']['name']} {document['testee']['version']}, corpus "
        f"{document['corpus']}, {document['seconds']:.0f} s.",
        "",
        *_counts(document),
        *_misses(document),
    ]
    part.not_run = [
        NotRun(shown, f"{number} cases {name}, after crashes on others like them")
        for name, number in document["left_out"].items()
    ]
    return part


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


def _misses(document: Json) -> list[str]:
    bad = [o for o in document["outcomes"] if o["verdict"] in ("failed", "crashed", "timed out")]
    if not bad:
        return []
    rows = [(f"`{o['id']}`", o["level"], o["verdict"], _inline(o.get("problem", ""))) for o in bad]
    return ["", *table(("case", "level", "verdict", "what is wrong"), rows[:50])]


def size_part(folder: Path, picture: Path, quick: bool) -> Part:
    """Weigh the formats; the picture goes beside the report."""
    rows = ["--rows", "1000"] if quick else []
    part = Part("Sizes", shlex.join(["cdcwire", "size", *rows, "--picture", picture.name]))
    file = folder / "sizes.md"
    outputs = ["--markdown", str(file), "--picture", str(picture)]
    ended = _run([*_cdcwire("size"), *rows, *outputs])
    if not file.exists():
        part.not_run.append(NotRun(part.command, (ended.stderr.splitlines() or ["no result"])[-1]))
        return part
    part.failed = ended.returncode != 0
    lines = file.read_text(encoding="utf-8").splitlines()
    part.lines = [f"![bytes per row]({picture.name})", ""]
    part.lines += [f"#{line}" if line.startswith("#") else line for line in lines[1:]]
    part.lines += [
        "",
        "What they take on a broker's disk is measured by the scenarios: "
        "[bytes a row on the broker's disk](#bytes-a-row-on-the-brokers-disk).",
    ]
    return part


def benchmark_part(folder: Path, name: str, quick: bool) -> Part:
    """Run one benchmark of a checkout."""
    words = [sys.executable, "-m", f"benchmarks.{name}", *(["--quick"] if quick else [])]
    part = Part(f"Speed and memory: {name.replace('_', ' ')}", shlex.join(["python", *words[1:]]))
    if not Path("benchmarks", f"{name}.py").exists():
        part.not_run.append(NotRun(part.command, "this is no checkout"))
        return part
    file = folder / "benchmark.json"
    ended = _run([*words, "--json", str(file)])
    if ended.stderr.startswith("not installed: "):
        part.not_run.append(NotRun(part.command, ended.stderr.strip()))
        return part
    if not file.exists():
        part.failed = True
        part.lines = ["```", *ended.stderr.splitlines()[-5:], "```"]
        return part
    document = json.loads(file.read_text(encoding="utf-8"))
    file.unlink()
    rows = []
    for found in document["results"]:
        sign = "at least" if found["is_least"] else "at most"
        bar = "" if found["bar"] is None else f"{sign} {found['bar']:g} {found['unit']}"
        word = {None: "", True: "reached", False: "**missed**"}[found["passed"]]
        rows.append((found["title"], f"{found['value']:.2f} {found['unit']}", bar, word))
    part.lines = [
        f"{document['implementation']} {document['python']}, {document['machine']}, "
        f"{document['processors']} processors. CPU time, the best of interleaved rounds in one "
        "process; figures are ratios unless they have a unit.",
        "",
        *table(("what", "found", "bar", ""), rows),
    ]
    return part


def _cdcwire(verb: str) -> list[str]:
    return [sys.executable, "-m", "cdcwire_conformance", verb]


def _run(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)


def _inline(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
