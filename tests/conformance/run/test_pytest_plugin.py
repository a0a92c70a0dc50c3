"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest_plugins = ("pytester",)

MARKED = """
import pytest
from cdcwire.registry import get_format

@pytest.mark.cdcwire_cases("craft", pattern="craft/values/year-2024", derived={derived})
def test_right(cdcwire_case):
    cdcwire_case.check(get_format("craft").to_events)

def twice(message, context):
    for event in get_format("craft").to_events(message, context=context):
        yield event
        yield event

@pytest.mark.cdcwire_cases("craft", pattern="craft/values/year-2024")
def test_wrong(cdcwire_case):
    cdcwire_case.check(twice)

@pytest.mark.cdcwire_cases("craft", pattern="craft/values/year-2024")
def test_declined(cdcwire_case):
    cdcwire_case.check(twice, without=["year"])
"""
REFERENCE = f"{sys.executable} -m cdcwire_conformance.testees.reference"


@pytest.fixture
def arguments(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Options of a pytest with one plugin: to load all plugins takes longer than the tests."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return ["-p", "cdcwire_conformance.pytest_plugin"]


@pytest.fixture
def arguments_if_installed(arguments: list[str], request: pytest.FixtureRequest) -> list[str]:
    """Options of a pytest with all installed plugins."""
    if not request.config.pluginmanager.has_plugin("cdcwire"):
        return arguments
    request.getfixturevalue("monkeypatch").delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    return []


def test_mark_runs_the_test_for_each_case(
    pytester: pytest.Pytester, arguments_if_installed: list[str]
) -> None:
    pytester.makepyfile(MARKED.format(derived="False"))
    result = pytester.runpytest_subprocess(*arguments_if_installed)
    result.assert_outcomes(passed=1, failed=1, skipped=1)
    result.stdout.fnmatch_lines(
        ["*expected  1 event: row insert test.t", "*got       2 events: *", "*clause: craft: *"]
    )


def test_mark_with_derived_cases_runs_these_too(
    pytester: pytest.Pytester, arguments: list[str]
) -> None:
    pytester.makepyfile(MARKED.format(derived="True"))
    result = pytester.runpytest_subprocess(*arguments, "-k", "test_right")
    assert result.parseoutcomes()["passed"] > 50


def test_command_makes_an_item_of_each_case(
    pytester: pytest.Pytester, arguments: list[str]
) -> None:
    command = ("--cdcwire-command", REFERENCE, "--cdcwire-case", "craft/values/year-2024")
    result = pytester.runpytest_subprocess(*arguments, *command, "-v")
    result.assert_outcomes(passed=2)  # decoded, and encoded
    result.stdout.fnmatch_lines(["*craft/values/year-2024 PASSED*"])


def test_command_items_can_be_chosen_with_k(
    pytester: pytest.Pytester, arguments: list[str]
) -> None:
    command = ("--cdcwire-command", REFERENCE, "--cdcwire-case", "craft/values")
    result = pytester.runpytest_subprocess(*arguments, *command, "-k", "2024 and encode")
    assert result.parseoutcomes()["passed"] == 1


def test_command_that_does_not_start_is_a_usage_error(
    pytester: pytest.Pytester, arguments: list[str]
) -> None:
    result = pytester.runpytest_subprocess(*arguments, "--cdcwire-command", "/no/such/decoder")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*can't be started*"])


def test_command_expected_failure_that_passes_fails(
    pytester: pytest.Pytester, arguments: list[str]
) -> None:
    pytester.makefile(".txt", known="craft/values/year-2024 | issue 7")
    command = ("--cdcwire-command", REFERENCE, "--cdcwire-case", "craft/values/year-2024")
    known = ("--cdcwire-expected-failures", "known.txt")
    result = pytester.runpytest_subprocess(*arguments, *command, *known)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*stale expected failure: craft/values/year-2024 (issue 7)*"])


def test_plugin_that_is_not_used_imports_nothing_of_ours() -> None:
    code = (
        "import sys, cdcwire_conformance.pytest_plugin as plugin; "
        "print(*(name for name in sys.modules if name.startswith('cdcwire')), sep=',')"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert loaded.stdout.strip() == "cdcwire_conformance,cdcwire_conformance.pytest_plugin"
