"""The arguments of ``cdcwire verify``."""

from __future__ import annotations

import argparse
from typing import get_args

from cdcwire.cli.arguments import (
    Arguments,
    flag,
    one_of,
    positional,
    repeated,
    with_value,
)
from cdcwire.console.problems import MOST_JOBS, count_argument, jobs_argument
from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.corpus.case import Level
from cdcwire_conformance.testees.processes import LINE_LIMIT, MEBIBYTE, START_TIMEOUT, TIMEOUT

DEFAULT_JOBS = 4
MOST_MEBIBYTES = 4096  # of one answer
MAX_CRASHES = 3
SUMMARY_FILE = "GITHUB_STEP_SUMMARY"
_SHOWN = 10


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number of seconds above 0")
    return number


def _from_one(text: str) -> int:
    number = count_argument(text)
    if not number:
        raise argparse.ArgumentTypeError("0 is not a number from 1")
    return number


def _answer_size(text: str) -> int:
    number = count_argument(text, MOST_MEBIBYTES)
    if not number:
        raise argparse.ArgumentTypeError(f"{number} is not a number from 1 to {MOST_MEBIBYTES}")
    return number * MEBIBYTE


def _mebibytes(text: str) -> int:
    from cdcwire_conformance.testees.processes import can_measure

    number = count_argument(text)
    if number and not can_measure():
        raise argparse.ArgumentTypeError("the memory of processes cannot be measured here")
    return number


class CaseArguments(Arguments, title="which cases"):
    """The choice of cases."""

    case: str | None = with_value(
        "PATTERN",
        "only these cases: an id, its beginning up to a slash, or a pattern with *. Cases "
        "derived from them need --derived, or an id with @",
    )
    claim: str | None = with_value(
        "'NAME VERSION'",
        "judge a frozen set of requirements instead, such as 'debezium-reader 1': every case "
        "of it has to pass (docs/explanation/versioning.md lists the sets)",
    )
    root: str | None = with_value("DIR", "a golden folder other than the built-in one")
    level: list[Level] | None = one_of(
        get_args(Level), "only cases of this level (may be given again)", action="append"
    )
    derived: bool | None = flag(
        "run malformed derived cases too (default: yes, except with --case or --one-shot)",
        argparse.BooleanOptionalAction,
        default=None,
    )
    sample: int = with_value(
        "N",
        "run about one of N derived cases, the same ones each time (default: 1, all)",
        type=_from_one,
        default=1,
    )


class PropertyArguments(Arguments, title="generated messages, instead of cases"):
    """A run on generated messages."""

    property: int | None = with_value(
        "N",
        "generate up to N messages per format and shrink those that are read wrongly. An "
        "encoder gets up to N lists of events too. Needs the extra 'generators'",
        type=_from_one,
    )
    seed: int | None = with_value(
        "S",
        "generate messages from seed S (default: a random seed, which is reported)",
        type=count_argument,
    )
    save: str | None = with_value(
        "DIR", "write what fails as golden cases into the golden folder DIR"
    )
    examples: str | None = with_value(
        "DIR",
        "keep failing messages in DIR; the next run begins with them (default: "
        ".hypothesis/cdcwire)",
    )


class TesteeArguments(Arguments, title="the testee"):
    """How the testee is run, and what it declares."""

    one_shot: bool = flag("start COMMAND once per case")
    raw: bool = flag("one-shot: standard input is the value's bytes alone")
    encode: bool = flag("one-shot: the command also encodes")
    without: list[str] = repeated(
        "FEATURE", "the testee does not have this feature (may be given again)"
    )
    choice: list[str] = repeated(
        "'SUBJECT: CHOICE'", "what the testee does where the format leaves a choice"
    )
    check_protocol: bool = flag("compare all answers with the JSON Schemas")
    timeout: float = with_value(
        "S", f"wait S seconds for one answer (default: {TIMEOUT:g})", type=_seconds, default=TIMEOUT
    )
    start_timeout: float = with_value(
        "S",
        f"wait S seconds for the answer to start (default: {START_TIMEOUT:g})",
        type=_seconds,
        default=START_TIMEOUT,
    )
    answer_size: int = with_value(
        "MIB",
        "kill a testee that writes an answer, or output without a request, of more than MIB "
        f"mebibytes (default: {LINE_LIMIT // MEBIBYTE})",
        type=_answer_size,
        default=LINE_LIMIT,
    )
    jobs: int | None = with_value(
        "N",
        f"run N testees at a time, 1 to {MOST_JOBS} (default: the number of processors, up to "
        f"{DEFAULT_JOBS})",
        type=jobs_argument,
    )
    memory: int | None = with_value(
        "MIB",
        "kill a testee that, with all its children, holds more than MIB mebibytes. 0: no "
        "limit (default: 2048, or less where the machine has less)",
        type=_mebibytes,
    )
    max_crashes: int = with_value(
        "N",
        "leave out some of the cases that one rule derives from one base case after each "
        f"crash. Leave out all of them after N crashes (default: {MAX_CRASHES}). 0: no limit. "
        "The run then also goes on after equal crashes on all of its first cases",
        type=count_argument,
        default=MAX_CRASHES,
    )


class ResultArguments(Arguments, title="results"):
    """Where results are written."""

    expected_failures: str | None = with_value(
        "FILE", "failures that are known, with their reasons"
    )
    write_expected_failures: str | None = with_value("FILE", "write the failures of this run there")
    json: str | None = with_value("FILE", "results as a JSON document")
    junit: str | None = with_value("FILE", "results as JUnit XML")
    markdown: str | None = with_value("FILE", "results as Markdown")
    badge: str | None = with_value(
        "FILE", "the verdict as JSON for an endpoint badge of shields.io"
    )
    html: str | None = with_value(
        "FILE", "results as one HTML page with every failed case and its bytes (extra html)"
    )
    github_summary: bool = flag(
        f"append results to the job summary of GitHub Actions (${SUMMARY_FILE})"
    )
    show: int = with_value(
        "N",
        f"show the first case in full for N kinds of failure; 0: for all (default: {_SHOWN})",
        type=count_argument,
        default=_SHOWN,
    )


class VerifyArguments(CaseArguments, PropertyArguments, TesteeArguments, ResultArguments):
    """All arguments of ``cdcwire verify``. ``command``: the words after ``--``."""

    formats: list[str] = positional("FORMAT", ", ".join(FORMAT_NAMES), FORMAT_NAMES, nargs="*")
    command: list[str] | None
