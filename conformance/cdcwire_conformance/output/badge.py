"""Verdicts as badges: the JSON of an endpoint of shields.io, and pictures for the site."""

from __future__ import annotations

import json

from cdcwire.console.visible import visible
from cdcwire.model.text import Json
from cdcwire_conformance.output.html.render import render_template
from cdcwire_conformance.output.results.history import Release, passed_text
from cdcwire_conformance.output.results.stored import StoredRun
from cdcwire_conformance.run.results import Results

GREEN, YELLOW, RED, GREY = "brightgreen", "yellow", "red", "lightgrey"


def badge_text(results: Results) -> str:
    """Return the document: the number of passed cases, among those that the testee was asked.

    Source: the endpoint schema of shields.io, schemaVersion 1.
    """
    label = f"cdcwire {results.formats[0]}" if len(results.formats) == 1 else "cdcwire"
    message = f"{results.count('passed')} of {results.was_run} cases passed"
    if results.claim is not None:
        label = f"cdcwire {results.claim.name}"
        passed = f"{results.count('passed')} of {results.claim.cases} cases passed"
        message = f"not met: {passed}" if results.has_failed else "met"
    return endpoint_text(label, message, _color(results), is_error=results.has_failed)


def endpoint_text(label: str, message: str, color: str, *, is_error: bool) -> str:
    """Return the document of an endpoint with these members."""
    document: dict[str, Json] = {
        "schemaVersion": 1,
        "label": label,
        "message": message,
        "color": color,
    }
    if is_error:
        document["isError"] = True
    return json.dumps(document, indent=2) + "\n"


def _color(results: Results) -> str:
    if results.is_interrupted or not results.was_run:
        return GREY
    if results.has_failed:
        return RED
    return GREEN if results.count("passed") == results.was_run else YELLOW


_PICTURE_COLORS = {GREEN: "#1a7f37", YELLOW: "#8a6100", RED: "#b3261e", GREY: "#59636e"}
_SIGN = 7  # pixels of a sign, at most, in the picture's font
_MARGIN = 12


def badge_files(release: Release) -> dict[str, str]:
    """Return the texts of a badge by the extension of their files."""
    label = visible(f"cdcwire {release.format}")
    run = release.judged
    message, color, is_error = "not judged", GREY, False
    if run is not None:
        version = visible(release.version)[:40]
        message = f"{version}: {passed_text(run)} passed"
        color, is_error = _color_of_run(run), not run.results["passed"] if run.results else False
    left, right = (len(text) * _SIGN + _MARGIN for text in (label, message))
    picture = render_template(
        "badge.svg",
        label=label,
        message=message,
        color=_PICTURE_COLORS[color],
        left=left,
        width=left + right,
    )
    return {
        "json": endpoint_text(label, message, color, is_error=is_error),
        "svg": picture,
    }


def _color_of_run(run: StoredRun) -> str:
    if run.results is None or run.is_partial:
        return GREY
    if not run.results["passed"]:
        return RED
    passed, _, asked = passed_text(run).partition("/")
    return GREEN if passed == asked else YELLOW
