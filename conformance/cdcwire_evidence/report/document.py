"""The report as one JSON document; ``output/schemas/report.schema.json`` is its schema.

REPORT.md and the pages of the chapters are made from this document alone.
"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from typing import Literal, TypeAlias

from cdcwire import __version__
from cdcwire.model.text import Json
from cdcwire_conformance.corpus.store import corpus_version
from cdcwire_evidence.report.part import Part, ReaderScore

Mode: TypeAlias = Literal["main", "full"]

DOCUMENT_VERSION = 1


def report_document(parts: Sequence[Part], mode: Mode, seconds: float) -> dict[str, Json]:
    """Return the document of a report. ``seconds``: the wall time of all chapters."""
    bars = [{**asdict(bar), "chapter": part.id} for part in parts for bar in part.bars]
    sizes = next((part.sizes for part in parts if part.sizes is not None), None)
    return {
        "report": DOCUMENT_VERSION,
        "mode": mode,
        "command": "cdcwire report --full" if mode == "full" else "cdcwire report",
        "made": {**_revision(), **_machine(), "seconds": round(seconds, 1)},
        "verdict": {
            "status": verdict_of(parts),
            "checks": {
                "passed": sum(part.passed for part in parts),
                "asked": sum(part.asked for part in parts),
            },
            "bars": {"met": sum(bar["met"] for bar in bars), "all": len(bars)},
        },
        "not_run": [
            {"chapter": part.id, **asdict(missing)} for part in parts for missing in part.not_run
        ],
        "attention": [
            {"chapter": part.id, "text": text} for part in parts for text in _attention(part)
        ],
        "evidence": [asdict(each) for part in parts for each in part.evidence],
        "readers": _readers([score for part in parts for score in part.readers]),
        "known_wrong": [asdict(each) for part in parts for each in part.known_wrong],
        "planted": [asdict(each) for part in parts for each in part.planted],
        "sizes": None if sizes is None else asdict(sizes),
        "bars": bars,
        "chapters": [
            {
                "id": part.id,
                "title": part.title,
                "status": part.status,
                "command": part.command,
                "seconds": round(part.seconds, 1),
                "checks": {"passed": part.passed, "asked": part.asked},
                "lines": part.lines,
            }
            for part in parts
        ],
    }


def verdict_of(parts: Sequence[Part]) -> str:
    """Return the worst status of the chapters; a chapter that was not run makes it partly run."""
    found = {part.status for part in parts}
    if "failed" in found:
        return "failed"
    return "partly run" if found & {"partly run", "not run"} else "passed"


def _attention(part: Part) -> list[str]:
    """Return the chapter's own lines. Goals that were missed are in the chapter's table."""
    return part.attention or (["the chapter failed"] if part.status == "failed" else [])


def _readers(scores: Sequence[ReaderScore]) -> list[Json]:
    """Return one entry for each reader, with its formats."""
    readers: dict[tuple[str, str], dict[str, Json]] = {}
    for score in scores:
        reader = readers.setdefault(
            (score.name, score.command),
            {
                "name": score.name,
                "version": score.version,
                "kind": score.kind,
                "command": score.command,
                "formats": [],
            },
        )
        reader["formats"].append(
            {
                "format": score.format,
                "asked": score.asked,
                "passed": score.passed,
                "failed": score.asked - score.passed,
                "declined": score.declined,
                "failing": list(score.failing),
                "not_asked": list(score.not_asked),
            }
        )
    return list(readers.values())


def _revision() -> dict[str, Json]:
    """Return the commit of the checkout, and whether files differ from it."""
    commit = _git("rev-parse", "--short=12", "HEAD")
    changed = _git("status", "--porcelain", "--", ".", ":!REPORT.md", ":!report")
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "revision": commit or "unknown",
        "changed": bool(changed),
        "cdcwire": __version__,
        "corpus": corpus_version(),
    }


def _machine() -> dict[str, Json]:
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.machine()}",
        "processors": os.cpu_count() or 1,
    }


def _git(*words: str) -> str:
    try:
        ended = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return ended.stdout.strip() if ended.returncode == 0 else ""
