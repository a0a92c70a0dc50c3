"""Help: the most used options first, all of them on request; completion of a line."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from cdcwire.cli import parser_of
from cdcwire.cli.arguments import HELP_ALL
from cdcwire_conformance.cli import main, verb_modules

BRIEF = [module for module in verb_modules() if hasattr(module, "MOST_USED")]


@pytest.mark.parametrize("verb", BRIEF, ids=lambda verb: verb.NAME)
def test_help_shows_the_most_used_options_and_help_all_shows_all(
    verb: object, capsys: pytest.CaptureFixture[str]
) -> None:
    module = next(each for each in BRIEF if each is verb)
    known = set(parser_of(module).options_by_name())
    most_used = {name.removeprefix("--") for name in module.MOST_USED}
    assert most_used < known
    for word, shown in (("--help", most_used), (HELP_ALL, known)):
        assert main([module.NAME, word]) == 0
        lines = capsys.readouterr().out.splitlines()
        listed = {line.split()[0].rstrip(",") for line in lines if line.startswith("  --")}
        assert {name.removeprefix("--") for name in listed} - {"help-all"} == {
            name for name in shown if not name.startswith("no-") or f"--{name}" in listed
        }


@pytest.mark.parametrize(
    ("words", "same"),
    [(["help", "generate"], ["generate", "--help"]), (["help"], ["--help"])],
)
def test_help_is_a_verb(
    words: list[str], same: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert main(same) == 0
    assert printed == capsys.readouterr().out != ""


def test_help_has_the_width_of_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["verify", "--help"]) == 0
    described = capsys.readouterr().out.partition("\n\n")[2].partition("positional arguments")[0]
    assert max(map(len, described.splitlines())) <= 40


@pytest.mark.parametrize("verb", list(verb_modules()), ids=lambda verb: verb.NAME)
def test_help_states_each_default(verb: ModuleType) -> None:
    silent = [
        (parser.prog, action.dest)
        for parser in parsers(parser_of(verb))
        for action in parser._actions
        if action.default not in (None, True, False, "", [], argparse.SUPPRESS)
        and "default" not in (action.help or "")
    ]
    assert silent == []


@pytest.mark.parametrize("verb", list(verb_modules()), ids=lambda verb: verb.NAME)
def test_help_explains_each_argument(verb: ModuleType) -> None:
    silent = [
        (parser.prog, action.dest)
        for parser in parsers(parser_of(verb))
        for action in parser._actions
        if not action.help and not isinstance(action, argparse._SubParsersAction)
    ]
    assert silent == []


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield a parser and those of its verbs."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                yield from parsers(each)


def test_help_of_a_misspelled_verb_suggests_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "verfy"]) == 2
    assert "did you mean 'verify'?" in capsys.readouterr().err


def completions(line: str, file: Path) -> set[str]:
    """Return what a shell would offer at the end of a line."""
    pytest.importorskip("argcomplete", reason="the extra completion is not installed")
    wanted = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(file),
        "_ARGCOMPLETE_IFS": "\n",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    command = [sys.executable, "-m", "cdcwire_conformance"]
    subprocess.run(command, env={**os.environ, **wanted}, check=True, timeout=120)
    return set(file.read_text().split())


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("cdcwire ver", {"verify"}),
        ("cdcwire compare --ignore-", {"--ignore-column", "--ignore-scale", "--ignore-unread"}),
        ("cdcwire explain maxw", {"maxwell-json"}),
        ("cdcwire verify maxw", {"maxwell-json"}),
        ("cdcwire compare maxw", {"maxwell-json:file:"}),
        ("cdcwire compare a b --mode f", {"final"}),
    ],
)
def test_line_is_completed(line: str, offered: set[str], tmp_path: Path) -> None:
    assert completions(line, tmp_path / "offered") == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_takes_the_code(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("argcomplete", reason="the extra completion is not installed")
    assert main(["completion", shell]) == 0
    code = capsys.readouterr().out
    assert "cdcwire" in code
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=code, text=True, check=True, timeout=60)
