"""The README's examples: their output is what the commands print, and its links lead somewhere.

``python tests/docs/test_readme.py`` writes the output anew.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
_BLOCK = re.compile(r"(?<=^```console\n)\$ (.*)\n((?:.*\n)*?)(?=^```$)", re.MULTILINE)
_LINK = re.compile(r"\]\((?!http)([^)#]+)\)")


def _output(command: str) -> str:
    """Return what a command prints in a checkout, run with the ``cdcwire`` of this Python."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    ended = subprocess.run(
        ["sh", "-c", command],
        cwd=ROOT,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return ended.stdout


def _examples() -> list[tuple[str, str]]:
    return _BLOCK.findall(README.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("command", "shown"), _examples(), ids=lambda text: text[:40])
def test_readme_shows_what_the_command_prints(command: str, shown: str) -> None:
    assert _output(command) == shown


def test_readme_has_examples() -> None:
    assert len(_examples()) >= 2


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{p.name}" for p in ROOT.glob("docs/*.md"))])
def test_links_lead_to_files(page: str) -> None:
    file = ROOT / page
    for target in _LINK.findall(file.read_text(encoding="utf-8")):
        assert (file.parent / target).exists(), target


def test_readme_names_all_verbs_and_formats() -> None:
    from cdcwire.core.registry import FORMAT_NAMES
    from cdcwire_conformance.cli import VERBS

    text = README.read_text(encoding="utf-8")
    assert [name for name in (*VERBS, *FORMAT_NAMES) if f"`{name}`" not in text] == []


if __name__ == "__main__":
    text = README.read_text(encoding="utf-8")
    README.write_text(
        _BLOCK.sub(lambda found: f"$ {found[1]}\n{_output(found[1])}", text), encoding="utf-8"
    )
