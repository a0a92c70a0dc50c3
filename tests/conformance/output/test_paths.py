"""Results that others read name no path of this machine."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from cdcwire_conformance.cli import main
from cdcwire_conformance.output.json_document import without_machine_paths


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("/project/adapters/x.js not found", "adapters/x.js not found"),
        ("Cannot find module '/tmp/a/b.js'", "Cannot find module 'b.js'"),
        ("file:///tmp/a/b.js:3", "b.js:3"),
        ("`/usr/lib/jvm/bin/java -jar /tmp/x.jar`", "`java -jar x.jar`"),
        ("in /project", "in ."),
        ("GET /subjects/x of http://host:8081/tmp/x", "GET /subjects/x of http://host:8081/tmp/x"),
        (
            "passed/asked, 1/2, a/tmp/b, s3a://tmp/usr/x",
            "passed/asked, 1/2, a/tmp/b, s3a://tmp/usr/x",
        ),
    ],
)
def test_text_names_no_path_outside_the_project(text: str, wanted: str) -> None:
    document = {"a": [{"b": text}, 1, None]}
    assert without_machine_paths(document, Path("/project")) == {"a": [{"b": wanted}, 1, None]}


def test_root_directory_as_project_changes_no_address() -> None:
    assert without_machine_paths("http://host/x", Path("/")) == "http://host/x"


def test_results_of_verify_name_no_path_outside_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, "-m", "cdcwire_conformance.testees.reference"]
    words = ["verify", "--case", "craft/limits/*", "--no-derived", "--json", "results.json"]
    assert main([*words, "--", *command]) == 0
    document = json.loads(Path("results.json").read_text("utf-8"))
    assert document["testee"]["command"] == f"{Path(sys.executable).name} {' '.join(command[1:])}"
