"""The GitHub action: its step runs here, as the runner of GitHub would start it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree.ElementTree import parse

import pytest

ROOT = Path(__file__).resolve().parents[3]
ACTION = (ROOT / "action.yml").read_text("utf-8")
HEAD, STEPS = ACTION.split("\nruns:\n")
INPUTS, OUTPUTS = (
    re.findall(r"^  ([a-z-]+):$", part, re.MULTILINE) for part in HEAD.split("\noutputs:\n")
)
TESTEE = """
from cdcwire_conformance.testees import reference

right = reference.answer

def answer(request):
    answer = right(request)
    if "events" in answer:
        answer["events"] = [each for each in answer["events"] if each.get("op") != "{fault}"]
    return answer

reference.answer = answer
reference.main([])
"""
REFERENCE = shlex.join([sys.executable, "-m", "cdcwire_conformance.testees.reference"])


class Step:
    """The step and what it left in the files of the runner."""

    def __init__(self, tmp_path: Path, **inputs: str) -> None:
        self.folder = tmp_path
        self._summary, self._outputs = tmp_path / "summary.md", tmp_path / "outputs"
        self._outputs.touch()
        done = subprocess.run(
            [sys.executable, str(ROOT / ".github" / "verify.py")],
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                "RUNNER_TEMP": str(tmp_path / "runner temp"),
                "GITHUB_STEP_SUMMARY": str(self._summary),
                "GITHUB_OUTPUT": str(self._outputs),
                **{f"INPUT_{name}": value for name, value in {"HTML": "false", **inputs}.items()},
            },
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        self.code, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr

    @property
    def summary(self) -> str:
        return self._summary.read_text("utf-8")

    @property
    def outputs(self) -> dict[str, str]:
        lines = self._outputs.read_text("utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines)


@pytest.mark.long
def test_step_writes_summary_and_reports(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    step = Step(tmp_path, COMMAND=REFERENCE, FORMATS="cdl-json", HTML="")
    assert (step.code, step.outputs["verdict"]) == (0, "passed"), step.stderr
    assert "passed" in step.summary
    badge = json.loads(Path(step.outputs["badge"]).read_text())
    assert (badge["label"], badge["color"]) == ("cdcwire cdl-json", "brightgreen")
    root = parse(step.outputs["junit"]).getroot()
    assert float(root.attrib["time"]) > 0
    assert json.loads(Path(step.outputs["json"]).read_text())
    assert b"<html" in Path(step.outputs["html"]).read_bytes()[:200]
    assert OUTPUTS
    assert {*OUTPUTS} <= {*step.outputs}


def test_step_fails_with_the_exit_code_of_verify(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text("raise SystemExit('broken')")
    step = Step(tmp_path, COMMAND=shlex.join([sys.executable, str(wrong)]), FORMATS="cdl-json")
    assert (step.code, step.outputs["verdict"]) == (2, "error")


@pytest.mark.parametrize(("fault", "code"), [("none", 0), ("delete", 1)])
def test_property_budget_generates_messages_after_the_golden_cases(
    tmp_path: Path, fault: str, code: int
) -> None:
    pytest.importorskip("hypothesis")
    (tmp_path / "testee.py").write_text(TESTEE.format(fault=fault))
    command = shlex.join([sys.executable, str(tmp_path / "testee.py")])
    (tmp_path / "known.txt").write_text("cdl-json/* | generated messages show it too\n")
    inputs = {"EXPECTED_FAILURES": "known.txt"} if code else {}
    step = Step(tmp_path, COMMAND=command, FORMATS="cdl-json", PROPERTY="15", **inputs)
    assert (step.code, step.outputs["verdict"]) == (code, ["passed", "failed"][code]), step.stderr
    folder = Path(step.outputs["directory"])
    found = json.loads((folder / "property.json").read_text())
    assert found["property"]["examples"] == 15
    assert bool(found["outcomes"]) == bool(code)
    assert bool([*(folder / "cases").rglob("decode-*.json")]) == bool(code)
    assert (folder / "property.xml").exists()
    assert step.outputs["html"] == ""
    assert not [*tmp_path.rglob("*.html")]


def test_expected_failures_are_given_to_verify(tmp_path: Path) -> None:
    (tmp_path / "known.txt").write_text("cdl-json/no/such-case | a reason\n")
    step = Step(tmp_path, COMMAND=REFERENCE, FORMATS="cdl-json", EXPECTED_FAILURES="known.txt")
    assert step.code == 2
    assert "cdl-json/no/such-case" in step.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("COMMAND", "$(touch {proof})"),
        ("COMMAND", "`touch {proof}`"),
        ("COMMAND", "true; touch {proof}"),
        ("COMMAND", "true && touch {proof}"),
        ("COMMAND", "true | tee {proof}"),
        ("COMMAND", "true > {proof}"),
        ("FORMATS", "$(touch {proof})"),
        ("FORMATS", "--write-expected-failures={proof}"),
        ("EXPECTED_FAILURES", "$(touch {proof})"),
        ("EXPECTED_FAILURES", "x --json={proof}"),
    ],
)
def test_hostile_inputs_are_not_evaluated(tmp_path: Path, name: str, value: str) -> None:
    proof = tmp_path / "proof"
    inputs = {"COMMAND": "true", "FORMATS": "cdl-json", name: value.format(proof=proof)}
    assert Step(tmp_path, **inputs).code == 2
    assert not proof.exists()


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ({"COMMAND": "  "}, "command: it is empty"),
        ({"COMMAND": "node 'x"}, "command: No closing quotation"),
        ({"COMMAND": "node x", "PROPERTY": "0"}, "property: '0' is not a number from 1"),
        ({"COMMAND": "node x", "PROPERTY": "5 --save=x"}, "property: '5 --save=x' is not a number"),
        ({"COMMAND": "node x", "HTML": "yes"}, "html: 'yes' is neither true nor false"),
        ({"COMMAND": "node x", "FORMATS": "craft, ::warning::x"}, "formats: '::warning::x' is not"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, inputs: dict[str, str], problem: str) -> None:
    step = Step(tmp_path, **inputs)
    assert step.code == 2
    assert step.stdout.count("\n") == 1
    assert step.stdout.startswith(f"::error::{problem}")


def test_no_input_is_spliced_into_a_script() -> None:
    scripts = re.findall(r"^      run: (?:\|\n((?: {8}.*\n)+)|(.*)\n)", STEPS, re.MULTILINE)
    assert len(scripts) == STEPS.count("run: ") == 2
    assert not [script for script in scripts if "${{" in "".join(script)]


def test_used_actions_are_pinned_by_digest() -> None:
    used = re.findall(r"uses: (.*)", STEPS)
    assert len(used) == 2
    for each in used:
        assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v[0-9.]+", each)


def test_every_input_reaches_the_steps() -> None:
    assert INPUTS
    for name in INPUTS:
        assert f"inputs.{name}" in STEPS
