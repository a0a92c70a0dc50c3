"""The files of results of ``verify``: each result has its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdcwire_conformance.cli import main


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--json", "a", "--junit", "./a"], "--junit: ./a is the file of --json too"),
        (
            ["--markdown", "a", "--write-expected-failures", "a"],
            "--write-expected-failures: a is the file of --markdown too",
        ),
        (
            ["--expected-failures", "list", "--badge", "list"],
            "--badge: list is the file of --expected-failures too",
        ),
    ],
    ids=["json-junit", "markdown-list", "list-badge"],
)
def test_each_result_of_verify_needs_its_own_file(
    words: list[str],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list").write_text("")
    assert main(["verify", "cdl-json", *words]) == 2
    assert capsys.readouterr() == ("", f"cdcwire verify: {problem}; name another file\n")
    assert [each.name for each in tmp_path.iterdir()] == ["list"]


def test_list_of_failures_may_replace_the_one_that_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = tmp_path / "known"
    known.write_text("")
    words = ["--case", "cdl-json/document", "--jobs", "1"]
    lists = [f"--expected-failures={known}", f"--write-expected-failures={known}"]
    assert main(["verify", "cdl-json", *words, *lists]) == 0
    assert "PASSED: " in capsys.readouterr().out
