"""What the suite knows of craft."""

from cdcwire_conformance.formats.craft.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.craft.mutations import RULES
from cdcwire_conformance.suite import FormatSuite

SUITE = FormatSuite(mutations=RULES, known_wrong=KNOWN_WRONG)
