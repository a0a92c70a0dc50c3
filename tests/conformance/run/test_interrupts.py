"""Ctrl-C and SIGTERM, whenever they come: exit code, one line, what is left."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import InvalidStateError
from functools import partial
from pathlib import Path

import pytest

from cdcwire.console.interrupts import Terminated, interrupts_raise, interrupts_wait
from cdcwire.files import messages_io
from cdcwire.files.local_files import whole_file
from cdcwire_conformance.__main__ import main as main_of_package
from cdcwire_conformance.cli import main
from cdcwire_conformance.cli.generate_parts import PART_ROWS
from cdcwire_conformance.export import export_corpus
from cdcwire_conformance.processes import _without_lost_results
from cdcwire_conformance.sources.storage.writing import PrefixWriter
from cdcwire_conformance.testees.processes import can_measure

pytestmark = pytest.mark.skipif(not can_measure(), reason="processes are found in /proc")
HOSTILE = str(Path(__file__).with_name("hostile_testee.py"))
# A shell starts what runs in its background with interrupts ignored, and children inherit that.
CLI = """
import signal, sys
from cdcwire_conformance.cli import main
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main(sys.argv[1:]))
"""
LONGEST = 300  # seconds; nothing waits for so long
Started = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Started]:
    """Return a function that starts a command in a session; afterwards nothing may be left."""
    (tmp_path / "tmp").mkdir()
    script = tmp_path / "cli.py"
    script.write_text(CLI)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "TMPDIR": str(tmp_path / "tmp"),
    }
    started: list[subprocess.Popen[bytes]] = []

    def run(*words: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, str(script), *words],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.wait()
        wait_until(partial(is_gone, -process.pid), "a process of the group is left")
    assert list((tmp_path / "tmp").iterdir()) == []


def wait_until(is_true: Callable[[], bool], problem: str) -> None:
    give_up = time.monotonic() + LONGEST
    while not is_true():
        assert time.monotonic() < give_up, problem
        time.sleep(0.02)


def is_gone(pid: int) -> bool:
    """Return whether a process has ended; with a negative number, whether its group has."""
    try:
        os.kill(pid, 0)
        state = "R" if pid < 0 else Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(") ")[2]
        return state.startswith("Z")
    except (ProcessLookupError, FileNotFoundError):
        return True


@pytest.mark.parametrize(
    ("mode", "words", "number", "code"),
    [
        ("deaf", [], signal.SIGTERM, 143),
        ("deaf", ["--one-shot"], signal.SIGTERM, 143),
        ("deaf", ["--one-shot"], signal.SIGINT, 130),
        ("end", [], signal.SIGINT, 130),
    ],
    ids=["asked", "one-shot-terminated", "one-shot-interrupted", "after-stop"],
)
def test_verify_ends_writes_its_report_and_leaves_no_process(
    mode: str, words: list[str], number: signal.Signals, code: int, start: Started, tmp_path: Path
) -> None:
    """The testee ignores signals, and its child has left session and group."""
    pids, report = tmp_path / "pids", tmp_path / "report.json"
    given = ["--case", "craft/tables/element-count-huge", "--timeout", str(LONGEST)]
    command = [sys.executable, HOSTILE, mode, str(pids)]
    process = start("verify", "craft", *given, *words, "--json", str(report), "--", *command)
    wait_until(lambda: pids.exists() or process.poll() is not None, "the testee was not asked")
    assert process.poll() is None, process.communicate()
    process.send_signal(number)
    out, err = process.communicate(timeout=LONGEST)
    assert process.returncode == code
    assert b"INTERRUPTED" in out
    word = b"terminated" if number == signal.SIGTERM else b"interrupted"
    assert err == b"cdcwire: " + word + b"\n"
    assert json.loads(report.read_text("utf-8"))["interrupted"]
    found = [int(pid) for pid in pids.read_text("ascii").split()]
    wait_until(lambda: all(map(is_gone, found)), "a process is left")


def error_after(process: subprocess.Popen[bytes], number: signal.Signals, code: int) -> bytes:
    """Send a signal, check the exit code, and return the text on standard error.

    SIGINT goes to the whole group, as a terminal sends it.
    """
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    _, err = process.communicate(timeout=LONGEST)
    assert process.returncode == code
    return err


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"]
)
def test_generate_on_several_processes_leaves_no_part(
    number: signal.Signals, code: int, start: Started, tmp_path: Path
) -> None:
    feed = tmp_path / "feed"
    rows = str(1000 * PART_ROWS)
    process = start("generate", "craft", "--rows", rows, "--jobs", "2", "--to", str(feed))
    wait_until(
        lambda: len([*tmp_path.rglob(".messages.jsonl.?")]) == 2 or process.poll() is not None,
        "no part is written",
    )
    err = error_after(process, number, code)
    assert len(err.splitlines()) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"cli.py", "tmp"}


SLOW_TO_END = """
import signal, sys, time
from pathlib import Path
begun = Path("begun")

def end(number, frame):
    time.sleep(0.5)
    begun.unlink()
    print("cdcwire: interrupted", file=sys.stderr)
    sys.exit(128 + number)

signal.signal(signal.SIGINT, end)
signal.signal(signal.SIGTERM, end)
begun.write_text("")
time.sleep(900)
"""


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"]
)
def test_report_waits_until_its_program_has_cleaned_up(
    number: signal.Signals, code: int, start: Started, tmp_path: Path
) -> None:
    (tmp_path / "conformance").mkdir()
    (tmp_path / "conformance" / "evidence.py").write_text(SLOW_TO_END)
    process = start("report")
    begun = tmp_path / "begun"
    wait_until(lambda: begun.exists() or process.poll() is not None, "the program did not start")
    err = error_after(process, number, code)
    assert err == b"cdcwire: interrupted\n"
    assert not begun.exists()


def test_command_that_waits_for_input_is_terminated(start: Started) -> None:
    process = start("testee")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b'{"seq":0,"cmd":"start","protocol":1}\n')
    process.stdin.flush()
    assert process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=LONGEST)
    assert (process.returncode, err) == (143, b"cdcwire: terminated\n")


def test_interrupted_feed_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(file: object, messages: Iterator[object]) -> int:
        next(messages)
        raise KeyboardInterrupt

    monkeypatch.setattr(messages_io, "_write_lines", interrupted)
    assert main(["generate", "craft", "--rows", "20", "--to", str(tmp_path / "a" / "b")]) == 130
    assert list(tmp_path.iterdir()) == []


def test_interrupted_feed_leaves_an_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["generate", "craft", "--to", str(tmp_path), "--rows"]
    assert main([*words, "20"]) == 0
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def interrupted(file: object, messages: Iterator[object]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(messages_io, "_write_lines", interrupted)
    assert main([*words, "30", "--workload", "orders-10"]) == 130
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files


def test_interrupted_prefix_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(PrefixWriter, "flush", interrupted)
    assert main(["generate", "csv", "--rows", "20", "--to", str(tmp_path / "prefix")]) == 130
    assert list(tmp_path.iterdir()) == []


def test_interrupted_comparison_leaves_no_differences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow", reason="needs the extra compare")
    feeds = [tmp_path / name for name in "ab"]
    for number, feed in enumerate(feeds):
        words = ["--rows", "50", "--seed", str(number), "--to", str(feed)]
        assert main(["generate", "craft", *words]) == 0
    found = tmp_path / "found"

    def interrupted(*_: object) -> None:
        assert len(list(tmp_path.glob("*/*.parquet"))) == 1  # a differing table is written
        raise KeyboardInterrupt

    engine = "cdcwire_conformance.compare.embedded.engine"
    monkeypatch.setattr(f"{engine}.compared_table", interrupted)
    words = [f"craft:file:{feed}" for feed in feeds]
    assert main(["compare", *words, "--differences", str(found)]) == 130
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b"}


@pytest.mark.parametrize("name", ["corpus.zip", "corpus"])
def test_interrupted_export_leaves_nothing(name: str, tmp_path: Path) -> None:
    def interrupted(format_name: str, lines: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_corpus(tmp_path / name, ["cdl-json"], progress=interrupted)
    assert list(tmp_path.iterdir()) == []


def test_interrupted_file_keeps_its_content(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_bytes(b"old")

    def write() -> None:
        with whole_file(file) as out:
            out.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [(file.name, b"old")]


@pytest.fixture
def _default_handlers() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.long
@pytest.mark.usefixtures("_default_handlers")
@pytest.mark.parametrize("late_starts", [0, 1, 2])
@pytest.mark.parametrize(
    ("number", "wanted"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated)]
)
def test_interrupt_in_a_callback_of_the_collector_is_raised_again(
    number: signal.Signals,
    wanted: type[KeyboardInterrupt],
    late_starts: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Python prints and forgets an exception that comes in such a callback.

    On a machine with much work the next interrupt comes before its timer's start returns.
    """

    class Timer(threading.Timer):
        left = late_starts

        def start(self) -> None:
            super().start()
            if Timer.left:
                Timer.left -= 1
                self.join()
                time.sleep(0.01)

    monkeypatch.setattr(threading, "Timer", Timer)
    left = [number]

    def callback(phase: str, info: dict[str, int]) -> None:
        if left:
            signal.raise_signal(left.pop())

    def work() -> None:
        gc.callbacks.append(callback)
        try:
            with interrupts_raise():
                gc.collect()
                wait_until(lambda: False, "the interrupt is lost")
        finally:
            gc.callbacks.remove(callback)

    with pytest.raises(wanted) as caught:
        work()
    assert type(caught.value) is wanted
    assert not left


@pytest.mark.usefixtures("_default_handlers")
def test_interrupt_waits_for_the_end_of_a_step() -> None:
    steps = []

    def step() -> None:
        with interrupts_raise(), interrupts_wait():
            signal.raise_signal(signal.SIGINT)
            steps.append("whole")

    with pytest.raises(KeyboardInterrupt):
        step()
    assert steps == ["whole"]


def test_ignored_interrupt_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interrupts_raise():
            signal.raise_signal(signal.SIGINT)
            with interrupts_wait():
                signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_interrupt_while_modules_are_imported_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupting:
        def find_spec(self, name: str, path: object, target: object = None) -> None:
            if name == "cdcwire_conformance.cli":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "cdcwire_conformance.cli", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    assert main_of_package(["decode"]) == 130
    assert capsys.readouterr().err == "cdcwire: interrupted\n"


def test_lost_results_of_an_interrupted_pool_are_not_shown() -> None:
    shown: list[type[BaseException]] = []
    show = _without_lost_results(lambda arguments: shown.append(arguments.exc_type))
    for kind in (InvalidStateError, ZeroDivisionError):
        show(threading.ExceptHookArgs((kind, None, None, None)))
    assert shown == [ZeroDivisionError]


POOL = """
import time
from cdcwire_conformance.processes import process_pool
if __name__ == "__main__":
    try:
        with process_pool(2) as pool:
            for _ in pool.map(time.sleep, [0.01] + [30.0] * 20):
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_interrupted_pool_ends_without_a_traceback(tmp_path: Path) -> None:
    file = tmp_path / "pool.py"
    file.write_text(POOL)
    done = subprocess.run([sys.executable, file], capture_output=True, timeout=LONGEST, check=True)
    assert (done.stdout, done.stderr) == (b"interrupted\n", b"")


ORPHANS = """
import os, signal, time
from functools import partial
from cdcwire_conformance.processes import process_pool
if __name__ == "__main__":
    with process_pool(2) as pool:
        for _ in pool.map(partial(print, flush=True), "12"):  # so that they have started
            pass
        pool.submit(time.sleep, 600)
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_processes_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    file = tmp_path / "orphans.py"
    file.write_text(ORPHANS)
    # The processes inherit standard output. So it ends when the last of them has ended.
    done = subprocess.run(
        [sys.executable, file], stdout=subprocess.PIPE, timeout=LONGEST, check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert sorted(done.stdout.split()) == [b"1", b"2"]
