"""The suite's facts about craft-proposal."""

from cdcwire_conformance.formats.craft.proposal.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.craft.proposal.lenient import LIBERTIES
from cdcwire_conformance.formats.craft.proposal.mutations import RULES
from cdcwire_conformance.formats.craft.size import CLAIM
from cdcwire_conformance.suite import FormatSuite, SizeFacts

SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(color="#7fb7dd", claim=CLAIM),
)
