"""The output of a comparison on Spark on a terminal, and the end by an interrupt."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cdcwire_conformance.cli import main
from cdcwire_conformance.cli.colours import wrapped

pty = pytest.importorskip("pty", reason="pseudo-terminals are of POSIX")

LONGEST = 400  # seconds; nothing waits for so long on a machine without other work
CLEARED = "\r"
COLUMNS = 80


class Terminal:
    """A command on a terminal. ``screen``: what it has printed."""

    def __init__(self, folder: Path, *words: str) -> None:
        own, theirs = pty.openpty()
        environment = {
            **os.environ,
            "NO_COLOR": "1",
            "COLUMNS": str(COLUMNS),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "TMPDIR": str(folder),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-c", _AS_FOREGROUND, *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment,
            start_new_session=True,
        )
        os.close(theirs)
        self._own = own
        self._end = time.monotonic() + LONGEST
        self.screen = ""

    def read_until(self, text: str) -> None:
        """Read until the command has printed a text."""
        while text not in self.screen:
            assert self._read(), f"{text!r} was not printed: {self.screen}"

    def press(self, key: bytes) -> None:
        os.write(self._own, key)

    def ended(self) -> int:
        """Read the rest. Returns: the exit code."""
        while self._read():
            pass
        os.close(self._own)
        return self._process.wait(LONGEST)

    def _read(self) -> bool:
        if time.monotonic() > self._end:
            self._process.kill()
            raise AssertionError(f"not ended after {LONGEST} s: {self.screen}")
        if select.select([self._own], [], [], 1)[0]:
            try:
                found = os.read(self._own, 1 << 16)
            except OSError:  # Linux: the other end is closed
                return False
            self.screen += found.decode().replace("\r\n", "\n")
            return bool(found)
        return True


_AS_FOREGROUND = """
import fcntl, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, signal.default_int_handler)
from cdcwire_conformance.cli import main
from cdcwire_conformance.cli.colours import wrapped
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def feed(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("terminal") / "feed"
    words = ("--rows", "50", "--workload", "orders-10", "--to", str(folder))
    assert main(["generate", "craft", *words]) == 0
    return f"craft:file:{folder}"


@pytest.fixture
def started(feed: str, tmp_path: Path) -> Terminal:
    return Terminal(tmp_path, "compare", feed, feed, "--engine", "spark", "--master", "local[1]")


def processes_with(text: str) -> list[str]:
    """Return the command lines that have a text."""
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if text in line]


def test_a_run_shows_its_report_only_and_leaves_nothing(
    feed: str, started: Terminal, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", feed, feed, "--engine", "embedded"]) == 0
    report = list(wrapped(capsys.readouterr().out.splitlines(), COLUMNS))
    assert started.ended() == 0
    progress, _, shown = started.screen.rpartition(CLEARED)
    assert shown.splitlines()[:-2] == report[:-2]  # the last two name the engine
    assert shown.splitlines()[-2] == "engine: spark"
    assert "\n" not in progress
    assert re.search(r"comparing both sides: [0-9]+ of 100 rows", progress)
    assert list(tmp_path.iterdir()) == []
    assert processes_with(str(tmp_path)) == []


def test_an_interrupt_ends_the_run_and_leaves_nothing(started: Terminal, tmp_path: Path) -> None:
    started.read_until("looking for the tables")
    start = time.monotonic()
    started.press(b"\x03")
    assert started.ended() == 130
    assert time.monotonic() - start < 60  # 0.5 seconds without other work
    assert started.screen.rpartition(CLEARED)[2] == "cdcwire: interrupted\n"
    assert "Traceback" not in started.screen
    assert list(tmp_path.iterdir()) == []
    assert processes_with(str(tmp_path)) == []
