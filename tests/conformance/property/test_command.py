"""``cdcwire verify --property``: reports, saved cases, testees that misbehave, interrupts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cdcwire_conformance.cli import main
from cdcwire_conformance.corpus.check import check_corpus
from cdcwire_conformance.protocol.check import ProtocolChecker

pytest.importorskip("hypothesis")
WRONG = Path(__file__).with_name("wrong_testee.py")
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
CLI = "import sys; from cdcwire_conformance.cli import main; sys.exit(main())"
# A shell starts what runs in its background with interrupts ignored, and children inherit that.
HEARD = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"


@pytest.fixture(autouse=True)
def _folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])
    monkeypatch.chdir(tmp_path)


def verify(words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(["verify", "craft", "--property", *words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def wrong(mode: str) -> list[str]:
    return ["--", sys.executable, str(WRONG), mode]


def test_failure_is_shown_saved_and_in_every_output(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    outputs = ["--json", "r.json", "--junit", "r.xml", "--markdown", "r.md"]
    words = ["300", "--seed", "1", "--save", "found", *outputs]
    code, out, _ = verify([*words, *wrong("year")], capsys)
    assert code == 1
    assert "clause: craft: year values" in out
    assert "where the value is: value, byte" in out
    assert "--seed 1 generates them again" in out
    document = json.loads(Path("r.json").read_text("utf-8"))
    ProtocolChecker().check("results", document)
    assert document["property"]["seed"] == 1
    (saved,) = document["property"]["saved"]
    (case_id,) = [outcome["id"] for outcome in document["outcomes"]]
    assert saved == f"found/{case_id}.json"
    assert check_corpus(Path("found")).problems == ()
    assert main(["verify", "craft", "--root", "found", "--no-derived", *wrong("year")]) == 1
    assert case_id in Path("r.md").read_text("utf-8")
    suites = ElementTree.parse("r.xml")
    assert next(each.get("name") for each in suites.iter("testcase")) == case_id
    # The kept example makes the second run fail at once.
    assert verify(["1", *wrong("year")], capsys)[0] == 1


def test_encoder_that_loses_deletes_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = verify(["15", "--seed", "1", *wrong("encode")], capsys)
    assert code == 1
    assert "craft/property/encode-" in out
    assert "events to encode" in out


def test_crashes_are_survived_and_shrunk(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = verify(["20", "--seed", "1", *wrong("crash")], capsys)
    assert code == 1
    assert "CRASHED craft/property/decode-" in out
    assert "cannot delete" in out


def test_time_outs_are_survived(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["20", "--seed", "1", "--timeout", "0.5"]
    code, out, _ = verify([*words, *wrong("hang")], capsys)
    assert code == 1
    assert "TIMED OUT craft/property/decode-" in out


def test_answers_that_vary_are_a_state_leak(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = verify(["10", "--seed", "1", *wrong("leak")], capsys)
    assert code == 1
    assert "state leaks between messages" in out
    assert "FAILED craft/property" not in out


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--property", "0"], "0 is not a number from 1"),
        (["--property", "many"], "'many' is not a number from 0"),
        (["--seed", "1"], "--seed needs --property N"),
        (["--save", "x"], "--save needs --property N"),
        (["--property", "1", "--case", "x"], "--case chooses golden cases"),
        (["--property", "1", "--sample", "2"], "--sample chooses derived cases"),
        (["--property", "1", "--expected-failures", "x"], "--expected-failures chooses golden"),
        (["--property", "1", "--save", "/dev/null/x"], "/dev/null"),
        (["--property", "1", "--", "/no/such/decoder"], "'/no/such/decoder' can't be started"),
    ],
)
def test_what_can_not_run_is_2_and_a_line(
    words: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", "craft", *words]) == 2
    err = capsys.readouterr().err
    assert text in err
    assert "Traceback" not in err


def test_missing_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    code, _, err = verify(["1"], capsys)
    assert code == 2
    assert (
        "--property needs the package hypothesis (extra generators): pip install 'hypothesis" in err
    )


# The signal comes in a callback of the garbage collector, as Hypothesis has one too.
IN_CALLBACK = """
import gc, os
def callback(phase, info):
    if os.path.exists("signal"):
        number = int(open("signal").read())
        os.remove("signal")
        signal.raise_signal(number)
gc.callbacks.append(callback)
"""


@pytest.mark.long
@pytest.mark.parametrize("is_in_callback", [False, True])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupt_ends_the_testee_and_writes_what_is_known(
    number: signal.Signals, code: int, is_in_callback: bool, tmp_path: Path
) -> None:
    words = ["verify", "craft", "--property", "100000", "--json", "r.json", *wrong("good")]
    program = HEARD + (IN_CALLBACK if is_in_callback else "") + CLI
    with subprocess.Popen(
        [sys.executable, "-c", program, *words],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while process.poll() is None and not Path("asked").exists():
            time.sleep(0.05)
        children = _children(process.pid)
        if is_in_callback:
            Path("number").write_text(str(int(number)), "ascii")
            Path("number").rename("signal")
        else:
            process.send_signal(number)
        try:
            out, err = process.communicate(timeout=300)
        finally:
            process.kill()
    assert process.returncode == code
    assert "INTERRUPTED" in out
    assert "Traceback" not in err
    assert json.loads(Path("r.json").read_text("utf-8"))["interrupted"] is True
    assert children
    assert not any(Path(f"/proc/{child}").exists() for child in children)


def _children(pid: int) -> list[str]:
    file = Path(f"/proc/{pid}/task/{pid}/children")
    return file.read_text("ascii").split() if file.exists() else []
