"""``cdcwire verify``: judge a decoder by the corpus."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cdcwire.console.visible import print_error, without_secrets
from cdcwire.core.nearest import did_you_mean
from cdcwire.registry import FORMAT_NAMES, unknown_format
from cdcwire_conformance.cli.verify_arguments import DEFAULT_JOBS, SUMMARY_FILE, VerifyArguments
from cdcwire_conformance.cli.verify_results import check_outputs, write_results

if TYPE_CHECKING:
    from cdcwire_conformance.corpus.case import Case
    from cdcwire_conformance.corpus.requirements import RequirementSet
    from cdcwire_conformance.protocol.answers import Description
    from cdcwire_conformance.run.expected_failures import ExpectedFailures
    from cdcwire_conformance.run.results import Outcome, Results
    from cdcwire_conformance.run.selection import Declared
    from cdcwire_conformance.testees.base import Testee


NAME = "verify"
HELP = "test a decoder, in any language, with the golden cases"
TAKES_COMMAND = True
MOST_USED = (
    *("--case", "--level", "--derived", "--one-shot", "--without", "--choice", "--property"),
    *("--expected-failures", "--junit", "--html"),
)
DESCRIPTION = """\
Judge a decoder by the golden cases, and by malformed ones that are derived from them.
COMMAND is a program that speaks the testee protocol (docs/testee-protocol.md); without one the
reference codecs are judged. Without FORMAT all formats that the testee claims are run.

The report begins with what went wrong: a line for each kind of failure, with the number of its
cases. Then it shows the first case of each kind in full.

With --property N the testee gets generated messages instead. A message that it reads wrongly is
shrunk to the smallest one. Its failure is shown like that of a case, and --save writes it as one.

Exit code 0: all passed. 1: some failed. 2: nothing could be judged. 130, 143: interrupted; the
reports then contain the results so far.
"""
EXAMPLES = """\
examples:
  cdcwire verify canal-json -- node testee.js
  cdcwire verify canal-json --case 'canal-json/values/*' --no-derived -- java -jar testee.jar
  cdcwire verify canal-json --one-shot --raw --without vector -- ./decode
  cdcwire verify --expected-failures known.txt --junit results.xml -- ./testee
  cdcwire verify canal-json --html results.html -- ./testee
  cdcwire verify canal-json --property 500 --save golden-found -- node testee.js
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``cdcwire verify``."""
    parser.usage = "cdcwire verify [FORMAT ...] [options] [-- COMMAND ...]"
    VerifyArguments.add_to(parser)


def run(arguments: VerifyArguments) -> int:
    """Run the golden cases against the testee. Returns the exit code. Raises: UsageError."""
    from cdcwire.cli.context import UsageError
    from cdcwire_conformance.cli.verify_property import check_arguments
    from cdcwire_conformance.testees.base import CannotStartError
    from cdcwire_conformance.testees.pipes import kill_all

    unknown = [name for name in arguments.formats if name not in FORMAT_NAMES]
    if unknown:
        raise UsageError(unknown_format(unknown[0]))
    if arguments.raw and not arguments.one_shot:
        raise UsageError("--raw needs --one-shot")
    if arguments.command is not None and not arguments.command:
        raise UsageError("no command follows --")
    check_arguments(arguments)
    if arguments.github_summary and not os.environ.get(SUMMARY_FILE):
        raise UsageError(f"--github-summary needs the environment variable {SUMMARY_FILE}")
    try:
        return _verify_property(arguments) if arguments.property else _verify(arguments)
    except CannotStartError as error:
        print_error(f"cdcwire verify: {error.problem}")
        for line in error.stderr.splitlines()[-20:]:
            print_error(f"  {line}")
        return 2
    finally:
        kill_all()  # an interrupt may come before a testee knows its process


_STARTING = "waiting for the testee to start"


def _verify_property(arguments: VerifyArguments) -> int:
    from cdcwire.cli.context import UsageError
    from cdcwire_conformance.cli.progress import lasting_line
    from cdcwire_conformance.cli.verify_property import run_property
    from cdcwire_conformance.run.expected_failures import ExpectedFailures

    check_outputs(arguments)
    declared = _declared(arguments)
    testee = _open_testees(arguments)[0]
    with lasting_line(_STARTING):
        description = testee.start()
    results = _results(arguments, description, _formats(arguments, description))
    if not results.formats:
        testee.close()
        raise UsageError(_nothing(arguments, description))
    results.notes += _misspelled(description, declared, (), results.formats)
    try:
        run_property(arguments, testee, results, declared)
    finally:
        all_written = write_results(arguments, results, ExpectedFailures())
    return _exit_code(results) if all_written else 2


def _formats(arguments: VerifyArguments, description: Description) -> tuple[str, ...]:
    claimed = (name for name in FORMAT_NAMES if description.claim(name) is not None)
    return tuple(arguments.formats or claimed)


def _results(
    arguments: VerifyArguments, description: Description, formats: tuple[str, ...]
) -> Results:
    from cdcwire_conformance.cli.usage import golden_root
    from cdcwire_conformance.corpus.store import corpus_version
    from cdcwire_conformance.output.json_document import without_machine_paths
    from cdcwire_conformance.run.results import Results

    command = without_secrets(" ".join(arguments.command or ["(reference)"]))
    return Results(
        description,
        without_machine_paths(command, Path.cwd()),
        "one-shot" if arguments.one_shot else "kept alive",
        corpus_version(golden_root(arguments)),
        formats,
    )


def _exit_code(results: Results) -> int:
    if not results.was_run:
        return 2
    return 1 if results.has_failed else 0


def _verify(arguments: VerifyArguments) -> int:
    from cdcwire.cli.context import UsageError
    from cdcwire_conformance.cli.progress import lasting_line
    from cdcwire_conformance.cli.usage import golden_root, note_unfinished
    from cdcwire_conformance.corpus.requirements import required_cases
    from cdcwire_conformance.run.results import Claim
    from cdcwire_conformance.run.runner import CRASHES_AT_START, Settings
    from cdcwire_conformance.run.runner import run as run_cases
    from cdcwire_conformance.run.selection import Chosen, choose

    root = golden_root(arguments)
    check_outputs(arguments)
    expected = _expected_failures(arguments.expected_failures, root)
    declared = _declared(arguments)
    required = _required(arguments, root)
    testees = _open_testees(arguments)
    with lasting_line(_STARTING):
        description = testees[0].start()
    formats = _formats(arguments, description)
    if not any(map(description.claim, formats)) and arguments.formats:
        testees[0].close()
        raise UsageError(f"no case of {', '.join(formats)} was run; {_claims(description)}")
    wants_derived = _wants_derived(arguments)
    note_unfinished(NAME, formats, root, arguments.case)
    chosen = choose(
        formats,
        pattern=arguments.case,
        levels=arguments.level,
        derived=wants_derived,
        sample=arguments.sample,
        root=root,
    )
    if required is not None:
        chosen = Chosen(list(required_cases(required, root)), [], None)
    if not chosen.stored and not chosen.bases:
        testees[0].close()
        raise UsageError(_nothing(arguments, description))
    results = _results(arguments, description, formats)
    if required is not None:
        results.claim = Claim(str(required), len(chosen.stored))
    known = {case.format for case in chosen.stored}
    is_part = arguments.case or arguments.level or arguments.root or required
    may_choose = () if is_part else chosen.stored
    results.notes += _misspelled(description, declared, chosen.stored, known)
    results.notes += _unknown_choices(description, declared, may_choose)
    is_whole = wants_derived and arguments.sample == 1
    is_complete = is_whole and not arguments.case and not arguments.level and not required
    complete = frozenset(formats if is_complete else ())
    settings = Settings(
        arguments.max_crashes,
        declared,
        complete,
        chosen.has,
        crashes_at_start=CRASHES_AT_START if arguments.max_crashes else 0,
    )
    bad = 0
    try:
        with lasting_line(f"0 of {len(chosen.stored)} cases") as line:

            def progress(done: int, outcome: Outcome) -> None:
                nonlocal bad
                bad += outcome.is_bad
                stored = len(chosen.stored)
                cases = f"{done} of {stored}" if done <= stored else f"{done - stored} malformed"
                line.show(f"{cases} cases, {bad} failed: {outcome.id}"[:79])

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
        write_results(arguments, results, expected)
        raise
    return _exit_code(results) if write_results(arguments, results, expected) else 2


def _required(arguments: VerifyArguments, root: Path | None) -> RequirementSet | None:
    """Return the claimed set of requirements, and run its format. Raises: UsageError."""
    from cdcwire.cli.context import UsageError
    from cdcwire_conformance.corpus.requirements import find_set

    if arguments.claim is None:
        return None
    others = {
        "--case": arguments.case,
        "--level": arguments.level,
        "--derived": arguments.derived,
        "--sample": arguments.sample != 1,
    }
    given = [option for option, value in others.items() if value]
    if given:
        raise UsageError(f"--claim judges its own cases; leave out {' and '.join(given)}")
    try:
        required = find_set(arguments.claim, root)
    except ValueError as error:
        raise UsageError(f"--claim: {error}") from error
    if arguments.formats not in ([], [required.format]):
        raise UsageError(f"--claim: {required} is about {required.format}")
    arguments.formats = [required.format]
    return required


def _nothing(arguments: VerifyArguments, description: Description) -> str:
    if not arguments.formats and description.formats is not None and not description.formats:
        return f"{description.name} claims no format"
    if arguments.case:
        from cdcwire_conformance.corpus.store import meant_case

        meant = meant_case(arguments.case, arguments.formats or None)
        known = meant or "; list them with `cdcwire corpus list`"
        return f"no case matches {arguments.case!r}{known}"
    return f"no case of these formats and levels; {_claims(description)}"


def _claims(description: Description) -> str:
    return f"the testee claims {', '.join(sorted(description.formats or FORMAT_NAMES))}"


def _wants_derived(arguments: VerifyArguments) -> bool:
    """Return whether malformed cases are run: by default, unless each starts a process.

    With ``--case`` they are run only where the pattern is about them.
    """
    if arguments.derived is not None:
        return bool(arguments.derived)
    if arguments.case:
        return "@" in arguments.case
    return not arguments.one_shot


def _open_testees(arguments: VerifyArguments) -> list[Testee]:
    from cdcwire_conformance.protocol.check import ProtocolChecker
    from cdcwire_conformance.testees import KeptAliveTestee, OneShotTestee
    from cdcwire_conformance.testees.processes import MEBIBYTE, Limits, default_limit

    checker = ProtocolChecker() if arguments.check_protocol else None
    jobs = arguments.jobs or min(os.cpu_count() or 1, DEFAULT_JOBS)
    command, env = arguments.command, None
    if command is None:
        command = [sys.executable, "-m", "cdcwire_conformance.testees.reference"]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    memory = default_limit(jobs) if arguments.memory is None else arguments.memory * MEBIBYTE
    limits = Limits(
        arguments.timeout, arguments.start_timeout, arguments.answer_size, memory or None
    )
    if arguments.one_shot:
        return [
            OneShotTestee(command, limits, raw=arguments.raw, env=env, checker=checker)
            for _ in range(jobs)
        ]
    return [KeptAliveTestee(command, limits, env=env, checker=checker) for _ in range(jobs)]


def _declared(arguments: VerifyArguments) -> Declared:
    from cdcwire.cli.context import UsageError
    from cdcwire_conformance.run.selection import Declared, parse_choice

    try:
        choices = dict(map(parse_choice, arguments.choice))
    except ValueError as error:
        raise UsageError(f"--choice {error}") from error
    encode = arguments.encode if arguments.one_shot else None
    return Declared(frozenset(arguments.without), choices, encode, arguments.raw)


def _misspelled(
    description: Description, declared: Declared, cases: Sequence[Case], formats: Collection[str]
) -> list[str]:
    """Return a note for each feature that is declined and that nothing has."""
    from cdcwire.registry import get_format
    from cdcwire_conformance.judge.events import FIELDS_TO_DECLINE
    from cdcwire_conformance.run.selection import unknown_features

    known = {feature for case in cases for feature in case.features}.union(FIELDS_TO_DECLINE)
    for name in formats:
        known.update(get_format(name).features)
    claims = map(description.claim, formats)
    without = set(declared.without).union(*(claim.without for claim in claims if claim))
    return [
        f"no case here has the feature {feature!r} that the testee declines"
        f"{did_you_mean(feature, known)}"
        for feature in unknown_features(without, known)
    ]


def _unknown_choices(
    description: Description, declared: Declared, cases: Sequence[Case]
) -> Iterator[str]:
    """Yield a note for each stated choice that no case has. ``cases``: all of the formats."""
    known = {case.choice for case in cases if case.choice}
    stated = set(declared.choices.items())
    for claim in map(description.claim, {case.format for case in cases}):
        stated.update(claim.choices.items() if claim else ())
    for subject, choice in sorted(stated if cases else ()):
        if f"{subject}: {choice}" not in known:
            others = ", ".join(sorted(each for each in known if each.startswith(f"{subject}: ")))
            advice = f"; there is {others}" if others else ""
            yield f"no case here has the choice '{subject}: {choice}'{advice}"


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
