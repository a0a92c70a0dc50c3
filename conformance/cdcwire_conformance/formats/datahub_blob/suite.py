"""What the suite knows of datahub-blob."""

from cdcwire_conformance.formats.datahub_blob.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.datahub_blob.mutations import RULES
from cdcwire_conformance.suite import FormatSuite

SUITE = FormatSuite(mutations=RULES, known_wrong=KNOWN_WRONG)
