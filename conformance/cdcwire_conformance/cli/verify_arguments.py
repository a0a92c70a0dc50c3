"""The arguments of ``cdcwire verify``."""

from __future__ import annotations

import argparse
from typing import get_args

from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.visible import shortened

DEFAULT_JOBS = 4
MOST = 999_999_999  # of a number without a limit that has a reason
MOST_JOBS = 256
MOST_MEBIBYTES = 4096  # of one answer
MAX_CRASHES = 3
SUMMARY_FILE = "GITHUB_STEP_SUMMARY"
_SHOWN = 10


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``cdcwire verify``."""
    from cdcwire_conformance.corpus.case import Level
    from cdcwire_conformance.testees.limits import LINE_LIMIT, MEBIBYTE, START_TIMEOUT, TIMEOUT

    parser.usage = "cdcwire verify [FORMAT ...] [options] [-- COMMAND ...]"
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help=", ".join(FORMAT_NAMES))
    cases = parser.add_argument_group("which cases")
    cases.add_argument(
        "--case",
        metavar="PATTERN",
        help="only these cases: an id, its beginning up to a slash, or a pattern with *. Cases "
        "derived from them need --derived, or an id with @",
    )
    cases.add_argument(
        "--claim",
        metavar="'NAME VERSION'",
        help="judge a frozen set of requirements instead, such as 'debezium-reader 1': every case "
        "of it has to pass (docs/explanation/versioning.md lists the sets)",
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
        help="run malformed derived cases too (default: yes, except with --case or --one-shot)",
    )
    cases.add_argument(
        "--sample",
        type=_sample,
        default=1,
        metavar="N",
        help="run about one of N derived cases, the same ones each time (1: all)",
    )
    _add_property(parser)
    testee = parser.add_argument_group("the testee")
    testee.add_argument("--one-shot", action="store_true", help="start COMMAND once per case")
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
        default=TIMEOUT,
        metavar="S",
        help=f"wait S seconds for one answer ({TIMEOUT:g})",
    )
    testee.add_argument(
        "--start-timeout",
        type=_seconds,
        default=START_TIMEOUT,
        metavar="S",
        help=f"wait S seconds for the answer to start ({START_TIMEOUT:g})",
    )
    testee.add_argument(
        "--answer-size",
        type=_answer_size,
        default=LINE_LIMIT,
        metavar="MIB",
        help="kill a testee that writes an answer, or output without a request, of more than MIB "
        f"mebibytes ({LINE_LIMIT // MEBIBYTE})",
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
        help="kill a testee that, with all its children, holds more than MIB mebibytes. 0: no "
        "limit (2048, or less where the machine has less)",
    )
    testee.add_argument(
        "--max-crashes",
        type=_count,
        default=MAX_CRASHES,
        metavar="N",
        help="leave out some of the cases that one rule derives from one base case after each "
        f"crash. Leave out all of them after N crashes ({MAX_CRASHES}). 0: no limit. "
        "The run then also goes on after equal crashes on all of its first cases",
    )
    output = parser.add_argument_group("results")
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
        "--badge", metavar="FILE", help="the verdict as JSON for an endpoint badge of shields.io"
    )
    output.add_argument(
        "--html",
        metavar="FILE",
        help="results as one HTML page with every failed case and its bytes (extra html)",
    )
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


def _add_property(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("generated messages, instead of cases")
    group.add_argument(
        "--property",
        type=_examples,
        metavar="N",
        help="generate up to N messages per format and shrink those that are read wrongly. An "
        "encoder gets up to N lists of events too. Needs the extra 'generators'",
    )
    group.add_argument(
        "--seed",
        type=_count,
        metavar="S",
        help="generate the messages of seed S again (default: a random seed, which is reported)",
    )
    group.add_argument(
        "--save", metavar="DIR", help="write what fails as golden cases into the golden folder DIR"
    )
    group.add_argument(
        "--examples",
        metavar="DIR",
        help="keep failing messages in DIR; the next run begins with them (.hypothesis/cdcwire)",
    )


def _examples(text: str) -> int:
    number = _count(text)
    if number == 0:
        raise argparse.ArgumentTypeError("0 is not a number from 1")
    return number


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number of seconds above 0")
    return number


def _count(text: str, most: int = MOST) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number from 0")
    digits = text.lstrip("0") or "0"
    if len(digits) > len(str(most)) or int(digits) > most:
        raise argparse.ArgumentTypeError(f"{shortened(text, 40)} is too large; the most is {most}")
    return int(digits)


def _sample(text: str) -> int:
    number = _count(text)
    if not number:
        raise argparse.ArgumentTypeError("0 is not a number from 1")
    return number


def _jobs(text: str) -> int:
    number = _count(text, MOST_JOBS)
    if not number:
        raise argparse.ArgumentTypeError(f"{number} is not a number from 1 to {MOST_JOBS}")
    return number


def _answer_size(text: str) -> int:
    from cdcwire_conformance.testees.limits import MEBIBYTE

    number = _count(text, MOST_MEBIBYTES)
    if not number:
        raise argparse.ArgumentTypeError(f"{number} is not a number from 1 to {MOST_MEBIBYTES}")
    return number * MEBIBYTE


def _mebibytes(text: str) -> int:
    from cdcwire_conformance.testees.memory import can_measure

    number = _count(text)
    if number and not can_measure():
        raise argparse.ArgumentTypeError("the memory of processes cannot be measured here")
    return number
