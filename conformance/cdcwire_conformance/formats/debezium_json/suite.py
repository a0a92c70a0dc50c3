"""What the suite knows of debezium-json."""

from cdcwire_conformance.formats.debezium_json.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.debezium_json.mutations import RULES
from cdcwire_conformance.suite import FormatSuite

SUITE = FormatSuite(mutations=RULES, known_wrong=KNOWN_WRONG)
