"""The suite's facts about canal-json."""

from cdcwire_conformance.formats.canal_json.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.canal_json.lenient import LIBERTIES
from cdcwire_conformance.formats.canal_json.mutations import RULES
from cdcwire_conformance.suite import FormatSuite, SizeFacts

SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#b0645b",
        note=(
            "`canal-json` has one row per message, so its figures are the same for every "
            "batch size."
        ),
        has_one_row_per_message=True,
    ),
)
