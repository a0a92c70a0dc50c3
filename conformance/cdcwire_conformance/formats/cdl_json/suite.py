"""What the suite knows of cdl-json."""

from cdcwire_conformance.formats.cdl_json.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.cdl_json.mutations import RULES
from cdcwire_conformance.suite import FormatSuite

SUITE = FormatSuite(mutations=RULES, known_wrong=KNOWN_WRONG)
