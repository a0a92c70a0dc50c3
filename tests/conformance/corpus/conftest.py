"""A golden folder of three cases, and the page that has their clauses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cdcwire_conformance.corpus.rebuild import rebuild
from cdcwire_conformance.corpus.store import forget_cases

RESOLVED = bytes.fromhex("010103010101020a09010005")  # resolved event, commit ts 1

PAGE = """\
# Craft

### craft: resolved events

A resolved event has no body.

### craft: version

The version is 1.

## Choices
"""

Edit = Callable[..., None]


def resolved_case() -> dict[str, Any]:
    return {
        "id": "craft/events/resolved",
        "title": "a resolved event",
        "level": "must",
        "expect": "accept",
        "clause": ["craft: resolved events"],
        "origin": "document: the page of the format",
        "since": "0.1.0",
        "features": ["resolved"],
        "canonical": True,
        "messages": [{"key": None, "value": "resolved.bin"}],
        "events": [{"kind": "progress", "what": "resolved", "position": {"commit_ts": "1"}}],
    }


def version_case() -> dict[str, Any]:
    return {
        "id": "craft/events/version-2",
        "title": "another version",
        "level": "must",
        "expect": "reject",
        "clause": ["craft: version"],
        "origin": "derived: worked out",
        "since": "0.1.0",
        "messages": [{"key": None, "value": "version-2.bin"}],
        "error": {"message": 0, "offset": 0, "path": ["version"], "clause": "craft: version"},
    }


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """A golden folder that is as it should be."""
    root = tmp_path / "golden"
    folder = root / "craft" / "events"
    folder.mkdir(parents=True)
    (root / "VERSION").write_text("0.1.0\n")
    (folder / "resolved.bin").write_bytes(RESOLVED)
    (folder / "resolved.json").write_text(json.dumps(resolved_case()))
    (folder / "version-2.bin").write_bytes(b"\x02" + RESOLVED[1:])
    (folder / "version-2.json").write_text(json.dumps(version_case()))
    rebuild(root)
    return root


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "craft.md").write_text(PAGE)
    return folder


@pytest.fixture
def edit(golden: Path) -> Edit:
    """Change members of a case file; None takes a member away."""

    def change(name: str = "resolved", **members: Any) -> None:
        file = golden / "craft" / "events" / f"{name}.json"
        document = json.loads(file.read_text())
        document.update(members)
        file.write_text(
            json.dumps({name: value for name, value in document.items() if value is not None})
        )
        forget_cases()

    return change
