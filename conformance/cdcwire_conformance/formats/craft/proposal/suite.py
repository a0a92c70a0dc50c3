"""What the suite knows of craft-proposal."""

from cdcwire_conformance.formats.craft.proposal.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.craft.proposal.mutations import RULES
from cdcwire_conformance.suite import FormatSuite

SUITE = FormatSuite(mutations=RULES, known_wrong=KNOWN_WRONG)
