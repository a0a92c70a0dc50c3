"""What the suite knows of avro."""

from cdcwire_conformance.formats.avro.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.avro.mutations import RULES
from cdcwire_conformance.suite import FormatSuite

SUITE = FormatSuite(mutations=RULES, known_wrong=KNOWN_WRONG)
