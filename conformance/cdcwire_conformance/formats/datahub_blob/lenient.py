"""The liberties of a reader of DataHub Blob: every scalar is a value, sums are not compared."""

from __future__ import annotations

from cdcwire_conformance.known_wrong.lenient import Liberties, mend_json

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
