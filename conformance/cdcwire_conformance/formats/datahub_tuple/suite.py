"""The suite's facts about datahub-tuple.

Derived cases of DataHub Tuple: bodies, and in them the metadata columns of rows. A row has two
flags; one is changed at a time, to a value that no operation allows. Another operation type might
be legal, so the operation type stays. Where a record may be older than the last fields, one value
less is legal too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message
from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Span
from cdcwire_conformance.corpus.mutations.rules import Change, FormatRules
from cdcwire_conformance.families import datahub_mutations
from cdcwire_conformance.families.datahub_mutations import layers, legal_sizes
from cdcwire_conformance.formats.datahub_tuple.known_wrong import KNOWN_WRONG
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_json, mend_text
from cdcwire_conformance.suite import FormatSuite, SizeFacts

_COUNT_BYTES = 4
_LONG_PART = 256  # every byte of a text is alike; its fields are what differs


def changes(
    raw: bytes, spans: Sequence[Span], options: Mapping[str, OptionValue]
) -> Iterator[Change]:
    """Yield what can be made wrong at the fields of a body."""
    counts = {span.start for span in spans if _is_count(span)}
    for change in datahub_mutations.changes(raw, spans, options):
        is_shorter = change.offset in counts and _one_less(raw, change)
        if not (is_shorter and options.get("short-records") == "absent"):
            yield change


def _one_less(raw: bytes, change: Change) -> bool:
    """Return whether the number at the place of a change is one less after it."""
    before, after = (
        int.from_bytes(each[change.offset : change.offset + _COUNT_BYTES], "little")
        for each in (raw, change.raw)
    )
    return after == before - 1


def _is_count(span: Span) -> bool:
    return span.clause == "datahub: batch records" and span.path[-1:] == ("count",)


RULES = FormatRules(
    parts=("value",),
    legal_sizes=legal_sizes,
    changes=changes,
    long_part=_LONG_PART,
    layers=layers,
)


_TEXTS = frozenset({"datahub: string fields"})


def _mend(message: Message, error: DecodeError) -> Message | None:
    """Return a body with ASCII text, or as plainer JSON."""
    return mend_text(message, error, _TEXTS) or mend_json(message, error)


LIBERTIES = Liberties(
    unchecked=frozenset(
        {
            *("datahub: integer fields", "datahub: float fields", "datahub: boolean fields"),
            *("datahub: timestamp fields", "datahub: decimal fields", "datahub: null fields"),
            *("datahub: string fields", "datahub: checksums", "datahub: limits"),
            *("datahub-tuple: sequence ids", "datahub-tuple: execute time"),
        }
    ),
    mend=_mend,
)

SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#c9a227",
        note=(
            "A batch of `datahub-tuple` is a body of one topic, which has one table. The body "
            "is JSON unless an option says otherwise. An update is two records. The topic's "
            "definition is not counted."
        ),
    ),
)
