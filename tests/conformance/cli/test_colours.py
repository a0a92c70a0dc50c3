"""Reports on a terminal: wrapped lines, and colours if the user wants them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cdcwire_conformance.cli.colours import painted, wrapped

VERIFY = ["verify", "craft", "--case", "craft/values/year-2024"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("EQUAL: 5 changes", "\x1b[1;32mEQUAL\x1b[0m: 5 changes"),
        ("FAILED: 1 of 2 cases", "\x1b[1;31mFAILED\x1b[0m: 1 of 2 cases"),
        ("NOTHING WAS RUN: all", "\x1b[1;33mNOTHING WAS RUN\x1b[0m: all"),
        ("shop.orders: different", "shop.orders: \x1b[1;31mdifferent\x1b[0m"),
        ("shop.t: equal, 3 changes", "shop.t: \x1b[1;32mequal\x1b[0m, 3 changes"),
        ("  999 same, 1 only left", "  999 same, \x1b[31m1 only left\x1b[0m"),
        ("  1,000 same", "  1,000 same"),
        ("  note: a: different", "  note: a: different"),
        ("compared: op, before", "compared: op, before"),
        ("", ""),
    ],
)
def test_line_has_the_colour_of_its_verdict(line: str, expected: str) -> None:
    assert painted(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  clause: one, two", ["  clause: one, two"]),
        ("  clause: one, two, three", ["  clause: one, two,", "    three"]),
        ("    0001  0a 0b 0c  number  1", ["    0001  0a 0b 0c", "      number  1"]),
        ("craft/values/all-types-of-columns", ["craft/values/all-types-of-columns"]),
        ("", [""]),
    ],
)
def test_line_is_wrapped_at_words_and_indented(line: str, expected: list[str]) -> None:
    assert list(wrapped([line], 20)) == expected


def on_a_terminal(words: list[str], **environment: str) -> str:
    """Return what the command writes to a terminal."""
    pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")
    master, slave = pty.openpty()
    settings = {"TERM": "xterm", "NO_COLOR": "", **environment}
    try:
        subprocess.run(
            [sys.executable, "-m", "cdcwire_conformance", *words],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **settings},
            stdin=subprocess.DEVNULL,
            stdout=slave,
            stderr=subprocess.DEVNULL,
            check=True,
            timeout=120,
        )
        return os.read(master, 1 << 16).decode()
    finally:
        os.close(slave)
        os.close(master)


@pytest.mark.parametrize(
    ("environment", "is_coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
def test_terminal_has_colours_unless_the_environment_declines(
    environment: dict[str, str], is_coloured: bool
) -> None:
    shown = on_a_terminal(VERIFY, **environment)
    assert ("\x1b[1;32mPASSED\x1b[0m: " in shown, "PASSED: " in shown) == (
        is_coloured,
        not is_coloured,
    )
    assert ("\x1b" in shown) is is_coloured


def test_lines_fit_the_terminal() -> None:
    lines = on_a_terminal([*VERIFY, "--without", "years"], COLUMNS="50").splitlines()
    assert max(map(len, lines)) <= 50
    assert "  the testee declines; did you mean 'year'?" in lines


def test_pipe_has_no_colours(tmp_path: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "cdcwire_conformance", *VERIFY],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm"},
        cwd=tmp_path,
        capture_output=True,
        check=True,
        timeout=120,
    )
    assert b"PASSED: " in found.stdout
    assert b"\x1b" not in found.stdout
