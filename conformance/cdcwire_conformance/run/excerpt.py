"""The bytes that a failure is about, explained, with some bytes around."""

from __future__ import annotations

from dataclasses import dataclass

from cdcwire.console.hexdump import hexdump_lines
from cdcwire.core.explanation import Explanation
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.judge.cases import Focus
from cdcwire_conformance.judge.locate import find_focus
from cdcwire_conformance.run.results import Outcome

_CONTEXT = 4


@dataclass(frozen=True, slots=True)
class Excerpt:
    """An annotated hexdump with its title. ``lines[0]`` holds the headings."""

    title: str
    lines: tuple[str, ...]


def excerpt_of(outcome: Outcome) -> Excerpt | None:
    """Return the bytes that a failure is about; None where no byte is known."""
    focus = focus_of(outcome)
    if focus is None:
        return None
    explanation = Explanation(())
    if outcome.case.format in FORMAT_NAMES:
        codec = get_format(outcome.case.format)
        try:
            explanation = codec.explain(focus.message, context=outcome.case.context())
        except ValueError:  # a setting that the reference does not support
            explanation = Explanation(())
    plain = Explanation(explanation.spans)
    lines = hexdump_lines(plain, focus.message, focus.offset, _CONTEXT, focus.part)
    return Excerpt(f"{focus.title}: {focus.part}, byte {focus.offset}", tuple(lines))


def focus_of(outcome: Outcome) -> Focus | None:
    """Return the byte that a failure is about; of a decoded case that of a difference."""
    if outcome.focus is not None:
        return outcome.focus
    is_decoded = outcome.cmd == "decode" and not outcome.is_derived
    if not is_decoded or not outcome.differences or outcome.case.format not in FORMAT_NAMES:
        return None
    return find_focus(outcome.differences, outcome.case, get_format(outcome.case.format))
