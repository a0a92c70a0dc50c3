"""What the suite knows of csv."""

from cdcwire_conformance.formats.csv.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.csv.mutations import RULES
from cdcwire_conformance.suite import FormatSuite

SUITE = FormatSuite(mutations=RULES, known_wrong=KNOWN_WRONG)
