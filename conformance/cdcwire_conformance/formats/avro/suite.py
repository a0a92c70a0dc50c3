"""What the suite knows of avro."""

from cdcwire_conformance.formats.avro.mutations import RULES
from cdcwire_conformance.suite import FormatSuite

SUITE = FormatSuite(mutations=RULES)
