"""The suite's facts about avro."""

from cdcwire_conformance.formats.avro.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.avro.lenient import LIBERTIES
from cdcwire_conformance.formats.avro.mutations import RULES
from cdcwire_conformance.suite import FormatSuite, SizeFacts

SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#967bb6",
        note=(
            "`avro` has one row per message, without its old values. Its schemas are in a "
            "registry and are not counted: a message has only their ids."
        ),
        has_one_row_per_message=True,
    ),
    command="cdcwire_conformance.formats.avro.command",
)
