"""Settings of all tests: evidence can be imported, samples, and a run without tests is red.

The folder of ``cdcwire_evidence``, which is not in the wheel, is searched last, so that an
installed wheel is tested and not the checkout.

A test with the mark ``nightly`` runs where CDCWIRE_HYPOTHESIS asks for more than ``quick``. One
with the mark ``long`` runs there too, and where CDCWIRE_LONG is ``all``; ``only`` leaves the others
out.

The environment variable ``CDCWIRE_SAMPLE=N`` runs every Nth test only. It shows that an environment
starts, collects all tests and runs some, in a short time.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent / "conformance"))

_LONG = ("none", "only", "all")
_RAN = ("passed", "failed", "xfailed", "xpassed")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    step = int(os.environ.get("CDCWIRE_SAMPLE", "1"))
    is_quick = os.environ.get("CDCWIRE_HYPOTHESIS", "quick") == "quick"
    long = os.environ.get("CDCWIRE_LONG", "none" if is_quick else "all")
    if long not in _LONG:
        raise pytest.UsageError(f"CDCWIRE_LONG is {long}; it can be {', '.join(_LONG)}")

    def is_wanted(item: pytest.Item) -> bool:
        is_long = item.get_closest_marker("long") is not None
        is_nightly = item.get_closest_marker("nightly") is not None
        return not (is_nightly and is_quick) and (long == "all" or is_long == (long == "only"))

    chosen = [e for e in items if is_wanted(e)][::step]
    if len(chosen) < len(items):
        left = set(chosen)
        config.hook.pytest_deselected(items=[e for e in items if e not in left])
        items[:] = chosen


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run whose tests were all skipped, as pytest does where it finds none."""
    config = session.config
    if hasattr(config, "workerinput") or config.option.collectonly:
        return
    if session.exitstatus == pytest.ExitCode.OK and not _number_of_tests(config, *_RAN):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if not config.option.collectonly:
        name = os.environ.get("TOX_ENV_NAME", "pytest")
        ran, skipped = (_number_of_tests(config, *e) for e in (_RAN, ("skipped",)))
        terminalreporter.write_line(f"{name}: {ran} tests ran, {skipped} were skipped")


def _number_of_tests(config: pytest.Config, *outcomes: str) -> int:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return sum(len(reporter.stats.get(name, ())) for name in outcomes) if reporter else 0
