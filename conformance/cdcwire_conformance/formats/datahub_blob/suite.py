"""The suite's facts about datahub-blob."""

from cdcwire_conformance.formats.datahub_blob.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.datahub_blob.lenient import LIBERTIES
from cdcwire_conformance.formats.datahub_blob.mutations import RULES
from cdcwire_conformance.suite import FormatSuite, SizeFacts

SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#e6d38c",
        note=(
            "`datahub-blob` has one record per row, so its figures are the same for every "
            "batch size. Each record has the columns and their types. An update is two records."
        ),
        has_one_row_per_message=True,
    ),
)
