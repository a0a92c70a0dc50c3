"""The page "Add a format" works from top to bottom, in a copy of the checkout.

The copy has all sources, but no cases and no page of another format: they would take a minute to
rebuild and check. ``python tests/docs/test_add_a_format.py`` writes the outputs of the page anew.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cdcwire_conformance.skeletons.format import NotWrittenError, write_format

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to" / "add-a-format.md"
SOURCES = ("reference", "conformance", "generators")
_BLOCK = re.compile(
    r'^(?P<fence>`{3,4})(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n'
    r"(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)


def copy_of_checkout(folder: Path) -> Path:
    """Return a checkout with all sources and the versions of the corpus, without cases."""
    for name in SOURCES:
        shutil.copytree(
            ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.zip")
        )
    for name in ("golden", "docs/formats", "tests"):
        (folder / name).mkdir(parents=True)
    shutil.copy(ROOT / "golden" / "VERSION", folder / "golden")
    return folder


def command(words: str, checkout: Path) -> str:
    """Run a command of the page in a checkout, with its sources. Returns: its output."""
    (checkout / "bin").mkdir(exist_ok=True)
    program = checkout / "bin" / "cdcwire"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cdcwire_conformance "$@"\n')
    program.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(program.parent), os.environ.get("PATH", os.defpath)]),
        "PYTHONPATH": os.pathsep.join(str(checkout / name) for name in SOURCES),
        "COLUMNS": "100",
    }
    ended = subprocess.run(
        ["sh", "-c", words],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout.replace(f"{checkout}/", "").removesuffix("\n") + "\n"


def run_page(checkout: Path) -> Iterator[tuple[re.Match[str], str]]:
    """Do what the page says. Yields: each block of a command, and its true text."""
    for block in _BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        if block["title"] is not None:
            file = checkout / block["title"]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block["text"], encoding="utf-8")
        elif block["language"] == "console":
            words = block["text"].partition("\n")[0].removeprefix("$ ")
            yield block, f"$ {words}\n{command(words, checkout)}"


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="the page's commands are those of a shell")
def test_page_builds_and_verifies_a_format_in_its_order(tmp_path: Path) -> None:
    checkout = copy_of_checkout(tmp_path)
    shown = [(block["text"], text) for block, text in run_page(checkout)]
    assert [text for text, _ in shown] == [text for _, text in shown]
    check_style(checkout)


def check_style(checkout: Path) -> None:
    """Check the format's files as CI checks those of the project, where ruff is installed."""
    ruff = shutil.which("ruff")
    if ruff is not None:
        shutil.copy(ROOT / "pyproject.toml", checkout)
        found = (each for each in checkout.rglob("toy_lines*") if each.suffix != ".pyc")
        written = list(map(str, found))
        for words in (["check", "-q"], ["format", "-q", "--check"]):
            subprocess.run([ruff, *words, *written], cwd=checkout, check=True)


def test_code_of_the_page_has_about_a_hundred_lines() -> None:
    blocks = _BLOCK.finditer(PAGE.read_text(encoding="utf-8"))
    code = "".join(block["text"] for block in blocks if block["language"] == "python")
    assert sum(bool(line.strip()) for line in code.splitlines()) <= 125


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("Toy", "not lower-case words with hyphens"),
        ("craft", "'craft' is already a format"),
    ],
)
def test_wrong_name_of_a_format_writes_nothing(name: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(NotWrittenError, match=problem):
        write_format(name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_existing_file_is_kept(tmp_path: Path) -> None:
    page = tmp_path / "docs" / "formats" / "toy-lines.md"
    page.parent.mkdir(parents=True)
    page.write_text("mine")
    with pytest.raises(NotWrittenError, match=r"toy-lines\.md: already exists"):
        write_format("toy-lines", tmp_path)
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == [page]


def main() -> None:
    """Write the outputs of the page anew."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        found = list(run_page(copy_of_checkout(Path(folder))))
    text = PAGE.read_text(encoding="utf-8")
    for block, true in reversed(found):
        text = text[: block.start("text")] + true + text[block.end("text") :]
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
