"""``cdcwire verify`` with a testee, or a machine, that does its worst: what is left afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cdcwire_conformance.testees.memory import can_measure

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits are of POSIX")
CLI = "import sys; from cdcwire_conformance.cli import main; sys.exit(main(sys.argv[1:]))"
# A shell starts what runs in its background with interrupts ignored, and children inherit that.
HEARD = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); {CLI}"
BEGIN = """
import os, signal, subprocess, sys, tempfile, time
from cdcwire_conformance.testees import reference
right = reference.answer
"""
END = """
reference.answer = answer
sys.exit(reference.main([]))
"""


def environment(folder: Path) -> dict[str, str]:
    (folder / "tmp").mkdir(exist_ok=True)
    python_path = os.pathsep.join(filter(None, sys.path))
    return {**os.environ, "PYTHONPATH": python_path, "TMPDIR": str(folder / "tmp")}


def a_testee(folder: Path, answer: str) -> list[str]:
    """Return the command of a testee whose function ``answer`` is this code."""
    file = folder / "testee.py"
    file.write_text(BEGIN + answer + END, encoding="utf-8")
    return ["--", sys.executable, str(file)]


def assert_nothing_is_left(folder: Path, pids: list[int]) -> None:
    give_up = time.monotonic() + 60
    while any(map(is_running, pids)):
        assert time.monotonic() < give_up, "a process is left"
        time.sleep(0.05)
    assert list((folder / "tmp").iterdir()) == []


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return not Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(") ")[2].startswith("Z")
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.skipif(not can_measure(), reason="processes are found in /proc")
def test_interrupt_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    """The testee ignores signals, and its child has left session and group."""
    marker = tmp_path / "pids"
    command = a_testee(
        tmp_path,
        f"""
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
def answer(request):
    child = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(900)"], start_new_session=True
    )
    with open({str(marker)!r} + ".new", "w") as file:
        file.write(f"{{os.getpid()}} {{child.pid}}")
    os.replace({str(marker)!r} + ".new", {str(marker)!r})
    time.sleep(900)
""",
    )
    words = ["verify", "craft", "--case", "craft/values", "--jobs", "1", "--timeout", "900"]
    words += ["--json", str(tmp_path / "report.json")]
    with subprocess.Popen(
        [sys.executable, "-c", HEARD, *words, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
    ) as process:
        give_up = time.monotonic() + 120
        while not marker.exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < give_up, "the testee was not asked"
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"INTERRUPTED" in out
    assert b"Traceback" not in err
    assert json.loads((tmp_path / "report.json").read_text("utf-8"))["interrupted"]
    assert_nothing_is_left(tmp_path, [int(pid) for pid in marker.read_text("utf-8").split()])
