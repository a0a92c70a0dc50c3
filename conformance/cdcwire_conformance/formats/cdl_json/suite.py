"""The suite's facts about cdl-json."""

from cdcwire_conformance.formats.cdl_json.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.cdl_json.lenient import LIBERTIES
from cdcwire_conformance.formats.cdl_json.mutations import RULES
from cdcwire_conformance.suite import FormatSuite, SizeFacts

SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#3f9a9c",
        note=(
            "`cdl-json` has one row per message, with the schema of its table unless the "
            "option schemas-enable is false. It keeps milliseconds: rows with more digits of "
            "a second are left out."
        ),
        has_one_row_per_message=True,
    ),
)
