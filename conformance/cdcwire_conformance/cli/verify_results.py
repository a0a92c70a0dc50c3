"""The results of ``cdcwire verify``: files in several forms, and the text."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cdcwire.console.visible import print_error
from cdcwire.files.local_files import write_whole
from cdcwire_conformance.cli.colours import print_lines
from cdcwire_conformance.cli.verify_arguments import SUMMARY_FILE, VerifyArguments

if TYPE_CHECKING:
    from cdcwire_conformance.run.expected_failures import ExpectedFailures
    from cdcwire_conformance.run.results import Results


def check_outputs(arguments: VerifyArguments) -> None:
    """Check that each result can be made and written, so that no run is lost at its end.

    Raises: UsageError, MissingExtraError.
    """
    from cdcwire_conformance.cli.usage import check_apart, check_writable

    if arguments.html:
        from cdcwire_conformance.output.html.render import require_jinja

        require_jinja()
    names = ("json", "junit", "markdown", "badge", "html", "write_expected_failures")
    targets = {f"--{name.replace('_', '-')}": getattr(arguments, name) for name in names}
    check_apart(targets)
    *reports, _ = targets.items()  # the list of failures may replace the one that is read
    check_apart({"--expected-failures": arguments.expected_failures, **dict(reports)})
    for option, file in targets.items():
        if file:
            check_writable(Path(file), option)


def write_results(arguments: VerifyArguments, results: Results, expected: ExpectedFailures) -> bool:
    """Write the files, then the text: a closed pipe does not lose the files.

    Returns: whether all files are written. The others are named on standard error; a full disk
    loses neither the text nor files elsewhere.
    """
    from cdcwire_conformance.output.text import report_lines

    problems = []
    for file, mode, text in _files(arguments, results, expected):
        try:
            _write(Path(file), text, mode)
        except OSError as error:
            problems.append(f"{file} cannot be written: {error.strerror}")
    try:
        print_lines(report_lines(results, failures_shown=arguments.show))
        sys.stdout.flush()
    finally:
        for problem in problems:
            print_error(f"cdcwire verify: {problem}")
    return not problems


def _files(
    arguments: VerifyArguments, results: Results, expected: ExpectedFailures
) -> Iterator[tuple[str, str, str]]:
    """Yield the name, the mode and the text of each file that is asked for."""
    from cdcwire_conformance.run.expected_failures import expected_failures_text

    # The list of a run that ended early would lose the failures of the other cases.
    if arguments.write_expected_failures and results.is_whole:
        failures = {
            outcome.id: outcome.text
            for outcome in results.outcomes
            if outcome.fails_run or outcome.verdict == "expected failure"
        }
        text = expected_failures_text(failures, expected)
        yield arguments.write_expected_failures, "w", text
    if arguments.json:
        from cdcwire_conformance.output.json_document import json_text

        yield arguments.json, "w", json_text(results)
    if arguments.junit:
        from cdcwire_conformance.output.junit import junit_text

        yield arguments.junit, "w", junit_text(results)
    if arguments.badge:
        from cdcwire_conformance.output.badge import badge_text

        yield arguments.badge, "w", badge_text(results)
    if arguments.html:
        from cdcwire_conformance.output.html.verify_page import html_text, witness_names_of

        names = witness_names_of(Path(arguments.root) if arguments.root else None)
        yield arguments.html, "w", html_text(results, names)
    if arguments.markdown or arguments.github_summary:
        from cdcwire_conformance.output.markdown import markdown_text

        text = markdown_text(results)
        if arguments.markdown:
            yield arguments.markdown, "w", text
        if arguments.github_summary:
            yield os.environ[SUMMARY_FILE], "a", text


def _write(file: Path, text: str, mode: str) -> None:
    """Write or append a text. Raises: OSError."""
    # What a testee says may hold lone surrogates, which have no form in UTF-8.
    content = text.encode("utf-8", "backslashreplace")
    if mode == "w":
        write_whole(file, content)
        return
    with file.open("ab") as stream:
        stream.write(content)
