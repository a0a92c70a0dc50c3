"""A bug that is planted in the JavaScript and in the Go adapter is found across the process."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from cdcwire_conformance.property.search import Findings, SearchSettings, search
from cdcwire_conformance.run.asking import Judge
from cdcwire_conformance.run.selection import Declared
from cdcwire_conformance.testees import KeptAliveTestee

pytest.importorskip("hypothesis")
ADAPTERS = Path(__file__).resolve().parents[3] / "adapters"
ONLY_INTEGERS = frozenset(
    {
        *("unsigned", "float", "decimal", "text", "bytes", "date", "time", "datetime"),
        *("timestamp", "bit", "enum", "set", "json", "vector", "ddl", "resolved", "checkpoint"),
    }
)


def found_by(command: Sequence[str], format_name: str) -> Findings:
    testee = KeptAliveTestee(command, timeout=60.0)
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


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_negative_numbers_that_javascript_loses_are_found(tmp_path: Path) -> None:
    for file in (ADAPTERS / "javascript").glob("*.js*"):
        shutil.copy(file, tmp_path)
    right = "return (zigzag >> 1n) ^ -(zigzag & 1n);"
    plant(tmp_path / "craft_primitives.js", right, "return zigzag >> 1n;")
    assert_one_small_row(found_by(["node", str(tmp_path / "testee.js")], "craft"))


@pytest.mark.skipif(shutil.which("go") is None, reason="needs go")
def test_integers_that_go_cuts_are_found(tmp_path: Path) -> None:
    shutil.copytree(ADAPTERS / "go", tmp_path / "go")
    right = "return strconv.FormatInt(value, 10)"
    plant(tmp_path / "go/ticdc/ticdc.go", right, "return strconv.FormatInt(value&0xffff, 10)")
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
