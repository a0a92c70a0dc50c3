"""The suite's facts about datahub-tuple."""

from cdcwire_conformance.formats.datahub_tuple.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.datahub_tuple.lenient import LIBERTIES
from cdcwire_conformance.formats.datahub_tuple.mutations import RULES
from cdcwire_conformance.suite import FormatSuite, SizeFacts

SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#c9a227",
        note=(
            "A batch of `datahub-tuple` is a body of one topic, which has one table. The body "
            "is JSON unless an option says otherwise. An update is two records. The topic's "
            "definition is not counted."
        ),
    ),
)
