"""The suite's facts about open-protocol."""

from cdcwire_conformance.formats.open_protocol.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.open_protocol.lenient import LIBERTIES
from cdcwire_conformance.formats.open_protocol.mutations import RULES
from cdcwire_conformance.suite import FormatSuite, SizeFacts

SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(color="#e08a3c", is_json_baseline=True),
)
