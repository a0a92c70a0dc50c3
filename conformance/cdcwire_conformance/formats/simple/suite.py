"""The suite's facts about simple."""

from cdcwire_conformance.formats.simple.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.simple.lenient import LIBERTIES
from cdcwire_conformance.formats.simple.mutations import RULES
from cdcwire_conformance.suite import FormatSuite, SizeFacts

SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#3f8f86",
        note=(
            "`simple` has one row per message, so its figures are the same for every batch size. "
            "They include the table schemas that come before the rows."
        ),
        has_one_row_per_message=True,
    ),
)
