"""The commands that run the tests: a run without tests is red, on every version of Python."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

ROOT = Path(__file__).parents[1]


def _suite() -> ModuleType:
    spec = importlib.util.spec_from_file_location("suite", ROOT / "tests" / "suite.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


suite = _suite()
PASSING = "def test_{0}() -> None:\n    pass\n"
SKIPPED = "import pytest\n\n@pytest.mark.skip(reason='no tool')\ndef test_a() -> None:\n    pass\n"


def run_tests(folder: Path, source: str, *options: str, **variables: str) -> tuple[int, str]:
    """Run pytest on one module, with a copy of conftest.py. Returns: its exit code and output.

    To load the plugins that are installed takes longer than the run: only workers need one.
    """
    shutil.copy(ROOT / "conftest.py", folder)
    (folder / "test_module.py").write_text(source, "utf-8")
    ours = ("CDCWIRE_SAMPLE", "CDCWIRE_HYPOTHESIS", "CDCWIRE_LONG")
    own = {k: v for k, v in os.environ.items() if k not in ours}
    if "-n" not in options:
        own["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options],
        cwd=folder,
        env={**own, "TOX_ENV_NAME": "some", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.returncode, ended.stdout


@pytest.mark.parametrize("file", ["tox.ini", ".ci/run"])
def test_commands_name_tests_that_exist(file: str) -> None:
    named = re.findall(r"\btests/[A-Za-z0-9_/.]*\w", (ROOT / file).read_text("utf-8"))
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "two workers"])
def test_run_whose_tests_are_all_skipped_is_red(tmp_path: Path, options: tuple[str, ...]) -> None:
    code, output = run_tests(tmp_path, SKIPPED, *options)
    assert code == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "some: 0 tests ran, 1 were skipped" in output


@pytest.mark.parametrize("source", ["", PASSING.format("a")], ids=["none", "all deselected"])
def test_run_without_tests_is_red(tmp_path: Path, source: str) -> None:
    code, output = run_tests(tmp_path, source, "-k", "no_such_name")
    assert code == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "some: 0 tests ran" in output


def test_run_names_the_number_of_its_tests(tmp_path: Path) -> None:
    code, output = run_tests(tmp_path, SKIPPED + PASSING.format("b") + PASSING.format("c"))
    assert code == pytest.ExitCode.OK
    assert "some: 2 tests ran, 1 were skipped" in output


def test_sample_runs_every_nth_test(tmp_path: Path) -> None:
    source = "".join(map(PASSING.format, range(7)))
    code, output = run_tests(tmp_path, source, CDCWIRE_SAMPLE="3")
    assert code == pytest.ExitCode.OK
    assert "some: 3 tests ran" in output


@pytest.mark.parametrize(("profile", "ran"), [(None, 1), ("quick", 1), ("full", 2)])
def test_nightly_tests_run_where_many_examples_are_asked_for(
    tmp_path: Path, profile: str | None, ran: int
) -> None:
    marked = "import pytest\n\n@pytest.mark.nightly\n" + PASSING.format("a")
    variables = {} if profile is None else {"CDCWIRE_HYPOTHESIS": profile}
    options = ("-W", "ignore::pytest.PytestUnknownMarkWarning")
    code, output = run_tests(tmp_path, marked + PASSING.format("b"), *options, **variables)
    assert code == pytest.ExitCode.OK
    assert f"some: {ran} tests ran" in output


@pytest.mark.parametrize(
    ("variables", "ran"),
    [
        ({}, 1),
        ({"CDCWIRE_LONG": "none"}, 1),
        ({"CDCWIRE_LONG": "only"}, 2),
        ({"CDCWIRE_LONG": "all"}, 3),
        ({"CDCWIRE_HYPOTHESIS": "full"}, 3),
    ],
)
def test_long_tests_run_where_they_are_asked_for(
    tmp_path: Path, variables: dict[str, str], ran: int
) -> None:
    long = "".join(f"@pytest.mark.long\n{PASSING.format(name)}\n" for name in "ab")
    options = ("-W", "ignore::pytest.PytestUnknownMarkWarning")
    source = f"import pytest\n\n{long}{PASSING.format('c')}"
    code, output = run_tests(tmp_path, source, *options, **variables)
    assert code == pytest.ExitCode.OK
    assert f"some: {ran} tests ran" in output


def test_unknown_choice_of_long_tests_is_a_usage_error(tmp_path: Path) -> None:
    code, _ = run_tests(tmp_path, PASSING.format("a"), CDCWIRE_LONG="yes")
    assert code == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize("can_monitor", [False, True])
@pytest.mark.parametrize("sample", [None, "3", "50"])
def test_suite_measures_coverage_where_python_can_monitor(
    monkeypatch: pytest.MonkeyPatch, can_monitor: bool, sample: str | None
) -> None:
    """The warning of coverage about an unknown COVERAGE_CORE is an error."""
    started: list[tuple[list[str], dict[str, str]]] = []

    def run(command: list[str], *, cwd: Path, env: dict[str, str]) -> SimpleNamespace:
        started.append((command, env))
        return SimpleNamespace(returncode=5)

    monkeypatch.setattr(suite.subprocess, "run", run)
    monkeypatch.delenv("COVERAGE_CORE", raising=False)
    monkeypatch.delenv("CDCWIRE_SAMPLE", raising=False)
    monkeypatch.delenv("CDCWIRE_LONG", raising=False)
    if sample is not None:
        monkeypatch.setenv("CDCWIRE_SAMPLE", sample)
    if can_monitor:
        monkeypatch.setattr(sys, "monitoring", object(), raising=False)
    else:
        monkeypatch.delattr(sys, "monitoring", raising=False)
    assert suite.main([]) == 5
    ((command, environment),) = started
    assert command[:3] == [sys.executable, "-m", "pytest"]
    assert environment.get("COVERAGE_CORE") == ("sysmon" if can_monitor else None)
    assert any(option.startswith("--cov=") for option in command) is can_monitor
    assert ("--cov-fail-under=80" in command) is (can_monitor and sample != "50")


def test_long_tests_alone_are_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []

    def run(command: list[str], **_: object) -> SimpleNamespace:
        started.append(command)
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(suite.subprocess, "run", run)
    monkeypatch.setattr(sys, "monitoring", object(), raising=False)
    monkeypatch.delenv("COVERAGE_CORE", raising=False)
    monkeypatch.setenv("CDCWIRE_LONG", "only")
    assert suite.main([]) == 0
    assert not any(option.startswith("--cov") for option in started[0])


def test_suite_passes_given_options_on(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []

    def run(command: list[str], **_: object) -> SimpleNamespace:
        started.append(command)
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(suite.subprocess, "run", run)
    assert suite.main(["-x", "tests/laws"]) == 0
    assert started == [[sys.executable, "-m", "pytest", "-x", "tests/laws"]]
