"""The files that ``cdcwire compare`` writes of a result."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from cdcwire_conformance.usage import UsageError, check_writable

if TYPE_CHECKING:
    from cdcwire_conformance.spark.compare.result import Comparison

_FILES = ("json", "html", "junit")


def check_reports(arguments: argparse.Namespace) -> None:
    """Check that each report can be made and written, so that no work is lost at its end.

    Raises: UsageError, MissingExtraError.
    """
    if arguments.html:
        from cdcwire_conformance.output.html.render import require_jinja

        require_jinja()
    if arguments.follow and (arguments.html or arguments.junit):
        raise UsageError("--html and --junit do not go with --follow; --json writes its windows")
    for name in _FILES:
        file = getattr(arguments, name)
        if file:
            check_writable(Path(file), f"--{name}")


def write_reports(arguments: argparse.Namespace, found: Comparison) -> None:
    """Write the reports that were asked for. Raises: UsageError."""
    if arguments.json:
        from cdcwire_conformance.spark.compare.report import json_text

        _write(arguments.json, json_text(found))
    if arguments.html:
        from cdcwire_conformance.spark.compare.page import html_text

        _write(arguments.html, html_text(found))
    if arguments.junit:
        from cdcwire_conformance.spark.compare.junit import junit_text

        _write(arguments.junit, junit_text(found))


def _write(file: str, text: str) -> None:
    try:
        with Path(file).open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as to:
            to.write(text)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from error
