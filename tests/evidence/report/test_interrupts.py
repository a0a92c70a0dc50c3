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

# The processes of the report import this file again, as __mp_main__.
REPORT = """
import signal, sys, time
from pathlib import Path

def wait(begin, end=""):
    Path(begin).touch()
    while not end or not Path(end).exists():
        time.sleep(0.02)

if __name__ == "__mp_main__" and "importing" in sys.argv:
    wait("importing", "sent")

from cdcwire_conformance.interrupts import interrupts_raise
from cdcwire_evidence.report.write import Chapter, gather

def make(folder):
    try:
        wait("making")
    finally:
        Path("cleaned up").touch()

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with interrupts_raise():
        try:
            gather([Chapter("a", make)], print)
        except KeyboardInterrupt:
            sys.exit(130)
"""


@pytest.mark.parametrize("step", ["importing", "making"])
def test_interrupted_process_ends_without_a_traceback(step: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(REPORT)
    process = subprocess.Popen(
        [sys.executable, str(script), step],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
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
