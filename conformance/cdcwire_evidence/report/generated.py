"""The chapter about generated messages: how many it takes until one shows each known-wrong decoder.

The decoders of a format read the same samples, in this process. A decoder is found when the judge
fails its answer. Some of those that were found are then searched for as ``verify --property`` does,
to see how small the shrunk sample is.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from cdcwire.extras import MissingExtraError, load_extra
from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.suite import get_suite
from cdcwire_evidence.report.part import NotRun, Part, table

TITLE = "Known-wrong decoders and generated messages"
SAMPLES = 2000
_SHRUNK = 2  # decoders of a format; to shrink one takes longer than to find many
_SECONDS_TO_SHRINK = 10.0


def generated_part(
    cases: Sequence[Case], names: Sequence[str] = FORMAT_NAMES, samples: int = SAMPLES
) -> Part:
    """Search each known-wrong decoder of some formats with generated messages."""
    part = Part(TITLE, f"cdcwire verify FORMAT --property {samples} -- COMMAND")
    try:
        load_extra("hypothesis", "generators", "the search")
    except MissingExtraError as error:
        part.not_run.append(NotRun(TITLE, str(error), "pip install '.[generators]'"))
        return part
    from cdcwire_conformance.property.known_wrong_search import (
        ONLY_MALFORMED,
        find,
        reason,
        size_of,
        smallest,
    )

    rows, missed, shrunk = list[tuple[object, ...]](), list[tuple[str, ...]](), []
    for name in names:
        wrongs = {wrong.name: wrong for wrong in get_suite(name).known_wrong}
        found = find(name, samples, tuple(wrongs.values()))
        reasons = [reason(wrong, name, cases) for wrong in found.missed]
        missed += [
            (name, f"`{wrong.name}`", wrong.fault, why)
            for wrong, why in zip(found.missed, reasons, strict=True)
        ]
        numbers = sorted(found.at.values()) or [0]
        findable = len(wrongs) - reasons.count(ONLY_MALFORMED)
        rows.append(
            (name, len(wrongs), findable, len(found.at), f"{median(numbers):.0f}", numbers[-1])
        )
        for wrong_name in [*found.at][:: max(len(found.at) // _SHRUNK, 1)][:_SHRUNK]:
            wrong, number = wrongs[wrong_name], found.at[wrong_name]
            outcome = smallest(wrong, name, number, _SECONDS_TO_SHRINK)
            if outcome is not None:
                shrunk.append((name, f"`{wrong_name}`", wrong.fault, *size_of(outcome.case)))
    head = ("format", "decoders", "shown by valid messages", "found", "median", "last")
    part.lines = [
        f"All known-wrong decoders of a format read the same {samples:,} generated samples. "
        "Valid golden cases catch those in the third column. *median* and *last* give the number "
        "of the first sample that a decoder misreads.",
        "",
        *table(head, rows),
        "",
        "### Not found",
        "",
        *table(("format", "decoder", "fault", "reason"), missed),
        "",
        "### Shrunk",
        "",
        f"The smallest failing sample of {_SHRUNK} decoders per format, after at most "
        f"{_SECONDS_TO_SHRINK:.0f} seconds of shrinking:",
        "",
        *table(("format", "decoder", "fault", "events", "columns"), shrunk),
    ]
    return part
