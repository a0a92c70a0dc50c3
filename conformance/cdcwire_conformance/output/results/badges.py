"""A badge per reader and format: a picture, and the JSON of an endpoint of shields.io."""

from __future__ import annotations

from cdcwire_conformance.output.badge import GREEN, GREY, RED, YELLOW, endpoint_text
from cdcwire_conformance.output.html.render import render_template
from cdcwire_conformance.output.results.history import Release, passed_text
from cdcwire_conformance.output.results.stored import StoredRun
from cdcwire_conformance.visible import visible

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
        color, is_error = _color(run), not run.results["passed"] if run.results else False
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


def _color(run: StoredRun) -> str:
    if run.results is None or run.is_partial:
        return GREY
    if not run.results["passed"]:
        return RED
    passed, _, asked = passed_text(run).partition("/")
    return GREEN if passed == asked else YELLOW
