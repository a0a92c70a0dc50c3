"""What the suite knows of csv."""

from cdcwire_conformance.formats.csv.mutations import RULES
from cdcwire_conformance.suite import FormatSuite

SUITE = FormatSuite(mutations=RULES)
