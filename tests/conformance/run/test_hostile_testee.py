"""``cdcwire verify`` with a testee that does its worst: the verdict, the limit, what is left."""

from __future__ import annotations

import gc
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

from cdcwire_conformance.cli import main
from cdcwire_conformance.testees import kept_alive, pipes
from cdcwire_conformance.testees.processes import can_measure, kill_labelled, labelled_processes

pytestmark = pytest.mark.skipif(not can_measure(), reason="processes are found in /proc")
HOSTILE = str(Path(__file__).with_name("hostile_testee.py"))
# A decoder that believes the number of elements in this message allocates 16 GiB.
CASE = "craft/tables/element-count-huge"
ACCEPTED = "craft/rows/all-flags"
SHORT = ["--timeout", "0.5"]
LONG = ["--timeout", "900"]
Verify = Callable[..., tuple[int, str]]


@pytest.fixture
def verify(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Verify:
    """Return a function that judges a mode of the testee. Afterwards nothing may be left."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    pids = tmp_path / "pids"

    def run(mode: str, *words: str) -> tuple[int, str]:
        threads = set(threading.enumerate())
        report = tmp_path / "report.json"
        command = [sys.executable, HOSTILE, mode, str(pids)]
        chosen = [] if "--case" in words else ["--case", CASE]
        given = [*chosen, "--no-derived", "--jobs", "1", "--json", str(report), *words]
        code = main(["verify", "craft", *given, "--", *command])
        shown = capsys.readouterr()
        assert shown.err == ""
        outcomes = json.loads(report.read_text("utf-8"))["outcomes"]
        (outcome,) = (each for each in outcomes if each["verdict"] != "not claimed")
        assert list(labelled_processes()) == [], "a process is left"
        assert set(threading.enumerate()) <= threads, "a thread is left"
        assert list(temporary.iterdir()) == [], "a temporary file is left"
        assert "\x1b" not in shown.out
        return code, f"{outcome['verdict']}\n{shown.out}"

    return run


@pytest.mark.parametrize(
    ("mode", "words", "verdict", "line"),
    [
        ("silence", SHORT, "timed out", "within 0.5 s"),
        ("late", SHORT, "timed out", "within 0.5 s"),
        ("orphan", SHORT, "timed out", "within 0.5 s"),
        ("deaf", SHORT, "timed out", "within 0.5 s"),
        ("line-ends", SHORT, "timed out", "within 0.5 s"),
        ("flood", [*LONG, "--answer-size", "1"], "crashed", "1048576 bytes"),
        ("nan", LONG, "crashed", "floats travel as text"),
        ("memory", [*LONG, "--memory", "150"], "crashed", "used more than 150 MiB of memory"),
    ],
)
@pytest.mark.parametrize("one_shot", [False, True], ids=["kept-alive", "one-shot"])
def test_misbehaviour_is_a_failed_case_and_leaves_nothing(
    mode: str, words: list[str], verdict: str, line: str, one_shot: bool, verify: Verify
) -> None:
    code, shown = verify(mode, *words, *(["--one-shot"] if one_shot else []))
    assert code == 1
    assert shown.startswith(f"{verdict}\n")
    assert line in shown
    if "--" in words[-2]:
        limit = words[-2]
        assert limit == "--timeout" or f"({limit})" in shown


@pytest.mark.parametrize(
    ("mode", "words", "verdict"),
    [
        ("daemon", LONG, "passed"),
        ("memory-of-a-daemon", [*LONG, "--memory", "150"], "crashed"),
    ],
)
@pytest.mark.parametrize("one_shot", [False, True], ids=["kept-alive", "one-shot"])
def test_process_that_has_left_parent_session_and_environment_is_killed(
    mode: str, words: list[str], verdict: str, one_shot: bool, verify: Verify, tmp_path: Path
) -> None:
    _, shown = verify(mode, *words, *(["--one-shot"] if one_shot else []))
    assert shown.startswith(f"{verdict}\n")
    daemon = (tmp_path / "pids").read_text("ascii").split()[0]
    commands = Path("/proc", daemon, "cmdline")  # empty when it has ended and nobody has waited
    assert not commands.exists() or commands.read_bytes() == b""


@pytest.mark.parametrize(
    ("mode", "verdict"),
    [("long-problem", "failed"), ("names", "failed"), ("long-word", "crashed")],
)
def test_long_text_of_a_testee_is_cut_before_it_is_worked_on(
    mode: str, verdict: str, verify: Verify, tmp_path: Path
) -> None:
    """Grouping failures by 50 MB of text took longer than anyone waits."""
    began = process_time()
    code, shown = verify(mode, *LONG, "--case", ACCEPTED)
    assert code == 1
    assert shown.startswith(f"{verdict}\n")
    assert len(shown) < 100_000  # with up to 64 KiB of standard error
    assert (tmp_path / "report.json").stat().st_size < 200_000
    assert process_time() - began < 5


@pytest.mark.parametrize(("mode", "patience"), [("loud", 60.0), ("end", 0.2)])
def test_right_answer_counts_whatever_else_the_testee_does(
    mode: str, patience: float, verify: Verify, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_alive, "_STOP_PATIENCE", patience)
    code, shown = verify(mode, *LONG)
    assert code == 0
    assert shown.startswith("passed\n")
    assert ("after stop the testee is to end with 0: it did not end by itself" in shown) == (
        mode == "end"
    )


def test_start_that_takes_too_long_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    sleep = [sys.executable, "-c", "import time; time.sleep(900)"]
    assert main(["verify", "craft", "--start-timeout", "0.5", "--", *sleep]) == 2
    problem = "the testee did not start: no answer within 0.5 s"
    assert capsys.readouterr().err == f"cdcwire verify: {problem}\n"
    assert list(labelled_processes()) == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_process_that_is_not_killed_is_seen(
    verify: Verify, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted fault: only the group of the command is killed. Its pipes stay open, too."""
    labels: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(pipes, "kill_labelled", labels.append)
        with pytest.raises(AssertionError, match="a process is left"):
            verify("orphan", *SHORT)
    for label in labels:
        kill_labelled(label)
    assert list(labelled_processes()) == []
    gc.collect()
