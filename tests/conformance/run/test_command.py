"""``cdcwire``, ``cdcwire verify``, ``cdcwire testee``: exit codes, and a line for each error."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from cdcwire_conformance.cli import VERBS, main
from cdcwire_conformance.testees.processes import can_measure

FAKE = Path(__file__).parents[1] / "testees" / "fake_testee.py"
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
CLI = "import sys; from cdcwire_conformance.cli import main; sys.exit(main())"


def fake(mode: str) -> list[str]:
    return ["--", sys.executable, str(FAKE), mode]


REFERENCE = ["--", sys.executable, "-m", "cdcwire_conformance.testees.reference"]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])


def run(words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(words)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("words", [[], ["--help"]])
def test_help_names_every_verb(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(words, capsys)
    assert code == 0
    for verb in VERBS:
        assert re.search(rf"^    {verb}\b", out, re.MULTILINE)


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_has_examples(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run([verb, "--help"], capsys)
    assert code == 0
    assert f"cdcwire {verb}" in out
    assert "examples:" in out


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(["--version"], capsys)
    assert (code, out.split()[0]) == (0, "cdcwire")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["verfy"], "invalid choice: 'verfy'"),
        (["verfy"], "\ndid you mean 'verify'? see `cdcwire --help`\n"),
        (["verify", "krafft"], "unknown format 'krafft'; did you mean 'craft'?\n"),
        (["verify", "unknown"], "unknown format 'unknown'; known: debezium-json, "),
        (["verify", "--level", "xyz"], "invalid choice: 'xyz'\nknown: must, should, may, "),
        (["verify", "--level", "xyz"], "unspecified; see `cdcwire verify --help-all`\n"),
        (
            ["verify", "--level", "shoud"],
            "\ndid you mean 'should'? see `cdcwire verify --help",
        ),
        (["verify", "--tiemout=3"], "unrecognized arguments: --tiemout=3\ndid you mean '--time"),
        (["verify", "--timeout", "0"], "argument --timeout"),
        (["verify", "--jobs", "999999999"], "999999999 is too large; the most is 256"),
        (["verify", "--jobs", "9" * 5000], " more characters) is too large; the most is 256"),
        *(
            (["verify", option, "9" * 20], f"{option}: {'9' * 20} is too large; the most is {most}")
            for option, most in (
                *(("--jobs", 256), ("--answer-size", 4096), ("--memory", 999_999_999)),
                *(("--show", 999_999_999), ("--seed", 999_999_999), ("--sample", 999_999_999)),
            )
        ),
        (["verify", "--jobs", "0"], "0 is not a number from 1 to 256"),
        (["verify", "--memory", "lots"], "'lots' is not a number from 0"),
        (["verify", "craft", "--root", "/no/such"], "/no/such"),
        (["verify", "craft", "--github-summary"], "--github-summary needs the environment"),
        (["verify", "--raw"], "--raw needs --one-shot"),
        (["verify", "--"], "no command follows --"),
        (["verify", "--choice", "last"], "--choice 'last' does not have the form"),
        (["verify", "--expected-failures", "/no/such"], "/no/such can't be read: No such file"),
        (["verify", "craft", "--", "/no/such/decoder"], "'/no/such/decoder' can't be started"),
        (["verify", "craft", *fake("no-start")], "the testee did not start"),
        (["verify", "craft", "--case", "craft/none"], "no case matches 'craft/none'"),
        (
            ["verify", "craft", "--case", "bigint-lmits"],
            "no case matches 'bigint-lmits'; did you mean 'bigint-limits'?",
        ),
        (["verify", "--no-derived", *fake("good")], "no case of these formats and levels; "),
        (["verify", "--json", "/no/such/file", "--case", "craft/values/year-2024"], "/no/such/"),
        (["testee", "decode"], "decode needs a format"),
        (["testee", "--raw"], "--raw needs a verb"),
        (["testee", "encode", "craft", "--raw"], "there are none to encode"),
    ],
)
def test_scenario_that_can_not_run_exits_with_2_and_one_line(
    words: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(words, capsys)
    assert code == 2
    assert text in err
    assert "Traceback" not in err


def test_start_that_fails_shows_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    _, _, err = run(["verify", "craft", *fake("no-start")], capsys)
    assert "  cannot find my library" in err


def test_error_of_ours_is_a_line_and_a_traceback_only_on_demand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from cdcwire_conformance.cli import verify

    def broken(_: object) -> int:
        raise LookupError("a bug\nof ours")

    monkeypatch.setattr(verify, "run", broken)
    monkeypatch.delenv("CDCWIRE_TRACEBACK", raising=False)
    code, _, err = run(["verify"], capsys)
    assert code == 2
    assert err.startswith("cdcwire verify: unexpected LookupError: a bug of ours (")
    assert err.count("\n") == 1
    monkeypatch.setenv("CDCWIRE_TRACEBACK", "1")
    assert "Traceback" in run(["verify"], capsys)[2]


def test_lack_of_memory_is_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from cdcwire_conformance.cli import verify

    def greedy(_: object) -> int:
        raise MemoryError

    monkeypatch.setattr(verify, "run", greedy)
    assert run(["verify"], capsys)[::2] == (
        2,
        "cdcwire verify: the memory of this process is not enough\n",
    )


def test_verify_the_reference_passes(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["verify", "--case", "craft/values/year-2024", "--derived", "--check-protocol"]
    pytest.importorskip("jsonschema")
    code, out, err = run(words, capsys)
    assert code == 0
    assert "PASSED: " in out
    assert "craft, malformed" in out
    assert err == ""


def test_verify_one_shot_runs_no_derived_cases_unasked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["verify", "craft", "--one-shot", "--encode", "--case", "craft/values/year-2024"]
    code, out, _ = run([*words, *REFERENCE], capsys)
    assert code == 0
    assert "one-shot; corpus" in out
    assert "malformed" not in out


def test_verify_one_derived_case_by_its_id(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["verify", "craft", "--case", "craft/values/year-2024@cut:7", *REFERENCE]
    code, out, _ = run(words, capsys)
    assert code == 0
    assert "PASSED: 1 of 1 case" in out


def test_verify_case_asks_this_case_alone_unless_derived_ones_are_wanted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["verify", "--case", "craft/values/year-2024"]
    assert "PASSED: 2 of 2 cases" in run([*words, *REFERENCE], capsys)[1]  # decoded and encoded
    assert "craft, malformed" in run([*words, "--derived", *REFERENCE], capsys)[1]
    encode = ["verify", "--case", "craft/values/year-2024@encode", *REFERENCE]
    assert "PASSED: 1 of 1 case" in run(encode, capsys)[1]


def test_verify_root_judges_by_another_corpus(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["corpus", "copy", str(tmp_path / "golden"), "craft-proposal"]) == 0
    (tmp_path / "golden" / "VERSION").write_text("7.8.9\n")
    words = ["verify", "craft-proposal", "--case", "craft-proposal/values"]
    code, out, _ = run([*words, "--root", str(tmp_path / "golden"), *REFERENCE], capsys)
    assert code == 0
    assert "corpus 7.8.9" in out


def test_verify_unknown_id_in_the_list_of_expected_failures_is_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = tmp_path / "known.txt"
    known.write_text("craft/values/yaer-2024 | a slip\n", encoding="utf-8")
    code, _, err = run(["verify", "craft", "--expected-failures", str(known)], capsys)
    assert code == 2
    assert "known.txt:1: there is no case craft/values/yaer-2024; did you mean" in err


@pytest.mark.skipif(not can_measure(), reason="memory is measured in /proc")
def test_verify_memory_limit_is_a_crash_of_the_case(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    testee = tmp_path / "eater.py"
    testee.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    request = json.loads(line)\n"
        "    if request['cmd'] == 'start':\n"
        "        claims = {'protocol': 1, 'formats': {'craft': {}}}\n"
        "        print(json.dumps(claims), flush=True)\n"
        "    kept = []\n"
        "    while request['cmd'] == 'decode':\n"
        "        kept.append(bytearray(b'x' * 10_000_000))\n",
        encoding="utf-8",
    )
    words = ["verify", "--case", "craft/values/year-2024", "--memory", "200", "--timeout", "60"]
    code, out, _ = run([*words, "--", sys.executable, str(testee)], capsys)
    assert code == 1
    assert "crashed: it used more than 200 MiB of memory (--memory)" in out


def test_verify_github_summary_is_appended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("# before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    words = ["verify", "--case", "craft/values/year-2024", "--github-summary", *REFERENCE]
    assert run(words, capsys)[0] == 0
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("# before\n# cdcwire")
    assert "PASSED: 2 of 2 cases" in text


def test_verify_a_format_that_is_not_claimed_is_2(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["verify", "craft", "--no-derived", *fake("good")]
    assert run(words, capsys) == (
        2,
        "",
        "cdcwire verify: no case of craft was run; the testee claims toy\n",
    )


def test_verify_feature_that_nothing_has_is_noted(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["verify", "craft", "--case", "craft/values/year-2024", "--without", "vecotr"]
    _, out, _ = run([*words, *REFERENCE], capsys)
    assert "has the feature 'vecotr' that the testee declines; did you mean 'vector'?\n" in out


def test_verify_choice_that_no_case_has_is_noted(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["verify", "open-protocol", "--no-derived", "--choice", "duplicate-ohk: last wins"]
    _, out, _ = run([*words, *REFERENCE], capsys)
    assert (
        "note: no case here has the choice 'duplicate-ohk: last wins'; there is "
        "duplicate-ohk: last one wins\n"
    ) in out


WRONG = """
import sys
from cdcwire_conformance.testees import reference
right = reference.answer
def answer(request):
    answered = right(request)
    for event in answered.get("events", ()):
        for image in filter(None, (event.get("before"), event.get("after"))):
            for name, value in image.items():
                if isinstance(value, dict) and value["type"] == "year":
                    image[name] = str(2 * int(value["value"]))
    return answered
reference.answer = answer
sys.exit(reference.main([]))
"""


def test_verify_failures_are_1_and_written_lists_make_them_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    testee = tmp_path / "wrong.py"
    testee.write_text(WRONG, encoding="utf-8")
    command = ["--", sys.executable, str(testee)]
    known, report = tmp_path / "known.txt", tmp_path / "results"
    words = ["verify", "craft", "--no-derived", "--case", "craft/values", "--jobs", "1"]

    code, out, _ = run(
        [
            *words,
            "--write-expected-failures", str(known),
            "--json", f"{report}.json",
            "--junit", f"{report}.xml",
            "--markdown", f"{report}.md",
            *command,
        ],
        capsys,
    )  # fmt: skip
    assert code == 1
    assert "FAILED craft/values/year-2024 (must)" in out
    assert 'got       "4048"' in out
    assert json.loads(Path(f"{report}.json").read_text(encoding="utf-8"))["passed"] is False
    assert Path(f"{report}.xml").read_text(encoding="utf-8").startswith("<?xml")
    assert Path(f"{report}.md").read_text(encoding="utf-8").startswith("# cdcwire")

    expecting = [*words, "--expected-failures", str(known)]
    code, out, _ = run([*expecting, *command], capsys)
    assert code == 0
    assert "expected" in out

    code, out, _ = run([*expecting, *REFERENCE], capsys)  # the right decoder: all are stale
    assert code == 1
    assert "stale expected failure in line" in out


def test_output_that_is_closed_ends_quietly() -> None:
    command = [sys.executable, "-c", CLI, "verify", "craft", "--no-derived"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


SLOW = """
import json, sys, time
from cdcwire_conformance.testees import reference
def answer(request):
    with open(LOG, 'a+') as log:  # processes that ask again share it
        log.write('.')
        asked = log.tell()
    if asked == 6:
        open(MARKER, 'w').write('here')
        time.sleep(600)
    return {"events": []}
reference.answer = answer
sys.exit(reference.main([]))
"""


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="signals are of POSIX")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_verify_that_is_killed_has_written_what_it_knew(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    marker, testee, report = (tmp_path / name for name in ("marker", "testee.py", "report.json"))
    testee.write_text(
        SLOW.replace("MARKER", repr(str(marker))).replace("LOG", repr(str(tmp_path / "log"))),
        encoding="utf-8",
    )
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); " + CLI
    words = ["verify", "craft", "--case", "craft/values", "--jobs", "1", "--timeout", "600"]
    command = [sys.executable, "-c", heard, *words, "--json", str(report)]
    with subprocess.Popen(
        [*command, "--", sys.executable, str(testee)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    ) as process:
        give_up = time.monotonic() + 120
        while not marker.exists():
            if time.monotonic() > give_up:
                process.kill()
                pytest.fail("the testee got no sixth request")
            time.sleep(0.05)
        process.send_signal(number)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == code
    assert b"INTERRUPTED: " in out
    document = json.loads(report.read_text(encoding="utf-8"))
    assert document["interrupted"]
    assert not document["passed"]
    assert any(outcome["verdict"] == "failed" for outcome in document["outcomes"])


@pytest.mark.skipif(os.name != "posix", reason="signals are of POSIX")
def test_interrupt_ends_run_and_testee(tmp_path: Path) -> None:
    marker = tmp_path / "pid"
    testee = tmp_path / "testee.py"
    testee.write_text(
        "import os, sys, time\n"
        f"open({str(marker)!r}, 'w').write(str(os.getpid()))\n"
        "time.sleep(600)\n",
        encoding="utf-8",
    )
    # A shell starts what runs in its background with interrupts ignored, and children inherit that.
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); " + CLI
    command = [sys.executable, "-c", heard, "verify", "craft", "--", sys.executable, str(testee)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    ) as process:
        pid = _wait_for_pid(marker)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == b"cdcwire: interrupted\n"
    _wait_until_gone(pid)


def _wait_until_gone(pid: int) -> None:
    """Wait until a process has ended: one that the system has not collected yet has, too."""
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(") ")[2].startswith("Z"):
                return
        except ProcessLookupError:
            return
        except FileNotFoundError:
            pass  # it ended between the two, or there is no such folder on this system
        time.sleep(0.02)
    raise AssertionError(f"process {pid} is still there")


def _wait_for_pid(marker: Path) -> int:
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        if marker.exists() and (text := marker.read_text(encoding="utf-8")):
            return int(text)
        time.sleep(0.02)
    raise AssertionError("the testee was not started")


def test_testee_one_shot_exit_codes() -> None:
    command = [sys.executable, "-c", CLI, "testee", "decode", "craft", "--raw"]
    accepted = bytes.fromhex("010103010101020a09010005")
    for data, code in ((accepted, 0), (accepted[:5], 1)):
        done = subprocess.run(
            command, input=data, capture_output=True, check=False, env=ENVIRONMENT, timeout=60
        )
        assert done.returncode == code
        assert ("rejected" in json.loads(done.stdout)) == (code == 1)
