"""What the suite knows of canal-json."""

from cdcwire_conformance.formats.canal_json.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.canal_json.mutations import RULES
from cdcwire_conformance.suite import FormatSuite

SUITE = FormatSuite(mutations=RULES, known_wrong=KNOWN_WRONG)
