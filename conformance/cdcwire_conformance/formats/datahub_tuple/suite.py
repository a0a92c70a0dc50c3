"""What the suite knows of datahub-tuple."""

from cdcwire_conformance.formats.datahub_tuple.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.datahub_tuple.mutations import RULES
from cdcwire_conformance.suite import FormatSuite

SUITE = FormatSuite(mutations=RULES, known_wrong=KNOWN_WRONG)
