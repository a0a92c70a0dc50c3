"""``cdcwire verify``: judge a decoder by the corpus."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, TypedDict, get_args

from cdcwire.core.registry import FORMAT_NAMES

if TYPE_CHECKING:
    from cdcwire_conformance.corpus.case import Case
    from cdcwire_conformance.protocol.answers import Description
    from cdcwire_conformance.run.expected_failures import ExpectedFailures
    from cdcwire_conformance.run.results import Outcome, Results
    from cdcwire_conformance.run.selection import Declared
    from cdcwire_conformance.testees.base import Testee

    class Limits(TypedDict):
        """What a testee may use for one answer."""

        timeout: float
        memory_limit: int | None


NAME = "verify"
HELP = "judge a decoder, in any language, by the golden cases"
TAKES_COMMAND = True
DESCRIPTION = """\
Judge a decoder by the golden cases, and by malformed ones that are derived from them.
COMMAND is a program that speaks the testee protocol (docs/testee-protocol.md); without one the
reference codecs are judged. Without FORMAT all formats that the testee claims are run.

The report begins with what went wrong: a line for each kind of failure, with the number of its
cases. Then it shows the first case of each kind in full.

Exit code 0: all passed. 1: some failed. 2: nothing could be judged. 130, 143: interrupted; the
reports then hold what was known.
"""
EXAMPLES = """\
examples:
  cdcwire verify craft -- node testee.js
  cdcwire verify craft --case 'craft/values/*' --no-derived -- java -jar testee.jar
  cdcwire verify craft --one-shot --raw --without vector -- ./decode
  cdcwire verify --expected-failures known.txt --junit results.xml -- ./testee
"""
DEFAULT_JOBS = 4
MOST_JOBS = 256
MAX_CRASHES = 3
SUMMARY_FILE = "GITHUB_STEP_SUMMARY"
_SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``cdcwire verify``."""
    from cdcwire_conformance.corpus.case import Level

    parser.usage = "cdcwire verify [FORMAT ...] [options] [-- COMMAND ...]"
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help=", ".join(FORMAT_NAMES))
    cases = parser.add_argument_group("which cases")
    cases.add_argument(
        "--case",
        metavar="PATTERN",
        help="only these cases: an id, its beginning up to a slash, or a pattern with *. Cases "
        "derived from them need --derived, or an id with @",
    )
    cases.add_argument("--root", metavar="DIR", help="a golden folder other than the built-in one")
    cases.add_argument(
        "--level",
        action="append",
        choices=get_args(Level),
        help="only cases of this level (may be given again)",
    )
    cases.add_argument(
        "--derived",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="malformed cases derived by rule (default: yes, except with --case or --one-shot)",
    )
    testee = parser.add_argument_group("the testee")
    testee.add_argument("--one-shot", action="store_true", help="start COMMAND once a case")
    testee.add_argument(
        "--raw", action="store_true", help="one-shot: standard input is the value's bytes alone"
    )
    testee.add_argument("--encode", action="store_true", help="one-shot: the command also encodes")
    testee.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="FEATURE",
        help="the testee does not have this feature (may be given again)",
    )
    testee.add_argument(
        "--choice",
        action="append",
        default=[],
        metavar="'SUBJECT: CHOICE'",
        help="what the testee does where the format leaves a choice",
    )
    testee.add_argument(
        "--check-protocol", action="store_true", help="compare all answers with the JSON Schemas"
    )
    testee.add_argument(
        "--timeout",
        type=_seconds,
        default=10.0,
        metavar="S",
        help="for one answer (10); to start it has a minute",
    )
    testee.add_argument(
        "--jobs",
        type=_jobs,
        metavar="N",
        help=f"run N testees at a time, 1 to {MOST_JOBS} (processors, up to {DEFAULT_JOBS})",
    )
    testee.add_argument(
        "--memory",
        type=_mebibytes,
        metavar="MIB",
        help="kill a testee that holds more memory than this with all its children, in MiB; 0: no "
        "limit (2048, or less where the machine has less)",
    )
    testee.add_argument(
        "--max-crashes",
        type=_count,
        default=MAX_CRASHES,
        metavar="N",
        help="of the cases that one rule derives from one base case, leave some out after each "
        "crash, and all after N "
        f"crashes; 0: no limit ({MAX_CRASHES})",
    )
    output = parser.add_argument_group("what comes out")
    output.add_argument(
        "--expected-failures", metavar="FILE", help="failures that are known, with their reasons"
    )
    output.add_argument(
        "--write-expected-failures", metavar="FILE", help="write the failures of this run there"
    )
    output.add_argument("--json", metavar="FILE", help="results as a JSON document")
    output.add_argument("--junit", metavar="FILE", help="results as JUnit XML")
    output.add_argument("--markdown", metavar="FILE", help="results as Markdown")
    output.add_argument(
        "--github-summary",
        action="store_true",
        help="append results to the job summary of GitHub Actions ($GITHUB_STEP_SUMMARY)",
    )
    output.add_argument(
        "--show",
        type=_count,
        default=_SHOWN,
        metavar="N",
        help=f"show the first case in full for N kinds of failure; 0: for all ({_SHOWN})",
    )


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number of seconds above 0")
    return number


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number from 0")
    return int(text)


def _jobs(text: str) -> int:
    number = _count(text)
    if not 1 <= number <= MOST_JOBS:
        raise argparse.ArgumentTypeError(f"{number} is not a number from 1 to {MOST_JOBS}")
    return number


def _mebibytes(text: str) -> int:
    from cdcwire_conformance.testees.memory import can_measure

    number = _count(text)
    if number and not can_measure():
        raise argparse.ArgumentTypeError("the memory of processes cannot be measured here")
    return number


class Terminated(KeyboardInterrupt):
    """The run was asked to end by SIGTERM."""


def run(arguments: argparse.Namespace) -> int:
    """Run the golden cases against the testee. Returns the exit code. Raises: UsageError."""
    from cdcwire_conformance.cli.context import UsageError
    from cdcwire_conformance.testees.base import CannotStartError

    unknown = [name for name in arguments.formats if name not in FORMAT_NAMES]
    if unknown:
        raise UsageError(
            f"format {unknown[0]!r} is not known; there are: {', '.join(FORMAT_NAMES)}"
        )
    if arguments.raw and not arguments.one_shot:
        raise UsageError("--raw needs --one-shot")
    if arguments.command is not None and not arguments.command:
        raise UsageError("no command follows --")
    if arguments.github_summary and not os.environ.get(SUMMARY_FILE):
        raise UsageError(f"--github-summary needs the environment variable {SUMMARY_FILE}")
    try:
        with _termination_raises():
            return _verify(arguments)
    except CannotStartError as error:
        print(f"cdcwire verify: {error.problem}", file=sys.stderr)
        for line in error.stderr.splitlines()[-20:]:
            print(f"  {line}", file=sys.stderr)
        return 2
    except Terminated:
        print("cdcwire verify: terminated", file=sys.stderr)
        return 128 + signal.SIGTERM


@contextlib.contextmanager
def _termination_raises() -> Iterator[None]:
    """Let SIGTERM end the block as an interrupt does, so that reports are written."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _verify(arguments: argparse.Namespace) -> int:
    from cdcwire_conformance.cli.context import UsageError
    from cdcwire_conformance.cli.progress import ProgressLine
    from cdcwire_conformance.corpus.store import corpus_version
    from cdcwire_conformance.run.results import Results
    from cdcwire_conformance.run.runner import Settings
    from cdcwire_conformance.run.runner import run as run_cases
    from cdcwire_conformance.run.selection import choose
    from cdcwire_conformance.testees.pipes import kill_all

    root = Path(arguments.root) if arguments.root else None
    expected = _expected_failures(arguments.expected_failures, root)
    declared = _declared(arguments)
    testees = _open_testees(arguments)
    try:
        description = testees[0].start()
    except BaseException:  # an interrupt may come before the testee knows its process
        kill_all()
        raise
    formats = arguments.formats or [
        name for name in FORMAT_NAMES if description.claim(name) is not None
    ]
    wants_derived = _wants_derived(arguments)
    chosen = choose(
        formats, pattern=arguments.case, levels=arguments.level, derived=wants_derived, root=root
    )
    if not chosen.stored and not chosen.bases:
        testees[0].close()
        raise UsageError(_nothing(arguments, description))
    results = Results(
        description,
        " ".join(arguments.command or ["(reference)"]),
        "one-shot" if arguments.one_shot else "kept alive",
        corpus_version(root),
        tuple(formats),
        notes=_misspelled(description, declared, chosen.stored),
    )
    is_complete = wants_derived and not arguments.case and not arguments.level
    complete = frozenset(formats if is_complete else ())
    settings = Settings(arguments.max_crashes, declared, complete, chosen.has)
    bad = 0
    try:
        with ProgressLine() as line:

            def progress(done: int, outcome: Outcome) -> None:
                nonlocal bad
                bad += outcome.is_bad
                line.show(f"{done} cases, {bad} bad: {outcome.id}"[:79])

            run_cases(
                chosen.stored,
                chosen.derived(),
                testees,
                results,
                settings=settings,
                expected_failures=expected,
                progress=progress,
            )
    except KeyboardInterrupt:
        arguments.write_expected_failures = None  # a list of some failures would lose the others
        _report(arguments, results, expected)
        raise
    _report(arguments, results, expected)
    if not results.was_run:
        return 2
    return 1 if results.has_failed else 0


def _report(arguments: argparse.Namespace, results: Results, expected: ExpectedFailures) -> None:
    """Write the files first: they are there even if nobody reads the text."""
    from cdcwire_conformance.output.text import report_lines

    _write_files(arguments, results, expected)
    for text in report_lines(results, failures_shown=arguments.show):
        print(text)


def _nothing(arguments: argparse.Namespace, description: Description) -> str:
    if not arguments.formats and description.formats is not None and not description.formats:
        return f"{description.name} claims no format"
    if arguments.case:
        return f"no case fits {arguments.case!r}; `cdcwire corpus list` names them"
    claimed = ", ".join(sorted(description.formats or FORMAT_NAMES))
    return f"there are no such cases; the testee claims {claimed}"


def _wants_derived(arguments: argparse.Namespace) -> bool:
    """Return whether malformed cases are run: by default, unless each starts a process.

    With ``--case`` they are run only where the pattern is about them.
    """
    if arguments.derived is not None:
        return bool(arguments.derived)
    if arguments.case:
        return "@" in arguments.case
    return not arguments.one_shot


def _open_testees(arguments: argparse.Namespace) -> list[Testee]:
    from cdcwire_conformance.protocol.check import ProtocolChecker
    from cdcwire_conformance.testees import KeptAliveTestee, OneShotTestee
    from cdcwire_conformance.testees.memory import MEBIBYTE, default_limit

    checker = ProtocolChecker() if arguments.check_protocol else None
    jobs = arguments.jobs or min(os.cpu_count() or 1, DEFAULT_JOBS)
    command, env = arguments.command, None
    if command is None:
        command = [sys.executable, "-m", "cdcwire_conformance.testees.reference"]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    memory = default_limit(jobs) if arguments.memory is None else arguments.memory * MEBIBYTE
    limits: Limits = {"timeout": arguments.timeout, "memory_limit": memory or None}
    if arguments.one_shot:
        return [
            OneShotTestee(command, raw=arguments.raw, env=env, checker=checker, **limits)
            for _ in range(jobs)
        ]
    return [KeptAliveTestee(command, env=env, checker=checker, **limits) for _ in range(jobs)]


def _declared(arguments: argparse.Namespace) -> Declared:
    from cdcwire_conformance.cli.context import UsageError
    from cdcwire_conformance.run.selection import Declared, parse_choice

    try:
        choices = dict(map(parse_choice, arguments.choice))
    except ValueError as error:
        raise UsageError(f"--choice {error}") from error
    encode = arguments.encode if arguments.one_shot else None
    return Declared(frozenset(arguments.without), choices, encode, arguments.raw)


def _misspelled(description: Description, declared: Declared, cases: Sequence[Case]) -> list[str]:
    """Return a note for each feature that is declined and that nothing has."""
    from cdcwire.core.registry import get_format
    from cdcwire_conformance.judge.events import FIELDS_TO_DECLINE
    from cdcwire_conformance.run.selection import unknown_features

    known = {feature for case in cases for feature in case.features}.union(FIELDS_TO_DECLINE)
    for name in {case.format for case in cases}:
        known.update(get_format(name).features)
    claims = [description.claim(name) for name in {case.format for case in cases}]
    without = set(declared.without).union(*(claim.without for claim in claims if claim))
    return [
        f"no case here has the feature {feature!r} that the testee declines"
        for feature in unknown_features(without, known)
    ]


def _expected_failures(file: str | None, root: Path | None) -> ExpectedFailures:
    from cdcwire_conformance.corpus.store import case_sums, retired_ids
    from cdcwire_conformance.run.expected_failures import (
        ExpectedFailures,
        check_ids,
        read_expected_failures,
    )

    if file is None:
        return ExpectedFailures()
    expected = read_expected_failures(Path(file))
    check_ids(expected, case_sums(root), retired_ids(root))
    return expected


def _write_files(
    arguments: argparse.Namespace, results: Results, expected: ExpectedFailures
) -> None:
    from cdcwire_conformance.run.expected_failures import expected_failures_text

    if arguments.write_expected_failures:
        failures = {
            outcome.id: outcome.text
            for outcome in results.outcomes
            if outcome.fails_run or outcome.verdict == "expected failure"
        }
        text = expected_failures_text(failures, expected)
        _write(arguments.write_expected_failures, text)
    if arguments.json:
        from cdcwire_conformance.output.json_document import json_text

        _write(arguments.json, json_text(results))
    if arguments.junit:
        from cdcwire_conformance.output.junit import junit_text

        _write(arguments.junit, junit_text(results))
    if arguments.markdown or arguments.github_summary:
        from cdcwire_conformance.output.markdown import markdown_text

        text = markdown_text(results)
        if arguments.markdown:
            _write(arguments.markdown, text)
        if arguments.github_summary:
            _write(os.environ[SUMMARY_FILE], text, "a")


def _write(file: str, text: str, mode: str = "w") -> None:
    # What a testee says may hold lone surrogates, which have no form in UTF-8.
    with open(file, mode, encoding="utf-8", errors="backslashreplace") as stream:
        stream.write(text)
