"""The workflows may read the repository and nothing more, and name actions by their digests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))
FILES = [*WORKFLOWS, ROOT / "action.yml"]
PINNED = re.compile(r"[\w-]+/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_actions_are_named_by_digest_and_version(file: Path) -> None:
    used = re.findall(r"^\s*(?:- )?uses: (.+)$", file.read_text("utf-8"), re.MULTILINE)
    assert used
    assert [name for name in used if name != "./" and not PINNED.fullmatch(name)] == []


def test_an_action_has_one_digest() -> None:
    text = "".join(file.read_text("utf-8") for file in FILES)
    used = set(re.findall(r"uses: (\S+@.+)", text))
    assert len(used) == len({name.partition("@")[0] for name in used})


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_workflow_may_only_read(file: Path) -> None:
    text = file.read_text("utf-8")
    assert "\npermissions:\n  contents: read\njobs:\n" in text
    assert text.count("permissions:") == 1
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")
