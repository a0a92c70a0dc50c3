"""The verdict as a badge: the JSON of an endpoint of shields.io."""

from __future__ import annotations

import json

from cdcwire.model.text import Json
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
