"""The suite's facts about maxwell-json."""

from __future__ import annotations

from cdcwire_conformance.formats.maxwell_json.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.maxwell_json.mutations import RULES
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_json
from cdcwire_conformance.suite import FormatSuite, SizeFacts

LIBERTIES = Liberties(
    unchecked=frozenset({"maxwell-json: definitions", "maxwell-json: limits"}),
    scalars=frozenset(
        {
            *("maxwell-json: timestamp", "maxwell-json: transactions", "maxwell-json: position"),
            *("maxwell-json: query", "maxwell-json: primary key", "maxwell-json: numbers"),
            *("maxwell-json: texts", "maxwell-json: temporal values"),
            *("maxwell-json: enum and set values",),
        }
    ),
    mend=mend_json,
)

SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#7d8f3a",
        note=(
            "`maxwell-json` has one row per message without types, so its figures are the same "
            "for every batch size."
        ),
        has_one_row_per_message=True,
    ),
)
