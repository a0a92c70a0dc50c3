"""What the suite knows of craft."""

from cdcwire_conformance.formats.craft.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.craft.mutations import RULES
from cdcwire_conformance.formats.craft.size import CLAIM
from cdcwire_conformance.suite import FormatSuite, SizeFacts

SUITE = FormatSuite(
    mutations=RULES, known_wrong=KNOWN_WRONG, size=SizeFacts(color="#1b6ca8", claim=CLAIM)
)
