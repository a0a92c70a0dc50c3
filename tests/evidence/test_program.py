"""Starting the programs of the evidence in a checkout."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cdcwire_conformance.cli import main
from cdcwire_evidence import program

ROOT = Path(__file__).parents[2]


def test_installed_packages_come_before_the_checkout(tmp_path: Path) -> None:
    installed = tmp_path / "cdcwire_conformance"
    installed.mkdir()
    (installed / "__init__.py").write_text("raise SystemExit('the installed package')")
    words = program("report", "--help")
    ended = subprocess.run(words, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True)
    assert ended.stderr == "the installed package\n"


def test_report_outside_a_checkout_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report"]) == 2
    error = capsys.readouterr().err
    program_file = Path("conformance", "evidence.py")
    assert (
        error
        == f"cdcwire report: {program_file} not found; run the command in a checkout of cdcwire\n"
    )


@pytest.mark.parametrize("code", [0, 1])
def test_report_has_the_exit_code_of_its_program(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "conformance"
    folder.mkdir()
    words = ["report", "--to", "x", "--full"]
    text = f"import sys; sys.exit({code} if sys.argv[1:] == {words} else 9)"
    (folder / "evidence.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert main(["report", "--full", "--to", "x"]) == code


@pytest.mark.parametrize(
    ("option", "target"), [([], str(Path("build", "report"))), (["--publish"], ".")]
)
def test_report_goes_into_build_unless_it_is_published(
    option: list[str], target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "conformance"
    folder.mkdir()
    text = f"import sys; sys.exit(0 if sys.argv[1:] == {['report', '--to', target]} else 9)"
    (folder / "evidence.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert main(["report", *option]) == 0
