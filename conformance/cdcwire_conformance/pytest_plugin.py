"""The pytest plugin: golden cases as test items.

``pytest --cdcwire-command 'node testee.js'`` adds an item for each case, which is run against that
command. For decoders in Python, use the pytest marker ``cdcwire_cases``; see ``in_pytest``. Without
either the plugin does nothing, and imports nothing of this project.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from cdcwire_conformance.run.asking import Judge
    from cdcwire_conformance.run.expected_failures import ExpectedFailures
    from cdcwire_conformance.run.selection import Task
    from cdcwire_conformance.testees import KeptAliveTestee

_MARK = "cdcwire_cases"
_PARAMETER = "cdcwire_case"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("cdcwire", "golden cases of change-data-capture formats")
    group.addoption(
        "--cdcwire-command",
        metavar="COMMAND",
        help="put the golden cases to this program, which speaks the testee protocol",
    )
    group.addoption(
        "--cdcwire-format",
        action="append",
        metavar="FORMAT",
        help="only cases of this format (default: all that the program claims)",
    )
    group.addoption("--cdcwire-case", metavar="PATTERN", help="only cases like this")
    group.addoption("--cdcwire-level", action="append", metavar="LEVEL", help="only this level")
    group.addoption(
        "--cdcwire-derived", action="store_true", help="also run derived malformed cases"
    )
    group.addoption("--cdcwire-expected-failures", metavar="FILE", help="failures that are known")
    group.addoption(
        "--cdcwire-timeout",
        type=float,
        default=10.0,
        metavar="S",
        help="for one answer (default: 10)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker of the plugin."""
    config.addinivalue_line(
        "markers",
        f"{_MARK}(*formats, pattern=None, levels=None, derived=False, encode=False): "
        f"run the test once for each golden case, as the argument {_PARAMETER}",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that has the marker once for each golden case."""
    mark = metafunc.definition.get_closest_marker(_MARK)
    if mark is None or _PARAMETER not in metafunc.fixturenames:
        return
    from cdcwire_conformance.in_pytest import golden_cases

    cases = golden_cases(*mark.args, **mark.kwargs)
    metafunc.parametrize(_PARAMETER, cases, ids=[case.task.id for case in cases])


@pytest.hookimpl(tryfirst=True)  # before -k and -m choose among the items
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add the golden cases for the command to the collected tests."""
    if config.getoption("--cdcwire-command") is not None:
        collector: CommandCases = CommandCases.from_parent(
            session, name="cdcwire", nodeid="cdcwire"
        )
        items.extend(collector.collect())


class CommandCases(pytest.Collector):
    """The cases that are run against a command. One process answers all of a session."""

    def __init__(self, **members: Any) -> None:
        super().__init__(**members)
        self._testee: KeptAliveTestee | None = None
        self._judge: Judge | None = None
        self._expected: ExpectedFailures | None = None

    def collect(self) -> Iterator[CaseItem]:
        """Start the command and yield a test for each chosen case. Raises: pytest.UsageError."""
        import shlex

        from cdcwire.registry import FORMAT_NAMES
        from cdcwire_conformance.corpus.store import case_sums, retired_ids
        from cdcwire_conformance.in_pytest import chosen_tasks
        from cdcwire_conformance.run.asking import Judge
        from cdcwire_conformance.run.expected_failures import (
            ExpectedFailures,
            check_ids,
            read_expected_failures,
        )
        from cdcwire_conformance.run.selection import Declared, choose
        from cdcwire_conformance.testees import CannotStartError, KeptAliveTestee
        from cdcwire_conformance.testees.processes import Limits

        option = self.config.getoption
        file = option("--cdcwire-expected-failures")
        try:
            self._expected = read_expected_failures(Path(file)) if file else ExpectedFailures()
            check_ids(self._expected, case_sums(), retired_ids())
            command = shlex.split(option("--cdcwire-command"))
        except ValueError as error:
            raise pytest.UsageError(f"cdcwire: {error}") from error
        if not command:
            raise pytest.UsageError("--cdcwire-command: there is no command")
        self._testee = KeptAliveTestee(command, Limits(option("--cdcwire-timeout")))
        self.config.add_cleanup(self._close)
        try:
            description = self._testee.start()
        except CannotStartError as error:
            raise pytest.UsageError(f"--cdcwire-command: {error}\n{error.stderr}") from error
        self._judge = Judge(description, Declared(), expected=self._expected)
        formats = option("--cdcwire-format") or [
            name for name in FORMAT_NAMES if description.claim(name) is not None
        ]
        unknown = set(formats) - set(FORMAT_NAMES)
        if unknown:
            raise pytest.UsageError(f"--cdcwire-format: there is no {', '.join(sorted(unknown))}")
        chosen = choose(
            formats,
            pattern=option("--cdcwire-case"),
            levels=option("--cdcwire-level"),
            derived=option("--cdcwire-derived"),
        )
        tasks = list(chosen_tasks(chosen))
        if not tasks:
            raise pytest.UsageError("cdcwire: no golden case is like that")
        for task in tasks:
            yield CaseItem.from_parent(self, name=task.id, task=task)

    def _close(self) -> None:
        if self._testee is not None:
            self._testee.close()

    def put(self, task: Task) -> None:
        """Ask the command and end the test as it deserves."""
        from cdcwire_conformance.in_pytest import settle
        from cdcwire_conformance.run.runner import compare_with_expected

        assert self._judge is not None
        assert self._testee is not None
        assert self._expected is not None
        outcome = self._judge.settle(task) or self._judge.ask(self._testee, task)
        if outcome.is_bad:
            outcome = compare_with_expected(outcome, self._expected)
        elif outcome.leak and not self._expected.expects_leaks(outcome.case.format):
            pytest.fail(f"state leaks between messages: {outcome.leak}", pytrace=False)
        elif (entry := self._expected.find(outcome.id)) is not None and not entry.is_pattern:
            reason = f"{entry.pattern} ({entry.reason}), line {entry.line}"
            pytest.fail(f"stale expected failure: {reason}: it does not fail", pytrace=False)
        settle(outcome)


class CaseItem(pytest.Item):
    """One question to the command."""

    def __init__(self, *, task: Task, **members: Any) -> None:
        super().__init__(**members)
        self._task = task
        self.keywords.update(dict.fromkeys((task.case.format, task.case.level), True))

    def runtest(self) -> None:
        """Run the case against the command."""
        assert isinstance(self.parent, CommandCases)
        self.parent.put(self._task)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the file, no line number and the name of the case."""
        return self.path, None, self.name
