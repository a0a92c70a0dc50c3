"""The suite's facts about debezium-json."""

from cdcwire_conformance.formats.debezium_json.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.debezium_json.lenient import LIBERTIES
from cdcwire_conformance.formats.debezium_json.mutations import RULES
from cdcwire_conformance.suite import FormatSuite, SizeFacts

SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#7a7a7a",
        note=(
            "`debezium-json` has one row per message, with the schema of its table unless the "
            "option schemas-enable is false. A delete needs only the key; the whole row is "
            "written, as it was given."
        ),
        has_one_row_per_message=True,
    ),
)
