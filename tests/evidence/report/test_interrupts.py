"""Ctrl-C while the processes of a report start and while they make a chapter."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs groups of processes")
LONGEST = 300  # seconds; nothing waits for so long

CHAPTERS = """
import time
from pathlib import Path

def make(folder):
    try:
        Path("making").touch()
        while True:
            time.sleep(0.02)
    finally:
        Path("cleaned up").touch()
"""
REPORT = """
import signal, sys
from chapters import make
from cdcwire.console.interrupts import interrupts_raise
from cdcwire_evidence.report.write import Chapter, gather

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with interrupts_raise():
        try:
            gather([Chapter("a", make)], print)
        except KeyboardInterrupt:
            sys.exit(130)
"""
# Python imports it when it starts, so a process of the report takes long to start.
SLOW_START = """
import sys, time
from pathlib import Path

if "--multiprocessing-fork" in sys.orig_argv:
    Path("starting").touch()
    while not Path("sent").exists():
        time.sleep(0.02)
"""


@pytest.mark.parametrize("step", ["starting", "making"])
def test_interrupted_process_ends_without_a_traceback(step: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(REPORT)
    (tmp_path / "chapters.py").write_text(CHAPTERS)
    if step == "starting":
        (tmp_path / "sitecustomize.py").write_text(SLOW_START)
    process = subprocess.Popen(
        [sys.executable, str(script), step],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    give_up = time.monotonic() + LONGEST
    while not (tmp_path / step).exists():
        assert process.poll() is None
        assert time.monotonic() < give_up
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    (tmp_path / "sent").touch()
    out, err = process.communicate(timeout=LONGEST)
    assert (process.returncode, out, err) == (130, b"", b"")
    assert (tmp_path / "cleaned up").exists() == (step == "making")
