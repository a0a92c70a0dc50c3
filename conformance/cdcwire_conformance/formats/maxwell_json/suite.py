"""The suite's facts about maxwell-json."""

from cdcwire_conformance.formats.maxwell_json.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.maxwell_json.lenient import LIBERTIES
from cdcwire_conformance.formats.maxwell_json.mutations import RULES
from cdcwire_conformance.suite import FormatSuite, SizeFacts

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
