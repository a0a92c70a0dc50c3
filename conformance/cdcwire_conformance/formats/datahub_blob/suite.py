"""The suite's facts about datahub-blob."""

from __future__ import annotations

from cdcwire_conformance.formats.datahub_blob.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.datahub_blob.mutations import RULES
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_json
from cdcwire_conformance.suite import FormatSuite, SizeFacts

LIBERTIES = Liberties(
    unchecked=frozenset(
        {
            *("datahub-blob: version", "datahub-blob: ddlMeta", "datahub-blob: primary key"),
            *("datahub: checksums", "datahub: limits", "datahub-blob: limits"),
        }
    ),
    scalars=frozenset(
        {
            *("datahub-blob: boolean values", "datahub-blob: long values"),
            *("datahub-blob: double values", "datahub-blob: date values"),
            *("datahub-blob: string values", "datahub-blob: sequence ids"),
            *("datahub-blob: timestamps", "datahub: attributes"),
        }
    ),
    mend=mend_json,
)

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
