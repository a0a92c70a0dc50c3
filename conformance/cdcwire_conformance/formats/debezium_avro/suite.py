"""The suite's facts about debezium-avro."""

from cdcwire_conformance.formats.debezium_avro.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.debezium_avro.lenient import LIBERTIES
from cdcwire_conformance.formats.debezium_avro.mutations import RULES
from cdcwire_conformance.suite import FormatSuite, SizeFacts

SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#b5651d",
        note=(
            "`debezium-avro` has one row per message, with both rows of an update. Its schemas are "
            "in a registry and are not counted: a message has only their ids."
        ),
        has_one_row_per_message=True,
    ),
)
