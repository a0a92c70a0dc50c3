"""A bug that is planted in the JavaScript and in the Go adapter is found across the process."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from cdcwire_conformance.cli import main
from cdcwire_conformance.property.search import Findings, SearchSettings, search
from cdcwire_conformance.run.asking import Judge
from cdcwire_conformance.run.selection import Declared
from cdcwire_conformance.testees import KeptAliveTestee
from cdcwire_conformance.testees.processes import Limits

pytest.importorskip("hypothesis")
ADAPTERS = Path(__file__).resolve().parents[3] / "adapters"
ONLY_INTEGERS = frozenset(
    {
        *("unsigned", "float", "decimal", "text", "bytes", "date", "time", "datetime"),
        *("timestamp", "bit", "enum", "set", "json", "vector", "ddl", "resolved", "checkpoint"),
    }
)


def found_by(command: Sequence[str], format_name: str) -> Findings:
    testee = KeptAliveTestee(command, Limits(60.0))
    try:
        judge = Judge(testee.start(), Declared(without=ONLY_INTEGERS))
        settings = SearchSettings(200, 1, seconds_to_shrink=600)
        return search(testee, judge, format_name, "decode", settings)
    finally:
        testee.close()


def plant(file: Path, right: str, wrong: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert right in text
    file.write_text(text.replace(right, wrong), encoding="utf-8")


def assert_one_small_row(findings: Findings) -> None:
    assert findings.failures
    for outcome in findings.failures:
        events = outcome.case.events or []
        assert len(events) == 1
        assert len(events[0]["after"] or events[0]["before"]) <= 2


@pytest.mark.long
@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_negative_numbers_that_javascript_loses_are_found(tmp_path: Path) -> None:
    for file in (ADAPTERS / "javascript").glob("*.js*"):
        shutil.copy(file, tmp_path)
    right = "return (zigzag >> 1n) ^ -(zigzag & 1n);"
    plant(tmp_path / "craft_primitives.js", right, "return zigzag >> 1n;")
    assert_one_small_row(found_by(["node", str(tmp_path / "testee.js")], "craft"))


@pytest.mark.long
@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_report_has_one_column_for_a_varint_that_javascript_misreads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for file in (ADAPTERS / "javascript").glob("*.js*"):
        shutil.copy(file, tmp_path)
    right = "return (zigzag >> 1n) ^ -(zigzag & 1n);"
    plant(tmp_path / "craft_primitives.js", right, "return zigzag >> 1n;")
    words = ["verify", "craft", "--property", "200", "--seed", "1", "--json", "r.json"]
    assert main([*words, "--timeout", "60", "--", "node", "testee.js"]) == 1
    out = capsys.readouterr().out
    counts = re.search(r"(\d+) generated messages, (\d+) kinds? of failure, (\d+) shrinks?", out)
    assert counts is not None
    document = json.loads(Path("r.json").read_text("utf-8"))
    names = ("messages", "kinds", "shrinks")
    assert [int(each) for each in counts.groups()] == [document["property"][name] for name in names]
    assert document["property"]["shrinks"] > 0
    titles = [each["title"] for each in document["outcomes"] if each["verdict"] == "failed"]
    assert titles
    assert all(re.fullmatch(r"generated: 1 \w+ with [^,]+", title) for title in titles)


@pytest.mark.long
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("return strconv.FormatInt(value, 10)", "return strconv.FormatInt(value&0xffff, 10)"),
        # A zigzag varint that is read as a plain one is twice the number.
        (
            "return strconv.FormatInt(value, 10)",
            "return strconv.FormatInt((value<<1)^(value>>63), 10)",
        ),
    ],
    ids=["cut", "zigzag"],
)
@pytest.mark.skipif(shutil.which("go") is None, reason="needs go")
def test_integers_that_go_misreads_are_found(tmp_path: Path, right: str, wrong: str) -> None:
    shutil.copytree(ADAPTERS / "go", tmp_path / "go")
    plant(tmp_path / "go/ticdc/ticdc.go", right, wrong)
    built = subprocess.run(
        ["go", "build", "-o", str(tmp_path / "wrong"), "./hamba"],
        cwd=tmp_path / "go",
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "GOFLAGS": "-mod=mod"},
    )
    if built.returncode != 0:
        pytest.skip(f"the modules of the adapter are not here: {built.stderr[:200]}")
    assert_one_small_row(found_by([str(tmp_path / "wrong")], "avro"))
