"""What a failure shows beside its values: the annotated bytes around the place it is about."""

from __future__ import annotations

from dataclasses import dataclass

from cdcwire.core.format import Explanation
from cdcwire.core.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus.hexdump import hexdump_lines
from cdcwire_conformance.run.results import Outcome

_CONTEXT = 4


@dataclass(frozen=True, slots=True)
class Exhibit:
    """An annotated hexdump with its title. ``lines[0]`` are the headings."""

    title: str
    lines: tuple[str, ...]


def exhibit_of(outcome: Outcome) -> Exhibit | None:
    """Return the bytes that a failure is about, explained; None where no byte is known."""
    focus = outcome.focus
    if focus is None:
        return None
    explanation = Explanation(())
    if outcome.case.format in FORMAT_NAMES:
        codec = get_format(outcome.case.format)
        try:
            explanation = codec.explain(focus.message, context=outcome.case.context())
        except ValueError:  # a setting that the reference can't serve: the bytes alone are shown
            explanation = Explanation(())
    plain = Explanation(explanation.spans)
    lines = hexdump_lines(plain, focus.message, focus.offset, _CONTEXT, focus.part)
    return Exhibit(f"{focus.title}: {focus.part}, byte {focus.offset}", tuple(lines))
